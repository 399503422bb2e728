"""Quantities as the judge reads them: all that a number may mean, in base units, how often a day, on which side."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

__all__ = [
    "SIDE",
    "Measure",
    "Number",
    "Side",
    "implied_in",
    "in_smaller_unit",
    "is_measure",
    "measures_of",
    "numbers_of",
    "sides_of",
]

_SMALL = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_COUNTS = {
    **{word: value for value, word in enumerate(_SMALL)},
    **{word: 10 * value for value, word in enumerate(_TENS, 2)},
    "hundred": 100,
    "thousand": 1000,
}
_COUNT = f"(?:{'|'.join(_COUNTS)})"
_WRITTEN = re.compile(r"\d(?<![\d.].)(?:\d{0,2}(?:,\d{3})+(?![\d,])|\d*)(?:\.\d+)?")
_SPOKEN = re.compile(
    rf"(?:\b(?=[zotfsenhp])(?:point\s+)?|(?<= )\. ){_COUNT}"
    rf"(?:[\s-]+(?:and\s+|(?:point|\.)\s+)?(?:{_COUNT}|oh?\b(?! ?'?clock))(?!\s+times))*\b"
)
# The year of a date in two digits; "in his 60s", "the 140s".
_YEAR_BEFORE, _DECADE = re.compile(r"(?<!\d)\d\d?/\d\d?/$"), re.compile(r"'?s\b")
_MONTH_AND_DAY = len("12/31/")
_DECADES = re.compile(r"\b(?P<tens>twent|thirt|fort|fift|sixt|sevent|eight|ninet)ies\b")
_PREFIXES = {"": 1.0, "milli": 1e-3, "m": 1e-3, "micro": 1e-6, "mc": 1e-6, "u": 1e-6, "µ": 1e-6}
_BASES = {"g": "g", "l": "l", "e": "eq", "u": "unit", "i": "unit", "c": "l"}
_UNIT = re.compile(
    r"[\s-]*(?P<prefix>milli|micro|mc|[muµ])?(?P<base>g(?:ra)?m?s?|l(?:it(?:er|re)s?)?|eq|u(?:nits?)?|iu|cc)s?\b",
    re.IGNORECASE,
)
# What says of a number in digits that it was measured: an age, a length, a share, a temperature, a pressure.
_MEASURED = re.compile(r"[ -]year[ -]old|[ -]?(?:[mck]m|mmHg|%|percent|°|[FC]\b|bpm|per minute)", re.IGNORECASE)
# A blood pressure, not a date, and not "37/40" (weeks) or "14/27" (a score).
_RATIO = re.compile(r"(?<![\d/])(?P<high>\d{2,3})/(?P<low>\d{2,3})(?![\d/])")
_PERIOD = r"(?:daily|nightly|weekly|monthly|day|night|morning|evening|week|month)\b"
_RATE = re.compile(
    rf"""\b(?<![.-])(?=[abdefhmnopqstwz1-9])(?:
      (?P<latin>[btq])\.?(?:i\.?d|d\.?s)\b | (?P<bd>bd)\b
    | (?P<nightly>q\.?(?:d|day|hs|am|pm)\b | hs\b | nocte\b | mane\b | at\ bedtime\b)
    | (?P<other>every\ (?:other|second)\ day\b)
    | (?:q\.?\ ?|every\ )(?P<hours>\d{{1,2}}|{"|".join(_SMALL)})\ ?(?:h|hrs?|hours?)\b
    | (?P<times>[1-9](?!\ \w+ly)|once|twice|{"|".join(_SMALL)})(?:\ times|x)?
      (?:/|\ (?:(?:a|per|each|every)\ |(?=daily|\w+ly\b)))(?P<of>{_PERIOD})
    | (?:(?:per|each|every)\ |a\ (?=day)|(?=daily|nightly|weekly|monthly))(?P<each>{_PERIOD})
    )""",
    re.VERBOSE,
)
_ONE = re.compile(r"\b(?:an?|next|last|per|each|every|this)\s(?:\w+\s)?(?:hour|day|week|month|year)\b")
# "An hour and a half", "a couple and a half".
_AND_A_HALF = frozenset({1.5, 2.5})
_HALF = re.compile(r"\b(?P<whole>\w+)(?P<unit> \w+)? and (?:a )?half\b")
# Words at most of what stands before the point: "one hundred and two point four".
_WORDS_OF_WHOLE, _DIGITS = 4, 10
# Each begins with its first letter: where that stands is found sooner than where words begin.
_WORDS = re.compile(
    r"(?:(?P<couple>c(?<!\wc)ouple)|(?P<dozen>d(?<!\wd)ozen)|(?P<half>h(?<!\wh)alf(?: an?)?)"
    r"|(?P<quarter>q(?<!\wq)uarter of an?)|(?P<baby>b(?<!\wb)aby aspirin))\b"
)
# A baby aspirin has 81 mg (FDA's name for the low dose).
_WORTH = {"couple": 2.0, "dozen": 12.0, "half": 0.5, "quarter": 0.25, "baby": 81.0}
_HALF_A = re.compile(r"half(?<!\whalf) an?(?= )")
# "Six of ten", "one in three".
_SHARE = re.compile(rf"\b(?=[\dzotfsenh])(?P<part>\d+|{_COUNT}) (?:out of|of|in) (?:every )?(?P<all>\d+|{_COUNT})\b")
_ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
    "twentieth",
)  # fmt: skip
_ORDINAL = re.compile(rf"\b(?=[efnst])(?:(?:(?P<tens>twenty|thirty)[ -])?(?P<one>{'|'.join(_ORDINALS)})|thirtieth)\b")
_SPAN = re.compile(r"[\s-]*(?P<unit>minute|hour|day|week|year|stone)(?:s?|s? and a half)\b", re.IGNORECASE)
# How many of the next smaller unit make one.
_SMALLER = {"minute": 60, "hour": 60, "day": 24, "week": 7, "year": 12, "stone": 14}
_FORTNIGHT = re.compile(r"fortnight(?<!\wfortnight)\b")
_NAMES_OF_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_MONTHS = tuple(re.compile(rf"{name}(?<!\w{name})\b") for name in _NAMES_OF_MONTHS)
SIDE = (
    r"left|right(?! (?:at|under|in|on|by|now|here|there|after|when|where|before|away|about|up|so|okay|and|then|i|you|it"
    r"|the|is|was|that|this|what|above|below|behind|over|across|around|between|near|next|beside)\b)"
)
# "Right" is often no side: "right under the heel".
_SIDE = re.compile(
    rf"\b({SIDE}|(?<![/\w])(?<!\d )(?-i:[LR])(?= [a-z]))\b((?:(?!\bleft\b|\bright\b)[^.,;:?\n]){{0,48}})", re.IGNORECASE
)


_ABBREVIATED = {"L": "left", "R": "right"}


@dataclass(frozen=True, slots=True)
class Number:
    """A number with its place and all that it may mean: "one thirty two" is 132, or 1 and 32."""

    begin: int
    end: int
    values: frozenset[float]


@dataclass(frozen=True, slots=True)
class Measure:
    """A quantity in a base unit (``g``, ``l``, ``eq``, ``unit``), or how often a day (``day``)."""

    begin: int
    end: int
    base: str
    values: frozenset[float]


@dataclass(frozen=True, slots=True)
class Side:
    """A side of the body, and the beginnings of the words after it that may name the part."""

    side: str
    begin: int
    end: int
    parts: frozenset[str]


def numbers_of(text: str) -> list[Number]:
    """Return the numbers of a text in their order, digits and words."""
    found = [Number(*match.span(), _written(match)) for match in _WRITTEN.finditer(text)]
    found += [Number(*match.span(), _meant(match.group())) for match in _SPOKEN.finditer(text.lower())]
    return sorted(found, key=lambda number: number.begin)


def _written(match: re.Match[str]) -> frozenset[float]:
    value = float(match.group().replace(",", ""))
    if _YEAR_BEFORE.search(match.string, max(0, match.start() - _MONTH_AND_DAY), match.start()):
        return frozenset({value, 1900 + value, 2000 + value})
    return _decade(value) if value % 10 == 0 and _DECADE.match(match.string, match.end()) else frozenset({value})


def _decade(value: float) -> frozenset[float]:
    return frozenset(value + more for more in range(10))


def _meant(said: str) -> frozenset[float]:
    """Return all that words may mean; several numbers may follow one another ("eight point nine nine point one")."""
    words = re.sub(r"\boh?\b", "zero", f" {said} ".replace(" . ", " point ").replace("-", " ")).split()
    parts = [
        [_COUNTS[word] for word in group if word in _COUNTS]
        for point, group in groupby(words, lambda word: word == "point")
        if not point
    ]
    if words[0] == "point":
        parts.insert(0, [0])
    found = {float(value) for part in parts if part for value in _joined(part)}
    for whole, part in pairwise(parts):
        begun = [part[:end] for end in range(1, len(part) + 1)]
        begins = range(max(0, len(whole) - _WORDS_OF_WHOLE), len(whole))
        # "Point one twenty five" is .125.
        digits = {str(one) for some in begun for one in _joined(some)}
        digits |= {"".join(map(str, some)) for some in begun}
        found |= {float(f"{value}.{one}") for at in begins for value in _joined(whole[at:]) for one in digits}
    counts = parts[-1]
    if len(counts) > 1 and counts[-1] < _DIGITS and len(parts) == 1:
        # "Eleven two" may be 11.2.
        found |= {float(f"{value}.{counts[-1]}") for value in _joined(counts[:-1])}
    return frozenset(found)


def _joined(counts: list[int]) -> set[int]:
    """Return all that a run of counts may mean, read from the left."""
    found = {counts[0]}
    for count in counts[1:]:
        found = {value for before in found for value in _with(before, count)}
    return found


def _with(value: int, count: int) -> set[int]:
    if count == 1000:
        return {value * count}
    if count == 100:
        last = value % 100
        # "Fourteen thousand five hundred" is one number, "six hundred six hundred" two.
        return {value * count} if value == last else {value - last, last * count, value - last + last * count}
    fits = value % 100 == 0 or (value % 100 >= 20 and value % 10 == 0 and count < 10)
    return {value + count} if value and fits else {value, count, int(f"{value}{count}")}


def implied_in(text: str, numbers: Sequence[Number]) -> list[Number]:
    """Return the numbers that words imply, with their places.

    "A week", "a couple", "two and a half", "the sixteenth", "July", "six of ten" in percent; and times and weights in
    the next smaller unit, "a minute and a half" as 90, "half a stone" as 7.
    """
    low = text.lower()
    found = [_implied(match, 1.0) for match in _ONE.finditer(low)]
    found += [_implied(match, _WORTH[match.lastgroup or ""]) for match in _WORDS.finditer(low)]
    shares = ((match, _count(match["part"]), _count(match["all"])) for match in _SHARE.finditer(low))
    found += [_implied(match, round(100 * part / whole, 1)) for match, part, whole in shares if 0 < part < whole]
    for match in _HALF.finditer(low) if "and half" in low or "and a half" in low else ():
        said = numbers_of(f"{match['whole']} {match['unit'] or ''}")
        found.append(_implied(match, *{value + 0.5 for one in said for value in one.values} or _AND_A_HALF))
    found += [_implied(match, _place(match)) for match in _ORDINAL.finditer(low)]
    found += [_implied(match, float(month)) for month, name in enumerate(_MONTHS, 1) for match in name.finditer(low)]
    found += [_implied(match, 2.0, 14.0) for match in _FORTNIGHT.finditer(low)]
    found += [_implied(match, *_decade(_COUNTS[f"{match['tens']}y"])) for match in _DECADES.finditer(low)]
    return found + [smaller for one in (*numbers, *found) if (smaller := in_smaller_unit(text, one))]


def _implied(match: re.Match[str], *values: float) -> Number:
    return Number(match.start(), match.end(), frozenset(values))


def _place(match: re.Match[str]) -> float:
    tens = {"twenty": 20, "thirty": 30}.get(match["tens"], 0)
    return float(tens + _ORDINALS.index(match["one"]) + 1 if match["one"] else 30)


def in_smaller_unit(text: str, one: Number) -> Number | None:
    """Return a time in the next smaller unit; its unit stands after the number, or within what implies it."""
    match = _SPAN.match(text, one.end) or next(_SPAN.finditer(text, one.begin, one.end), None)
    if match is None:
        return None
    return Number(one.begin, match.end(), frozenset(value * _SMALLER[match["unit"].lower()] for value in one.values))


def measures_of(text: str, numbers: list[Number]) -> list[Measure]:
    """Return the quantities of a text: numbers before a unit, and how often something is done."""
    found, low = [], text.lower()
    halves = (_implied(match, 0.5) for match in _HALF_A.finditer(low))
    for number in (*numbers, *halves):
        if match := _UNIT.match(text, number.end):
            factor = _PREFIXES[(match["prefix"] or "").lower()] * (1e-3 if match["base"].lower() == "cc" else 1)
            values = frozenset(round(value * factor, 9) for value in number.values)
            found.append(Measure(number.begin, match.end(), _BASES[match["base"][0].lower()], values))
    found += [Measure(m.start(), m.end(), "day", frozenset({_per_day(m)})) for m in _RATE.finditer(low)]
    return found


def _per_day(match: re.Match[str]) -> float:
    said = {name: value for name, value in match.groupdict().items() if value}
    if "bd" in said:
        return 2.0
    if "latin" in said:
        return {"b": 2.0, "t": 3.0, "q": 4.0}[said["latin"]]
    if "hours" in said:
        return 24 / max(1.0, _count(said["hours"]))
    if "other" in said:
        return 0.5
    # A month is 30 days.
    days = {"w": 7, "m": 30}.get((said.get("of") or said.get("each") or "day").replace("morning", "day")[0], 1)
    return _count(said.get("times", "once")) / days


def _count(word: str) -> float:
    return float(word) if word.isdigit() else float(_COUNTS.get(word.lower(), 2 if word == "twice" else 1))


def is_measure(text: str, number: Number) -> bool:
    """Tell whether what stands beside a number in digits says that it was measured."""
    if _MEASURED.match(text, number.end) or _UNIT.match(text, number.end):
        return True
    ratios = (match for match in _RATIO.finditer(text) if int(match["high"]) > int(match["low"]))
    pressures = {place for match in ratios for place in range(*match.span())}
    return "." in text[number.begin : number.end] or number.begin in pressures


def sides_of(text: str, everyday: Container[str]) -> list[Side]:
    """Return where a text names a side of the body; ``everyday`` words name no part of it."""
    return [
        Side(_ABBREVIATED.get(match[1], match[1].lower()), match.start(), match.end(1), frozenset(parts[:3]))
        for match in _SIDE.finditer(text)
        if (parts := [word[:5] for word in re.findall(r"[a-z]{3,}", match[2].lower()) if word not in everyday])
    ]
