"""Load hosp and note: our load beside DuckDB's bare ``CREATE TABLE AS SELECT * FROM read_csv`` of the same files.

Both read gzip, with the same threads and memory limit. The load also counts and keeps malformed rows, and notes SHA-256
and size of every file.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.command import run
from benchmarks.measuring import Done, Inputs, Result, at_most, run_apart, stage_main, stopwatch
from benchmarks.stages.bare import bare_csv
from ontoground.workspace import Workspace

__all__ = ["measure"]

TIMES = 1.3


def ours(mimic: Path, root: Path) -> Done:
    """Load a release into an empty workspace."""
    from app.pipeline import load_source
    from app.session import writing

    workspace = Workspace.create(root)
    with stopwatch() as watch, writing(workspace) as connection:
        report = load_source(workspace, connection, "mimic", mimic).report
    rows = sum(one["rows_read"] - one["rows_rejected"] for one in report["tables"])
    return Done(rows, "rows", watch, [workspace.warehouse])


def measure(inputs: Inputs) -> Result:
    """Load hosp and note of a world and read the same files barely."""
    folder = inputs.scratch("load_mimic")
    settings = Workspace.existing(inputs.workspace).settings
    files = sorted(file for part in ("hosp", "note") for file in (inputs.world.mimic / part).glob("*.csv*"))
    mine = run_apart(ours, inputs.world.mimic, folder / "work")
    theirs = run_apart(bare_csv, files, folder / "bare.duckdb", settings.run, name="DuckDB read_csv", may_fail=True)
    checks = [at_most("peak memory, GiB", mine.peak_bytes / 2**30, 6.0)]
    if not theirs.failed:
        checks.insert(0, at_most("seconds, times DuckDB's", mine.seconds / theirs.seconds, TIMES))
        checks.insert(1, at_most("CPU seconds, times DuckDB's", mine.cpu_seconds / theirs.cpu_seconds, TIMES))
    return Result("load mimic", [mine, theirs], checks)


if __name__ == "__main__":
    run(stage_main(__doc__, measure))
