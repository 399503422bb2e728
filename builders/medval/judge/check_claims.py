"""Checks of what an output claims beyond problems and drugs, and of what in it was not read.

An output is closed: what it says of a patient, its input must say. A procedure, a finding, a name or a word of a plan
that the input lacks is an error; any other telling word that it lacks is not read, and an output with such a word is
never called borne out.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from builders.medval.judge.check_drugs import stops_alone
from builders.medval.judge.comparison import Comparison, Finding, quoted
from builders.medval.judge.tables import words
from builders.medval.judge.wording import (
    LIST_MARK,
    WORD,
    borne_out,
    claim_words,
    is_name,
    telling_words,
)

__all__ = ["claims", "is_read"]

# Everyday words of its own that a segment may have for each of its telling words.
_OWN_WORDS = 1 / 3


def claims(c: Comparison) -> list[Finding]:
    """Procedures, findings, names and words of a plan that the input does not have."""
    if c.is_question:
        return []
    findings = []
    for named in c.output_view.seen:
        wanted = named.polarity != "absent" if named.mention.kind == "procedure" else named.polarity == "present"
        if named.mention.kind in {"procedure", "finding"} and wanted and not borne_out(c, named):
            text = f"the output names a {named.mention.kind} that the input does not name"
            findings.append(quoted("strange_claim", text, c, named.mention.begin, named.mention.end))
    for match in _strange_words(c):
        if kind := _kind(c, match):
            text = f"the output names a {kind} that the input does not name"
            findings.append(quoted("strange_claim", text, c, match.start(), match.end()))
    return findings


def _kind(c: Comparison, match: re.Match[str]) -> str | None:
    """Return what a strange word names; None where it may name nothing."""
    if is_name(c.output, match):
        return "thing"
    return "plan or finding" if _is_in_plan(c, match.start()) else None


def is_read(c: Comparison) -> bool:
    """Tell whether each claim of the output was compared: its mentions and all other words and numbers that tell."""
    if not all(borne_out(c, named) for named in c.output_view.seen) or _strange_words(c) or stops_alone(c):
        return False
    passed = {match.start("number") for match in LIST_MARK.finditer(c.output)}
    passed |= {at for named in c.output_view.seen for at in range(named.mention.begin, named.mention.end)}
    numbers = [number for number in c.output_view.numbers if number.begin not in passed and number.value != 1]
    if not c.is_question and not all(number.value in c.input_view.values for number in numbers):
        return False
    # Where no word tells anything, nothing was compared.
    return bool(c.output_view.seen) or any(telling_words(c))


@lru_cache(maxsize=2)
def _strange_words(c: Comparison) -> tuple[re.Match[str], ...]:
    """Return the words outside of mentions that say something, and that the input has in no form.

    A segment may say what its input says with some everyday words of its own.
    """
    mentions = (named.mention for named in c.output_view.seen if named.mention.cuis)
    inside = {at for mention in mentions for at in range(mention.begin, mention.end)}
    if c.is_question:
        # How often something is done is compared as such.
        inside |= {quantity.begin for quantity in c.output_view.quantities if quantity.base == "day"}
    strange: list[re.Match[str]] = []
    for telling in telling_words(c):
        unknown = [match for match in telling if match.start() not in inside and not c.worded(match.group())]
        own = [match for match in unknown if _is_everyday(c, match)]
        if len(own) > max(1, _OWN_WORDS * len(telling)) or len(unknown) == len(telling):
            own = []
        strange += [match for match in unknown if match not in own]
    return tuple(strange)


def _is_everyday(c: Comparison, match: re.Match[str]) -> bool:
    word = match.group()
    if word.isupper() or is_name(c.output, match):
        return False
    return word.lower() in c.concepts.words and not claim_words().match(word)


@cache
def _plan_words() -> frozenset[str]:
    return frozenset(words("telling"))


def _is_in_plan(c: Comparison, place: int) -> bool:
    """Tell whether a word stands in a sentence that says what is done, or what the problem is."""
    begin, end = next(
        ((s.begin, s.end) for s in c.output_view.segments if s.begin <= place < s.end), (0, len(c.output))
    )
    return any(word.lower() in _plan_words() for word in WORD.findall(c.output[begin:end]))
