"""Looks for a place in a text that says what a changed sentence now says."""

from __future__ import annotations

import re

from builders.texts.edits.tables import cue

__all__ = ["content_stems", "stated_elsewhere"]

WORD = re.compile(r"[^\W\d_][\w-]*")
TOKEN = re.compile(r"<?\w[\w'.-]*\w>?|\w")
NEAR = 8
"""Content words on each side of the change that a place must share."""
AROUND = 220
"""Characters around a place that count as its sentence."""
ENOUGH = 0.5
SHORTEST = 4
STEM = 6
FILLERS = frozenset(
    "that this these those with from were have been which their there than also into such between among however other "
    "here both more most using used study results analysis data found show shown showed suggest based".split()
)


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
    if not new:
        return False
    pattern = cue("negative") if new & {"not", "no", "cannot"} else _stems(new)
    return any(_shared(around, text, found.start(), found.end()) for found in pattern.finditer(text))


def content_stems(text: str) -> set[str]:
    """Return the stems of a text's content words."""
    words = (word.lower() for word in WORD.findall(text))
    return {word[:STEM] for word in words if len(word) >= SHORTEST and word not in FILLERS}


def _near(sentence: str, begin: int, end: int) -> set[str]:
    left = [word for word in WORD.findall(sentence[:begin]) if content_stems(word)][-NEAR:]
    right = [word for word in WORD.findall(sentence[end:]) if content_stems(word)][:NEAR]
    return content_stems(" ".join((*left, *right)))


def _new_words(before: str, after: str) -> set[str]:
    old = {token.lower() for token in TOKEN.findall(before)}
    return {token.lower() for token in TOKEN.findall(after)} - old - {"a", "an", "the", "of", "in", "to", "is", "are"}


def _stems(words: set[str]) -> re.Pattern[str]:
    stems = "|".join(
        re.escape(word if word[0].isdigit() else word[: max(SHORTEST, len(word) - 3)]) for word in sorted(words)
    )
    return re.compile(rf"(?<![\w.])(?:{stems})", re.IGNORECASE)


def _shared(around: set[str], text: str, begin: int, end: int) -> bool:
    window = text[max(0, begin - AROUND) : end + AROUND]
    sentence = _sentence_in(window, min(begin, AROUND))
    return len(around & content_stems(sentence)) >= ENOUGH * len(around)


def _sentence_in(window: str, place: int) -> str:
    """Return the part of a window between the full stops around a place."""
    stop = window.rfind(". ", 0, place)
    following = window.find(". ", place)
    return window[stop + 1 : following if following >= 0 else len(window)]
