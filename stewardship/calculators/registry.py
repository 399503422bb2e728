"""Calculators by number and name: each a typed function of plain numbers, bound to the features that it reads.

A module of calculators binds its functions to their numbers:

    @equation(7, ("Calcium", "mg/dL"), ("Albumin", "g/dL"))
    def corrected_calcium(calcium: float, albumin: float) -> float: ...

    @calculator(39)
    def _anion_gap(features: Features, version: Version) -> float: ...

A score whose points are all in ``score_points.tsv`` needs no function.
"""

from __future__ import annotations

import functools
import importlib
import math
import pkgutil
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Literal, TypeVar

import stewardship.calculators
from ground import ROOT
from ground.contracts.labels import LabelValue
from ground.errors import UsageError
from ground.lm.cache import content_key
from ground.storage.files import sha256_of
from ground.storage.tables import read_table
from stewardship.calculators.features import Features, NotComputable, NotRead
from stewardship.calculators.names import read_names
from stewardship.calculators.units_v1 import round_v1

__all__ = [
    "MODULES",
    "Calculator",
    "Computed",
    "Version",
    "calculate",
    "calculator",
    "calculators",
    "definitions_digest",
    "find",
]

Version = Literal["corrected", "v1.0"]
"""``corrected``: as published; ``v1.0``: as MedCalc-Bench v1.0 computed, for what its labels hold."""

Formula = TypeVar("Formula", bound=Callable[..., float])
Binding = Callable[[Features, Version], float | date | LabelValue]

CALCULATORS = ROOT / "stewardship" / "data" / "calculators.tsv"
TABLE = re.compile(r'"([a-z0-9_]+\.tsv)"')
COLUMNS = ("id", "name", "kind", "category", "output_type", "unit", "formula", "source")

MODULES = ("equations_", "scores")
"""How the names of the modules of this package begin that bind calculators."""


@dataclass(frozen=True)
class Calculator:
    """What is known of a calculator (``stewardship/data/calculators.tsv``).

    Attributes:
        kind: ``equation`` or ``rule``.
        category: lab, physical, date, dosage, risk, severity or diagnosis.
        unit: of its result; ``points`` for a score.
    """

    id: int
    name: str
    kind: str
    category: str
    output_type: str
    unit: str
    formula: str
    source: str


@dataclass(frozen=True)
class Computed:
    """What a calculator made of a row.

    Attributes:
        value: a number, a date, a length of time, or an abstention.
        steps: what was read and done, in words, in order.
        assumptions: what was taken for granted, in words.
        reason: why it abstained; empty where it did not.
        unread: features of the row whose names are not known, or mean one thing and say two; it abstained where it took
            any other for absent.
    """

    value: LabelValue
    steps: tuple[str, ...]
    assumptions: tuple[str, ...]
    reason: str = ""
    unread: tuple[str, ...] = ()


_bound: dict[int, Binding] = {}


def calculator(number: int) -> Callable[[Binding], Binding]:
    """Bind a function of features to a calculator's number."""

    def bind(function: Binding) -> Binding:
        if number in _bound:
            raise ValueError(f"calculator {number} is bound twice")
        _bound[number] = function
        return function

    return bind


def equation(number: int, *reads: tuple[str, str]) -> Callable[[Formula], Formula]:
    """Bind a formula of quantities, each a feature in a unit, to a calculator's number."""

    def bind(formula: Formula) -> Formula:
        def computed(features: Features, version: Version) -> float:
            return formula(*(features.quantity(name, unit) for name, unit in reads))

        calculator(number)(computed)
        return formula

    return bind


@functools.cache
def calculators() -> tuple[Calculator, ...]:
    """Return all calculators, by number."""
    rows = read_table(CALCULATORS, COLUMNS)
    known = (Calculator(int(row.pop("id")), **row) for row in rows)
    return tuple(sorted(known, key=lambda item: item.id))


def find(which: int | str) -> Calculator:
    """Return a calculator by its number, or by its name or a part that no other name has, without regard to case.

    Raises:
        UsageError: there is none, or several.
    """
    text = str(which).strip().casefold()
    for item in calculators():
        if text in (str(item.id), item.name.casefold()):
            return item
    near = [item for item in calculators() if text and not text.isdigit() and text in item.name.casefold()]
    if len(near) == 1:
        return near[0]
    what = "several calculators have this in their name" if near else "no such calculator"
    names = "; ".join(f"{item.id} {item.name}" for item in near)
    raise UsageError(what, found=str(which), expected=names or "a number or a name of `ontoground steward calculators`")


def calculate(which: int | str, features: Features | str, version: Version = "corrected") -> Computed:
    """Compute a score from the features of a row, whose names are read in other cases, spellings and synonyms too.

    Args:
        features: of the row, or a cell ``Relevant Entities``.
        version: as published, or as MedCalc-Bench v1.0 did.

    Raises:
        UsageError: no such calculator.
    """
    known = find(which)
    binding = _bindings().get(known.id)
    if binding is None:
        raise UsageError("this calculator does not exist yet", found=f"{known.id} {known.name}")
    read = Features({})
    unread: tuple[str, ...] = ()
    try:
        cells = Features.parse(features).cells if isinstance(features, str) else features.cells
        named = read_names(known.id, cells)
        read, unread = Features(named.cells, lenient=version == "v1.0"), named.unread
        value = _rounded(binding(read, version), known, version)
        named.check(known.id)
        reason = ""
        if version == "corrected":
            read.step(f"formula: {known.formula}")
        read.step(f"{known.name}: {_written(value, known)}")
    except NotComputable as error:
        value, reason = LabelValue.of(None), str(error)
        unread = error.names if isinstance(error, NotRead) else unread
    except (ArithmeticError, ValueError) as error:
        # A logarithm of nothing, a denominator of zero, a year past the calendar's end.
        value, reason = LabelValue.of(None), f"the formula has no value for these features: {error}"
    return Computed(value, tuple(read.steps), tuple(read.assumptions), reason, unread)


def _rounded(result: float | date | LabelValue, known: Calculator, version: Version) -> LabelValue:
    value = result if isinstance(result, LabelValue) else LabelValue.of(result)
    if value.number is None or known.output_type != "decimal":
        return value
    if not math.isfinite(value.number):
        raise NotComputable("the formula has no finite value for these features")
    # What is beyond nine decimals is an artefact of binary fractions; adding zero takes the sign from a zero.
    return LabelValue.of(round_v1(value.number) if version == "v1.0" else round(value.number, 9) + 0.0)


def definitions_digest() -> str:
    """Return a hash of the calculators' code and of the tables that it names."""
    code = {path.name: path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("*.py")}
    tables = {name for text in code.values() for name in TABLE.findall(text)}
    return content_key({**code, **{name: sha256_of(CALCULATORS.with_name(name)) for name in sorted(tables)}})


@functools.cache
def _bindings() -> dict[int, Binding]:
    for module in pkgutil.iter_modules(stewardship.calculators.__path__):
        if module.name.startswith(MODULES):
            importlib.import_module(f"{stewardship.calculators.__name__}.{module.name}")
    from stewardship.calculators.scoring import Score, items_of

    scores = {item.id for item in calculators() if items_of(item.id, "corrected")} - set(_bound)
    return _bound | {
        number: lambda features, version, number=number: Score(number, features, version).all().total
        for number in scores
    }


def _written(value: LabelValue, known: Calculator) -> str:
    number = value.number
    if number is None:
        return value.text()
    if value.weeks_days:
        return f"{int(number // 7)} weeks, {int(number % 7)} days"
    return f"{number:.6g} {known.unit}".rstrip()
