"""Numbers, doses, frequencies, sides and durations as a text writes them, numbers in words among them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from builders.medval.rules.edit_tables import words

__all__ = [
    "Measured",
    "Number",
    "Side",
    "frequency_pattern",
    "measured_of",
    "numbers_of",
    "per_day",
    "sides_of",
    "unit_at",
]

UNITS = {
    "mg": "mg", "milligram": "mg", "milligrams": "mg", "mgs": "mg",
    "mcg": "mcg", "microgram": "mcg", "micrograms": "mcg", "ug": "mcg",
    "g": "g", "gram": "g", "grams": "g", "gm": "g",
    "unit": "unit", "units": "unit", "u": "unit", "iu": "unit",
    "meq": "meq", "ml": "ml", "cc": "ml", "milliliters": "ml",
}  # fmt: skip
_UNIT = re.compile(r"\s*-?\s*([A-Za-z]+)\b")
_DIGITS = re.compile(r"\d(?<![\d.].)(?:\d{0,2}(?:,\d{3})+(?![\d,])|\d*)(?:\.\d+)?")
_SMALL = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19,
}  # fmt: skip
_TENS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
_ONE_WORD = f"(?:{'|'.join([*_TENS, *_SMALL])}|hundred|thousand)"
_WORD = re.compile(
    rf"\b(?=[zotfsenhp])(?:point\s+)?{_ONE_WORD}(?:[\s-]+(?:(?:and\s+)?{_ONE_WORD}|(?:point|\.)(?=\s+{_ONE_WORD})))*\b"
)
_SIDE = re.compile(
    r"\b(left|right)\b(?![\s,]*(?:now|away|here|there|so|and wrong|\?|after|before|when|okay|well)\b)"
    # Parts that are two things, not one thing on either side: a left ventricle is no mirrored right one.
    r"(?! (?:(?:sided )?heart|ventric|atri|bundle|main|coronary|circumflex|anterior desc))",
    re.I,
)
_NOUN = re.compile(r"[a-z]{3,}")
_NO_NOUN = frozenset(
    {"the", "and", "side", "sided", "that", "with", "for", "was", "were", "has", "have", "are", "her", "his", "she"}
    | {"him", "not", "but", "from", "this", "which", "who", "upper", "lower", "more", "than", "both", "also", "okay"}
    | {"now", "there", "just", "like", "then", "about", "yeah", "you", "your", "still", "very", "did", "does"}
)
_PRESSURE = re.compile(r"\b(\d{2,3})(/| over )(\d{2,3})\b")
# Where a measured number begins, and what after its end says that it is one; which digits it has, `numbers_of` tells.
_NAMED = re.compile(
    r"\b(?:temperature|heart rate|pulse|respiratory rate|respirations|weight|hemoglobin a1c|a1c|glucose|creatinine|"
    r"potassium|sodium|hemoglobin|white (?:blood cell )?count|ejection fraction|INR|TSH|saturation|blood sugars?)\b"
    r"[^\n.;0-9]{0,24}?(?<![A-Za-z])(?=\d)",
    re.IGNORECASE,
)
_NO_VALUE = re.compile(r"/\d|\s*(?:days?|weeks?|months?|years?|mg(?!\s*/))", re.IGNORECASE)
_AGE = re.compile(r"[- ]year[- ]old\b", re.IGNORECASE)
_SIZE = re.compile(r"[ -]?(?:mm|cm)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Measured:
    """A measured value: one number, or the two of a blood pressure."""

    begin: int
    end: int
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Number:
    """A number with its place; a run of number words may be read in several ways: ``values``."""

    begin: int
    end: int
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Side:
    """A side of the body, and the stems of the words after it that may name the part."""

    side: str
    begin: int
    end: int
    stems: tuple[str, ...]


def numbers_of(text: str) -> list[Number]:
    """Return the numbers of a text in their order, digits and words."""
    found = [Number(m.start(), m.end(), (float(m.group().replace(",", "")),)) for m in _DIGITS.finditer(text)]
    found += [Number(m.start(), m.end(), _spoken(m.group())) for m in _WORD.finditer(text.lower())]
    return sorted(found, key=lambda number: number.begin)


def _spoken(phrase: str) -> tuple[float, ...]:
    """Return what a run of number words may mean: "one thirty two" is 132, "eight point one" 8.1."""
    parts = ["point" if part == "." else part for part in re.split(r"[\s-]+", phrase) if part != "and"]
    if "point" in parts:
        place = parts.index("point")
        whole, rest = _spoken(" ".join(parts[:place])) if place else (0.0,), parts[place + 1 :]
        digits = "".join(str(_SMALL[part]) for part in rest if part in _SMALL)
        return (*whole, *(float(f"{int(value)}.{digits}") for value in whole if digits))
    total: float = 0
    group: float = 0
    pieces: list[float] = []
    for part in parts:
        if part == "thousand":
            total, group = total + (group or 1) * 1000, 0
        elif part == "hundred":
            group = (group or 1) * 100
        else:
            value = _SMALL.get(part, _TENS.get(part, 0))
            fits = (
                group == 0
                or (group % 100 == 0 and value < 100)
                or (group % 10 == 0 and group % 100 >= 20 and 0 < value < 10)
            )
            if not fits:
                pieces.append(group)
                group = 0
            group += value
    pieces.append(total + group)
    joined = "".join(str(int(piece)) for piece in pieces)
    return tuple(dict.fromkeys((*pieces, float(joined)))) if len(pieces) > 1 else (pieces[0],)


def unit_at(text: str, end: int) -> tuple[str, int] | None:
    """Return the unit of dose that stands after a number, and where it ends."""
    match = _UNIT.match(text, end)
    unit = UNITS.get(match.group(1).lower()) if match else None
    return (unit, match.end()) if match and unit else None


@cache
def frequency_pattern() -> re.Pattern[str]:
    """Return the pattern of how often a drug is taken."""
    phrases = sorted(words("per_day"), key=len, reverse=True)
    times = rf"(?:\d|{'|'.join(_SMALL)}) times (?:a|per|each) ?day|(?:\d|{'|'.join(_SMALL)}) times daily"
    listed = "|".join(re.escape(phrase) for phrase in phrases)
    return re.compile(rf"(?<![\w-])(?:{times}|{listed})(?![\w-])", re.IGNORECASE)


def per_day(phrase: str) -> float:
    """Return how often a day a phrase means."""
    plain = " ".join(phrase.lower().split())
    if plain in words("per_day"):
        return float(words("per_day")[plain])
    first = plain.split()[0]
    return float(first) if first.isdigit() else float(_SMALL[first])


def measured_of(text: str) -> list[Measured]:
    """Return the measured values of a text: blood pressures, vital signs, laboratory values, sizes, ages.

    Each is a number as `numbers_of` reads it, so that a text never disagrees with itself.
    """
    digits = {number.begin: number for number in numbers_of(text) if text[number.begin].isdigit()}
    found = []
    for match in _PRESSURE.finditer(text):
        upper, lower = float(match[1]), float(match[3])
        whole = {match.start(1), match.start(3)} <= digits.keys()
        if whole and upper > lower and 80 <= upper <= 260 and 30 <= lower <= 150:
            found.append(Measured(match.start(), match.end(), (upper, lower)))
    named = {match.end() for match in _NAMED.finditer(text)}
    for number in digits.values():
        value = number.begin in named and _NO_VALUE.match(text, number.end) is None
        aged = number.end - number.begin == 2 and _AGE.match(text, number.end)
        if not (value or aged or _SIZE.match(text, number.end)):
            continue
        if not any(one.begin < number.end and number.begin < one.end for one in found):
            found.append(Measured(number.begin, number.end, number.values))
    return sorted(found, key=lambda one: one.begin)


def sides_of(text: str) -> list[Side]:
    """Return where a text names a side of the body."""
    found = []
    for match in _SIDE.finditer(text):
        after = text[match.end() : match.end() + 48].lower()
        after = re.split(r"[.;:\n?]|\b(?:left|right)\b", after, maxsplit=1)[0]
        stems = tuple(word[:5] for word in _NOUN.findall(after) if word not in _NO_NOUN)[:3]
        found.append(Side(match.group(1).lower(), match.start(), match.end(), stems))
    return found
