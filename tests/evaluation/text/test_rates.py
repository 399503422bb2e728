"""Rates and their intervals: as the libraries compute them, and an unreadable answer is no class."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, f1_score, precision_recall_fscore_support

from evaluation.intervals import Counted, estimate_of
from evaluation.rates import RATES, drawn_rates, linear_kappa

N = 400


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
