"""Patients are drawn, not rows; the draws are stable; too little data gives no interval."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.intervals import Counted
from evaluation.numbers import Model, estimates, grouped, model_draws
from evaluation.predictions import Answers
from evaluation.rates import metrics_of

ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=60)


def answers(labels: Any, seed: int = 1) -> Answers:
    codes = np.array(labels)
    there, sure = np.ones(len(codes), dtype=np.bool_), np.full(len(codes), 0.7)
    return Answers("m", seed, codes, there, {}, (None,) * len(codes), sure)


def counted_of(gold: Any, runs: list[Answers], patients: Any, resamples: int, seed: int) -> tuple[Counted, Model]:
    said = [run.codes for run in runs]
    counted = Counted.of(
        np.array(gold), said, np.array(patients), classes=4, resamples=resamples, seed=seed, by_row=True
    )
    return counted, grouped(runs, counted)[0]


@settings(deadline=None)
@given(ROWS)
def test_weights_of_one_give_the_point_estimate(rows: list[tuple[int, int, int]]) -> None:
    subjects, gold, said = (np.array(column) for column in zip(*rows, strict=True))
    counted, _ = counted_of(gold, [answers(said)], subjects, 3, 0)
    once = replace(counted, drawn=np.ones((1, len(np.unique(subjects)))))
    observed, resampled = once.tables(0)
    table = np.zeros((4, 5))
    np.add.at(table, (gold, said), 1)
    point, one = metrics_of(table), metrics_of(resampled)
    assert observed[0].tolist() == table.tolist()
    for name in point:
        assert one[name][0] == pytest.approx(float(point[name]), nan_ok=True)


def test_a_resample_is_the_same_as_repeating_the_patients_rows() -> None:
    random = np.random.default_rng(3)
    subjects, gold, said = random.integers(0, 9, 80), random.integers(0, 4, 80), random.integers(0, 5, 80)
    counted, _ = counted_of(gold, [answers(said)], subjects, 4, 11)
    _, patients = np.unique(subjects, return_inverse=True)
    for weights, found in zip(counted.drawn.astype(int), counted.tables(0)[1], strict=True):
        rows = np.repeat(np.arange(80), weights[patients])
        alone = np.zeros((4, 5))
        np.add.at(alone, (gold[rows], said[rows]), 1)
        assert found.tolist() == alone.tolist()
    assert (counted.drawn.sum(axis=1) == counted.clusters()).all()


def test_intervals_depend_on_the_seed_and_not_on_the_order_of_rows() -> None:
    random = np.random.default_rng(5)
    subjects, gold, said = random.integers(0, 20, 200), random.integers(0, 4, 200), random.integers(0, 4, 200)

    def found(order: list[int], seed: int) -> dict[str, Any]:
        counted, model = counted_of(gold[order], [answers(said[order])], subjects[order], 200, seed)
        return estimates(model, counted)

    straight, shuffled = list(range(200)), random.permutation(200).tolist()
    one = found(straight, 1)
    assert one == found(straight, 1) == found(shuffled, 1)
    assert one != found(straight, 2)
    assert one["accuracy"]["low"] < one["accuracy"]["value"] < one["accuracy"]["high"]


def test_rows_of_one_patient_that_agree_make_intervals_wider() -> None:
    patients = 40
    right = np.arange(patients) % 2 == 0
    gold = np.zeros(patients * 10, dtype=np.int64)
    said = np.repeat(np.where(right, 0, 1), 10)

    def width(subjects: Any) -> float:
        counted, model = counted_of(gold, [answers(said)], subjects, 500, 0)
        accuracy: Any = estimates(model, counted)["accuracy"]
        return float(accuracy["high"] - accuracy["low"])

    assert width(np.repeat(np.arange(patients), 10)) > 2 * width(np.arange(patients * 10))


def test_seeds_are_averaged_and_their_spread_is_given() -> None:
    gold, patients = np.tile([0, 1, 2, 3], 10), np.repeat(np.arange(10), 4)
    half = np.where(np.arange(40) % 8 < 4, gold, 4)
    counted, model = counted_of(gold, [answers(gold, 1), answers(half, 2)], patients, 100, 0)
    accuracy = estimates(model, counted)["accuracy"]
    assert accuracy["value"] == pytest.approx(0.75)
    assert accuracy["spread"] == pytest.approx(np.std([1.0, 0.5], ddof=1), abs=1e-6)
    points, drawn = model_draws(model, counted)
    assert points["accuracy"].tolist() == [1.0, 0.5]
    assert drawn["accuracy"].shape == drawn["ece"].shape == (100,)
    counted, single = counted_of(gold, [answers(gold)], patients, 100, 0)
    assert estimates(single, counted)["accuracy"]["spread"] is None


def test_an_undefined_value_is_none() -> None:
    gold = np.zeros(20, dtype=np.int64)
    counted, model = counted_of(gold, [answers([0] * 20)], np.arange(20), 50, 0)
    found = estimates(model, counted)
    assert found["hsr"] == found["f1"] == {"value": None, "low": None, "high": None, "spread": None}
    assert found["accuracy"]["value"] == 1.0


def test_rows_drawn_as_kinds_and_rows_drawn_one_by_one_have_the_same_spread() -> None:
    random = np.random.default_rng(7)
    gold, said, clusters = random.integers(0, 2, 300), random.integers(0, 3, 300), random.integers(0, 60, 300)
    kinds = Counted.of(gold, [said], clusters, classes=2, resamples=4000)
    rows = Counted.of(gold, [said], clusters, classes=2, resamples=4000, seed=1, by_row=True)
    assert kinds.tables(0)[0].tolist() == rows.tables(0)[0].tolist()
    assert kinds.clusters() == rows.clusters() == len(np.unique(clusters))
    spread, other = (one.tables(0)[1].std(axis=0) for one in (kinds, rows))
    assert spread == pytest.approx(other, rel=0.08, abs=1e-9)
