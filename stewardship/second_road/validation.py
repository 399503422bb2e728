"""Every label of a built MediEval dataset derived again from the warehouse: what does not agree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import duckdb

from ground.errors import InputError
from ground.flow.executors import open_threads
from ground.flow.manifest import inputs, read_manifest
from ground.json_record import JsonRecord
from ground.settings import BuildSettings
from ground.storage.sqlfiles import quoted_files
from ground.storage.warehouse import number_of, run_sql, set_table, set_variables
from ground.storage.workspace import Workspace
from stewardship.second_road import mentions
from stewardship.second_road.folders import open_folder
from stewardship.second_road.graph import find_paths
from stewardship.second_road.rows import Disagreement, disagreements

__all__ = ["ValidationReport", "validate_medieval"]

NAMES = ("check", "id", "found", "expected")
GRAPH = "stewardship/second_road/graph"
ROWS = "stewardship/second_road/rows"

PATIENTS_AT_ONCE = 20_000
"""Patients whose rows are checked at once, by all workers together: what they are checked against is some gigabytes
less than DuckDB may use, whatever the number of workers."""

COMMON = "common"
"""A database in memory, within DuckDB's limit, for what all workers read."""

COMMON_TABLES = ("claim", "claim_end", "attesting", "unclear_by", "ended_by", "form_step", "end_spelling", "partner")
PART_CHECKS = {
    "labelled": (f"{ROWS}/row", f"{ROWS}/group", *mentions.CHECKS["labelled"]),
    "denying": mentions.CHECKS["denying"],
}
WHOLE_CHECKS = {"labelled": (f"{ROWS}/whole", f"{GRAPH}/statement"), "denying": (f"{ROWS}/contradicted_whole",)}
"""Checks of some patients' rows, and of all rows, by the files that they read."""

Files = Mapping[str, Sequence[Path]]
Lines = list[Disagreement]
Check = Callable[[duckdb.DuckDBPyConnection], Lines]


@dataclass(frozen=True)
class ValidationReport(JsonRecord):
    """Labels that the warehouse does not confirm; none is success."""

    folder: str
    rows: int
    disagreements: list[dict[str, Any]] = field(default_factory=list)

    @property
    def by_check(self) -> dict[str, int]:
        """Disagreements counted by check."""
        counts: dict[str, int] = {}
        for line in self.disagreements:
            counts[line["check"]] = counts.get(line["check"], 0) + 1
        return counts

    def as_dict(self) -> dict[str, Any]:
        """Return the report for ``--json`` output."""
        return super().as_dict() | {"by_check": self.by_check}


def validate_medieval(workspace: Workspace, connection: duckdb.DuckDBPyConnection, folder: Path) -> ValidationReport:
    """Check a dataset folder against the warehouse that it was built from.

    Truth is derived by joins over ``kg.edge`` and ``kg.pattern``. Support is what the spans of a row attest, walked
    from its ends to what ``ground.mention`` has there; silence is looked for in all mentions and codes of an admission,
    and in the bare text of its notes for names. What hangs on a patient is checked for some patients at a time, by as
    many workers as the settings say.

    Raises:
        InputError: the folder is no MediEval dataset, holds no rows, those of another version, or was built from files
            that the workspace does not hold.
    """
    dataset = open_folder(folder)
    if dataset.kind != "medieval":
        raise InputError(
            "only MediEval rows can be validated",
            file=folder,
            found=f"a dataset of {dataset.kind}",
            expected="a folder that `ontoground build medieval` wrote",
        )
    build = dataset.build_settings()
    _require_inputs(workspace, connection, folder)
    files: dict[str, list[Path]] = {"labelled": [*dataset.files, *dataset.contraindicated_files]}
    if denying := dataset.contradicted_files:
        files["denying"] = denying
    # Each part reads the same files: else what they say of themselves would be read for every query. Cursors have
    # settings of their own, but global ones.
    connection.execute("set global parquet_metadata_cache = true")
    _show(connection, files)
    for step in (
        f"{GRAPH}/claim",
        f"{GRAPH}/cover",
        mentions.ENDED,
        *([f"{ROWS}/partner"] if "denying" in files else []),
    ):
        run_sql(connection, step)
    set_table(connection, "end_spelling", mentions.end_spellings(connection).to_arrow())
    rows = {name: number_of(connection, f"select count(*) from {name}") for name in files}
    checks = _Checks(connection, files, build)
    executor = open_threads(workspace.settings.run, duckdb.DuckDBPyConnection.interrupt)
    shards: list[Check] = [checks.of_all]
    shards += [partial(checks.of_some, patients) for patients in _parts(connection, files, executor.workers)]
    with _common(connection, _tables(files)):
        lots = executor.in_order(checks.open, lambda cursor, check: check(cursor), shards)
        lines = [*_lost(folder, rows), *(line for lot in lots for line in lot)]
    lines.sort(key=lambda line: [str(cell) for cell in line])
    return ValidationReport(str(folder), sum(rows.values()), [dict(zip(NAMES, line, strict=True)) for line in lines])


