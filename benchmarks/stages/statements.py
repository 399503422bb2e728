"""The least that building and checking statements can take: the rows of the built dataset written again, and read.

Nothing is looked for and nothing compared: pyarrow writes the rows that are there, with the same compression and row
groups, and reads every column. Ours is a step of the flow (medieval, validate), which this stage does not repeat.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.command import run
from benchmarks.measures import Check, Result
from benchmarks.measuring import Done, Inputs, Watch, run_apart, stage_main
from ground.errors import InputError
from ground.storage.workspace import Workspace

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["measure", "read", "written"]


def _groups(files: list[Path], watch: Watch) -> Iterator[tuple[str, pa.Table]]:
    """Yield the row groups of each file, and add what reading them took."""
    import pyarrow.parquet as pq

    for path in files:
        with pq.ParquetFile(path) as file:
            for number in range(file.num_row_groups):
                begin, cpu = time.perf_counter(), time.process_time()
                group = file.read_row_group(number, use_threads=False)
                watch.seconds += time.perf_counter() - begin
                watch.cpu_seconds += time.process_time() - cpu
                yield path.name, group


def read(files: list[Path]) -> Done:
    """Read every column."""
    watch = Watch()
    rows = sum(group.num_rows for _, group in _groups(files, watch))
    return Done(rows, "samples read", watch)


def written(files: list[Path], folder: Path) -> Done:
    """Write the rows again, one file each; reading them is not timed."""
    import pyarrow.parquet as pq

    watch = Watch()
    writers: dict[str, pq.ParquetWriter] = {}
    rows = 0
    for name, group in _groups(files, Watch()):
        begin, cpu = time.perf_counter(), time.process_time()
        if name not in writers:
            writers[name] = pq.ParquetWriter(folder / name, group.schema, compression="zstd", store_schema=True)
        writers[name].write_table(group, row_group_size=group.num_rows)
        watch.seconds += time.perf_counter() - begin
        watch.cpu_seconds += time.process_time() - cpu
        rows += group.num_rows
    for writer in writers.values():
        writer.close()
    return Done(rows, "samples written", watch, [folder])


def measure(inputs: Inputs) -> Result:
    """Write and read the rows of the workspace's dataset."""
    files = sorted((Workspace.existing(inputs.workspace).dataset("medieval") / "data").glob("*.parquet"))
    if not files:
        raise InputError("the workspace has no dataset", file=inputs.workspace, do="--steps medieval")
    again = run_apart(written, files, inputs.scratch("statements"), name="pyarrow, writing")
    back = run_apart(read, files, name="pyarrow, reading")
    speeds = [
        Check(f"{one.unit}, thousands a second and core", round(one.rows_per_core_second / 1e3, 1))
        for one in (again, back)
    ]
    return Result("statements", [again, back], speeds)


if __name__ == "__main__":
    run(stage_main(__doc__, measure))
