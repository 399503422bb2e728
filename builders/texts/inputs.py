"""Files of a text source as a manifest lists them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ground.storage.files import sha256_of

__all__ = ["MANY_FILES", "file_inputs"]

MANY_FILES = 20
"""A folder with so many files or more is one input of the manifest: some sources have a file for each report."""


def file_inputs(source: str, folder: Path, files: Sequence[Path]) -> list[dict[str, Any]]:
    """Return name (below the source's own folder), bytes and SHA-256 of a source's files, sorted.

    A folder of many files is one entry: the SHA-256 of the lines ``HASH  NAME`` of its files.
    """
    by_folder: dict[Path, list[Path]] = {}
    for file in sorted(files):
        by_folder.setdefault(file.parent, []).append(file)
    entries = []
    for parent, members in by_folder.items():
        if len(members) < MANY_FILES:
            entries += [_entry(source, _below(folder, file), [file], sha256_of(file)) for file in members]
            continue
        listing = "".join(f"{sha256_of(file)}  {file.name}\n" for file in members)
        digest = hashlib.sha256(listing.encode()).hexdigest()
        entries.append({**_entry(source, f"{_below(folder, parent)}/", members, digest), "files": len(members)})
    return sorted(entries, key=lambda entry: str(entry["file"]))


def _entry(source: str, name: str, files: Sequence[Path], digest: str) -> dict[str, Any]:
    return {"source": source, "file": name, "bytes": sum(file.stat().st_size for file in files), "sha256": digest}


def _below(folder: Path, path: Path) -> str:
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.name
