"""The contract of a source: views in the schema ``ehr`` over its tables, which the rest of the flow reads.

A view is a select in ``sql/ehr/sources/SOURCE``, over the source's documented tables by their bare names, or the
documented table of its own name. What a release lacks, a table or a column of one, is there for it without a row or a
value; what the select lacks is null.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import duckdb

from ehr.sources.tables import DATA, SOURCES, Table, documented, schemas
from ground.flow.fingerprints import fingerprint, is_current, mark_done
from ground.storage.sqlfiles import quoted_list, quoted_name, sql_names, sql_text
from ground.storage.tables import read_table
from ground.storage.warehouse import run_sql, table_exists, transaction

__all__ = ["loaded_source", "make_views"]

AREA = "ehr/sources"
STAGE = "ehr.views"


def loaded_source(connection: duckdb.DuckDBPyConnection) -> str | None:
    """Return the source whose tables the warehouse holds, or None where no records are loaded."""
    return next((source for source in SOURCES if _stored(connection, source)), None)


def make_views(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the views of the contract for the source that is loaded, where they are not there or not of this version.

    Where no records are loaded they have no rows.
    """
    source = loaded_source(connection)
    bodies = _bodies(source, _stored(connection, source) if source else {})
    name = f"{AREA}/{source}/macros"
    macros = sql_text(name) if name in sql_names(AREA) else ""
    expected = fingerprint(bodies | {"kinds": sql_text(f"{AREA}/kinds"), "macros": macros})
    if is_current(connection, STAGE, expected) and table_exists(connection, "ehr.radiology_note"):
        return
    with transaction(connection):
        if macros:
            connection.execute(macros)
        for view, body in bodies.items():
            connection.execute(f"create or replace view ehr.{view} as {body}")
        run_sql(connection, f"{AREA}/kinds")
        mark_done(connection, STAGE, expected)


def _stored(connection: duckdb.DuckDBPyConnection, source: str) -> dict[str, set[str]]:
    """Return the columns of the tables of a source that the warehouse holds, by ``schema.table``."""
    rows = connection.execute(
        "select schema_name || '.' || table_name, list(column_name) from duckdb_columns() where not internal "
        f"and database_name = current_database() and list_contains({quoted_list(schemas(source))}, schema_name) "
        "group by all"
    ).fetchall()
    return {table: set(columns) for table, columns in rows}


def _bodies(source: str | None, stored: Mapping[str, set[str]]) -> dict[str, str]:
    """Return the select of each view of the contract, with the types that it states."""
    columns: dict[str, dict[str, str]] = {}
    for row in read_table(DATA / "contract.tsv", ("view", "column", "type")):
        columns.setdefault(row["view"], {})[row["column"]] = row["type"]
    written = sql_names(f"{AREA}/{source}") if source else []
    tables = {table.name: table for table in documented(source)} if source else {}
    bodies = {}
    for view, types in columns.items():
        typed = ", ".join(f"{name}::{kind} as {name}" for name, kind in types.items())
        body = f"select {', '.join(f'null::{kind} as {name}' for name, kind in types.items())} where false"
        if (name := f"{AREA}/{source}/{view}") in written or view in tables:
            select = sql_text(name) if name in written else f"select * from {view}"
            named = [table for table in tables.values() if re.search(rf"\b(?:from|join) {table.name}\b", select)]
            parts = ", ".join(
                f"{table.name} as ({_whole(table, stored.get(table.qualified, set()))})" for table in named
            )
            body = f"with {parts} select {typed} from ({body} union all by name\n(\n{select}\n)) as written"
        bodies[view] = body
    return bodies


def _whole(table: Table, stored: set[str]) -> str:
    """Return a select of all documented columns of a table, whichever of them the warehouse has."""
    columns = [
        quoted_name(name) if name in stored else f"null::{kind} as {quoted_name(name)}"
        for name, kind in table.types.items()
    ]
    return f"select {', '.join(columns)} {f'from {table.qualified}' if stored else 'where false'}"
