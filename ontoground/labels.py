"""Label values: what one cell of a table of labels, one run of a labeller or one answer of a model means.

A label is a number, a date, a category, an abstention (the score cannot be computed), missing (nothing was said), or
unparseable. Missing is never an abstention, and nothing is guessed: text that fits no form is unparseable.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum

__all__ = ["ABSTENTION", "LabelKind", "LabelValue", "parse_label"]

ABSTENTION = "N/A"
"""How an abstention is written."""

# The spellings that benchmark, corrected labels and prompts use; compared in lower case.
ABSTENTIONS = frozenset({"n/a", "na", "unknown", "not available", "not applicable"})

WEEKS = r"(?P<weeks>\d+)\s*(?:weeks?|wks?|w)"
DAYS = r"(?P<days>\d+)\s*(?:days?|d)"
DURATIONS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\(?\s*['\"]?{WEEKS}['\"]?\s*(?:,|and)?\s*['\"]?{DAYS}['\"]?\s*\)?",
        r"\(\s*['\"]?(?P<weeks>\d+)['\"]?\s*,\s*['\"]?(?P<days>\d+)['\"]?\s*\)",
        rf"\(?\s*['\"]?{WEEKS}['\"]?\s*\)?",
    )
)
TIME = r"(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
DATES = (
    re.compile(r"(?<![\d/.-])(?P<month>\d{1,2})/(?P<day>\d{1,2})/(?P<year>\d{4})(?![\d/])"),
    re.compile(rf"(?<![\d/.-])(?P<year>\d{{4}})([/-])(?P<month>\d{{1,2}})\2(?P<day>\d{{1,2}}){TIME}(?![\d/-])"),
)
NUMBER = re.compile(r"[-+\u2212]?(?:\d{1,3}(?:,\d{3})+(?![\d,])(?:\.\d+)?|\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
# A comma that is no thousands mark: 4,4 may be 4.4 or two numbers.
UNCLEAR_COMMA = re.compile(r",\d")


class LabelKind(StrEnum):
    """What a label is."""

    NUMBER = "number"
    DATE = "date"
    CATEGORY = "category"
    ABSTENTION = "na"
    MISSING = "missing"
    UNPARSEABLE = "unparseable"


@dataclass(frozen=True)
class LabelValue:
    """One label.

    Attributes:
        kind: what it is.
        value: a finite number, a date, or a category's name; None for the other kinds.
        weeks_days: the number is a length of time in days that was written as weeks and days. Two values that differ
            in this alone are equal.
    """

    kind: LabelKind
    value: float | date | str | None = None
    weeks_days: bool = field(default=False, compare=False)

    @classmethod
    def of(cls, value: float | date | str | None) -> LabelValue:
        """Return the label of a number, a date, a category's name, or None for an abstention."""
        if value is None:
            return cls(LabelKind.ABSTENTION)
        if isinstance(value, date):
            return cls(LabelKind.DATE, value)
        return cls(LabelKind.CATEGORY, value) if isinstance(value, str) else cls(LabelKind.NUMBER, float(value))

    @property
    def number(self) -> float | None:
        """The number; None where the label is none."""
        return self.value if isinstance(self.value, float) else None

    @property
    def day(self) -> date | None:
        """The date; None where the label is none."""
        return self.value if isinstance(self.value, date) else None

    @property
    def answered(self) -> bool:
        """Whether something was said that can be read: a value or an abstention."""
        return self.kind not in (LabelKind.MISSING, LabelKind.UNPARSEABLE)

    def text(self) -> str:
        """Write the label so that `parse_label` reads it back: ``25.24``, ``03/21/2006``, ``N/A``, or nothing."""
        if isinstance(self.value, float):
            whole = self.value.is_integer() and abs(self.value) < 1e15
            return str(int(self.value)) if whole else repr(self.value)
        if isinstance(self.value, date):
            return self.value.strftime("%m/%d/%Y")
        return ABSTENTION if self.kind is LabelKind.ABSTENTION else self.value or ""


def parse_label(text: str | None, *, physician: bool = False, categories: Collection[str] = ()) -> LabelValue:
    """Read one label.

    The order decides: missing, abstention, category, weeks and days (as days), date, then the first number in the text;
    a comma between digits that marks no thousands, an impossible date, and a number that is not finite are unparseable.

    Args:
        text: a cell as text; None is an empty cell.
        physician: a physician's cell, where any text without a digit says that there is no answer.
        categories: names that a label can be; where some are given, it can be no number, length of time or date.
    """
    body = (text or "").strip()
    if not body:
        return LabelValue(LabelKind.MISSING)
    if body.casefold() in ABSTENTIONS or (physician and not categories and not any(map(str.isdigit, body))):
        return LabelValue(LabelKind.ABSTENTION)
    if categories:
        named = {name.casefold(): name for name in categories}.get(body.casefold())
        return LabelValue(LabelKind.UNPARSEABLE if named is None else LabelKind.CATEGORY, named)
    for pattern in DURATIONS:
        if found := pattern.fullmatch(body):
            parts = found.groupdict()
            days = 7 * int(parts["weeks"]) + int(parts.get("days") or 0)
            return LabelValue(LabelKind.NUMBER, float(days), weeks_days=True)
    for pattern in DATES:
        if found := pattern.search(body):
            return _date(found)
    return _number(body)


def _date(found: re.Match[str]) -> LabelValue:
    try:
        day = date(int(found["year"]), int(found["month"]), int(found["day"]))
    except ValueError:
        return LabelValue(LabelKind.UNPARSEABLE)
    return LabelValue(LabelKind.DATE, day)


def _number(body: str) -> LabelValue:
    found = NUMBER.search(body)
    if found is None or UNCLEAR_COMMA.match(body, found.end()):
        return LabelValue(LabelKind.UNPARSEABLE)
    number = float(found[0].replace(",", "").replace("\u2212", "-"))
    return LabelValue(LabelKind.NUMBER, number) if math.isfinite(number) else LabelValue(LabelKind.UNPARSEABLE)
