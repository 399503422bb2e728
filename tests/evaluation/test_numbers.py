"""The numbers of one run: from rows and predictions in memory, or of a predictions file and its split."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from evaluation.datasets import TextDataset
from evaluation.numbers import metrics_of_rows
from evaluation.report import evaluate_text
from ground.errors import InputError
from tests.training.sft.cases import medhal_dataset, medhal_rows, medval_dataset, medval_rows


def row(name: str, label: bool, explanation: str | None = None, task: str = "nli") -> dict[str, Any]:
    return {"id": name, "pair_id": name, "subject_id": None, "label": label, "explanation": explanation, "task": task}


def said(name: str, label: bool | None, explanation: str | None = None, outcome: str = "parsed") -> dict[str, Any]:
    return {"id": name, "label": label, "explanation": explanation, "outcome": outcome}


def test_explanations_count_only_where_both_say_non_factual() -> None:
    text = "the dose of metformin was five hundred milligrams"
    rows = [row("a", False, text), row("b", True, text), row("c", False, text), row("d", False)]
    predictions = [said("a", False, text), said("b", False, text), said("c", True), said("d", False)]
    metrics = metrics_of_rows("medhal", rows, predictions)["explanation"]
    assert (metrics["both_non_factual"], metrics["n"]) == (2, 1)
    assert metrics["bleu"]["value"] == metrics["rouge1"]["value"] == metrics["rouge2"]["value"] == 1.0
    worse = metrics_of_rows("medhal", rows, [said("a", False, "the dose of insulin was small")])["explanation"]
    assert 0 < worse["rouge2"]["value"] < worse["rouge1"]["value"] < 1


def test_a_split_is_reported_by_outcome_and_task() -> None:
    rows = [row("a", True), row("b", False, "x", "summarization"), row("c", True), row("d", False)]
    predictions = [said("a", True), said("b", False, "x"), said("c", None, outcome="no_label")]
    metrics = metrics_of_rows("medhal", rows, predictions)
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
    metrics = metrics_of_rows("medval", rows, predictions)
    assert metrics["by_task"]["x"]["macro_f1"]["value"] == 1.0
    assert metrics["by_task"]["y"]["macro_f1"]["value"] == 0.0
    assert metrics["over_tasks"]["all"]["value"] == 0.5


def test_without_any_prediction_every_row_is_missing() -> None:
    metrics = metrics_of_rows("medhal", [row("a", True)], [])
    assert metrics["outcomes"] == {"missing": 1} and metrics["overall"]["accuracy"]["value"] == 0.0


def test_predictions_of_other_rows_and_two_for_one_row_are_refused() -> None:
    with pytest.raises(InputError, match="rows that are not evaluated"):
        metrics_of_rows("medhal", [row("a", True)], [said("b", True)])
    with pytest.raises(InputError, match="predicted more than once"):
        metrics_of_rows("medhal", [row("a", True)], [said("a", True), said("a", False)])


def test_a_detectors_file_is_compared_with_its_split(tmp_path: Path) -> None:
    rows = medhal_rows(6, split="test")
    data = medhal_dataset(tmp_path / "d", rows)
    table = pl.DataFrame(
        {
            "id": [row["id"] for row in rows],
            "label": [None, *(row["label"] for row in rows[1:])],
            "explanation": [row["explanation"] for row in rows],
        }
    )
    table.write_parquet(tmp_path / "p.parquet")
    (report,) = evaluate_text("medhal", TextDataset.open(data, "medhal"), [tmp_path / "p.parquet"])["runs"]
    assert report["outcomes"] == {"no_label": 1, "parsed": 5}
    assert report["overall"]["factual_recall"]["value"] == pytest.approx(2 / 3, abs=1e-6)
    assert report["overall"]["factual_precision"]["value"] == 1.0
    assert report["explanation"]["rouge1"]["value"] == 1.0


def test_risk_levels_are_compared_with_their_split(tmp_path: Path) -> None:
    rows = medval_rows(4, split="test")
    data = medval_dataset(tmp_path / "d", rows)
    file = tmp_path / "p.jsonl"
    file.write_text("".join(json.dumps({"id": row["id"], "label": row["risk_level"]}) + "\n" for row in rows))
    (report,) = evaluate_text("medval", TextDataset.open(data, "medval"), [file])["runs"]
    assert report["over_tasks"]["all"]["value"] == 1.0
    assert report["overall"]["kappa_linear"]["value"] == 1.0


def test_an_empty_split_is_refused(tmp_path: Path) -> None:
    data = medhal_dataset(tmp_path / "d", medhal_rows(2))
    with pytest.raises(InputError, match="the test split is empty"):
        evaluate_text("medhal", TextDataset.open(data, "medhal"), [tmp_path / "p.parquet"])
