"""What a note says in words that have few others, and its conversation says nowhere.

People have many words for an illness or a plan, and hardly any others for an amount, a time, a side, a relative or a day:
where the conversation has none of these, nothing that it says can mean them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from builders.medval.judge.check_details import slightly_off
from builders.medval.judge.comparison import Comparison, Finding, quoted
from builders.medval.judge.quantities import SIDE, Measure, Number
from builders.medval.judge.tables import words

__all__ = ["unheard"]

_UNIT = re.compile(
    r"[\s-]*(?:(?P<time>minute|hour|day|week|month|year)s?\b(?![\s-]old)"
    r"|(?:%|percent\b|mm\b|cm\b|kg\b|lbs?\b|pounds?\b|inch(?:es)?\b|mmhg\b|mm hg\b|bpm\b|tabs?\b|tablets?\b|puffs?\b|drops?\b))",
    re.IGNORECASE,
)
_SIDE = re.compile(rf"\b(?:{SIDE})\b", re.IGNORECASE)
_RELATIVE = re.compile(
    r"\b(?:grand|step)?(?P<who>mother|father|brother|sister|son|daughter|wife|husband)s?\b", re.IGNORECASE
)
_ANY_RELATIVE = re.compile(r"(?:mother|mom|mum|father|dad|brother|sister|uncle|aunt|son|daughter|wife|husband)s?\b")
_BOTH = re.compile(r"\b(?:both|bilateral|each|either)")
# Who speaks is not named in what is said.
_GUEST = re.compile(r"^\W*(?:guest|family)", re.IGNORECASE | re.MULTILINE)
_DAY = re.compile(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:January|February|March|April|June|July|August|September|October|November|December)\b"
)


def unheard(c: Comparison) -> list[Finding]:
    """Amounts, times, frequencies, sides, relatives and days of a note of which its conversation has none."""
    return [*_amounts(c), *_numbers(c), *_sides(c), *_relatives(c), *_days(c)] if c.is_note else []


def _amounts(c: Comparison) -> Iterator[Finding]:
    """Amounts, and how often a drug is taken."""
    drugs = {dose.measure.begin: dose.drug for dose in c.made.doses}
    for one in c.made.measures:
        drug = drugs.get(one.begin)
        if _is_heard(c, one) or (one.base == "day" and drug is None):
            continue
        critical = drug is not None and c.knowledge.is_critical(drug.mention)
        rule = "number" if drug is None else "critical_dose" if critical else "frequency" if one.base == "day" else "dose"
        what = "a frequency" if one.base == "day" else "an amount"
        begin = min(drug.mention.begin, one.begin) if drug else one.begin
        evidence = f"{'once a day' if one.values == {1.0} else what.split()[1]}, unheard"
        yield quoted(rule, f"the output gives {what} that the input nowhere has", c, begin, one.end, evidence)


def _is_heard(c: Comparison, one: Measure) -> bool:
    """Tell whether a conversation has a quantity, or its number without the unit."""
    if any(other.base == one.base and other.values & one.values for other in c.given.measures):
        return True
    said = {value for number in c.made.numbers if number.begin == one.begin for value in number.values}
    return one.base != "day" and bool(said & c.given.values)


def _numbers(c: Comparison) -> Iterator[Finding]:
    measured = {one.begin for one in c.made.measures}
    for one in c.made.numbers:
        unit = _UNIT.match(c.output, one.end)
        if unit is None or one.begin in measured or one.values & c.given.values or _is_named(c, one):
            continue
        if unit["time"] and unit["time"].lower() not in c.given.lower:
            continue
        slight = slightly_off(c, one)
        text = "the output gives a number that the input nowhere has"
        evidence = "time, near" if slight else f"{'time' if unit['time'] else 'measure'}, unheard"
        yield quoted("slight_number" if slight else "number", text, c, one.begin, unit.end(), evidence)


def _is_named(c: Comparison, number: Number) -> bool:
    return any(one.mention.begin <= number.begin < one.mention.end for one in c.made.seen)


def _sides(c: Comparison) -> Iterator[Finding]:
    sides = {match.group().lower() for match in _SIDE.finditer(c.given.lower)}
    if len(sides) != 1 or _BOTH.search(c.given.lower):
        return
    for match in _SIDE.finditer(c.output):
        if match.group().lower() not in sides:
            text = "the output names a side of the body where the input names the other only"
            yield quoted("laterality", text, c, *match.span(), "side, unheard")


def _relatives(c: Comparison) -> Iterator[Finding]:
    if _GUEST.search(c.input) or not _ANY_RELATIVE.search(c.given.lower):
        return
    for match in _RELATIVE.finditer(c.output):
        who = match["who"].lower()
        if not re.search(rf"(?:{words('person').get(who, who)})", c.given.lower):
            text = "the output says of a relative what the input says of others only"
            yield quoted("strange_claim", text, c, *match.span(), "relative, unheard")


def _days(c: Comparison) -> Iterator[Finding]:
    for match in _DAY.finditer(c.output):
        if match.group().lower()[:3] not in c.given.lower:
            yield quoted("number", "the output names a day that the input nowhere names", c, *match.span(), "day, unheard")
