"""What a conversation says of what it mentions: the answer decides what the question names."""

from __future__ import annotations

import pytest

from ehr.conversation import polarities, turns_of
from ehr.reading import ReadMention
from ehr.spans import Assertion


def _said(text: str, name: str) -> str:
    begin = text.index(name)
    mention = ReadMention(begin, begin + len(name), name, ("C1",), "finding", Assertion.PRESENT, "unknown")
    return polarities(text, [mention], turns_of(text))[0]


@pytest.mark.parametrize(
    ("answer", "said"),
    [("no .", "absent"), ("um , yes .", "present"), ("hard to say .", "unknown"), ("no , just a little .", "unknown")],
)
def test_an_answer_decides_what_its_question_names(answer: str, said: str) -> None:
    assert _said(f"[doctor] any fever ?\n[patient] {answer}\n", "fever") == said


def test_yes_to_a_list_leaves_open_to_which() -> None:
    assert _said("Doctor: Any fever or cough?\nPatient: Yes.\n", "fever") == "unknown"


def test_a_text_without_speakers_is_no_conversation() -> None:
    assert turns_of("Any fever? No.") == []
    assert _said("Any fever? No.", "fever") == "present"


@pytest.mark.parametrize(("who", "said"), [("my dad", "unknown"), ("she", "present")])
def test_what_a_relative_has_is_not_said_of_the_patient(who: str, said: str) -> None:
    assert _said(f"[doctor] tell me .\n[patient] {who} developed asthma early .\n", "asthma") == said


@pytest.mark.parametrize(
    ("asked", "answer", "said"),
    [
        ("okay and have you noticed any fever at all", "no no fever", "absent"),
        ("so is there fever", "yeah", "present"),
        ("how about any fever", "not really", "absent"),
        ("are you still having any fever", "it comes and goes", "unknown"),
        ("Sweats, fever or chills.", "Nope.", "absent"),
        ("how would you rate the fever", "no idea", "unknown"),
        ("did you take anything for the fever", "no", "unknown"),
        ("Did your fever come back?", "No.", "unknown"),
        ("How long have you had a fever?", "No idea.", "unknown"),
        ("how are you i heard that you had a fever", "it was bad", "present"),
        ("I'm going to have you take these, the fever is from the flu.", "No problem.", "present"),
        ("You may go, the child is well now but has some fever.", "Oh no.", "present"),
    ],
)
def test_a_question_is_told_by_its_form_where_nothing_marks_it(asked: str, answer: str, said: str) -> None:
    assert _said(f"[doctor] {asked}\n[patient] {answer}\n", "fever") == said


def test_news_of_a_patient_are_no_question() -> None:
    assert _said("[patient] My asthma has been acting up.\n[doctor] Oh no. For how long?\n", "asthma") == "present"
