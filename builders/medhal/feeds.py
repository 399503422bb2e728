"""What a build takes from a source: its pairs as a stream, what its rows share, its judge, its files."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builders.medhal.items import Pair
from builders.medhal.judges import Judge
from builders.medhal.rows import Stamp
from builders.texts.registry import TextSource
from ontoground.files import sha256_of

__all__ = ["MANY_FILES", "Feed", "file_inputs"]

MANY_FILES = 20
"""Files of a folder from which on the folder is one input of the manifest: one source has a file for each article."""


@dataclass(frozen=True)
class Feed:
    """One source of a build.

    Attributes:
        source: its line of the source table.
        stamp: what its rows share.
        pairs: begins to read; the same pairs in the same order each time.
        judge: confirms labels; None where they are an expert's own and the engine has no check.
        inputs: files that it reads, for the manifest.
    """

    source: TextSource
    stamp: Stamp
    pairs: Callable[[], Iterator[Pair]]
    judge: Judge | None
    inputs: Sequence[Mapping[str, Any]]


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
            entries += [_entry(source, folder, file) for file in members]
            continue
        listing = "".join(f"{sha256_of(file)}  {file.name}\n" for file in members)
        entries.append(
            {
                "source": source,
                "file": f"{_below(folder, parent)}/",
                "files": len(members),
                "bytes": sum(file.stat().st_size for file in members),
                "sha256": hashlib.sha256(listing.encode()).hexdigest(),
            }
        )
    return sorted(entries, key=lambda entry: str(entry["file"]))


def _entry(source: str, folder: Path, file: Path) -> dict[str, Any]:
    return {
        "source": source,
        "file": _below(folder, file),
        "bytes": file.stat().st_size,
        "sha256": sha256_of(file),
    }


def _below(folder: Path, path: Path) -> str:
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.name
