"""Tables of other people: Parquet as it is, CSV (gzipped too) as text, JSON lines; told apart by their suffix."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from ground.errors import InputError, UsageError

__all__ = ["READERS", "Check", "path_and_word", "read_foreign", "refuse_rows"]

# Names are no patterns, but polars' reader of JSON takes every name for one.
READERS: Mapping[str, Callable[[Path], pl.DataFrame]] = {
    ".parquet": lambda path: pl.read_parquet(path, glob=False),
    ".csv": lambda path: pl.read_csv(path, infer_schema=False, glob=False),
    ".gz": lambda path: pl.read_csv(path, infer_schema=False, glob=False),
    ".jsonl": lambda path: pl.read_ndjson(path.read_bytes(), infer_schema_length=None),
}


def read_foreign(
    path: Path, what: str, needed: Sequence[str], *, any_case: bool = False, expected: str | None = None
) -> pl.DataFrame:
    """Read a table.

    Args:
        path: the file.
        what: it is called in messages.
        needed: columns that must be there.
        any_case: names of columns are read in lower case and trimmed.
        expected: its columns, for messages; those that are needed where left out.

    Raises:
        UsageError: another kind of file.
        InputError: it is not there, empty or damaged, with the first line that is no JSON object or has more cells
            than columns; or a column is missing.
    """
    expected = expected or ", ".join(needed)
    frame = _read(path, what, expected)
    frame = frame.rename(lambda name: name.strip().lower()) if any_case else frame
    if lacking := [name for name in needed if name not in frame.columns]:
        found = f"no column {' and no column '.join(lacking)}"
        raise InputError(f"a column is missing in {what}", file=path, found=found, expected=expected)
    return frame


def path_and_word(named: str, words: Iterable[str]) -> tuple[str, str]:
    """Split ``PATH:WORD`` where the word is a known one, such as a layout; else the word is empty."""
    path, _, word = named.rpartition(":")
    return (path, word) if word in words and path else (named, "")


class Check(NamedTuple):
    """What no row of a file may be, in words: what is wrong, what is expected, and what to do."""

    bad: pl.Expr
    what: str
    expected: str
    do: str | None = None


def refuse_rows(frame: pl.DataFrame, file: Path | str, *checks: Check) -> None:
    """Raise where rows are bad; a row is named by its number, since an id names an admission.

    Raises:
        InputError: how many there are, and the number of the first.
    """
    for check in checks:
        numbers = frame.select(check.bad.arg_true() + 1).to_series()
        if len(numbers):
            found = f"{len(numbers)} of {frame.height} rows, the first is row {numbers[0]}"
            raise InputError(check.what, file=file, found=found, expected=check.expected, do=check.do)


def _read(path: Path, what: str, expected: str) -> pl.DataFrame:
    if path.suffix not in READERS:
        raise UsageError(f"{what} has a format that cannot be read", file=path, expected=", ".join(READERS))
    if not path.is_file():
        raise InputError(f"{what} is not there", file=path, do="name an existing file")
    try:
        return READERS[path.suffix](path)
    except (pl.exceptions.PolarsError, OSError):
        # polars quotes values, which may be text of a note: its message is not passed on.
        empty = not path.stat().st_size
        line, wrong = _malformed(path)
        raise InputError(
            f"{what} cannot be read",
            file=path,
            line=line,
            found="an empty file" if empty else wrong,
            expected=f"{path.suffix[1:]} in UTF-8 with {expected}",
        ) from None


def _malformed(path: Path) -> tuple[int | None, str]:
    """Return the first line that is no JSON object or has more cells than the header, where there is one, and why."""
    if path.suffix in (".jsonl", ".csv"):
        with path.open(encoding="utf-8", errors="replace", newline="") as file:
            if path.suffix == ".csv":
                rows = csv.reader(file)
                try:
                    cells = len(next(rows, ()))
                    long = next((row for row in rows if len(row) > cells), None)
                except csv.Error:
                    return rows.line_num, "a quote that is not closed, or a longer cell than can be read"
                if long is not None:
                    return rows.line_num, f"{len(long)} cells under {cells} names of columns"
            for number, line in enumerate(file, 1):
                if line.strip() and not _is_object(line):
                    return number, "no JSON object"
    return None, "text that is not of this kind, or values of two types"


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False
