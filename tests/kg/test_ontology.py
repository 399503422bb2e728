"""Ontologies of files: formats agree, cross-references join, bad files are refused, and a run works without UMLS."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pytest

from ground.errors import InputError
from ground.settings import LoadSettings, RunSettings
from ground.storage.warehouse import connect
from kg.build import build_graph
from kg.ontology.content import identifier
from kg.ontology.joining import united
from kg.ontology.loading import load_ontology, read_ontology

SETTINGS = LoadSettings()
OBO = """format-version: 1.2
data-version: small/releases/2026-11-01/subsets/small.obo
ontology: small

[Term]
id: DOID:4
name: disease

[Term]
id: DOID:10763
name: hypertension
synonym: "high blood pressure" EXACT []
synonym: "HTN" EXACT OMO:0003012 []
synonym: "vascular disease" BROAD []
xref: UMLS_CUI:C0020538
xref: MESH:D006973
xref: ICD10CM:I10
xref: GARD:6038
is_a: DOID:4 ! disease

[Term]
id: DOID:1
name: rare hypertension
xref: UMLS_CUI:C0020538
is_a: DOID:10763
relationship: has_symptom DOID:2

[Term]
id: DOID:2
name: odd sign
is_a: DOID:4
"""
TURTLE = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
<http://purl.obolibrary.org/obo/DOID_4> a skos:Concept ; skos:prefLabel "disease"@en, "Krankheit"@de .
<http://purl.obolibrary.org/obo/DOID_10763> a skos:Concept ; skos:prefLabel "hypertension"@en ;
  skos:broader <http://purl.obolibrary.org/obo/DOID_4> ; skos:exactMatch <http://id.nlm.nih.gov/mesh/D006973> .
"""
MEDRT = """<?xml version="1.0"?>
<terminology><namespace><name>MED-RT</name><version>2026.11.02</version></namespace>
<concept><namespace>MED-RT</namespace><name>ACE Inhibitor [EPC]</name><code>N01</code><status>A</status>
<property><name>CTY</name><value>EPC</value></property></concept>
<association><name>Parent Of</name><from_namespace>MED-RT</from_namespace><from_code>N01</from_code>
<to_namespace>RxNorm</to_namespace><to_name>Lisinopril</to_name><to_code>29046</to_code></association>
<association><name>may_treat</name><from_namespace>RxNorm</from_namespace><from_name>Lisinopril</from_name>
<from_code>29046</from_code><to_namespace>MeSH</to_namespace><to_name>Hypertension</to_name><to_code>D006973</to_code>
</association></terminology>
"""
CIRCLE = "".join(
    f"""<association><name>Parent Of</name><from_namespace>MED-RT</from_namespace><from_code>{one}</from_code>
<to_namespace>MED-RT</to_namespace><to_code>{other}</to_code></association>"""
    for one, other in (("N01", "N02"), ("N02", "N01"))
)
OUTSIDE = '<?xml version="1.0"?><!DOCTYPE t [<!ENTITY x SYSTEM "file:///etc/hostname">]>'
DOID = "http://purl.obolibrary.org/obo/DOID_"
IMPORTED = "http://x.invalid/a.owl"
OWL = f"""<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:owl="http://www.w3.org/2002/07/owl#"
  xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#">
<owl:Ontology rdf:about="http://purl.obolibrary.org/obo/small.owl">
<owl:imports rdf:resource="{IMPORTED}"/></owl:Ontology>
<owl:Class rdf:about="http://purl.obolibrary.org/obo/DOID_10763">
<rdfs:label>hypertension</rdfs:label></owl:Class>
</rdf:RDF>
"""
# As NLM lays descriptors out (nlmdescriptorrecordset DTD): https://www.nlm.nih.gov/mesh/xml_data_elements.html
MESH = """<?xml version="1.0"?>
<!DOCTYPE DescriptorRecordSet SYSTEM "https://www.nlm.nih.gov/databases/dtd/nlmdescriptorrecordset_20260101.dtd">
<DescriptorRecordSet LanguageCode="eng">
<DescriptorRecord DescriptorClass="1"><DescriptorUI>D014652</DescriptorUI>
<DescriptorName><String>Vascular Diseases</String></DescriptorName>
<TreeNumberList><TreeNumber>C14.907</TreeNumber></TreeNumberList></DescriptorRecord>
<DescriptorRecord DescriptorClass="1"><DescriptorUI>D006973</DescriptorUI>
<DescriptorName><String>Hypertension</String></DescriptorName>
<TreeNumberList><TreeNumber>C14.907.489</TreeNumber></TreeNumberList>
<ConceptList><Concept PreferredConceptYN="Y"><ConceptUI>M0010754</ConceptUI>
<ConceptName><String>Hypertension</String></ConceptName>
<ScopeNote>Persistently high systemic arterial BLOOD PRESSURE.
    </ScopeNote>
<ConceptRelationList><ConceptRelation RelationName="NRW"><Concept1UI>M0010754</Concept1UI><Concept2UI>M2</Concept2UI>
</ConceptRelation></ConceptRelationList>
<TermList><Term ConceptPreferredTermYN="Y" IsPermutedTermYN="N" LexicalTag="NON" RecordPreferredTermYN="Y">
<TermUI>T020695</TermUI><String>Hypertension</String></Term>
<Term ConceptPreferredTermYN="N" IsPermutedTermYN="N" LexicalTag="NON" RecordPreferredTermYN="N">
<TermUI>T020696</TermUI><String>Blood Pressure, High</String></Term></TermList></Concept>
<Concept PreferredConceptYN="N"><ConceptUI>M2</ConceptUI><ConceptName><String>Hypertensive State</String></ConceptName>
<TermList><Term ConceptPreferredTermYN="Y"><TermUI>T2</TermUI><String>Hypertensive State</String></Term></TermList>
</Concept></ConceptList></DescriptorRecord>
<DescriptorRecord DescriptorClass="1"><DescriptorUI>D017706</DescriptorUI>
<DescriptorName><String>Lisinopril</String></DescriptorName>
<PharmacologicalActionList><PharmacologicalAction><DescriptorReferredTo><DescriptorUI>D000806</DescriptorUI>
<DescriptorName><String>Angiotensin-Converting Enzyme Inhibitors</String></DescriptorName></DescriptorReferredTo>
</PharmacologicalAction></PharmacologicalActionList>
<TreeNumberList><TreeNumber>D12.644.456.478</TreeNumber></TreeNumberList></DescriptorRecord>
</DescriptorRecordSet>
"""
LAUGHS = '<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha">' + "".join(
    f'<!ENTITY {name} "{f"&{before};" * 50}">' for before, name in zip("abcde", "bcdef", strict=True)
)


