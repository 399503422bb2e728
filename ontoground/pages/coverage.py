"""Coverage: the named queries as tables and pictures, each with its SQL, a download, and a box to ask it changed."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from typing import Any
from urllib.parse import quote, urlencode

import duckdb
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import Route

from ground.contracts.rows import QUADRANTS
from ground.errors import OntogroundError
from ground.storage.files import private_directory
from ground.storage.sqlfiles import sql_text
from ground.storage.warehouse import run_sql, set_variables, table_exists
from ontoground.cli.render import names_rows
from ontoground.flow.session import records, rows_about
from ontoground.flow.status import dataset_counts, dataset_files
from ontoground.pages.explorer import Explorer, explorer_of, form_of, page_of, status_of, whole_number
from ontoground.views.concepts import names_like, resolve
from ontoground.views.named import AREA, named_queries
from ontoground.views.query import Rows, copy_rows, fetch, query_text
from ontoground.views.row import built_datasets, row_with_group

__all__ = ["ROUTES"]

FIRST = (
    "unmapped_codes",
    "unmapped_by_reason",
    "coverage_by_vocabulary",
    "coverage_by_admission",
    "coverage_by_source",
    "coverage_by_volume",
    "relations_by_vocabulary",
    "mentions_by_section",
    "quadrants_by_predicate",
    "dropped",
)
NUMBERS = {
    "notes": "ehr.note",
    "codes": "ground.code_map",
    "admissions": "ground.event",
    "mentions": "ground.mention",
}
"""Numbers of the first page, with the table without which there is none."""
COVERED = ("coverage_by_vocabulary", "unmapped_by_reason")
"""Queries whose rows are on the first page."""
MOST_ROWS = 200
AT_ONCE = 50
MOST_BARS = 15
MOST_CHOICES = 30
LETTERS = 70
FORMATS = ("csv", "parquet")


@dataclass(frozen=True)
class Bar:
    """One bar of a picture; ``length`` is its share of the longest one's, in percent."""

    label: str
    value: int | float
    length: float


def home(request: Request) -> Response:
    """Show what the workspace holds, and all named queries."""
    explorer = explorer_of(request)
    titles = dict(named_queries())
    ordered = [*FIRST, *(name for name in titles if name not in FIRST)]
    root = explorer.workspace.root / "datasets"
    folders = sorted(folder for folder in root.glob("*") if dataset_files(folder))
    held, tables, numbers, quadrants, covered = "", [], [], {}, {}
    try:
        with explorer.asking() as connection:
            numbers = _numbers(connection)
            if table_exists(connection, "ground.unmapped_code"):
                covered = {name: fetch(connection, query_text(name, None), AT_ONCE) for name in COVERED}
            if table_exists(connection, "ground.medieval"):
                counted = records(run_sql(connection, f"{AREA}/quadrants_by_predicate"))
                quadrants = {name: sum(row[name.lower()] for row in counted) for name in QUADRANTS}
            listed = records(run_sql(connection, "ontoground/pages/tables"))
            tables = [{**table, "n_rows": len(connection.table(table["name"]))} for table in listed]
    except OntogroundError as error:
        held = str(error)
    queries = [(name, titles[name]) for name in ordered]
    datasets = [dataset_counts(folder) for folder in folders]
    values = {"queries": queries, "tables": tables, "datasets": datasets, "numbers": numbers, "quadrants": quadrants}
    return page_of(request, "home.html", held=held, covered=covered, titles=titles, **values)


