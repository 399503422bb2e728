"""Check a built dataset against its warehouse, and the warehouse against its own rules (``sql/ontoground/checks``)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb

from ground.errors import InputError
from ground.storage.sqlfiles import sql_names, sql_text, sql_title
from ground.storage.workspace import Workspace
from ontoground.flow.session import reading

__all__ = ["validated", "warehouse_checks"]

AREA = "ontoground/checks"


def validated(workspace: Workspace, dataset: Path) -> dict[str, Any]:
    """Return rows checked, label disagreements, and the warehouse checks with their offending rows.

    Raises:
        InputError: the folder is no dataset.
    """
    from builders.validate import validate_medieval

    if not dataset.is_dir():
        raise InputError("there is no such folder", file=dataset, expected="a folder that `ontoground build` wrote")
    if (name := _dataset_of(dataset)) not in (None, "medieval"):
        raise InputError(
            "only MediEval rows can be validated",
            file=dataset,
            found=f"a dataset of {name}",
            expected="a folder that `ontoground build medieval` wrote",
        )
    with reading(workspace) as connection:
        report = validate_medieval(workspace, connection, dataset).as_dict()
        checks = warehouse_checks(connection)
    return {**report, "checks": checks, "agrees": not report["disagreements"] and not any(c["rows"] for c in checks)}


def _dataset_of(folder: Path) -> str | None:
    """Return the dataset that a manifest names; None where it names none."""
    try:
        return str(json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["dataset"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def warehouse_checks(connection: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """Run every check whose tables are there; each returns offending rows, and none is success."""
    results = []
    for name in sql_names(AREA):
        rows = _offending(connection, sql_text(name))
        if rows is not None:
            results.append({"check": name.removeprefix(f"{AREA}/"), "title": sql_title(name), "rows": rows})
    return results


def _offending(connection: duckdb.DuckDBPyConnection, text: str) -> int | None:
    body = text.strip().rstrip(";")
    try:
        row = connection.execute(f"select count(*) from (\n{body}\n)").fetchone()
    except duckdb.CatalogException:
        # The table belongs to a stage that this workspace has not run.
        return None
    return int(row[0]) if row else 0
