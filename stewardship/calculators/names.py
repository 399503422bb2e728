"""Names of features as others write them: case, spelling and synonyms, read by a table with sources.

A name is the words that it is made of, in any order: signs, plurals and words that say nothing are dropped, and words
of ``stewardship/data/feature_words.tsv`` are read as others. What is left is looked up among the features of one
calculator and their other names (``feature_names.tsv``): one name can mean two things in two calculators.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from ground import ROOT
from ground.names import names_found
from ground.storage.tables import read_table
from stewardship.calculators.features import NotRead
from stewardship.calculators.inputs import inputs_of
from stewardship.calculators.units import is_unit

__all__ = ["Named", "feature_of", "read_names"]

DATA = ROOT / "stewardship" / "data"
Words = frozenset[str]
# Signs that say something; all other signs part words.
SIGNS = {"≤": " most ", "<=": " most ", "≥": " least ", ">=": " least ", "<": " under ", ">": " over "}
SIGN = re.compile("|".join(map(re.escape, sorted(SIGNS, key=len, reverse=True))))
PLURAL = re.compile(r"(?<=\w\w[^siu])s$")
BRACKET = re.compile(r"[(\[]([^()\[\]]*)[)\]]")
# Where words run together: systolicPressure, 3days.
HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Za-z]{3})(?=\d)|(?<=\d)(?=[A-Za-z])")
NAMED = 3
"""Features named in a reason; the others are counted."""


@dataclass(frozen=True)
class Named:
    """The features of a row under the names that a calculator knows.

    Attributes:
        cells: name to value; what is not read is there under its own name.
        unread: names that stand for no feature of the calculator, and for nothing that it can do without.
    """

    cells: dict[str, object]
    unread: tuple[str, ...]

    def check(self, number: int) -> None:
        """Refuse to take a feature for absent while the row has one that was not read: it could be this one.

        Raises:
            NotRead: the calculator would.
        """
        taken = [
            f"{item.feature} as {item.absent}"
            for item in inputs_of(number)
            if item.absent and not item.absent.startswith("needed") and self.cells.get(item.feature) is None
        ]
        if self.unread and taken:
            more = f" and {len(taken) - NAMED} more" if len(taken) > NAMED else ""
            raise NotRead(
                f"features not read: {names_found(self.unread)}; one of them may be what would be taken for granted: "
                f"{', '.join(taken[:NAMED])}{more}",
                self.unread,
            )


def read_names(number: int, cells: Mapping[str, object]) -> Named:
    """Read the names of a row's features.

    Args:
        cells: name to value; a value None was not given.

    Raises:
        NotRead: two names mean one feature and have different values.
    """
    names: dict[str, object] = {}
    written: dict[str, str] = {}
    unread: list[str] = []
    for name, value in cells.items():
        feature = feature_of(number, name, value)
        if not feature:
            names[name] = value
            if feature is None and value is not None:
                unread.append(name)
            continue
        if names.get(feature) is not None and value is not None and names[feature] != value:
            twice = written[feature], name
            raise NotRead(f"{feature} is given twice with two values: {names_found(twice)}", twice)
        if value is not None or feature not in names:
            names[feature], written[feature] = value, name
    return Named(names, tuple(unread))


def feature_of(number: int, name: str, value: object = None) -> str | None:
    """Return the feature that a name stands for in a calculator.

    Args:
        value: that it has; some names mean one thing in one unit only.

    Returns:
        The feature's name in MedCalc-Bench; empty for what the calculator can do without; None for a name not known.
    """
    if any(name == item.feature for item in inputs_of(number)):
        return name
    known = _known(number)
    for spelling in (name, HUMP.sub(" ", name)):
        for feature, unit in known.get(_words(spelling), ()):
            if not unit or _unit(value) == unit:
                return feature
    return None


@functools.cache
def _known(number: int) -> dict[Words, list[tuple[str, str]]]:
    """Return what words mean in a calculator: features with the unit they need; its own names before others'."""
    features = [item.feature for item in inputs_of(number)]
    results: dict[Words, list[tuple[str, str]]] = {}
    for feature in features:
        results.setdefault(_words(feature), []).append((feature, ""))
    for row in read_table(DATA / "feature_names.tsv", ("calculators", "feature", "name", "unit", "source")):
        only = row["calculators"].split(",") if row["calculators"] else [str(number)]
        if str(number) in only and (not row["feature"] or row["feature"] in features):
            results.setdefault(_words(row["name"]), []).append((row["feature"], row["unit"].casefold()))
    return results


@functools.lru_cache(maxsize=10_000)
def _words(name: str) -> Words:
    text = f" {' '.join(_split(name))} "
    pattern, read = _same()
    # What stands for several words may hold one that is read as another: until nothing changes, and no ring turns.
    for _ in range(4):
        text, before = pattern.sub(lambda match: f" {read[match[0].strip()]} ", text), text
        if text.split() == before.split():
            break
        text = f" {' '.join(text.split())} "
    return frozenset(text.split())


@functools.cache
def _same() -> tuple[re.Pattern[str], dict[str, str]]:
    rows = read_table(DATA / "feature_words.tsv", ("written", "read", "source"))
    read = {" ".join(_split(row["written"])): " ".join(_split(row["read"])) for row in rows}
    longest = sorted(read, key=lambda words: (-len(words.split()), words))
    return re.compile(f"(?<= )(?:{'|'.join(map(re.escape, longest))})(?= )"), read


def _split(name: str) -> list[str]:
    """Return a name's words in order, in lower case, without signs, plurals and a unit in brackets."""
    bare = BRACKET.sub(lambda match: "" if is_unit(match[1]) else match[0], unicodedata.normalize("NFKC", name))
    text = SIGN.sub(lambda match: SIGNS[match[0]], bare).casefold()
    words = re.findall(r"[^\W_]+", text.replace("'s", "").replace("’s", ""))
    return [PLURAL.sub("", word) for word in words]


def _unit(value: object) -> str:
    parts = value if isinstance(value, list | tuple) and len(value) == 2 else ("", "")
    return parts[1].casefold() if isinstance(parts[1], str) else ""
