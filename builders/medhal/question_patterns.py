"""Regular expressions by which questions are read, from ``builders/data/question_patterns.tsv``."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from builders.texts.any_of import any_of
from ground import ROOT
from ground.storage.tables import read_table

__all__ = ["has", "pattern"]


@cache
def _expressions(name: str) -> tuple[str, ...]:
    rows = read_table(ROOT / "builders" / "data" / "question_patterns.tsv", ("name", "pattern", "source"))
    expressions = tuple(row["pattern"] for row in rows if row["name"] == name)
    if not expressions:
        raise KeyError(name)
    return expressions


@cache
def pattern(name: str) -> re.Pattern[str]:
    """Return the expression of a name, its lines as alternatives; KeyError for a name that is none."""
    return re.compile("|".join(_expressions(name)), re.IGNORECASE)


@cache
def _any_of(name: str) -> Callable[[str], bool]:
    return any_of(_expressions(name))


def has(name: str, text: str) -> bool:
    """Tell whether a text has an expression of a name, wherever; quicker than `pattern`. KeyError as there."""
    return _any_of(name)(text)
