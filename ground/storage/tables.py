"""Data tables that ship inside a package (``kg/data/*.tsv``), and rows of a user's own: read with columns checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from ground.errors import InputError

__all__ = ["Row", "grouped", "read_table", "rows_of"]


class Row(dict[str, str]):
    """A line of a table by its columns, with its file and line number."""

    def __init__(self, columns: Mapping[str, str], file: Path, line: int) -> None:
        super().__init__(columns)
        self.file, self.line = file, line

    def refused(self, what: str, found: str, expected: str | None = None) -> InputError:
        """Return the error that says what is wrong with this line."""
        return InputError(what, file=self.file, line=self.line, found=found, expected=expected)


def read_table(path: Path, columns: tuple[str, ...]) -> list[Row]:
    """Read a tab-separated table with a header line; lines that start with ``#`` are comments.

    Args:
        path: the file, UTF-8.
        columns: the columns that must be there, in this order.

    Raises:
        InputError: other columns, or a line with another number of fields.
    """
    return rows_of(path.read_text(encoding="utf-8"), path, columns)


def rows_of(text: str, path: Path, columns: tuple[str, ...]) -> list[Row]:
    """Return the rows of a table that was read from ``path``, as `read_table` does."""
    lines = text.splitlines()
    numbered = [(number, line) for number, line in enumerate(lines, 1) if line and not line.startswith("#")]
    rows = [line.split("\t") for _, line in numbered]
    if not rows or tuple(rows[0]) != columns:
        raise InputError(
            "a data table has other columns",
            file=path,
            line=numbered[0][0] if numbered else None,
            found=" ".join(rows[0]) if rows else "nothing",
            expected=" ".join(columns),
        )
    checked = []
    for (number, _), row in zip(numbered[1:], rows[1:], strict=True):
        if len(row) != len(columns):
            raise InputError(
                "a line of a data table has another number of fields",
                file=path,
                line=number,
                found=str(len(row)),
                expected=str(len(columns)),
                do="put one tab between two fields, and one where a field is empty",
            )
        checked.append(Row(dict(zip(columns, row, strict=True)), path, number))
    return checked


def grouped(rows: Iterable[Mapping[str, str]], key: str, value: str) -> dict[str, tuple[str, ...]]:
    """Return the values of one column by those of another, both in the order of the rows."""
    values_of: dict[str, list[str]] = {}
    for row in rows:
        values_of.setdefault(row[key], []).append(row[value])
    return {name: tuple(values) for name, values in values_of.items()}
