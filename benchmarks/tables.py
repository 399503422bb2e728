"""Tables of measures for a terminal: they fit 80 columns, and say more where there is room."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from benchmarks.measures import Measure, Result
from ontoground.cli.render import console

__all__ = ["checks_table", "figures_table", "flow_table", "measures_table", "print_result", "short"]

# A terminal that is narrower is spared the columns that saved results have anyway.
WIDE = 120
EXACT = 100_000
MEMORY = "memory and disk in MiB"


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


def _mib(size: int) -> str:
    return f"{size / 2**20:,.1f}" if 0 < size < 10 * 2**20 else f"{size / 2**20:,.0f}"


def figures_table(title: str, texts: Sequence[str], numbers: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Return a table: the columns of texts first and wrapped where they must be, numbers whole and to the right."""
    box = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, header_style="bold")
    box.padding = (0, 2, 0, 0)
    for column in texts:
        box.add_column(column, overflow="fold")
    for column in numbers:
        box.add_column(column, justify="right", no_wrap=True)
    for row in rows:
        box.add_row(*(Text(cell) for cell in row))
    return box


def flow_table(results: Sequence[Result]) -> Table:
    """Return one line a step."""
    wide = console().width >= WIDE
    rows = [_line(one.stage, one.ours, wide) for one in results]
    return figures_table(f"the flow, each step from nothing ({MEMORY})", ("step", "made"), _numbers(wide), rows)


def measures_table(title: str, measures: Sequence[Measure]) -> Table:
    """Return one line a measure, ours first; times: seconds as a multiple of ours."""
    wide = console().width >= WIDE
    ours = measures[0].seconds
    rows = [
        [*_line(one.name, one, wide), f"{one.seconds / ours:.2f}" if ours and not one.failed else ""]
        for one in measures
    ]
    return figures_table(f"{title} ({MEMORY})", ("by", "made"), (*_numbers(wide), "times"), rows)


def _numbers(wide: bool) -> tuple[str, ...]:
    more = ("rows/s", "a core", "peak", "private", "disk", "processes")
    return ("seconds", "CPU s", *(more if wide else ("rows/s", "peak", "disk")))


def _line(name: str, one: Measure, wide: bool) -> list[str]:
    if one.failed:
        return [name, one.failed, *[""] * len(_numbers(wide))]
    speed, memory = [short(one.rows_per_second)], [_mib(one.peak_bytes)]
    if wide:
        speed.append(short(one.rows_per_core_second))
        memory.append(_mib(one.private_bytes))
    made = f"{short(one.rows)} {one.unit}"
    line = [name, made, _seconds(one.seconds), _seconds(one.cpu_seconds), *speed, *memory, _mib(one.disk_bytes)]
    return [*line, str(one.processes)] if wide else line


def checks_table(results: Sequence[Result]) -> Table:
    """Return one line a check: what was found, and the limit where there is one."""
    rows = [
        [
            *(one.stage, check.what, f"{check.found:,.4g}"),
            f"{check.bound} {check.limit:,g}" if check.bound else "",
            ("yes" if check.met else "no") if check.bound else "",
        ]
        for one in results
        for check in one.checks
    ]
    return figures_table("ratios and limits", ("stage", "figure"), ("found", "to reach", "reached"), rows)


def print_result(result: Result) -> None:
    """Print one table of measures (times: seconds as a multiple of ours) and one line a figure and a check."""
    console().print(measures_table(result.stage, result.measures))
    for one in result.measures:
        for name, value in one.figures.items():
            console().print(f"  {one.name}: {name} {value:,.6g}")
    for check in result.checks:
        limit = f" ({check.bound} {check.limit:g}: {'yes' if check.met else 'NO'})" if check.bound else ""
        console().print(f"  {check.what}: {check.found:,.4g}{limit}")
    if result.remark:
        console().print(f"  {result.remark}")
