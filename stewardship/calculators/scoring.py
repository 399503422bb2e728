"""Points of a score: the items of ``stewardship/data/score_points.tsv``, added up over the features of a row."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby

from ground import ROOT
from ground.errors import InputError
from ground.storage.tables import read_table
from stewardship.calculators.features import Features, NotComputable
from stewardship.calculators.registry import Version

__all__ = ["Line", "Score", "ScoreItem", "items_of"]

POINTS = ROOT / "stewardship" / "data" / "score_points.tsv"
COLUMNS = ("calculator", "item", "version", "kind", "feature", "unit", "when", "points", "absent", "source")
ABSTAIN = "abstain"
NORMAL = "normal"
COUNTS = ("mm^3", "m^3")
"""Units of cell counts, which the benchmark writes as what they are per."""
COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True)
class Line:
    """When an item gives which points.

    Attributes:
        when: comparisons that all hold (``>=65 <75``), or words of which one is given (``absent; none``).
        points: None where no score is to be given.
    """

    when: str
    points: float | None
    source: str


@dataclass(frozen=True)
class ScoreItem:
    """What points of a score are for.

    Attributes:
        kind: ``flag`` (any feature holds), ``band`` (of a quantity) or ``choice``.
        features: that it reads; none where the value is computed.
        unit: of the thresholds; empty for a plain number.
        absent: what a feature that is not given is taken as: ``no``, ``yes``, a word of a choice, ``normal`` (no
            points); empty where it is needed.
        lines: in order; the first that fits counts.
    """

    name: str
    kind: str
    features: tuple[str, ...]
    unit: str
    absent: str
    lines: tuple[Line, ...]


@functools.cache
def items_of(number: int, version: Version) -> dict[str, ScoreItem]:
    """Return the items of a calculator by name, in order; none where it is no score.

    Raises:
        InputError: the table contradicts itself.
    """
    rows = [row for row in _rows() if int(row["calculator"]) == number and row["version"] in (version, "both")]
    names = list(dict.fromkeys(row["item"] for row in rows))
    rows.sort(key=lambda row: names.index(row["item"]))
    return {name: _item(name, list(lines)) for name, lines in groupby(rows, key=lambda row: row["item"])}


@functools.cache
def _rows() -> tuple[dict[str, str], ...]:
    return tuple(read_table(POINTS, COLUMNS))


def _item(name: str, rows: list[dict[str, str]]) -> ScoreItem:
    shared = {(row["kind"], row["feature"], row["unit"]) for row in rows}
    if len(shared) > 1:
        raise InputError(
            "an item of a score is of several kinds", file=POINTS, found=name, expected="one kind, feature"
        )
    kind, feature, unit = shared.pop()
    absent = next((row["absent"] for row in rows if row["absent"]), "")
    features = tuple(item.strip() for item in feature.split("|") if item.strip())
    lines = (
        Line(row["when"], None if row["points"] == ABSTAIN else float(row["points"]), row["source"]) for row in rows
    )
    return ScoreItem(name, kind, features, unit, absent, tuple(lines))


class Score:
    """Adds up points, and says in the features' steps what each is for."""

    def __init__(self, number: int, features: Features, version: Version) -> None:
        self.items = items_of(number, version)
        self.features = features
        self.total = 0.0

    def add(self, points: float, why: str) -> None:
        """Add points, and record why."""
        self.total += points
        self.features.step(f"{why}: {points:+g}, total {self.total:g}" if points else f"{why}: 0")

    def all(self, *, but: tuple[str, ...] = ()) -> Score:
        """Add the points of every item in order, but those that are named or have no feature of their own.

        Raises:
            NotComputable: a feature that is needed is missing, is no such thing, or out of range.
        """
        for name, item in self.items.items():
            if item.features and name not in but:
                self.item(name)
        return self

    def one_of(self, names: tuple[str, ...]) -> Score:
        """Add the points of one of several items, the most that one gives.

        Raises:
            NotComputable: as `all`.
        """
        results = [self.points(name) for name in names]
        most = max(points for points, _ in results)
        self.add(most, " or ".join(why for points, why in results if points == most))
        return self

    def item(self, name: str) -> None:
        """Add the points of one item from its features.

        Raises:
            NotComputable: as `all`.
        """
        self.add(*self.points(name))

    def value(self, name: str, value: float) -> None:
        """Add the points that an item's bands give for a value that was computed."""
        self.add(*self._in_band(self.items[name], value))

    def points(self, name: str) -> tuple[float, str]:
        """Return the points of one item from its features, and what for, in words.

        Raises:
            NotComputable: as `all`.
        """
        item = self.items[name]
        if item.kind == "flag":
            # All are read, so that the steps tell of each.
            held = [self.features.flag(entry, absent=item.absent == "yes") for entry in item.features]
            return (item.lines[0].points or 0) if any(held) else 0, name
        (feature,) = item.features
        if item.kind == "choice":
            return self._choice(item, feature)
        if item.absent == NORMAL and not self.features.has(feature):
            self.features.assume(f"{feature} is not mentioned: taken as normal")
            return 0, name
        read = self.features.quantity(feature, item.unit) if item.unit else self.features.number(feature)
        return self._in_band(item, read)

    def _in_band(self, item: ScoreItem, value: float) -> tuple[float, str]:
        # Conversions leave a trace in the last digits: 100.4 F is 38 C, neither above nor below.
        value = float(f"{value:.9g}")
        unit = f"per {item.unit}" if item.unit in COUNTS else item.unit
        words = f"{item.name} {value:.6g} {unit}".rstrip()
        for line in item.lines:
            if _holds(line.when, value):
                return line.points or 0, f"{words} ({line.when})"
        return 0, words

    def _choice(self, item: ScoreItem, feature: str) -> tuple[float, str]:
        words = {word.strip(): line for line in item.lines for word in line.when.split(";")}
        if isinstance(self.features.cells.get(feature), bool) and {"yes", "no"} <= set(words):
            word = "yes" if self.features.flag(feature) else "no"
        else:
            word = self.features.choice(feature, tuple(words), absent=item.absent or None)
        points = words[word].points
        if points is None:
            raise NotComputable(f"{feature} is {word}: no score can be given ({words[word].source})")
        return points, f"{item.name}, {word}"


def _holds(when: str, value: float) -> bool:
    """Whether a value fits every comparison, as ``>=65 <75``."""
    for item in when.split():
        sign = item.rstrip("0123456789.-")
        if not COMPARISONS[sign](value, float(item[len(sign) :])):
            return False
    return True
