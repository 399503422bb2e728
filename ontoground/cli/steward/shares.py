"""How values look in the tables of the steward verbs: shares with their intervals, long names, long tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ontoground.cli.render import Blocks, beginning, unfolded

__all__ = ["difference", "ends", "percent", "share", "short", "unread_blocks"]


def percent(value: float | None) -> str:
    """Write a share, 0 to 1, as 84.7%; one that is not there is a dash, here and below."""
    return "-" if value is None else f"{100 * value:.1f}%"


def share(item: Mapping[str, Any], value: str = "value") -> str:
    """Write a share with its interval, as 20.0% [11.2, 33.0]; ``value`` is its key beside ``low`` and ``high``."""
    return "-" if item[value] is None else f"{percent(item[value])} [{100 * item['low']:.1f}, {100 * item['high']:.1f}]"


def ends(item: Mapping[str, Any]) -> str:
    """Write the ends of an interval alone, in percent."""
    return "-" if item["low"] is None else f"{100 * item['low']:.1f} to {100 * item['high']:.1f}"


def difference(item: Mapping[str, Any]) -> tuple[str, str]:
    """Write a difference of two shares and the ends of its interval, in points."""
    return f"{100 * item['value']:+.1f}", f"{100 * item['low']:+.1f} to {100 * item['high']:+.1f}"


def short(name: str | None, width: int = 34) -> str:
    """Cut a name that is longer than a column."""
    name = name or ""
    return name if len(name) <= width else f"{name[: width - 1]}…"


def unread_blocks(unread: Sequence[Mapping[str, Any]]) -> Blocks:
    """Yield how many rows have features whose names are not known, which names, and in which rows."""
    if not unread:
        return
    rows: dict[str, list[str]] = {}
    for entry in unread:
        for name in entry["features"]:
            rows.setdefault(name, []).append(entry["uid"])
    listed = [
        (short(name), len(uids), ", ".join(uids[:3]) + (", ..." if len(uids) > 3 else ""))
        for name, uids in sorted(rows.items(), key=lambda item: -len(item[1]))
    ]
    title = f"rows with features that are not read: {len(unread):,}"
    yield from beginning(("feature not read", "rows", "such as"), listed, title=title)
    yield unfolded(
        "a score that takes anything for absent has no value in these rows; what a calculator reads: "
        "`ontoground steward calculators NUMBER`"
    )
