"""What the readers of JSON sources share: lines and whole files, with their layout checked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from builders.texts.origin import SourceSplit, Tally
from ground.errors import InputError

__all__ = ["checked_object", "files_of", "object_in", "objects_in_lines", "split_in_name"]

AS_RELEASED = "give the file as its source releases it"
SPLIT_NAMES: Mapping[str, SourceSplit] = {
    "train": "train",
    "dev": "validation",
    "val": "validation",
    "test": "test",
}


def files_of(name: str, folder: Path, paths: Sequence[Path], expected: str) -> Sequence[Path]:
    """Return the files that were found of a source; InputError where there is none."""
    if not paths:
        do = f"put the files of the release of {name} there"
        raise InputError(f"there is no {name} here", file=folder, expected=expected, do=do)
    return paths


def objects_in_lines(
    path: Path, fields: Sequence[str], source: str, tally: Tally
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the number and the object of each line of a JSON-lines file; a bad line is counted and skipped.

    Raises:
        InputError: the file cannot be read as UTF-8 text, or its first row has no such fields.
    """
    first = True
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            row = _parsed(line, path, number)
            if first:
                checked_object(row, fields, path, number)
                first = False
            if isinstance(row, dict) and all(field in row for field in fields):
                yield number, row
            else:
                tally.read[source] += 1
                tally.drop(source, "malformed_row")


def _parsed(line: bytes, path: Path, number: int) -> object:
    try:
        return json.loads(line)
    except json.JSONDecodeError:
        return None
    except UnicodeDecodeError as error:
        raise InputError("a file of a source is not UTF-8 text", file=path, line=number, do=AS_RELEASED) from error


def checked_object(row: object, fields: Sequence[str], path: Path, line: int | None = None) -> dict[str, Any]:
    """Return a row that is an object with some fields; InputError for any other."""
    if isinstance(row, dict) and all(field in row for field in fields):
        return row
    raise InputError(
        "a file of a source has another layout",
        file=path,
        line=line,
        found="fields " + ", ".join(sorted(map(str, row))[:20]) if isinstance(row, dict) else "no JSON object",
        expected="a JSON object" + (" with the fields " + ", ".join(fields) if fields else ""),
        do=AS_RELEASED,
    )


def object_in(path: Path, fields: Sequence[str] = ()) -> dict[str, Any]:
    """Return the one object that a JSON file holds.

    Raises:
        InputError: it holds something else.
    """
    try:
        return checked_object(json.loads(path.read_text(encoding="utf-8")), fields, path)
    except json.JSONDecodeError as error:
        raise InputError("a file of a source is not JSON", file=path, line=error.lineno, do=AS_RELEASED) from error
    except UnicodeDecodeError as error:
        raise InputError("a file of a source is not UTF-8 text", file=path, do=AS_RELEASED) from error


def split_in_name(path: Path) -> SourceSplit | None:
    """Return the split that a file's name tells (``phrases_no_exclude_dev.jsonl``), None where it tells none."""
    words = re.split(r"[^a-z]+", path.stem.lower())
    splits = (split for prefix, split in SPLIT_NAMES.items() if any(word.startswith(prefix) for word in words))
    return next(splits, None)
