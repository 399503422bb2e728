"""Load hosp and note: our load beside DuckDB's bare ``CREATE TABLE AS SELECT * FROM read_csv`` of the same files.

Both read gzip, with the same threads and memory limit. The load also counts and keeps malformed rows, and notes SHA-256
and size of every file.
"""

from __future__ import annotations

from benchmarks.measures import Result, at_most
from benchmarks.measuring import Inputs, run_apart
from benchmarks.stages.bare import bare_csv
from benchmarks.stages.loading import loaded, time_checks
from ground.storage.workspace import Workspace

__all__ = ["measure"]


def measure(inputs: Inputs) -> Result:
    """Load hosp and note of a world and read the same files barely."""
    folder = inputs.scratch("load_mimic")
    settings = Workspace.existing(inputs.workspace).settings
    files = sorted(file for part in ("hosp", "note") for file in (inputs.world.mimic / part).glob("*.csv*"))
    mine = run_apart(loaded, "mimic", inputs.world.mimic, folder / "work")
    theirs = run_apart(bare_csv, files, folder / "bare.duckdb", settings.run, name="DuckDB read_csv", may_fail=True)
    checks = [at_most("peak memory, GiB", mine.peak_bytes / 2**30, 6.0)]
    return Result("load mimic", [mine, theirs], [*time_checks(mine, theirs), *checks])
