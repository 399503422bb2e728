"""Build the graph from loaded tables, beside one sorted distinct scan of MRREL in DuckDB; open it; its bytes an edge.

The scan is ``create temp table ... as select distinct`` of the columns that an edge and its evidence are made of,
sorted: what any build from MRREL has to do at least, and nothing is compressed or written. The second scan keeps its
table, as the build keeps what it makes. All get the same threads and memory limit, on a copy of the loaded tables. The
build also makes the tables of names and concepts of MRCONSO, which no scan does.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measures import Check, Result, at_most
from benchmarks.measuring import Done, Inputs, bytes_on_disk, run_apart, stopwatch
from ground.settings import RunSettings
from ground.storage.workspace import Workspace

__all__ = ["measure"]

TIMES, SECONDS_TO_OPEN, BYTES = 1.5, 0.5, 10
ADJACENCY = ("indptr", "step", "neighbour", "edge")
CANONICAL = ("head", "predicate", "tail")
EVIDENCE = ("evidence_begin", "rela", "sab", "rui")


def copy_loaded(source: Path, target: Path, run_settings: RunSettings) -> Done:
    """Copy the loaded tables of a release, and what is recorded of their loads, to another warehouse."""
    from ground.storage.warehouse import connect

    with stopwatch() as watch, connect(target, run_settings) as connection:
        connection.execute(f"attach '{source}' as loaded (read_only)")
        there = connection.execute(
            "select table_name from duckdb_tables() where database_name = 'loaded' and schema_name = 'umls'"
        ).fetchall()
        for (name,) in there:
            connection.execute(f"create or replace table umls.{name} as select * from loaded.umls.{name}")
        connection.execute("insert into ground.load select * from loaded.ground.load")
    # What is measured next shall not pay for the copy's way from memory to the disk.
    os.sync()
    return Done(len(there), "tables", watch, [target])


def ours(warehouse: Path, graph: Path, workspace: Workspace) -> Done:
    """Build the graph."""
    from ground.storage.warehouse import connect
    from kg.build import build_graph

    with connect(warehouse, workspace.settings.run) as connection, stopwatch() as watch:
        report = build_graph(connection, graph, workspace.settings.load).as_dict()
    return Done(int(str(report["edges"])), "edges", watch, [graph])


def scan(warehouse: Path, run_settings: RunSettings, kind: str) -> Done:
    """Sort the distinct rows of MRREL into a table of some kind, in a transaction that is not committed."""
    from ground.storage.warehouse import connect

    columns = "cui1, rel, cui2, rela, sab, rui"
    with connect(warehouse, run_settings) as connection:
        connection.execute("begin")
        with stopwatch() as watch:
            query = f"create {kind} scanned as select distinct {columns} from umls.mrrel order by all"
            row = connection.execute(query).fetchone()
        connection.execute("rollback")
    # As after the copy: gigabytes of a kept table are on their way still.
    os.sync()
    return Done(int(row[0]) if row else 0, "distinct rows", watch)


def opened(graph: Path) -> Done:
    """Open the graph, which maps its arrays, in a process that has imported it."""
    from kg.graph import ConceptGraph

    with stopwatch() as watch:
        concepts = ConceptGraph.open(graph)
    return Done(len(concepts), "concepts", watch)


def bytes_of_edges(graph: Path, names: Sequence[str]) -> float:
    """Return the bytes of some arrays for one directed edge."""
    directed = 2 * int(json.loads((graph / "manifest.json").read_text(encoding="utf-8"))["edges"])
    return bytes_on_disk([graph / f"{name}.npy" for name in names]) / max(directed, 1)


def measure(inputs: Inputs) -> Result:
    """Scan the relations of a world, build its graph, and open it."""
    folder = inputs.scratch("graph")
    workspace = Workspace.existing(inputs.workspace)
    warehouse = folder / "warehouse.duckdb"
    run_apart(copy_loaded, workspace.warehouse, warehouse, workspace.settings.run, name="copy")
    theirs, kept = (
        run_apart(scan, warehouse, workspace.settings.run, kind, name=f"sorted distinct scan{remark}", may_fail=True)
        for kind, remark in (("temp table", ""), ("table", ", kept"))
    )
    mine = run_apart(ours, warehouse, folder / "graph", workspace)
    start = run_apart(opened, folder / "graph", name="open")
    graph = folder / "graph"
    checks = [
        at_most("seconds to open", start.seconds, SECONDS_TO_OPEN),
        at_most("bytes of adjacency a directed edge", bytes_of_edges(graph, ADJACENCY), BYTES),
        Check("bytes of canonical edges a directed edge (for export)", round(bytes_of_edges(graph, CANONICAL), 2)),
        Check("bytes of evidence a directed edge", round(bytes_of_edges(graph, EVIDENCE), 2)),
    ]
    if not theirs.failed:
        checks.insert(0, at_most("seconds, times the scan's", mine.seconds / theirs.seconds, TIMES))
        checks.insert(1, at_most("CPU seconds, times the scan's", mine.cpu_seconds / theirs.cpu_seconds, TIMES))
    if not kept.failed:
        checks.insert(2, Check("seconds, times the kept scan's", round(mine.seconds / kept.seconds, 2)))
    return Result("graph", [mine, theirs, kept, start], checks)
