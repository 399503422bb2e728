"""What each phase is shown, and what it is told to say."""

from __future__ import annotations

from dataclasses import fields
from typing import get_args

import pytest
from pydantic import ValidationError

from stewardship.runs.prompts import (
    FAILURE_MODES,
    AuditAnswer,
    Claim,
    Question,
    audit_script,
    recompute_script,
)

CLAIM = Claim("u1", "a note", "what?", "LABEL", "FEATURES", "DERIVATION", "NAME")
REASONS = {"rule": "r", "criteria": "c", "features": "f", "calculation": "1"}


def prompt(script: object, item: object) -> str:
    """Return all that is said to a model."""
    return "\n".join(message.content for message in script.messages(item))  # type: ignore[attr-defined]


def test_a_recomputation_has_no_place_for_label_features_or_derivation() -> None:
    assert [item.name for item in fields(Question)] == ["uid", "context", "question"]
    answer = prompt(recompute_script(), Question("u1", "a note", "what?"))
    assert "a note" in answer and "what?" in answer and "u1" not in answer
    assert answer.count("# ") == 2


def test_an_auditor_is_shown_all_five_and_not_the_key() -> None:
    answer = prompt(audit_script(), CLAIM)
    assert all(part in answer for part in ("a note", "what?", "LABEL", "FEATURES", "DERIVATION", "NAME"))
    assert "u1" not in answer
    assert "# Extracted features\n(not given)" in prompt(audit_script(), Claim("u1", "a note", "what?", "7"))


def test_the_auditor_is_told_four_steps_caution_and_the_failure_modes() -> None:
    system = audit_script().system
    assert [f"\n{step}. " in system for step in range(1, 6)] == [True] * 4 + [False]
    assert "Be conservative" in system and "In doubt the verdict is Pass" in system
    assert all(f"- {mode}: " in system for mode in FAILURE_MODES)


def test_a_recomputation_is_told_four_steps_abstention_and_the_strict_form() -> None:
    system = recompute_script().system
    assert [f"\n{step}. " in system for step in range(1, 6)] == [True] * 4 + [False]
    assert "Do not guess" in system and "<answer>RESULT</answer>" in system
    assert all(form in system for form in ("MM/DD/YYYY", "(W weeks, D days)", "N/A"))


@pytest.mark.parametrize("script", [audit_script, recompute_script])
def test_labels_that_are_names_are_listed(script: object) -> None:
    system = script(categories=("Q1", "Q2")).system  # type: ignore[operator]
    assert "Q1, Q2" in system and "MM/DD/YYYY" not in system


def test_tools_are_told_of_where_there_are_some() -> None:
    system = recompute_script(manuals=("`python` computes {x}.",), turns=8, looking=True, computing=True).system
    assert "- `python` computes {x}." in system and "you have 8 turns" in system
    assert "with a tool rather than in your head" in system and "look it up" in system
    assert "tool" not in recompute_script().system


def test_other_words_or_tools_are_another_prompt() -> None:
    scripts = (audit_script(), audit_script(categories=("Q1",)), audit_script(manuals=("x",)), recompute_script())
    assert len({script.describe()["prompt"] for script in scripts}) == 4
    assert audit_script().describe() == audit_script().describe()


@pytest.mark.parametrize(
    ("verdict", "mode", "critique", "valid"),
    [
        ("Suspicious", "feature_extraction", "the age is another patient's", True),
        ("Suspicious", "none", "something", False),
        ("Suspicious", "not_answerable", " ", False),
        ("Suspicious", "arithmetic", "something", False),
        ("Pass", "none", "", True),
        ("Unsure", "none", "", False),
    ],
)
def test_a_suspicious_verdict_must_say_what_is_wrong(verdict: str, mode: str, critique: str, valid: bool) -> None:
    answer = {**REASONS, "verdict": verdict, "failure_mode": mode, "critique": critique}
    if valid:
        assert AuditAnswer.model_validate(answer).verdict == verdict
    else:
        with pytest.raises(ValidationError):
            AuditAnswer.model_validate(answer)


def test_the_failure_modes_of_the_schema_are_those_that_are_counted() -> None:
    assert get_args(AuditAnswer.model_fields["failure_mode"].annotation) == (*FAILURE_MODES, "none")
