"""Checks of details: sides and measured values."""

from __future__ import annotations

import re

from builders.medval.judge.check_drugs import other_doses
from builders.medval.judge.comparison import Comparison, Finding, quoted
from builders.medval.quantities import Number

__all__ = ["numbers", "sides"]

_WHOLE = re.compile(r"\d[\d.,/]*\d|\d")
_AGE = re.compile(r"[- ]years?[- ]old|[- ]?y\.?[/ ]?o\b", re.IGNORECASE)
# A number that is a part of a word, or counts the entries of a list.
_PART_BEFORE = re.compile(r"\w-?$|(?:^|\n)[^\w]*$")
_BEFORE = 24


def sides(c: Comparison) -> list[Finding]:
    """Parts of the body on the other side."""
    findings = []
    text = "the output puts this on the other side of the body than the input"
    for side in c.output_view.sides:
        theirs = {other.side for other in c.input_view.sides if other.parts & side.parts}
        if theirs and side.side not in theirs:
            findings.append(quoted("laterality", text, c, side.begin, side.end))
    return findings


def numbers(c: Comparison) -> list[Finding]:
    """Numbers in digits that the input does not have."""
    findings = []
    has_age = _AGE.search(c.input) is not None
    # A wrong dose is named as such, and that of a strange drug with the drug.
    passed = {dose.quantity.begin for dose, _ in other_doses(c)}
    passed |= {dose.quantity.begin for dose in c.output_view.doses if not c.supported(dose.drug)}
    for number in c.output_view.numbers:
        if number.begin in passed or number.value in c.input_view.values or not _is_value(c, number):
            continue
        if not has_age and _AGE.match(c.output, number.end):
            continue
        whole = next(match for match in _WHOLE.finditer(c.output) if match.start() <= number.begin < match.end())
        text = "the output gives a value that the input does not have"
        findings.append(quoted("number", text, c, *whole.span()))
    return findings


def _is_value(c: Comparison, number: Number) -> bool:
    before = c.output[max(0, number.begin - _BEFORE) : number.begin]
    in_name = any(named.mention.begin <= number.begin < named.mention.end for named in c.output_view.seen)
    return c.output[number.begin].isdigit() and not in_name and _PART_BEFORE.search(before) is None
