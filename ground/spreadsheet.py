"""What spreadsheets open: CSV in which no cell is a formula, and sheets to fill in, written and read back as text.

The same content gives the same bytes. What is written is readable by its owner only.
"""

from __future__ import annotations

import codecs
import csv
import hashlib
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from io import StringIO
from itertools import zip_longest
from pathlib import Path
from typing import Any

import polars as pl

from ground.errors import InputError, UsageError
from ground.storage.files import atomic_path

__all__ = [
    "CELL_ERROR",
    "FORMULA",
    "LONGEST_CELL",
    "MOST_CHARACTERS",
    "Sheet",
    "fill_in",
    "guarded",
    "read_page",
    "read_sheet",
    "text_mark",
    "workbook",
    "write_cells",
    "write_csv",
    "write_sheet",
]

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%")
"""A cell that begins so is a formula to a spreadsheet that opens a CSV file."""
NUMBER = r"^\s*[+-]?(\d[\d,]*\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"
MOST_CHARACTERS = 32_767
"""Characters that a cell of Excel can hold."""
LONGEST_CELL = 64 * 1024 * 1024
"""Bytes of a cell of a CSV file: a patient's note is longer than the 128 KiB that Python's reader allows."""
CELL_ERROR = "#ERROR!"
"""In place of the value of a cell whose formula failed: the reader does not say how."""
# Part of the file: without it the same sheet would have other bytes each time.
FIXED_DATE = datetime(2000, 1, 1)
WRAP = {"font_name": "Calibri", "font_size": 10, "text_wrap": True, "valign": "top"}


def write_csv(frame: pl.DataFrame, file: Path) -> None:
    """Write a table; text that a spreadsheet would run gets an apostrophe before it, numbers stay as they are."""
    frame.with_columns(_guarded(name) for name, kind in frame.schema.items() if kind == pl.String).write_csv(file)


def _guarded(name: str) -> pl.Expr:
    cell = pl.col(name)
    bare = cell.str.strip_chars_start(" ")
    formula = pl.any_horizontal(bare.str.starts_with(sign) for sign in FORMULA) & ~cell.str.contains(NUMBER)
    return pl.when(formula).then(pl.lit("'") + cell).otherwise(cell).alias(name)


def guarded(text: str) -> str:
    """Return a cell of a CSV file that no spreadsheet takes for a formula: behind an apostrophe where it could."""
    return f"'{text}" if text.lstrip(" ").startswith(FORMULA) else text


def text_mark(pieces: Iterable[str]) -> str:
    """Return a mark of a text that may stand in several cells, by which a sheet whose text was changed is found out.

    White space and apostrophes do not count: spreadsheets change the one, and the other guards text against being
    taken for a formula.
    """
    joined = "".join("".join(pieces).replace("'", "").replace("\u2019", "").split())
    return hashlib.sha256(joined.encode()).hexdigest()[:16]


def write_cells(file: Path, columns: Sequence[str], rows: Iterable[Mapping[str, str]]) -> None:
    """Write rows of text cells as CSV, as they are (`guarded` guards a cell); a column that a row lacks is empty."""
    # With a byte order mark: without it Excel takes UTF-8 for something else.
    with atomic_path(file) as temporary, temporary.open("w", encoding="utf-8-sig", newline="") as lines:
        writer = csv.DictWriter(lines, columns, restval="")
        writer.writeheader()
        writer.writerows(rows)


@contextmanager
def workbook(file: Path) -> Iterator[Any]:
    """Yield a new Excel file (xlsxwriter's Workbook), in which no text is a formula or a link."""
    import xlsxwriter  # type: ignore[import-untyped]

    with atomic_path(file) as temporary:
        book = xlsxwriter.Workbook(str(temporary), {"strings_to_formulas": False, "strings_to_urls": False})
        book.set_properties({"created": FIXED_DATE})
        yield book
        book.close()


