"""Exports hold what the graph holds, and other tools read them."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from ground.errors import InputError
from kg.export import CONCEPT_BASE, PREDICATE_BASE, to_kgx, to_networkx, to_rdf
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
    found = to_networkx(graph, [DISEASE, DRUG])
    assert dict(found.nodes(data="name")) == {DRUG: '"lisinopril"', DISEASE: "hypertension"}
    assert [(head, tail, key) for head, tail, key in found.edges(keys=True)] == [(DRUG, DISEASE, "treats")]
    assert found.edges[DRUG, DISEASE, "treats"]["rela"] == "may_treat"
    everything = to_networkx(graph, CONCEPTS)
    assert {key for _, _, key in everything.edges(keys=True)} == {
        "treats", "is_a", "placed_under", "has_pharmacologic_class", "broader", "related_to",
    }  # fmt: skip
    with pytest.raises(InputError, match="C9999999"):
        to_networkx(graph, ["C9999999"])


def test_rdf_answers_sparql(graph: ConceptGraph) -> None:
    import rdflib

    turtle = to_rdf(graph, CONCEPTS).serialize(format="turtle")
    found = rdflib.Graph().parse(data=turtle, format="turtle")
    query = f"""
        prefix skos: <http://www.w3.org/2004/02/skos/core#>
        prefix kg: <{PREDICATE_BASE}>
        select ?drug ?name ?broad where {{
            ?drug kg:treats ?disease ; skos:altLabel ?name .
            ?disease skos:prefLabel "hypertension"@en ; skos:broader ?broad .
            ?disease kg:may_be_treated_by ?drug .
        }}"""
    rows: list[Any] = list(found.query(query))
    assert [[str(value) for value in row] for row in rows] == [[CONCEPT_BASE + DRUG, "Zestril", CONCEPT_BASE + BROAD]]


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def test_kgx_tables_are_whole_and_keep_our_predicates(graph: ConceptGraph, tmp_path: Path) -> None:
    to_kgx(graph, tmp_path / "all")
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
    assert len(edges) == len({row["id"] for row in edges}) == len(graph.edges_between(CONCEPTS, canonical=True))


def test_kgx_of_some_concepts_holds_only_the_edges_between_them(graph: ConceptGraph, tmp_path: Path) -> None:
    to_kgx(graph, tmp_path / "some", [DRUG, DISEASE])
    assert [row["id"] for row in _read(tmp_path / "some" / "nodes.tsv")] == [f"UMLS:{DRUG}", f"UMLS:{DISEASE}"]
    assert [row["relation"] for row in _read(tmp_path / "some" / "edges.tsv")] == ["ontoground:treats"]
