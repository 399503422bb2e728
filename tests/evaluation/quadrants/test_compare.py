"""Comparisons of two models agree with the tests' definitions; both see the same rows and the same patients."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest, chi2

from evaluation.intervals import Bootstrap, ModelRuns
from evaluation.quadrants.compare import compare, compare_all, mcnemar_p
from evaluation.quadrants.predictions import Run

GOLD = np.tile([0, 1, 2, 3], 15)
BOOTSTRAP = Bootstrap.of(np.repeat(np.arange(15), 4), 300, 1)


def model(name: str, wrong: list[int], kind: str = "model", seeds: tuple[int | None, ...] = (1,)) -> ModelRuns:
    labels = GOLD.copy()
    labels[wrong] = (labels[wrong] + 1) % 4
    runs = [Run(name, seed, labels, np.full(len(GOLD), np.nan), 0, 0, 0, 0) for seed in seeds]
    return ModelRuns.of(runs, kind, GOLD, BOOTSTRAP)


def test_few_discordant_rows_are_tested_exactly() -> None:
    p, exact = mcnemar_p(np.array([[50, 9], [2, 4]]))
    assert exact
    assert p == pytest.approx(binomtest(2, 11, 0.5).pvalue)


def test_many_discordant_rows_are_tested_by_chi_square_with_correction() -> None:
    p, exact = mcnemar_p(np.array([[50, 30], [12, 4]]))
    assert not exact
    assert p == pytest.approx(chi2.sf((abs(30 - 12) - 1) ** 2 / 42, 1))


def test_models_that_agree_on_every_row_do_not_differ() -> None:
    assert mcnemar_p(np.array([[5, 0], [0, 3]])) == (1.0, True)
    same = compare(model("a", [1, 2]), model("b", [1, 2]), BOOTSTRAP)
    assert (same.both, same.only_a, same.only_b, same.neither) == (58, 0, 0, 2)
    accuracy = same.differences["accuracy"]
    assert (accuracy.value, accuracy.low, accuracy.high) == (0.0, 0.0, 0.0)


def test_differences_are_a_minus_b_and_turn_round_with_the_models() -> None:
    good, bad = model("good", [0]), model("bad", [0, *range(1, 40, 3)])
    there, back = compare(good, bad, BOOTSTRAP), compare(bad, good, BOOTSTRAP)
    assert (there.only_a, there.only_b) == (back.only_b, back.only_a) == (13, 0)
    accuracy = there.differences["accuracy"]
    assert accuracy.value == pytest.approx(13 / 60)
    assert accuracy.low is not None and accuracy.low > 0
    assert back.differences["accuracy"].value == pytest.approx(-13 / 60)
    assert back.differences["accuracy"].high == pytest.approx(-accuracy.low)
    assert there.differences["ece"].value is None


def test_mcnemar_takes_the_lowest_seed_that_both_models_have() -> None:
    found = compare(model("a", [], seeds=(3, 5, 7)), model("b", [1], seeds=(4, 7, 5)), BOOTSTRAP)
    assert (found.seed_a, found.seed_b) == (5, 5)
    found = compare(model("a", [], seeds=(3,)), model("b", [1], seeds=(None,)), BOOTSTRAP)
    assert (found.seed_a, found.seed_b) == (3, None)


def test_every_model_meets_the_others_and_the_baselines_and_p_is_corrected() -> None:
    models = [model("a", [1]), model("b", list(range(0, 30, 2))), model("x", list(range(40)), "baseline")]
    models.append(model("y", list(range(20)), "baseline"))
    found = compare_all(models, BOOTSTRAP)
    assert [(one.a, one.b) for one in found] == [("a", "b"), ("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]
    ordered = sorted(one.p for one in found)
    smallest = min(found, key=lambda one: one.p)
    assert smallest.p_holm == pytest.approx(min(1, 5 * ordered[0]))
    assert all(one.p_holm is not None and one.p_holm >= one.p for one in found)
    assert compare_all(models[:2], BOOTSTRAP)[0].p_holm is None
    assert compare_all(models[2:], BOOTSTRAP) == []