def fill_in(
    book: Any, name: str, rows: Sequence[Mapping[str, str]], widths: Mapping[str, int], filled: Container[str]
) -> Any:
    """Write a page to be filled in, and return it; its head and what is shown stay as they are.

    Args:
        book: the Excel file.
        name: of the page.
        rows: cells by column; a column that a row lacks is empty.
        widths: of all columns, in their order, in characters.
        filled: columns that are filled in.
    """
    page, style = book.add_worksheet(name), {**WRAP, "border": 1, "border_color": "#bfbfbf"}
    head = book.add_format({**WRAP, "bold": True, "bg_color": "#dde6ee", "border": 1})
    fixed = book.add_format(style)
    # As text: a spreadsheet would make a date of 1/2, a share of 5%, and 4.4 of 4,4 or not, as its language has it.
    empty = book.add_format({**style, "bg_color": "#fffbe6", "num_format": "@", "locked": False})
    for column, (title, width) in enumerate(widths.items()):
        page.write_string(0, column, title, head)
        page.set_column(column, column, width)
        for number, row in enumerate(rows, start=1):
            if title in filled or title not in row:
                page.write_blank(number, column, None, empty if title in filled else fixed)
            else:
                page.write_string(number, column, row[title], fixed)
    # Without a password: it guards against slips only.
    page.protect("", {"format_columns": True, "format_rows": True})
    page.set_landscape()
    page.fit_to_pages(1, 0)
    return page


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """A sheet that experts fill in, with a page that says how.

    Attributes:
        page: name of the page to be filled in.
        widths, filled, rows: as in `fill_in`.
        frozen: how many columns stay in view.
        heights: of the rows, in points; the spreadsheet's own where empty.
        checks: column, first and last row, and what a cell there may hold (xlsxwriter's ``data_validation``).
        guide: name and title of the other page, its paragraphs, and its tables, each of its head and its rows.
        guide_first: whether it is in front.
        text: a column whose numbers are text on purpose: no green corner says that this is an error.
        choices: what ``checks`` refer to as ``Lists!$A$1`` and below: too many characters for a check itself.
    """

    page: str
    widths: Mapping[str, int]
    filled: Container[str]
    rows: Sequence[Mapping[str, str]]
    frozen: int
    checks: Iterable[tuple[str, int, int, Mapping[str, Any]]]
    guide: tuple[str, str, Iterable[str], Iterable[tuple[Sequence[str], Iterable[Sequence[str]]]]]
    guide_first: bool = False
    heights: Iterable[float] = ()
    text: str | None = None
    choices: Sequence[str] = ()


def write_sheet(file: Path, sheet: Sheet) -> None:
    """Write a sheet as Excel, and what it shows as a CSV file beside it."""
    from xlsxwriter.utility import xl_range  # type: ignore[import-untyped]

    columns = list(sheet.widths)
    with workbook(file) as book:
        if sheet.guide_first:
            _write_guide(book, *sheet.guide)
        page = fill_in(book, sheet.page, sheet.rows, sheet.widths, sheet.filled)
        for number, points in enumerate(sheet.heights, start=1):
            page.set_row(number, points)
        page.freeze_panes(1, sheet.frozen)
        if sheet.text:
            place = columns.index(sheet.text)
            cells = xl_range(1, place, max(1, len(sheet.rows)), place)
            page.ignore_errors({"number_stored_as_text": cells})
        for name, first, last, options in sheet.checks:
            column = columns.index(name)
            page.data_validation(first, column, last, column, options)
        if sheet.choices:
            lists = book.add_worksheet("Lists")
            lists.write_column(0, 0, sheet.choices)
            lists.hide()
        if not sheet.guide_first:
            _write_guide(book, *sheet.guide)
    rows = ({name: guarded(text) for name, text in row.items()} for row in sheet.rows)
    write_cells(file.with_suffix(".csv"), columns, rows)


def _write_guide(
    book: Any,
    name: str,
    title: str,
    paragraphs: Iterable[str],
    tables: Iterable[tuple[Sequence[str], Iterable[Sequence[str]]]],
) -> None:
    page = book.add_worksheet(name)
    large, bold, text = map(book.add_format, ({"bold": True, "font_size": 14}, {**WRAP, "bold": True}, WRAP))
    page.set_column(0, 0, 28)
    page.set_column(1, 1, 110)
    page.write_string(0, 0, title, large)
    lines: list[tuple[Any, Sequence[str]]] = [(text, ("", paragraph)) for paragraph in paragraphs]
    for head, rows in tables:
        lines += [(text, ()), (bold, head), *((text, row) for row in rows)]
    for row, (style, cells) in enumerate(lines, 2):
        for column, cell in enumerate(cells):
            page.write_string(row, column, cell, style)


