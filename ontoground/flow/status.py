"""What a workspace holds: loaded releases, tables and rows, stages built or stale, datasets, and what to do next."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Any

import duckdb

from ground.storage.warehouse import run_sql
from ground.storage.workspace import Workspace
from ontoground.flow.stages import STAGES, StageState, state_of

__all__ = ["dataset_counts", "dataset_files", "next_steps", "row_counts", "status_of"]

SOURCES = ("mimic", "umls", "rxnorm")
BOOKKEEPING = ("load", "load_origin", "reject", "drop", "stage")


def status_of(workspace: Workspace, connection: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    """Return the state of a workspace; see docs/schemas/status.json."""
    loads = _loads(connection)
    stages = [state_of(connection, workspace, one) for one in STAGES]
    tables = row_counts(connection)
    has_notes = any(one["table"] == "mimiciv_note.discharge" for one in tables)
    commands = next_steps(loads, stages, has_notes=has_notes)
    return {
        "loads": loads,
        "stages": [asdict(one) for one in stages],
        "tables": tables,
        "datasets": _datasets(workspace),
        "rejected_rows": sum(load["rows_rejected"] for load in loads),
        "warehouse_bytes": workspace.warehouse.stat().st_size,
        "next": [_here(workspace, command) for command in commands],
    }


def _here(workspace: Workspace, command: str) -> str:
    """Return a suggested command for this workspace: with its folder, and the dataset's where it names one."""
    verb, gap, remark = command.partition("   ")
    verb = verb.replace("DATASET_DIR", shlex.quote(str(workspace.dataset("medieval"))))
    return f"{verb} --workspace {shlex.quote(str(workspace.root))}{gap}{remark}"


def _loads(connection: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    names = ("source", "release", "files", "rows_read", "rows_rejected", "finished_at")
    return [dict(zip(names, row, strict=True)) for row in run_sql(connection, "ontoground/loads").fetchall()]


def row_counts(connection: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """Return each table of the warehouse with its number of rows, without the bookkeeping tables."""
    names = connection.execute(
        "select schema_name, table_name from duckdb_tables() where database_name = current_database()"
        " and not temporary order by 1, 2"
    ).fetchall()
    kept = [(schema, name) for schema, name in names if not (schema == "ground" and name in BOOKKEEPING)]
    return [{"table": f"{schema}.{name}", "rows": _count(connection, schema, name)} for schema, name in kept]


def _count(connection: duckdb.DuckDBPyConnection, schema: str, name: str) -> int:
    row = connection.execute(f'select count(*) from "{schema}"."{name}"').fetchone()
    return int(row[0]) if row else 0


def dataset_files(folder: Path) -> list[Path]:
    """Return the Parquet shards of a dataset folder, sorted."""
    return sorted((folder / "data").glob("*.parquet"))


def _datasets(workspace: Workspace) -> list[dict[str, Any]]:
    root = workspace.root / "datasets"
    folders = sorted(path for path in root.iterdir() if path.is_dir()) if root.is_dir() else []
    return [dataset_counts(folder) for folder in folders if dataset_files(folder)]


def dataset_counts(folder: Path) -> dict[str, Any]:
    """Return name, folder, rows of each split, and bytes of a built dataset."""
    import pyarrow.parquet as pq

    splits = {"train": 0, "validation": 0, "test": 0}
    files = dataset_files(folder)
    for file in files:
        split = file.name.split("-")[0]
        splits[split] = splits.get(split, 0) + pq.read_metadata(file).num_rows
    size = sum(file.stat().st_size for file in files)
    return {"name": folder.name, "folder": str(folder), "splits": splits, "rows": sum(splits.values()), "bytes": size}


def next_steps(loads: list[dict[str, Any]], stages: list[StageState], *, has_notes: bool) -> list[str]:
    """Return the commands that bring the workspace further, the first one first."""
    loaded = {load["source"] for load in loads}
    missing = [f"ontoground load {source} DIR" for source in ("mimic", "umls") if source not in loaded]
    if missing:
        return missing
    if not has_notes:
        first = [] if stages[0].state == "current" else ["ontoground graph build"]
        return [*first, "ontoground load mimic DIR   (with note/discharge: statements need notes)"]
    unfinished = [one.name for one in stages if one.state != "current"]
    verbs = {
        "graph": "ontoground graph build",
        "concepts": "ontoground graph build",
        "sections": "ontoground notes sections",
        "mentions": "ontoground notes mentions",
        "medieval": "ontoground build medieval",
    }
    if unfinished:
        return list(dict.fromkeys(verbs[name] for name in unfinished))
    return ["ontoground validate DATASET_DIR", "ontoground sql"]
