"""Words and patterns by which questions are read, from ``builders/data/question_words.tsv`` and ``_patterns.tsv``."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache

from builders.texts.any_of import AnyOf
from ground import ROOT
from ground.storage.tables import read_table

__all__ = ["has", "pattern", "words"]

DATA = ROOT / "builders" / "data"


@cache
def _words() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for row in read_table(DATA / "question_words.tsv", ("kind", "word", "source")):
        found[row["kind"]].add(row["word"] if row["kind"] in {"name", "genus", "abbreviation"} else row["word"].lower())
    return {kind: frozenset(known) for kind, known in found.items()}


@cache
def words(*kinds: str) -> frozenset[str]:
    """Return the words of one or more kinds; KeyError for a kind that is none."""
    return frozenset().union(*(_words()[kind] for kind in kinds))


@cache
def _expressions(name: str) -> tuple[str, ...]:
    rows = read_table(DATA / "question_patterns.tsv", ("name", "pattern", "source"))
    found = tuple(row["pattern"] for row in rows if row["name"] == name)
    if not found:
        raise KeyError(name)
    return found


@cache
def pattern(name: str) -> re.Pattern[str]:
    """Return the expression of a name, its lines as alternatives; KeyError for a name that is none."""
    return re.compile("|".join(_expressions(name)), re.IGNORECASE)


@cache
def _any_of(name: str) -> AnyOf:
    return AnyOf(_expressions(name))


def has(name: str, text: str) -> bool:
    """Tell whether a text has an expression of a name, wherever; quicker than `pattern`. KeyError as there."""
    return _any_of(name).found(text)
