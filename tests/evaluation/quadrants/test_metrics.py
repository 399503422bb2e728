"""Metrics agree with scikit-learn, with arithmetic by hand, and are undefined where there is nothing to measure."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, confusion_matrix, precision_recall_fscore_support

from evaluation.rates import METRICS, calibration_counts, calibration_error, metrics_of

PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=80)


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
    assert {name: float(value) for name, value in found.items()} == dict.fromkeys(METRICS, 0.0)


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
        assert all(together[name][at] == pytest.approx(float(alone[name]), nan_ok=True) for name in METRICS)


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
