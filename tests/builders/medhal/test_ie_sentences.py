"""Values as rules read them, and the sentences that say them."""

from __future__ import annotations

import pytest

from builders.medhal.rules.extraction import sentence_of
from builders.medhal.rules.extraction_tables import layout, templates
from builders.medhal.rules.reading import features_of, normal_words, places_of, spoken
from builders.medhal.rules.values import SHAPES, read_value
from builders.medhal.writers import ExtractionInWords, Written
from builders.texts.origin import Refusal

TREATMENTS, SYMPTOMS, TESTS = "treatments", "symptoms", "diagnosis tests"


def said(category: str, concept: str, value: str, reference: str | None = None) -> str | None:
    written = sentence_of(ExtractionInWords(category, concept, value, reference))
    return written.text if isinstance(written, Written) else None


@pytest.mark.parametrize(
    ("category", "concept", "value", "reference", "sentence"),
    [
        ("patient information", "age", "10 years old", None, "The patient is 10 years old."),
        ("patient information", "age", "Sixteen-year-old", None, "The patient is 16 years old."),
        ("patient information", "age", "56", None, "The patient is 56 years old."),
        ("patient information", "age", "9 months old", None, "The patient is 9 months old."),
        ("patient information", "sex", "Woman", None, "The patient is female."),
        ("patient medical history", "smoking status", "Never smoked", None, "The patient is a non-smoker."),
        (
            TREATMENTS,
            "dosage",
            "5 mg per day",
            "olanzapine",
            "The patient receives olanzapine at a dose of 5 mg per day.",
        ),
        (TREATMENTS, "frequency", "Twice a day", "olanzapine", "The patient receives olanzapine twice a day."),
        (TREATMENTS, "duration", "for the past 3 weeks", "dapsone", "The patient receives dapsone for 3 weeks."),
        (SYMPTOMS, "time", "Past four months", "back pain", "The duration of the patient's back pain is four months."),
        (SYMPTOMS, "time", "Three years ago", "vertigo", "The patient's vertigo began three years ago."),
        (SYMPTOMS, "location", "The left knee", "swelling", "The site of the patient's swelling is the left knee."),
        (TESTS, "result", "shadow in the right lobe", "chest X-ray", "The chest X-ray shows shadow in the right lobe."),
    ],
)
def test_a_value_of_a_known_shape_becomes_one_sentence(
    category: str, concept: str, value: str, reference: str | None, sentence: str
) -> None:
    assert said(category, concept, value, reference) == sentence


@pytest.mark.parametrize(
    ("category", "concept", "value", "reference", "reason"),
    [
        (SYMPTOMS, "name of symptom", "No fever", None, "value_too_free"),
        (SYMPTOMS, "name of symptom", "Possible pneumonia", None, "value_too_free"),
        (SYMPTOMS, "name of symptom", "Fever. Chills followed", None, "value_too_free"),
        (SYMPTOMS, "name of symptom", "Pain that was worse at night", None, "value_too_free"),
        (SYMPTOMS, "name of symptom", "Fever, chills (at night)", None, "value_too_free"),
        (
            SYMPTOMS,
            "name of symptom",
            "swelling of the left knee and of the right ankle after running",
            None,
            "value_too_free",
        ),
        (SYMPTOMS, "time", "more than 3 months", "cough", "value_too_free"),
        (SYMPTOMS, "location", "all over", "rash", "value_too_free"),
        (TESTS, "result", "Normal", "MRI", "value_too_free"),
        (TREATMENTS, "dosage", "high dose", "aspirin", "value_too_free"),
        (TREATMENTS, "dosage", "5 mg", None, "no_reference"),
        (TREATMENTS, "dosage", "5 mg", "drugs that were not named", "reference_too_free"),
        (TESTS, "result", "enlarged left atrium", "Laboratory tests", "reference_too_free"),
        ("patient information", "age", "elderly", None, "value_too_free"),
        ("discharge", "discharge summary", "Went home", None, "value_too_free"),
        ("no such category", "age", "12", None, "value_too_free"),
    ],
)
def test_what_cannot_be_said_well_is_refused(
    category: str, concept: str, value: str, reference: str | None, reason: str
) -> None:
    assert sentence_of(ExtractionInWords(category, concept, value, reference)) == Refusal(reason)


