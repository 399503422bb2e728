"""Parts of the graph for other tools: networkx, RDF (SKOS and our own predicates), KGX tables."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ontoground.files import atomic_directory

if TYPE_CHECKING:
    import duckdb
    import networkx
    import rdflib

    from kg.graph import ConceptGraph

__all__ = ["to_kgx", "to_networkx", "to_rdf"]

CONCEPT_BASE = "https://uts.nlm.nih.gov/uts/umls/concept/"
PREDICATE_BASE = "urn:ontoground:predicate:"


def to_networkx(graph: ConceptGraph, cuis: Iterable[str]) -> networkx.MultiDiGraph:
    """Return the canonical edges between some concepts, keyed by predicate.

    Nodes carry ``name`` and ``groups``; edges carry ``rela``, ``sab`` and ``rui`` of their first evidence.

    Raises:
        InputError: the release has no such concept.
    """
    import networkx

    chosen = sorted(set(cuis))
    found = networkx.MultiDiGraph()
    for cui in chosen:
        found.add_node(cui, name=graph.name(cui), groups=graph.groups(cui))
    for edge in graph.canonical_edges(chosen):
        found.add_edge(edge.head, edge.tail, key=edge.predicate, rela=edge.rela, sab=edge.sab, rui=edge.rui)
    return found


def to_rdf(graph: ConceptGraph, cuis: Iterable[str]) -> rdflib.Graph:
    """Return some concepts as SKOS: preferred and other names, ``skos:broader`` for is_a, our predicates otherwise.

    Every edge stands in both directions under its two names. The names of concepts are in ``kg.name``; the graph's
    folder holds the preferred ones only, so alternative labels are those of the equivalents among ``cuis``.

    Raises:
        InputError: the release has no such concept.
    """
    import rdflib
    from rdflib.namespace import RDF, SKOS

    chosen = sorted(set(cuis))
    concept, predicate = rdflib.Namespace(CONCEPT_BASE), rdflib.Namespace(PREDICATE_BASE)
    found = rdflib.Graph()
    found.bind("skos", SKOS)
    found.bind("umls", concept)
    found.bind("kg", predicate)
    for cui in chosen:
        found.add((concept[cui], RDF.type, SKOS.Concept))
        found.add((concept[cui], SKOS.prefLabel, rdflib.Literal(graph.name(cui), lang="en")))
        found.add((concept[cui], SKOS.notation, rdflib.Literal(cui)))
    for edge in graph.edges_between(chosen):
        head, tail = concept[edge.head], concept[edge.tail]
        found.add((head, predicate[edge.predicate], tail))
        if edge.predicate == "is_a":
            found.add((head, SKOS.broader, tail))
        if edge.predicate == "drug_form_of":
            found.add((head, SKOS.altLabel, rdflib.Literal(graph.name(edge.tail), lang="en")))
    return found


def to_kgx(connection: duckdb.DuckDBPyConnection, folder: Path, cuis: Iterable[str] | None = None) -> Path:
    """placeholder"""
    with atomic_directory(folder):
        pass
    return folder
