"""The flow on a world, step by step: every load and stage once, from nothing, each in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from app.flow import STAGES
from app.openworld import World, render_scale
from benchmarks.measuring import Check, Done, Measure, Result, at_least, bytes_on_disk, run_apart, stopwatch
from ontoground.workspace import Workspace

__all__ = ["SOURCES", "STEPS", "flow_checks", "generated", "run_flow", "whole_run"]

SOURCES = ("mimic", "umls", "rxnorm")
STEPS = (*(f"load {source}" for source in SOURCES), *(stage.name for stage in STAGES), "validate")
# The figure of a stage's report that says how much it made, and what it counts.
MADE = {
    "graph": ("edges", "edges"),
    "concepts": ("admission_concepts", "code concepts"),
    "sections": ("sections", "sections"),
    "mentions": ("mentions", "mentions"),
    "medieval": ("rows", "samples"),
}
READS_NOTES = ("sections", "mentions", "medieval")
ADMISSIONS_PER_SECOND = 150
MEGABYTES_PER_SECOND = 2.0
MINUTES, GIB = 90, 12


def render_apart(folder: Path, scale: float, workers: int) -> Done:
    """Write a world."""
    with stopwatch() as watch:
        world = render_scale(folder, scale, workers=workers)
    return Done(sum(world.counts.values()), "rows", watch, [folder])


def generated(folder: Path, scale: float, workers: int) -> Measure:
    """Measure how a world of a scale is written to a folder."""
    return run_apart(render_apart, folder, scale, workers)


def run_step(root: Path, world: World, step: str) -> Done:
    """Do one step of the flow in a workspace whose earlier steps are done."""
    workspace = Workspace.create(root)
    if step == "validate":
        from app.validation import validated

        with stopwatch() as watch:
            report = validated(workspace, workspace.dataset("medieval"))
        return Done(report["rows"], "samples checked", watch, figures={"disagrees": float(not report["agrees"])})
    from app.pipeline import load_source, run_stages
    from app.session import writing

    with stopwatch() as watch, writing(workspace) as connection:
        if step.startswith("load "):
            source = step.removeprefix("load ")
            folder = {"mimic": world.mimic, "umls": world.meta, "rxnorm": world.rxnorm}[source]
            report = load_source(workspace, connection, source, folder).report
            return Done(sum(one["rows_read"] - one["rows_rejected"] for one in report["tables"]), "rows", watch)
        # Those before it are current by now, so that exactly one outcome is new.
        report = run_stages(workspace, connection, [step])[-1].report
    key, unit = MADE[step]
    return Done(int(report[key]), unit, watch, figures=_notes(workspace) if step in READS_NOTES else {})


def _notes(workspace: Workspace) -> dict[str, float]:
    """Return how many notes there are and how long they are, after the clock has stopped."""
    from app.session import reading

    with reading(workspace) as connection:
        query = "select count(*), coalesce(sum(strlen(text)), 0) / 1e6 from mimiciv_note.discharge"
        row = connection.execute(query).fetchone()
    return {"notes": float(row[0]), "MB of text": float(row[1])} if row else {}


def run_flow(
    root: Path, world: World, steps: Sequence[str] = STEPS, say: Callable[[str], None] = lambda _line: None
) -> dict[str, Measure]:
    """Run steps in a workspace and return step -> measure; ``disk_bytes`` is what the step added to the workspace."""
    found = {}
    for step in steps:
        before = bytes_on_disk([root])
        measure = run_apart(run_step, root, world, step)
        found[step] = replace(measure, disk_bytes=bytes_on_disk([root]) - before)
        say(f"{step}: {measure.seconds:.1f} s")
    return found


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
        found = Check(what, round(figures["MB of text"] / cpu, 3))
        return [at_least(what, found.found, bound) if bound else found]
    return []


def whole_run(measures: Sequence[Measure], scale: float) -> Result:
    """Return the sum of the steps, with what it would be at full size if all grew in proportion: no measurement."""
    seconds = sum(one.seconds for one in measures)
    total = Measure(
        "ontoground",
        sum(one.rows for one in measures),
        "rows of all steps",
        round(seconds, 3),
        round(sum(one.cpu_seconds for one in measures), 3),
        max(one.peak_bytes for one in measures),
        max(one.private_bytes for one in measures),
        sum(one.disk_bytes for one in measures),
        max(one.processes for one in measures),
    )
    checks = [Check("peak memory, GiB", round(total.peak_bytes / 2**30, 2), "at most", GIB)]
    if scale:
        checks.append(Check("minutes at 1/1, in proportion", round(seconds / scale / 60, 1), "at most", MINUTES))
    return Result("whole run", [total], checks, "minutes at 1/1 are extrapolated, not measured" if scale else "")
