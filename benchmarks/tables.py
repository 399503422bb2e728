"""Tables of measures for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.measures import Check, Measure, Result
from ontoground.cli.render import Cell, console, table

__all__ = ["CHECKS", "check_cells", "print_checks", "print_flow", "print_result", "short"]

EXACT = 100_000
CHECKS = ("stage", "figure", "value", "limit", "kept")
NUMBERS = ("seconds", "CPU s", "rows/s", "peak MiB", "disk MiB")


def short(value: float) -> str:
    """Return a count in six characters at most: 99,999, then 549k, 77.3M, 1.61G."""
    if abs(value) < EXACT:
        return f"{value:,.0f}"
    for unit in ("k", "M", "G"):
        value /= 1000
        if abs(value) < 999.5:
            return f"{value:.3g}{unit}"
    return f"{value / 1000:,.3g}T"


def _seconds(value: float) -> str:
    return f"{value:.2f}" if value < 1000 else f"{value:,.0f}"


def _line(name: str, measure: Measure) -> list[Cell]:
    if measure.failed:
        return [name, measure.failed, *[""] * len(NUMBERS)]
    sizes = (f"{size / 2**20:,.0f}" for size in (measure.peak_bytes, measure.disk_bytes))
    rows = f"{short(measure.rows)} {measure.unit}"
    return [
        name,
        rows,
        _seconds(measure.seconds),
        _seconds(measure.cpu_seconds),
        short(measure.rows_per_second),
        *sizes,
    ]


def check_cells(stage: str, check: Check) -> list[str]:
    """Return the cells of a figure: its value, and whether the limit is kept where there is one."""
    limit = f"{check.bound} {check.limit:,g}" if check.bound else ""
    return [stage, check.what, f"{check.value:,.4g}", limit, ("yes" if check.met else "no") if check.bound else ""]


def print_flow(results: Sequence[Result]) -> None:
    """Print one line for each step."""
    lines = [_line(result.stage, result.ours) for result in results]
    console().print(table(("step", "rows", *NUMBERS), lines, title="the flow, each step from nothing"))


def print_checks(results: Sequence[Result]) -> None:
    """Print one line for each figure, with its limit."""
    lines = [check_cells(result.stage, check) for result in results for check in result.checks]
    console().print(table(CHECKS, lines, title="figures and limits"))


def print_result(result: Result) -> None:
    """Print a stage: its measures, with seconds as a multiple of ours, and its figures."""
    ours, out = result.ours.seconds, console()
    lines = [
        [*_line(measure.name, measure), f"{measure.seconds / ours:.2f}" if ours and not measure.failed else ""]
        for measure in result.measures
    ]
    out.print(table(("by", "rows", *NUMBERS, "times"), lines, title=result.stage))
    for measure in result.measures:
        for name, value in measure.figures.items():
            out.print(f"  {measure.name}: {name} {value:,.6g}")
    print_checks([result])
    if result.remark:
        out.print(f"  {result.remark}")
