"""Shares and estimates as the report's page writes them; what is not there is a dash."""

from __future__ import annotations

from stewardship.adjudication.agreement import Estimate

__all__ = ["count_of", "estimate", "percent", "share"]


def percent(share: float | None) -> str:
    """Write a share, 0 to 1, in percent with one decimal."""
    return "-" if share is None else f"{100 * share:.1f}%"


def share(part: int, whole: int) -> str:
    """Write a part of a whole in percent."""
    return percent(part / whole if whole else None)


def count_of(part: int, whole: int) -> str:
    """Write a part and its whole, and the share that it is."""
    return f"{part:,} of {whole:,} ({share(part, whole)})"


def estimate(result: Estimate, scale: float, decimals: int, unit: str = "%") -> str:
    """Write an estimate with its interval, each times ``scale``."""
    if result.value is None or result.low is None or result.high is None:
        return "-"
    value, low, high = (f"{scale * number:.{decimals}f}" for number in (result.value, result.low, result.high))
    return f"{value}{unit} [{low}, {high}]"
