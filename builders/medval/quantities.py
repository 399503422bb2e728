"""Numbers, doses, frequencies and sides as a text writes them; writer and judge read them alike."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass

__all__ = ["Number", "Quantity", "Side", "numbers_of", "quantities_of", "sides_of"]

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
_DIGITS = re.compile(r"\d(?<![\d.].)(?:\d{0,2}(?:,\d{3})+(?![\d,])|\d*)(?:\.\d+)?")
_WORDS = re.compile(rf"\b(?=[zotfsenht]){_COUNT}(?:[\s-]+(?:and\s+)?{_COUNT})*\b")
_PREFIXES = {"": 1.0, "milli": 1e-3, "m": 1e-3, "micro": 1e-6, "mc": 1e-6, "u": 1e-6, "µ": 1e-6}
_BASES = {"g": "g", "l": "l", "e": "eq", "u": "unit", "i": "unit", "c": "l"}
_UNIT = re.compile(
    r"[\s-]*(?P<prefix>milli|micro|mc|[muµ])?(?P<base>g(?:ra)?m?s?|l(?:it(?:er|re)s?)?|eq|u(?:nits?)?|iu|cc)s?\b",
    re.IGNORECASE,
)
_PERIOD = r"(?:daily|nightly|weekly|monthly|day|night|morning|evening|week|month)\b"
_FREQUENCY = re.compile(
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
_LATIN = {"b": 2.0, "t": 3.0, "q": 4.0}
_DAYS = {"w": 7, "m": 30}
"""Days of a week and of a month."""
SIDE = (
    r"left|right(?! (?:at|under|in|on|by|now|here|there|after|when|where|before|away|about|up|so|okay|and|then|i|you|it"
    r"|the|is|was|that|this|what|above|below|behind|over|across|around|between|near|next|beside)\b)"
)
"""A side of the body; "right" is often none: "right under the heel"."""
_SIDE = re.compile(
    rf"\b({SIDE}|(?<![/\w])(?<!\d )(?-i:[LR])(?= [a-z]))\b((?:(?!\bleft\b|\bright\b)[^.,;:?\n]){{0,48}})", re.IGNORECASE
)
_ABBREVIATED = {"L": "left", "R": "right"}


@dataclass(frozen=True, slots=True)
class Number:
    """A number with its place."""

    begin: int
    end: int
    value: float


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity in a base unit (``g``, ``l``, ``eq``, ``unit``), or how often a day (``day``).

    Attributes:
        number: the number alone; of a frequency, all its words.
        end: where its unit ends.
    """

    number: Number
    end: int
    base: str
    value: float

    @property
    def begin(self) -> int:
        """Where it begins."""
        return self.number.begin


@dataclass(frozen=True, slots=True)
class Side:
    """A side of the body, and the beginnings of the words after it that may name the part."""

    side: str
    begin: int
    end: int
    parts: frozenset[str]


def numbers_of(text: str) -> list[Number]:
    """Return the numbers of a text in their order, digits and words.

    >>> [number.value for number in numbers_of("one hundred and five of 1,200 men, two or three, 7.5 mg")]
    [105.0, 1200.0, 2.0, 3.0, 7.5]
    """
    written = [Number(*match.span(), float(match.group().replace(",", ""))) for match in _DIGITS.finditer(text)]
    worded = (number for match in _WORDS.finditer(text.lower()) for number in _in_words(match))
    return sorted([*written, *worded], key=lambda number: number.begin)


def _in_words(run: re.Match[str]) -> Iterator[Number]:
    """Yield the numbers that a run of counts gives: "twenty-two" is one, "two four" are two."""
    begin, end, thousands, value = run.start(), run.start(), 0, 0
    for match in re.finditer(_COUNT, run.group()):
        count, tens = _COUNTS[match.group()], value % 100
        joins = count >= 100 or tens == 0 or (tens >= 20 and tens % 10 == 0 and 0 < count < 10)
        if end > begin and not joins:
            yield Number(begin, end, float(thousands + value))
            begin, thousands, value = run.start() + match.start(), 0, 0
        if count == 1000:
            thousands, value = 1000 * max(value, 1), 0
        else:
            value = max(value, 1) * count if count == 100 else value + count
        end = run.start() + match.end()
    yield Number(begin, end, float(thousands + value))


def quantities_of(text: str, numbers: list[Number]) -> list[Quantity]:
    """Return the numbers of a text that stand before a unit, and how often something is done."""
    quantities = []
    for number in numbers:
        if match := _UNIT.match(text, number.end):
            factor = _PREFIXES[(match["prefix"] or "").lower()] * (1e-3 if match["base"].lower() == "cc" else 1)
            base = _BASES[match["base"][0].lower()]
            quantities.append(Quantity(number, match.end(), base, round(number.value * factor, 9)))
    for match in _FREQUENCY.finditer(text.lower()):
        per_day = _per_day(match)
        quantities.append(Quantity(Number(*match.span(), per_day), match.end(), "day", per_day))
    return quantities


def _per_day(match: re.Match[str]) -> float:
    parts = {name: value for name, value in match.groupdict().items() if value}
    if "bd" in parts:
        return 2.0
    if "latin" in parts:
        return _LATIN[parts["latin"]]
    if "hours" in parts:
        return 24 / max(1.0, _count(parts["hours"]))
    if "other" in parts:
        return 0.5
    period = (parts.get("of") or parts.get("each") or "day").replace("morning", "day")
    return _count(parts.get("times", "once")) / _DAYS.get(period[0], 1)


def _count(word: str) -> float:
    return float(word) if word.isdigit() else float(_COUNTS.get(word, 2 if word == "twice" else 1))


def sides_of(text: str, everyday: Container[str]) -> list[Side]:
    """Return where a text names a side of the body; ``everyday`` words name no part of it."""
    return [
        Side(_ABBREVIATED.get(match[1], match[1].lower()), match.start(), match.end(1), frozenset(parts[:3]))
        for match in _SIDE.finditer(text)
        if (parts := [word[:5] for word in re.findall(r"[a-z]{3,}", match[2].lower()) if word not in everyday])
    ]
