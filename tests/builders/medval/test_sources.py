"""Readers of MedVAL's text sources, over invented files in the sources' layouts."""

from __future__ import annotations

from pathlib import Path

import pytest

from builders.medval.items import Item
from builders.medval.sources import READERS, assessment_and_plan
from builders.texts.origin import Tally
from builders.texts.sources import text_sources
from ground.contracts.rows_text import MedvalTask
from ground.errors import InputError
from tests.builders.medval import text_folders


def read(texts: Path, name: str, task: MedvalTask) -> tuple[list[Item], Tally]:
    source, tally = text_sources()[name], Tally()
    return list(READERS[source.layout].read(texts / source.folder, source, task, tally)), tally


def test_there_is_a_reader_for_every_layout_of_files() -> None:
    layouts = {one.layout for one in text_sources().values() if one.dataset == "medval"}
    assert layouts - {"workspace"} == set(READERS)


def test_a_health_question_is_kept_as_it_stands_and_its_summary_without_double_blanks(tmp_path: Path) -> None:
    items, tally = read(text_folders.meqsum(tmp_path, n=3), "meqsum", "query2question")
    assert [item.origin.inner_id for item in items] == ["0.txt", "1.txt", "2.txt"]
    assert items[0].input.startswith("SUBJECT: my medicine\nMESSAGE: I am 30")
    assert items[0].reference == "What are the side effects of lisinopril?"
    assert tally.read["meqsum"] == 3 and not tally.dropped


def test_a_question_in_two_rows_is_one_document_and_may_lack_its_answer(tmp_path: Path) -> None:
    items, tally = read(text_folders.medicationqa(tmp_path), "medicationqa", "medication2answer")
    assert items[0].origin.document == items[1].origin.document != items[2].origin.document
    assert [item.reference for item in items] == ["It thins the blood.", "It blocks factor Xa.", None]
    assert tally.dropped == {("medicationqa", "no_question"): 1}


REPORTS = [("The lungs are clear.", "Normal chest."), ("Left effusion &amp; edema.", ""), ("", "No film.")]


def test_a_chest_report_gives_findings_and_impression(tmp_path: Path) -> None:
    items, tally = read(text_folders.openi(tmp_path, REPORTS), "openi", "report2impression")
    assert [(item.origin.inner_id, item.input, item.reference) for item in items] == [
        ("CXR1", "The lungs are clear.", "Normal chest.")
    ]
    assert tally.dropped == {("openi", "no_findings"): 1, ("openi", "no_impression"): 1}


def test_plain_language_has_no_reference_and_needs_no_impression(tmp_path: Path) -> None:
    items, _ = read(text_folders.openi(tmp_path, REPORTS), "openi", "report2simplified")
    assert [(item.input, item.reference) for item in items] == [
        ("The lungs are clear.", None),
        ("Left effusion & edema.", None),
    ]


def test_the_two_layouts_of_chest_reports_give_the_same_items(tmp_path: Path) -> None:
    reports = [("The lungs are clear.", "Normal chest."), ("Left effusion.", "Effusion.")]
    of_xml, _ = read(text_folders.openi(tmp_path / "xml", reports), "openi", "report2impression")
    of_table, _ = read(text_folders.indiana(tmp_path / "table", reports), "openi", "report2impression")
    assert of_xml == of_table and len(of_xml) == 2


def test_reports_are_read_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    text_folders.openi(tmp_path, [(f"Finding {n}.", f"Impression {n}.") for n in range(1, 12)])
    items, _ = read(tmp_path, "openi", "report2impression")
    assert [item.origin.inner_id for item in items] == [f"CXR{n}" for n in range(1, 12)]


def test_an_xml_file_that_is_no_report_is_counted(tmp_path: Path) -> None:
    text_folders.openi(tmp_path, [("The lungs are clear.", "Normal chest.")])
    folder = tmp_path / "openi" / "ecgen-radiology"
    (folder / "2.xml").write_text("<eCitation>")
    (folder / "3.xml").write_text("<other/>")
    items, tally = read(tmp_path, "openi", "report2impression")
    assert len(items) == 1 and tally.dropped == {("openi", "no_report"): 2} and tally.read["openi"] == 3


