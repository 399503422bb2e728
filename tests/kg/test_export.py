"""Exports hold what the graph holds, and other tools read them."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from ground.errors import InputError
from kg.export import CONCEPT_BASE, PREDICATE_BASE, WHOLE, part_of, to_networkx, to_rdf, write_graph
from kg.graph import ConceptGraph
from tests.kg.graphs import Release, atom, rel

DRUG, CLASS, DISEASE, BROAD = "C0000001", "C0000003", "C0000004", "C0000005"
CONCEPTS = {DRUG: 'CHEM "lisinopril"', CLASS: "CHEM ACE inhibitors", DISEASE: "DISO hypertension", BROAD: "DISO é\tx"}


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> ConceptGraph:
    rows = [
        rel(DRUG, "may_treat", DISEASE),
        rel(DISEASE, "may_be_treated_by", DRUG),
        rel(DRUG, "", CLASS, "USPMG", REL="CHD"),
        rel(DISEASE, "isa", BROAD, "DO", REL="CHD"),
        rel(BROAD, "related_to", DISEASE, "MEDLINEPLUS"),
    ]
    release = Release(tmp_path_factory.mktemp("release"), CONCEPTS, rows)
    release.set_atoms([*release.atoms, atom(DRUG, "Zestril", ISPREF="N")])
    release.build()
    return release.graph()


def test_networkx_holds_each_canonical_edge_once(graph: ConceptGraph) -> None:
    part = to_networkx(graph, part_of(graph, [DISEASE, DRUG], hops=0))
    assert dict(part.nodes(data="name")) == {DRUG: '"lisinopril"', DISEASE: "hypertension"}
    assert [(head, tail, key) for head, tail, key in part.edges(keys=True)] == [(DRUG, DISEASE, "treats")]
    edge = part.edges[DRUG, DISEASE, "treats"]
    assert (edge["rela"], edge["sab"], edge["biolink"]) == ("may_treat|may_be_treated_by", "NDFRT", "biolink:treats")
    everything = to_networkx(graph, WHOLE)
    assert {key for _, _, key in everything.edges(keys=True)} == {
        "treats", "is_a", "placed_under", "has_pharmacologic_class", "related_to",
    }  # fmt: skip
    with pytest.raises(InputError, match="C9999999"):
        part_of(graph, ["C9999999"])


def test_a_part_is_what_is_reached_by_its_predicates(graph: ConceptGraph) -> None:
    by_treats = to_networkx(graph, part_of(graph, [DRUG], 3, ["may_be_treated_by"]))
    assert sorted(by_treats.nodes) == [DRUG, DISEASE]
    assert sorted(to_networkx(graph, part_of(graph, [DRUG], 1)).nodes) == [DRUG, CLASS, DISEASE]
    assert list(to_networkx(graph, part_of(graph, None, predicates=["is_a"])).edges(keys=True)) == [
        (DISEASE, BROAD, "is_a")
    ]
    with pytest.raises(InputError, match="no such predicate"):
        part_of(graph, None, predicates=["cures"])


def test_rdf_answers_sparql(graph: ConceptGraph) -> None:
    query = """
        select ?drug ?name ?broad ?source where {
            ?drug kg:treats ?disease ; skos:altLabel ?name .
            ?disease skos:prefLabel "hypertension"@en ; skos:broader ?broad .
            ?disease kg:may_be_treated_by ?drug ; biolink:category biolink:DiseaseOrPhenotypicFeature .
            [] rdf:subject ?drug ; rdf:predicate kg:treats ; dcterms:source ?source ; kg:rela "may_treat" .
        }"""
    rows: list[Any] = list(to_rdf(graph, WHOLE).query(query))
    assert [[str(value) for value in row] for row in rows] == [
        [CONCEPT_BASE + DRUG, "Zestril", CONCEPT_BASE + BROAD, "urn:ontoground:source:NDFRT"]
    ]


def _said(graph: ConceptGraph) -> set[tuple[str, str, str]]:
    """Return the edges of which each says something of its own."""
    arrays = graph.arrays
    names = [line.predicate for line in arrays.vocabulary.predicates]
    ends = zip(arrays.cui[arrays.head], arrays.predicate, arrays.cui[arrays.tail], strict=True)
    edges = {(head.decode(), names[number], tail.decode()) for head, number, tail in ends}
    return {edge for edge in edges if edge[1] != "broader"}


def test_every_format_says_the_same_to_the_libraries_that_read_it(graph: ConceptGraph, tmp_path: Path) -> None:
    import networkx
    import rdflib

    types = pa.array([["T121"], ["T121"], ["T047"], ["T047"]])
    for file_format in ("graphml", "rdf", "nquads", "jsonl"):
        write_graph(graph, tmp_path / file_format, file_format, types=types)
    expected = _said(graph)
    drawn = networkx.read_graphml(tmp_path / "graphml", force_multigraph=True)
    assert {(head, data["predicate"], tail) for head, tail, data in drawn.edges(data=True)} == expected
    assert (drawn.nodes[DRUG]["name"], drawn.nodes[BROAD]["types"]) == ('"lisinopril"', "T047")
    triples = rdflib.Graph().parse(tmp_path / "rdf", format="turtle")
    quads = rdflib.Dataset().parse(tmp_path / "nquads", format="nquads")
    kept = set(triples.subject_objects(rdflib.URIRef(PREDICATE_BASE + "treats")))
    assert kept == {(rdflib.URIRef(CONCEPT_BASE + DRUG), rdflib.URIRef(CONCEPT_BASE + DISEASE))}
    treats = list(quads.quads((None, rdflib.URIRef(PREDICATE_BASE + "treats"), None, None)))
    assert [str(source) for *_, source in treats] == ["urn:ontoground:source:NDFRT"]
    lines = (tmp_path / "jsonl" / "edges.jsonl").read_text().splitlines()
    said = {(edge["subject"][5:], edge["relation"][11:], edge["object"][5:]) for edge in map(json.loads, lines)}
    assert said == expected
    with pytest.raises(InputError, match="another release"):
        write_graph(graph, tmp_path / "rdf", "rdf", types=types[:2])


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def test_kgx_tables_are_whole_and_keep_our_predicates(graph: ConceptGraph, tmp_path: Path) -> None:
    write_graph(graph, tmp_path / "all", "kgx")
    nodes, edges = _read(tmp_path / "all" / "nodes.tsv"), _read(tmp_path / "all" / "edges.tsv")
    assert [row["id"] for row in nodes] == [f"UMLS:{cui}" for cui in sorted(CONCEPTS)]
    assert [row["name"] for row in nodes] == ['"lisinopril"', "ACE inhibitors", "hypertension", "é x"]
    assert nodes[0]["category"] == "biolink:ChemicalEntity"
    treats = next(row for row in edges if row["relation"] == "ontoground:treats")
    assert (treats["subject"], treats["predicate"], treats["object"]) == (
        f"UMLS:{DRUG}",
        "biolink:treats",
        f"UMLS:{DISEASE}",
    )
    assert treats["primary_knowledge_source"] == "infores:ndfrt"
    assert len(edges) == len({row["id"] for row in edges}) == len(_said(graph))


def test_kgx_of_some_concepts_holds_only_the_edges_between_them(graph: ConceptGraph, tmp_path: Path) -> None:
    write_graph(graph, tmp_path / "some", "kgx", part_of(graph, [DRUG, DISEASE], hops=0))
    assert [row["id"] for row in _read(tmp_path / "some" / "nodes.tsv")] == [f"UMLS:{DRUG}", f"UMLS:{DISEASE}"]
    assert [row["relation"] for row in _read(tmp_path / "some" / "edges.tsv")] == ["ontoground:treats"]
