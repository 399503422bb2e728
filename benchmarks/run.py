"""Time every stage of the flow once on an open world of a given size: ``make bench [SCALE=...]``."""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from app.flow import STAGES
from app.openworld import World, render
from app.pipeline import Outcome, load_source, run_stages
from app.render import Cell, console, note, table
from app.validation import validated
from benchmarks.command import parser, run
from benchmarks.measuring import RESULTS, machine, peak_bytes
from ontoground.errors import UsageError
from ontoground.files import private_directory, write_text
from ontoground.warehouse import connect
from ontoground.workspace import Workspace

__all__ = ["Measure", "main", "measured"]

PATIENTS = 120
SEED = 7
# The figure of a stage's report that says how much it made, and what it counts.
MADE = {
    "graph": ("edges", "edges"),
    "concepts": ("admission_concepts", "code concepts"),
    "sections": ("sections", "sections"),
    "mentions": ("mentions", "mentions"),
    "medieval": ("rows", "samples"),
}


@dataclass(frozen=True)
class Measure:
    """One stage: what it made, how long it took, and how large the process and the warehouse had become by then.

    Attributes:
        stage: its name.
        rows: how many it made.
        unit: what these are.
        seconds: wall time.
        rows_per_second: the two divided.
        peak_bytes: the most memory that the process has held since it began.
        warehouse_bytes: the DuckDB file with its log.
    """

    stage: str
    rows: int
    unit: str
    seconds: float
    rows_per_second: float
    peak_bytes: int
    warehouse_bytes: int


def measured(folder: Path, patients: int, concepts: float) -> tuple[list[Measure], bool]:
    """Render a world below ``folder``, run every stage once, and say whether the validation found nothing.

    Args:
        folder: an empty folder; input and workspace are left in it.
        patients: patients of the world.
        concepts: multiple of the world's own concepts.
    """
    workspace = Workspace.create(folder / "workspace")
    begin = time.perf_counter()
    world = render(folder / "world", patients, SEED, scale_concepts=concepts)
    seconds = time.perf_counter() - begin
    measures = [_measure(workspace, "render", sum(world.counts.values()), "rows written", seconds)]
    measures += _stages(workspace, world)
    begin = time.perf_counter()
    report = validated(workspace, workspace.dataset("medieval"))
    measures.append(
        _measure(workspace, "validate", report["rows"], "samples checked", time.perf_counter() - begin),
    )
    return measures, bool(report["agrees"])


def _stages(workspace: Workspace, world: World) -> list[Measure]:
    folders = {"mimic": world.mimic, "umls": world.meta, "rxnorm": world.rxnorm}
    measures = []
    connection = connect(workspace.warehouse, workspace.settings.run)
    try:
        for source, folder in folders.items():
            outcome = load_source(workspace, connection, source, folder, say=note)
            rows = sum(one["rows_read"] - one["rows_rejected"] for one in outcome.report["tables"])
            measures.append(_measure(workspace, outcome.stage, rows, "rows loaded", outcome.seconds))
        for stage in STAGES:
            # Those before it are current by now, so that exactly one outcome is new.
            outcome = run_stages(workspace, connection, [stage.name])[-1]
            note(outcome.in_words(stage.name))
            rows, unit = _made(outcome)
            measures.append(_measure(workspace, stage.name, rows, unit, outcome.seconds))
    finally:
        connection.close()
    return measures


def _made(outcome: Outcome) -> tuple[int, str]:
    key, unit = MADE[outcome.stage]
    return int(outcome.report[key]), unit


def _measure(workspace: Workspace, stage: str, rows: int, unit: str, seconds: float) -> Measure:
    files = [workspace.warehouse, workspace.warehouse.with_name(workspace.warehouse.name + ".wal")]
    size = sum(file.stat().st_size for file in files if file.exists())
    return Measure(stage, rows, unit, round(seconds, 3), round(rows / max(seconds, 1e-9), 1), peak_bytes(), size)


def _paint(measures: list[Measure], title: str) -> None:
    columns = ("stage", "rows", "of", "seconds", "rows/s", "peak MiB", "warehouse MiB")
    rows: list[tuple[Cell, ...]] = [
        (
            one.stage,
            one.rows,
            one.unit,
            f"{one.seconds:.2f}",
            round(one.rows_per_second),
            round(one.peak_bytes / 2**20),
            round(one.warehouse_bytes / 2**20, 1),
        )
        for one in measures
    ]
    total = sum(one.seconds for one in measures)
    rows.append(("all", None, "", f"{total:.2f}", None, round(measures[-1].peak_bytes / 2**20), None))
    console().print(table(columns, rows, title=title))


def _save(path: Path, payload: Mapping[str, Any]) -> None:
    path.parent.mkdir(exist_ok=True)
    write_text(path, json.dumps(payload, indent=2) + "\n")
    note(f"written: {path}")


def _arguments(values: list[str]) -> argparse.Namespace:
    options = parser("run", __doc__ or "", "make bench SCALE=2", "python -m benchmarks.run --scale 0.25 --concepts 20")
    options.add_argument("--scale", type=float, default=1.0, help=f"patients, as a multiple of {PATIENTS} (default 1)")
    options.add_argument("--concepts", type=float, default=1.0, help="concepts, as a multiple of the world's own")
    options.add_argument("--save", action="store_true", help="write benchmarks/results/run-SCALE.json")
    return options.parse_args(values)


def main(values: list[str]) -> int:
    """Measure, print one table, and return 1 where the validation of the dataset found a disagreement."""
    arguments = _arguments(values)
    patients = round(PATIENTS * arguments.scale)
    if patients < 1:
        raise UsageError("the scale is too small", found=str(arguments.scale), expected="at least one patient")
    with tempfile.TemporaryDirectory(prefix="ontoground-bench-") as folder:
        measures, agrees = measured(private_directory(Path(folder)), patients, arguments.concepts)
    described = machine()
    _paint(measures, f"{patients} patients, concepts x {arguments.concepts:g}")
    versions = ", ".join(f"{name} {number}" for name, number in described["packages"].items())
    console().print(
        f"{described['cores']} cores, {described['memory_gib']} GiB, {described['system']}, "
        f"Python {described['python']}, {versions}; the dataset validates: {'yes' if agrees else 'no'}",
        soft_wrap=True,
    )
    if arguments.save:
        size = f"{arguments.scale:g}" + (f"-concepts-{arguments.concepts:g}" if arguments.concepts != 1 else "")
        settings = {"scale": arguments.scale, "patients": patients, "concepts": arguments.concepts, "seed": SEED}
        stages = [asdict(one) for one in measures]
        payload = {"settings": settings, "machine": described, "validates": agrees, "stages": stages}
        _save(RESULTS / f"run-{size}.json", payload)
    return 0 if agrees else 1


if __name__ == "__main__":
    run(main)
