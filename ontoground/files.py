"""Files appear whole or not at all, and folders that may hold patients' data are readable by their owner only."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["atomic_directory", "atomic_path", "private_directory", "sha256_of", "write_text"]

CHUNK_BYTES = 1 << 20


def private_directory(path: Path) -> Path:
    """Create a directory (parents too) with mode 0700 and return it; one that exists is left as it is."""
    if not path.exists():
        path.mkdir(mode=0o700, parents=True)
    return path


def _fsync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def atomic_path(final: Path) -> Iterator[Path]:
    """Yield a temporary path beside ``final``; on success it is synced and renamed, on an error it is removed."""
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
    """Yield an empty directory that replaces ``final`` as a whole when the block ends without an error."""
    private_directory(final.parent)
    temporary = final.with_name(f".{final.name}.{os.getpid()}.part")
    retired = final.with_name(f".{final.name}.{os.getpid()}.old")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(mode=0o700)
    try:
        yield temporary
        for file in sorted(temporary.rglob("*")):
            _fsync(file)
        if final.exists():
            final.rename(retired)
        temporary.rename(final)
        _fsync(final.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        shutil.rmtree(retired, ignore_errors=True)


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text, whole or not at all."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file as 64 hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()