def read_sheet(
    file: Path, page: str, needed: Sequence[str], own: str = "", do: str | None = None
) -> tuple[list[str], list[tuple[int, dict[str, str]]]]:
    """Read a filled sheet, Excel or CSV (comma, semicolon or tab; UTF-8, UTF-16, or what Excel writes on Windows).

    Args:
        file: the sheet.
        page: its name in an Excel file.
        needed: columns that must be there.
        own: a pattern of all columns that a sheet can have; those that are needed where left out.
        do: what to do where the page or the head is another.

    Returns:
        The columns, and the trimmed cells of each row that is not empty, with its number in the spreadsheet.

    Raises:
        UsageError: its name ends in neither .xlsx nor .csv.
        InputError: it is not there, cannot be read, is empty, has no such page, or a column is missing or there twice.
    """
    kind = file.suffix.lower()
    if kind not in (".xlsx", ".csv"):
        raise UsageError("no sheet of an expert", file=file, expected="a file that ends in .xlsx or .csv")
    if not file.is_file():
        raise InputError("no such sheet", file=file)
    cells = _excel(file, page, do) if kind == ".xlsx" else _csv(file)
    if not cells:
        raise InputError("the sheet is empty", file=file)
    names, *lines = ([cell.strip() for cell in line] for line in cells)
    # Without a head the first row holds an expert's words or a patient's note, so unknown names are only counted.
    known = [name for name in names if re.fullmatch(own or "|".join(needed), name)]
    twice = sorted(name for name, count in Counter(known).items() if count > 1)
    if twice or not set(needed) <= set(known):
        others = sum(map(bool, names)) - len(known)
        raise InputError(
            "a column is there twice" if twice else "a column is missing",
            file=file,
            line=1,
            found=", ".join(twice or [*known, *([f"{others} other{'s'[: others > 1]}"] if others else [])]) or None,
            expected=f"{', '.join(needed)}, each once",
            do=do,
        )
    rows = [dict(zip_longest(names, line[: len(names)], fillvalue="")) for line in lines]
    return names, [(number, row) for number, row in enumerate(rows, start=2) if any(row.values())]


def _csv(file: Path) -> list[list[str]]:
    text = _decoded(file.read_bytes())
    head = text.split("\n", 1)[0]
    csv.field_size_limit(LONGEST_CELL)
    try:
        # Line by line as CSV has them: a form feed in a note ends no row.
        return list(csv.reader(StringIO(text, newline=""), delimiter=max(",;\t", key=head.count), strict=True))
    except csv.Error as error:
        raise InputError("the sheet is no CSV", file=file, found=str(error)) from error


def _decoded(content: bytes) -> str:
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        # "Unicode text" of Excel.
        return content.decode("utf-16", errors="replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        # Excel on Windows, where "CSV" was chosen and not "CSV UTF-8"; letters that it lost are found by the mark.
        return content.decode("cp1252", errors="replace")


def _excel(file: Path, name: str, do: str | None) -> list[list[str]]:
    import fastexcel

    try:
        book = fastexcel.read_excel(file)
        if name not in book.sheet_names:
            pages = ", ".join(book.sheet_names)
            raise InputError("the sheet has no page to read", file=file, found=pages, expected=f"a page {name}", do=do)
        page, errors = read_page(book, name, "string")
    except fastexcel.FastExcelError as error:
        raise InputError("the sheet cannot be read", file=file, found=type(error).__name__) from error
    cells = [["" if cell is None else cell for cell in row] for row in page.rows()]
    for row, column in errors:
        cells[row][column] = CELL_ERROR
    return cells


def read_page(book: Any, page: str | int, kind: str) -> tuple[pl.DataFrame, list[tuple[int, int]]]:
    """Return a page of an Excel file (fastexcel's reader), its head as the first row, and where cells hold errors.

    Args:
        book: the file, open.
        page: its name or place.
        kind: of the cells, ``string`` or ``float``.
    """
    # Without a head row, so that two columns of one name are seen, and from the first one on, so that row numbers are
    # those of the spreadsheet.
    batch, problems = book.load_sheet(page, header_row=None, skip_rows=0, dtypes=kind).to_arrow_with_errors()
    errors = problems.errors if problems else ()
    return pl.DataFrame(batch), [error.offset_position for error in errors if "Error(" in error.detail]
