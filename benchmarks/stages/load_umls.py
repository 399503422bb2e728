"""Load MRREL and MRCONSO: our load beside DuckDB's bare ``CREATE TABLE AS SELECT * FROM read_csv`` of the same files.

Both get the same threads and memory limit. The load also counts and keeps malformed rows, notes SHA-256 and size of
every file, and reads the small files of the release.
"""

from __future__ import annotations

from benchmarks.measures import Result, at_most
from benchmarks.measuring import Inputs, run_apart
from benchmarks.stages.bare import bare_rrf
from benchmarks.stages.loading import loaded, time_checks
from ground.storage.workspace import Workspace

__all__ = ["measure"]

GIB, TIMES_INPUT = 6.0, 1.5
FILES = ("MRCONSO.RRF", "MRREL.RRF")


def measure(inputs: Inputs) -> Result:
    """Load the release of a world and read its two large files barely."""
    folder = inputs.scratch("load_umls")
    meta = inputs.world.meta
    settings = Workspace.existing(inputs.workspace).settings
    mine = run_apart(loaded, "umls", meta, folder / "work")
    files = [meta / name for name in FILES]
    theirs = run_apart(bare_rrf, files, folder / "bare.duckdb", settings.run, name="DuckDB read_csv", may_fail=True)
    size = sum(file.stat().st_size for file in meta.glob("*.RRF"))
    checks = [
        at_most("peak memory, GiB", mine.peak_bytes / 2**30, GIB),
        at_most("disk, times the files", mine.disk_bytes / max(size, 1), TIMES_INPUT),
    ]
    return Result("load umls", [mine, theirs], [*time_checks(mine, theirs), *checks])
