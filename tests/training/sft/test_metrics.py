"""The numbers of one run, from rows and predictions in memory."""

from __future__ import annotations

from typing import Any

import pytest

from ground.errors import InputError
from training.sft.metrics import medhal_metrics, medval_metrics


def row(name: str, label: bool, explanation: str | None = None, task: str = "nli") -> dict[str, Any]:
    return {"id": name, "pair_id": name, "subject_id": None, "label": label, "explanation": explanation, "task": task}


def said(name: str, label: bool | None, explanation: str | None = None, outcome: str = "parsed") -> dict[str, Any]:
    return {"id": name, "label": label, "explanation": explanation, "outcome": outcome}


def test_explanations_count_only_where_both_say_non_factual() -> None:
    text = "the dose of metformin was five hundred milligrams"
    rows = [row("a", False, text), row("b", True, text), row("c", False, text), row("d", False)]
    predictions = [said("a", False, text), said("b", False, text), said("c", True), said("d", False)]
    metrics = medhal_metrics(rows, predictions)["explanation"]
    assert (metrics["both_non_factual"], metrics["n"]) == (2, 1)
    assert metrics["bleu"]["value"] == metrics["rouge1"]["value"] == metrics["rouge2"]["value"] == 1.0
    worse = medhal_metrics(rows, [said("a", False, "the dose of insulin was small")])["explanation"]
    assert 0 < worse["rouge2"]["value"] < worse["rouge1"]["value"] < 1


def test_a_split_is_reported_by_outcome_and_task() -> None:
    rows = [row("a", True), row("b", False, "x", "summarization"), row("c", True), row("d", False)]
    predictions = [said("a", True), said("b", False, "x"), said("c", None, outcome="no_label")]
    metrics = medhal_metrics(rows, predictions)
    assert metrics["outcomes"] == {"missing": 1, "no_label": 1, "parsed": 2}
    assert metrics["overall"]["accuracy"]["value"] == 0.5
    assert metrics["answered"]["accuracy"]["value"] == 1.0
    assert metrics["by_task"]["nli"]["rows"] == 3
    assert metrics["by_task"]["summarization"]["accuracy"]["value"] == 1.0


def test_every_task_counts_the_same_in_medvals_overall_number() -> None:
    def rated(name: str, level: int, task: str) -> dict[str, Any]:
        return {"id": name, "triple_id": name, "subject_id": 7, "risk_level": level, "task": task}

    rows = [rated("a", 1, "x"), rated("b", 4, "x"), rated("c", 2, "y")]
    predictions = [{"id": name, "label": level, "outcome": "parsed"} for name, level in (("a", 1), ("b", 4), ("c", 3))]
    metrics = medval_metrics(rows, predictions)
    assert metrics["by_task"]["x"]["macro_f1"]["value"] == 1.0
    assert metrics["by_task"]["y"]["macro_f1"]["value"] == 0.0
    assert metrics["over_tasks"]["all"]["value"] == 0.5


def test_without_any_prediction_every_row_is_missing() -> None:
    metrics = medhal_metrics([row("a", True)], [])
    assert metrics["outcomes"] == {"missing": 1} and metrics["overall"]["accuracy"]["value"] == 0.0


def test_predictions_of_other_rows_and_two_for_one_row_are_refused() -> None:
    with pytest.raises(InputError, match="not in the split"):
        medhal_metrics([row("a", True)], [said("b", True)])
    with pytest.raises(InputError, match="two predictions"):
        medhal_metrics([row("a", True)], [said("a", True), said("a", False)])
