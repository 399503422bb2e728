"""``ontoground sql [NAME | -c QUERY]``."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ontoground.cli.app import app
from ontoground.cli.options import DEFAULT_WORKSPACE, Json, WorkspaceDir, example, open_workspace

if TYPE_CHECKING:
    from rich.console import Console

    from ontoground.views.query import Rows

__all__ = ["register"]

EXAMPLE = example(
    "ontoground sql",
    "ontoground sql coverage_by_volume",
    'ontoground sql -c "select count(*) from kg.edge" --format csv',
)


class Format(StrEnum):
    """How rows are written."""

    table = "table"
    csv = "csv"
    parquet = "parquet"
    json = "json"


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command(name="sql", short_help="Ask the warehouse and the datasets, read-only.", epilog=EXAMPLE)(_sql)


def _sql(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="A named query; without it, all are listed")
    ] = None,
    command: Annotated[
        str | None, typer.Option("--command", "-c", metavar="QUERY", help="A select of your own")
    ] = None,
    file_format: Annotated[Format, typer.Option("--format", help="How the rows are written")] = Format.table,
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the rows there")] = None,
    limit: Annotated[int, typer.Option(min=0, help="Rows of a table or of --json that are shown; 0 shows all")] = 100,
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    as_json: Json = False,
) -> None:
    """Ask the warehouse and the datasets: read-only, with no access to other files or the network.

    Tables of the warehouse are named by schema (mimiciv_hosp.diagnoses_icd, umls.mrconso, kg.edge, ground.mention);
    the rows of a built dataset are the view `medieval`.
    """
    if name is None and command is None:
        _list(as_json)
        return
    from ground.errors import UsageError
    from ontoground.cli.render import emit, note
    from ontoground.views.query import exploring, fetch, query_text, write_rows

    text = query_text(name, command)
    opened = open_workspace(workspace)
    if as_json and (file_format is not Format.table or output is not None):
        raise UsageError("--json prints the rows itself", expected="--json alone, or --format and --output")
    if file_format is Format.table and output is not None:
        raise UsageError("a table is for the screen", expected="--format csv, parquet or json with --output")
    if file_format is Format.parquet and output is None and sys.stdout.isatty():
        raise UsageError("Parquet is nothing for a terminal", expected="--output FILE, or a pipe")
    if file_format is not Format.table:
        write_rows(opened, text, file_format.value, output)
        if output is not None:
            note(f"wrote {output}")
        return
    with exploring(opened) as connection:
        rows = fetch(connection, text, limit)
    payload = {"verb": "sql", "workspace": str(workspace), "query": name, "columns": rows.columns}
    shown = {"rows": [list(row) for row in rows.rows], "truncated": rows.more}
    emit({**payload, **shown}, lambda out: _paint(out, rows), as_json=as_json)


def _list(as_json: bool) -> None:
    from ontoground.cli.render import emit, table
    from ontoground.views.query import named_queries

    queries = named_queries()
    payload = {"verb": "sql", "queries": [{"name": one, "title": title} for one, title in queries]}
    emit(payload, lambda out: out.print(table(("query", "what it answers"), queries)), as_json=as_json)


def _paint(out: Console, rows: Rows) -> None:
    from ontoground.cli.render import table

    cells = [[_cell(value) for value in row] for row in rows.rows]
    out.print(table(rows.columns, cells))
    if rows.more:
        out.print(f"\nthe first {len(rows.rows)} rows; --limit 0 shows all, --format csv writes all")
    if not rows.rows:
        out.print("no rows")


def _cell(value: object) -> str | int | float | bool | None:
    if isinstance(value, (list, tuple)):
        return "; ".join(str(one) for one in value)
    return value if isinstance(value, (str, int, float, bool)) or value is None else str(value)


register(app)
