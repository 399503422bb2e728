"""How a text qualifies a problem: grade, doubt, and the words right before and after it."""

from __future__ import annotations

import re
from functools import cache

from builders.medval.judge.tables import words
from builders.medval.judge.view import View
from builders.medval.reading import Seen

__all__ = ["graded", "hedged", "modifier_before", "qualifier_after", "word_before"]

_WORD = re.compile(r"[a-z]+")
_BEFORE = re.compile(r"([A-Za-z-]+)[ ]+$")
_HEDGE = re.compile(
    r"\b(?:possibl\w+|suspect\w*|question\w*|likely|probabl\w+|may|might|maybe|could|concern\w*|think|rule|versus|vs|presumed|seems?|"
    r"evaluate|assess|guess|if)\b|\?",
    re.IGNORECASE,
)


def word_before(view: View, one: Seen) -> tuple[str, int, int] | None:
    """Return the word right before a mention with its place."""
    begin = max(0, one.mention.begin - 40)
    match = _BEFORE.search(view.text, begin, one.mention.begin)
    return (match.group(1), match.start(1), match.end(1)) if match else None


def modifier_before(view: View, one: Seen, kind: str) -> tuple[str, int, int] | None:
    """Return the word of a kind (``modifier``, ``intensity``) that stands right before a mention."""
    found = word_before(view, one)
    return found if found and found[0].lower() in words(kind) else None


def qualifier_after(view: View, one: Seen) -> tuple[str, int, int] | None:
    """Return the words right after a mention that tell when or for how long a problem is there, with their place."""
    match = _qualifier().match(view.text, one.mention.end)
    return (match.group(1).lower(), match.start(1), match.end(1)) if match else None


@cache
def _qualifier() -> re.Pattern[str]:
    return re.compile(rf" ({'|'.join(words('qualifier'))})\b", re.IGNORECASE)


def hedged(view: View, one: Seen) -> bool:
    """Tell whether a text speaks of a problem without certainty."""
    around = view.text[max(0, one.mention.begin - 80) : one.mention.end + 40]
    return one.polarity != "present" or _HEDGE.search(around) is not None


def graded(view: View, one: Seen) -> bool:
    """Tell whether a text says anywhere how strong a problem is, or numbers do."""
    if _any_of("measured").search(one.mention.text.lower()):
        return True
    around = view.text.lower()
    return (
        any(word in words("grade") for word in _WORD.findall(around))
        or _any_of("grade_phrase").search(around) is not None
    )


@cache
def _any_of(kind: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{word})" for word in words(kind)))
