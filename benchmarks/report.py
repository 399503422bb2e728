"""Write the saved results into docs/benchmarks.md, between its marks: the largest scale, limits, growth, drawing."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.command import parser, run
from benchmarks.flow import SMALL
from benchmarks.growth import DRAWING, LEAST_SCALES, draw, growth_markdown, runs
from benchmarks.measures import Check
from benchmarks.measuring import RESULTS
from benchmarks.tables import CHECKS, check_cells
from ground import ROOT
from ground.errors import InputError
from ground.markdown import markdown_table
from ground.storage.files import write_text
from ontoground.cli.render import note

__all__ = ["main", "measured_text", "with_measured"]

PAGE = ROOT / "docs" / "benchmarks.md"
BEGIN, END = "<!-- measured: begin -->\n", "<!-- measured: end -->\n"
COLUMNS = ("stage", "by", "rows", "of", "seconds", "CPU s", "peak MiB")


def measured_text(saved: Mapping[float, Mapping[str, Any]], alone: Sequence[Mapping[str, Any]] = ()) -> str:
    """Return what was measured as Markdown: the largest scale, stages saved alone, and growth of several scales.

    Raises:
        InputError: nothing is saved.
    """
    if not saved:
        raise InputError("no measurement is saved", file=RESULTS, do="python -m benchmarks.run --save")
    payload = saved[max(saved)]
    parts = [_machine(payload), _measures(payload, *alone)]
    if payload["settings"]["scale"] >= SMALL:  # below, starting and what does not grow are most of it
        parts += ["Limits:\n", _checks(payload), *_remarks(payload)]
    if len(saved) >= LEAST_SCALES:
        parts += [f"![Seconds and peak memory by scale]({DRAWING.name})\n", growth_markdown(saved)]
    return "\n".join(parts)


def with_measured(page: str, text: str) -> str:
    """Return the page with the text between its marks.

    Raises:
        InputError: it has no marks.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise InputError("the page has no place for measurements", file=PAGE, expected=f"{BEGIN}{END}")
    return f"{before}{BEGIN}\n{text}\n{END}{after}"


def _machine(payload: Mapping[str, Any]) -> str:
    machine, settings = payload["machine"], payload["settings"]
    versions = ", ".join(f"{name} {number}" for name, number in machine["packages"].items())
    return (
        f"Scale {settings['scale']:g}, {machine['cores']} cores, {machine['memory_gib']} GiB, {machine['system']}, "
        f"Python {machine['python']}, {versions}; {settings['workers']} workers, DuckDB with {settings['threads']} "
        f"threads and {settings['memory_limit']}.\n"
    )


def _measures(*payloads: Mapping[str, Any]) -> str:
    stages = [stage for payload in payloads for stage in payload["stages"]]
    lines = [_measure(stage["stage"], measure) for stage in stages for measure in stage["measures"]]
    return markdown_table(COLUMNS, lines, 2)


def _measure(stage: str, measure: Mapping[str, Any]) -> list[str]:
    if measure["failed"]:
        return [stage, measure["name"], "", measure["failed"], *[""] * (len(COLUMNS) - 4)]
    times = (f"{measure[name]:,.2f}" for name in ("seconds", "cpu_seconds"))
    return [
        *(stage, measure["name"], f"{measure['rows']:,}", measure["unit"], *times),
        f"{measure['peak_bytes'] / 2**20:,.0f}",
    ]


def _checks(payload: Mapping[str, Any]) -> str:
    """Return the figures that have a limit."""
    lines = [
        check_cells(stage["stage"], Check(check["what"], check["value"], check["bound"], check["limit"]))
        for stage in payload["stages"]
        for check in stage["checks"]
        if check["bound"]
    ]
    return markdown_table(CHECKS, lines, 2)


def _remarks(payload: Mapping[str, Any]) -> list[str]:
    remarks = [f"- {stage['stage']}: {stage['remark']}" for stage in payload["stages"] if stage["remark"]]
    return ["\n".join(remarks) + "\n"] if remarks else []


def main(values: list[str]) -> int:
    """Write the page and the drawing."""
    parser("report", __doc__ or "", "python -m benchmarks.report").parse_args(values)
    saved = runs()
    alone = [json.loads(file.read_text()) for file in sorted(RESULTS.glob("stage-*.json"))]
    page = with_measured(PAGE.read_text(encoding="utf-8"), measured_text(saved, alone))
    if len(saved) >= LEAST_SCALES:
        draw(saved, DRAWING)
    write_text(PAGE, page)
    note(f"written: {PAGE}")
    return 0


if __name__ == "__main__":
    run(main)
