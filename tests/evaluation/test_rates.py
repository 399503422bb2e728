"""Rates are those of scikit-learn and of arithmetic by hand, and undefined where there is nothing to measure."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import (
    accuracy_score,
    cohen_kappa_score,
    confusion_matrix,
    f1_score,
    precision_recall_fscore_support,
)

from evaluation.intervals import Counted, estimate_of
from evaluation.rates import RATES, calibration_counts, calibration_error, drawn_rates, linear_kappa, metrics_of

PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=80)
N = 400


def counts(gold: list[int], said: list[int]) -> npt.NDArray[np.float64]:
    table = np.zeros((4, 5))
    np.add.at(table, (gold, said), 1)
    return table


@settings(deadline=None)
@given(PAIRS)
def test_metrics_equal_scikit_learn_wherever_every_quadrant_has_rows(pairs: list[tuple[int, int]]) -> None:
    gold, said = ([*column, 0, 1, 2, 3] for column in zip(*pairs, strict=True))
    found = metrics_of(counts(gold, said))
    precision, recall, f1, _ = precision_recall_fscore_support(gold, said, labels=[0, 1, 2, 3], zero_division=0)
    assert counts(gold, said).tolist() == confusion_matrix(gold, said, labels=[0, 1, 2, 3, 4])[:4].tolist()
    assert found["accuracy"] == pytest.approx(accuracy_score(gold, said))
    assert found["precision"] == pytest.approx(precision.mean())
    assert found["recall"] == pytest.approx(recall.mean())
    assert found["f1"] == pytest.approx(f1.mean())
    assert [found[f"f1_q{at}"] for at in (1, 2, 3, 4)] == pytest.approx(f1.tolist())


def test_critical_errors_by_hand() -> None:
    # Five Q2: two called Q1, one Q2, one Q4, one unreadable. Four Q3: one called Q1. One Q1, one Q4, both right.
    gold = [1, 1, 1, 1, 1, 2, 2, 2, 2, 0, 3]
    said = [0, 0, 1, 3, 4, 0, 2, 3, 1, 0, 3]
    found = metrics_of(counts(gold, said))
    assert found["hsr"] == pytest.approx(2 / 5)
    assert found["tir"] == pytest.approx(1 / 4)
    assert found["accuracy"] == pytest.approx(4 / 11)
    # True or false is right for: Q2 called Q1 or Q2 (3), Q3 called Q3 or Q4 (2), Q1, Q4.
    assert found["is_true_accuracy"] == pytest.approx(7 / 11)
    # Supported or not is right for: Q2 called Q2 or Q4 (2), Q3 called Q1 or Q3 (2), Q1, Q4.
    assert found["is_supported_accuracy"] == pytest.approx(6 / 11)


def test_an_unreadable_answer_is_wrong_in_every_metric() -> None:
    found = metrics_of(counts([0, 1, 2, 3], [4, 4, 4, 4]))
    assert {name: float(value) for name, value in found.items()} == dict.fromkeys(found, 0.0)


def test_what_has_no_rows_is_undefined_and_not_zero() -> None:
    found = metrics_of(counts([0, 0, 3], [0, 3, 3]))
    for name in ("hsr", "tir", "f1_q2", "f1_q3", "precision", "recall", "f1"):
        assert np.isnan(found[name]), name
    assert found["f1_q1"] == pytest.approx(2 / 3)
    assert all(np.isnan(value) for value in metrics_of(np.zeros((4, 5))).values())


def test_a_quadrant_that_is_never_predicted_has_precision_zero() -> None:
    found = metrics_of(counts([0, 1, 2, 3], [0, 0, 0, 0]))
    assert found["precision"] == pytest.approx(1 / 16)
    assert [float(found[name]) for name in ("f1_q2", "hsr", "tir")] == [0.0, 1.0, 1.0]


def test_many_matrices_at_once_give_what_each_gives_alone() -> None:
    matrices = np.random.default_rng(0).integers(0, 5, size=(6, 3, 4, 5)).astype(np.float64)
    together = metrics_of(matrices)
    for at in np.ndindex(6, 3):
        alone = metrics_of(matrices[at])
        assert all(together[name][at] == pytest.approx(float(alone[name]), nan_ok=True) for name in together)


def test_calibration_error_by_hand() -> None:
    # Bin 0.9 to 1: two rows, mean confidence 0.95, one right. Bin 0.6 to 0.7: two rows, 0.6, both right.
    confidence = np.array([0.9, 1.0, 0.6, 0.6, np.nan])
    right = np.array([True, False, True, True, True])
    counts = calibration_counts(confidence, right)
    assert counts.shape == (5, 30)
    assert counts.toarray()[4].tolist() == [0] * 30
    sums = counts.sum(axis=0)
    assert sums[0::3].sum() == 4
    assert calibration_error(sums) == pytest.approx(0.5 * (0.95 - 0.5) + 0.5 * (1 - 0.6))
    assert np.isnan(calibration_error(np.zeros(30)))


def drawn(seed: int, k: int, silent: float) -> tuple[Any, Any, Any]:
    generator = np.random.default_rng(seed)
    gold = generator.integers(k, size=N)
    answers = np.where(generator.random(N) < 0.6, gold, generator.integers(k, size=N))
    return gold, np.where(generator.random(N) < silent, k, answers), generator.integers(60, size=N)


def metrics(kind: Any, gold: Any, answers: Any, clusters: Any, **more: Any) -> dict[str, Any]:
    counted = Counted.of(gold, [answers], clusters, classes=2 if kind == "medhal" else 4, **more)
    points, draws = (RATES[kind](table) for table in counted.tables(0))
    return {name: estimate_of(float(points[name][0]), draws[name], counted.clusters()) for name in points}


@pytest.mark.parametrize("silent", [0.0, 0.2])
def test_detector_rates_are_those_of_scikit_learn_with_silence_as_a_class_of_its_own(silent: float) -> None:
    gold, answers, clusters = drawn(1, 2, silent)
    found = metrics("medhal", gold, answers, clusters)
    precision, recall, f1, _ = precision_recall_fscore_support(gold, answers, labels=[0, 1])
    for number, name in enumerate(("factual", "non_factual")):
        assert found[f"{name}_precision"]["value"] == pytest.approx(precision[number], abs=1e-6)
        assert found[f"{name}_recall"]["value"] == pytest.approx(recall[number], abs=1e-6)
        assert found[f"{name}_f1"]["value"] == pytest.approx(f1[number], abs=1e-6)
    assert found["accuracy"]["value"] == pytest.approx(np.mean(gold == answers), abs=1e-6)


def test_validator_rates_are_those_of_scikit_learn() -> None:
    gold, answers, clusters = drawn(2, 4, 0.1)
    found = metrics("medval", gold, answers, clusters)
    assert found["macro_f1"]["value"] == pytest.approx(
        f1_score(gold, answers, labels=range(4), average="macro"), abs=1e-6
    )
    read = answers < 4
    kappa = cohen_kappa_score(gold[read], answers[read], weights="linear")
    assert found["kappa_linear"]["value"] == pytest.approx(kappa, abs=1e-6)
    unsafe, said = gold > 1, np.where(answers == 4, 2, answers > 1)
    precision, recall, f1, _ = precision_recall_fscore_support(unsafe.astype(int), said, labels=[1, 0])
    assert found["unsafe_precision"]["value"] == pytest.approx(precision[0], abs=1e-6)
    assert found["unsafe_sensitivity"]["value"] == pytest.approx(recall[0], abs=1e-6)
    assert found["unsafe_specificity"]["value"] == pytest.approx(recall[1], abs=1e-6)
    assert found["unsafe_f1"]["value"] == pytest.approx(f1[0], abs=1e-6)
    assert found["safety_accuracy"]["value"] == pytest.approx(np.mean(unsafe == said), abs=1e-6)


def test_perfect_agreement_has_a_kappa_of_one_and_chance_has_none() -> None:
    assert linear_kappa(np.diag([5.0, 5.0, 5.0, 5.0])[None])[0] == 1.0
    assert linear_kappa(np.ones((1, 4, 4)))[0] == pytest.approx(0.0)


def test_intervals_are_those_of_drawing_clusters_one_by_one() -> None:
    gold, answers, clusters = drawn(3, 2, 0.1)
    found = metrics("medhal", gold, answers, clusters)["factual_f1"]
    generator = np.random.default_rng(0)
    index = [np.flatnonzero(clusters == name) for name in np.unique(clusters)]
    values = []
    for _ in range(1000):
        rows = np.concatenate([index[n] for n in generator.integers(len(index), size=len(index))])
        right = ((gold[rows] == 0) & (answers[rows] == 0)).sum()
        values.append(2 * right / ((answers[rows] == 0).sum() + (gold[rows] == 0).sum()))
    low, high = np.percentile(values, [2.5, 97.5])
    assert found["low"] == pytest.approx(low, abs=0.015)
    assert found["high"] == pytest.approx(high, abs=0.015)
    assert found["low"] < found["value"] < found["high"]


def test_the_order_of_rows_and_the_names_of_clusters_change_nothing() -> None:
    gold, answers, clusters = drawn(4, 4, 0.1)
    order = np.random.default_rng(1).permutation(N)
    plain = metrics("medval", gold, answers, clusters)
    assert metrics("medval", gold[order], answers[order], 1000 - clusters[order]) == plain
    assert metrics("medval", gold, answers, clusters, seed=7) != plain


def test_few_clusters_give_no_interval_and_absent_classes_no_value() -> None:
    found = metrics("medhal", np.array([0, 0]), np.array([0, 2]), np.array([0, 1]))
    assert found["factual_recall"] == {"value": 0.5, "low": None, "high": None}
    assert found["non_factual_recall"]["value"] is None
    empty = np.zeros(0, dtype=np.int64)
    assert metrics("medhal", empty, empty, empty)["accuracy"]["value"] is None


def test_counts_of_a_part_are_those_of_its_rows_alone() -> None:
    gold, answers, clusters = drawn(5, 4, 0.1)
    tasks = np.random.default_rng(2).integers(3, size=N)
    counted = Counted.of(gold, [answers, gold], clusters, classes=4, cuts={"task": tasks})
    observed, resampled = counted.tables(0, counted.cuts["task"] == 1)
    of_task = tasks == 1
    table = np.zeros((4, 5))
    np.add.at(table, (gold[of_task], answers[of_task]), 1)
    assert (observed[0] == table).all()
    assert resampled.shape == (1000, 4, 5)
    assert resampled.mean(axis=0) == pytest.approx(table, abs=0.06 * N / 20)
    assert counted.clusters(counted.cuts["task"] == 1) == len(np.unique(clusters[of_task]))
    assert np.trace(counted.tables(1)[0][0][:, :4]) == N


def test_resamples_without_a_rare_level_have_no_macro_f1() -> None:
    gold, answers, clusters = drawn(6, 3, 0.0)
    plain = Counted.of(gold, [answers], clusters, classes=4)
    observed, resampled = plain.tables(0)
    # Level 4 does not occur at all: no resample lacks it.
    assert np.isfinite(drawn_rates("medval", resampled, observed)["macro_f1"]).all()
    gold[0], clusters[0] = 3, 999
    observed, resampled = Counted.of(gold, [answers], clusters, classes=4).tables(0)
    found = drawn_rates("medval", resampled, observed)["macro_f1"]
    assert (np.isnan(found) == (resampled[:, 3].sum(axis=1) == 0)).all()
    assert 0.25 < np.isnan(found).mean() < 0.5
    assert estimate_of(0.5, found, 60)["low"] is None
