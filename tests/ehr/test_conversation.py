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
