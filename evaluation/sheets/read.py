"""Filled sheets read back as predictions of their raters, with every slip reported by file and row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from evaluation.sheets.write import COLUMNS, ERRORS, RATINGS, key_of, text_mark
from ground.contracts.taxonomy import category_of
from ground.errors import InputError

__all__ = ["RATING_SCHEMA", "SheetsRead", "read_sheets"]

ERROR_TYPE = pl.Struct({"category": pl.String, "text": pl.String})
RATING_SCHEMA: Mapping[str, Any] = {
    "id": pl.String,
    "label": pl.Int64,
    "errors": pl.List(ERROR_TYPE),
    "explanation": pl.String,
    "outcome": pl.String,
    "model": pl.String,
    "seed": pl.Int64,
}
"""Columns of ratings: those of a predictions file, the rater in ``model``, the comment in ``explanation``."""

LEVEL = re.compile(r"(?:level\s*)?([1-4])(?:\.0+)?", re.IGNORECASE)
MOST_SHOWN = 12
Key = Mapping[str, tuple[str, str]]


@dataclass(frozen=True)
class SheetsRead:
    """What experts filled in.

    Attributes:
        ratings: columns of `RATING_SCHEMA`, one row for each rater and item of the sheet.
        notes: what a person should know, by file and row: items without a level, items that the sheet lacks, grades
            that contradict the errors named.
    """

    ratings: pl.DataFrame
    notes: tuple[str, ...]


def read_sheets(sheets: Sequence[Path], key: Path | None = None) -> SheetsRead:
    """Read filled sheets (.xlsx or .csv), one for each rater, whose name is the file's.

    Args:
        sheets: the files.
        key: their key; where left out, the only one in their folder.

    Raises:
        UsageError: the key is not known.
        InputError: a file is no sheet, or holds unknown or repeated items, texts of other items, levels that are none
            of 1 to 4, or categories outside the taxonomy; all are named by file and row.
    """
    known = key_of(sheets, key)
    rows, notes, slips = [], [], []
    raters = [sheet.stem for sheet in sheets]
    for sheet in sheets:
        if raters.count(sheet.stem) > 1:
            raise InputError("two sheets of one rater", file=sheet, expected="file names that tell raters apart")
        filled = _read(sheet)
        ratings = [_rating(number, row, sheet.stem, known) for number, row in enumerate(filled.to_dicts(), 2)]
        slips += [f"{sheet.name}, row {number}: {slip}" for number, _, found in ratings for slip in found] + _repeated(
            sheet, filled
        )
        rows += [rating for _, rating, found in ratings if not found]
        notes += _notes(sheet, ratings, known)
    if slips:
        more = f"; and {len(slips) - MOST_SHOWN:,} more" if len(slips) > MOST_SHOWN else ""
        raise InputError(
            f"{len(slips):,} {'slips' if len(slips) > 1 else 'slip'} in the experts' sheets",
            file=sheets[0].parent,
            found="; ".join(slips[:MOST_SHOWN]) + more,
            do="mend the cells, with the rater where it is about a grade, and run again",
        )
    return SheetsRead(pl.DataFrame(rows, schema=RATING_SCHEMA), tuple(notes))


def _read(sheet: Path) -> pl.DataFrame:
    from fastexcel import FastExcelError

    try:
        if sheet.suffix == ".xlsx":
            table = pl.read_excel(sheet, sheet_name=RATINGS, infer_schema_length=0, drop_empty_rows=False)
        elif sheet.suffix == ".csv":
            table = pl.read_csv(sheet, glob=False, infer_schema=False, separator=_separator(sheet))
        else:
            raise InputError("no sheet of an expert", file=sheet, expected="a file that ends in .xlsx or .csv")
    except (pl.exceptions.PolarsError, FastExcelError, OSError, ValueError) as error:
        raise InputError(
            "the sheet cannot be read",
            file=sheet,
            found=type(error).__name__,
            expected=f"a CSV file, or an Excel file with a page {RATINGS}",
        ) from error
    lacking = [name for name in COLUMNS if name not in table.columns]
    if lacking:
        raise InputError(
            "a column is missing", file=sheet, found=f"no {', '.join(lacking)}", expected=", ".join(COLUMNS)
        )
    text = table.select(pl.col(name).cast(pl.String).fill_null("").str.strip_chars() for name in COLUMNS)
    return text.filter(pl.any_horizontal(pl.all() != ""))


def _separator(sheet: Path) -> str:
    # Excel writes a semicolon where the comma is the decimal point.
    with sheet.open(encoding="utf-8-sig", errors="replace") as file:
        return ";" if file.readline().startswith("item;") else ","


def _rating(number: int, row: Mapping[str, str], rater: str, known: Key) -> tuple[int, dict[str, Any], list[str]]:
    """Return the row's number, what was filled in, and the slips, which quote no text."""
    slips = []
    row_id, mark = known.get(row["item"], ("", ""))
    if not row_id:
        slips.append("an item that is not in the key")
    elif text_mark(row["input"], row["output"]) != mark:
        slips.append("the texts are not those of the item")
    level = LEVEL.fullmatch(row["risk_level"])
    if row["risk_level"] and level is None:
        slips.append("a risk level that is none of 1, 2, 3 and 4")
    errors = list(_errors(row, slips))
    return (
        number,
        {
            "id": row_id,
            "label": int(level[1]) if level else None,
            "errors": errors,
            "explanation": row["comment"] or None,
            "outcome": "rated" if level else "not_rated",
            "model": rater,
            "seed": None,
        },
        slips,
    )


def _errors(row: Mapping[str, str], slips: list[str]) -> Iterator[dict[str, str]]:
    for number in range(1, ERRORS + 1):
        name, words = row[f"error_{number}_category"], row[f"error_{number}_words"]
        category = category_of(name) if name else None
        if name and category is None:
            slips.append(f"the category of error {number} is outside the taxonomy")
        elif words and not name:
            slips.append(f"error {number} has words and no category")
        elif category is not None:
            yield {"category": category, "text": words}


def _repeated(sheet: Path, filled: pl.DataFrame) -> list[str]:
    numbered = filled.with_row_index("row", 2).filter(pl.col("item").is_duplicated() & (pl.col("item") != ""))
    return [f"{sheet.name}, row {number}: an item that stands twice" for number in numbered["row"]]


def _notes(sheet: Path, ratings: Sequence[tuple[int, dict[str, Any], list[str]]], known: Key) -> list[str]:
    def rows(numbers: Sequence[int]) -> str:
        shown = ", ".join(map(str, numbers[:MOST_SHOWN])) + (", ..." if len(numbers) > MOST_SHOWN else "")
        return f"row{'s' if len(numbers) > 1 else ''} {shown}"

    said = {
        "no risk level": [number for number, one, _ in ratings if one["label"] is None],
        "level 1 with an error named": [number for number, one, _ in ratings if one["label"] == 1 and one["errors"]],
        "level 3 or 4 without an error named": [
            number for number, one, _ in ratings if (one["label"] or 0) > 2 and not one["errors"]
        ],
    }
    found = [f"{sheet.name}, {rows(numbers)}: {what}" for what, numbers in said.items() if numbers]
    lacking = len({row_id for row_id, _ in known.values()} - {one["id"] for _, one, _ in ratings})
    return found + ([f"{sheet.name}: {lacking:,} items of the key are not in the sheet"] if lacking else [])
