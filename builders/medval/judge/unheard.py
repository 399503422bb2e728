"""What a note says in words that have few others, and its conversation says nowhere.

People have many words for an illness or a plan, and hardly any others for an amount, a time, a side or a relative:
where the conversation has none of these, nothing that it says can mean them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from builders.medval.judge.check_details import slightly_off
from builders.medval.judge.comparison import Comparison, Finding, quoted
from builders.medval.judge.denials import Denials
from builders.medval.judge.quantities import SIDE, Measure, Number, in_smaller_unit, numbers_of, sides_of
from builders.medval.judge.tables import words

__all__ = ["unheard"]

_UNIT = re.compile(
    r"[\s-]*(?:(?P<time>min(?:ute)?|h(?:ou)?r|day|w(?:ee)?k|mo(?:nth)?|y(?:ea)?r)s?\b(?![\s-]old|[\s-]?o\b)"
    r"|%|(?:percent|[mck]m|kg|lbs?|pounds?|inch(?:es)?|mm ?hg|bpm|tab(?:let)?s?|puffs?|drops?)\b)",
    re.IGNORECASE,
)
_TIMES = {
    "mi": "minute", "ho": "hour", "hr": "hour", "da": "day", "we": "week", "wk": "week", "mo": "month", "ye": "year",
    "yr": "year",
}  # fmt: skip
# "Half" is said for 50%.
_SHARES = {100.0: "all|every", 50.0: "half", 33.0: "third", 25.0: "quarter"}
# Not months and weeks ("18/12", "6/52", "26/40"), dates, strengths, or a time of the day.
_PRESSURE = re.compile(r"(?<![\d/])(?P<high>\d{2,3})/(?!12\b|40\b|52\b)(?P<low>\d{2,3})(?![\d/])")
_LOWEST = 50
_CLOCK = re.compile(r" ?[ap]\.?m\b| (?:to)?(?:day|morrow|night)", re.IGNORECASE)
# Once a day is said in too many words ("in the morning", "at night", "a day").
_DAILY = frozenset({1.0})
# What may stand between a drug and how often it is taken: how much, in which form, which way.
_DOSED = re.compile(
    r"(?:[\s\d.,/()%-]|\b(?:m?c?g|units?|u|ml|tab(?:let)?s?|cap(?:sule)?s?|puffs?|drops?|cream|gel|patch|spray"
    r"|po|iv|im|sc|by mouth|oral(?:ly)?)\b)*",
    re.IGNORECASE,
)
_OFTEN = re.compile(
    r"\b(?P<times>\w+)(?= times\b)|\bevery (?P<hours>(?!\w*day)\w+)"
    r"|(?P<week>\b(?:sun|mon|tues|wednes|thurs|fri|satur)days?\b|\bweek)"
    r"|\btwice\b|\bmorning and\b|\b(?:breakfast|am) and\b"
)
_SIDE = re.compile(rf"\b(?:{SIDE})\b")
_BOTH = re.compile(r"\b(?:both|bilateral|each|either|other)")
_RELATIVE = re.compile(
    r"\b(?:grand|step)?(?P<who>mother|father|brother|sister|son|daughter|wife|husband)s?\b", re.IGNORECASE
)
_ANY_RELATIVE = re.compile(r"(?:mother|mom|mum|father|dad|brother|sister|uncle|aunt|son|daughter|wife|husband)s?\b")
# A relative who speaks is not named in what is said.
_RELATIVE_SPEAKS = re.compile(
    r"^\W*(?:guest|family|mother|father|mum|dad|wife|husband|son|daughter|brother|sister|partner)",
    re.IGNORECASE | re.MULTILINE,
)
# Assessment and plan alone list no allergies.
_EXCERPT = re.compile(r"\W*(?:ASSESSMENT|IMPRESSION|PLAN)\b")
_ALLERGY = re.compile(r"allerg|anaphyla|intoleran|\bNKDA\b|reaction|hypersensitiv|contraindicat", re.IGNORECASE)
_ALLERGIC = re.compile(r"\b(?:allergic|allergy|allergies|anaphyla\w+)\b", re.IGNORECASE)
_NO_ALLERGY = re.compile(r"\b(?:not|n't|no|never)\b[\w ]{0,20}\ballerg", re.IGNORECASE)
# An allergy is named within so many characters of its drug.
_BESIDE = 60


def unheard(c: Comparison) -> list[Finding]:
    """Amounts, times, values, sides and relatives of which a note's conversation has none; an allergy left out."""
    return [*_amounts(c), *_numbers(c), *_sides(c), *_relatives(c), *_allergies(c)] if c.is_note else []


def _amounts(c: Comparison) -> Iterator[Finding]:
    """Yield amounts, and how often a drug is taken that stands right before."""
    drugs = {dose.measure.begin: dose.drug for dose in c.made.doses}
    for one in c.made.measures:
        drug = drugs.get(one.begin)
        between = c.output[drug.mention.end : one.begin] if drug else ""
        if one.base == "day" and (drug is None or one.values <= _DAILY or not _DOSED.fullmatch(between)):
            continue
        if _is_heard(c, one):
            continue
        kind, rule = ("frequency", "frequency") if one.base == "day" else ("amount", "dose" if drug else "number")
        rule = "critical_dose" if drug and c.knowledge.is_critical(drug.mention) else rule
        # That of a strange drug is quoted without it: it is another error whether the drug is named.
        begin = min(drug.mention.begin, one.begin) if drug and drug.family & c.given_families else one.begin
        text = f"the output gives a number that the input nowhere has as {kind}"
        yield quoted(rule, text, c, begin, one.end, f"{kind}, unheard")


