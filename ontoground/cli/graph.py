"""``ontoground graph build|show|relations|export``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any, Literal

from typer import Argument, Option

from ground.errors import UsageError
from ontoground.cli.app import group_of
from ontoground.cli.options import WRITTEN, Configured, Force, InWorkspace, Result, verb
from ontoground.cli.render import Blocks, indented, listing, note, number, text, unfolded

__all__ = ["group"]

NAMES_SHOWN = 12
TIERS = {
    "stated": "one edge says it",
    "equivalent": "one edge says it of the same drug under another name, or with a description",
    "inherited": "stated of the class",
    "plausible": "too weak to make a statement true; it keeps one from being called false",
}

group = group_of("graph")

Concept = Annotated[str, Argument(metavar="CUI", help="A CUI, or an exact name in quotes")]


@verb(group, "Build the graph, and map codes to concepts.", "ontoground graph build --workspace work")
def build(options: Configured, force: Force = False) -> Result:
    """Build the concept graph of the loaded release, and map the codes of the records if MIMIC is loaded."""
    from ontoground.flow.pipeline import run_stages
    from ontoground.flow.session import writing
    from ontoground.flow.stages import stage, state_of
    from ontoground.flow.status import edge_table, mapped_shares

    opened = options.open()
    with writing(opened) as connection:
        mappable = state_of(connection, opened, stage("concepts")).state != "no input"
        names = ["graph", "concepts"] if mappable else ["graph"]
        outcomes = run_stages(opened, connection, names, force=force, say=note)
        edges, mapped = edge_table(connection), mapped_shares(connection) if mappable else []
    stages = [outcome.as_dict() for outcome in outcomes]
    return options.result("graph build", _built_blocks, edges=edges, mapped=mapped, stages=stages)


def _built_blocks(payload: dict[str, Any]) -> Blocks:
    from ontoground.cli.run import mapped_table

    yield listing(payload["edges"], "predicate, edges, vocabularies")
    if payload["mapped"]:
        yield mapped_table(payload["mapped"])


@verb(
    group,
    "Show a concept and its neighbours in words.",
    "ontoground graph show C0020538",
    'ontoground graph show "lisinopril" --limit 20',
)
def show(
    concept: Concept,
    options: InWorkspace,
    limit: Annotated[int, Option(min=0, max=2**31 - 1, help="Neighbours to show for each predicate; 0 shows all")] = 8,
) -> Result:
    """Show a concept: its names, semantic types, and neighbours by predicate in words."""
    from kg.graph import ConceptGraph
    from ontoground.flow.session import reading
    from ontoground.views.concepts import card_of, resolve

    opened = options.open()
    with reading(opened) as connection:
        cui = resolve(connection, concept)
        card = card_of(connection, ConceptGraph.open(opened.graph), cui, limit)
    return options.result("graph show", _card_blocks, **card)


def _card_blocks(card: dict[str, Any]) -> Blocks:
    yield text(f"{card['cui']}  {card['name']}", "bold")
    yield f"types: {'; '.join(card['types'])} ({', '.join(card['groups'])})"
    others = [name["name"] for name in card["names"] if name["name"].lower() != card["name"].lower()]
    more = f" and {number(len(others) - NAMES_SHOWN)} more" if len(others) > NAMES_SHOWN else ""
    if others:
        yield f"also called: {'; '.join(others[:NAMES_SHOWN])}{more}"
    for relation in card["neighbours"]:
        yield text(f"\n{relation['words']} ({relation['predicate']}, {number(relation['n'])})", "bold")
        yield from (f"  {other['cui']}  {other['name']}" for other in relation["concepts"])
        if relation["n"] > len(relation["concepts"]):
            yield f"  and {number(relation['n'] - len(relation['concepts']))} more (--limit 0)"
    if not card["neighbours"]:
        yield "no relation in the loaded release"


@verb(
    group,
    "List what relates two concepts, with evidence.",
    "ontoground graph relations C0065374 C0020538",
    'ontoground graph relations "lisinopril" "hypertension"',
)
def relations(
    head: Concept,
    tail: Concept,
    options: InWorkspace,
    max_hops: Annotated[int, Option(min=1, max=3, help="Longest path")] = 3,
    paths: Annotated[int, Option(min=0, help="Paths to show for each pattern; 0 shows all")] = 3,
    show_all: Annotated[bool, Option("--all", help="Show plausible relations beside stronger ones too")] = False,
) -> Result:
    """List what the graph says from the first concept to the second: sentence, path, tier and evidence.

    Tiers from strong to weak: stated, equivalent, inherited (true by default), plausible (never makes a statement
    true, but keeps it from being called false).
    """
    from kg.graph import ConceptGraph
    from ontoground.flow.session import reading
    from ontoground.views.concepts import relations_between, resolve

    opened = options.open()
    with reading(opened) as connection:
        ends = [resolve(connection, end) for end in (head, tail)]
    graph = ConceptGraph.open(opened.graph)
    first, second = ({"cui": cui, "name": graph.name(cui)} for cui in ends)
    return options.result(
        "graph relations",
        lambda payload: _relation_blocks(payload, show_all),
        head=first,
        tail=second,
        max_hops=max_hops,
        relations=relations_between(graph, ends[0], ends[1], max_hops, paths),
    )


def _relation_blocks(payload: dict[str, Any], show_all: bool) -> Blocks:
    from ontoground.views.concepts import evidence_of, strong

    head, tail, relations = payload["head"], payload["tail"], payload["relations"]
    yield f"from {head['cui']} {head['name']} to {tail['cui']} {tail['name']}"
    if not relations:
        other = f"relations {tail['cui']} {head['cui']}"
        yield f"no relation within {payload['max_hops']} hops; the other direction: {other}"
    listed = relations if show_all else strong(relations)
    for tier, meaning in TIERS.items():
        of_tier = [relation for relation in listed if relation["tier"] == tier]
        if of_tier:
            yield text(f"\n{tier}: {meaning}", "bold")
        for relation in of_tier:
            yield indented(relation["sentence"], 2)
            yield indented(f"by {relation['pattern']}", 6)
            yield from (indented(f"{edge['words']}  [{evidence_of(edge)}]", 6) for edge in relation["path"])
    if hidden := Counter(weak["predicate"].replace("_", " ") for weak in relations if weak not in listed):
        yield text(f"\n{hidden.total()} plausible relations more: --all shows them", "bold")
        yield indented(", ".join(f"{predicate} {n}" for predicate, n in hidden.most_common()), 2)


@verb(
    group,
    "Write the graph, or a part of it, for other tools.",
    "ontoground graph export --format kgx",
    "ontoground graph export --format rdf --cui lisinopril --predicate treats",
)
def export(
    options: InWorkspace,
    file_format: Annotated[
        Literal["kgx", "jsonl", "graphml", "rdf", "nquads"],
        Option("--format", help="kgx: node and edge tables; jsonl: KGX JSON Lines; rdf: SKOS as N-Triples"),
    ] = "kgx",
    cui: Annotated[list[str] | None, Option("--cui", metavar="CUI", help="A concept (may be repeated)")] = None,
    hops: Annotated[int, Option(min=0, max=3, help="Include concepts up to this many edges from each --cui")] = 1,
    predicate: Annotated[
        list[str] | None, Option("--predicate", metavar="NAME", help="Only edges of this predicate (may be repeated)")
    ] = None,
    output: Annotated[
        Path | None, Option("--output", "-o", metavar="PATH", help="Output folder or file"), WRITTEN
    ] = None,
) -> Result:
    """Write the graph, or the part around some concepts, for other tools, in a stream.

    Edges carry source, RELA, RUI and Biolink predicate; concepts their names, semantic types and Biolink category.
    """
    from ground.storage.files import private_directory
    from kg.export import FILES, part_of, write_graph
    from kg.graph import ConceptGraph
    from ontoground.flow.session import reading
    from ontoground.views.concepts import resolve, semantic_types

    opened = options.open()
    files = FILES[file_format]
    name = next(iter(files)) if len(files) == 1 else "graph" if file_format == "kgx" else f"graph_{file_format}"
    target = output or private_directory(opened.root / "exports") / name
    _refuse_what_is_no_export(target, files)
    graph = ConceptGraph.open(opened.graph)
    with reading(opened) as connection:
        chosen = [resolve(connection, name) for name in cui] if cui else None
        types = semantic_types(connection)
    part = part_of(graph, chosen, hops, predicate)
    write_graph(graph, target, file_format, part, types)
    n = None if part.nodes is None else len(part.nodes)
    message = f"wrote {target}: {'all' if n is None else n} concepts as {file_format}"
    return options.result(
        "graph export", lambda _: [unfolded(message)], format=file_format, output=str(target), concepts=n
    )


def _refuse_what_is_no_export(target: Path, files: Collection[str]) -> None:
    """Raise where writing the export would replace something that is not an earlier export."""
    if len(files) == 1:
        if target.is_dir():
            raise UsageError("the output is a folder", file=target, expected="a file")
    elif target.is_file() or (target.is_dir() and not {path.name for path in target.iterdir()} <= set(files)):
        raise UsageError(
            "the output folder holds something else",
            file=target,
            expected="a new folder, or one of an earlier export in this format",
        )
