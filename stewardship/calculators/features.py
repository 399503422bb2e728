"""Features of one row, read with their types: what a calculator computes from (a cell ``Relevant Entities``)."""

from __future__ import annotations

import ast
import functools
import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date

from ground import ROOT
from ground.contracts.labels import parse_label
from ground.storage.tables import read_table
from stewardship.calculators.units import UnitError, convert

__all__ = ["Features", "NotComputable", "NotRead", "substance_of"]

FEATURES = ROOT / "stewardship" / "data" / "features.tsv"
FLAGS = {"true": True, "yes": True, "present": True, "false": False, "no": False, "absent": False}


class NotComputable(Exception):  # noqa: N818 - it is an answer, no failure
    """A score cannot be computed; its text is the reason, in words."""


class NotRead(NotComputable):
    """The names of features cannot be read, so that nothing is known of the score; ``names`` are these."""

    def __init__(self, reason: str, names: tuple[str, ...]) -> None:
        super().__init__(reason)
        self.names = names


@dataclass(frozen=True)
class Range:
    """What `stewardship/data/features.tsv` says of a feature."""

    substance: str | None
    low: float
    high: float
    unit: str
    source: str


class Features:
    """Features of one row.

    Each getter records what it read in ``steps`` and what it took for granted in ``assumptions``.

    Args:
        cells: name to value: ``[number, unit]``, a truth value, a number, text, or a list.
        lenient: read as MedCalc-Bench v1.0 did: no range is checked and units are converted with its rounding.
    """

    def __init__(self, cells: Mapping[str, object], *, lenient: bool = False) -> None:
        self.cells = dict(cells)
        self.lenient = lenient
        self.steps: list[str] = []
        self.assumptions: list[str] = []

    @classmethod
    def parse(cls, text: str) -> Features:
        """Read a cell: a dictionary written as Python writes it, or as JSON does.

        Raises:
            NotComputable: the text is no such dictionary.
        """
        try:
            # JSON's names of three values are not Python's; a feature's name or value in quotes stays as it is.
            cells = ast.literal_eval(_python_names(text.strip()))
        except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
            raise NotComputable("the features cannot be read: no dictionary") from error
        if not isinstance(cells, dict) or not all(isinstance(name, str) for name in cells):
            raise NotComputable("the features cannot be read: no dictionary of names")
        return cls(cells)

    def has(self, name: str) -> bool:
        """Whether a feature was given."""
        return self.cells.get(name) is not None

    def step(self, text: str) -> None:
        """Record a step of the computation, in words."""
        self.steps.append(text)

    def assume(self, text: str) -> None:
        """Record what the computation takes for granted, in words; once."""
        if text not in self.assumptions:
            self.assumptions.append(text)

    def quantity(self, name: str, unit: str) -> float:
        """Return a quantity in a unit.

        Args:
            name: of the feature; its value is ``[number, unit]``.
            unit: wanted, spelt as in ``stewardship/data/unit_spellings.tsv``.

        Raises:
            NotComputable: missing, no number with a unit, of a unit that cannot be converted, or out of its range.
        """
        cell = self._given(name)
        if not (isinstance(cell, list | tuple) and len(cell) == 2 and isinstance(cell[1], str)):
            raise NotComputable(f"{name} is not a number with a unit: {_cut(cell)}")
        value, written = _finite(name, cell[0]), cell[1]
        known = _ranges().get(name)
        try:
            converted = convert(value, written, unit, substance_of(name), as_v1=self.lenient)
        except UnitError as error:
            raise NotComputable(f"{name} is in {written}, which cannot be converted to {unit}") from error
        same = math.isclose(converted, value, rel_tol=1e-12)
        self.step(f"{name}: {value:.10g} {written}" + ("" if same else f" = {converted:.6g} {unit}"))
        if known is not None:
            self._check(name, converted, unit, known)
        return converted

    def number(self, name: str) -> float:
        """Return a plain number, such as a ratio or a count.

        Raises:
            NotComputable: missing, no number, or out of its range.
        """
        value = _finite(name, self._given(name))
        self.step(f"{name}: {value:.10g}")
        known = _ranges().get(name)
        if known is not None and not self.lenient and not known.low <= value <= known.high:
            raise NotComputable(_outside(name, value, known))
        return value

    def flag(self, name: str, absent: bool | None = None) -> bool:
        """Return whether something holds.

        Args:
            absent: what is assumed where it was not given; None where it is needed.

        Raises:
            NotComputable: needed and missing, or neither true nor false.
        """
        if absent is not None and not self.has(name):
            self.assume(f"{name} is not mentioned: taken as {_yes(absent)}")
            return absent
        cell = self._given(name)
        value = cell if isinstance(cell, bool) else FLAGS.get(str(cell).strip().lower())
        if value is None:
            raise NotComputable(f"{name} is neither true nor false: {_cut(cell)}")
        self.step(f"{name}: {_yes(value)}")
        return value

    def choice(self, name: str, options: Collection[str], absent: str | None = None) -> str:
        """Return one of several options, compared without regard to case.

        Args:
            absent: the option assumed where it was not given; None where it is needed.

        Raises:
            NotComputable: needed and missing, or none of the options.
        """
        if absent is not None and not self.has(name):
            self.assume(f"{name} is not mentioned: taken as {absent}")
            return absent
        cell = self._given(name)
        wanted = " ".join(cell.split()).casefold() if isinstance(cell, str) else None
        for option in options:
            if option.casefold() == wanted:
                self.step(f"{name}: {option}")
                return option
        raise NotComputable(f"{name} is none of {', '.join(options)}: {_cut(cell)}")

    def parts(self, name: str) -> tuple[object, ...]:
        """Return the parts of a feature that is a list, such as a drug, its dose and the unit.

        Raises:
            NotComputable: missing or no list.
        """
        cell = self._given(name)
        if not isinstance(cell, list | tuple):
            raise NotComputable(f"{name} is no list: {_cut(cell)}")
        self.step(f"{name}: {' '.join(map(str, cell))}")
        return tuple(cell)

    def date(self, name: str) -> date:
        """Return a date, written as month/day/year or year-month-day.

        Raises:
            NotComputable: missing or no date.
        """
        cell = self._given(name)
        day = parse_label(cell).day if isinstance(cell, str) else None
        if day is None:
            raise NotComputable(f"{name} is no date: {_cut(cell)}")
        self.step(f"{name}: {day:%m/%d/%Y}")
        return day

    def _given(self, name: str) -> object:
        if not self.has(name):
            raise NotComputable(f"{name} is missing")
        return self.cells[name]

    def _check(self, name: str, value: float, unit: str, known: Range) -> None:
        if self.lenient:
            return
        try:
            measured = convert(value, unit, known.unit, known.substance)
        except UnitError as error:
            raise NotComputable(f"{name} cannot be in {unit}") from error
        # Conversions there and back lose a little: the ends belong to the range.
        slack = 1e-9 * max(abs(known.low), abs(known.high))
        if not known.low - slack <= measured <= known.high + slack:
            raise NotComputable(_outside(name, measured, known))


