"""The flow on a world, step by step: every load and stage once, from nothing, each in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measures import Check, Measure, Result, at_least, at_most
from benchmarks.measuring import Done, bytes_on_disk, run_apart, stopwatch
from ground.errors import InputError
from ground.storage.files import write_text
from ground.storage.workspace import Workspace
from ontoground.flow.stages import STAGES, state_of, upstream
from openworld import World, render_scale

if TYPE_CHECKING:
    import duckdb

__all__ = ["SMALL", "SOURCES", "STEPS", "flow_checks", "generated", "measured_step", "run_flow", "whole_run"]

SOURCES = ("mimic", "umls", "rxnorm")
STEPS = (*(f"load {source}" for source in SOURCES), *(stage.name for stage in STAGES), "validate")
# The figure of a stage's report that says how much it made, and what it counts.
MADE = {
    "graph": ("edges", "edges"),
    "concepts": ("admission_concepts", "concepts"),
    "sections": ("sections", "sections"),
    "mentions": ("mentions", "mentions"),
    "medieval": ("rows", "samples"),
}
READS_NOTES = ("sections", "mentions", "medieval")
ADMISSIONS_PER_SECOND = 150
MEGABYTES_PER_SECOND = 2.0
MINUTES, GIB = 90, 12
# Below this size starting and what does not grow are most of the time and memory.
SMALL = 0.1
EXTRAPOLATED = "At 1/1 is extrapolated from this size in proportion (exponent 1), not measured."
FIXED_PARTS = " What does not grow (starting, memory of the libraries) counts as if it did: far too much at this size."


def render_apart(folder: Path, scale: float, workers: int, concepts: int) -> Done:
    """Write a world."""
    with stopwatch() as watch:
        world = render_scale(folder, scale, workers=workers, concepts=concepts)
    return Done(sum(world.counts.values()), "rows", watch, [folder])


def generated(folder: Path, scale: float, workers: int, concepts: int) -> Measure:
    """Measure how a world of a scale is written to a folder."""
    return run_apart(render_apart, folder, scale, workers, concepts)


def run_step(root: Path, world: World, step: str) -> Done:
    """Do one step of the flow, from its beginning, in a workspace whose earlier steps are done.

    Raises:
        InputError: an earlier step is not done, or was done by other code.
    """
    workspace = Workspace.create(root)
    if step == "validate":
        from ontoground.views.validation import validated

        with stopwatch() as watch:
            report = validated(workspace, workspace.dataset("medieval"))
        return Done(report["rows"], "samples checked", watch, figures={"disagrees": float(not report["agrees"])})
    from ontoground.flow.pipeline import run_stages
    from ontoground.flow.session import writing

    with writing(workspace) as connection:
        if step.startswith("load "):
            return _load(workspace, connection, world, step.removeprefix("load "))
        _require_earlier(workspace, connection, step)
        with stopwatch() as watch:
            report = run_stages(workspace, connection, [step], force=True)[-1].report
            connection.execute("checkpoint")
    key, unit = MADE[step]
    return Done(int(report[key]), unit, watch, figures=_notes(workspace) if step in READS_NOTES else {})


def _load(workspace: Workspace, connection: duckdb.DuckDBPyConnection, world: World, source: str) -> Done:
    from ontoground.flow.pipeline import load_source

    folder = {"mimic": world.mimic, "umls": world.meta, "rxnorm": world.rxnorm}[source]
    # Files that were loaded before a run was stopped would be left out.
    connection.execute("delete from ground.load where source = ?", [source])
    with stopwatch() as watch:
        tables = load_source(workspace, connection, source, folder).report["tables"]
        connection.execute("checkpoint")
    rows = sum(file["rows_read"] - file["rows_rejected"] for file in tables)
    return Done(rows, "rows", watch, figures={"MB of files": bytes_on_disk([folder]) / 1e6})


def _require_earlier(workspace: Workspace, connection: duckdb.DuckDBPyConnection, step: str) -> None:
    for stage in upstream((step,)):
        state = state_of(connection, workspace, stage)
        if stage.name != step and state.state != "current":
            raise InputError(
                f"{step} is measured after {stage.name}",
                found=f"{stage.name}: {state.state} ({state.reason})",
                do=f'--steps "{stage.name}" --again',
            )


def _notes(workspace: Workspace) -> dict[str, float]:
    """Return how many notes there are and how long they are, after the clock has stopped."""
    from ontoground.flow.session import reading

    with reading(workspace) as connection:
        query = "select count(*), coalesce(sum(strlen(text)), 0) / 1e6 from mimiciv_note.discharge"
        row = connection.execute(query).fetchone()
    return {"notes": float(row[0]), "MB of text": float(row[1])} if row else {}


def measured_step(root: Path, world: World, step: str) -> Measure:
    """Measure a step; ``disk_bytes`` is what it added to the workspace, also where it was begun before."""
    begun = root.with_name(f"{root.name}.{step.replace(' ', '-')}.begun")
    if not begun.exists():
        write_text(begun, f"{bytes_on_disk([root])}\n")
    before = int(begun.read_text(encoding="utf-8"))
    measure = run_apart(run_step, root, world, step)
    measure = replace(measure, disk_bytes=max(bytes_on_disk([root]) - before, 0))
    begun.unlink()
    return measure


def run_flow(
    root: Path, world: World, steps: Sequence[str] = STEPS, say: Callable[[str, Measure], None] = lambda *_: None
) -> dict[str, Measure]:
    """Run steps in a workspace and return step -> measure; each is told as soon as it has ended."""
    measures = {}
    for step in steps:
        measures[step] = measured_step(root, world, step)
        say(step, measures[step])
    return measures


def flow_checks(step: str, measure: Measure, lexicon: str = "") -> list[Check]:
    """Return what a step should reach."""
    figures = measure.figures
    cpu = max(measure.cpu_seconds, 1e-9)
    if step == "medieval":
        what = "admissions with a note, a second and core"
        return [at_least(what, figures["notes"] / cpu, ADMISSIONS_PER_SECOND)]
    if step in ("sections", "mentions"):
        what = f"MB of text, a second and core{lexicon}"
        bound = MEGABYTES_PER_SECOND if step == "mentions" else 0.0
        rate = Check(what, round(figures["MB of text"] / cpu, 3))
        return [at_least(what, rate.value, bound) if bound else rate]
    return []


def whole_run(measures: Sequence[Measure], scale: float) -> Result:
    """Return the sum of all steps, and what follows for full size if all grew in proportion: no measurement."""
    seconds = sum(measure.seconds for measure in measures)
    total = Measure(
        "ontoground",
        sum(measure.rows for measure in measures),
        "rows of all steps",
        round(seconds, 3),
        round(sum(measure.cpu_seconds for measure in measures), 3),
        max(measure.peak_bytes for measure in measures),
        max(measure.private_bytes for measure in measures),
        sum(measure.disk_bytes for measure in measures),
        max(measure.processes for measure in measures),
    )
    if not scale:
        return Result("whole run", [total], kind="step")
    peak = total.peak_bytes / 2**30
    checks = [
        at_most("minutes at 1/1, extrapolated", seconds / scale / 60, MINUTES),
        at_most("peak GiB at 1/1, extrapolated", peak / scale, GIB),
        Check(f"minutes at {scale:g}", round(seconds / 60, 2)),
        Check(f"peak GiB at {scale:g}", round(peak, 2)),
    ]
    remark = EXTRAPOLATED + (FIXED_PARTS if scale < SMALL else "")
    return Result("whole run", [total], checks if scale < 1 else _measured(checks), remark if scale < 1 else "", "step")


def _measured(checks: Sequence[Check]) -> list[Check]:
    return [replace(check, what=check.what.replace(", extrapolated", "")) for check in checks[:2]]
