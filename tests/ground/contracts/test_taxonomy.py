"""The data files of MedHal and MedVAL say what the row contracts say."""

from __future__ import annotations

import pytest

from ground.contracts.rows_text import MEDHAL_TASKS, MEDVAL_CATEGORIES, MEDVAL_TASKS, RISK_LEVELS
from ground.contracts.taxonomy import (
    category_of,
    error_categories,
    is_safe,
    medhal_tasks,
    medval_tasks,
    resolve_tasks,
    risk_levels,
)
from ground.errors import UsageError


def test_names_are_those_of_the_row_contracts_in_their_order() -> None:
    assert tuple(row["task"] for row in medhal_tasks()) == MEDHAL_TASKS
    assert tuple(row["task"] for row in medval_tasks()) == MEDVAL_TASKS
    assert tuple(row["category"] for row in error_categories()) == MEDVAL_CATEGORIES
    assert tuple(int(row["level"]) for row in risk_levels()) == RISK_LEVELS


def test_errors_fall_into_the_papers_groups() -> None:
    groups = [row["group"] for row in error_categories()]
    assert {group: groups.count(group) for group in groups} == {
        "hallucination": 5,
        "omission": 3,
        "certainty misalignment": 2,
        "other": 1,
    }


def test_a_category_is_found_by_its_written_name_only() -> None:
    assert category_of(" missing  Claim") == "missing_claim"
    assert category_of("missing_claim") == "missing_claim"
    assert category_of("hallucination") is None


def test_levels_one_and_two_are_safe() -> None:
    assert [is_safe(level) for level in RISK_LEVELS] == [True, True, False, False]


def test_tasks_resolve_by_full_and_short_name() -> None:
    assert resolve_tasks(("QA", "summarization", "question_answering"), "medhal") == (
        "question_answering",
        "summarization",
    )
    assert resolve_tasks((), "medhal") == MEDHAL_TASKS
    assert resolve_tasks(("bhc2spanish",), "medval") == ("bhc2spanish",)


def test_an_unknown_task_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="information_extraction"):
        resolve_tasks(("reading",), "medhal")
