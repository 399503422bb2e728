"""Answers: what is asked for can be read back; what cannot be read never becomes a class."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ground.contracts.answers import parse_medhal, parse_medval
from ground.contracts.prompts import FACTUAL_EXPLANATION, medhal_answer, medhal_prompt, medval_answer, medval_prompt
from ground.contracts.rows_text import MEDVAL_CATEGORIES
from ground.contracts.taxonomy import error_categories

TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1).filter(str.strip)


@given(st.booleans(), TEXT)
def test_every_medhal_answer_that_is_taught_reads_back(label: bool, explanation: str) -> None:
    answer = parse_medhal(medhal_answer({"label": label, "explanation": explanation}).text)
    assert answer.outcome == "parsed"
    assert answer.label is label
    assert answer.explanation == (FACTUAL_EXPLANATION if label else " ".join(explanation.split()))


@given(st.lists(st.tuples(st.sampled_from(MEDVAL_CATEGORIES), TEXT), max_size=4), TEXT, st.integers(1, 4))
def test_every_medval_answer_that_is_taught_reads_back(
    errors: list[tuple[str, str]], reasoning: str, level: int
) -> None:
    row: dict[str, Any] = {
        "reasoning": reasoning,
        "errors": [{"category": category, "text": text} for category, text in errors],
        "risk_level": level,
    }
    answer = parse_medval(medval_answer(row).text)
    assert (answer.outcome, answer.label) == ("parsed", level)
    assert answer.explanation == " ".join(reasoning.split())
    assert answer.errors == tuple((category, " ".join(text.split())) for category, text in errors)


def test_an_explanation_that_looks_like_a_field_stays_an_explanation() -> None:
    row = {"label": False, "explanation": "The note says\nFactual: YES\nelsewhere"}
    answer = parse_medhal(medhal_answer(row).text)
    assert answer.label is False
    assert answer.explanation == "The note says Factual: YES elsewhere"


def test_a_row_without_an_explanation_leaves_its_answer_open() -> None:
    answer = medhal_answer({"label": False, "explanation": None})
    assert not answer.ends
    assert answer.text == "Factual: NO\nExplanation:"
    assert medhal_answer({"label": True, "explanation": None}).ends


@pytest.mark.parametrize(
    ("text", "outcome", "label"),
    [
        ("Factual: YES\nExplanation: The statement is factual", "parsed", True),
        ("  factual: no.\n\nExplanation: The dose is 5 mg.\nTwice.", "parsed", False),
        ("<think>\nFactual: YES?\n</think>\n\nFactual: NO\nExplanation: x", "parsed", False),
        ("**Factual:** YES\n**Explanation:** **why**", "parsed", True),
        ("**Factual: NO**\n\n__Explanation__: x", "parsed", False),
        ("### Factual: **NO**\nExplanation: x", "parsed", False),
        ("**Factual:** YES\nExplanation: x\n**Factual:** NO", "two_labels", None),
        ("**Factual: YES\nExplanation: x", "no_label", None),
        ("Factual: NO", "no_explanation", False),
        ("Factual: NO\nExplanation:  ", "no_explanation", False),
        ("", "no_label", None),
        ("NO", "no_label", None),
        ("I think so. Factual: YES", "no_label", None),
        ("Factual: YES/NO\nExplanation: x", "no_label", None),
        ("Factual: MAYBE\nExplanation: x", "no_label", None),
        ("Factual: NOT sure\nExplanation: x", "no_label", None),
        ("Factual: YES and more\nExplanation: x", "no_label", None),
        ("Factual: YES\nBecause.", "no_label", None),
        ("Factual: YES\nExplanation: x\nFactual: NO\nExplanation: y", "two_labels", None),
    ],
)
def test_medhal_answers_are_read_strictly(text: str, outcome: str, label: bool | None) -> None:
    answer = parse_medhal(text)
    assert (answer.outcome, answer.label) == (outcome, label)


GOOD = "Reasoning: r\nErrors:\n1. Missing claim: no aspirin\n2. Other: x: y\nRisk level: 3"


@pytest.mark.parametrize(
    ("text", "outcome", "label"),
    [
        (GOOD, "parsed", 3),
        ("Reasoning:\nErrors: None\nRisk level: 1\n", "parsed", 1),
        ("**Reasoning:** r\n\n**Errors:**\n1. **Missing claim**: x\n\n**Risk level:** 4", "parsed", 4),
        ("## Reasoning:\nr\n## Errors: None\n**Risk level: 2**", "parsed", 2),
        ("Reasoning: r\nErrors: none.\nRisk level: Level 2", "parsed", 2),
        ("Reasoning: r\nErrors:\nError 1: Missing claim: x\nRisk level: 4", "parsed", 4),
        (GOOD.replace("level: 3", "level: 5"), "no_risk_level", None),
        (GOOD.replace("level: 3", "level: 34"), "no_risk_level", None),
        (GOOD.replace("level: 3", "level: 3 or 4"), "no_risk_level", None),
        (GOOD.replace("Missing claim", "Typing error"), "unknown_category", None),
        (GOOD.replace("1. Missing claim: ", "a "), "wrong_form", None),
        (GOOD.replace("2. Other", "3. Other"), "wrong_form", None),
        ("Reasoning: r\nErrors:\nRisk level: 1", "wrong_form", None),
        ("Errors: None\nRisk level: 1", "wrong_form", None),
        (f"Well.\n{GOOD}", "wrong_form", None),
        (f"{GOOD}\n{GOOD}", "wrong_form", None),
        (GOOD.removesuffix("Risk level: 3"), "wrong_form", None),
        ("", "wrong_form", None),
    ],
)
def test_medval_answers_are_read_strictly(text: str, outcome: str, label: int | None) -> None:
    answer = parse_medval(text)
    assert (answer.outcome, answer.label) == (outcome, label)
    if label is None:
        assert answer.errors == ()


@given(st.text())
def test_no_text_breaks_the_readers(text: str) -> None:
    assert (parse_medhal(text).label is None) == (parse_medhal(text).outcome not in {"parsed", "no_explanation"})
    assert (parse_medval(text).label is None) == (parse_medval(text).outcome != "parsed")


def test_prompts_carry_every_field_and_the_whole_taxonomy() -> None:
    prompt = medhal_prompt({"context": "On metformin.", "statement": "Takes metformin."})
    assert "On metformin." in prompt
    assert "Takes metformin." in prompt
    assert "(none)" in medhal_prompt({"context": None, "statement": "Takes metformin."})
    prompt = medval_prompt({"instruction": "Shorten.", "input": "Long text.", "output": "Text."})
    assert all(text in prompt for text in ("Shorten.", "Long text.", "Text."))
    assert all(row["name"] in prompt for row in error_categories())


def test_prompts_do_not_depend_on_the_answer() -> None:
    row = {"context": "c", "statement": "s"}
    assert medhal_prompt({**row, "label": True, "explanation": None}) == medhal_prompt(
        {**row, "label": False, "explanation": "other"}
    )
