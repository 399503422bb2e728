"""A concept: names, neighbours, ancestors, where notes speak of it. Of two concepts every path as a picture."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ground.errors import OntogroundError
from ground.storage.warehouse import table_exists
from kg.graph import ConceptGraph
from ontoground.flow.session import records, rows_about
from ontoground.pages.explorer import explorer_of, page_of, status_of
from ontoground.pages.pictures import path_picture
from ontoground.views.concepts import card_of, names_like, relations_between, resolve

__all__ = ["ROUTES"]

NEIGHBOURS = 24
LEVELS = 2
MAX_HOPS = 3
PATHS = 3
TIERS = ("stated", "equivalent", "inherited", "plausible")


def concept(request: Request) -> Response:
    """Show a concept that is given by CUI or exact name."""
    explorer, wanted = explorer_of(request), request.query_params.get("q", "").strip()
    if not wanted:
        return page_of(request, "concept.html", wanted="", card=None, error="", near=[])
    graph = explorer.graph
    with explorer.asking() as connection:
        try:
            cui = resolve(connection, wanted)
        except OntogroundError as error:
            near = names_like(connection, wanted)
            return page_of(request, "concept.html", 404, wanted=wanted, card=None, error=str(error), near=near)
        card = card_of(connection, graph, cui, NEIGHBOURS)
        parts = {"said": "ground.mention", "stated": "ground.medieval", "coded": "ground.admission_concept"}
        there = {
            name: records(rows_about(connection, f"ontoground/pages/concept_{name}", cui))
            for name, table in parts.items()
            if table_exists(connection, table)
        }
    above = graph.ancestors(cui, LEVELS)
    ancestors = [(steps, ancestor, graph.name(ancestor)) for ancestor, steps in above.items() if steps]
    values = {"card": card, "ancestors": sorted(ancestors), **{part: there.get(part, []) for part in parts}}
    return page_of(request, "concept.html", wanted=wanted, error="", near=[], **values)


def suggest(request: Request) -> Response:
    """Send names that begin with what is being typed."""
    wanted = request.query_params.get("q", "").strip()
    if len(wanted) < 2:
        return JSONResponse([])
    with explorer_of(request).asking() as connection:
        return JSONResponse([[cui, name] for cui, name in rows_about(connection, SUGGESTED, wanted).fetchall()])


SUGGESTED = "ontoground/concept_like_name"


def relation(request: Request) -> Response:
    """Show what the graph says from one concept to another, and back."""
    explorer = explorer_of(request)
    head, tail = (request.query_params.get(end, "").strip() for end in ("head", "tail"))
    if not (head and tail):
        return page_of(request, "relation.html", head=head, tail=tail, ways=[], error="")
    graph = explorer.graph
    try:
        with explorer.asking() as connection:
            first, second = (resolve(connection, end) for end in (head, tail))
    except OntogroundError as error:
        return page_of(request, "relation.html", status_of(error, 404), head=head, tail=tail, ways=[], error=str(error))
    ways = [
        {
            "from": {"cui": start, "name": graph.name(start)},
            "to": {"cui": finish, "name": graph.name(finish)},
            "tiers": _by_tier(relations_between(graph, start, finish, MAX_HOPS, PATHS), graph),
        }
        for start, finish in ((first, second), (second, first))
    ]
    return page_of(request, "relation.html", head=head, tail=tail, ways=ways, error="")


def _by_tier(relations: list[dict[str, Any]], graph: ConceptGraph) -> dict[str, list[dict[str, Any]]]:
    drawn = [{**relation, "picture": path_picture(relation["path"], graph.name)} for relation in relations]
    tiers = {tier: [relation for relation in drawn if relation["tier"] == tier] for tier in TIERS}
    return {tier: members for tier, members in tiers.items() if members}


ROUTES = [Route("/concept", concept), Route("/suggest", suggest), Route("/relation", relation)]
