"""Checks of details: sides, measured values, and what a question asks."""

from __future__ import annotations

import re
from functools import cache

from builders.medval.judge.check_drugs import other_doses
from builders.medval.judge.comparison import Comparison, Finding, quoted
from builders.medval.judge.quantities import SIDE, Number, Side, is_measure, sides_of
from builders.medval.judge.tables import words
from builders.medval.judge.view import stem

__all__ = ["AGE", "aspects", "groups", "measured", "parts", "sides", "slightly_off"]

_ASKED = re.compile(
    r"(?:What (?:(?:is|are) the )?|How can (?:I|one) )(treatments?|causes?|symptoms?|prognosis|prevent|treat)\b"
)
_INFORMATION = re.compile(r"(?:Where|How) can (?:I|one) (?:find|get|learn) ", re.IGNORECASE)
# "What are the causes and treatments for X", "What causes X, and what are the symptoms?"
_PARTS = re.compile(
    r"^What (?:is|are) the (?P<parts>\w+(?:, \w+)*,? and \w+) (?:for|of)\b"
    r"|,? and what (?:is|are) the (?P<more>\w+)(?=\?$)"
)
_OF_WHOM = re.compile(r" in (?P<group>\w+(?: \w+)?)(?=[?,])")
# How long, how long ago, when next or how old.
_TIME = re.compile(r"[\s-]*(?P<unit>day|w(?:ee)?k|mo(?:nth)?|y(?:ea)?r)s?(?:[\s-]old)?\b", re.IGNORECASE)
_YEARS, _TIMES = 5, 1.5
_WHOLE = re.compile(r"\d[\d.,/]*\d|\d")
# One digit counts, and four are a year as a rule: people round these and leave them out.
_VALUE = re.compile(r"\d{2,3}")
AGE = re.compile(r"[- ]years?[- ]old|[- ]?y\.?[/ ]?o\b", re.IGNORECASE)
# A time of the day, a date, or a range of numbers ("the 70s").
_CLOCK_BEFORE, _CLOCK_AFTER = re.compile(r"\d[:/]$"), re.compile(r"[:/]\d|s\b")
_DAYTIME = re.compile(r" ?[ap]\.?m\b", re.IGNORECASE)
# A left and a right one of these are two parts of the body, not one part on either side of it.
_OWN_PART = re.compile(
    r" (?:heart|ventric\w*|atri\w*|bundle branch|main|coronary|circumflex|anterior descending)", re.I
)
# A side is said right beside the part, or within so many characters of it.
_BESIDE, _SAID = 50, 120
_SIDES = re.compile(rf"\b(?:{SIDE})\b")
# The name of what was measured stands within so many characters before the number.
_NAMED = 24


def sides(c: Comparison) -> list[Finding]:
    """Parts of the body on the other side."""
    found = []
    everyday = c.knowledge.plain.frequent
    made = sides_of(c.output, everyday)
    given = sides_of(c.input, everyday) if made else []
    for side in made:
        theirs = {other.side for other in given if other.parts & side.parts}
        if theirs and side.side not in theirs and not (c.spoken and _said_near(c, side)):
            part = _OWN_PART.match(c.output, side.end)
            text = "the output puts this on the other side of the body than the input"
            text = "the output names another part of the body than the input" if part else text
            found.append(quoted("laterality", text, c, side.begin, part.end() if part else side.end, "side, another"))
    return found


def _said_near(c: Comparison, side: Side) -> bool:
    """Tell whether a conversation says a side anywhere near one of the parts that a note names with it."""
    parts = [match.start() for part in side.parts for match in re.finditer(rf"\b{part}", c.given.lower)]
    beside = {one for at in parts for one in _SIDES.findall(c.given.lower, max(0, at - _BESIDE), at + _BESIDE)}
    if beside:
        return side.side in beside
    said = [match.start() for match in _SIDES.finditer(c.given.lower) if match.group() == side.side]
    return any(abs(at - place) <= _SAID for place in parts for at in said)


def measured(c: Comparison) -> list[Finding]:
    """Numbers in digits that the input does not have; where it is spoken, those for which it has another number."""
    found = []
    has_age = AGE.search(c.input) is not None
    # A wrong dose is named as such, and that of a strange drug with the drug.
    named = {dose.measure.begin for dose, _ in other_doses(c)}
    named |= {dose.measure.begin for dose in c.made.doses if not c.supported(dose.drug)}
    for one in c.made.numbers:
        if one.begin in named or (one.values & c.given.values and not _is_other_time(c, one)) or not _is_value(c, one):
            continue
        if not has_age and AGE.match(c.output, one.end):
            continue
        whole = next(match for match in _WHOLE.finditer(c.output) if match.start() <= one.begin < match.end())
        text = "the output gives a value that the input does not have"
        slight, aged = slightly_off(c, one), AGE.match(c.output, one.end)
        kind = "age" if aged else "decimal" if "." in whole.group() else "number"
        kind = "count or date" if kind == "number" and not _VALUE.fullmatch(whole.group()) else kind
        evidence = f"{kind}, {'near' if slight else 'another'}"
        found.append(quoted("slight_number" if slight else "number", text, c, *whole.span(), evidence))
    return found


def _is_other_time(c: Comparison, number: Number) -> bool:
    """Tell whether a time of a note has a number that the conversation has in other units of time only."""
    unit = _TIME.match(c.output, number.end) if c.spoken else None
    said = [one for one in c.given.told_numbers if one.values & number.values] if unit else []
    theirs = [_TIME.match(c.input, one.end) for one in said]
    return (
        unit is not None
        and bool(theirs)
        and all(one is not None and one["unit"][0].lower() != unit["unit"][0].lower() for one in theirs)
    )


