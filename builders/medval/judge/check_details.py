"""Checks of details: sides, measured values, and what a question asks."""

from __future__ import annotations

import re

from builders.medval.judge.comparison import Comparison, Finding, quoted
from builders.medval.judge.quantities import measured_of
from builders.medval.judge.tables import words

__all__ = ["aspects", "measured", "sides"]


def sides(c: Comparison) -> list[Finding]:
    """Parts of the body on the other side."""
    found = []
    for side in c.made.sides:
        theirs = {other.side for other in c.given.sides if set(other.stems) & set(side.stems)}
        if theirs and side.side not in theirs:
            text = "the output puts this on the other side of the body than the input"
            found.append(quoted("laterality", text, c, side.begin, side.end))
    return found


def measured(c: Comparison) -> list[Finding]:
    """Measured values that the input does not have."""
    found = []
    aged = re.search(r"\byears?[- ]old\b", c.lower) is not None
    for one in measured_of(c.output):
        if re.match(r"[- ]year[- ]old", c.output[one.end :]) and not aged:
            continue
        if not set(one.values) <= c.given.values:
            text = "the output gives a value that the input does not have"
            found.append(quoted("number", text, c, one.begin, one.end))
    return found


def aspects(c: Comparison) -> list[Finding]:
    """A question that asks something else than the input does."""
    if c.task != "query2question":
        return []
    for phrase, asked in words("aspect_phrase").items():
        if c.output.startswith(phrase + " "):
            cued = {aspect for aspect, cue in words("aspect").items() if _cue(cue).search(c.input)}
            if cued and asked not in cued and not _is_open(c.input):
                text = "the output asks something else about the problem than the input"
                return [quoted("other_question", text, c, 0, len(phrase))]
    return []


def _cue(cue: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{cue})\b", re.IGNORECASE)


def _is_open(text: str) -> bool:
    """Tell whether a message leaves open what it asks for ("what should I do?")."""
    return _cue("|".join(words("open_question"))).search(text) is not None
