"""Questions and options as statements: framed or smooth, always grammatical, worded alike for every option."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.medhal.rules.question import split_question, statement_of
from builders.medhal.writers import Written
from builders.texts.origin import Refusal

SMOOTH = (
    ("Which of the following is the most likely diagnosis?", "The following is the most likely diagnosis: Gout."),
    ("What is the best next step in management?", "The following is the best next step in management: Gout."),
    ("Which one of the following best explains the rash?", "The following best explains the rash: Gout."),
    ("Which of the following would most likely prevent it?", "The following would most likely prevent it: Gout."),
    ("Which of the following is this patient's diagnosis?", "The following is this patient's diagnosis: Gout."),
    ("Biopsy is most likely to show which of the following?", "Biopsy is most likely to show the following: Gout."),
    (
        "Deficiency of which of the following is the most likely cause?",
        "Deficiency of the following is the most likely cause: Gout.",
    ),
    ("The drug of choice for absence seizures is", "The drug of choice for absence seizures is the following: Gout."),
    ("Which of the following is NOT a cause of fever?", "The following is not a cause of fever: Gout."),
)
FRAMED = (
    "Which of the following drugs should be given?",  # a plural noun stands in it
    "Which of the following is this patient at greatest risk of?",  # asks for an object
    "Which of the following would you expect to see in scurvy?",
    "Which of the following would a biopsy show?",
    "Which of the following is the patient most likely to have?",
    "All of the following are causes of fever except?",
    "Which of the following statements about gout is false?",
    "If the test is repeated, which of the following is the best next step?",
    "How is gout treated?",
)


@pytest.mark.parametrize(("question", "statement"), SMOOTH)
def test_a_question_that_surely_makes_a_sentence_is_smooth(question: str, statement: str) -> None:
    written = statement_of(question, "Gout.")
    assert isinstance(written, Written)
    assert (written.text, written.framed) == (statement, False)


@pytest.mark.parametrize("question", FRAMED)
def test_any_other_question_is_quoted(question: str) -> None:
    written = statement_of(question, "Gout")
    assert isinstance(written, Written)
    assert written.framed
    assert written.text == f'The right answer to "{question}" is "Gout".'


@pytest.mark.parametrize(
    ("stem", "quotation"),
    [
        ("Only abductor of the vocal cord: ___", "Only abductor of the vocal cord"),
        ("Drug used in gout attacks (AIIMS May 2012)", "Drug used in gout attacks"),
        ('Afferent fibres of the "gag" reflex run in', "Afferent fibres of the 'gag' reflex run in"),
    ],
)
def test_a_stem_is_quoted_with_its_ending(stem: str, quotation: str) -> None:
    assert statement_of(stem, "X nerve") == Written(
        f'The right ending of "{quotation} …" is "X nerve".', "ending", framed=True
    )


@pytest.mark.parametrize(
    ("question", "option", "reason"),
    [
        ("Which of the following is best?", "All of the above", "option_names_options"),
        ("Which of the following is best?", "", "option_is_no_phrase"),
        ("Which of the following is best?", "Is it gout?", "option_is_no_phrase"),
        ("Which of the following is best?", "a" * 401, "option_is_no_phrase"),
        ("What is it and what causes it?", "Gout", "two_questions"),
        ("Gout is?", "Swelling", "unknown_shape"),
        ("What is the the cause of gout?", "Urate", "broken_english"),
    ],
)
def test_what_makes_no_statement_is_refused_with_a_reason(question: str, option: str, reason: str) -> None:
    assert statement_of(question, option) == Refusal(reason)


@pytest.mark.parametrize("question", [*(question for question, _ in SMOOTH), *FRAMED])
@given(option=st.text("abcDEF1 -()", min_size=1, max_size=40))
def test_the_wording_depends_on_the_question_alone(question: str, option: str) -> None:
    gout, other = statement_of(question, "Gout"), statement_of(question, option)
    assert isinstance(gout, Written)
    if isinstance(other, Written):
        assert (other.rule, other.framed) == (gout.rule, gout.framed)
        assert other.text == gout.text.replace("Gout", " ".join(option.split()).rstrip(" .;,"))


@pytest.mark.parametrize(
    ("question", "context", "asked"),
    [
        ("Which is best?", None, "Which is best?"),
        ("A man coughs. Which is best?", "A man coughs.", "Which is best?"),
        ("He has S. aureus in blood. What next?", "He has S. aureus in blood.", "What next?"),
        ("Na+: 137 mEq/L\nWhich of the following is best?", "Na+: 137 mEq/L", "Which of the following is best?"),
        ("Labs: K+ 4.2 mEq/L What is the cause?", "Labs: K+ 4.2 mEq/L", "What is the cause?"),
    ],
)
def test_a_vignette_is_split_from_what_is_asked(question: str, context: str | None, asked: str) -> None:
    assert split_question(question) == (context, asked)
