"""What a workspace holds: loaded releases, tables and rows, stages built or stale, datasets, and what to do next."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import duckdb

from ehr.sources.tables import SOURCES, schemas
from ground.storage.parquet import parquet_rows
from ground.storage.sqlfiles import quoted_files
from ground.storage.warehouse import has_rows, open_database, run_sql
from ground.storage.workspace import Workspace
from kg.ontology.joining import RELEASE_SOURCES
from ontoground.flow.session import records
from ontoground.flow.stages import STAGES, StageState, state_of

__all__ = [
    "dataset_counts",
    "dataset_files",
    "edge_table",
    "few_patients",
    "lacking_codes",
    "mapped_shares",
    "quadrant_table",
    "row_files",
    "status_of",
    "summary_of",
]

ENOUGH = 50
"""Patients in test below which figures say little: of 50, a share of one half is known to within 14 points."""
BOOKKEEPING = ("ground.load", "ground.load_origin", "ground.reject", "ground.drop", "ground.stage")
LOADED = (*(f"{schema}." for source in SOURCES for schema in schemas(source)), "umls.", "rxnorm.", "ontology.")
NOTES = {"mimic": "note/discharge", "omop": "note", "meds": "codes of notes", "table": "notes"}
CODES = {"ehr.diagnosis": "diagnoses", "ehr.procedure": "procedures", "ehr.drug": "drugs"}
VERBS = {
    "graph": "ontoground graph build",
    "concepts": "ontoground graph build",
    "sections": "ontoground notes sections",
    "mentions": "ontoground notes mentions",
    "medieval": "ontoground build medieval",
}
"""The verb that brings each stage up to date."""


def status_of(workspace: Workspace, connection: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    """Return the state of a workspace; see docs/schemas/status.json."""
    loads = records(run_sql(connection, "ontoground/loads"))
    stages = [state_of(connection, workspace, stage) for stage in STAGES]
    tables = _row_counts(connection)
    root = workspace.root / "datasets"
    folders = sorted(path for path in root.iterdir() if dataset_files(path)) if root.is_dir() else []
    commands = _next_steps(connection, {load["source"] for load in loads}, stages)
    return {
        "loads": loads,
        "stages": [asdict(stage) for stage in stages],
        "tables": tables,
        "warnings": lacking_codes(connection) if {load["source"] for load in loads} & set(SOURCES) else [],
        "datasets": [dataset_counts(folder) for folder in folders],
        "rejected_rows": sum(load["rows_rejected"] for load in loads),
        "warehouse_bytes": workspace.warehouse.stat().st_size,
        "cache_bytes": sum(file.stat().st_size for file in (workspace.root / "cache").rglob("*") if file.is_file()),
        "next": [_here(workspace, command) for command in commands],
    }


def _row_counts(connection: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """Return each table of the warehouse with its number of rows, without the bookkeeping tables."""
    tables = connection.execute(
        "select schema_name || '.' || table_name from duckdb_tables() where database_name = current_database()"
        " and not temporary order by schema_name, table_name"
    ).fetchall()
    return [{"table": name, "rows": len(connection.table(name))} for (name,) in tables if name not in BOOKKEEPING]


def _next_steps(connection: duckdb.DuckDBPyConnection, loaded: set[str], stages: list[StageState]) -> list[str]:
    """Return the commands that bring the workspace further, the first one first."""
    records = next((source for source in SOURCES if source in loaded), None)
    wanted = (records or "mimic", *(() if loaded & set(RELEASE_SOURCES) else ("umls",)))
    if missing := [f"ontoground load {source} DIR" for source in wanted if source not in loaded]:
        return missing
    if not has_rows(connection, "ehr.discharge_note"):
        first = [] if stages[0].state == "current" else [VERBS["graph"]]
        return [*first, f"ontoground load {records} DIR   (with {NOTES[records or '']}: statements need notes)"]
    unfinished = dict.fromkeys(VERBS[stage.name] for stage in stages if stage.state != "current")
    return list(unfinished) or ["ontoground validate DATASET_DIR", "ontoground sql"]


def _here(workspace: Workspace, command: str) -> str:
    """Return a suggested command for this workspace: with its folder, and the dataset's where it names one."""
    verb, gap, remark = command.partition("   ")
    verb = verb.replace("DATASET_DIR", shlex.quote(str(workspace.dataset("medieval"))))
    return f"{verb} --workspace {shlex.quote(str(workspace.root))}{gap}{remark}"


