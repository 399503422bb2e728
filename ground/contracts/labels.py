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

SIGNIFICANT = 2
"""Digits that rounding leaves of a small number."""
ABSTENTION = "N/A"
"""How an abstention is written."""

# The spellings that benchmark, corrected labels and prompts use; compared in lower case.
ABSTENTIONS = frozenset({"n/a", "na", "unknown", "not available", "not applicable"})

WEEKS = r"(?P<weeks>\d{1,6})\s*(?:weeks?|wks?|w)"
DAYS = r"(?P<days>\d{1,6})\s*(?:days?|d)"
QUOTE = r"['\"\u2018\u2019\u201c\u201d]?"
# Without words and brackets. A physician may mean two answers by it.
BARE_WEEKS = rf"{QUOTE}(?P<weeks>\d{{1,6}}){QUOTE},\s+{QUOTE}(?P<days>[0-6]){QUOTE}"
DURATIONS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\(?\s*{QUOTE}{WEEKS}{QUOTE}\s*(?:,|and|,\s*and|&|\+)?\s*{QUOTE}{DAYS}{QUOTE}\s*\)?",
        rf"\(\s*{QUOTE}(?P<weeks>\d{{1,6}}){QUOTE}\s*,\s*{QUOTE}(?P<days>\d{{1,6}}){QUOTE}\s*\)",
        BARE_WEEKS,
        rf"\(?\s*{QUOTE}{WEEKS}{QUOTE}\s*\)?",
    )
)
# A first number that is one of weeks, in any other words: it is not a number of days.
OTHER_WEEKS = re.compile(r"\D*\d+(?:\.\d+)?\s*(?:weeks?|wks?)\b", re.IGNORECASE)
TIME = r"(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
DATES = (
    re.compile(r"(?<![\d/.-])(?P<month>\d{1,2})/(?P<day>\d{1,2})/(?P<year>\d{4})(?![\d/])"),
    re.compile(rf"(?<![\d/.-])(?P<year>\d{{4}})([/-])(?P<month>\d{{1,2}})\2(?P<day>\d{{1,2}}){TIME}(?![\d/-])"),
)
NUMBER = re.compile(r"[-+\u2212]?(?:\d{1,3}(?:,\d{3})+(?![\d,])(?:\.\d+)?|\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
# A comma that is no thousands mark: 4,4 may be 4.4 or two numbers.
UNCLEAR_COMMA = re.compile(r",\d")
# A day that is written otherwise, as 3/21/06, 21.03.2006 or March 21, 2006: its first number is no answer.
MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
OTHER_DATES = re.compile(
    r"(?<![\d.,])\d{1,4}([/.-])\d{1,2}\1\d{2,4}(?!\d)"
    rf"|\b{MONTH}[ -]\d{{1,2}}(?:st|nd|rd|th)?,? +\d{{4}}|\d(?:st|nd|rd|th)?[ -]{MONTH},?[ -]\d{{2,4}}",
    re.IGNORECASE,
)
# A sign that stands apart, or is a dash: without it the number would change its sign.
APART_SIGN = re.compile(r"[-\u2010-\u2015\u2212\uff0d]\s*(?=[\d.])")


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

    def rounded(self, decimals: int) -> LabelValue:
        """Return the label with its number rounded to ``decimals``, and to no fewer than two significant digits.

        Two decimals would make 0.07 of 0.07418, another label by most limits. A label that is not a number stays.
        """
        number = self.number
        if not number:
            return self
        places = max(decimals, SIGNIFICANT - 1 - math.floor(math.log10(abs(number))))
        # Adding 0.0 turns -0.0 into 0.0.
        return LabelValue(self.kind, round(number, places) + 0.0, self.weeks_days)

    def text(self) -> str:
        """Write the label so that `parse_label` reads it back: ``25.24``, ``03/21/2006``, ``N/A``, or nothing."""
        if isinstance(self.value, float):
            whole = self.value.is_integer() and abs(self.value) < 1e15
            return str(int(self.value)) if whole else repr(self.value)
        if isinstance(self.value, date):
            # Not strftime: it writes years before 1000 with fewer digits.
            return f"{self.value.month:02}/{self.value.day:02}/{self.value.year:04}"
        return ABSTENTION if self.kind is LabelKind.ABSTENTION else self.value or ""


def parse_label(text: str | None, *, physician: bool = False, categories: Collection[str] = ()) -> LabelValue:
    """Read one label.

    The order decides: missing, abstention, category, weeks and days (as days), date, then the first number in the text
    (docs/stewardship.md#label-values). Unparseable are: a comma between digits that marks no thousands, an
    impossible date, a date or a number of weeks in another form, and a number that is not finite.

    Args:
        text: a cell as text; None is an empty cell.
        physician: a physician's cell, where any text without a digit says that there is no answer, and ``4, 4`` may be
            two of them.
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
    if physician and re.fullmatch(BARE_WEEKS, body):
        return LabelValue(LabelKind.UNPARSEABLE)
    for read in (_duration, _date, _number):
        if (label := read(body)) is not None:
            return label
    return LabelValue(LabelKind.UNPARSEABLE)


def _duration(body: str) -> LabelValue | None:
    for pattern in DURATIONS:
        if match := pattern.fullmatch(body):
            parts = match.groupdict()
            days = 7 * int(parts["weeks"]) + int(parts.get("days") or 0)
            return LabelValue(LabelKind.NUMBER, float(days), weeks_days=True)
    return LabelValue(LabelKind.UNPARSEABLE) if OTHER_WEEKS.match(body) else None


def _date(body: str) -> LabelValue | None:
    match = next((match for pattern in DATES if (match := pattern.search(body))), None)
    if match is None:
        return LabelValue(LabelKind.UNPARSEABLE) if OTHER_DATES.search(body) else None
    try:
        return LabelValue(LabelKind.DATE, date(int(match["year"]), int(match["month"]), int(match["day"])))
    except ValueError:
        return LabelValue(LabelKind.UNPARSEABLE)


def _number(body: str) -> LabelValue | None:
    signed = APART_SIGN.sub("-", body, count=1) if APART_SIGN.match(body) else body
    match = NUMBER.search(signed)
    if match is None or UNCLEAR_COMMA.match(signed, match.end()):
        return None
    number = float(match[0].replace(",", "").replace("\u2212", "-"))
    return LabelValue(LabelKind.NUMBER, number) if math.isfinite(number) else None
