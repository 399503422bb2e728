"""Cells of CSV, Excel, Parquet and JSON lines as text: none turned into a missing value, none lost, none rounded."""

from __future__ import annotations

import csv
import functools
import gzip
import json
import math
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TextIO
from zipfile import BadZipFile, ZipFile

import polars as pl

from ground.errors import InputError, UsageError
from ground.names import names_found
from ground.spreadsheet import LONGEST_CELL, read_page

__all__ = ["read_cells"]

UNREADABLE = (
    pl.exceptions.PolarsError,
    OSError,
    EOFError,
    zlib.error,
    UnicodeError,
    RecursionError,
    BadZipFile,
)
MOST_CELLS = 50_000_000
# The place that a cell of a sheet names, in its tag.
CELL = re.compile(rb'<(?:\w+:)?c [^<>]*?\br="([A-Z]{1,3})([0-9]{1,7})"')
CELL_BYTES = 200
OTHER_SIGNS = {";": "semicolons", "\t": "tabs"}


def read_cells(file: Path) -> pl.DataFrame:
    """Read a table with every cell as text; only an empty cell is null (``N/A``, ``NA``, ``nan`` are text).

    Of an Excel file the first sheet is read; its real dates become ISO dates with a time, its whole numbers have no
    ``.0`` and its other numbers all their digits.

    Raises:
        InputError: no such file; it cannot be read as what its name says; two columns have one name; a line has more
            or fewer cells than the head; a cell of Excel holds an error such as ``#N/A``.
        UsageError: its name ends in none of .csv, .csv.gz, .tsv, .tsv.gz, .xlsx, .parquet, .jsonl.
    """
    if not file.is_file():
        raise InputError("no such table", file=file)
    kind = "".join(file.suffixes[-2:] if file.suffix == ".gz" else file.suffixes[-1:]).lower()
    readers = {".csv": _csv, ".csv.gz": _csv, ".tsv": _csv, ".tsv.gz": _csv, ".xlsx": _excel}
    reader = readers.get(kind) or {".parquet": _parquet, ".jsonl": _json_lines}.get(kind)
    if reader is None:
        raise UsageError(
            "the name of the table has no known ending",
            file=file,
            expected="a name that ends in .csv, .csv.gz, .tsv, .xlsx, .parquet or .jsonl",
        )
    try:
        frame = reader(file)
    except UNREADABLE as error:
        raise InputError("the table cannot be read", file=file, found=type(error).__name__) from error
    return frame.select(pl.when(pl.all().str.strip_chars() != "").then(pl.all()))


def _frame(names: Sequence[str], columns: Iterable[Sequence[str | None]], file: Path) -> pl.DataFrame:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError("two columns have one name", file=file, found=names_found(twice), expected="a name for each")
    return pl.DataFrame(dict(zip(names, columns, strict=True)), schema=dict.fromkeys(names, pl.String))


def _csv(file: Path) -> pl.DataFrame:
    separator = "\t" if ".tsv" in file.name.lower() else ","
    csv.field_size_limit(LONGEST_CELL)
    # utf-8-sig: Excel puts a mark of the byte order first, which would become part of the first column's name.
    with _opened(file) as lines:
        reader = csv.reader(lines, delimiter=separator, strict=True)
        rows: list[list[str]] = []
        begin = 1
        try:
            for row in reader:
                if row and not rows:
                    _check_divided(row, file, begin)
                if row and rows and len(row) != len(rows[0]):
                    raise InputError(
                        "a line has more or fewer cells than the head",
                        file=file,
                        line=begin,
                        found=f"{len(row)} cells",
                        expected=f"{len(rows[0])}; text with a comma stands in double quotes",
                    )
                if row:
                    rows.append(row)
                begin = reader.line_num + 1
        except csv.Error as error:
            raise InputError(
                "the table is no CSV", file=file, line=begin, found=str(error), expected="quotes that are closed"
            ) from error
    if not rows:
        raise InputError("the table is empty", file=file, expected="a line with the names of the columns")
    columns = list(zip(*rows[1:], strict=True)) or [()] * len(rows[0])
    return _frame([name.strip() for name in rows[0]], columns, file)


def _check_divided(head: Sequence[str], file: Path, line: int) -> None:
    """Refuse a table whose cells are divided by another sign, as Excel does where the comma is the decimal point."""
    other = next((name for sign, name in OTHER_SIGNS.items() if sign in head[0]), None)
    if len(head) == 1 and other:
        raise InputError(
            "the cells of the table are not divided by commas",
            file=file,
            line=line,
            found=other,
            expected="commas; in a file named .tsv tabs",
            do="save it as .xlsx, or as CSV with commas and decimal points",
        )


