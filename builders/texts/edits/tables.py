"""Reads the tables of words (``builders/data/edit_*.tsv``) into patterns."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from ground import ROOT
from ground.storage.tables import Row, grouped, read_table

__all__ = ["alternatives", "cue", "cues", "read_edit_table"]


def read_edit_table(name: str, columns: tuple[str, ...]) -> list[Row]:
    """Return the rows of ``builders/data/<name>.tsv``."""
    return read_table(ROOT / "builders" / "data" / f"{name}.tsv", columns)


def alternatives(words: Iterable[str]) -> str:
    """Return a pattern for any of the words, longest first; a space stands for any white space.

    Words are grouped by their first letters: a place where none of them starts is left sooner.
    """
    grouped: dict[str, list[str]] = {}
    for word in sorted(set(words), key=lambda word: (-len(word), word)):
        grouped.setdefault(word[0], []).append(re.escape(word[1:]).replace(r"\ ", r"\s+"))
    return "(?:" + "|".join(f"{re.escape(first)}(?:{'|'.join(rest)})" for first, rest in sorted(grouped.items())) + ")"


@cache
def cues() -> dict[str, tuple[str, ...]]:
    """Return the words of ``edit_cues.tsv`` by kind."""
    return grouped(read_edit_table("edit_cues", ("kind", "cue", "source")), "kind", "cue")


@cache
def cue(*kinds: str) -> re.Pattern[str]:
    """Return a pattern that finds any whole cue of these kinds, in any case."""
    words = [word for kind in kinds for word in cues()[kind]]
    return re.compile(rf"\b(?<!-){alternatives(words)}(?![\w-])", re.IGNORECASE)
