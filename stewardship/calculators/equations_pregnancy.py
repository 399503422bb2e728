"""Dates of a pregnancy: calculators 13, 68 and 69."""

from __future__ import annotations

import calendar
from datetime import date, timedelta

from ground.contracts.labels import LabelKind, LabelValue
from stewardship.calculators.features import Features, NotComputable
from stewardship.calculators.registry import Version, calculator

__all__ = ["conception", "due_date"]

USUAL_CYCLE = 28
LUTEAL_PHASE = 14
LONGEST = 45 * 7
"""Days after the last period beyond which no pregnancy goes on."""


def due_date(last_period: date, cycle: int = USUAL_CYCLE) -> date:
    """Return the estimated due date by Naegele's rule: a year on, three months back, and seven days on.

    The rule is for a cycle of 28 days; the days by which a cycle is longer or shorter are added.
    """
    months = last_period.year * 12 + last_period.month - 1 + 9
    year, month = divmod(months, 12)
    # Three months back from the 31st may be no day: the month's last one then.
    day = min(last_period.day, calendar.monthrange(year, month + 1)[1])
    return date(year, month + 1, day) + timedelta(days=7 + cycle - USUAL_CYCLE)


def conception(last_period: date, cycle: int = USUAL_CYCLE) -> date:
    """Return the estimated date of conception: ovulation, 14 days before the next period."""
    return last_period + timedelta(days=cycle - LUTEAL_PHASE)


def _cycle(features: Features) -> int:
    cycle = features.number("cycle length")
    if not cycle.is_integer():
        raise NotComputable(f"cycle length is no whole number of days: {cycle:g}")
    return int(cycle)


@calculator(13)
def _due_date(features: Features, version: Version) -> date:
    last_period, cycle = features.date("Last menstrual date"), _cycle(features)
    if version == "v1.0":
        # 40 weeks instead of the calendar's months; days of a short cycle were added, not taken away.
        return last_period + timedelta(weeks=40, days=abs(cycle - USUAL_CYCLE))
    features.assume("Naegele's rule counts months of the calendar: up to 3 days from 280 days after the last period")
    return due_date(last_period, cycle)


@calculator(68)
def _conception(features: Features, version: Version) -> date:
    last_period, given = features.date("Last menstrual date"), features.has("cycle length")
    if not given:
        features.assume(f"cycle length is not mentioned: taken as {USUAL_CYCLE} days")
    # v1.0 took every cycle for one of 28 days.
    return conception(last_period, _cycle(features) if given and version != "v1.0" else USUAL_CYCLE)


@calculator(69)
def _gestational_age(features: Features, version: Version) -> LabelValue:
    last_period = features.date("Last menstrual date")
    days = (features.date("Current Date") - last_period).days
    if version == "corrected" and not 0 <= days <= LONGEST:
        raise NotComputable(f"the last period was {days} days ago: no pregnancy is of that age")
    return LabelValue(LabelKind.NUMBER, float(days), weeks_days=True)
