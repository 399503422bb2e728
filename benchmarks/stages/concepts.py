"""Codes to concepts: diagnoses, procedures and orders mapped to the release, beside one grouped pass over the records.

The yardstick is the least that any mapping does with the records: DuckDB groups each table by admission and code, with
the earliest time, and writes the groups in order. It knows no ontology.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.command import run
from benchmarks.measures import Check, Result
from benchmarks.measuring import Done, Inputs, run_apart, stage_main, stopwatch
from ground.storage.workspace import Workspace

if TYPE_CHECKING:
    import duckdb

__all__ = ["bare", "measure", "ours"]

RECORDS = ("diagnoses_icd", "procedures_icd", "prescriptions")
GROUPED = {
    "diagnosis": ("hadm_id, icd_code, icd_version", "null::timestamp", "diagnoses_icd"),
    "procedure": ("hadm_id, icd_code, icd_version", "min(chartdate)", "procedures_icd"),
    "ndc": ("hadm_id, ndc", "min(starttime)", "prescriptions"),
    "drug": ("hadm_id, drug", "min(starttime)", "prescriptions"),
}
"""Table that is made: what it is grouped by, its earliest time, and the table it is made of."""


def ours(workspace: Path) -> Done:
    """Map the codes of a copied workspace."""
    from builders.concepts import map_codes
    from ground.storage.warehouse import connect

    opened = Workspace.existing(workspace)
    connection = connect(opened.warehouse, opened.settings.run)
    rows = _rows(connection, "mimiciv_hosp")
    with stopwatch() as watch:
        report = map_codes(connection)
    codes = sum(count.codes for count in report.counts)
    connection.close()
    figures = {"admission concepts": float(report.admission_concepts), "distinct codes": float(codes)}
    return Done(rows, "rows of the records", watch, [], figures)


def bare(warehouse: Path, file: Path) -> Done:
    """Group the records by admission and code, in order, into a file of its own."""
    from ground.storage.warehouse import open_database

    with open_database(file) as connection:
        connection.execute(f"attach '{warehouse}' as source (read_only)")
        rows = _rows(connection, "source.mimiciv_hosp")
        with stopwatch() as watch:
            for name, (keys, time, table) in GROUPED.items():
                connection.execute(
                    f"create table {name} as select {keys}, {time} as first_time"
                    f" from source.mimiciv_hosp.{table} group by {keys} order by all"
                )
            connection.execute("checkpoint")
    return Done(rows, "rows of the records", watch, [file])


def _rows(connection: duckdb.DuckDBPyConnection, schema: str) -> int:
    return sum(connection.execute(f"select count(*) from {schema}.{table}").fetchall()[0][0] for table in RECORDS)


def measure(inputs: Inputs) -> Result:
    """Map a copy of the workspace, then group the same records without an ontology."""
    folder = inputs.scratch("concepts")
    warehouse = Workspace.existing(inputs.workspace).warehouse
    copied = Workspace.create(folder / "work")
    shutil.copyfile(warehouse, copied.warehouse)
    mine = run_apart(ours, copied.root)
    theirs = run_apart(bare, warehouse, folder / "bare.duckdb", name="DuckDB, grouped by code", may_fail=True)
    times = [] if theirs.failed else [Check("time, times that of grouping alone", mine.seconds / theirs.seconds)]
    return Result("concepts", [mine, theirs], times)


if __name__ == "__main__":
    run(stage_main(__doc__, measure))
