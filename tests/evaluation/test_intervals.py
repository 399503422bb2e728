"""Patients are drawn, not rows; the draws are stable; too little data gives no interval."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.intervals import Bootstrap, Estimate, ModelRuns, estimates, model_draws, percentile_interval
from evaluation.quadrants.metrics import METRICS, confusion_counts, metrics_of
from evaluation.quadrants.predictions import Run

ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=60)


def run(labels: list[int], seed: int = 1) -> Run:
    return Run("m", seed, np.array(labels), np.full(len(labels), 0.7), 0, 0, 0, 0)


@settings(deadline=None)
@given(ROWS)
def test_weights_of_one_give_the_point_estimate(rows: list[tuple[int, int, int]]) -> None:
    subjects, gold, said = (np.array(column) for column in zip(*rows, strict=True))
    drawn = Bootstrap.of(subjects, 3, 0)
    once = Bootstrap(drawn.patients, drawn.n_patients, np.ones((1, drawn.n_patients)))
    resampled = metrics_of(once.resample(confusion_counts(gold, said, once.patients, once.n_patients)))
    point = metrics_of(confusion_counts(gold, said, np.zeros(len(gold), dtype=np.int64), 1)[0])
    for name in METRICS:
        assert resampled[name][0] == pytest.approx(float(point[name]), nan_ok=True)


def test_a_resample_is_the_same_as_repeating_the_patients_rows() -> None:
    random = np.random.default_rng(3)
    subjects, gold, said = random.integers(0, 9, 80), random.integers(0, 4, 80), random.integers(0, 5, 80)
    bootstrap = Bootstrap.of(subjects, 4, 11)
    together = bootstrap.resample(confusion_counts(gold, said, bootstrap.patients, bootstrap.n_patients))
    for weights, counted in zip(bootstrap.weights.astype(int), together, strict=True):
        repeat = weights[bootstrap.patients]
        rows = np.repeat(np.arange(80), repeat)
        alone = confusion_counts(gold[rows], said[rows], np.zeros(len(rows), dtype=np.int64), 1)[0]
        assert counted.tolist() == alone.tolist()
    assert (bootstrap.weights.sum(axis=1) == bootstrap.n_patients).all()


def test_intervals_depend_on_the_seed_and_not_on_the_order_of_rows() -> None:
    random = np.random.default_rng(5)
    subjects, gold, said = random.integers(0, 20, 200), random.integers(0, 4, 200), random.integers(0, 4, 200)

    def found(order: list[int], seed: int) -> dict[str, Estimate]:
        bootstrap = Bootstrap.of(subjects[order], 200, seed)
        model = ModelRuns.of([run(said[order].tolist())], "model", gold[order], bootstrap)
        return estimates(model.confusion, model.calibration, bootstrap)

    straight, shuffled = list(range(200)), random.permutation(200).tolist()
    assert found(straight, 1) == found(straight, 1)
    one, other = found(straight, 1), found(shuffled, 1)
    assert {name: part.as_dict() for name, part in one.items()} == {
        name: part.as_dict() for name, part in other.items()
    }
    assert found(straight, 1) != found(straight, 2)
    accuracy = one["accuracy"]
    assert accuracy.low is not None and accuracy.high is not None and accuracy.value is not None
    assert accuracy.low < accuracy.value < accuracy.high


def test_rows_of_one_patient_that_agree_make_intervals_wider() -> None:
    patients = 40
    right = np.arange(patients) % 2 == 0
    gold = np.zeros(patients * 10, dtype=np.int64)
    said = np.repeat(np.where(right, 0, 1), 10)

    def width(subjects: np.ndarray[tuple[int], np.dtype[np.int64]]) -> float:
        bootstrap = Bootstrap.of(subjects, 500, 0)
        model = ModelRuns.of([run(said.tolist())], "model", gold, bootstrap)
        accuracy = estimates(model.confusion, None, bootstrap)["accuracy"]
        assert accuracy.low is not None and accuracy.high is not None
        return accuracy.high - accuracy.low

    assert width(np.repeat(np.arange(patients), 10)) > 2 * width(np.arange(patients * 10))


def test_too_few_patients_or_too_many_undefined_draws_give_no_interval() -> None:
    draws = np.linspace(0, 1, 100)
    assert percentile_interval(draws, 4) is None
    assert percentile_interval(draws, 5) == pytest.approx((0.025, 0.975))
    few = np.where(np.arange(100) < 5, np.nan, draws)
    assert percentile_interval(few, 50) is not None
    assert percentile_interval(np.where(np.arange(100) < 6, np.nan, draws), 50) is None
    assert percentile_interval(np.full(100, np.nan), 50) is None


def test_seeds_are_averaged_and_their_spread_is_given() -> None:
    gold = np.tile([0, 1, 2, 3], 10)
    bootstrap = Bootstrap.of(np.repeat(np.arange(10), 4), 100, 0)
    perfect, half = gold.tolist(), np.where(np.arange(40) % 8 < 4, gold, 4).tolist()
    model = ModelRuns.of([run(perfect, 1), run(half, 2)], "model", gold, bootstrap)
    accuracy = estimates(model.confusion, model.calibration, bootstrap)["accuracy"]
    assert accuracy.value == pytest.approx(0.75)
    assert accuracy.spread == pytest.approx(np.std([1.0, 0.5], ddof=1))
    points, drawn = model_draws(model.confusion, None, bootstrap)
    assert points["accuracy"].tolist() == [1.0, 0.5]
    assert drawn["accuracy"].shape == (100,)
    single = ModelRuns.of([run(perfect)], "model", gold, bootstrap)
    assert estimates(single.confusion, None, bootstrap)["accuracy"].spread is None


def test_an_undefined_value_is_none() -> None:
    gold = np.zeros(20, dtype=np.int64)
    bootstrap = Bootstrap.of(np.arange(20), 50, 0)
    model = ModelRuns.of([run([0] * 20)], "model", gold, bootstrap)
    found = estimates(model.confusion, model.calibration, bootstrap)
    assert found["hsr"] == found["f1"] == Estimate(None)
    assert found["hsr"].as_dict() == {"value": None, "low": None, "high": None, "spread": None}
    assert found["accuracy"].value == 1.0
