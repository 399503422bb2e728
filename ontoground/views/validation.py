"""Whether a built dataset agrees with its warehouse, and that with its own rules (``sql/ontoground/checks``)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb

from ground.flow.manifest import releases
from ground.storage.sqlfiles import sql_names, sql_text, sql_title
from ground.storage.warehouse import set_variables
from ground.storage.workspace import Workspace
from ontoground.flow.session import reading
from stewardship.second_road.validation import validate_medieval

__all__ = ["validated"]

AREA = "ontoground/checks"
OF_NOTES = tuple(f"{AREA}/{check}" for check in ("mention_section", "mention_text", "section_tiling"))
"""Checks of what each note holds, for some notes at a time: a release's texts may be more than DuckDB may hold."""

NOTES_AT_ONCE = 20_000


def validated(workspace: Workspace, dataset: Path) -> dict[str, Any]:
    """Return rows checked, label disagreements, the warehouse checks with their offending rows, and the releases.

    Raises:
        InputError: the folder is no dataset of MediEval.
    """
    with reading(workspace) as connection:
        report = validate_medieval(workspace, connection, dataset).as_dict()
        notes = _parts_of_notes(connection)
        loaded = dict[str, list[str]]()
        for source, release in releases(connection):
            loaded.setdefault(source, []).append(release)
        counted = {name: _offending(connection, name, notes if name in OF_NOTES else [{}]) for name in sql_names(AREA)}
    checks = [
        {"check": name.removeprefix(f"{AREA}/"), "title": sql_title(name), "rows": rows}
        for name, rows in counted.items()
        if rows is not None
    ]
    return {
        **report,
        "checks": checks,
        "releases": loaded,
        "agrees": not report["disagreements"] and not any(counted.values()),
    }


def _parts_of_notes(connection: duckdb.DuckDBPyConnection) -> list[dict[str, str]]:
    """Return where each part of all notes begins, and the next one; the first and the last leave nothing out."""
    try:
        begins = connection.execute(
            "select min(note_id) from (select note_id, row_number() over (order by note_id) - 1 as n "
            f"from ehr.discharge_note) group by n // {NOTES_AT_ONCE} order by 1 offset 1"
        ).fetchall()
    except duckdb.CatalogException:
        begins = []
    bounds = ["", *(note_id for (note_id,) in begins), chr(sys.maxunicode)]
    return [{"first_note": first, "next_note": following} for first, following in pairwise(bounds)]


def _offending(connection: duckdb.DuckDBPyConnection, name: str, parts: Sequence[dict[str, str]]) -> int | None:
    """Return how many rows offend a rule; None where the table belongs to a stage that this workspace has not run."""
    rows = 0
    try:
        for part in parts:
            set_variables(connection, part)
            rows += len(connection.sql(sql_text(name)))
    except duckdb.CatalogException:
        return None
    return rows
