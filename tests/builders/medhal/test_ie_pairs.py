"""Extracted values: read as they are written, said in a sentence, and swapped for one that is wrong of the document."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from builders.medhal.extraction import layout, note_of, read_value
from builders.medhal.items import Extraction, Pair
from builders.medhal.rules.check_extraction import check_extraction
from builders.medhal.rules.writer import RulesWriter
from builders.medhal.sources import acm
from builders.medhal.transform import ie
from builders.medhal.transform.ie import SwapPool, extraction_pairs, stated_extractions
from builders.medhal.writers import ExtractionInWords, Written
from builders.texts.origin import Origin, Refusal, Tally
from builders.texts.sources import text_sources
from tests.builders.medhal.ie_notes import NOTES, rows_of, write_rows

SOURCE = text_sources()["acm"]
PATIENT, TREATMENTS, SYMPTOMS, TESTS = "patient information", "treatments", "symptoms", "diagnosis tests"
NAME = (SYMPTOMS, "name of symptom")
TIME = (SYMPTOMS, "time")


def extractions(folder: Path, rows: Iterable[dict[str, Any]], tally: Tally | None = None) -> list[Extraction]:
    return list(acm.read(write_rows(folder, rows), SOURCE, tally or Tally()))


def pairs_of(items: Iterable[Extraction], tally: Tally | None = None, seed: int = 42) -> list[Pair]:
    tally = tally or Tally()
    stated = list(stated_extractions(items, tally))
    return list(extraction_pairs(stated, RulesWriter(seed), tally, SwapPool(stated, seed)))


@pytest.fixture(scope="module")
def items(tmp_path_factory: pytest.TempPathFactory) -> list[Extraction]:
    return extractions(tmp_path_factory.mktemp("notes") / "acm", rows_of())


@pytest.fixture(scope="module")
def pairs(items: list[Extraction]) -> list[Pair]:
    return pairs_of(items)


def test_values_are_read_with_their_references_and_empty_ones_left_out(items: list[Extraction]) -> None:
    by_name = {item.origin.inner_id: item for item in items}
    dose = by_name["knee/treatments/0/dosage"]
    assert (dose.value, dose.reference, dose.concept, dose.document) == (
        "15 mg",
        "Methotrexate",
        "dosage",
        NOTES["knee"],
    )
    assert (dose.origin.document, dose.origin.split) == ("knee", "train")
    assert by_name["knee/treatments/0/name"].reference is None
    assert by_name["skin/surgeries/0/type"].value == "Laparoscopic appendectomy"
    assert not {"knee/patient information/ethnicity", "knee/admission/0/reason"} & set(by_name)
    assert all(item.value.lower() not in ("none", "n/a") for item in items)


def test_bad_rows_are_counted_by_reason_and_the_others_read(tmp_path: Path) -> None:
    good = rows_of(["eye", "skin"])
    bad = [
        {**good[0], "idx": "a", "summary": "no summary"},
        {**good[0], "idx": "b", "full_note": " ", "note": None},
        good[0],
        {"idx": "c"},
        {**good[0], "idx": "d", "summary": '{"unheard of": "value", "patient information": {"age": "71"}}'},
        {**good[0], "idx": "e", "summary": '{"visit motivation": "Blurred vision", "admission": None}'},
    ]
    tally = Tally()
    found = extractions(tmp_path / "acm", [*good, *bad], tally)
    assert {item.origin.document for item in found} == {"eye", "skin", "d", "e"}
    reasons = {reason: n for (_, reason), n in tally.dropped.items()}
    assert reasons == {"summary_not_json": 1, "no_note": 1, "duplicate": 1, "malformed_row": 1, "unknown_concept": 1}
    assert tally.read["acm"] == len(found) + sum(reasons.values())


@pytest.mark.parametrize(
    ("slot", "value", "reference", "sentence"),
    [
        ((PATIENT, "age"), "Sixteen-year-old", None, "The age of the patient is the following: Sixteen-year-old."),
        ((PATIENT, "age"), "56", None, "The age of the patient is the following: 56 years old."),
        ((PATIENT, "sex"), "Woman", None, "The patient is female."),
        ((TREATMENTS, "dosage"), "5 mg.", "Dapsone", 'The patient receives "Dapsone" at the following dose: 5 mg.'),
        (TIME, "Past four months", "Pain", 'The time of the symptom "Pain" is the following: four months.'),
        (NAME, "Fever, chills (at night)", None, "The patient presents with the following: Fever, chills (at night)."),
    ],
)
def test_a_value_becomes_the_sentence_of_its_slot(
    slot: tuple[str, str], value: str, reference: str | None, sentence: str
) -> None:
    written = RulesWriter(42).extractions([ExtractionInWords(*slot, value, reference)])[0]
    assert isinstance(written, Written) and written.text == sentence


@pytest.mark.parametrize(
    ("slot", "value", "reference", "reason"),
    [
        (NAME, "Fever. Chills followed", None, "value_too_free"),
        (NAME, "swelling of the left knee and of the right ankle after running", None, "value_too_free"),
        (TIME, "some months", "cough", "value_too_free"),
        ((TESTS, "result"), "Normal", "MRI", "value_too_free"),
        ((TREATMENTS, "dosage"), "high dose", "aspirin", "value_too_free"),
        ((TREATMENTS, "dosage"), "5 mg", None, "no_reference"),
        ((PATIENT, "age"), "elderly", None, "value_too_free"),
        (("discharge", "discharge summary"), "Went home", None, "value_too_free"),
        (("no such category", "age"), "12", None, "value_too_free"),
    ],
)
def test_what_cannot_be_said_well_is_refused(
    slot: tuple[str, str], value: str, reference: str | None, reason: str
) -> None:
    assert RulesWriter(42).extractions([ExtractionInWords(*slot, value, reference)]) == [Refusal(reason)]


def test_a_slot_that_rules_say_has_a_kind_and_names_a_reference_only_where_there_can_be_one() -> None:
    for (_, concept), slot in layout().items():
        assert (slot.kind is None) == (slot.sentence is None)
        if slot.sentence is not None:
            assert slot.sentence.endswith("{value}.")
            assert "{reference}" not in slot.sentence or slot.reference not in (None, concept)


@pytest.mark.parametrize(
    ("note", "slot", "value", "doubt"),
    [
        ("He had a dry cough.", NAME, "Dry cough", None),
        ("She has had knee pains for twenty-five days.", NAME, "pain", None),
        ("A twenty-five-year-old man.", (PATIENT, "age"), "25 years old", None),
        ("He coughed for four months.", TIME, "Past 4 months", None),
        ("There was no fever.", NAME, "fever", "value_not_in_text"),
        ("There was no fever.", NAME, "no fever", "value_not_in_text"),
        ("Possible meningitis.", NAME, "meningitis", "value_not_in_text"),
        ("Meningitis was ruled out.", NAME, "meningitis", "value_not_in_text"),
        ("No fever.\nCough for two days", NAME, "cough", None),
        ("Her mother had asthma.", NAME, "asthma", "value_not_in_text"),
        ("A boy with his mother, a woman of 40.", (PATIENT, "sex"), "female", "text_says_otherwise"),
    ],
)
def test_a_note_says_a_value_where_it_neither_denies_nor_doubts_it(
    note: str, slot: tuple[str, str], value: str, doubt: str | None
) -> None:
    assert note_of(note).doubt(read_value(*slot, value), None) == doubt


@pytest.mark.parametrize(
    ("reference", "doubt"),
    [("cough", None), ("rash", "reference_not_in_text"), ("gout", "value_far_from_reference")],
)
def test_a_value_stands_near_what_it_is_about(reference: str, doubt: str | None) -> None:
    note = note_of(f"He had a cough for 3 months. {'He was well. ' * 30} He has gout.")
    assert note.doubt(read_value(*TIME, "3 months"), reference) == doubt


def test_a_swapped_value_comes_from_another_document_and_is_wrong_of_this_one(pairs: list[Pair]) -> None:
    assert len(pairs) > 35
    for pair in pairs:
        assert check_extraction(pair) is None, pair.wrong.statement
        assert pair.factual.factual and not pair.wrong.factual
        assert pair.factual.synthetic and pair.wrong.synthetic and pair.factual.rule == pair.wrong.rule
        assert pair.wrong.explanation == pair.factual.statement and pair.factual.explanation is None
    assert not any("fever" in pair.factual.statement.lower() for pair in pairs)


def test_attributes_with_two_values_are_switched(pairs: list[Pair]) -> None:
    switched = {pair.origin.document: pair.wrong.statement for pair in pairs if pair.guidance in ("male", "female")}
    assert switched == {name: f"The patient is {'male' if name in ('knee', 'eye') else 'female'}." for name in NOTES}


def test_pairs_do_not_depend_on_the_order_of_items_or_on_the_batch_size(
    items: list[Extraction], pairs: list[Pair], monkeypatch: pytest.MonkeyPatch
) -> None:
    shuffled = list(items)
    random.Random(5).shuffle(shuffled)
    by_name = {pair.origin.inner_id: pair for pair in pairs}
    assert {pair.origin.inner_id: pair for pair in pairs_of(shuffled)} == by_name
    monkeypatch.setattr(ie, "BATCH", 3)
    assert pairs_of(items) == pairs


def test_another_seed_chooses_other_partners(items: list[Extraction], pairs: list[Pair]) -> None:
    others = {seed: [pair.wrong.statement for pair in pairs_of(items, seed=seed)] for seed in (1, 2, 3)}
    assert any(found != [pair.wrong.statement for pair in pairs] for found in others.values())


def test_every_value_that_is_read_is_made_or_counted(items: list[Extraction], pairs: list[Pair]) -> None:
    tally = Tally()
    assert pairs_of(items, tally) == pairs
    assert len(pairs) + sum(tally.dropped.values()) == len(items)
    assert {reason for _, reason in tally.dropped} == {"value_not_in_text", "no_partner", "value_too_free"}


def one_value(document: str, slot: tuple[str, str], value: str, reference: str | None = None) -> Extraction:
    return Extraction(Origin("acm", document, document, "train"), document, *slot, value, reference, slot[1])


@pytest.mark.parametrize(
    ("slot", "one", "other"),
    [
        (NAME, ("She had a fever since Monday.", "fever"), ("He was seen for pyrexia.", "pyrexia")),
        ((TESTS, "test"), ("A CT scan was done.", "CT scan"), ("Computed tomography was done.", "computed tomography")),
        ((PATIENT, "age"), ("A 10-year-old boy.", "10 years old"), ("A boy, 10 years old.", "10-year-old")),
        (TIME, ("He had cough for 4 weeks.", "4 weeks"), ("She had cough for 5 weeks.", "5 weeks")),
        ((SYMPTOMS, "location"), ("It hurts in the thorax.", "thorax"), ("It hurts in the chest.", "chest")),
        ((TREATMENTS, "dosage"), ("Doses of 2.5-10 mg and of twenty mg.", "2.5-10 mg"), ("He took 20 mg.", "20 mg")),
    ],
)
def test_a_value_that_means_the_same_or_nearly_so_is_never_swapped_in(
    slot: tuple[str, str], one: tuple[str, str], other: tuple[str, str]
) -> None:
    tally = Tally()
    assert pairs_of([one_value(one[0], slot, one[1]), one_value(other[0], slot, other[1])], tally) == []
    assert tally.dropped == {("acm", "no_partner"): 2}


def test_a_general_word_is_never_swapped_in() -> None:
    slot = (TREATMENTS, "name")
    items = [one_value("He had dapsone.", slot, "dapsone"), one_value("She had antibiotics.", slot, "antibiotics")]
    assert pairs_of(items) == []


def test_the_check_refuses_a_pair_that_was_damaged(pairs: list[Pair]) -> None:
    dose = next(pair for pair in pairs if pair.origin.inner_id == "eye/treatments/0/dosage")
    same = replace(dose, wrong=dose.factual)
    other_drug = replace(
        dose, wrong=replace(dose.wrong, statement=dose.wrong.statement.replace("Prednisone", "Dapsone"))
    )
    sex = next(pair for pair in pairs if pair.origin.inner_id == "skin/patient information/sex")
    for damaged, reason in (
        (same, "judge_more_than_the_value_differs"),
        (other_drug, "judge_more_than_the_value_differs"),
        (replace(dose, context=NOTES["skin"]), "judge_value_not_in_context"),
        (replace(dose, context=f"{dose.context} {dose.wrong.statement}"), "judge_wrong_value_in_context"),
        (replace(sex, context=NOTES["eye"]), "judge_value_not_in_context"),
    ):
        assert check_extraction(damaged) == Refusal(reason)