def _is_heard(c: Comparison, one: Measure) -> bool:
    """Tell whether a conversation has a quantity, or its number without the unit; how often, in any words."""
    if any(other.base == one.base and other.values & one.values for other in c.given.measures):
        return True
    if one.base == "day":
        return not one.values.isdisjoint(_all_often(c.given.lower))
    said = {value for number in c.made.numbers if number.begin == one.begin for value in number.values}
    return bool(said & c.given.values)


@lru_cache(maxsize=4)
def _all_often(lower: str) -> frozenset[float]:
    return frozenset(times for match in _OFTEN.finditer(lower) for times in _often(match))


def _often(match: re.Match[str]) -> set[float]:
    """Return what words of how often may mean, in times a day: "twice", "four times", "every eight", "on Sundays"."""
    if match["times"] or match["hours"]:
        counts = {value for number in numbers_of(match["times"] or match["hours"]) for value in number.values if value}
        return counts if match["times"] else {24 / count for count in counts}
    return {1 / 7} if match["week"] else {2.0}


def _numbers(c: Comparison) -> Iterator[Finding]:
    """Yield times, and what else was measured."""
    passed = {one.begin for one in c.made.measures}
    passed |= {at for one in c.made.seen for at in range(one.mention.begin, one.mention.end)}
    for one in c.made.numbers:
        smaller = in_smaller_unit(c.output, one)
        values = one.values | (smaller.values if smaller else frozenset())
        if one.begin in passed or values & c.given.values or _is_share(c, one):
            continue
        kind, (begin, end) = _kind(c, one)
        if kind:
            slight = slightly_off(c, one)
            text = "the output gives a number that the input nowhere has"
            evidence = f"{kind}, {'near' if slight else 'unheard'}"
            yield quoted("slight_number" if slight else "number", text, c, begin, end, evidence)


def _is_share(c: Comparison, one: Number) -> bool:
    """Tell whether a conversation says a share in another word."""
    return any(value in one.values and re.search(rf"\b(?:{said})\b", c.given.lower) for value, said in _SHARES.items())


def _kind(c: Comparison, one: Number) -> tuple[str, tuple[int, int]]:
    """Return of what a number is, as what stands beside it tells, and its place; nothing where nothing does."""
    place = one.begin, one.end
    if unit := _UNIT.match(c.output, one.end):
        # A conversation that has no such time at all is of another part of the visit.
        known = not unit["time"] or _TIMES[unit["time"][:2].lower()] in c.given.lower
        return ("time" if unit["time"] else "measure") if known else "", place
    pressure = _PRESSURE.search(c.output, max(0, one.begin - 4), one.end + 4)
    if pressure and one.begin in (pressure.start("high"), pressure.start("low")):
        return "pressure" if _LOWEST < int(pressure["high"]) > int(pressure["low"]) else "", pressure.span()
    decimal = "." in c.output[one.begin : one.end] and not _CLOCK.match(c.output, one.end)
    return "decimal" if decimal else "", place


def _sides(c: Comparison) -> Iterator[Finding]:
    """Yield sides of the body where the conversation names the other side only."""
    made = sides_of(c.output, c.knowledge.plain.frequent)
    said = {match.group() for match in _SIDE.finditer(c.given.lower)} if made else set()
    if len(said) != 1 or _BOTH.search(c.given.lower):
        return
    for side in made:
        if side.side not in said:
            text = "the output names a side of the body where the input names the other only"
            yield quoted("laterality", text, c, side.begin, side.end, "side, unheard")


def _relatives(c: Comparison) -> Iterator[Finding]:
    """Yield relatives where the conversation names others only."""
    made = [*_RELATIVE.finditer(c.output)]
    if not made or _RELATIVE_SPEAKS.search(c.input) or not _ANY_RELATIVE.search(c.given.lower):
        return
    for match in made:
        who = match["who"].lower()
        if not re.search(rf"(?:{words('person').get(who, who)})", c.given.lower):
            text = "the output says of a relative what the input says of others only"
            yield quoted("strange_claim", text, c, *match.span(), "relative, unheard")


def _allergies(c: Comparison) -> Iterator[Finding]:
    """Yield what the conversation calls an allergy where the note has no word of any."""
    if _ALLERGY.search(c.output) or _EXCERPT.match(c.output):
        return
    for one in c.given.drugs():
        # A question after it is about others.
        after = re.split(r"[.?!\n]", c.input[one.mention.end : one.mention.end + _BESIDE])[0]
        near = c.input[max(0, one.mention.begin - _BESIDE) : one.mention.end] + after
        denied = _NO_ALLERGY.search(near) or Denials(c).differ([one.mention.begin], ours=False)
        if _ALLERGIC.search(near) and not denied and not one.family & c.made_families:
            text = "the output leaves out an allergy that the input names"
            yield Finding("lost_allergy", text, one.mention.text, "input", "allergy, left out")
            return
