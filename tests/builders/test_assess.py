"""Any statement about any note: told where reader, note and graph are sure, and else refused with a reason."""

from __future__ import annotations

import pytest

from builders.assess.claims import Claim, Unread, claim_of
from builders.assess.judge import Assessed, assess
from ehr.reading import TextReader
from ground.storage.workspace import Workspace
from kg.graph import ConceptGraph
from tests.builders.medieval_world import Built
from tests.kg.graphs import Release, atom, rel

NOTE = """Chief Complaint:
Cough.

Past Medical History:
1. Hypertension
2. Asthma

Brief Hospital Course:
# Hypertension: Continued lisinopril.
# Asthma: She used albuterol. She denies chest pain.

Discharge Medications:
1. Lisinopril 10 mg PO DAILY
2. Albuterol inhaler 2 puffs q4h
"""
TOLD = {
    "Lisinopril treats hypertension.": "Q1",
    "Her hypertension is managed with lisinopril.": "Q1",
    "Lisinopril was given for hypertension.": "Q1",
    "Zestril treats hypertension.": "Q1",
    "Losartan is used for hypertension.": "Q2",
    "Losartan treats and manages hypertension.": "Q2",
    "Lisinopril does not treat hypertension.": "Q3",
    "Losartan is not a treatment of hypertension.": "Q4",
    "Lisinopril is an ACE inhibitor.": "Q1",
}
UNTOLD = {
    "Hypertension.": "read in it: 'Hypertension'",
    "Lisinopril and albuterol treat hypertension.": "'Lisinopril', 'albuterol', 'hypertension'",
    "Lisinopril 40 mg treats hypertension.": "the graph relates the two, but more is claimed",
    "Lisinopril was stopped because of hypertension.": "'stopped' is none that the graph has",
    "Without lisinopril, hypertension treats itself.": "no relation of the two is read",
    "Lisinopril rarely treats hypertension.": "'rarely treats' is none",
    "Lisinopril is contraindicated in asthma.": "it is not called false",
    **dict.fromkeys(
        (
            "Lisinopril exacerbates hypertension.",
            "Hypertension resists lisinopril.",
            "Losartan works wonders in hypertension.",
        ),
        "the graph relates the two, but more is claimed",
    ),
    "She takes lisinopril and has hypertension.": "no relation of the two is read",
}


@pytest.fixture(scope="module")
def reader(medieval: Built) -> TextReader:
    return TextReader.open(medieval.connection, medieval.workspace.settings.notes)


@pytest.fixture(scope="module")
def graph(medieval: Built) -> ConceptGraph:
    return ConceptGraph.open(medieval.workspace.graph)


def told(medieval: Built, reader: TextReader, graph: ConceptGraph, pairs: list[tuple[str, str]]) -> list[Assessed]:
    notes = list(dict.fromkeys(note for note, _ in pairs))
    asked = [(notes.index(note), statement) for note, statement in pairs]
    return assess(medieval.connection, medieval.workspace, reader, graph, notes, asked)


def test_statements_in_own_words_are_told_or_refused(medieval: Built, reader: TextReader, graph: ConceptGraph) -> None:
    statements = [*TOLD, *UNTOLD]
    answers = told(medieval, reader, graph, [(NOTE, statement) for statement in statements])
    assert [answer.statement for answer in answers] == statements
    assert {answer.statement: answer.quadrant for answer in answers[: len(TOLD)]} == TOLD
    for answer in answers[len(TOLD) :]:
        assert answer.quadrant is None and UNTOLD[answer.statement] in answer.why
    first = answers[0]
    assert [edge["predicate"] for edge in first.path][-1] == "treats"
    assert all(NOTE[end["begin_offset"] : end["end_offset"]] == end["text"] for end in first.ends)
    databases = {name for (name,) in medieval.connection.execute("show databases").fetchall()}
    assert databases and not any(name.startswith("notes") for name in databases)