def substance_of(name: str) -> str | None:
    """Return what a feature is a concentration of; None where it is none."""
    known = _ranges().get(name)
    return known.substance if known else None


@functools.cache
def _ranges() -> dict[str, Range]:
    rows = read_table(FEATURES, ("feature", "substance", "low", "high", "unit", "source"))
    return {
        row["feature"]: Range(
            row["substance"] or None, float(row["low"]), float(row["high"]), row["unit"], row["source"]
        )
        for row in rows
    }


def _outside(name: str, value: float, known: Range) -> str:
    unit = "" if known.unit == "1" else f" {known.unit}"
    return f"{name} is out of range: {value:,.6g}{unit}, expected {known.low:,.10g} to {known.high:,.10g}{unit}"


def _finite(name: str, cell: object) -> float:
    if isinstance(cell, bool) or not isinstance(cell, int | float) or not math.isfinite(cell):
        raise NotComputable(f"{name} is not a number: {_cut(cell)}")
    return float(cell)


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _cut(cell: object) -> str:
    text = str(cell)
    return text if len(text) <= 40 else f"{text[:40]}..."


def _python_names(text: str) -> str:
    return re.sub(
        r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|\b(true|false|null)\b""",
        lambda match: match[1] or {"true": "True", "false": "False", "null": "None"}[match[2]],
        text,
    )
