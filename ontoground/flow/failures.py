"""Errors of the machine (memory, disk, permissions) said in the words of the one error family."""

from __future__ import annotations

import errno
import traceback
from pathlib import Path

from ground import ROOT
from ground.errors import InputError, OntogroundError

__all__ = ["foreseen", "place_of"]

MEMORY_ADVICE = "raise run.memory_limit in ontoground.toml, or close other programs"
DISK_ERRORS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.EROFS: "the file system is read-only",
    errno.ENOENT: "a file or folder is missing",
    errno.EISDIR: "a folder stands where a file is expected",
    errno.ENOTDIR: "a file stands where a folder is expected",
    errno.EEXIST: "a file or folder is in the way",
}


def foreseen(error: Exception) -> OntogroundError | None:
    """Return the error in our words where it is one of memory, disk or permission, else None."""
    import duckdb

    if isinstance(error, (MemoryError, duckdb.OutOfMemoryException)):
        return InputError("there is not enough memory", do=MEMORY_ADVICE)
    if isinstance(error, OSError) and error.errno in DISK_ERRORS:
        return InputError(DISK_ERRORS[error.errno], file=error.filename)
    return None


def place_of(error: BaseException) -> str:
    """Return the innermost place in our own code, such as ``kg/load.py:31``: never a value."""
    frames = traceback.extract_tb(error.__traceback__)
    for frame in reversed(frames):
        path = Path(frame.filename)
        if path.is_relative_to(ROOT) and "site-packages" not in path.relative_to(ROOT).parts:
            return f"{path.relative_to(ROOT).as_posix()}:{frame.lineno}"
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "an unknown place"
