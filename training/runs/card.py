"""The model card of every kind of run, written from its record: what it was made from and is good for; its losses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ground.storage.files import write_text

__all__ = ["loss_records", "write_card"]

TEMPLATES = Path(__file__).parent.parent / "templates"


def write_card(folder: Path, record: Mapping[str, Any], *, results: Path | None = None) -> None:
    """Write ``README.md`` of a run folder.

    Args:
        folder: where the card goes.
        record: what ``training.json`` holds.
        results: the run folder whose ``report/`` is quoted, ``folder`` where left out.
    """
    from jinja2 import Environment, FileSystemLoader

    templates = Environment(loader=FileSystemLoader(TEMPLATES), trim_blocks=True, lstrip_blocks=True)
    templates.filters["number"] = lambda value: f"{value:,}" if isinstance(value, int) else value
    text = templates.get_template("card.md.j2").render(
        record=record,
        adapter=record["kind"] != "encoder" and record["settings"]["lora"]["r"] > 0,
        tier=record["licence_tier"],
        losses=_losses(record),
        results=_results(results or folder),
    )
    write_text(folder / "README.md", text + "\n")


def loss_records(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the steps of a run's ``training.json`` in order: stage, step (from 1), loss and what else was logged."""
    stages = record.get("stages") or [{"stage": "", "records": record["losses"]}]
    return [{"stage": part["stage"], **step, "step": step["step"] + 1} for part in stages for step in part["records"]]


def _losses(record: Mapping[str, Any]) -> str:
    losses = [step["loss"] for step in loss_records(record)]
    if not losses:
        return "not recorded"
    few = max(1, min(20, len(losses) // 4))
    first, last = sum(losses[:few]) / few, sum(losses[-few:]) / few
    return f"{first:.4f} in the first steps, {last:.4f} in the last ({few} of {len(losses)} each)"


def _results(folder: Path) -> str:
    """Return the table of a report where one was made."""
    report = folder / "report" / "report.md"
    if not report.is_file():
        return "Not evaluated yet: `ontoground evaluate quadrants --model DIR --dataset DIR --baselines`."
    table = re.search(r"\n## Results\n(?:[^|\n].*\n|\n)*((?:\|.*\n)+)", report.read_text(encoding="utf-8"))
    if table is None:
        return "See `report/report.md`."
    note = "In percent, with 95% intervals over patients. From `report/report.md`, which has the rest and its limits."
    return f"{table[1]}\n{note}"
