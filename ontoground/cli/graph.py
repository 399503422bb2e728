"""``ontoground graph build|show|relations|export``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ontoground.cli.app import group_of
from ontoground.cli.options import DEFAULT_WORKSPACE, Force, Json, Overrides, WorkspaceDir, example, open_workspace

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["group"]

NAMES_SHOWN = 12
TIERS = {
    "stated": "one edge says it",
    "equivalent": "one edge says it of the same drug under another name, or with a description",
    "inherited": "stated of the class",
    "plausible": "too weak to make a statement true; it keeps one from being called false",
}

group = group_of("graph", "Build the concept graph and look into it.")

Concept = Annotated[str, typer.Argument(metavar="CUI", help="A CUI, or an exact name in quotes")]


class ExportFormat(StrEnum):
    """What an export is written as."""

    kgx = "kgx"
    rdf = "rdf"


@group.command(
    short_help="Build the graph, and map codes to concepts.", epilog=example("ontoground graph build --workspace work")
)
def build(
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    overrides: Overrides = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Build the concept graph of the loaded release; map the codes of the records where MIMIC is loaded."""
    from ontoground.cli.render import emit, note
    from ontoground.flow.pipeline import run_stages
    from ontoground.flow.session import writing
    from ontoground.flow.stages import stage, state_of
    from ontoground.flow.summary import edge_table, mapped_shares

    opened = open_workspace(workspace, overrides)
    with writing(opened) as connection:
        mappable = state_of(connection, opened, stage("concepts")).state != "no input"
        names = ["graph", "concepts"] if mappable else ["graph"]
        outcomes = run_stages(opened, connection, names, force=force, say=note)
        edges, mapped = edge_table(connection), mapped_shares(connection) if mappable else []
    payload: dict[str, Any] = {
        "verb": "graph build",
        "workspace": str(workspace),
        "edges": edges,
        "mapped": mapped,
        "stages": [outcome.as_dict() for outcome in outcomes],
    }
    emit(payload, lambda out: _paint_build(out, payload), as_json=as_json)


def _paint_build(out: Console, payload: dict[str, Any]) -> None:
    from ontoground.cli.render import table
    from ontoground.flow.summary import paint_mapped

    columns = ("predicate", "edges", "vocabularies")
    out.print(table(columns, [[one[column] for column in columns] for one in payload["edges"]]))
    if payload["mapped"]:
        paint_mapped(out, payload["mapped"])


@group.command(
    short_help="Show a concept and its neighbours in words.",
    epilog=example("ontoground graph show C0020538", 'ontoground graph show "lisinopril" --limit 20'),
)
def show(
    concept: Concept,
    limit: Annotated[int, typer.Option(min=0, help="Neighbours of each predicate that are shown; 0 shows all")] = 8,
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    as_json: Json = False,
) -> None:
    """Show a concept: its names, semantic types, and neighbours by predicate in words."""
    from kg.graph import ConceptGraph
    from ontoground.cli.render import emit
    from ontoground.flow.session import reading
    from ontoground.views.concepts import card_of, resolve

    opened = open_workspace(workspace)
    with reading(opened) as connection:
        cui = resolve(connection, concept)
        card = card_of(connection, ConceptGraph.open(opened.graph), cui, limit)
    emit(
        {"verb": "graph show", "workspace": str(workspace), **card}, lambda out: _paint_card(out, card), as_json=as_json
    )


def _paint_card(out: Console, card: dict[str, Any]) -> None:
    from ontoground.cli.render import number, text

    out.print(text(f"{card['cui']}  {card['name']}", "bold"))
    out.print(f"types: {'; '.join(card['types'])} ({', '.join(card['groups'])})")
    others = [one["name"] for one in card["names"] if one["name"].lower() != card["name"].lower()]
    more = f" and {number(len(others) - NAMES_SHOWN)} more" if len(others) > NAMES_SHOWN else ""
    if others:
        out.print(f"also called: {'; '.join(others[:NAMES_SHOWN])}{more}")
    for one in card["neighbours"]:
        out.print(text(f"\n{one['words']} ({number(one['n'])})", "bold"))
        for other in one["concepts"]:
            out.print(f"  {other['cui']}  {other['name']}")
        if one["n"] > len(one["concepts"]):
            out.print(f"  and {number(one['n'] - len(one['concepts']))} more (--limit 0)")
    if not card["neighbours"]:
        out.print("no relation in the loaded release")


