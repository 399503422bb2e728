"""Who may label what: raters, and the strata, calculators or categories that each of them knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

import polars as pl

from ground.errors import InputError, UsageError
from ground.names import names_found
from stewardship.benchmark.cells import read_cells
from stewardship.sheets.batch import NAME

__all__ = ["Experts"]

FIELDS = {
    "stratum": "stratum",
    "calculator": "stratum",
    "stratum_id": "stratum_id",
    "calculator_id": "stratum_id",
    "category": "category",
}
"""Columns of a table of expertise, and the column of the benchmark that each is compared with."""


@dataclass(frozen=True)
class Experts:
    """Raters and what they know.

    Attributes:
        knows: by rater the conditions under which a row is his: one that all hold is enough. An empty condition is
            every row.
        most: by rater the rows that he takes at most, where he said so.
    """

    knows: Mapping[str, tuple[Mapping[str, str], ...]]
    most: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def everyone(cls, raters: Sequence[str]) -> Experts:
        """Return raters who know everything.

        Raises:
            UsageError: none, one twice, or a name that is no name of a file.
        """
        # Some disks know Ann's sheet and ann's as one file.
        if not raters or len({rater.casefold() for rater in raters}) < len(raters):
            raise UsageError(
                "no rater is named" if not raters else "a rater is named twice",
                found=", ".join(raters) or None,
                expected="one name for each expert",
                do="name them: --rater NAME (repeatable), or --experts FILE",
            )
        for rater in raters:
            _check_name(rater, None, None)
        return cls({rater: ({},) for rater in raters})

    @classmethod
    def read(cls, file: Path, items: pl.DataFrame) -> Experts:
        """Read a table with a line for each thing that a rater knows.

        Columns: ``rater``, and any of ``stratum`` (or ``calculator``), ``stratum_id`` (or ``calculator_id``),
        ``category``; all filled cells of a line must hold for a row. ``rows``, where there, is the most that a rater
        takes.

        Raises:
            InputError: the table cannot be read, has other columns, or names what no row has.
        """
        cells = read_cells(file)
        known = {"rater", "rows", *FIELDS}
        if "rater" not in cells.columns or not set(cells.columns) <= known:
            raise InputError(
                "the table of experts has other columns",
                file=file,
                found=names_found(cells.columns),
                expected="rater, and any of calculator (or stratum), calculator_id, category, rows",
            )
        knows: dict[str, list[Mapping[str, str]]] = {}
        most: dict[str, int] = {}
        for line, row in enumerate(cells.to_dicts(), start=2):
            rater = (row.get("rater") or "").strip()
            _check_name(rater, file, line)
            condition = {FIELDS[name]: value.strip() for name, value in row.items() if name in FIELDS and value}
            for column, value in condition.items():
                _check_value(items, column, value, file, line)
            knows.setdefault(rater, []).append(condition)
            if limit := row.get("rows"):
                most[rater] = _rows(limit, file, line)
        if not knows:
            raise InputError("the table of experts has no rater", file=file)
        if len({rater.casefold() for rater in knows}) < len(knows):
            raise InputError("two raters differ in capitals only", file=file, found=", ".join(sorted(knows)))
        return cls({rater: tuple(conditions) for rater, conditions in knows.items()}, most)

    def of(self, row: Mapping[str, str | None]) -> list[str]:
        """Return the raters who know a row, in alphabetical order."""
        return sorted(
            rater
            for rater, conditions in self.knows.items()
            if any(all(row.get(column) == value for column, value in condition.items()) for condition in conditions)
        )


def _check_name(rater: str, file: Path | None, line: int | None) -> None:
    if not NAME.fullmatch(rater):
        kind = UsageError if file is None else InputError
        expected = "1 to 40 letters, digits, - and _"
        raise kind("this cannot be the name of a rater", file=file, line=line, found=rater, expected=expected)


def _check_value(items: pl.DataFrame, column: str, value: str, file: Path, line: int) -> None:
    values = items[column].drop_nulls().unique().sort().to_list() if column in items.columns else []
    if value in values:
        return
    near = get_close_matches(value, values, n=1, cutoff=0.5)
    raise InputError(
        f"no row of the benchmark has this {column}",
        file=file,
        line=line,
        found=value,
        expected=f"did you mean {near[0]}?" if near else (", ".join(values[:20]) or f"a benchmark with a {column}"),
    )


def _rows(text: str, file: Path, line: int) -> int:
    if not text.strip().isdecimal() or int(text) < 1:
        what, expected = "the most rows of a rater is not a number", "a number, such as 17"
        raise InputError(what, file=file, line=line, found=text, expected=expected)
    return int(text)
