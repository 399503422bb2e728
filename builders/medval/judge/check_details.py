"""Checks of details: sides, measured values, and what a question asks."""

from __future__ import annotations

import re
from functools import cache

from builders.medval.judge.check_drugs import other_doses
from builders.medval.judge.comparison import Comparison, Finding, quoted
from builders.medval.judge.quantities import Number, is_measure, sides_of
from builders.medval.judge.tables import words
from builders.medval.judge.view import stem

__all__ = ["aspects", "measured", "sides"]

_ASKED = re.compile(
    r"(?:What (?:(?:is|are) the )?|How can (?:I|one) )(treatments?|causes?|symptoms?|prognosis|prevent|treat)\b"
)
_WHOLE = re.compile(r"\d[\d.,/]*\d|\d")
_AGE = re.compile(r"[- ]years?[- ]old\b", re.IGNORECASE)
# A left and a right one of these are two parts of the body, not one part on either side of it.
_OWN_PART = re.compile(
    r" (?:heart|ventric\w*|atri\w*|bundle branch|main|coronary|circumflex|anterior descending)", re.I
)
# The name of what was measured stands within so many characters before the number.
_NAMED = 24


def sides(c: Comparison) -> list[Finding]:
    """Parts of the body on the other side."""
    found = []
    everyday = c.knowledge.plain.frequent
    given = sides_of(c.input, everyday)
    for side in sides_of(c.output, everyday):
        theirs = {other.side for other in given if other.parts & side.parts}
        if theirs and side.side not in theirs:
            part = _OWN_PART.match(c.output, side.end)
            text = "the output puts this on the other side of the body than the input"
            text = "the output names another part of the body than the input" if part else text
            found.append(quoted("laterality", text, c, side.begin, part.end() if part else side.end))
    return found


def measured(c: Comparison) -> list[Finding]:
    """Numbers in digits that the input does not have; where it is spoken, those for which it has another number."""
    found = []
    aged = _AGE.search(c.input) is not None
    # A wrong dose is named as such, and that of a strange drug with the drug.
    named = {dose.measure.begin for dose, _ in other_doses(c)}
    named |= {dose.measure.begin for dose in c.made.doses if not c.supported(dose.drug)}
    for one in c.made.numbers:
        if one.begin in named or one.values & c.given.values or not _is_value(c, one):
            continue
        if not aged and _AGE.match(c.output, one.end):
            continue
        whole = next(match for match in _WHOLE.finditer(c.output) if match.start() <= one.begin < match.end())
        text = "the output gives a value that the input does not have"
        found.append(quoted("number", text, c, *whole.span()))
    return found


def _is_value(c: Comparison, number: Number) -> bool:
    before = c.output[max(0, number.begin - _NAMED) : number.begin]
    in_name = any(one.mention.begin <= number.begin < one.mention.end for one in c.made.seen)
    if in_name or not c.output[number.begin].isdigit() or re.search(r"\w-?$|(?:^|\n)[^\w]*$", before):
        return False
    if not c.spoken:
        return True
    if "/" in c.output[number.begin - 1 : number.end + 1] and not is_measure(c.output, number):
        return False
    # "Hemoglobin A1c was 11": a word right before names what is measured; of an age, what comes after.
    said = re.findall(r"[a-z]\w+", re.split(r"[.;\n]", before.lower())[-1])
    name = next((stem(word) for word in reversed(said) if word not in c.knowledge.plain.frequent), None)
    aged = _AGE.match(c.output, number.end)
    return any(
        (name and name in c.given.lower[max(0, other.begin - _NAMED) : other.begin])
        or (aged and _AGE.match(c.input, other.end))
        for other in c.given.numbers
    )


def aspects(c: Comparison) -> list[Finding]:
    """A question that asks something else than the input does; a message may leave open what it asks for."""
    asked = _ASKED.match(c.output) if c.task == "query2question" else None
    # A question may go on to ask for more.
    ours = {aspect for aspect, cue in _cues().items() if asked and cue.search(c.output, asked.start(1))}
    parts = re.split(r"(?<=[.?!])", c.input)
    theirs = [{aspect for aspect, cue in _cues().items() if cue.search(part)} for part in parts if part.endswith("?")]
    if not asked or not ours or not theirs or not all(theirs) or ours & set[str]().union(*theirs):
        return []
    text = "the output asks something else about the problem than the input"
    return [quoted("other_question", text, c, *asked.span())]


@cache
def _cues() -> dict[str, re.Pattern[str]]:
    return {aspect: re.compile(rf"\b(?:{cue})\b", re.IGNORECASE) for aspect, cue in words("aspect").items()}
