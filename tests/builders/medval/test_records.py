"""Inputs from notes: what a hospital course bears out of its discharge lists, and reports cut at their headings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from builders.medval.course_lists import Links, Mention, Part, reference_of
from builders.medval.items import Item
from builders.medval.records import findings_and_impression, missing_tables, read_records
from builders.texts.origin import Tally
from builders.texts.sources import text_sources
from ehr.sources.contract import make_views
from ground.contracts.rows_text import MedvalTask
from ground.storage.warehouse import connect
from kg.graph import ConceptGraph
from tests.kg.graphs import Release, rel

WORDS = {
    "pneumonia": "C0000001",
    "bacterial pneumonia": "C0000002",
    "hypertension": "C0000003",
    "fall": "C0000004",
    "lisinopril": "C0000010",
    "Zestril": "C0000011",
    "metoprolol tartrate": "C0000012",
    "metoprolol succinate": "C0000013",
    "metoprolol": "C0000014",
    "heparin": "C0000015",
    "PredniSONE": "C0000016",
}
GROUPS = {cui: "CHEM" if cui >= "C0000010" else "DISO" for cui in WORDS.values()}


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> ConceptGraph:
    concepts = {cui: f"{GROUPS[cui]} {name}" for name, cui in WORDS.items()}
    edges = [
        rel("C0000002", "isa", "C0000001", "SNOMEDCT_US"),
        rel("C0000011", "tradename_of", "C0000010", "RXNORM"),
        rel("C0000012", "form_of", "C0000014", "RXNORM"),
        rel("C0000013", "form_of", "C0000014", "RXNORM"),
    ]
    release = Release(tmp_path_factory.mktemp("course-graph"), concepts, edges)
    release.build()
    release.connection.close()
    return release.graph()


def part(text: str, **assertions: str) -> Part:
    """Return a text whose known words are mentions, present unless told otherwise (first word of the name)."""
    mentions: list[Mention] = []
    for name in sorted(WORDS, key=len, reverse=True):
        begin = text.lower().find(name.lower())
        while begin >= 0:
            end = begin + len(name)
            if not any(one.begin < end and begin < one.end for one in mentions):
                assertion = assertions.get(name.split()[0].lower(), "present")
                mentions.append(Mention(begin, end, (WORDS[name],), assertion))
            begin = text.lower().find(name.lower(), end)
    return Part(text, tuple(sorted(mentions, key=lambda one: one.begin)))


def lists(graph: ConceptGraph, course: Part, diagnoses: str | Part, medications: str = "") -> str | None:
    return reference_of(
        course,
        diagnoses if isinstance(diagnoses, Part) else part(f"Discharge Diagnosis:\n{diagnoses}\n"),
        part(f"Discharge Medications:\n{medications}\n"),
        Links(graph),
    )


DOUBTED = part("Hypertension; possible pneumonia", pneumonia="possible")
APART = "On day 2 a pneumonia was found. " + "He rested. " * 10 + "He had severe pain in his left arm."


@pytest.mark.parametrize(
    ("course", "diagnoses", "expected"),
    [
        ("Pneumonia resolved.", "Pneumonia", "Pneumonia"),
        ("He took lisinopril.", "Pneumonia", None),
        # without the first entry, or most of them, a list is no reference
        ("Hypertension was treated.", "Hypertension\nPneumonia\nFall", None),
        ("Hypertension was treated.", "Pneumonia\nHypertension", None),
        ("Hypertension was treated.", "Zzz of the chest\nHypertension", None),
        ("Hypertension was treated.", "s/p fall\nHypertension, stable", "Hypertension"),
        ("Hypertension and pneumonia were treated.", DOUBTED, "Hypertension"),
        ("Bacterial pneumonia was treated.", "Pneumonia", "Pneumonia"),
        ("Pneumonia was treated.", "Bacterial pneumonia", None),
        # words beside a concept stay where the course says them of it
        ("On day 2 a severe left pneumonia was found.", "Severe left pneumonia", "Severe left pneumonia"),
        (APART, "Severe left pneumonia", "pneumonia"),
        ("After a fall he had pneumonia and hypertension.",
         "PRIMARY: 1. Pneumonia, resolved\n2. s/p fall with:\nSECONDARY:\n- hypertension.", "Pneumonia; hypertension"),
        ("Pneumonia.", "Pneumonia\nPNEUMONIA", "Pneumonia"),
    ],
)  # fmt: skip
def test_a_diagnosis_stays_where_the_course_bears_it_out(
    graph: ConceptGraph, course: str, diagnoses: str | Part, expected: str | None
) -> None:
    assert lists(graph, part(course), diagnoses) == (expected and f"Discharge diagnoses: {expected}.")


@pytest.mark.parametrize("assertion", ["absent", "possible", "family", "historical", "hypothetical"])
def test_a_diagnosis_that_the_course_denies_or_doubts_is_left_out(graph: ConceptGraph, assertion: str) -> None:
    course = part("Hypertension was treated. The x-ray spoke of pneumonia.", pneumonia=assertion)
    assert lists(graph, course, "Hypertension; pneumonia") == "Discharge diagnoses: Hypertension."


@pytest.mark.parametrize(
    ("course", "medications", "expected"),
    [
        ("lisinopril was begun", "1. Lisinopril 5 mg PO DAILY\n2. Heparin 5000 UNIT SC", "Lisinopril"),
        ("Zestril was begun", "1. Lisinopril 5 mg PO DAILY", "Lisinopril"),  # a brand bears out its ingredient
        ("metoprolol succinate was begun", "1. Metoprolol tartrate 25 mg PO BID", None),  # another salt
        ("lisinopril and heparin",
         "1. HELD- Lisinopril 5 mg PO DAILY\n2. Heparin Flush (10 units/ml) 2 mL IV\nSTOP heparin", None),
    ],
)  # fmt: skip
def test_a_medication_stays_where_the_course_bears_it_out(
    graph: ConceptGraph, course: str, medications: str, expected: str | None
) -> None:
    reference = lists(graph, part(f"Hypertension: {course}."), "Hypertension", medications)
    assert reference == "Discharge diagnoses: Hypertension." + (
        f"\nDischarge medications: {expected}." if expected else ""
    )


@pytest.mark.parametrize(
    ("said", "stays"),
    [
        ("extubated after a dose of lisinopril overnight", False),
        ("lisinopril IV x1", False),
        ("received lisinopril", False),
        ("lisinopril", True),
        ("home lisinopril after dialysis", True),
        ("given IV lisinopril. Discharged on lisinopril", True),
    ],
)
def test_a_drug_of_the_stay_alone_is_no_drug_of_the_discharge(graph: ConceptGraph, said: str, stays: bool) -> None:
    found = lists(graph, part(f"Hypertension: {said}."), "Hypertension", "1. Lisinopril 5 mg PO DAILY")
    assert found == "Discharge diagnoses: Hypertension." + "\nDischarge medications: Lisinopril." * stays


@pytest.mark.parametrize("assertion", ["discontinued", "absent", "allergy", "possible", "hypothetical"])
def test_a_drug_that_the_course_stops_or_denies_is_left_out(graph: ConceptGraph, assertion: str) -> None:
    course = part("Hypertension: heparin was given, lisinopril begun.", heparin=assertion)
    assert lists(graph, course, "Hypertension", "1. Heparin 5000 UNIT SC BID\n2. Lisinopril 5 mg PO DAILY") == (
        "Discharge diagnoses: Hypertension.\nDischarge medications: Lisinopril."
    )


@pytest.mark.parametrize(
    ("course", "listed", "expected"),
    [
        ("lisinopril 5 mg daily", "Lisinopril 5 mg PO DAILY", "Lisinopril 5 mg daily"),
        ("lisinopril was reduced to 5 mg", "Lisinopril 5 mg PO DAILY", "Lisinopril 5 mg"),
        ("lisinopril 10 mg daily", "Lisinopril 5 mg PO DAILY", "Lisinopril"),
        ("lisinopril from 10 mg to 5 mg", "Lisinopril 5 mg PO DAILY", "Lisinopril"),
        ("lisinopril 5 mg BID", "Lisinopril 5 mg PO DAILY", "Lisinopril 5 mg"),
        ("lisinopril. He got 5 mg of something", "Lisinopril 5 mg PO DAILY", "Lisinopril"),
        ("lisinopril, heparin 5 mg", "Lisinopril 5 mg PO DAILY", "Lisinopril"),
        ("lisinopril", "Lisinopril ___ mg PO DAILY", "Lisinopril"),
        ("prednisone 1,000 mg", "PredniSONE 1000 mg PO DAILY", "Prednisone 1000 mg"),
        ("heparin 5000 units BID", "Heparin 5000 UNIT SC BID:PRN clot", "Heparin 5000 UNIT"),
    ],
)
def test_a_dose_stays_where_the_course_states_the_same(
    graph: ConceptGraph, course: str, listed: str, expected: str
) -> None:
    found = lists(graph, part(f"Hypertension: {course}."), "Hypertension", f"1. {listed}")
    assert found == f"Discharge diagnoses: Hypertension.\nDischarge medications: {expected}."


COURSE = "Brief Hospital Course:\n# PNEUMONIA: treated with rest.\n" + "She walked in the hall. " * 10 + "\n\n"
LATER = "# HYPERTENSION: stable, zzz.\n"
NOTE = f"Service: MEDICINE\n{COURSE}Allergies: none\n{LATER}Discharge Diagnosis:\nPneumonia\n"


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A warehouse with three notes: whole, without a diagnosis section, with a short course."""
    connection = connect(tmp_path / "warehouse.duckdb")
    connection.execute("create table mimiciv_note.discharge (note_id varchar, subject_id bigint, text varchar)")
    connection.execute(
        "create table ground.section (note_id varchar, hadm_id bigint, section varchar, header varchar, "
        "begin_offset integer, end_offset integer)"
    )
    connection.execute(
        "create table ground.mention (note_id varchar, hadm_id bigint, begin_offset integer, end_offset integer, "
        "text varchar, cuis varchar[], assertion varchar, section varchar)"
    )
    make_views(connection)
    no_diagnosis = NOTE[: NOTE.index("Discharge Diagnosis")]
    for subject, text in enumerate((NOTE, no_diagnosis, "Brief Hospital Course:\nUneventful.\n"), 1):
        name = f"{subject}-DS-1"
        connection.execute("insert into mimiciv_note.discharge values (?, ?, ?)", [name, subject, text])
        for section, piece in (("brief_hospital_course", COURSE), ("brief_hospital_course", LATER),
                               ("brief_hospital_course", "Brief Hospital Course:\nUneventful.\n"),
                               ("discharge_diagnosis", "Discharge Diagnosis:\nPneumonia\n")):  # fmt: skip
            begin = text.find(piece)
            if begin >= 0:
                place = [name, section, begin, begin + len(piece)]
                connection.execute("insert into ground.section values (?, 1, ?, '', ?, ?)", place)
                word = text.lower().find("pneumonia", begin, begin + len(piece))
                if word >= 0:
                    values = [name, word, word + 9, ["C0000001"], section]
                    connection.execute("insert into ground.mention values (?, 1, ?, ?, '', ?, 'present', ?)", values)
    yield connection
    connection.close()


