"""Tables of labels from CSV, Excel, Parquet and JSON lines: every cell as text, none turned into a missing value."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from ontoground.errors import InputError, UsageError
from ontoground.files import sha256_of
from ontoground.tables import read_table

__all__ = ["ROLES", "LabelTable", "read_cells", "read_label_table"]

ROLES = (
    "uid",  # the row's key, unique
    "stratum",  # what rows are sampled and compared by: a calculator, a relation, a task
    "stratum_id",
    "category",
    "output_type",  # decimal, integer, date; as the benchmark says
    "context",
    "question",
    "features",  # what the label was computed from
    "label",
    "lower",
    "upper",
    "derivation",  # how it was computed, in words
    "original",
    "recomputed",
    "physician",
    "final",
    "comment",
    "rel_err",
)
"""What a column can mean. ``label`` is the table's own; a sheet of several labels names each."""

LAYOUTS = Path(__file__).parent / "data" / "layouts.tsv"


@dataclass(frozen=True)
class LabelTable:
    """A table of labels.

    Attributes:
        frame: *shape* (n, roles): one text column for each role that the file has; ``uid`` is unique and never null, an
            empty cell is null.
        layout: name of its layout.
        file: where it is from.
        sha256: of that file.
    """

    frame: pl.DataFrame
    layout: str
    file: Path
    sha256: str

    def __len__(self) -> int:
        return self.frame.height


def read_cells(file: Path) -> pl.DataFrame:
    """Read a table with every cell as text; only an empty cell is null (``N/A`` and ``NA`` are text).

    Raises:
        InputError: no such file, or it cannot be read as what its name says.
        UsageError: its name ends in none of .csv, .csv.gz, .tsv, .xlsx, .parquet, .jsonl.
    """
    if not file.is_file():
        raise InputError("no such table of labels", file=file)
    kind = "".join(file.suffixes[-2:] if file.suffix == ".gz" else file.suffixes[-1:]).lower()
    try:
        if kind in (".csv", ".csv.gz", ".tsv", ".tsv.gz"):
            separator = "\t" if ".tsv" in kind else ","
            frame = pl.read_csv(file, separator=separator, infer_schema=False)
        elif kind == ".xlsx":
            frame = pl.read_excel(file, infer_schema_length=0, raise_if_empty=False)
        elif kind == ".parquet":
            frame = pl.read_parquet(file)
        elif kind == ".jsonl":
            frame = _json_lines(file)
        else:
            raise UsageError(
                "the table's name does not say what it is",
                file=file,
                expected="a name that ends in .csv, .csv.gz, .tsv, .xlsx, .parquet or .jsonl",
            )
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError("the table cannot be read", file=file, found=type(error).__name__) from error
    cells = frame.select(pl.all().cast(pl.String))
    return cells.select(pl.when(pl.all().str.strip_chars() != "").then(pl.all()))


def _json_lines(file: Path) -> pl.DataFrame:
    """Read JSON lines; numbers keep the digits that the file has."""
    rows = []
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line, parse_float=str, parse_int=str, parse_constant=str)
            except ValueError as error:
                raise InputError("a line is no JSON", file=file, line=number, expected="one object a line") from error
            if not isinstance(row, dict):
                raise InputError("a line is no JSON object", file=file, line=number, expected="one object a line")
            rows.append({name: _plain(value) for name, value in row.items()})
    names = list(dict.fromkeys(name for row in rows for name in row))
    return pl.DataFrame([[row.get(name) for row in rows] for name in names], schema=dict.fromkeys(names, pl.String))


def _plain(value: object) -> str | None:
    return value if isinstance(value, str) or value is None else json.dumps(value, ensure_ascii=False)


def read_label_table(file: Path, *, layout: str | None = None, columns: Mapping[str, str] | None = None) -> LabelTable:
    """Read a table of labels of a known layout, or with columns that the caller names.

    Args:
        file: the table.
        layout: a name of ``stewardship/data/layouts.tsv``; found by the columns where left out.
        columns: role to column; goes before the layout.

    Raises:
        InputError: the file cannot be read, is of no known layout, lacks a column, or a key is empty or there twice.
        UsageError: no such layout or role.
    """
    cells = read_cells(file)
    known = _layouts()
    if layout is not None and layout not in known:
        raise UsageError("no such layout of labels", found=layout, expected=", ".join(known))
    if unknown := sorted(set(columns or ()) - set(ROLES)):
        raise UsageError("no such role of a column", found=", ".join(unknown), expected=", ".join(ROLES))
    name = layout or (None if columns and "uid" in columns else _layout_of(cells.columns, file))
    wanted = {**(known[name] if name else {}), **(columns or {})}
    if missing := [column for column in wanted.values() if column not in cells.columns]:
        raise InputError("columns are missing", file=file, found=", ".join(cells.columns), expected=", ".join(missing))
    frame = cells.select(pl.col(column).alias(role) for role, column in wanted.items())
    frame = frame.with_columns(pl.col("uid").str.strip_chars())
    _check_keys(frame, file)
    return LabelTable(frame, name or "named", file, sha256_of(file))


@functools.cache
def _layouts() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for row in read_table(LAYOUTS, ("layout", "role", "column", "source")):
        found.setdefault(row["layout"], {})[row["role"]] = row["column"]
    return found


def _layout_of(columns: list[str], file: Path) -> str:
    for name, wanted in _layouts().items():
        if set(wanted.values()) <= set(columns):
            return name
    raise InputError(
        "the table is of no layout that is known",
        file=file,
        found=", ".join(columns),
        expected=f"the columns of one of {', '.join(_layouts())}",
        do="name the columns with --column ROLE=NAME (uid and label at least)",
    )


def _check_keys(frame: pl.DataFrame, file: Path) -> None:
    places = frame.with_row_index("line", offset=2)
    for what, wrong in (
        ("a row has no key", places.filter(pl.col("uid").is_null())),
        ("a key is there twice", places.filter(~pl.col("uid").is_first_distinct())),
    ):
        if wrong.height:
            raise InputError(what, file=file, line=wrong["line"][0], expected="one row for each key")
