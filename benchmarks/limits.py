"""How close each stage is to what the machine can do: bytes over the speed of disk and memory, rows over a bare pass.

A limit is the least time in which something that the stage cannot do without can be done: read its files, parse them,
sort them, read memory once for each edge. It is computed from a saved result: from what the stage ``machine`` found, or
from a yardstick of the same run that does nothing else. A limit whose figures were not measured is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ground.markdown import markdown_table

__all__ = ["LIMITS", "Limit", "cores_markdown", "limits_markdown"]

Payload = Mapping[str, Any]
COLUMNS = ("stage", "cannot be quicker than", "least, s", "taken, CPU s", "times")
CORE_COLUMNS = ("step", "seconds", "CPU s", "serial share", "seconds on 16 cores, predicted")
CORES = 16
# Letters of a word and the blank behind it, in English text.
WORD_BYTES = 6.0


@dataclass(frozen=True)
class Limit:
    """One limit: of which step or stage, in words, and its seconds (None: not measured)."""

    stage: str
    words: str
    least: Callable[[Payload], float | None]
    by: tuple[str, str, str]
    """Kind and name of the result whose CPU seconds are compared, and the beginning of the measure's name."""


def _measure(payload: Payload, kind: str, stage: str, name: str = "") -> Mapping[str, Any] | None:
    """Return the first measure of a result whose name begins so; None where it is not there or failed."""
    for result in payload["stages"]:
        if (result["kind"], result["stage"]) == (kind, stage):
            for one in result["measures"]:
                if one["name"].startswith(name):
                    return None if one["failed"] else one
    return None


def _speed(payload: Payload, name: str) -> float | None:
    """Return bytes or reads a second of the machine."""
    one = _measure(payload, "stage", "machine", name)
    return float(one["rows"]) / float(one["seconds"]) if one and one["seconds"] else None


def _figure(step: str, name: str, unit: float, speed: str) -> Callable[[Payload], float | None]:
    """Return the seconds for a figure of a step, in units, at a speed of the machine."""

    def least(payload: Payload) -> float | None:
        one, fast = _measure(payload, "step", step), _speed(payload, speed)
        return float(one["figures"][name]) * unit / fast if one and fast and name in one["figures"] else None

    return least


def _visited(measure: str) -> Callable[[Payload], float | None]:
    """Return the seconds for one random read of memory for each edge visited."""

    def least(payload: Payload) -> float | None:
        one, fast = _measure(payload, "stage", "graph queries", measure), _speed(payload, "random reads")
        return float(one["rows"]) / fast if one and fast else None

    return least


def _laid_out(measure: str) -> Callable[[Payload], float | None]:
    """Return the CPU seconds in which numpy sorts and lays out as many rows as there are facts."""

    def least(payload: Payload) -> float | None:
        ours = _measure(payload, "stage", "graph queries", measure)
        numpy = _measure(payload, "stage", "graph queries", "numpy")
        return float(ours["figures"]["facts"]) * numpy["cpu_seconds"] / numpy["rows"] if ours and numpy else None

    return least


def _yardstick(stage: str, name: str) -> Callable[[Payload], float | None]:
    """Return the CPU seconds of a yardstick."""

    def least(payload: Payload) -> float | None:
        one = _measure(payload, "stage", stage, name)
        return float(one["cpu_seconds"]) if one else None

    return least


def _loads() -> list[Limit]:
    found = []
    for source in ("mimic", "umls"):
        ours = ("stage", f"load {source}", "ontoground")
        step = ("step", f"load {source}", "")
        read = _figure(f"load {source}", "MB of files", 1e6, "read")
        found.append(Limit(f"load {source}", "its files read from the disk", read, step))
        parsed = _yardstick(f"load {source}", "DuckDB")
        found.append(Limit(f"load {source}", "the same files parsed by DuckDB", parsed, ours))
    return found


FACTS = "facts of 10000 admissions, all"
LIMITS = (
    *_loads(),
    Limit("graph", "MRREL sorted", _yardstick("graph", "sorted distinct scan"), ("stage", "graph", "ontoground")),
    Limit(
        "concepts",
        "the records grouped by code",
        _yardstick("concepts", "DuckDB"),
        ("stage", "concepts", "ontoground"),
    ),
    Limit(
        "facts of a cohort",
        "one random read of memory for each edge visited",
        _visited(FACTS),
        ("stage", "graph queries", FACTS),
    ),
    Limit(
        "facts of a cohort, sorted",
        "as many rows sorted and laid out by numpy",
        _laid_out(f"sorted {FACTS}"),
        ("stage", "graph queries", f"sorted {FACTS}"),
    ),
    Limit(
        "sections",
        "the text copied once in memory",
        _figure("sections", "MB of text", 1e6, "copy"),
        ("step", "sections", ""),
    ),
    Limit(
        "mentions",
        "one random read of memory for each word",
        _figure("mentions", "MB of text", 1e6 / WORD_BYTES, "random reads"),
        ("step", "mentions", ""),
    ),
    Limit(
        "medieval",
        "its rows written by pyarrow",
        _yardstick("statements", "pyarrow, writing"),
        ("step", "medieval", ""),
    ),
    Limit(
        "validate", "its rows read by pyarrow", _yardstick("statements", "pyarrow, reading"), ("step", "validate", "")
    ),
)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def limits_markdown(payload: Payload) -> str:
    """Return one line a limit: its seconds, the CPU seconds that were taken, and the ratio; empty without any."""
    rows = []
    for limit in LIMITS:
        least, taken = limit.least(payload), _measure(payload, *limit.by)
        if least and taken:
            seconds = float(taken["cpu_seconds"])
            rows.append([limit.stage, limit.words, *map(_number, (least, seconds, seconds / least))])
    return markdown_table(COLUMNS, rows, 2) if rows else ""


def _serial_share(seconds: float, cpu_seconds: float, cores: int) -> float:
    """Return the share s of the work that one core does alone, if seconds = CPU seconds * (s + (1 - s) / cores).

    Amdahl's law, with the CPU seconds as what one core would take; waiting for the disk counts as work of one core.
    """
    return min(1.0, max(0.0, (cores * seconds / cpu_seconds - 1) / (cores - 1)))


def cores_markdown(payload: Payload) -> str:
    """Return one line a step: how much of it one core does alone, and what 16 cores would take; empty for one core."""
    cores = min(int(payload["machine"]["cores"]), int(payload["settings"]["threads"]))
    rows, predicted = [], 0.0
    for result in payload["stages"]:
        one = result["measures"][0]
        if cores == 1 or result["kind"] != "step" or result["stage"] == "whole run" or not one["cpu_seconds"]:
            continue
        seconds, cpu_seconds = float(one["seconds"]), float(one["cpu_seconds"])
        share = _serial_share(seconds, cpu_seconds, cores)
        least = seconds if share == 1 else cpu_seconds * (share + (1 - share) / CORES)
        predicted += least
        rows.append([result["stage"], *map(_number, (seconds, cpu_seconds)), f"{share:.2f}", _number(least)])
    if not rows:
        return ""
    return markdown_table(CORE_COLUMNS, [*rows, ["all", "", "", "", _number(predicted)]], 1)
