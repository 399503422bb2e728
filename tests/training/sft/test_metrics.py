"""Metrics of detectors and validators: as the libraries compute them, and an unreadable answer is no class."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, f1_score, precision_recall_fscore_support

from ontoground.errors import InputError
from training.sft.metrics import (
    detector_metrics,
    explanation_metrics,
    medhal_metrics,
    medval_metrics,
    validator_metrics,
)

N = 400


def drawn(seed: int, classes: list[Any], silent: float) -> tuple[list[Any], list[Any], list[int]]:
    generator = np.random.default_rng(seed)
    gold = [classes[n] for n in generator.integers(len(classes), size=N)]
    answers = [
        None if generator.random() < silent else label if generator.random() < 0.6 else classes[n]
        for label, n in zip(gold, generator.integers(len(classes), size=N), strict=True)
    ]
    return gold, answers, [int(n) for n in generator.integers(60, size=N)]


@pytest.mark.parametrize("silent", [0.0, 0.2])
def test_detector_metrics_are_those_of_scikit_learn_with_silence_as_a_class_of_its_own(silent: float) -> None:
    gold, answers, clusters = drawn(1, [True, False], silent)
    metrics = detector_metrics(gold, answers, clusters)
    codes = [2 if answer is None else int(answer) for answer in answers]
    precision, recall, f1, _ = precision_recall_fscore_support([int(label) for label in gold], codes, labels=[1, 0])
    for number, name in enumerate(("factual", "non_factual")):
        assert metrics[f"{name}_precision"]["value"] == pytest.approx(precision[number])
        assert metrics[f"{name}_recall"]["value"] == pytest.approx(recall[number])
        assert metrics[f"{name}_f1"]["value"] == pytest.approx(f1[number])
    assert metrics["n"] == N
    assert metrics["answered"] == sum(answer is not None for answer in answers)


def test_validator_metrics_are_those_of_scikit_learn() -> None:
    gold, answers, clusters = drawn(2, [1, 2, 3, 4], 0.1)
    metrics = validator_metrics(gold, answers, clusters)
    codes = [0 if answer is None else answer for answer in answers]
    assert metrics["macro_f1"]["value"] == pytest.approx(f1_score(gold, codes, labels=[1, 2, 3, 4], average="macro"))
    pairs = [(label, answer) for label, answer in zip(gold, answers, strict=True) if answer is not None]
    kappa = cohen_kappa_score([a for a, _ in pairs], [b for _, b in pairs], weights="linear")
    assert metrics["kappa_linear"]["value"] == pytest.approx(kappa)
    unsafe = [int(label > 2) for label in gold]
    said = [2 if answer is None else int(answer > 2) for answer in answers]
    precision, recall, f1, _ = precision_recall_fscore_support(unsafe, said, labels=[1, 0])
    assert metrics["unsafe_precision"]["value"] == pytest.approx(precision[0])
    assert metrics["unsafe_sensitivity"]["value"] == pytest.approx(recall[0])
    assert metrics["unsafe_specificity"]["value"] == pytest.approx(recall[1])
    assert metrics["unsafe_f1"]["value"] == pytest.approx(f1[0])
    assert metrics["safety_accuracy"]["value"] == pytest.approx(np.mean(np.array(unsafe) == np.array(said)))


def test_intervals_are_those_of_drawing_clusters_one_by_one() -> None:
    gold, answers, clusters = drawn(3, [True, False], 0.1)
    metrics = detector_metrics(gold, answers, clusters)["factual_f1"]
    generator = np.random.default_rng(0)
    index: dict[int, list[int]] = {name: [] for name in clusters}
    for row, name in enumerate(clusters):
        index[name].append(row)
    names = list(index)
    values = []
    for _ in range(1000):
        rows = [row for n in generator.integers(len(names), size=len(names)) for row in index[names[n]]]
        right = sum(gold[row] and answers[row] is True for row in rows)
        values.append(2 * right / sum((answers[row] is True) + gold[row] for row in rows))
    low, high = np.percentile(values, [2.5, 97.5])
    assert metrics["low"] == pytest.approx(low, abs=0.015)
    assert metrics["high"] == pytest.approx(high, abs=0.015)
    assert metrics["low"] < metrics["value"] < metrics["high"]


def test_few_clusters_give_no_interval_and_absent_classes_no_value() -> None:
    metrics = detector_metrics([True, True], [True, None], ["a", "b"])
    assert metrics["factual_recall"] == {"value": 0.5, "low": None, "high": None}
    assert metrics["non_factual_recall"]["value"] is None
    assert detector_metrics([], [], [])["accuracy"]["value"] is None


def row(name: str, label: bool, explanation: str | None = None, task: str = "nli") -> dict[str, Any]:
    return {"id": name, "pair_id": name, "subject_id": None, "label": label, "explanation": explanation, "task": task}


def said(name: str, label: bool | None, explanation: str | None = None, outcome: str = "parsed") -> dict[str, Any]:
    return {"id": name, "label": label, "explanation": explanation, "outcome": outcome}


def test_explanations_count_only_where_both_say_non_factual() -> None:
    text = "the dose of metformin was five hundred milligrams"
    rows = [row("a", False, text), row("b", True, text), row("c", False, text), row("d", False)]
    found = {p["id"]: p for p in [said("a", False, text), said("b", False, text), said("c", True), said("d", False)]}
    metrics = explanation_metrics(rows, found)
    assert (metrics["both_non_factual"], metrics["n"]) == (2, 1)
    assert metrics["bleu"] == pytest.approx(1.0)
    assert metrics["rouge1"] == metrics["rouge2"] == 1.0
    worse = explanation_metrics(rows, {**found, "a": said("a", False, "the dose of insulin was small")})
    assert 0 < worse["rouge2"] < worse["rouge1"] < 1
    assert explanation_metrics(rows, {})["rouge1"] is None


def test_a_split_is_reported_by_outcome_and_task() -> None:
    rows = [row("a", True), row("b", False, "x", "summarization"), row("c", True), row("d", False)]
    predictions = [said("a", True), said("b", False, "x"), said("c", None, outcome="no_label")]
    metrics = medhal_metrics(rows, predictions)
    assert metrics["outcomes"] == {"missing": 1, "no_label": 1, "parsed": 2}
    assert metrics["overall"]["accuracy"]["value"] == 0.5
    assert metrics["answered"]["accuracy"]["value"] == 1.0
    assert metrics["by_task"]["nli"]["n"] == 3
    assert metrics["by_task"]["summarization"]["accuracy"]["value"] == 1.0


def test_every_task_counts_the_same_in_medvals_overall_number() -> None:
    def rated(name: str, level: int, task: str) -> dict[str, Any]:
        return {"id": name, "triple_id": name, "subject_id": 7, "risk_level": level, "task": task}

    rows = [rated("a", 1, "x"), rated("b", 4, "x"), rated("c", 2, "y")]
    predictions = [{"id": name, "label": level, "outcome": "parsed"} for name, level in (("a", 1), ("b", 4), ("c", 3))]
    metrics = medval_metrics(rows, predictions)
    assert metrics["by_task"]["x"]["macro_f1"]["value"] == 1.0
    assert metrics["by_task"]["y"]["macro_f1"]["value"] == 0.0
    assert metrics["macro_f1_over_tasks"] == 0.5


def test_predictions_of_other_rows_and_two_for_one_row_are_refused() -> None:
    with pytest.raises(InputError, match="not in the split"):
        medhal_metrics([row("a", True)], [said("b", True)])
    with pytest.raises(InputError, match="two predictions"):
        medhal_metrics([row("a", True)], [said("a", True), said("a", False)])
