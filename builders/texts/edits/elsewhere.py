"""Looks for a place in a text that says what a changed sentence now says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from builders.texts.edits.tables import cues

__all__ = ["stated_elsewhere"]

WORD = re.compile(r"[^\W\d_][\w-]*")
TOKEN = re.compile(r"<?\w[\w'.-]*\w>?|\w")
NEAR = 8
"""Content words on each side of the change that a place must share."""
AROUND = 220
"""Characters on each side of a place that count as its sentence, up to a full stop."""
ENOUGH = 0.5
SHORTEST = 4
STEM = 6


def stated_elsewhere(text: str, changed: str, before: str, after: str, begin: int) -> bool:
    """Tell whether a text has a place like the change and its surroundings.

    Args:
        text: where to look; the unchanged sentence may stand in it.
        changed: the changed sentence.
        before: what was replaced.
        after: what stands there now.
        begin: where it stands in the changed sentence.

    Returns:
        True where the new words (their stems; for a negation, any negation) stand in the text near at least half of
        the content words that surround the change.
    """
    around = _near(changed, begin, begin + len(after))
    if not around:
        return True
    new = _new_words(before, after)
    lowered = _lowered(text)
    return any(_shared(around, lowered, place) for stem in _sought(new) for place in _places(lowered, stem))


def _near(sentence: str, begin: int, end: int) -> set[str]:
    """Return the stems of the content words that surround the change."""
    return {*_content_stems(sentence[:begin])[-NEAR:], *_content_stems(sentence[end:])[:NEAR]}


def _content_stems(text: str) -> list[str]:
    fillers = _fillers()
    return [word[:STEM] for word in WORD.findall(text.lower()) if len(word) >= SHORTEST and word not in fillers]


def _new_words(before: str, after: str) -> set[str]:
    old = {token.lower() for token in TOKEN.findall(before)}
    return {token.lower() for token in TOKEN.findall(after)} - old - {"a", "an", "the", "of", "in", "to", "is", "are"}


def _sought(words: set[str]) -> list[str]:
    """Return what to look for: the stems of the new words, or every denial where one was added."""
    if words & {"not", "no", "cannot"}:
        return [f" {word} " for word in cues()["negative"]]
    return sorted(word if word[0].isdigit() else word[: max(SHORTEST, len(word) - 3)] for word in words)


@lru_cache(maxsize=4)
def _lowered(text: str) -> str:
    """One text is searched for several changes of its sentences."""
    return text.lower()


def _places(lowered: str, stem: str) -> Iterator[int]:
    """Yield where a word of a lower-cased text begins with a stem (searched as a string: texts are long)."""
    place = lowered.find(stem)
    while place >= 0:
        if place == 0 or stem[0] == " " or not (lowered[place - 1].isalnum() or lowered[place - 1] in "._"):
            yield place
        place = lowered.find(stem, place + len(stem))


def _shared(around: set[str], lowered: str, place: int) -> bool:
    begin = max(0, place - AROUND)
    sentence = _sentence_in(lowered[begin : place + AROUND], place - begin)
    return sum(stem in sentence for stem in around) >= ENOUGH * len(around)


def _sentence_in(window: str, place: int) -> str:
    """Return the part of a window between the full stops around a place."""
    stop = window.rfind(". ", 0, place)
    following = window.find(". ", place)
    return window[stop + 1 : following if following >= 0 else len(window)]


@cache
def _fillers() -> frozenset[str]:
    return frozenset(cues()["filler"])