def _opened(file: Path) -> TextIO:
    if file.suffix == ".gz":
        return gzip.open(file, "rt", encoding="utf-8-sig", newline="")
    return file.open(encoding="utf-8-sig", newline="")


def _check_extent(file: Path) -> None:
    """Refuse a book with a cell so far out that its reader would ask for more memory than there is, and end us."""
    with ZipFile(file) as book:
        for name in book.namelist():
            if not re.fullmatch(r"xl/worksheets/[^/]+\.xml", name):
                continue
            rows = columns = 0
            rest = b""
            with book.open(name) as sheet:
                while chunk := sheet.read(1 << 20):
                    for column, row in CELL.findall(rest + chunk):
                        columns, rows = max(columns, _column(column)), max(rows, int(row))
                    rest = chunk[-CELL_BYTES:]
            if rows * columns > MOST_CELLS:
                raise InputError(
                    "a cell of the book lies too far out",
                    file=file,
                    found=f"{rows:,} rows and {columns:,} columns",
                    expected=f"{MOST_CELLS:,} cells at most",
                    do="delete what lies outside the table, or save it as CSV",
                )


def _column(letters: bytes) -> int:
    return functools.reduce(lambda number, letter: number * 26 + letter - 64, letters, 0)


def _excel(file: Path) -> pl.DataFrame:
    import fastexcel

    _check_extent(file)

    try:
        book = fastexcel.read_excel(file)
        texts, wrong = read_page(book, 0, "string")
        numbers, _ = read_page(book, 0, "float")
    except fastexcel.FastExcelError as error:
        raise InputError("the table cannot be read", file=file, found=type(error).__name__) from error
    names, *rows = texts.rows() or [()]
    if wrong:
        row, column = wrong[0]
        raise InputError(
            "a cell holds an error of Excel's",
            file=file,
            line=row + 1,
            found=f"in column {names_found([str(names[column])])}",
            expected="a value, the text N/A, or nothing",
        )
    columns = {}
    for place, name in enumerate(names):
        cells = [_digits(*pair) for pair in zip(texts[:, place][1:], numbers[:, place][1:], strict=True)]
        if name is not None:
            columns[place] = cells
        elif any(cells):
            raise InputError("a column with values has no name", file=file, line=1, found=f"column {place + 1}")
    # Rows that were emptied, or only formatted.
    filled = [i for i in range(len(rows)) if any(cells[i] for cells in columns.values())]
    kept = [[cells[i] for i in filled] for cells in columns.values()]
    return _frame([str(names[place]).strip() for place in columns], kept, file)


def _digits(text: str | None, number: float | None) -> str | None:
    """Return a cell's text, with all digits of its number: the reader shows nine decimals."""
    # A text NaN is read as a number too.
    if text is None or number is None or not math.isfinite(number):
        return text
    try:
        same = float(text) == number
    except ValueError:
        return text
    return text if same else repr(number)


def _parquet(file: Path) -> pl.DataFrame:
    return pl.read_parquet(file, glob=False).select(
        _as_text(name, kind) for name, kind in pl.read_parquet_schema(file).items()
    )


def _as_text(name: str, kind: pl.DataType) -> pl.Expr:
    column = pl.col(name)
    if kind.is_nested():
        return column.map_elements(_nested_text, return_dtype=pl.String)
    text = column.cast(pl.String)
    # Like Excel and CSV, which write 38.0 as 38; a key that is stored as a float stays a key.
    return text.str.replace(r"^(-?\d+)\.0$", "$1") if kind.is_float() else text


def _nested_text(value: Any) -> str:
    return json.dumps(value.to_list() if isinstance(value, pl.Series) else value, ensure_ascii=False, default=str)


def _json_lines(file: Path) -> pl.DataFrame:
    """Read JSON lines; numbers keep the digits that the file has."""
    rows = []
    with file.open(encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(
                    line, parse_float=str, parse_int=str, parse_constant=str, object_pairs_hook=_without_repeats
                )
            except ValueError as error:
                twice = names_found([str(error)]) if isinstance(error, KeyTwiceError) else None
                what = "a line names a key twice" if twice else "a line is not JSON"
                raise InputError(what, file=file, line=number, found=twice, expected="one object a line") from error
            if not isinstance(row, dict):
                raise InputError("a line is not a JSON object", file=file, line=number, expected="one object a line")
            rows.append({name: _json_text(value) for name, value in row.items()})
    names = list(dict.fromkeys(name for row in rows for name in row))
    return _frame(names, ([row.get(name) for row in rows] for name in names), file)


class KeyTwiceError(ValueError):
    """A JSON object names a key twice."""


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    repeats = dict(pairs)
    if len(repeats) < len(pairs):
        raise KeyTwiceError(next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1))
    return repeats


def _json_text(value: object) -> str | None:
    return value if isinstance(value, str) or value is None else json.dumps(value, ensure_ascii=False)
