"""Whether a built dataset agrees with its warehouse, and that with its own rules (``sql/ontoground/checks``)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb

from builders.validate import validate_medieval
from ground.errors import InputError
from ground.flow.manifest import read_manifest
from ground.storage.sqlfiles import sql_names, sql_text, sql_title
from ground.storage.workspace import Workspace
from ontoground.flow.session import reading

__all__ = ["validated"]

AREA = "ontoground/checks"


def validated(workspace: Workspace, dataset: Path) -> dict[str, Any]:
    """Return rows checked, label disagreements, and the warehouse checks with their offending rows.

    Raises:
        InputError: the folder is no dataset.
    """
    if not dataset.is_dir():
        raise InputError("there is no such folder", file=dataset, expected="a folder that `ontoground build` wrote")
    if (name := read_manifest(dataset).get("dataset", "medieval")) != "medieval":
        raise InputError(
            "only MediEval rows can be validated",
            file=dataset,
            found=f"a dataset of {name}",
            expected="a folder that `ontoground build medieval` wrote",
        )
    with reading(workspace) as connection:
        report = validate_medieval(workspace, connection, dataset).as_dict()
        counted = {name: _offending(connection, name) for name in sql_names(AREA)}
    checks = [
        {"check": name.removeprefix(f"{AREA}/"), "title": sql_title(name), "rows": rows}
        for name, rows in counted.items()
        if rows is not None
    ]
    return {**report, "checks": checks, "agrees": not report["disagreements"] and not any(counted.values())}


def _offending(connection: duckdb.DuckDBPyConnection, name: str) -> int | None:
    """Return how many rows offend a rule; None where the table belongs to a stage that this workspace has not run."""
    try:
        return len(connection.sql(sql_text(name)))
    except duckdb.CatalogException:
        return None
