"""What the benchmarks of both loads share: our load of a release, and the limits of its time."""

from __future__ import annotations

from pathlib import Path

from benchmarks.measures import Check, Measure, at_most
from benchmarks.measuring import Done, stopwatch
from ground.storage.workspace import Workspace

__all__ = ["loaded", "time_checks"]

TIMES = 1.3


def loaded(source: str, folder: Path, root: Path) -> Done:
    """Load a release into an empty workspace."""
    from ontoground.flow.pipeline import load_source
    from ontoground.flow.session import writing

    workspace = Workspace.create(root)
    with stopwatch() as watch, writing(workspace) as connection:
        report = load_source(workspace, connection, source, folder).report
    rows = sum(file["rows_read"] - file["rows_rejected"] for file in report["tables"])
    return Done(rows, "rows", watch, [workspace.warehouse])


def time_checks(mine: Measure, theirs: Measure) -> list[Check]:
    """Return the ratios of a load to DuckDB's bare one; none where that failed."""
    if theirs.failed:
        return []
    return [
        at_most("seconds, times DuckDB's", mine.seconds / theirs.seconds, TIMES),
        at_most("CPU seconds, times DuckDB's", mine.cpu_seconds / theirs.cpu_seconds, TIMES),
    ]
