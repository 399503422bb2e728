"""How shares, their intervals and differences look in the tables of the steward verbs; what is not there is a dash."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["difference", "ends", "percent", "share"]


def percent(value: float | None) -> str:
    """Write a share, 0 to 1, as 84.7%."""
    return "-" if value is None else f"{100 * value:.1f}%"


def share(one: Mapping[str, Any], value: str = "value") -> str:
    """Write a share with its interval, as 20.0% [11.2, 33.0]; ``value`` is its key beside ``low`` and ``high``."""
    return "-" if one[value] is None else f"{percent(one[value])} [{100 * one['low']:.1f}, {100 * one['high']:.1f}]"


def ends(one: Mapping[str, Any]) -> str:
    """Write the ends of an interval alone, in percent."""
    return "-" if one["low"] is None else f"{100 * one['low']:.1f} to {100 * one['high']:.1f}"


def difference(one: Mapping[str, Any]) -> tuple[str, str]:
    """Write a difference of two shares and the ends of its interval, in points."""
    return f"{100 * one['value']:+.1f}", f"{100 * one['low']:+.1f} to {100 * one['high']:+.1f}"
