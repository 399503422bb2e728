"""Sheets filled in by script, as an expert's spreadsheet would save them."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import xlsxwriter  # type: ignore[import-untyped]

Cells = Mapping[str, Any]


def sheet_rows(file: Path) -> list[dict[str, str]]:
    """The rows of a sheet's CSV file."""
    with file.with_suffix(".csv").open(encoding="utf-8-sig", newline="") as lines:
        return list(csv.DictReader(lines))


def fill(sheet: Path, out: Path, cells: Mapping[str, Cells], *, separator: str = ",", encoding: str = "utf-8") -> Path:
    """Save a copy of a sheet with cells changed, by item and column; numbers and dates of Excel stay what they are."""
    rows: list[dict[str, Any]] = [{**row, **cells.get(row["item"], {})} for row in sheet_rows(sheet)]
    return save(out, rows, separator=separator, encoding=encoding)


def save(out: Path, rows: list[dict[str, Any]], *, separator: str = ",", encoding: str = "utf-8") -> Path:
    """Save rows as a filled sheet, Excel or CSV as the name says."""
    columns = list(rows[0])
    if out.suffix == ".csv":
        with out.open("w", encoding=encoding, errors="replace", newline="") as lines:
            writer = csv.DictWriter(lines, columns, delimiter=separator)
            writer.writeheader()
            writer.writerows(rows)
        return out
    book = xlsxwriter.Workbook(str(out), {"strings_to_formulas": False})
    page, day = book.add_worksheet("Answers"), book.add_format({"num_format": "mm/dd/yyyy"})
    page.write_row(0, 0, columns)
    for number, row in enumerate(rows, start=1):
        for place, name in enumerate(columns):
            value = row[name]
            if isinstance(value, datetime):
                page.write_datetime(number, place, value, day)
            elif value == "#DIV/0!":
                page.write_formula(number, place, "=1/0", None, value)
            elif value not in (None, ""):
                page.write(number, place, value)
    book.close()
    return out
