"""Filled sheets as rows of text cells, each with its row number in the spreadsheet."""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from ground.errors import InputError, UsageError
from stewardship.sheets.excel import ANSWERS

__all__ = ["FilledRow", "FilledSheet", "read_filled"]

NEEDED = ("item", "answer", "comment")
PROBLEM = "problem"
COLUMN = re.compile(r"item|question|answer|comment|context(?: \d+)?")
LONGEST_CELL = 64 * 1024 * 1024
ERROR = "#ERROR!"
"""What a cell holds whose formula failed: the reader does not say how."""
HEAD = "put the head of the sheet back as it was written; published labels are taken up with `ontoground steward adopt`"


@dataclass(frozen=True)
class FilledRow:
    """One row of a filled sheet.

    Attributes:
        line: its number in the spreadsheet; the head is row 1.
        item, answer, comment: its cells, trimmed.
        question: the question's cell; None where the sheet has no such column.
        context: the context's cells; None where the sheet has none.
    """

    line: int
    item: str
    answer: str
    comment: str
    question: str | None
    context: tuple[str, ...] | None


@dataclass(frozen=True)
class FilledSheet:
    """A filled sheet.

    Attributes:
        file: it.
        rows: those that are not empty.
        corrections: whether it is a table of refused cells that was written for correction.
    """

    file: Path
    rows: tuple[FilledRow, ...]
    corrections: bool


def read_filled(file: Path) -> FilledSheet:
    """Read a filled sheet, Excel or CSV (comma, semicolon or tab; UTF-8, UTF-16, or what Excel writes on Windows).

    Raises:
        UsageError: its name ends in neither .xlsx nor .csv.
        InputError: it cannot be read, or is no sheet: a page or column is missing, or a column is there twice.
    """
    if not file.is_file():
        raise InputError("no such sheet", file=file)
    if file.suffix.lower() == ".xlsx":
        cells = _excel(file)
    elif file.suffix.lower() == ".csv":
        cells = _csv(file)
    else:
        raise UsageError("no sheet of an expert", file=file, expected="a file that ends in .xlsx or .csv")
    if not cells:
        raise InputError("the sheet is empty", file=file)
    names = [cell.strip() for cell in cells[0]]
    _check_head(names, file)
    places = {name: names.index(name) for name in names if name}
    contexts = [name for name in names if name == "context" or name.startswith("context ")]
    # Columns may have been moved; the pieces of a context keep their order by name.
    contexts.sort(key=lambda name: int(name.removeprefix("context").strip() or 1))
    rows = []
    for line, row in enumerate(cells[1:], start=2):
        if not any(cell.strip() for cell in row):
            continue
        own = {name: row[place].strip() if place < len(row) else "" for name, place in places.items()}
        rows.append(
            FilledRow(
                line=line,
                item=own["item"],
                answer=own["answer"],
                comment=own["comment"],
                question=own.get("question"),
                context=tuple(own[name] for name in contexts) if contexts else None,
            )
        )
    return FilledSheet(file, tuple(rows), corrections=PROBLEM in places)


def _check_head(names: Sequence[str], file: Path) -> None:
    twice = sorted(name for name, count in Counter(names).items() if COLUMN.fullmatch(name) and count > 1)
    lacking = [name for name in NEEDED if name not in names]
    if twice or lacking:
        raise InputError(
            "a column is there twice" if twice else "a column is missing",
            file=file,
            line=1,
            found=_own_columns(twice or names),
            expected=f"{', '.join(NEEDED)}, question and context, each once",
            do=HEAD,
        )


def _own_columns(names: Sequence[str]) -> str | None:
    """Return the columns of sheets among some names.

    A sheet without its head has an expert's words and a patient's note there: what is no such column is counted only.
    """
    own = [name for name in names if COLUMN.fullmatch(name)]
    others = sum(bool(name) for name in names) - len(own)
    return ", ".join([*own, *([f"{others} other{'s' if others > 1 else ''}"] if others else [])]) or None


def _csv(file: Path) -> list[list[str]]:
    text = _decoded(file)
    head = text.split("\n", 1)[0]
    separator = max(",;\t", key=head.count)
    csv.field_size_limit(LONGEST_CELL)
    try:
        return list(csv.reader(text.splitlines(keepends=True), delimiter=separator, strict=True))
    except csv.Error as error:
        raise InputError("the sheet is no CSV", file=file, found=str(error)) from error


def _decoded(file: Path) -> str:
    content = file.read_bytes()
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        # "Unicode text" of Excel.
        return content.decode("utf-16", errors="replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        # Excel on Windows, where "CSV" was chosen and not "CSV UTF-8"; letters that it lost are found by the mark.
        return content.decode("cp1252", errors="replace")


def _excel(file: Path) -> list[list[str]]:
    import fastexcel

    try:
        book = fastexcel.read_excel(file)
        if ANSWERS not in book.sheet_names:
            raise InputError(
                "the sheet has no page to read",
                file=file,
                found=", ".join(book.sheet_names),
                expected=f"a page {ANSWERS}",
                do=HEAD,
            )
        # Without a head row and from the first one on, so that row numbers are those of the spreadsheet.
        page: Any = book.load_sheet(ANSWERS, header_row=None, skip_rows=0, dtypes="string")
        batch, problems = page.to_arrow_with_errors()
    except fastexcel.FastExcelError as error:
        raise InputError("the sheet cannot be read", file=file, found=type(error).__name__) from error
    table = pl.from_arrow(batch)
    if not isinstance(table, pl.DataFrame):  # pragma: no cover - a batch is a table
        raise TypeError(type(table).__name__)
    cells = [["" if cell is None else cell for cell in row] for row in table.rows()]
    for problem in problems.errors if problems else ():
        row, column = problem.offset_position
        if "Error(" in problem.detail:
            cells[row][column] = ERROR
    return cells
