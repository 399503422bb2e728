"""The risk level of an edited output on another road: from the words that differ from the unedited output.

Neither the rule that made the edit nor the level that was asked for is read. Names are looked up in ``kg.name``, and
how near two concepts are in ``kg.edge``. What no rule decides (a reversed denial may weigh 3 or 4, a question turned to
another matter) abstains; so does a reference, which has no edit to derive a level from.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import polars as pl

from ground.contracts.labels import ABSTENTION
from ground.storage.tables import read_table
from stewardship.datasets.rows import evidence_of, features_of
from stewardship.second_road.graph import class_distances, known_names
from stewardship.second_road.readings import DATA

__all__ = ["Change", "changes", "edit_levels"]

WORD = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+(?:['-][^\W\d_]+)*")
LONGEST_NAME = 5
TENFOLD = 10
HIGHEST = 4
SPELLINGS = (("ae", "e"), ("oe", "e"), ("our", "or"), ("is", "iz"), ("ys", "yz"), ("ll", "l"), ("tre", "ter"))

OPPOSITES = (("hyper", "hypo"), ("tachy", "brady"))
"""Prefixes of measures that are too high and too low: the treatment of one makes the other worse."""


@dataclass(frozen=True)
class Change:
    """Words that stand in one text and not in the other, with the words round them.

    Attributes:
        before: words of the unedited text; none where words were added.
        after: words of the edited text; none where words were left out.
        left: words that both have in front.
        right: words that both have behind.
    """

    before: tuple[str, ...]
    after: tuple[str, ...]
    left: tuple[str, ...]
    right: tuple[str, ...]


def edit_levels(
    connection: duckdb.DuckDBPyConnection, items: Sequence[Mapping[str, Any]]
) -> list[tuple[str, str, str]]:
    """Return uid, level (``N/A`` where it cannot be said) and why, of each MedVAL row.

    Args:
        connection: of `stewardship.second_road.graph.opened`.
        items: rows of the benchmark.
    """
    differ = {item["uid"]: _differing(item) for item in items}
    phrases = {
        name for changed in differ.values() for change in changed or () for pair in _phrases(change) for name in pair
    }
    known = _concepts(connection, phrases)
    pairs = {
        (old, new)
        for changed in differ.values()
        for change in changed or ()
        for before, after in _phrases(change)
        for old in known.get(before, ())
        for new in known.get(after, ())
    }
    judge = _Judge(known, class_distances(connection, sorted(pairs)))
    return [(item["uid"], *judge.level(item, differ[item["uid"]])) for item in items]


def changes(before: str, after: str) -> list[Change]:
    """Return what differs between two texts, word by word, whatever their case and punctuation."""
    old, new = (tuple(WORD.findall(text.casefold())) for text in (before, after))
    return [
        Change(old[a:b], new[c:d], old[max(0, a - LONGEST_NAME) : a], old[b : b + LONGEST_NAME])
        for kind, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        if kind != "equal"
    ]


def _differing(item: Mapping[str, Any]) -> list[Change] | None:
    evidence = evidence_of(item)
    clean = evidence.get("clean_output")
    if evidence["variant"] != "perturbed" or clean is None:
        return None
    return changes(clean, features_of(item)["output"])


def _phrases(change: Change) -> list[tuple[str, str]]:
    """Return the change's words as names, widened by what stands round them: ``cancer`` is ``colon cancer``."""
    phrases = []
    for left in range(LONGEST_NAME):
        for right in range(LONGEST_NAME - left):
            if left > len(change.left) or right > len(change.right):
                continue
            around = (change.left[len(change.left) - left :], change.right[:right])
            pair = [" ".join((*around[0], *words, *around[1])) for words in (change.before, change.after)]
            if all(pair):
                phrases.append((pair[0], pair[1]))
    return phrases


def _concepts(connection: duckdb.DuckDBPyConnection, phrases: set[str]) -> dict[str, tuple[str, ...]]:
    rows = known_names(connection, sorted(phrases))
    grouped = rows.group_by("name", maintain_order=True).agg(pl.col("cui").unique().sort())
    return {name: tuple(cuis) for name, cuis in grouped.iter_rows()}


