"""Files appear whole or not at all, and folders that may hold patients' data are readable by their owner only."""

from __future__ import annotations

import glob
import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import BinaryIO, Literal, Protocol

from ground.errors import InputError

__all__ = [
    "atomic_directory",
    "atomic_path",
    "keep_private",
    "private_directory",
    "sha256_of",
    "sweep_below",
    "write_text",
]

CHUNK_BYTES = 1 << 20
OTHERS = stat.S_IRWXG | stat.S_IRWXO


def private_directory(path: Path) -> Path:
    """Create a directory (parents too), for its owner only, and return it; one that exists is left as it is."""
    # The umask of `ground` removes the rights of others.
    path.mkdir(parents=True, exist_ok=True)
    return path


def keep_private(folder: Path) -> bool:
    """Remove the rights of group and others on an existing folder and all below it.

    Returns:
        Whether there was anything to take.

    Raises:
        InputError: the folder is another user's, or one that all users share.
    """
    mode = folder.stat().st_mode
    if not mode & OTHERS:
        return False
    if folder.stat().st_uid != os.geteuid() or mode & stat.S_ISVTX:
        raise InputError(
            "patients' data are not kept in a folder of all users, or of another",
            file=folder,
            expected="a folder of your own",
            do="name another one with --workspace",
        )
    for place, folders, files in os.walk(folder, topdown=False):
        for name in (*folders, *files):
            path = Path(place, name)
            if not path.is_symlink() and path.stat().st_mode & OTHERS:
                path.chmod(stat.S_IMODE(path.stat().st_mode) & ~OTHERS)
    folder.chmod(stat.S_IMODE(mode) & ~OTHERS)
    return True


def _fsync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _behind_links(final: Path) -> Path:
    return Path(os.path.realpath(final)) if final.is_symlink() else final


def _sweep(final: Path) -> None:
    """Remove what processes that were killed left beside ``final``; put back what one had moved aside."""
    for suffix in ("old", "part"):
        for path in final.parent.glob(f".{glob.escape(final.name)}.*.{suffix}"):
            _settle(path)


def _settle(left: Path) -> None:
    final, process, suffix = left.name[1:].rsplit(".", 2)
    if not process.isdigit() or _is_running(int(process)):
        return
    if suffix == "old" and not left.with_name(final).exists():
        left.rename(left.with_name(final))
    elif left.is_dir() and not left.is_symlink():
        shutil.rmtree(left, ignore_errors=True)
    else:
        left.unlink(missing_ok=True)


def sweep_below(folder: Path) -> None:
    """Remove what processes that were killed left of files and folders that they were writing, anywhere in a folder."""
    paths = [Path(place, name) for place, folders, files in os.walk(folder) for name in (*folders, *files)]
    # Folders that were moved aside are put back before the part files that were to replace them are removed.
    for suffix in ("old", "part"):
        for path in paths:
            if fnmatchcase(path.name, f".?*.*.{suffix}"):
                _settle(path)


@contextmanager
def atomic_path(final: Path) -> Iterator[Path]:
    """Yield a temporary path beside ``final``; on success it is synced and renamed, on an error it is removed.

    A link stays a link: what it leads to is replaced.

    Raises:
        InputError: the folder is not there, or a folder, a pipe or a device has the name.
    """
    final = _behind_links(final)
    if not final.parent.is_dir():
        raise InputError("there is no such folder", file=final.parent)
    if final.exists() and not final.is_file():
        raise InputError("this is no ordinary file", file=final, expected="a file, which is replaced, or a new name")
    _sweep(final)
    temporary = final.with_name(f".{final.name}.{os.getpid()}.part")
    try:
        yield temporary
        _fsync(temporary)
        temporary.replace(final)
        _fsync(final.parent)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def atomic_directory(final: Path) -> Iterator[Path]:
    """Yield an empty directory that replaces ``final`` as a whole when the block ends without an error.

    A link stays a link: what it leads to, perhaps on a larger disk, is replaced.
    """
    final = _behind_links(final)
    private_directory(final.parent)
    _sweep(final)
    temporary = final.with_name(f".{final.name}.{os.getpid()}.part")
    retired = final.with_name(f".{final.name}.{os.getpid()}.old")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    try:
        yield temporary
        for file in sorted(temporary.rglob("*")):
            _fsync(file)
        if final.exists():
            final.rename(retired)
        temporary.rename(final)
        _fsync(final.parent)
    finally:
        if retired.exists() and not final.exists():
            retired.rename(final)
        shutil.rmtree(temporary, ignore_errors=True)
        shutil.rmtree(retired, ignore_errors=True)


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text, whole or not at all."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


class Readable(Protocol):
    """A path of this machine or of object storage, as far as it can be read."""

    def open(self, mode: Literal["rb"]) -> BinaryIO:
        """Open the file for reading bytes."""


def sha256_of(path: Readable) -> str:
    """Return the SHA-256 of a file as 64 hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()