def read(
    connection: duckdb.DuckDBPyConnection, graph: ConceptGraph | None, source: str, task: MedvalTask
) -> tuple[list[Item], Tally]:
    tally = Tally()
    return list(read_records(connection, graph, text_sources()[source], task, tally)), tally


@pytest.mark.parametrize("task", ["course2diagnosis", "bhc2spanish"])
def test_how_many_notes_are_read_at_once_changes_nothing(
    notes: duckdb.DuckDBPyConnection, graph: ConceptGraph, monkeypatch: pytest.MonkeyPatch, task: MedvalTask
) -> None:
    together, tally = read(notes, graph, "mimic_discharge", task)
    monkeypatch.setattr("builders.medval.records.NOTES_AT_ONCE", 1)
    apart, of_each = read(notes, graph, "mimic_discharge", task)
    assert together == apart and len(together) > 0
    assert tally == of_each and tally.read["mimic_discharge"] == 3


def test_a_course_is_put_together_from_its_pieces_without_its_title(
    notes: duckdb.DuckDBPyConnection, graph: ConceptGraph
) -> None:
    items, tally = read(notes, graph, "mimic_discharge", "course2diagnosis")
    (item,) = items
    assert item.input == (COURSE + LATER).removeprefix("Brief Hospital Course:\n").strip()
    assert item.reference == "Discharge diagnoses: Pneumonia."
    assert (item.origin.inner_id, item.origin.document, item.origin.subject_id) == ("1-DS-1", "1-DS-1", 1)
    assert tally.read["mimic_discharge"] == 3
    assert tally.dropped == {
        ("mimic_discharge", "no_discharge_diagnosis"): 1,
        ("mimic_discharge", "short_course"): 1,
    }