def lacking_codes(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """Return, in a sentence, of which kinds the loaded records have no code; nothing where they have all kinds."""
    absent = [words for view, words in CODES.items() if not has_rows(connection, view)]
    told = "notes alone tell which a patient has, and no code confirms or contradicts them"
    return [f"the records list no {' or '.join(absent)}: {told}"] if absent else []


def dataset_files(folder: Path) -> list[Path]:
    """Return the Parquet shards of a dataset folder, sorted."""
    return sorted((folder / "data").glob("*.parquet"))


def row_files(workspace: Workspace, name: str) -> list[Path]:
    """Return the Parquet shards of a dataset, or of a configuration of one, as ``medieval_contradicted``."""
    dataset, _, configuration = name.partition("_")
    folder = workspace.dataset(dataset)
    return sorted((folder / configuration).glob("*.parquet")) if configuration else dataset_files(folder)


def dataset_counts(folder: Path) -> dict[str, Any]:
    """Return name, folder, rows of each split, and bytes of a built dataset."""
    splits = Counter(train=0, validation=0, test=0)
    files = dataset_files(folder)
    with open_database() as connection:
        for file in files:
            splits[file.name.split("-")[0]] += parquet_rows(connection, file)
    size = sum(file.stat().st_size for file in files)
    return {"name": folder.name, "folder": str(folder), "splits": splits, "rows": splits.total(), "bytes": size}


def few_patients(folder: Path) -> str:
    """Say that a MediEval dataset tests on few patients (below `ENOUGH`), and what to do; else nothing."""
    files = dataset_files(folder)
    with open_database() as connection:
        read = f"read_parquet({quoted_files(files)}, union_by_name = true)"
        if not files or not {"subject_id", "fold", "split"} <= set(connection.sql(f"select * from {read}").columns):
            return ""
        patients, tested, folds = connection.execute(
            "select count(distinct subject_id), count(distinct subject_id) filter (where split = 'test'),"
            f" count(distinct fold) from {read}"
        ).fetchall()[0]
    if tested >= ENOUGH:
        return ""
    do = f"its {folds} folds test all of them: `ontoground train classifier --folds`"
    said = f"few patients: {tested:,} of {patients:,} are in test, and figures of fewer than {ENOUGH} say little; "
    return said + (do if folds > 2 else "build it with more patients, or with other build.folds")


def summary_of(connection: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    """Return the figures of a workspace in which every stage has run; see docs/schemas/run.json."""
    tables = _row_counts(connection)
    rows = {table["table"]: table["rows"] for table in tables}
    dropped = "select stage, reason, sum(n)::bigint as n from ground.drop group by 1, 2 order by 1, 2"
    return {
        "loaded": [table for table in tables if table["table"].startswith(LOADED)],
        "concepts": rows["kg.concept"],
        "edges": len(connection.sql("select distinct head_cui, predicate, tail_cui from kg.edge")),
        "mapped": mapped_shares(connection),
        "mentions": rows.get("ground.mention", 0),
        "quadrants": quadrant_table(connection) if "ground.medieval" in rows else [],
        "dropped": records(connection.execute(dropped)),
    }


def edge_table(connection: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """Return edges of each predicate, the most frequent first, with the vocabularies that state them."""
    return records(run_sql(connection, "ontoground/edges"))


def mapped_shares(connection: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """Return the share of each source table's rows that have a concept."""
    rows = run_sql(connection, "ontoground/queries/coverage_by_volume").fetchall()
    return [
        {"table": table, "rows": total, "mapped_rows": mapped, "share": round(mapped / total, 4) if total else None}
        for table, total, mapped, *_ in rows
    ]


def quadrant_table(connection: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """Return statements of each predicate by quadrant, the most frequent predicate first."""
    rows = run_sql(connection, "ontoground/queries/quadrants_by_predicate").fetchall()
    return [dict(zip(("predicate", "Q1", "Q2", "Q3", "Q4"), row, strict=False)) for row in rows]