def test_what_is_told_of_rows_is_what_the_rows_say(medieval: Built, reader: TextReader, graph: ConceptGraph) -> None:
    rows = [row for row in medieval.rows if row["hops"] == 1][:120]
    hadm_ids = sorted({row["hadm_id"] for row in rows})
    notes = dict(
        medieval.connection.execute(
            "select hadm_id, min(text) from ehr.discharge_note where hadm_id in (select unnest($1)) group by hadm_id",
            [hadm_ids],
        ).fetchall()
    )
    answers = told(medieval, reader, graph, [(notes[row["hadm_id"]], row["statement"]) for row in rows])
    said = [(answer.quadrant, row["quadrant"]) for answer, row in zip(answers, rows, strict=True) if answer.quadrant]
    assert len(said) > len(rows) / 4 and {quadrant for quadrant, _ in said} == {"Q1", "Q2", "Q3", "Q4"}
    assert [pair for pair in said if pair[0] != pair[1]] == []


@pytest.mark.parametrize(
    ("statement", "alternatives"),
    [
        ("Cough is a symptom of asthma.", {("cough", "sign_or_symptom_of", "asthma")}),
        ("Asthma has the symptom cough.", {("cough", "sign_or_symptom_of", "asthma")}),
        ("Cough is caused by asthma.", {("asthma", "causes", "cough")}),
        ("Cough and asthma.", set()),
    ],
)
def test_which_end_is_the_head_is_told_by_groups_or_by_the_order_of_such_a_sentence(
    statement: str, alternatives: set[tuple[str, str, str]], reader: TextReader, graph: ConceptGraph
) -> None:
    claim = claim_of(statement, reader.read(statement, headers=False), graph)
    found = claim.readings[0].alternatives if isinstance(claim, Claim) else ()
    assert {(graph.name(one.head), one.predicate, graph.name(one.tail)) for one in found} == alternatives
    assert bool(alternatives) == (not isinstance(claim, Unread))


CLASSES = {
    "C0000001": "CHEM Cefazolin",
    "C0000002": "CHEM Lisinopril",
    "C0000003": "CHEM Beta-lactam, Cephalosporins",
    "C0000004": "CHEM Antibacterials",
    "C0000005": "CHEM Angiotensin-converting Enzyme (ACE) Inhibitors",
    "C0000006": "DISO gout",
    "C0000007": "DISO Gouty Disease",
    "C0000008": "CHEM Allopurinol",
    "C0000009": "CHEM SSRIs/SNRIs (Selective Serotonin Reuptake Inhibitors/ Others)",
    "C0000010": "DISO Gout",
}
IN_CLASSES = {
    "Cefazolin is a cephalosporin.": "C0000003",
    "Cefazolin is one of the cephalosporins.": "C0000003",
    "Cefazolin is an antibacterial.": "C0000004",
    "Lisinopril is an ACE inhibitor.": "C0000005",
    "Lisinopril belongs to the angiotensin-converting enzyme inhibitors.": "C0000005",
}


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> tuple[Release, Workspace]:
    workspace = Workspace.create(tmp_path_factory.mktemp("classes") / "work")
    edges = [("1", "3"), ("2", "5"), ("3", "4"), ("8", "9")]
    rows = [rel(f"C000000{head}", "has_EPC", f"C000000{tail}", sab="MED-RT") for head, tail in edges]
    release = Release(workspace.root, CLASSES, [*rows, rel("C0000008", "may_treat", "C0000006")])
    release.set_atoms([*release.atoms, atom("C0000007", "Gout", TS="S", AUI="A7")])
    release.build()
    return release, workspace


def test_a_class_is_called_by_parts_of_its_name_and_its_own_classes_are_the_drugs_too(
    classes: tuple[Release, Workspace],
) -> None:
    release, workspace = classes
    reader, graph = TextReader.open(release.connection, workspace.settings.notes), release.graph()
    asked = [*IN_CLASSES, "Allopurinol is an SSRI.", "Allopurinol treats gout."]
    answers = assess(release.connection, workspace, reader, graph, ["Gout."], [(0, statement) for statement in asked])
    told = dict(zip(asked, answers, strict=True))
    for statement, cui in IN_CLASSES.items():
        assert (told[statement].is_true, told[statement].ends[1]["cui"]) == (True, cui), statement
    assert [edge["tail_cui"] for edge in told["Cefazolin is an antibacterial."].path] == ["C0000003", "C0000004"]
    # Which of two classes a stroke leaves open.
    assert told["Allopurinol is an SSRI."].is_true is None
    # Two concepts have the name, of which the graph knows one; a third is called so besides.
    assert told["Allopurinol treats gout."].is_true is True
