"""How values look in the tables of the steward verbs: shares with their intervals, long names, long tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ontoground.cli.render import Cell, number, table

if TYPE_CHECKING:
    from rich.console import Console


__all__ = ["difference", "ends", "paint_unread", "part", "percent", "share", "short"]


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


def part(
    out: Console, columns: Sequence[str], rows: Sequence[Sequence[Cell]], title: str | None = None, *, top: int = 20
) -> None:
    """Print the first rows of a table, and how many more there are; nothing where there is none."""
    if not rows:
        return
    if title:
        out.print(title, style="bold")
    out.print(table(columns, rows[:top]))
    if len(rows) > top:
        out.print(f"and {number(len(rows) - top)} more; --json lists all")
    out.print()


def paint_unread(out: Console, unread: Sequence[Mapping[str, Any]]) -> None:
    """Print how many rows have features whose names are not known, which names, and in which rows."""
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
    part(out, ("feature not read", "rows", "such as"), listed, title)
    out.print(
        "a score that takes anything for absent has no value in these rows; what a calculator reads: "
        "`ontoground steward calculators NUMBER`",
        soft_wrap=True,
    )
