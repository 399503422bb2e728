"""Swapped values: wrong of their document, right in everything else, and the same whatever the order."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from builders.medhal.items import Extraction, Pair
from builders.medhal.rules.check_extraction import check_extraction
from builders.medhal.sources import acm
from builders.medhal.transform import ie
from builders.medhal.transform.ie import extraction_pairs
from builders.texts.origin import Tally
from builders.texts.sources import text_sources
from ground.errors import InputError
from ground.settings import MedhalSettings
from tests.builders.medhal.ie_notes import NOTES, ByRules, rows_of, write_rows

SOURCE = text_sources()["acm"]


def extractions(folder: Path, rows: Iterable[dict[str, Any]], tally: Tally | None = None) -> list[Extraction]:
    return list(acm.read(write_rows(folder, rows), SOURCE, tally or Tally()))


def pairs_of(items: Iterable[Extraction], tally: Tally | None = None, seed: int = 42) -> list[Pair]:
    return list(extraction_pairs(items, ByRules(), MedhalSettings(seed=seed), tally or Tally()))


@pytest.fixture(scope="module")
def items(tmp_path_factory: pytest.TempPathFactory) -> list[Extraction]:
    return extractions(tmp_path_factory.mktemp("notes") / "acm", rows_of())


@pytest.fixture(scope="module")
def pairs(items: list[Extraction]) -> list[Pair]:
    return pairs_of(items)


def test_values_are_read_with_their_references_and_empty_ones_left_out(items: list[Extraction]) -> None:
    by_name = {item.origin.inner_id: item for item in items}
    dose = by_name["knee/treatments/0/dosage"]
    assert (dose.value, dose.reference, dose.category, dose.concept) == (
        "15 mg",
        "Methotrexate",
        "treatments",
        "dosage",
    )
    assert dose.document == NOTES["knee"] and dose.origin.document == "knee" and dose.origin.split == "train"
    assert by_name["knee/treatments/0/name"].reference is None
    assert by_name["skin/surgeries/0/type"].value == "Laparoscopic appendectomy"
    assert not {"knee/patient information/ethnicity", "knee/admission/0/reason"} & set(by_name)
    assert all(item.value.lower() not in ("none", "n/a") for item in items)


def test_a_summary_written_with_pythons_none_is_read_too(tmp_path: Path) -> None:
    row = {**rows_of(["eye"])[0], "summary": '{"visit motivation": "Blurred vision", "admission": None}'}
    assert [item.value for item in extractions(tmp_path / "acm", [row])] == ["Blurred vision"]


def test_bad_rows_are_counted_by_reason_and_the_others_read(tmp_path: Path) -> None:
    good = rows_of(["eye", "skin"])
    bad = [
        {**good[0], "idx": "a", "summary": "no summary"},
        {**good[0], "idx": "b", "full_note": " ", "note": None},
        good[0],
        {"idx": "c"},
        {**good[0], "idx": "d", "summary": '{"unheard of": "value", "patient information": {"age": "71"}}'},
    ]
    tally = Tally()
    found = extractions(tmp_path / "acm", [*good, *bad], tally)
    assert {item.origin.document for item in found} == {"eye", "skin", "d"}
    reasons = {reason: n for (_, reason), n in tally.dropped.items()}
    assert reasons == {"summary_not_json": 1, "no_note": 1, "duplicate": 1, "malformed_row": 1, "unknown_concept": 1}
    assert tally.read["acm"] == len(found) + sum(reasons.values())


def test_a_folder_or_a_file_of_another_layout_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no Augmented Clinical Notes"):
        list(acm.read(tmp_path, SOURCE, Tally()))
    (tmp_path / "other.jsonl").write_text('{"question": "?"}\n')
    with pytest.raises(InputError, match="another layout") as caught:
        list(acm.read(tmp_path, SOURCE, Tally()))
    assert caught.value.line == 1 and "idx" in str(caught.value.expected)


def test_the_paper_s_example_is_made(pairs: list[Pair]) -> None:
    age = next(pair for pair in pairs if pair.origin.inner_id == "knee/patient information/age")
    assert age.factual.statement == "The patient is 16 years old."
    assert age.wrong.statement in {f"The patient is {n} years old." for n in (33, 56, 71)}
    assert age.wrong.explanation == age.factual.statement and age.factual.explanation is None
    assert age.guidance == "16 years old" and age.context == NOTES["knee"]


def test_a_swapped_value_comes_from_another_document_and_is_wrong_of_this_one(pairs: list[Pair]) -> None:
    assert len(pairs) > 25
    for pair in pairs:
        assert check_extraction(pair) is None, pair.wrong.statement
        assert pair.factual.factual and not pair.wrong.factual
        assert pair.factual.synthetic and pair.wrong.synthetic and pair.factual.rule == pair.wrong.rule


def test_what_the_note_denies_or_does_not_say_is_left_out(pairs: list[Pair]) -> None:
    assert not any("fever" in pair.factual.statement.lower() for pair in pairs)
    assert not any("home" in pair.factual.statement for pair in pairs)


def test_attributes_with_two_values_are_switched(pairs: list[Pair]) -> None:
    switched = {
        pair.origin.inner_id: (pair.factual.statement, pair.wrong.statement)
        for pair in pairs
        if pair.guidance in ("male", "female", "a smoker", "a non-smoker")
    }
    assert switched["knee/patient information/sex"] == ("The patient is female.", "The patient is male.")
    assert switched["chest/patient medical history/smoking status"] == (
        "The patient is a smoker.",
        "The patient is a non-smoker.",
    )
    assert len(switched) == 6


def test_a_name_keeps_its_capital_and_another_first_word_loses_it(pairs: list[Pair]) -> None:
    texts = {pair.origin.inner_id: pair.factual.statement for pair in pairs}
    assert texts["eye/patient medical history/physiological context"] == (
        "The patient's medical history includes Crohn's disease."
    )
    assert texts["skin/treatments/0/name"] == "The patient's treatments include dapsone."
    wrong = next(p.wrong.statement for p in pairs if p.origin.inner_id.startswith("skin/patient medical"))
    assert wrong == "The patient's medical history includes Crohn's disease."


def test_pairs_do_not_depend_on_the_order_of_items_or_on_the_batch_size(
    items: list[Extraction], pairs: list[Pair], monkeypatch: pytest.MonkeyPatch
) -> None:
    shuffled = list(items)
    random.Random(5).shuffle(shuffled)
    assert pairs_of(shuffled) == pairs
    monkeypatch.setattr(ie, "ROWS_AT_ONCE", 3)
    assert pairs_of(items) == pairs


def test_another_seed_chooses_other_partners(items: list[Extraction], pairs: list[Pair]) -> None:
    others = {seed: [pair.wrong.statement for pair in pairs_of(items, seed=seed)] for seed in (1, 2, 3)}
    assert any(found != [pair.wrong.statement for pair in pairs] for found in others.values())


def test_every_value_that_is_read_is_made_or_counted(items: list[Extraction]) -> None:
    tally = Tally()
    made = pairs_of(items, tally)
    assert len(made) + sum(tally.dropped.values()) == len(items)
    assert {reason for _, reason in tally.dropped} <= {
        "value_not_in_text",
        "reference_not_in_text",
        "value_far_from_reference",
        "text_says_otherwise",
        "no_partner",
        "value_too_free",
        "no_reference",
        "reference_too_free",
    }


def one_value(document: str, name: str, category: str, concept: str, value: str, **more: Any) -> Extraction:
    base = extractions_template()
    return replace(
        base,
        origin=replace(base.origin, inner_id=name, document=name),
        document=document,
        category=category,
        concept=concept,
        value=value,
        value_type=concept,
        reference=more.get("reference"),
    )


def extractions_template() -> Extraction:
    from builders.texts.origin import Origin

    return Extraction(Origin("acm", "x", "x", "train"), "", "", "", "", None, "")


def test_a_value_that_means_the_same_is_never_swapped_in() -> None:
    items = [
        one_value("She had a fever since Monday.", "a", "symptoms", "name of symptom", "fever"),
        one_value("He was seen for pyrexia.", "b", "symptoms", "name of symptom", "pyrexia"),
        one_value("A CT scan was done.", "c", "diagnosis tests", "test", "CT scan"),
        one_value("Computed tomography was done.", "d", "diagnosis tests", "test", "computed tomography"),
        one_value("He is a 10-year-old boy.", "e", "patient information", "age", "10 years old"),
        one_value("A boy, 10 years old.", "f", "patient information", "age", "10-year-old"),
    ]
    tally = Tally()
    assert pairs_of(items, tally) == []
    assert tally.dropped == {("acm", "no_partner"): 6}


def test_a_general_word_is_never_swapped_in() -> None:
    items = [
        one_value("He had dapsone.", "a", "treatments", "name", "dapsone"),
        one_value("She had antibiotics.", "b", "treatments", "name", "antibiotics"),
    ]
    pairs = pairs_of(items)
    assert [pair.wrong.statement for pair in pairs] == ["The patient's treatments include dapsone."]


def test_times_that_lie_near_each_other_are_not_swapped() -> None:
    items = [
        one_value("He had cough for 3 months.", "a", "symptoms", "time", "3 months", reference="cough"),
        one_value("She had cough for 12 weeks.", "b", "symptoms", "time", "12 weeks", reference="cough"),
    ]
    assert pairs_of(items) == []


def test_the_check_refuses_a_pair_that_was_damaged(pairs: list[Pair]) -> None:
    dose = next(pair for pair in pairs if pair.origin.inner_id == "eye/treatments/0/dosage")
    same = replace(dose, wrong=dose.factual)
    other_drug = replace(
        dose, wrong=replace(dose.wrong, statement=dose.wrong.statement.replace("prednisone", "dapsone"))
    )
    elsewhere = replace(dose, context=NOTES["skin"])
    for damaged, reason in (
        (same, "judge_more_than_the_value_differs"),
        (other_drug, "judge_more_than_the_value_differs"),
        (elsewhere, "judge_value_not_in_context"),
        (replace(dose, context=f"{dose.context} {dose.wrong.statement}"), "judge_wrong_value_in_context"),
    ):
        refusal = check_extraction(damaged)
        assert refusal is not None and refusal.reason == reason
    sex = next(pair for pair in pairs if pair.origin.inner_id == "skin/patient information/sex")
    refusal = check_extraction(replace(sex, context=NOTES["eye"]))
    assert refusal is not None and refusal.reason == "judge_value_not_in_context"