def written(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    folder = tmp_path_factory.mktemp("alone")
    files = (written(folder, "small.obo", OBO), written(folder, "medrt.xml", MEDRT))
    connection = connect(folder / "warehouse.duckdb", RunSettings())
    report = load_ontology(connection, files, SETTINGS)
    assert [note for note in report.warnings if "1 of GARD" in note]
    assert connection.sql("select release from ground.load order by file").fetchall() == [
        ("2026.11.02",),
        ("small 2026-11-01",),
    ]
    build_graph(connection, folder / "graph", SETTINGS)
    return connection


def test_without_umls_drugs_treat_what_cross_references_join(alone: duckdb.DuckDBPyConnection) -> None:
    edges = alone.sql("select head_cui, predicate, tail_cui, sab from kg.edge").fetchall()
    assert ("RXNORM:29046", "treats", "C0020538", "MED-RT") in edges
    assert ("RXNORM:29046", "has_pharmacologic_class", "MED-RT:N01", "MED-RT") in edges
    assert ("DOID:1", "is_a", "C0020538", "DOID") in edges
    assert ("DOID:2", "sign_or_symptom_of", "DOID:1", "DOID") in edges


def test_a_cui_is_one_class_s_and_a_broad_name_is_no_name(alone: duckdb.DuckDBPyConnection) -> None:
    names = alone.sql("select name, sab, tty, code from kg.name where cui = 'C0020538' order by all").fetchall()
    assert ("hypertension", "ICD10CM", "XM", "I10") in names
    assert {name for name, *_ in names} == {"hypertension", "high blood pressure", "HTN", "Hypertension"}
    assert alone.sql("select name, types from kg.concept where cui = 'DOID:1'").fetchall() == [
        ("rare hypertension", ["T047"])
    ]


def test_skos_and_obo_give_the_same(tmp_path: Path) -> None:
    obo = read_ontology(written(tmp_path, "small.obo", OBO), SETTINGS)
    skos = read_ontology(written(tmp_path, "small.ttl", TURTLE), SETTINGS)
    assert skos.languages == {"de": 1}
    assert skos.columns["relation"][0] == ["DOID:10763"]
    for table in ("class", "xref", "relation"):
        rows = set(zip(*obo.columns[table][:3], strict=True))
        assert {row[:2] for row in zip(*skos.columns[table][:3], strict=True)} <= {row[:2] for row in rows}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("UMLS_CUI:C0018923", "C0018923"),
        ("UMLS:D1", ""),
        ("SNOMEDCT_US_2025_09_01:39000009", "SNOMEDCT_US:39000009"),
        ("http://id.nlm.nih.gov/mesh/D006973", "MSH:D006973"),
        ("http://purl.obolibrary.org/obo/HP_0000118", "HP:0000118"),
        ("icd10cm:i10", "ICD10CM:I10"),
        ("GARD:6038", "GARD:6038"),
    ],
)
def test_identifiers(text: str, expected: str) -> None:
    assert identifier(text) == expected


