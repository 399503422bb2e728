"""``ontoground sql [NAME | -c QUERY]``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer import Argument, Option

from ground.errors import UsageError
from ground.markdown import harmless
from ontoground.cli.app import VERBS, app
from ontoground.cli.options import WRITTEN, InWorkspace, Result, verb
from ontoground.cli.render import Blocks, listing, note, table, unfolded

__all__ = ["sql"]


@verb(
    app,
    VERBS["sql"],
    "ontoground sql",
    "ontoground sql coverage_by_volume",
    "ontoground sql unmapped_codes source=diagnoses_icd --format markdown",
    "ontoground sql unmapped_codes --show-sql",
    'ontoground sql -c "select count(*) from kg.edge" --format csv',
)
def sql(
    context: typer.Context,
    options: InWorkspace,
    name: Annotated[str | None, Argument(metavar="[NAME]", help="A named query; without it, all are listed")] = None,
    filters: Annotated[
        list[str] | None, Argument(metavar="[COLUMN=VALUE]...", help="Only rows with these values")
    ] = None,
    *,
    command: Annotated[str | None, Option("--command", "-c", metavar="QUERY", help="A select of your own")] = None,
    show_sql: Annotated[bool, Option("--show-sql", help="Print the SQL and run nothing")] = False,
    file_format: Annotated[
        Literal["table", "markdown", "csv", "parquet", "json"], Option("--format", help="How rows are written")
    ] = "table",
    output: Annotated[
        Path | None, Option("--output", "-o", metavar="FILE", help="Write the rows there"), WRITTEN
    ] = None,
    limit: Annotated[
        int, Option(min=0, max=2**31 - 1, help="Rows of a table or of --json that are shown; 0 shows all")
    ] = 100,
    timeout: Annotated[
        float | None, Option(min=0.1, max=1e6, metavar="SECONDS", help="Stop the query after so long")
    ] = None,
) -> Result:
    """Ask the warehouse and the datasets: read-only, with no access to other files or the network.

    Tables of the warehouse are named by schema (mimiciv_hosp.diagnoses_icd, umls.mrconso, kg.edge, ground.mention);
    the rows of a built dataset are the view `medieval`. `-c "show all tables"` lists the tables with their columns;
    `show tables` knows the views alone.
    """
    if name is None and command is None:
        from ontoground.views.named import named_queries

        queries = [{"name": query, "title": title} for query, title in named_queries()]
        listed = listing(queries, "name: query, title: what it answers")
        return Result({"verb": "sql", "queries": queries}, lambda _: [listed])
    from ontoground.views.query import exploring, fetch, query_text, values_of, write_rows

    text = query_text(name, command, filters or ())
    if show_sql:
        return Result({"verb": "sql", "query": name, "sql": text}, lambda _: [unfolded(text)])
    opened = options.open()
    if context.params["as_json"] and (file_format != "table" or output is not None):
        raise UsageError("--json prints the rows itself", expected="--json alone, or --format and --output")
    if file_format in ("table", "markdown") and output is not None:
        raise UsageError(
            "a table can only be shown on the screen", expected="--format csv, parquet or json with --output"
        )
    if file_format == "parquet" and output is None and sys.stdout.isatty():
        raise UsageError("a terminal cannot show Parquet", expected="--output FILE, or a pipe")
    if file_format not in ("table", "markdown"):
        write_rows(opened, text, file_format, output, timeout)
        if output is not None:
            note(f"wrote {output}")
        return Result({}, lambda _: [])
    with exploring(opened, seconds=timeout) as connection:
        answer = fetch(connection, text, limit)
        for line in () if answer.rows else values_of(connection, name, command, filters or ()):
            note(line)
    blocks = _blocks if file_format == "table" else _markdown
    return options.result("sql", blocks, query=name, columns=answer.columns, rows=answer.rows, truncated=answer.more)


SHOW_ALL = ["database", "schema", "name", "column_names", "column_types", "temporary"]
"""The columns of `show all tables`, more than a terminal is wide: a person is shown names alone."""


def _blocks(payload: dict[str, Any]) -> Blocks:
    columns, rows = payload["columns"], payload["rows"]
    if columns == SHOW_ALL:
        columns = ["table", "columns"]
        rows = [(row[2] if row[5] else f"{row[1]}.{row[2]}", ", ".join(row[3])) for row in rows]
    yield table(columns, rows)
    if payload["truncated"]:
        yield f"the first {len(rows)} rows; --limit 0 shows all, --format csv writes all"
    if not rows:
        yield "no rows"


def _markdown(payload: dict[str, Any]) -> Blocks:
    for row in (payload["columns"], ["---"] * len(payload["columns"]), *payload["rows"]):
        cells = (" ".join(str("" if cell is None else cell).split()).replace("|", "\\|") for cell in row)
        yield unfolded(harmless(f"| {' | '.join(cells)} |"))
    if payload["truncated"]:
        note(f"the first {len(payload['rows'])} rows; --limit 0 shows all")