def test_a_course_to_be_translated_has_no_reference_and_needs_no_diagnosis(notes: duckdb.DuckDBPyConnection) -> None:
    items, _ = read(notes, None, "mimic_discharge", "bhc2spanish")
    assert [(item.origin.inner_id, item.reference) for item in items] == [("1-DS-1", None), ("2-DS-1", None)]
    assert items[0].input == items[1].input


REPORT = (
    "EXAMINATION:  CHEST (PA AND LAT)\n\nINDICATION:  cough\n\nFINDINGS: \n \nThe lungs are clear. The heart is normal"
    " in size.\n \nIMPRESSION: \n \nNo acute process.\n"
)


def test_findings_and_impression_end_at_the_next_heading() -> None:
    found = ("The lungs are clear. The heart is normal in size.", "No acute process.")
    assert findings_and_impression(REPORT) == found
    assert findings_and_impression(f"{REPORT}\nNOTIFICATION:  called at noon\n") == found


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (REPORT + REPORT, "several_examinations"),
        (f"ADDENDUM: seen again.\n{REPORT}", "addendum"),
        (REPORT.replace("No acute process.", "___"), "no_impression"),
        (REPORT.replace("FINDINGS", "TECHNIQUE"), "no_findings"),
    ],
)
def test_a_report_without_one_of_each_is_left_out_with_its_reason(text: str, reason: str) -> None:
    assert findings_and_impression(text) == reason


