"""Write the saved results into docs/benchmarks.md, between its marks: the largest scale, limits, growth, drawing."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.command import parser, run
from benchmarks.growth import CONCEPT_DRAWING, DRAWING, LEAST_SCALES, concept_runs, draw, growth_markdown, runs
from benchmarks.limits import cores_markdown, limits_markdown
from benchmarks.measuring import RESULTS
from ground.errors import InputError
from ground.markdown import markdown_table
from ground.storage.files import write_text
from ontoground.cli.render import note

__all__ = ["main", "measured_text", "with_measured"]

PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"
BEGIN, END = "<!-- measured: begin -->\n", "<!-- measured: end -->\n"
COLUMNS = ("stage", "by", "rows", "of", "seconds", "CPU s", "rows/s", "peak MiB", "private MiB", "disk MiB")
CHECKS = ("stage", "figure", "found", "to reach", "reached")


def measured_text(
    saved: Mapping[float, Mapping[str, Any]], of_concepts: Mapping[float, Mapping[str, Any]] | None = None
) -> str:
    """Return what was measured as Markdown: the largest scale, and growth where there are several, of concepts too.

    Raises:
        InputError: nothing is saved.
    """
    if not saved:
        raise InputError("no measurement is saved", file=RESULTS, do="python -m benchmarks.run --save")
    payload = saved[max(saved)]
    parts = [_machine(payload), _measures(payload), "Ratios and limits:\n", _checks(payload), *_remarks(payload)]
    if limits := limits_markdown(payload):
        parts += ["How close each stage is to the machine's limits (what they mean is said above):\n", limits]
    if cores := cores_markdown(payload):
        parts += ["What more cores would help, by Amdahl's law from the same run; a prediction:\n", cores]
    if len(saved) >= LEAST_SCALES:
        parts += [f"![Seconds and peak memory by scale]({DRAWING.name})\n", growth_markdown(saved)]
    if of_concepts and len(of_concepts) >= LEAST_SCALES:
        largest = of_concepts[max(of_concepts)]
        parts += [
            "### Growth in concepts\n",
            f"`make bench SCALE={largest['settings']['scale']:g} CONCEPTS=N SAVE=1`. {_machine(largest)}",
            f"![CPU seconds and peak memory by concepts]({CONCEPT_DRAWING.name})\n",
            growth_markdown(of_concepts, by_scale=False),
        ]
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
    one, settings = payload["machine"], payload["settings"]
    versions = ", ".join(f"{name} {number}" for name, number in one["packages"].items())
    return (
        f"Scale {settings['scale']:g}, {one['cores']} cores, {one['memory_gib']} GiB, {one['system']}, "
        f"Python {one['python']}, {versions}; {settings['workers']} workers, DuckDB with {settings['threads']} threads "
        f"and {settings['memory_limit']}.\n"
    )


def _measures(payload: Mapping[str, Any]) -> str:
    rows = [_measure(stage["stage"], one) for stage in payload["stages"] for one in stage["measures"]]
    return markdown_table(COLUMNS, rows, 2)


def _measure(stage: str, one: Mapping[str, Any]) -> list[str]:
    if one["failed"]:
        return [stage, one["name"], "", one["failed"], *[""] * (len(COLUMNS) - 4)]
    seconds = one["seconds"]
    return [
        *(stage, one["name"], f"{one['rows']:,}", one["unit"], f"{seconds:,.2f}", f"{one['cpu_seconds']:,.2f}"),
        f"{one['rows'] / seconds:,.0f}" if seconds else "",
        *(f"{one[name] / 2**20:,.0f}" for name in ("peak_bytes", "private_bytes", "disk_bytes")),
    ]


def _checks(payload: Mapping[str, Any]) -> str:
    rows = [
        [
            *(stage["stage"], check["what"], f"{check['found']:,.4g}"),
            f"{check['bound']} {check['limit']:g}" if check["bound"] else "",
            ("yes" if check["met"] else "no") if check["bound"] else "",
        ]
        for stage in payload["stages"]
        for check in stage["checks"]
    ]
    return markdown_table(CHECKS, rows, 2)


def _remarks(payload: Mapping[str, Any]) -> list[str]:
    """Return what the stages say of their figures."""
    said = [f"- {stage['stage']}: {stage['remark']}" for stage in payload["stages"] if stage["remark"]]
    return ["\n".join(said) + "\n"] if said else []


def main(values: list[str]) -> int:
    """Write the page and the drawing."""
    options: argparse.ArgumentParser = parser("report", __doc__ or "", "python -m benchmarks.report")
    options.parse_args(values)
    saved, of_concepts = runs(), concept_runs()
    page = with_measured(PAGE.read_text(encoding="utf-8"), measured_text(saved, of_concepts))
    if len(saved) >= LEAST_SCALES:
        draw(saved, DRAWING)
    if len(of_concepts) >= LEAST_SCALES:
        draw(of_concepts, CONCEPT_DRAWING, "concepts that notes can speak of", "cpu_seconds")
    write_text(PAGE, page)
    note(f"written: {PAGE}")
    return 0


if __name__ == "__main__":
    run(main)