def test_no_vocabulary_is_in_one_concept_twice() -> None:
    concepts, refused = united([("A:1", "C0000001"), ("B:1", "C0000001"), ("A:2", "B:1")])
    assert concepts == [["A:1", "B:1", "C0000001"], ["A:2"]]
    assert refused == 1


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("cyclic.obo", OBO.replace("name: disease", "name: disease\nis_a: DOID:10763"), "goes round"),
        ("broken.obo", "[Term]\nid DOID:1\n", "expected"),
        ("empty.obo", "format-version: 1.2\n", "no class"),
        ("broken.owl", "<rdf:RDF", "unclosed|no element|not"),
        ("broken.ttl", "<a> <b> ", "at line|expected"),
        ("laughs.xml", f"{LAUGHS}]><terminology>&f;</terminology>", "amplification|entity"),
        ("other.xml", "<html/>", "<html>"),
        ("other.docx", "x", "endings"),
        ("some.sssom.tsv", "subject_id\tobject_id\nA:1\tB:1\n", "no column predicate_id"),
        ("odd.sssom.tsv", "subject_id\tpredicate_id\tobject_id\nA:1\tis_like\tB:1\n", "is_like"),
        ("icd10cm-order-2026.txt", "A00 Cholera\n", "another layout"),
        ("new.xml", MEDRT.replace(">MeSH<", ">ICD-11<"), "ICD-11"),
        ("broken.json", '{"graphs": [{', "EOF|did not find|expected"),
        ("other.json", "{}", "graphs"),
        ("later.obo", OBO.replace("1.2", "9.9"), "format-version 9.9"),
        ("uncoded.xml", MEDRT.replace("<to_code>D006973</to_code>", ""), "without to_code"),
        ("circle.xml", MEDRT.replace("</terminology>", f"{CIRCLE}</terminology>"), "goes round"),
        ("cut.xml", MESH[:900], "no element"),
        ("outside.xml", f"{OUTSIDE}<terminology><name>&x;</name></terminology>", "undefined entity"),
        ("bare.xml", "<terminology/>", "no class"),
        ("cyclic.ttl", f"{TURTLE}<{DOID}4> skos:broader <{DOID}10763> .", "goes round"),
        ("broken.nt", "<a> <b> .\n", "Invalid line"),
        ("laughs.owl", f"{LAUGHS}]>{OWL[22:].replace('hypertension', '&f;')}", "amplification|entity"),
        ("laughs.rdf", f"{LAUGHS}]>{OWL[22:].replace('hypertension', '&f;')}", "amplification|entity"),
        ("endless.sssom.tsv", "subject_id\tpredicate_id\tobject_id\nA:1\t" + "x" * 200_000, "without end"),
        ("short.sssom.tsv", "subject_id\tpredicate_id\tobject_id\nA:1\tskos:exactMatch\n", "number of fields"),
    ],
    ids=lambda value: value if re.fullmatch(r"[\w.-]+\.[a-z]+", value) else "",
)
def test_a_bad_file_is_refused_with_its_reason(tmp_path: Path, name: str, text: str, found: str) -> None:
    file = written(tmp_path, name, text)
    with pytest.raises(InputError, match=found) as error:
        read_ontology(file, SETTINGS).check()
    assert error.value.file == str(file)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("small.obo", OBO.replace("ontology: small", f"import: {IMPORTED}\nontology: small")),
        ("small.owl", OWL),
        ("small.rdf", OWL),
    ],
    ids=("obo", "owl", "rdf"),
)
def test_imports_are_named_and_not_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    asked: list[object] = []

    def refuse(*arguments: object, **_: object) -> None:
        asked.append(arguments)
        raise OSError("no network")

    for place in ("connect", "connect_ex"):
        monkeypatch.setattr(f"socket.socket.{place}", refuse)
    monkeypatch.setattr("socket.getaddrinfo", refuse)
    content = read_ontology(written(tmp_path, name, text), SETTINGS)
    assert content.imports == [IMPORTED]
    assert not asked
    assert "DOID:10763" in content.columns["class"][0]


def test_mesh_descriptors_give_names_trees_and_actions(tmp_path: Path) -> None:
    content = read_ontology(written(tmp_path, "desc2026.xml", MESH), SETTINGS)
    content.check()
    assert content.release == "2026"
    ids, names, sabs, definitions, *_, branches = content.columns["class"]
    assert list(zip(ids, names, branches, strict=True)) == [
        ("MSH:D014652", "Vascular Diseases", "tree:C14.907"),
        ("MSH:D006973", "Hypertension", "tree:C14.907.489"),
        ("MSH:D017706", "Lisinopril", "tree:D12.644.456.478"),
    ]
    assert set(sabs) == {"MSH"}
    assert definitions[1] == "Persistently high systemic arterial BLOOD PRESSURE."
    assert list(zip(*content.columns["synonym"], strict=True)) == [
        ("MSH:D006973", "Blood Pressure, High", "exact"),
        ("MSH:D006973", "Hypertensive State", "related"),
    ]
    assert {row[:3] for row in zip(*content.columns["relation"], strict=True)} == {
        ("MSH:D006973", "", "MSH:D014652"),
        ("MSH:D017706", "isa", "MSH:D000806"),
    }