def test_two_values_of_one_shape_give_sentences_that_differ_in_the_value_only() -> None:
    one = said(TREATMENTS, "dosage", "5 mg", "olanzapine")
    other = said(TREATMENTS, "dosage", "20 mg", "olanzapine")
    assert one is not None and other is not None
    assert one.replace("5 mg", "20 mg") == other


def test_a_value_as_a_sentence_says_it_is_read_as_the_same_value() -> None:
    for category, concept, value in (
        ("patient information", "age", "Sixteen years old"),
        (SYMPTOMS, "time", "Past four months"),
        (SYMPTOMS, "location", "The left knee"),
        ("patient medical history", "physiological context", "History of gout"),
        ("patient medical history", "smoking status", "Non-smoker"),
    ):
        first = read_value(category, concept, value)
        again = read_value(category, concept, first.said)
        assert (again.shape, again.said, again.words, again.marks) == (
            first.shape,
            first.said,
            first.words,
            first.marks,
        )


def test_spellings_of_one_value_have_the_same_words() -> None:
    assert (
        read_value("patient information", "age", "10 years old").words
        == read_value("patient information", "age", "10-year-old").words
    )
    assert normal_words("Twenty-five Milligrams") == normal_words("25 mg")
    assert normal_words("the Knees") == normal_words("knee")


def test_every_template_belongs_to_a_slot_that_has_its_shape_and_every_shape_is_known() -> None:
    for category, concept, shape in templates():
        assert shape in layout()[category, concept].shapes
    for (category, concept), slot in layout().items():
        assert set(slot.shapes) <= set(SHAPES)
        for shape in slot.shapes:
            assert (category, concept, shape) in templates()


def test_a_template_that_names_a_reference_stands_only_where_there_can_be_one() -> None:
    for (category, concept, _), template in templates().items():
        reference = layout()[category, concept].reference
        if "{reference}" in template.text:
            assert reference is not None and reference != concept
        assert template.text.endswith("{value}.")


def test_a_phrase_is_not_found_where_it_is_negated() -> None:
    text = spoken(normal_words("There was no fever. The cough was dry. He is a non-smoker."))
    assert places_of(["fever"], text) == []
    assert places_of(["smoker"], text) == []
    assert len(places_of(["cough"], text)) == 1


def test_a_phrase_is_not_found_where_it_is_doubted_or_taken_back() -> None:
    for note in (
        "Possible meningitis.",
        "There was concern for meningitis",
        "Meningitis was ruled out.",
    ):
        assert places_of(["meningitis"], spoken(normal_words(note))) == [], note
    assert places_of(["meningitis"], spoken(normal_words("He had meningitis. It was considered severe."))) == [2]


def test_a_negation_ends_with_its_sentence() -> None:
    assert places_of(["cough"], spoken(normal_words("No fever.\nCough for two days"))) != []


def test_what_means_the_same_is_a_feature_of_the_text() -> None:
    known = set(features_of(normal_words("He was febrile and short of breath; CT scan; 5 mg once a day; severe pain")))
    for same in ("fever", "dyspnea", "computed tomography", "daily", "intense"):
        assert set(features_of(normal_words(same))) & known, same
    assert set(read_value(TREATMENTS, "dosage", "5 mg").marks) <= known
    assert not set(read_value(TREATMENTS, "dosage", "50 mg").marks) & known


def test_a_number_whose_unit_is_written_once_is_known_too() -> None:
    known = set(features_of(normal_words("She had doses of 2.5–10 mg and of twenty, 40 and 60 mg.")))
    for dose in ("2.5 mg", "20 mg", "60 mg"):
        assert set(read_value(TREATMENTS, "dosage", dose).marks) <= known
