"""Tables as CSV that a spreadsheet may open: no cell of them is a formula."""

from __future__ import annotations

from pathlib import Path

import polars as pl

__all__ = ["FORMULA", "write_csv"]

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%")
"""A cell that begins so is a formula to a spreadsheet that opens a CSV file."""
NUMBER = r"^\s*[+-]?(\d[\d,]*\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"


def write_csv(frame: pl.DataFrame, file: Path) -> None:
    """Write a table; text that a spreadsheet would run stands behind an apostrophe, numbers stay as they are."""
    frame.with_columns(_plain(name) for name, kind in frame.schema.items() if kind == pl.String).write_csv(file)


def _plain(name: str) -> pl.Expr:
    cell = pl.col(name)
    bare = cell.str.strip_chars_start(" ")
    formula = pl.any_horizontal(bare.str.starts_with(sign) for sign in FORMULA) & ~cell.str.contains(NUMBER)
    return pl.when(formula).then(pl.lit("'") + cell).otherwise(cell).alias(name)
