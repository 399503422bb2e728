"""Tables of labels from CSV, Excel, Parquet and JSON lines: every cell as text, none turned into a missing value."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from ground import ROOT
from ground.errors import InputError, UsageError
from ground.names import names_found
from ground.storage.files import sha256_of
from ground.storage.tables import read_table
from stewardship.benchmark.cells import read_cells
from stewardship.benchmark.roles import ROLES

__all__ = ["LabelTable", "layouts", "read_cells", "read_label_table"]

LAYOUTS = ROOT / "stewardship" / "data" / "layouts.tsv"


@dataclass(frozen=True)
class LabelTable:
    """A table of labels.

    Attributes:
        frame: *shape* (n, roles): one text column for each role that the file has; ``uid`` is unique and never null, an
            empty cell is null.
        file: where it is from.
    """

    frame: pl.DataFrame
    layout: str
    file: Path
    sha256: str

    def __len__(self) -> int:
        return self.frame.height


def read_label_table(file: Path, *, layout: str | None = None, columns: Mapping[str, str] | None = None) -> LabelTable:
    """Read a table of labels of a known layout, or with columns that the caller names.

    Args:
        layout: a name of ``stewardship/data/layouts.tsv``; found by the columns where left out.
        columns: role to column; goes before the layout.

    Raises:
        InputError: the file cannot be read, is of no known layout, lacks a column, or a key is empty or there twice.
        UsageError: no such layout or role.
    """
    cells = read_cells(file)
    known = layouts()
    if layout is not None and layout not in known:
        raise UsageError("no such layout of labels", found=layout, expected=", ".join(known))
    if unknown := sorted(set(columns or ()) - set(ROLES)):
        raise UsageError("no such role of a column", found=", ".join(unknown), expected=", ".join(ROLES))
    name = layout or (None if columns and "uid" in columns else _layout_of(cells.columns, file))
    wanted = {**(known[name] if name else {}), **(columns or {})}
    if missing := [column for column in wanted.values() if column not in cells.columns]:
        raise InputError(
            "columns are missing", file=file, found=names_found(cells.columns), expected=", ".join(missing)
        )
    frame = cells.select(pl.col(column).alias(role) for role, column in wanted.items())
    frame = frame.with_columns(pl.col("uid").str.strip_chars())
    _check_keys(frame, file)
    return LabelTable(frame, name or "named", file, sha256_of(file))


@functools.cache
def layouts() -> dict[str, dict[str, str]]:
    """Return the layouts that are known, by name the column of each role."""
    results: dict[str, dict[str, str]] = {}
    for row in read_table(LAYOUTS, ("layout", "role", "column", "source")):
        results.setdefault(row["layout"], {})[row["role"]] = row["column"]
    return results


def _layout_of(columns: list[str], file: Path) -> str:
    for name, wanted in layouts().items():
        if set(wanted.values()) <= set(columns):
            return name
    raise InputError(
        "the table has no known layout",
        file=file,
        found=names_found(columns),
        expected=f"the columns of one of {', '.join(layouts())}",
        do="name its columns (uid and label at least): `ontoground steward adopt TABLE --column ROLE=NAME`",
    )


def _check_keys(frame: pl.DataFrame, file: Path) -> None:
    rows = frame.with_row_index("row", offset=1)
    for what, wrong in (
        ("a row has no key", rows.filter(pl.col("uid").is_null())),
        ("a key is there twice", rows.filter(pl.col("uid").is_duplicated())),
    ):
        if wrong.height:
            places = ", ".join(map(str, wrong["row"][:5])) + (" ..." if wrong.height > 5 else "")
            raise InputError(what, file=file, found=f"in row {places} below the head", expected="one row for each key")