def test_the_reference_of_a_visit_is_its_assessment_and_plan(tmp_path: Path) -> None:
    text_folders.aci_bench(tmp_path, file="train.csv")
    text_folders.aci_bench(tmp_path, file="valid.csv")
    text_folders.aci_bench(tmp_path, [text_folders.NOTE, "PLAN\n\nRest."], file="clef_taskC_test3.csv")
    items, tally = read(tmp_path, "aci_bench", "dialogue2note")
    assert [item.origin.split for item in items] == ["test", "train", "validation"]
    assert items[0].reference == (
        "ASSESSMENT\n\nHypertension, under good control on lisinopril 20 mg daily.\n\n"
        "PLAN\n\nContinue lisinopril 20 mg daily. Return in 6 weeks."
    )
    assert tally.dropped == {("aci_bench", "no_assessment_and_plan"): 1}


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        ("HPI\n\nx\n\nASSESSMENT AND PLAN\n\nGout. Rest.\n\nINSTRUCTIONS\n\ny", "ASSESSMENT AND PLAN\n\nGout. Rest."),
        ("IMPRESSION:\n\nGout.\n\nPLAN\n\nRest.", "IMPRESSION:\n\nGout.\n\nPLAN\n\nRest."),
        ("ASSESSMENT\n\nGout.\n\nEXAM\n\nx\n\nPLAN\n\nRest.", "ASSESSMENT\n\nGout.\n\nPLAN\n\nRest."),
        ("ASSESSMENT\n\nGout.", None),
        ("ASSESSMENT\n\nPLAN\n\nRest.", None),
        ("HPI\n\nThe plan is rest.", None),
    ],
)
def test_headings_bound_assessment_and_plan(note: str, expected: str | None) -> None:
    assert assessment_and_plan(note) == expected


BRONCHITIS = "Bronchitis, getting better. Rest, fluids, no antibiotics."


def test_only_assessments_and_plans_of_a_patients_conversation_are_notes_of_a_visit(tmp_path: Path) -> None:
    spoken = "Doctor: How are you?\nPatient: Better."
    rows = [
        ("0", "ASSESSMENT", BRONCHITIS, spoken),
        ("1", "GENHX", "Smoker.", spoken),
        ("2", "PLAN", BRONCHITIS, "Doctor: What now?\nGuest_clinician: Rest."),
        ("3", "PLAN", "", spoken),
        ("5", "PLAN", "As tolerated.", spoken),
        ("4", "plan", BRONCHITIS, "Doctor: What now?\r\nGuest_family_2: We rest."),
    ]
    text_folders.mts_dialog(tmp_path, rows)
    text_folders.mts_dialog(tmp_path, rows[:1], file="MTS-Dialog-TestSet-1-MEDIQA-Chat-2023.csv")
    items, tally = read(tmp_path, "mts_dialog", "dialogue2note")
    assert [(item.origin.inner_id, item.origin.split) for item in items] == [
        ("TestSet-1-MEDIQA-Chat-2023/0", "test"),
        ("TrainingSet/0", "train"),
        ("TrainingSet/4", "train"),
    ]
    assert "\r" not in items[2].input
    assert tally.dropped == {
        ("mts_dialog", "other_section"): 1,
        ("mts_dialog", "no_patient_speaks"): 1,
        ("mts_dialog", "empty_field"): 1,
        ("mts_dialog", "short_section"): 1,
    }


@pytest.mark.parametrize(
    ("table", "wrong"),
    [
        (b"ID,text\n1,x\n", "no column section_header"),
        (b'ID,section_header,section_text,dialogue\n1,PLAN,Rest.,"Patient: secret" x\n', "cannot be read"),
        (b"ID,section_header,section_text,dialogue\n1,PLAN,caf\xe9,secret\n", "in UTF-8"),
    ],
    ids=["columns", "broken", "encoding"],
)
def test_a_table_of_another_layout_is_an_error_that_quotes_no_text(tmp_path: Path, table: bytes, wrong: str) -> None:
    text_folders.table(tmp_path / "mts_dialog" / "MTS-Dialog-TrainingSet.csv", ("ID",), []).write_bytes(table)
    with pytest.raises(InputError) as caught:
        read(tmp_path, "mts_dialog", "dialogue2note")
    assert wrong in str(caught.value) and "secret" not in str(caught.value)


@pytest.mark.parametrize("columns", [("File", "CHQ"), None])
def test_a_workbook_of_another_layout_is_an_error(tmp_path: Path, columns: tuple[str, ...] | None) -> None:
    path = tmp_path / "meqsum" / "MeQSum.xlsx"
    text_folders.workbook(path, columns or (), [])
    if columns is None:
        path.write_text("no workbook")
    with pytest.raises(InputError, match="a workbook lacks columns" if columns else "a workbook cannot be read"):
        read(tmp_path, "meqsum", "query2question")


def test_a_folder_without_the_source_gives_nothing(tmp_path: Path) -> None:
    assert all(not reader.files(tmp_path / "absent") for reader in READERS.values())


@pytest.mark.real
def test_the_real_texts_are_read_whole(real_data: Path) -> None:
    wanted: dict[str, tuple[MedvalTask, int]] = {
        "meqsum": ("query2question", 1000),
        "aci_bench": ("dialogue2note", 204),
        "mts_dialog": ("dialogue2note", 54),
    }
    for name, (task, n) in wanted.items():
        items, tally = read(real_data / "text", name, task)
        assert len(items) == n == tally.read[name] - sum(tally.dropped.values())
        assert all(item.input and item.reference for item in items)
