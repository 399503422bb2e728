"""Comparisons of two models agree with the tests' definitions; both see the same rows and the same patients."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest, chi2

from evaluation.comparisons import compare, mcnemar_p
from evaluation.intervals import Counted
from evaluation.numbers import grouped
from evaluation.predictions import Answers

GOLD = np.tile([0, 1, 2, 3], 15)


def model(name: str, wrong: list[int], kind: Any = "model", seeds: tuple[int | None, ...] = (1,)) -> Any:
    labels = GOLD.copy()
    labels[wrong] = (labels[wrong] + 1) % 4
    n = len(GOLD)
    run = Answers(name, None, labels, np.ones(n, dtype=np.bool_), {}, (None,) * n, np.full(n, np.nan))
    return [replace(run, seed=seed, kind=kind) for seed in seeds]


def compared(*models: Any) -> list[dict[str, Any]]:
    runs = [run for one in models for run in one]
    patients = np.repeat(np.arange(15), 4)
    counted = Counted.of(GOLD, [run.codes for run in runs], patients, classes=4, resamples=300, seed=1, by_row=True)
    return [one | one["tests"][0] for one in compare(grouped(runs, counted), counted, "holm")]


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
    (same,) = compared(model("a", [1, 2]), model("b", [1, 2]))
    assert [same[name] for name in ("both", "only_a", "only_b", "neither")] == [58, 0, 0, 2]
    assert same["differences"]["accuracy"] == {"value": 0.0, "low": 0.0, "high": 0.0}


def test_differences_are_a_minus_b_and_turn_round_with_the_models() -> None:
    good, bad = model("good", [0]), model("bad", [0, *range(1, 40, 3)])
    (there,), (back,) = compared(good, bad), compared(bad, good)
    assert (there["only_a"], there["only_b"]) == (back["only_b"], back["only_a"]) == (13, 0)
    accuracy, other = there["differences"]["accuracy"], back["differences"]["accuracy"]
    assert accuracy["value"] == pytest.approx(13 / 60, abs=1e-6)
    assert accuracy["low"] > 0
    assert (other["value"], other["high"]) == (-accuracy["value"], -accuracy["low"])
    assert there["differences"]["ece"]["value"] is None


def test_mcnemar_takes_the_lowest_seed_that_both_models_have() -> None:
    (found,) = compared(model("a", [], seeds=(3, 5, 7)), model("b", [1], seeds=(4, 7, 5)))
    assert (found["seed_a"], found["seed_b"]) == (5, 5)
    (found,) = compared(model("a", [], seeds=(3,)), model("b", [1], seeds=(None,)))
    assert (found["seed_a"], found["seed_b"]) == (3, None)


def test_every_model_meets_the_others_and_the_baselines_and_p_is_corrected() -> None:
    models = [model("a", [1]), model("b", list(range(0, 30, 2))), model("x", list(range(40)), "baseline")]
    models.append(model("y", list(range(20)), "baseline"))
    found = compared(*models)
    assert [(one["a"], one["b"]) for one in found] == [("a", "b"), ("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]
    ordered = sorted(one["p"] for one in found)
    smallest = min(found, key=lambda one: float(one["p"]))
    assert smallest["p_holm"] == pytest.approx(min(1, 5 * ordered[0]), rel=1e-4)
    assert all(one["p_holm"] >= one["p"] for one in found)
    assert compared(*models[2:]) == []