def slightly_off(c: Comparison, number: Number) -> bool:
    """Tell whether a number is an age or a time, of no drug, for which the input has one that is near."""
    match = _TIME.match(c.output, number.end)
    if match is None or any(one.measure.begin <= number.begin < one.measure.end for one in c.made.doses):
        return False
    theirs = [one for one in c.given.numbers if _is_time(_TIME.match(c.input, one.end), match["unit"])]
    aged = AGE.match(c.output, number.end) is not None
    return any(
        abs(value - near) <= _YEARS if aged else max(value, near) <= _TIMES * min(value, near)
        for value in number.values
        for other in theirs
        for near in other.values
    )


def _is_time(match: re.Match[str] | None, unit: str) -> bool:
    return match is not None and match["unit"][0].lower() == unit[0].lower()


def _is_value(c: Comparison, number: Number) -> bool:
    before = c.output[max(0, number.begin - _NAMED) : number.begin]
    in_name = any(one.mention.begin <= number.begin < one.mention.end for one in c.made.seen)
    if in_name or not c.output[number.begin].isdigit() or re.search(r"\w-?$|(?:^|\n)[^\w]*$", before):
        return False
    if c.spoken and number.values & c.given.values:
        return True
    if not c.spoken or slightly_off(c, number):
        return True
    if _DAYTIME.match(c.output, number.end):
        return False
    clock = _CLOCK_BEFORE.search(before) or _CLOCK_AFTER.match(c.output, number.end)
    if clock and not is_measure(c.output, number):
        return False
    # "Hemoglobin A1c was 11": a word right before names what is measured; of an age, what comes after.
    said = re.findall(r"[a-z]\w+", re.split(r"[.;\n]", before.lower())[-1])
    name = next((stem(word) for word in reversed(said) if word not in c.knowledge.plain.frequent), None)
    aged = AGE.match(c.output, number.end)
    unit = _TIME.match(c.output, number.end)
    return any(
        # What was said in its place stands nowhere in the note, and is of the same kind.
        not other.values & c.made.values
        and (unit is None) == (_TIME.match(c.input, other.end) is None)
        and (
            (name and name in c.given.lower[max(0, other.begin - _NAMED) : other.begin])
            or (aged and AGE.match(c.input, other.end))
        )
        for other in c.given.numbers
    )


def aspects(c: Comparison) -> list[Finding]:
    """A question that asks something else than the input does; a message may leave open what it asks for."""
    asked = _ASKED.match(c.output) if c.task == "query2question" else None
    if not asked:
        return []
    # A question may go on to ask for more.
    ours = {aspect for aspect, cue in _cues().items() if cue.search(c.output, asked.start(1))}
    parts = re.split(r"(?<=[.?!])", c.input)
    theirs = [{aspect for aspect, cue in _cues().items() if cue.search(part)} for part in parts if part.endswith("?")]
    if not ours or not theirs or not all(theirs) or ours & set[str]().union(*theirs):
        return []
    text = "the output asks something else about the problem than the input"
    return [quoted("other_question", text, c, *asked.span())]


def parts(c: Comparison) -> list[Finding]:
    """Things that a question asks about the problem of its message and the message does not, or the reverse."""
    about = (*c.made.problems(), *c.made.drugs())
    if c.task != "query2question" or not all(c.supported(one) for one in about):
        return []
    found = []
    for listed in _PARTS.finditer(c.output):
        group = "parts" if listed["parts"] else "more"
        named = [part for part in re.finditer(r"\w+", listed[group]) if part.group() != "and"]
        # Who tells of a problem wants help with it, in whatever words.
        strange = [part for part in named if not part.group().startswith("treat") and not _means(part.group(), c.input)]
        # Where no part of several is asked for in known words, one of them may be meant.
        for part in strange if len(strange) < len(named) or group == "more" else ():
            text = "the output asks for more about the problem than the input"
            begin = listed.start(group) + part.start()
            found.append(quoted("extra_question", text, c, begin, begin + len(part.group())))
    asking = [part for part in re.split(r"(?<=[.?!])\s+|\n", c.input) if part.endswith("?")]
    for asked, meant in words("asked").items() if not _INFORMATION.match(c.output) else ():
        said = next((match for part in asking if (match := re.search(rf"\b(?:{asked})\b", part, re.IGNORECASE))), None)
        if said and not re.search(rf"\b(?:{meant})\b", c.output, re.IGNORECASE):
            text = "the output does not ask for all that the input asks for"
            found.append(Finding("lost_question", text, said.group(), "input"))
    return found


def _means(part: str, message: str) -> bool:
    """Tell whether a message asks in some words for what a question asks for, or nothing is known of that."""
    meant = [other for asked, other in words("asked").items() if re.fullmatch(asked, part)]
    return not meant or any(re.search(rf"\b(?:{other})\b", message, re.IGNORECASE) for other in meant)


def groups(c: Comparison) -> list[Finding]:
    """Groups of people of whom a question is asked, and of whom its message does not speak."""
    found = []
    for match in _OF_WHOM.finditer(c.output) if c.task == "query2question" else ():
        theirs = [said for group, said in words("group").items() if re.fullmatch(group, match["group"], re.IGNORECASE)]
        if theirs and not re.search(rf"\b(?:{theirs[0]})", c.input, re.IGNORECASE):
            text = "the output asks of a group of people of whom the input does not speak"
            found.append(quoted("strange_group", text, c, match.start() + 1, match.end()))
    return found


@cache
def _cues() -> dict[str, re.Pattern[str]]:
    return {aspect: re.compile(rf"\b(?:{cue})\b", re.IGNORECASE) for aspect, cue in words("aspect").items()}
