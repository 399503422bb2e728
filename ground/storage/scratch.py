"""Temporary folders that end with their owner: after a kill, the next start sweeps what nobody holds any more.

The owner of a folder is the process that holds its lock; the system lets go of it however the process ends.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ground.storage.files import keep_private, private_directory, sweep_below

__all__ = ["scratch_folder", "temporary_files_in"]

FOLDER = "scratch"


@contextmanager
def scratch_folder(root: Path) -> Iterator[Path]:
    """Yield an empty folder below ``root`` that is removed when the block ends; sweep those of processes that are gone.

    Raises:
        InputError: ``root`` is another user's.
    """
    keep_private(private_directory(root))
    for left in root.iterdir():
        with _held(left) as acquired:
            if acquired:
                shutil.rmtree(left, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix="", dir=root))
    with _held(folder):
        # Another that starts may have swept it before it was held.
        folder.mkdir(exist_ok=True)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _held(folder: Path) -> Iterator[bool]:
    """Hold a folder's lock while the block runs; tell whether it could be had."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        yield False
        return
    try:
        yield _locked(descriptor)
    finally:
        os.close(descriptor)


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextmanager
def temporary_files_in(workspace: Path) -> Iterator[None]:
    """Keep all temporary files of this process and its workers inside a workspace while the block runs.

    Part files that processes left anywhere in it are swept too. In a workspace that cannot be written nothing is swept,
    and temporary files lie where the system keeps them.
    """
    if not os.access(workspace, os.W_OK):
        yield
        return
    sweep_below(workspace)
    before, named = tempfile.tempdir, os.environ.get("TMPDIR")
    with scratch_folder(workspace / "cache" / FOLDER) as folder:
        # Workers read it from the environment.
        tempfile.tempdir = os.environ["TMPDIR"] = str(folder.resolve())
        try:
            yield
        finally:
            tempfile.tempdir = before
            if named is None:
                os.environ.pop("TMPDIR", None)
            else:
                os.environ["TMPDIR"] = named
