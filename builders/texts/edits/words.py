"""Edits that put a word's opposite in its place: antonyms, sides, comparisons, intensities, certainties."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import cast

from builders.texts.edits.model import EditRule, SentenceEdit, edit_at, like
from builders.texts.edits.tables import alternatives, cues, read_edit_table

__all__ = ["word_edits"]

COLUMNS = ("family", "rule", "word", "opposite", "both", "not_left", "not_right", "only_left", "only_right", "source")

TOKEN = re.compile(r"\w+(?:-\w+)*")
SUFFIX = re.compile(r"(?<=\w)-\w+(?![\w-])")
LEFT_REACH = 60


@dataclass(frozen=True, slots=True)
class Swap:
    """A word that may be replaced by its opposite, with what must and must not stand around it."""

    family: str
    side: int
    rule: EditRule
    word: re.Pattern[str]
    opposite: str
    not_left: re.Pattern[str] | None
    not_right: re.Pattern[str] | None
    only_left: re.Pattern[str] | None
    only_right: re.Pattern[str] | None

    def fits(self, sentence: str, begin: int, end: int) -> bool:
        """Tell whether the words around ``sentence[begin:end]`` allow the swap."""
        left, right = sentence[max(0, begin - LEFT_REACH) : begin], sentence[end:]
        if (self.not_left and self.not_left.search(left)) or (self.not_right and self.not_right.match(right)):
            return False
        if self.only_left and not self.only_left.search(left):
            return False
        return not self.only_right or bool(self.only_right.match(right))


def word_edits(sentence: str) -> Iterator[SentenceEdit]:
    """Yield every swap that the table allows, in the order of the sentence."""
    places = list(_places(sentence))
    sides = {(swap.family, swap.side) for _, _, swap in places}
    for begin, end, swap in places:
        if (swap.family, 1 - swap.side) in sides or not swap.fits(sentence, begin, end):
            continue
        yield edit_at(sentence, begin, end, like(sentence[begin:end], swap.opposite), swap.rule)


def _places(sentence: str) -> Iterator[tuple[int, int, Swap]]:
    """Yield the places of all words of the table, the longest at a place, whether or not their guards allow a swap."""
    swaps = _swaps()
    taken = 0
    for token in TOKEN.finditer(sentence):
        if "-" in token.group():
            for suffix in SUFFIX.finditer(sentence, token.start(), token.end()):
                for swap in swaps.get(suffix.group().lower(), ()):
                    yield suffix.start(), suffix.end(), swap
        if token.start() < taken:
            continue
        for swap in swaps.get(token.group().lower(), ()):
            match = swap.word.match(sentence, token.start())
            if match:
                yield match.start(), match.end(), swap
                taken = match.end()
                break


@cache
def _swaps() -> dict[str, tuple[Swap, ...]]:
    """Return the swaps by the first token of their word, longer words first."""
    grouped: dict[str, list[tuple[int, Swap]]] = defaultdict(list)
    for family, side, rule, word, other, row in _directed():
        first = word if word.startswith("-") else word.split()[0]
        swap = Swap(
            family,
            side,
            rule,
            re.compile(alternatives([word]) + r"(?![\w-])", re.IGNORECASE),
            other,
            _left(row["not_left"]),
            _right(row["not_right"]),
            _left(row["only_left"]),
            _right(row["only_right"], r"(?!\w)"),
        )
        grouped[first].append((-len(word), swap))
    return {
        first: tuple(swap for _, swap in sorted(places, key=lambda swap: swap[0])) for first, places in grouped.items()
    }


@cache
def _directed() -> tuple[tuple[str, int, EditRule, str, str, dict[str, str]], ...]:
    """Return (family, side, rule, word, opposite, row) for each direction of each row.

    The side of a word that stands in several rows of its family is that of its first row.
    """
    sides: dict[tuple[str, str], int] = {}
    directed = []
    for row in read_edit_table("edit_words", COLUMNS):
        family, rule = row["family"], cast(EditRule, row["rule"])
        word, other = row["word"], row["opposite"]
        side = sides.setdefault((family, word), 1 - sides.get((family, other), 1))
        sides.setdefault((family, other), 1 - side)
        directed.append((family, side, rule, word, other, row))
        if row["both"] == "yes":
            directed.append((family, 1 - side, rule, other, word, row))
    return tuple(directed)


def _expanded(guard: str) -> str:
    return re.sub(r"@(\w+)", lambda kind: alternatives(cues()[kind.group(1)]), guard)


def _left(guard: str) -> re.Pattern[str] | None:
    return re.compile(rf"(?<!\w)(?:{_expanded(guard)})[\s-]*$", re.IGNORECASE) if guard else None


def _right(guard: str, end: str = "") -> re.Pattern[str] | None:
    return re.compile(rf"[\s-]*(?:{_expanded(guard)}){end}", re.IGNORECASE) if guard else None
