"""Rows of a source's tables: CSV as it is streamed, a sheet of a workbook; columns are checked, places are known."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl

from ground.errors import InputError

__all__ = ["csv_rows", "sheet_rows", "text_of"]

# A dialogue or a note is one field; the reader's own limit is 131,072 characters.
LONGEST_FIELD = 10_000_000


def csv_rows(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Yield (line where the row ends, row) of a CSV file with a header; further columns are allowed.

    Raises:
        InputError: it is not UTF-8, not CSV, or lacks one of ``columns``.
    """
    csv.field_size_limit(max(LONGEST_FIELD, csv.field_size_limit()))
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, strict=True)
        try:
            _check(path, reader.fieldnames or (), columns)
            for row in reader:
                # A short row has None at its end, a long one a list under None: neither is a value.
                yield reader.line_num, {name: row[name] or "" for name in columns}
        except (csv.Error, UnicodeDecodeError) as error:
            raise InputError(
                "a file is not CSV in UTF-8",
                file=path,
                line=reader.line_num + 1,
                found=str(error) if isinstance(error, csv.Error) else "bytes that are no UTF-8",
                expected="comma-separated values, quotes doubled",
                do="download the file from its source again",
            ) from None


def sheet_rows(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Yield (line, row) of the first sheet of an .xlsx workbook with a header; empty cells are empty text.

    Raises:
        InputError: it cannot be read as a workbook, or lacks one of ``columns``.
    """
    try:
        frame = pl.read_excel(path, engine="calamine", infer_schema_length=0)
    except Exception as error:  # the engine's own errors share no base class
        raise InputError(
            "a workbook cannot be read",
            file=path,
            found=type(error).__name__,
            expected="an .xlsx file with a header line",
            do="download the file from its source again",
        ) from None
    _check(path, frame.columns, columns)
    for number, row in enumerate(frame.select(columns).iter_rows(named=True), 2):
        yield number, {name: "" if value is None else str(value) for name, value in row.items()}


def _check(path: Path, found: Sequence[str], columns: Sequence[str]) -> None:
    missing = [name for name in columns if name not in found]
    if missing:
        raise InputError(
            "a file lacks columns",
            file=path,
            line=1,
            found=f"no {', '.join(missing)}",
            expected=", ".join(columns),
            do="check that this is the source's own file",
        )


def text_of(value: str) -> str:
    """Return a field with line ends of one kind and no white space around it."""
    return value.replace("\r\n", "\n").replace("\r", "\n").strip()
