"""A note of which nobody said a word is another's; so is a sentence, in a note of which all the rest was said."""

from __future__ import annotations

import pytest

from builders.medval.items import Judgement
from builders.medval.judge.check_whole import whole
from builders.medval.judge.comparison import Comparison
from builders.medval.judge.evidence import tells
from builders.texts.origin import Refusal
from tests.builders.medval.rules_world import Engine, item

SAID = (
    "[doctor] how is the asthma ?\n[patient] the wheezing wakes me twice a night and i cough after exercise .\n"
    "[doctor] any smoking ?\n[patient] no . my chest is tight when the pollen is high .\n"
    "[doctor] we will start an inhaler , and check your peak flow in the clinic .\n"
)
NOTE = (
    "Asthma with wheezing at night and cough after exercise. No smoking. Chest tightness when pollen is high. "
    "Start an inhaler, check peak flow in the clinic."
)
OTHERS = "Fractured humerus after a tumble from a ladder. Sling fitted, radiograph repeated, physiotherapy booked."
STRANGE = "Fractured humerus needs surgical fixation."


def _kinds(rules: Engine, note: str) -> list[tuple[str, str | None]]:
    found = whole(Comparison("dialogue2note", SAID, note, rules.validator.knowledge))
    return [(one.evidence, one.quote) for one in found]


def test_what_was_said_is_no_error(rules: Engine) -> None:
    assert _kinds(rules, NOTE) == []


def test_a_note_of_which_nobody_said_anything_is_told_as_a_whole(rules: Engine) -> None:
    assert _kinds(rules, OTHERS) == [("note, unheard", None)]
    assert tells("note, unheard")


def test_a_sentence_that_nobody_said_is_told_where_the_rest_was_said(rules: Engine) -> None:
    assert [(kind, (quote or "").strip()) for kind, quote in _kinds(rules, f"{NOTE} {STRANGE}")] == [
        ("sentence, unheard", STRANGE)
    ]
    assert tells("sentence, unheard")


def test_a_sentence_that_denies_or_doubts_and_a_few_words_tell_nothing(rules: Engine) -> None:
    assert _kinds(rules, f"{NOTE} No fractured humerus, no surgical fixation.") == []
    assert _kinds(rules, f"{NOTE} Possible fractured humerus, surgical fixation.") == []
    assert _kinds(rules, "Fractured humerus.") == []


@pytest.mark.parametrize("note", ["Thin liquids and ground meat for cough.", "Asthma.", "Wheezing and cough."])
def test_a_note_that_any_patient_could_have_is_not_borne_out(rules: Engine, note: str) -> None:
    judged = rules.validator.judge([item("dialogue2note", SAID, None)] * 2, [note, NOTE])
    assert judged[0] == Refusal("not_read")
    assert isinstance(judged[1], Judgement)
    assert judged[1].risk_level == 1


def test_numbers_that_are_said_make_a_short_note_its_conversations_own(rules: Engine) -> None:
    said = item(
        "dialogue2note", "[doctor] how old are you ?\n[patient] i am 57 years old and cough for 13 days .\n", None
    )
    own = "Cough for 13 days in a 57-year-old."
    assert rules.judge(said, own).risk_level == 1
    assert rules.validator.judge([said], ["Cough for days."]) == [Refusal("not_read")]