@group.command(
    short_help="List what relates two concepts, with evidence.",
    epilog=example(
        "ontoground graph relations C0065374 C0020538", 'ontoground graph relations "lisinopril" "hypertension"'
    ),
)
def relations(
    head: Concept,
    tail: Concept,
    max_hops: Annotated[int, typer.Option(min=1, max=3, help="Longest path")] = 3,
    paths: Annotated[int, typer.Option(min=0, help="Paths of each pattern that are shown; 0 shows all")] = 3,
    show_all: Annotated[bool, typer.Option("--all", help="Show plausible relations beside stronger ones too")] = False,
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    as_json: Json = False,
) -> None:
    """List what the graph says from the first concept to the second: sentence, path, tier and evidence.

    Tiers from strong to weak: stated, equivalent, inherited (true by default), plausible (never makes a statement
    true, but keeps it from being called false).
    """
    from kg.graph import ConceptGraph
    from ontoground.cli.render import emit
    from ontoground.flow.session import reading
    from ontoground.views.concepts import relations_between, resolve

    opened = open_workspace(workspace)
    with reading(opened) as connection:
        one, other = resolve(connection, head), resolve(connection, tail)
    graph = ConceptGraph.open(opened.graph)
    payload: dict[str, Any] = {
        "verb": "graph relations",
        "workspace": str(workspace),
        "head": {"cui": one, "name": graph.name(one)},
        "tail": {"cui": other, "name": graph.name(other)},
        "max_hops": max_hops,
        "relations": relations_between(graph, one, other, max_hops, paths),
    }
    emit(payload, lambda out: _paint_relations(out, payload, show_all), as_json=as_json)


def _paint_relations(out: Console, payload: dict[str, Any], show_all: bool) -> None:
    from ontoground.cli.render import text

    head, tail = payload["head"], payload["tail"]
    out.print(f"from {head['cui']} {head['name']} to {tail['cui']} {tail['name']}")
    if not payload["relations"]:
        out.print(
            f"no relation within {payload['max_hops']} hops; the other direction: relations {tail['cui']} {head['cui']}"
        )
    weak = [one for one in payload["relations"] if one["tier"] == "plausible"]
    hidden = 0 if show_all or len(weak) == len(payload["relations"]) else len(weak)
    for tier, meaning in TIERS.items():
        if hidden and tier == "plausible":
            continue
        ofthis = [one for one in payload["relations"] if one["tier"] == tier]
        if ofthis:
            out.print()
            out.print(text(f"{tier}: {meaning}", "bold"))
        for one in ofthis:
            _paint_relation(out, one)
    if hidden:
        out.print(f"\n{hidden} plausible relations are hidden, as stronger ones are there; --all shows them")


def _paint_relation(out: Console, one: dict[str, Any]) -> None:
    from ontoground.cli.render import indented

    out.print(indented(one["sentence"], 2))
    out.print(indented(f"by {one['pattern']}", 6))
    for edge in one["path"]:
        evidence = " ".join(part for part in (edge["sab"], edge["rela"], edge["rui"]) if part)
        out.print(indented(f"{edge['words']}  [{evidence}]", 6))


@group.command(
    short_help="Write the graph as KGX tables or RDF.",
    epilog=example("ontoground graph export --format kgx", "ontoground graph export --format rdf --cui lisinopril"),
)
def export(
    file_format: Annotated[
        ExportFormat, typer.Option("--format", help="kgx: node and edge tables; rdf: Turtle (SKOS)")
    ] = ExportFormat.kgx,
    cui: Annotated[list[str] | None, typer.Option("--cui", metavar="CUI", help="A concept (may be repeated)")] = None,
    hops: Annotated[int, typer.Option(min=0, max=3, help="Also what lies so many edges around each --cui")] = 1,
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="PATH", help="Where it is written")] = None,
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    as_json: Json = False,
) -> None:
    """Write the graph, or the part around some concepts, for other tools.

    The whole graph is written as KGX only: an RDF graph is made in memory and needs --cui.
    """
    from ontoground.cli.graph_export import export_graph
    from ontoground.cli.render import emit

    opened = open_workspace(workspace)
    payload = {
        "verb": "graph export",
        "workspace": str(workspace),
        **export_graph(opened, file_format.value, cui or [], hops, output),
    }
    said = f"wrote {payload['output']}: {payload['concepts'] or 'all'} concepts as {payload['format']}"
    emit(payload, lambda out: out.print(said), as_json=as_json)