def test_radiology_notes_give_two_tasks(notes: duckdb.DuckDBPyConnection) -> None:
    assert missing_tables(notes, "report2impression") == ["ehr.radiology_note"]
    notes.execute("create table mimiciv_note.radiology (note_id varchar, subject_id bigint, text varchar)")
    make_views(notes)
    rows = [
        ("2-RR-1", 2, REPORT),
        ("1-RR-1", 1, REPORT),
        ("3-RR-1", 3, REPORT + REPORT),
        ("4-RR-1", 4, "IMPRESSION: x"),
    ]
    notes.executemany("insert into mimiciv_note.radiology values (?, ?, ?)", rows)
    assert missing_tables(notes, "report2impression") == []
    items, tally = read(notes, None, "mimic_radiology", "report2impression")
    assert [(item.origin.inner_id, item.reference) for item in items] == [
        ("1-RR-1", "No acute process."),
        ("2-RR-1", "No acute process."),
    ]
    assert tally.dropped == {("mimic_radiology", "several_examinations"): 1}
    plain, _ = read(notes, None, "mimic_radiology", "impression2simplified")
    assert [(item.input, item.reference) for item in plain] == [("No acute process.", None)] * 2


def test_a_workspace_without_a_warehouse_lacks_all_tables() -> None:
    assert missing_tables(None, "course2diagnosis") == ["ehr.discharge_note", "ground.section", "ground.mention"]