def _require_inputs(workspace: Workspace, connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Refuse a dataset of other data: what is not here cannot confirm its labels."""
    built_from, loaded = (
        {(file["source"], file["file"], file["sha256"]) for file in files}
        for files in (read_manifest(folder).get("inputs", []), inputs(connection))
    )
    if absent := built_from - loaded:
        source, file, _ = min(absent)
        raise InputError(
            "this dataset was built from other data than the workspace holds",
            file=folder,
            found=f"{len(absent)} of its {len(built_from)} files, as {source} {file}, are not in {workspace.root}",
            do="name the workspace that it was built in by --workspace, or build it again",
        )


def _lost(folder: Path, rows: Mapping[str, int]) -> Iterator[Disagreement]:
    """Yield where there are other numbers of rows than were built: rows that are gone disagree with nothing."""
    built = read_manifest(folder).get("rows", {})
    expected = {
        "labelled": built.get("rows", 0) + built.get("contraindicated", 0),
        "denying": built.get("contradicted", 0),
    }
    for name, number in expected.items():
        if built and rows.get(name, 0) != number:
            yield ("a dataset has as many rows as were built", name, str(rows.get(name, 0)), str(number))


@dataclass(frozen=True)
class _Checks:
    """What a worker does: it checks all rows against the graph, or some patients' rows against their records."""

    connection: duckdb.DuckDBPyConnection
    files: Files
    build: BuildSettings

    def open(self) -> duckdb.DuckDBPyConnection:
        """Open a cursor, with what is common to all workers."""
        cursor = self.connection.cursor()
        for name in _tables(self.files):
            cursor.execute(f"create temp view {name} as from {COMMON}.{name}")
        chosen = {name: getattr(self.build, name) for name in ("seed", "folds", "min_distractor_distance")}
        set_variables(cursor, {**self.build.attesting(), "tiers": list(self.build.truth_tiers), **chosen})
        return cursor

    def of_all(self, cursor: duckdb.DuckDBPyConnection) -> Lines:
        """Return the disagreements that hang on no patient, or on several."""
        _show(cursor, self.files)
        find_paths(cursor)
        lines = disagreements(cursor, [check for name in self.files for check in WHOLE_CHECKS[name]])
        # The cursor's next check has rows of its own under these names.
        for name in self.files:
            cursor.execute(f"drop view {name}")
        walked = ("walk", "step_name", "walk_plan", "near", "reading", "step", "start_pair", "opening_walk")
        for name in (*walked, "related_pair", "wrong_claim"):
            cursor.execute(f"drop table {name}")
        return lines

    def of_some(self, patients: tuple[int, int], cursor: duckdb.DuckDBPyConnection) -> Lines:
        """Return the disagreements of the patients from one to another."""
        _hold(cursor, self.files, patients)
        mentions.hold_records(cursor, patients, self.files)
        mentions.read_texts(cursor, radiology=self.build.radiology, denials="denying" in self.files)
        return disagreements(cursor, [check for name in self.files for check in PART_CHECKS[name]])


def _show(connection: duckdb.DuckDBPyConnection, files: Files) -> None:
    """Make views of all rows: each check reads the columns that it needs, and no context stays in memory."""
    for name, paths in files.items():
        connection.execute(f"create or replace temp view {name} as from read_parquet({quoted_files(paths)})")


def _hold(cursor: duckdb.DuckDBPyConnection, files: Files, patients: tuple[int, int]) -> None:
    """Make tables of the rows of some patients, read once for all checks, and of the contexts of their admissions."""
    for name, paths in files.items():
        rows = f"from read_parquet({quoted_files(paths)}) where subject_id between {patients[0]} and {patients[1]}"
        cursor.execute(f"create or replace temp table {name} as select * exclude (context) {rows}")
        cursor.execute(f"create or replace temp table {name}_context as select distinct hadm_id, context {rows}")


@contextmanager
def _common(connection: duckdb.DuckDBPyConnection, names: Iterable[str]) -> Iterator[None]:
    """Move temporary tables to where all cursors see them: temporary ones are their connection's alone."""
    connection.execute(f"attach ':memory:' as {COMMON} (read_write)")
    try:
        for name in names:
            connection.execute(f"create table {COMMON}.{name} as from temp.{name}")
            connection.execute(f"drop table temp.{name}")
        yield
    finally:
        connection.execute(f"detach {COMMON}")


def _tables(files: Files) -> list[str]:
    """Return the tables that all workers read."""
    return [name for name in COMMON_TABLES if name != "partner" or "denying" in files]


def _parts(connection: duckdb.DuckDBPyConnection, files: Files, workers: int) -> list[tuple[int, int]]:
    """Return the first and the last patient of each part: what all workers hold at once is bounded."""
    size = max(1, PATIENTS_AT_ONCE // workers)
    patients = " union ".join(f"select distinct subject_id from {name}" for name in files)
    return connection.execute(
        "select min(subject_id), max(subject_id) from (select subject_id, row_number() over (order by subject_id) as n "
        f"from ({patients})) group by (n - 1) // {size} order by 1"
    ).fetchall()
