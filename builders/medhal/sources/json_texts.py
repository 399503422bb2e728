"""What readers of JSON sources share: lines and whole files, with their layout checked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from builders.texts.origin import Tally
from ground.errors import InputError

__all__ = ["object_in", "objects_in_lines"]

AS_RELEASED = "give the file as its source releases it"


def _fields(row: object) -> str:
    return "fields " + ", ".join(sorted(map(str, row))[:20]) if isinstance(row, dict) else "no JSON object"


def objects_in_lines(
    path: Path, fields: Sequence[str], source: str, tally: Tally
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the number and the object of each line of a JSON-lines file; a bad line is counted and skipped.

    Raises:
        InputError: the file cannot be read as UTF-8 text, or its first row has no such fields.
    """
    first = True
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                try:
                    row: object = json.loads(line)
                except json.JSONDecodeError:
                    row = None
                good = isinstance(row, dict) and all(field in row for field in fields)
                if not good and first:
                    raise InputError(
                        "a file of a file of a file of a file of a source has another layout",
                        file=path,
                        line=number,
                        found=_fields(row),
                        expected="one JSON object a line, with the fields " + ", ".join(fields),
                        do=AS_RELEASED,
                    )
                first = False
                if isinstance(row, dict) and good:
                    yield number, row
                else:
                    tally.read[source] += 1
                    tally.drop(source, "malformed_row")
    except UnicodeDecodeError as error:
        raise InputError("a file of a source is not UTF-8 text", file=path, do=AS_RELEASED) from error


def object_in(path: Path) -> dict[str, Any]:
    """Return the one object that a JSON file holds.

    Raises:
        InputError: it holds something else.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise InputError(
            "a file of a source is not JSON", file=path, line=error.lineno, expected="one JSON object", do=AS_RELEASED
        ) from error
    except UnicodeDecodeError as error:
        raise InputError("a file of a source is not UTF-8 text", file=path, do=AS_RELEASED) from error
    if not isinstance(found, dict):
        raise InputError(
            "a file of a file of a file of a file of a source has another layout",
            file=path,
            found="no JSON object",
            expected="one JSON object",
            do=AS_RELEASED,
        )
    return found
