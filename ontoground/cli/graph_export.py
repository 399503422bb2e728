"""Write the graph, or a part of it, as KGX tables or as RDF."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ground.errors import UsageError
from ground.storage.files import private_directory, write_text
from ground.storage.workspace import Workspace
from ontoground.flow.session import reading
from ontoground.views.concepts import resolve

if TYPE_CHECKING:
    from kg.graph import ConceptGraph

__all__ = ["around", "export_graph"]

MOST_RDF_CONCEPTS = 200_000
KGX_FILES = frozenset({"nodes.tsv", "edges.tsv"})


def export_graph(
    workspace: Workspace, file_format: str, wanted: list[str], hops: int, output: Path | None
) -> dict[str, Any]:
    """Write the export and return its format, path and number of concepts (null: all of them).

    Raises:
        UsageError: RDF is asked for without a concept, or for more than fits in memory.
        InputError: a concept is not in the release.
    """
    from kg.export import to_kgx
    from kg.graph import ConceptGraph

    if file_format == "rdf" and not wanted:
        raise UsageError(
            "an RDF export needs concepts", expected="--cui CUI", do="for the whole graph use --format kgx"
        )
    folder = workspace.root / "exports"
    target = output or private_directory(folder) / ("graph.ttl" if file_format == "rdf" else "graph")
    graph = ConceptGraph.open(workspace.graph)
    with reading(workspace) as connection:
        chosen = around(graph, [resolve(connection, one) for one in wanted], hops) if wanted else None
        if file_format == "kgx":
            _refuse_foreign_folder(target)
            to_kgx(graph, target, chosen)
        else:
            _write_rdf(graph, chosen or set(), target)
    return {"format": file_format, "output": str(target), "concepts": None if chosen is None else len(chosen)}


def _refuse_foreign_folder(target: Path) -> None:
    """Raise where writing the export would replace something that is not an earlier export."""
    if target.is_file() or (target.is_dir() and not {path.name for path in target.iterdir()} <= KGX_FILES):
        raise UsageError(
            "the output holds something else", file=target, expected="a new folder, or one of an earlier KGX export"
        )


def _write_rdf(graph: ConceptGraph, chosen: set[str], target: Path) -> None:
    if len(chosen) > MOST_RDF_CONCEPTS:
        raise UsageError("this part of the graph is too large for RDF in memory", found=f"{len(chosen)} concepts")
    from kg.export import to_rdf

    write_text(target, to_rdf(graph, chosen).serialize(format="turtle"))


def around(graph: ConceptGraph, cuis: Iterable[str], hops: int) -> set[str]:
    """Return concepts with all that lie within some edges of them."""
    found = frontier = set(cuis)
    for _ in range(hops):
        frontier = {edge.tail for cui in sorted(frontier) for edge in graph.neighbours(cui)} - found
        found = found | frontier
    return found
