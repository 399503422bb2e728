"""Data tables that ship inside a package (``kg/data/*.tsv``): read with their columns checked."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path

from ground.errors import InputError

__all__ = ["grouped", "read_table"]


def read_table(path: Path, columns: tuple[str, ...]) -> list[dict[str, str]]:
    """Read a tab-separated table with a header line; lines that start with ``#`` are comments.

    Args:
        path: the file, UTF-8.
        columns: the columns that must be there, in this order.

    Raises:
        InputError: other columns, or a line with another number of fields.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    numbered = [(number, line) for number, line in enumerate(lines, 1) if line and not line.startswith("#")]
    rows = list(csv.reader((line for _, line in numbered), delimiter="\t", quoting=csv.QUOTE_NONE))
    if not rows or tuple(rows[0]) != columns:
        raise InputError(
            "a data table has other columns",
            file=path,
            found=" ".join(rows[0]) if rows else "nothing",
            expected=" ".join(columns),
        )
    for (number, _), row in zip(numbered[1:], rows[1:], strict=True):
        if len(row) != len(columns):
            raise InputError(
                "a line of a data table has another number of fields",
                file=path,
                line=number,
                found=str(len(row)),
                expected=str(len(columns)),
            )
    return [dict(zip(columns, row, strict=True)) for row in rows[1:]]


def grouped(rows: Iterable[Mapping[str, str]], key: str, value: str) -> dict[str, tuple[str, ...]]:
    """Return the values of one column by those of another, both in the order of the rows."""
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(row[key], []).append(row[value])
    return {name: tuple(values) for name, values in found.items()}