class _Judge:
    """Weighs changes."""

    def __init__(self, known: Mapping[str, tuple[str, ...]], near: Mapping[tuple[str, str], int]) -> None:
        self._known = known
        self._near = near
        self._words: dict[str, str] = {
            row["word"]: row["kind"] for row in read_table(DATA / "edit_words.tsv", ("word", "kind", "source"))
        }

    def level(self, item: Mapping[str, Any], changed: list[Change] | None) -> tuple[str, str]:
        if changed is None:
            return ABSTENTION, "an unedited output: its level cannot be derived from an edit"
        if not changed or _same_words(changed):
            return "1", "the same words as the unedited output, in another order at most"
        weighed = [self._weigh(change, str(item["context"] or "")) for change in changed]
        undecided = [why for level, why in weighed if level is None]
        top = max((level for level, _ in weighed if level is not None), default=0)
        # What is open cannot raise the highest level.
        if undecided and top < HIGHEST:
            return ABSTENTION, undecided[0]
        return str(top), next(why for level, why in weighed if level == top)

    def _weigh(self, change: Change, context: str) -> tuple[int | None, str]:
        kinds = {self._words.get(word, "content") for word in (*change.before, *change.after)}
        for decided in (self._numbers(change), self._closed(change, kinds), self._names(change, context)):
            if decided is not None:
                return decided
        if kinds <= {"function"}:
            return 1, "function words differ"
        return None, "the changed words are no name, number or grade: their weight is a matter of judgement"

    def _numbers(self, change: Change) -> tuple[int | None, str] | None:
        before, after = ([word for word in words if word[0].isdigit()] for words in (change.before, change.after))
        if len(before) != 1 or len(after) != 1 or before == after:
            return None
        low, high = sorted((float(before[0]), float(after[0])))
        if low > 0 and high / low >= TENFOLD:
            return 4, f"a number differs by a factor of ten or more: {before[0]}, {after[0]}"
        return 3, f"another number: {before[0]}, {after[0]}"

    def _closed(self, change: Change, kinds: set[str]) -> tuple[int | None, str] | None:
        if "denial" in kinds:
            return None, "a statement is reversed: 3 or 4 is a matter of judgement"
        if "side" in kinds and kinds <= {"side", "function"}:
            return 3, "another side"
        if "grade" in kinds and kinds <= {"grade", "function"}:
            return 2, "how strong or how certain it is differs"
        if len(change.before) == len(change.after) and all(map(_same_spelling, change.before, change.after)):
            return 1, "spellings of the same words"
        return None

    def _names(self, change: Change, context: str) -> tuple[int | None, str] | None:
        best: tuple[int | None, str] | None = None
        for before, after in _phrases(change):
            old, new = self._known.get(before, ()), self._known.get(after, ())
            if not old or not new:
                continue
            if set(old) & set(new):
                return 1, f"two names of one concept: {before}, {after}"
            if _opposite(before, after):
                return 4, f"the opposite: {before}, {after}"
            best = best or self._apart(before, after)
        return best if change.before else best or self._added(change, context)

    def _apart(self, before: str, after: str) -> tuple[int | None, str]:
        pairs = [(old, new) for old in self._known[before] for new in self._known[after]]
        steps = min((self._near[pair] for pair in pairs if pair in self._near), default=None)
        if steps is None:
            return 4, f"another thing: {before}, {after}"
        if steps > 1:
            return None, f"distant relatives: whether {before} for {after} weighs 3 or 4 is a matter of judgement"
        return 3, f"a near relative: {before}, {after}"

    def _added(self, change: Change, context: str) -> tuple[int | None, str] | None:
        held = " ".join(WORD.findall(context.casefold()))
        for length in range(min(LONGEST_NAME, len(change.after)), 0, -1):
            for start in range(len(change.after) - length + 1):
                phrase = " ".join(change.after[start : start + length])
                if self._known.get(phrase) and self._words.get(phrase, "content") == "content":
                    inside = f" {phrase} " in f" {held} "
                    return (None, f"{phrase} is added, and is in the input") if inside else (4, f"{phrase} is invented")
        return None


def _same_words(changed: list[Change]) -> bool:
    before = sorted(word for change in changed for word in change.before)
    return before == sorted(word for change in changed for word in change.after)


def _opposite(old: str, new: str) -> bool:
    return any(old.replace(high, low) == new or new.replace(high, low) == old for high, low in OPPOSITES if old != new)


def _same_spelling(old: str, new: str) -> bool:
    for british, american in SPELLINGS:
        old, new = old.replace(british, american), new.replace(british, american)
    return old == new
