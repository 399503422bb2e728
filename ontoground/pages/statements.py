"""Statements: the rows of the built datasets by their columns, and all that is known of one row."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import duckdb
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ground.errors import InputError
from ground.storage.warehouse import run_sql, set_variables
from ontoground.flow.session import records
from ontoground.pages.explorer import explorer_of, page_of, whole_number
from ontoground.pages.pictures import path_picture
from ontoground.views.concepts import Phrases
from ontoground.views.row import MEDIEVAL, TOGETHER, built_datasets, changed, row_with_group, surrounded
from ontoground.views.sample import checks_of_false, reasons

__all__ = ["ROUTES"]

ROWS = "ontoground/pages/rows"
AT_ONCE = 50
FACETS = {
    "medieval": ["quadrant", "predicate", "tier", "hops", "support_level", "split"],
    "medieval_contradicted": ["quadrant", "predicate", "tier", "hops", "support_level", "denied", "split"],
    "medieval_contraindicated": ["quadrant", "tier", "hops", "support_level", "split"],
    "medhal": ["label", "source", "task", "wording", "synthetic", "split"],
    "medval": ["risk_level", "variant", "task", "source", "engine", "split"],
}
"""Columns by which the rows of each dataset are chosen; `denied` is one of contradicted rows alone."""


def statements(request: Request) -> Response:
    """Show the rows of a dataset that have the chosen values."""
    explorer, asked_for = explorer_of(request), request.query_params
    there = built_datasets(explorer.workspace)
    name = asked_for.get("dataset") or (there or ["medieval"])[0]
    if name not in there:
        wanted = name if name in TOGETHER else "medieval"
        raise InputError("this dataset is not built", do=f"ontoground build {wanted.partition('_')[0]}")
    with explorer.asking_datasets() as connection:
        facets = _facets(connection, name)
        chosen = {facet: asked_for.get(facet) or None for facet in (*facets, "words")}
        first = whole_number("first", asked_for.get("first") or "0")
        rows = _rows(connection, name, chosen, first)
    total = rows[0]["n_chosen"] if rows else 0
    kept = {"dataset": name, **{facet: value for facet, value in chosen.items() if value}}
    before = f"?{urlencode({**kept, 'first': max(first - AT_ONCE, 0)})}" if first else ""
    after = f"?{urlencode({**kept, 'first': first + AT_ONCE})}" if first + len(rows) < total else ""
    values = {"name": name, "built": there, "facets": facets, "chosen": chosen, "rows": rows}
    return page_of(request, "statements.html", total=total, first=first, before=before, after=after, **values)


def _facets(connection: duckdb.DuckDBPyConnection, name: str) -> dict[str, list[dict[str, Any]]]:
    facets: dict[str, list[dict[str, Any]]] = {}
    set_variables(connection, {"dataset": name, "facets": FACETS[name]})
    for facet in records(run_sql(connection, "ontoground/pages/facets")):
        facets.setdefault(facet["facet"], []).append(facet)
    return facets


def _rows(
    connection: duckdb.DuckDBPyConnection, name: str, chosen: dict[str, str | None], first: int
) -> list[dict[str, Any]]:
    set_variables(connection, {"dataset": name, **chosen, "first_row": first})
    rows = records(run_sql(connection, f"{ROWS}/{name.partition('_')[0]}"))
    left_out = {"denied"} - set(FACETS[name])
    return [{column: value for column, value in row.items() if column not in left_out} for row in rows]


def statement(request: Request) -> Response:
    """Show one row: its path in words, its mentions in the note, what was replaced, and why it is what it is."""
    explorer, name = explorer_of(request), str(request.path_params["dataset"])
    identifier = explorer.value(str(request.path_params["key"]))
    if name not in built_datasets(explorer.workspace):
        raise HTTPException(404, "this dataset is not built")
    with explorer.asking_datasets() as connection:
        row, group = row_with_group(connection, name, identifier)
    if row is None:
        raise HTTPException(404, "this row is no longer there: the dataset was built again")
    return SHOW[name](request, row, group)


def _medieval(request: Request, row: dict[str, Any], group: list[dict[str, Any]]) -> Response:
    explorer = explorer_of(request)
    phrases = Phrases.of_row(explorer.graph, row)
    spans, missing = surrounded(row, explorer.asking)
    picture = path_picture(row["path"], phrases.name) if row["path"] else None
    values = {"row": row, "group": group, "spans": spans, "missing": missing, "picture": picture}
    values["dataset"] = request.path_params["dataset"]
    supporting = {"support_spans": spans[: len(row["support_spans"])]}
    why = [*reasons({**row, **supporting}, phrases), *checks_of_false(row, phrases)]
    return page_of(request, "medieval_row.html", reasons=why, **values)


def _medhal(request: Request, row: dict[str, Any], group: list[dict[str, Any]]) -> Response:
    return page_of(request, "medhal_row.html", row=row, group=group)


def _medval(request: Request, row: dict[str, Any], group: list[dict[str, Any]]) -> Response:
    clean = next((member["output"] for member in group if member["variant"] == "clean"), row["output"])
    return page_of(request, "medval_row.html", row=row, group=group, parts=changed(clean, row["output"]))


SHOW = {**dict.fromkeys(MEDIEVAL, _medieval), "medhal": _medhal, "medval": _medval}

ROUTES = [Route("/statements", statements), Route("/statement/{dataset}/{key}", statement)]
