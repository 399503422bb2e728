"""The graph that is built from MRREL reads the right way round, counts what it leaves out, and is built once."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path

import pytest

from ground.errors import InputError
from ground.settings import LoadSettings
from ground.storage.warehouse import connect
from kg.graph import ConceptGraph
from tests.kg.graphs import Release, atom, facts_of, other_names, rel

DRUG, OTHER, CLASS, DISEASE, BROAD, BRAND, SALT, COMBO, COMBO_BRAND = (f"C00000{number:02d}" for number in range(1, 10))
CONCEPTS = {
    DRUG: "CHEM lisinopril",
    OTHER: "CHEM hydrochlorothiazide",
    CLASS: "CHEM ACE inhibitors",
    DISEASE: "DISO hypertension",
    BROAD: "DISO vascular disease",
    BRAND: "CHEM Prinivil",
    SALT: "CHEM lisinopril dihydrate",
    COMBO: "CHEM hydrochlorothiazide / lisinopril",
    COMBO_BRAND: "CHEM Zestoretic",
}


def build(folder: Path, rows: list[dict[str, str]], concepts: dict[str, str] | None = None) -> Release:
    release = Release(folder, concepts or CONCEPTS, rows)
    release.build()
    return release


READ_AS = [
    (rel(DRUG, "may_treat", DISEASE), (DRUG, "treats", DISEASE)),
    (rel(DISEASE, "may_be_treated_by", DRUG), (DRUG, "treats", DISEASE)),
    (rel(DRUG, "may_treat", DISEASE, "MED-RT"), (DRUG, "treats", DISEASE)),
    (rel(DRUG, "May_Treat", DISEASE, "MED-RT"), (DRUG, "treats", DISEASE)),
    (rel(DISEASE, "may_be_treated_by", DRUG, "MEDCIN"), (DRUG, "treats", DISEASE)),
    (rel(DRUG, "may_prevent", DISEASE, "MED-RT"), (DRUG, "prevents", DISEASE)),
    (rel(DRUG, "CI_with", DISEASE, "MED-RT"), (DRUG, "contraindicated_with", DISEASE)),
    (rel(DRUG, "contraindicated_with_disease", DISEASE), (DRUG, "contraindicated_with", DISEASE)),
    (rel(DISEASE, "has_contraindicated_drug", DRUG), (DRUG, "contraindicated_with", DISEASE)),
    (rel(DRUG, "has_EPC", CLASS, "MED-RT"), (DRUG, "has_pharmacologic_class", CLASS)),
    (rel(DRUG, "has_mechanism_of_action", CLASS, "MED-RT"), (DRUG, "has_mechanism", CLASS)),
    (rel(DRUG, "has_MoA", CLASS, "MED-RT"), (DRUG, "has_mechanism", CLASS)),
    (rel(DRUG, "induces", DISEASE, "MED-RT"), (DRUG, "causes", DISEASE)),
    (rel(DRUG, "may_diagnose", DISEASE, "MED-RT"), (DRUG, "diagnoses", DISEASE)),
    (rel(DISEASE, "has_causative_agent", DRUG, "SNOMEDCT_US"), (DRUG, "causes", DISEASE)),
    (rel(DISEASE, "due_to", BROAD, "SNOMEDCT_US"), (BROAD, "causes", DISEASE)),
    (rel(DISEASE, "isa", BROAD, "SNOMEDCT_US", REL="CHD"), (DISEASE, "is_a", BROAD)),
    (rel(BROAD, "inverse_isa", DISEASE, "SNOMEDCT_US", REL="PAR"), (DISEASE, "is_a", BROAD)),
    (rel(DISEASE, "", BROAD, "ICD10CM", REL="CHD"), (DISEASE, "is_a", BROAD)),
    (rel(BROAD, "", DISEASE, "ICD10CM", REL="PAR"), (DISEASE, "is_a", BROAD)),
    (rel(DRUG, "", CLASS, "USPMG", REL="CHD"), (DRUG, "has_pharmacologic_class", CLASS)),
    (rel(DISEASE, "", BROAD, "MTH", REL="RN"), (DISEASE, "narrower_than", BROAD)),
    (rel(BROAD, "", DISEASE, "MTH", REL="RB"), (DISEASE, "narrower_than", BROAD)),
    (rel(BROAD, "has_manifestation", DISEASE, "SNOMEDCT_US"), (DISEASE, "manifestation_of", BROAD)),
    (rel(BROAD, "related_to", DISEASE, "MEDLINEPLUS"), (DISEASE, "related_to", BROAD)),
    (rel(DISEASE, "classified_as", BROAD, "MDR"), (DISEASE, "classified_as", BROAD)),
    (rel(CLASS, "contraindicated_class_of", DRUG), (CLASS, "contraindicated_class_of", DRUG)),
    (rel(BRAND, "tradename_of", DRUG, "RXNORM", REL="RN"), (BRAND, "drug_form_of", DRUG)),
    (rel(DRUG, "has_tradename", BRAND, "RXNORM", REL="RB"), (BRAND, "drug_form_of", DRUG)),
    (rel(SALT, "form_of", DRUG, "RXNORM"), (SALT, "drug_form_of", DRUG)),
]


def _copy(cui: str, number: int) -> str:
    """Return the concept that stands for another in one case."""
    return f"C{number:03d}{cui[4:]}"


def test_a_row_reads_from_right_to_left(tmp_path: Path) -> None:
    rows, concepts = [], {}
    for number, (row, _) in enumerate(READ_AS):
        ends = {name: _copy(row[name], number) for name in ("CUI1", "CUI2")}
        rows.append({**row, **ends, "RUI": f"R{number:08d}"})
        concepts.update({_copy(cui, number): text for cui, text in CONCEPTS.items()})
    release = build(tmp_path, rows, concepts)
    for number, (row, (head, predicate, tail)) in enumerate(READ_AS):
        found = {edge for edge in release.triples(predicate) if edge[0].startswith(f"C{number:03d}")}
        assert found == {(_copy(head, number), predicate, _copy(tail, number))}, row


def test_both_directions_of_a_pair_are_one_edge_with_two_pieces_of_evidence(tmp_path: Path) -> None:
    release = build(tmp_path, [rel(DRUG, "may_treat", DISEASE), rel(DISEASE, "may_be_treated_by", DRUG)])
    assert release.triples("treats") == {(DRUG, "treats", DISEASE)}
    graph = release.graph()
    assert [edge["rela"] for edge in graph.neighbours(DRUG, "treats")] == ["may_treat"]
    relas = release.connection.execute("select rela from kg.edge order by all").fetchall()
    assert relas == [("may_be_treated_by",), ("may_treat",)]
    assert [edge["tail_cui"] for edge in graph.neighbours(DISEASE, "may_be_treated_by")] == [DRUG]


def test_a_hierarchy_of_topics_is_no_subsumption(tmp_path: Path) -> None:
    release = build(tmp_path, [rel(DISEASE, "", BROAD, "MEDLINEPLUS", REL="CHD")])
    assert release.triples("is_a", "narrower_than") == {(DISEASE, "narrower_than", BROAD)}


def test_is_a_needs_a_common_semantic_group(tmp_path: Path) -> None:
    release = build(tmp_path, [rel(DISEASE, "isa", CLASS, "SNOMEDCT_US", REL="CHD")])
    assert release.triples("is_a") == set()
    assert release.build().refused == {"other_group": 1}


def test_what_is_left_out_is_counted_by_reason(tmp_path: Path) -> None:
    rows = [
        rel(DRUG, "may_treat", DRUG),
        rel(DRUG, "may_treat", DISEASE, SUPPRESS="O"),
        rel(DRUG, "may_treat", "C9999999"),
        rel(DISEASE, "may_treat", DRUG),
        rel(DRUG, "never_heard_of", DISEASE, "LOCAL"),
        rel(DRUG, "never_heard_of", OTHER, "LOCAL"),
        rel(DRUG, "", OTHER, "MSH", REL="SIB"),
    ]
    release = Release(tmp_path, CONCEPTS, rows)
    report = release.build()
    assert report.edges == 0
    assert report.refused == {"head_group": 1, "self_loop": 1, "suppressed": 1, "unknown_concept": 1}
    assert report.uncovered == [{"rela": "never_heard_of", "rel": "RO", "sab": "LOCAL", "n": 2}]
    drops = dict(release.connection.execute("select reason, n from ground.drop where stage = 'graph'").fetchall())
    assert drops["relation_uncovered"] == 2
    assert drops["relation_suppressed"] == 1


def test_a_combination_is_not_equivalent_to_an_ingredient(tmp_path: Path) -> None:
    rows = [
        rel(BRAND, "tradename_of", DRUG, "RXNORM"),
        rel(SALT, "form_of", DRUG, "RXNORM"),
        rel(COMBO, "has_part", DRUG, "RXNORM"),
        rel(COMBO, "has_part", OTHER, "RXNORM"),
        rel(COMBO_BRAND, "tradename_of", COMBO, "RXNORM"),
        rel(DRUG, "may_treat", DISEASE),
    ]
    graph = build(tmp_path, rows).graph()
    assert graph.equivalents(BRAND) == [DRUG, SALT]
    assert graph.equivalents(DRUG) == [BRAND, SALT]
    assert graph.equivalents(COMBO_BRAND) == []
    assert graph.ingredients(COMBO_BRAND) == [DRUG, OTHER, BRAND, SALT, COMBO]
    assert COMBO_BRAND in graph.products(DRUG)
    tiers = {row["tier"] for row in facts_of(graph, [COMBO, COMBO_BRAND], targets=[DISEASE]).to_pylist()}
    assert tiers == {"plausible"}
    assert [edge["predicate"] for edge in graph.path(BRAND, DISEASE, "drug_form_of . treats")] == [
        "drug_form_of",
        "treats",
    ]


@pytest.mark.parametrize(
    ("name", "form"), [("Skin Brand", "Topical Cream"), ("Strange Brand", "Novel Matrix")], ids=["local", "unknown"]
)
def test_what_is_not_known_to_be_swallowed_does_not_treat_what_the_tablet_treats(
    tmp_path: Path, name: str, form: str
) -> None:
    other, tablet, other_form, tablet_form = "C0000021", "C0000022", "C0000023", "C0000024"
    concepts = {
        **CONCEPTS,
        other: f"CHEM {name}",
        tablet: "CHEM Mouth Brand",
        other_form: f"CONC {form}",
        tablet_form: "CONC Oral Tablet",
    }
    rows = [
        rel(other, "tradename_of", DRUG, "RXNORM"),
        rel(tablet, "tradename_of", DRUG, "RXNORM"),
        rel(other, "has_dose_form", other_form, "RXNORM"),
        rel(tablet, "has_dose_form", tablet_form, "RXNORM"),
        rel(DRUG, "may_treat", DISEASE),
    ]
    release = build(tmp_path, rows, concepts)
    assert release.triples("drug_form_of") == {(tablet, "drug_form_of", DRUG)}
    assert release.triples("contains_drug") == {(other, "contains_drug", DRUG)}
    facts = facts_of(release.graph(), [other, tablet], targets=[DISEASE], predicates=["treats"]).to_pylist()
    assert {(row["head_cui"], row["tier"]) for row in facts if row["tier"] != "plausible"} == {(tablet, "equivalent")}


def test_the_salt_below_its_base_is_not_in_a_class_of_that_name(tmp_path: Path) -> None:
    rows = [
        rel(SALT, "", DRUG, "USPMG", REL="CHD"),
        rel(DRUG, "", CLASS, "USPMG", REL="CHD"),
        rel(BRAND, "tradename_of", DRUG, "RXNORM"),
    ]
    release = build(tmp_path, rows)
    assert release.triples("has_pharmacologic_class") == {(DRUG, "has_pharmacologic_class", CLASS)}


def test_a_drug_has_what_its_class_treats(tmp_path: Path) -> None:
    rows = [rel(DRUG, "isa", CLASS, "MED-RT", REL="CHD"), rel(CLASS, "may_treat", DISEASE, "MED-RT")]
    relations = build(tmp_path, rows).graph().relations(DRUG, DISEASE, tiers=["inherited"])
    assert [(found.predicate, found.pattern) for found in relations] == [("treats", "is_a . treats")]
    assert [edge["tail_cui"] for edge in relations[0].path] == [CLASS, DISEASE]


def test_the_preferred_name_follows_the_manual(tmp_path: Path) -> None:
    release = Release(tmp_path, CONCEPTS, [])
    names = [
        atom(DRUG, "not preferred", AUI="A1", ISPREF="N", SAB="B"),
        atom(DRUG, "low rank", AUI="A0", SAB="A"),
        atom(DRUG, "high rank", AUI="A3", SAB="B"),
        atom(DRUG, "high rank, later", AUI="A4", SAB="B"),
        atom(DRUG, "Nombre", AUI="A2", SAB="B", LAT="SPA"),
        atom(OTHER, "old name", AUI="A5", SUPPRESS="O"),
    ]
    release.set_atoms(names, [{"RANK": "10", "SAB": "A", "TTY": "PN"}, {"RANK": "20", "SAB": "B", "TTY": "PN"}])
    release.build()
    graph = release.graph()
    assert (graph.name(DRUG), graph.name(OTHER)) == ("high rank", "old name")
    assert [graph.name(DRUG), *other_names(graph, DRUG)] == [
        "high rank",
        "high rank, later",
        "low rank",
        "not preferred",
    ]
    assert graph.groups(DRUG) == ("CHEM",)
    rows = release.connection.execute("select name, normalized from kg.name order by name").fetchall()
    assert ("high rank, later", "high rank later") in rows
    assert not {"Nombre", "old name"} & {name for name, _ in rows}


def _digests(folder: Path) -> dict[str, str]:
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(folder.iterdir())}


def test_the_order_of_rows_changes_nothing(tmp_path: Path) -> None:
    rows = [
        rel(DRUG, "may_treat", DISEASE),
        rel(DISEASE, "may_be_treated_by", DRUG),
        rel(BRAND, "tradename_of", DRUG, "RXNORM"),
        rel(DRUG, "", CLASS, "USPMG", REL="CHD"),
        rel(DISEASE, "isa", BROAD, "DO", REL="CHD"),
        rel(BROAD, "related_to", DISEASE, "MEDLINEPLUS"),
    ]
    folders = []
    for number in range(2):
        folder = tmp_path / str(number)
        folder.mkdir()
        random.Random(number).shuffle(rows)
        build(folder, rows)
        folders.append(folder / "graph")
    assert _digests(folders[0]) == _digests(folders[1])


def test_a_current_graph_is_left_as_it_is_and_a_stale_one_is_built_again(tmp_path: Path) -> None:
    release = build(tmp_path, [rel(DRUG, "may_treat", DISEASE)])
    assert release.build().skipped
    assert not release.build(LoadSettings(suppress=("O",))).skipped
    release.set_rows([rel(DRUG, "may_treat", DISEASE), rel(DRUG, "may_treat", BROAD)])
    assert not release.build().skipped
    assert len(release.triples("treats")) == 2
    (release.folder / "graph" / "manifest.json").unlink()
    assert not release.build().skipped
    assert len(release.graph()) == len(CONCEPTS)


def test_a_row_that_the_release_states_twice_is_one_piece_of_evidence(tmp_path: Path) -> None:
    rows = [rel(DRUG, "may_treat", DISEASE), rel(DISEASE, "isa", BROAD, "SNOMEDCT_US"), rel(CLASS, "may_treat", BROAD)]
    for folder in ("once", "twice"):
        (tmp_path / folder).mkdir()
    once, twice = build(tmp_path / "once", rows), build(tmp_path / "twice", [*rows, rows[1], rows[0]])
    digests = [_digests(tmp_path / folder / "graph") for folder in ("once", "twice")]
    differ = [name for name, digest in digests[0].items() if digests[1][name] != digest]
    assert differ == ["manifest.json"]  # which says how many rows there were
    tables = [one.connection.execute("select * from kg.edge order by all").fetchall() for one in (once, twice)]
    assert tables[0] == tables[1]


def test_without_a_release_or_a_graph_the_error_says_what_to_do(tmp_path: Path) -> None:
    from kg.build import build_graph

    with pytest.raises(InputError, match="load umls"):
        build_graph(connect(tmp_path / "warehouse.duckdb"), tmp_path / "graph", LoadSettings())
    with pytest.raises(InputError, match="graph build"):
        ConceptGraph.open(tmp_path / "graph")


def test_staging_tables_are_gone_after_the_build(tmp_path: Path) -> None:
    release = build(tmp_path, [rel(DRUG, "may_treat", DISEASE)])
    tables = release.connection.execute(
        "select table_name from information_schema.tables where table_schema = 'kg' order by table_name"
    ).fetchall()
    assert [name for (name,) in tables] == [
        "concept", "edge", "edge_code", "edge_refused", "evidence_kind", "name", "node", "pattern", "predicate",
        "predicate_code", "relation_map", "relation_use", "semantic_group", "uncovered",
    ]  # fmt: skip


def test_concepts_of_any_length_and_rows_without_a_concept_or_rui_are_told_apart(tmp_path: Path) -> None:
    short, long, other = "C01", "C00000010", "XY7"
    rows = [
        rel(short, "may_treat", DISEASE, RUI=""),
        rel(short, "may_treat", DISEASE, RUI="R2"),
        rel(long, "may_treat", DISEASE, SUPPRESS="O"),
        rel(other, "may_treat", DISEASE, RUI=""),
        rel("C0", "may_treat", DISEASE),
        rel("C000000100", "may_treat", DISEASE),
        rel("", "may_treat", "", RUI="R3"),
    ]
    release = build(tmp_path, rows, {**CONCEPTS, short: "CHEM a", long: "CHEM b", other: "CHEM c"})
    assert release.triples("treats") == {(short, "treats", DISEASE), (other, "treats", DISEASE)}
    stated = release.connection.execute("select head_cui, rui from kg.edge order by all").fetchall()
    assert stated == [(short, "R2"), (short, None), (other, None)]
    report = release.build(LoadSettings(suppress=()))
    assert report.refused == {"unknown_concept": 3}
    assert report.edges_by_predicate == {"treats": 3}


def test_a_drug_below_another_ingredient_inherits_nothing(tmp_path: Path) -> None:
    """Hydroxychloroquine stands below chloroquine: a mention of it may mean chloroquine, but it is another drug."""
    rows = [
        rel(OTHER, "isa", DRUG, "SNOMEDCT_US", REL="CHD"),
        rel(BRAND, "tradename_of", DRUG, "RXNORM"),
        rel(DRUG, "may_treat", DISEASE),
    ]
    release = build(tmp_path, rows)
    assert release.triples("is_a") == set()
    assert release.triples("placed_under") == {(OTHER, "placed_under", DRUG)}
    graph = release.graph()
    assert graph.ancestors(OTHER) == {DRUG: 1}
    assert graph.descendants(DRUG) == {OTHER: 1}
    facts = facts_of(graph, [OTHER], targets=[DISEASE], predicates=["treats"]).to_pylist()
    assert {row["tier"] for row in facts} == {"plausible"}


@pytest.mark.parametrize("sab", ["MSH", "NDFRT", "VANDF"])
def test_a_tree_of_chemicals_says_no_kind_but_one_of_disorders_does(tmp_path: Path, sab: str) -> None:
    rows = [
        rel(DRUG, "", CLASS, sab, REL="CHD"),
        rel(DISEASE, "", BROAD, sab, REL="CHD"),
        rel(CLASS, "may_treat", DISEASE),
    ]
    release = build(tmp_path, rows)
    assert release.triples("is_a") == {(DISEASE, "is_a", BROAD)}
    assert release.triples("placed_under") == {(DRUG, "placed_under", CLASS)}
    assert release.graph().relations(DRUG, DISEASE, tiers=["inherited"]) == []


def test_a_therapeutic_class_is_no_pharmacologic_class(tmp_path: Path) -> None:
    release = build(tmp_path, [rel(DRUG, "has_TC", CLASS, "MED-RT"), rel(OTHER, "has_therapeutic_class", CLASS)])
    assert release.triples("has_pharmacologic_class") == set()
    assert release.triples("placed_under") == {(DRUG, "placed_under", CLASS), (OTHER, "placed_under", CLASS)}


def test_an_edge_table_of_an_earlier_version_makes_room_for_the_view(tmp_path: Path) -> None:
    release = Release(tmp_path, CONCEPTS, [rel(DRUG, "may_treat", DISEASE)])
    release.connection.execute("create table kg.edge (head_cui varchar)")
    assert release.build().edges_by_predicate["treats"] == 1
    assert release.triples("treats") == {(DRUG, "treats", DISEASE)}
