"""Sentences: the same words for true and false, supported and not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.medieval.wording import statement_of
from kg.predicates import read_vocabulary

NAMES = st.text("abcxyzABC019", min_size=1, max_size=20)

CASES = [
    ("{head} treats {tail}", "lisinopril", "hypertension", None, None, "Lisinopril treats hypertension."),
    ("{tail} may be treated by {head}", "aspirin", "pain", None, None, "Pain may be treated by aspirin."),
    (
        "{head} treats {tail}",
        "lisinopril",
        "hypertension",
        "ACE inhibitor",
        None,
        "Lisinopril, which is a type of ACE inhibitor, treats hypertension.",
    ),
    (
        "{head} treats {tail}",
        "lisinopril",
        "hypertension",
        None,
        "vascular disease",
        "Lisinopril treats hypertension, which is a type of vascular disease.",
    ),
    (
        "{tail} is treated by {head}",
        "lisinopril",
        "hypertension",
        "ACE inhibitor",
        None,
        "Hypertension is treated by lisinopril, which is a type of ACE inhibitor.",
    ),
    ("{head} is a sign of {tail}", "pH change", "acidosis", None, None, "PH change is a sign of acidosis."),
]


@pytest.mark.parametrize(("template", "head", "tail", "head_broader", "tail_broader", "sentence"), CASES)
def test_sentences(
    template: str, head: str, tail: str, head_broader: str | None, tail_broader: str | None, sentence: str
) -> None:
    assert statement_of(template, head, tail, head_broader=head_broader, tail_broader=tail_broader) == sentence


@given(NAMES, NAMES, st.none() | NAMES, st.none() | NAMES)
def test_a_sentence_holds_both_names_in_its_order_and_ends_once(
    head: str, tail: str, head_broader: str | None, tail_broader: str | None
) -> None:
    sentence = statement_of("{head} || {tail}", head, tail, head_broader=head_broader, tail_broader=tail_broader)
    left, right = sentence.removesuffix(".").split(" || ")
    assert left[1:].startswith(head[1:])
    assert right.startswith(tail)
    assert sentence.endswith(".")
    assert sentence.count("which is a type of") == (head_broader is not None) + (tail_broader is not None)
    assert ",," not in sentence
    assert ",." not in sentence


def test_braces_in_a_name_are_text() -> None:
    assert statement_of("{head} treats {tail}", "a{0}", "{tail}") == "A{0} treats {tail}."


def test_every_sentence_of_the_predicates_takes_both_ends_once() -> None:
    lines = [line for line in read_vocabulary().predicates if line.statement in ("yes", "both")]
    assert len(lines) >= 16
    for line in lines:
        for sentence in [line.sentence] + ([line.inverse_sentence] if line.statement == "both" else []):
            assert sentence.count("{head}") == sentence.count("{tail}") == 1
            made = statement_of(sentence, "alpha", "beta")
            assert "{" not in made
            assert {"alpha", "beta"} <= set(made.lower().rstrip(".").replace(",", "").split())


@pytest.mark.parametrize(
    ("template", "broader", "expected"),
    [
        ("{head} treats {tail}", None, "Albumins treat shock."),
        ("{head} is classified as {tail}", None, "Albumins are classified as shock."),
        ("{head} has the pharmacologic class {tail}", None, "Albumins have the pharmacologic class shock."),
        ("{head} may be treated by {tail}", None, "Albumins may be treated by shock."),
        ("{tail} is caused by {head}", None, "Shock is caused by albumins."),
        ("{head} treats {tail}", "protein", "Albumins, which are a type of protein, treat shock."),
    ],
)
def test_the_verb_agrees_with_a_head_in_the_plural(template: str, broader: str | None, expected: str) -> None:
    assert statement_of(template, "albumins", "shock", head_broader=broader, plurals={"albumins"}) == expected


def test_every_template_has_a_plural() -> None:
    """A head in the plural never stands before a verb of the third person."""
    for line in read_vocabulary().predicates:
        for template in (line.sentence, line.inverse_sentence):
            said = statement_of(template, "drugs", "pain", plurals={"drugs"})
            if said.startswith("Drugs "):
                assert not said.split()[1].endswith("s"), said