def _numbers(connection: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """Return what leads the first page: notes, codes with a concept and mentions, each with its unit and a detail."""
    there = {name: table_exists(connection, table) for name, table in NUMBERS.items()}
    numbers = {
        name: records(run_sql(connection, f"ontoground/pages/numbers/{name}"))[0]
        for name in NUMBERS
        if name != "codes" and there[name]
    }
    if there["codes"]:
        sources = records(run_sql(connection, f"{AREA}/coverage_by_source"))
        total, mapped = (sum(source[name] for source in sources) for name in ("codes", "mapped_codes"))
        share = round(100 * mapped / max(total, 1), 1)
        detail = f"of {total:,} distinct codes and drug names"
        numbers["codes"] = {"value": share, "unit": "% of codes mapped", "detail": detail}
    return [numbers[name] for name in NUMBERS if name in numbers]


async def find(request: Request) -> Response:
    """Go to what is asked for: a row by its id, an admission, a concept by CUI, name or code, or words of statements.

    It is sent in a form, as addresses are kept in histories.
    """
    return await run_in_threadpool(_to_page, request, (await form_of(request)).get("wanted", "").strip())


def _to_page(request: Request, wanted: str) -> Response:
    explorer = explorer_of(request)
    with explorer.asking_datasets() as connection:
        for name in built_datasets(explorer.workspace):
            if row_with_group(connection, name, wanted)[0] is not None:
                return RedirectResponse(f"/statement/{name}/{explorer.key(wanted)}", 303)
    with explorer.asking() as connection:
        if rows_about(connection, "ontoground/pages/admission", wanted).fetchone():
            return RedirectResponse(f"/note/{explorer.key(wanted)}", 303)
        with suppress(OntogroundError):
            return RedirectResponse(f"/concept?q={resolve(connection, wanted)}", 303)
        if coded := rows_about(connection, "ontoground/pages/code", wanted).fetchone():
            return RedirectResponse(f"/concept?q={coded[0]}", 303)
        near = names_like(connection, wanted)
    return RedirectResponse(f"/concept?q={quote(wanted)}" if near else f"/statements?words={quote(wanted)}", 303)


def query(request: Request) -> Response:
    """Show a named query's rows, as a picture and as a table: a page of those that have the chosen values."""
    name, asked_for = _known(request), request.query_params
    first = whole_number("first", asked_for.get("first") or "0")
    with explorer_of(request).asking() as connection:
        fetch(connection, f"create temp table asked as\n{query_text(name, None)}", 0)
        facets = _facets(connection)
        chosen = {facet: asked_for.get(facet, "") for facet in facets}
        filters = [f"{facet}={value}" for facet, value in chosen.items() if value]
        text = query_text(None, "select * from asked", filters)
        total = fetch(connection, f"select count(*) from (\n{text}\n)", 0).rows[0][0]
        rows = fetch(connection, f"{text} limit {AT_ONCE} offset {first}", 0)
    measures = _measures(rows)
    drawn = asked_for["by"] if asked_for.get("by") in measures else next(iter(measures), None)
    kept = {facet: value for facet, value in chosen.items() if value} | ({"by": drawn} if drawn else {})
    values: dict[str, Any] = {"facets": facets, "chosen": chosen, "rows": rows, "total": total, "first": first}
    values["before"] = f"?{urlencode({**kept, 'first': max(first - AT_ONCE, 0)})}" if first else ""
    values["after"] = f"?{urlencode({**kept, 'first': first + AT_ONCE})}" if first + len(rows.rows) < total else ""
    values["measures"] = {one: f"?{urlencode({**kept, 'by': one})}" for one in measures if one != drawn}
    values |= {"drawn": drawn, "bars": _bars(rows, drawn) if drawn else []}
    title, sql = dict(named_queries())[name], sql_text(f"{AREA}/{name}")
    return page_of(request, "query.html", name=name, title=title, sql=sql, **values)


def _facets(connection: duckdb.DuckDBPyConnection) -> dict[str, list[dict[str, Any]]]:
    """Return the values of each column of text that has a few, with how many rows have each."""
    answer = connection.table("asked")
    texts = [name for name, kind in zip(answer.columns, answer.types, strict=True) if kind == "VARCHAR"]
    set_variables(connection, {"dataset": "asked", "facets": texts})
    found: dict[str, list[dict[str, Any]]] = {}
    for one in records(run_sql(connection, "ontoground/pages/facets")) if texts else []:
        found.setdefault(one["facet"], []).append(one)
    return {name: ones for name in texts if 1 < len(ones := found.get(name, [])) <= MOST_CHOICES}


def _known(request: Request) -> str:
    name = str(request.path_params["name"])
    if name not in dict(named_queries()):
        raise HTTPException(404, "there is no query of this name")
    return name


def _is_number(rows: Rows, index: int) -> bool:
    values = [row[index] for row in rows.rows if row[index] is not None]
    return bool(values) and all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)


def _measures(rows: Rows) -> list[str]:
    """Return the columns that count or measure: a share first, else in their order."""
    numeric = [name for n, name in enumerate(rows.columns) if not names_rows(name) and _is_number(rows, n)]
    return sorted(numeric, key=lambda name: name != "share")


def _bars(rows: Rows, measure: str) -> list[Bar]:
    """Return a bar for each of the first rows, labelled by the cells before the first measure."""
    place = rows.columns.index(measure)
    first = min(rows.columns.index(measure) for measure in _measures(rows))
    named = rows.rows[:MOST_BARS]
    most = max((row[place] for row in named if row[place] is not None), default=0)
    if measure == "share":
        most = 1
    return [
        Bar(
            shorten(" · ".join(str(cell) for cell in row[: max(first, 1)] if cell), LETTERS, placeholder=" …"),
            row[place] or 0,
            round(100 * (row[place] or 0) / most, 2) if most > 0 else 0,
        )
        for row in named
    ]


def download(request: Request) -> Response:
    """Send all rows of a named query as a file."""
    name, file_format = _known(request), str(request.path_params["format"])
    if file_format not in FORMATS:
        raise HTTPException(404, "there is no such format")
    return _sent(explorer_of(request), query_text(name, None), file_format, name)


def _sent(explorer: Explorer, text: str, file_format: str, name: str) -> Response:
    folder = Path(tempfile.mkdtemp(dir=private_directory(explorer.workspace.root / "cache")))
    remove = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
    try:
        with explorer.asking(folder / name) as connection:
            copy_rows(connection, text, file_format, folder / name)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return FileResponse(folder / name, filename=f"{name}.{file_format}", background=remove)


async def box(request: Request) -> Response:
    """Show the box for a query of one's own, and its rows once it was sent."""
    form = await form_of(request) if request.method == "POST" else {}
    start = request.query_params.get("start", "")
    sql = form.get("sql") or (sql_text(f"{AREA}/{start}") if start in dict(named_queries()) else "")
    return await run_in_threadpool(_boxed, request, sql, form)


def _boxed(request: Request, sql: str, form: dict[str, str]) -> Response:
    if "sql" not in form:
        return page_of(request, "sql.html", sql=sql, rows=None, error="")
    try:
        text = query_text(None, sql)
        if (file_format := form.get("format")) in FORMATS:
            return _sent(explorer_of(request), text, str(file_format), "answer")
        with explorer_of(request).asking() as connection:
            rows = fetch(connection, text, MOST_ROWS)
    except OntogroundError as error:
        return page_of(request, "sql.html", status_of(error), sql=sql, rows=None, error=str(error))
    return page_of(request, "sql.html", sql=sql, rows=rows, error="")


ROUTES = [
    Route("/", home),
    Route("/find", find, methods=["POST"]),
    Route("/query/{name}", query),
    Route("/query/{name}/{format}", download),
    Route("/sql", box, methods=["GET", "POST"]),
]
