"""Whether two options of a question may both be right, so that the one does not make the other wrong."""

from __future__ import annotations

import re
from fractions import Fraction

__all__ = ["overlap"]

NUMBER = re.compile(r"(\d+(?:\.\d+)?)(?:\s*/\s*(\d+(?:\.\d+)?))?\s*(%|percent)?")
ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b", re.IGNORECASE)
RANGE = re.compile(r"(\d+(?:\.\d+)?)(?:\s*(?:-|\u2013|to)\s*(\d+(?:\.\d+)?))?")
WORD = re.compile(r"[^\W_]+(?:\.\d+)?|[+\u2191\u2193<>]")
UNITS = {
    **{unit: ("time", n) for unit, n in {"minute": 1, "min": 1, "hour": 60, "hr": 60, "day": 1440}.items()},
    **{unit: ("time", n) for unit, n in {"week": 10_080, "month": 43_800, "year": 525_600}.items()},
    **{unit: ("mass", n) for unit, n in {"mg": 1, "g": 1000, "ounce": 28_350, "pound": 453_600, "lb": 453_600}.items()},
    **{unit: ("mass", n) for unit, n in {"gram": 1000, "kg": 1_000_000, "kilogram": 1_000_000}.items()},
    **{unit: ("length", n) for unit, n in {"mm": 1, "cm": 10, "inche": 25, "inch": 25, "feet": 305}.items()},
}
"""What a unit measures, and how much of it: minutes (months and years on average), milligrams, millimetres."""
SLACK = Fraction(1, 10)
"""Share by which values in different units may differ and still be called the same."""
SILENT = frozenset({"and", "the", "a", "an", "of"})


def overlap(option: str, other: str) -> bool:
    """Tell whether two options are equal, or one lies within the other, so that neither rules the other out.

    >>> overlap("Aspirin", "aspirin and clopidogrel"), overlap("50%", "1/2"), overlap("5 mg", "15 mg")
    (True, True, False)
    >>> overlap("4th arch", "4&6 arch"), overlap("2-4 weeks", "3 weeks"), overlap("1.5 kg", "3.5 pounds")
    (True, True, True)
    """
    first, second = _words(option), _words(other)
    number = _number(option)
    if not first or not second or (number is not None and number == _number(other)):
        return True
    return first <= second or second <= first or _ranges_meet(option, other)


def _words(text: str) -> frozenset[str]:
    return frozenset(WORD.findall(ORDINAL.sub("", text.lower()))) - SILENT


def _ranges_meet(option: str, other: str) -> bool:
    """Tell whether options that differ in one number, range or unit of time share values ("2-4 weeks", "15 days")."""
    ranges, rests, units = [], [], []
    for text in (option, other):
        numbers = RANGE.findall(text)
        if len(numbers) != 1:
            return False
        rest = RANGE.sub("", text).lower().split()
        units.append(rest[0].rstrip("s.") if len(rest) == 1 else "")
        what, size = UNITS.get(units[-1], ("", 1))
        ranges.append(sorted(size * Fraction(number) for number in (numbers[0][0], numbers[0][1] or numbers[0][0])))
        rests.append([what] if what else rest)
    wider = 1 + SLACK if units[0] != units[1] else 1
    (low, high), (least, most) = ranges
    return rests[0] == rests[1] and low <= most * wider and least <= high * wider


def _number(text: str) -> Fraction | None:
    """Return the value of an option that is a number, a fraction or a percentage alone."""
    match = NUMBER.fullmatch(text.strip().rstrip(".").replace(",", ""))
    if match is None or (match[2] is not None and not Fraction(match[2])):
        return None
    value = Fraction(match[1]) / Fraction(match[2] or 1)
    return value / 100 if match[3] else value
