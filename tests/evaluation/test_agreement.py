"""Experts: Krippendorff's alpha as the library has it, majorities, and non-inferiority to one expert."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from evaluation.agreement import alpha_estimate, majority, non_inferiority, to_halves


def ratings_of(seed: int, n: int = 90, noise: float = 0.3, missing: float = 0.3) -> Any:
    generator = np.random.default_rng(seed)
    truth = generator.integers(4, size=n)
    step = generator.choice([-1, 1], size=(3, n)) * (generator.random((3, n)) < noise)
    return np.where(generator.random((3, n)) < missing, -1, np.clip(truth + step, 0, 3))


def test_alpha_is_the_published_one() -> None:
    # Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), C: four observers, twelve units, ordinal 0.815.
    ratings = np.array(
        [
            [0, 1, 2, 2, 1, 0, 3, 0, 1, -1, -1, -1],
            [0, 1, 2, 2, 1, 1, 3, 0, 1, 4, -1, 2],
            [-1, 2, 2, 2, 1, 2, 3, 1, 1, 4, 0, -1],
            [0, 1, 2, 2, 1, 3, 3, 0, 1, 4, 0, -1],
        ]
    )
    assert alpha_estimate(ratings, 5)["value"] == pytest.approx(0.815, abs=5e-4)


def test_alpha_rises_with_agreement_and_lies_in_its_interval() -> None:
    strict, loose = (alpha_estimate(ratings_of(1, noise=noise), 4) for noise in (0.1, 0.6))
    assert loose["value"] < strict["value"] < 1
    assert strict["low"] < strict["value"] < strict["high"]
    same = ratings_of(1, noise=0, missing=0)
    assert alpha_estimate(same, 4)["value"] == 1.0


def test_items_with_one_rating_have_no_part_in_alpha() -> None:
    ratings = ratings_of(2)
    alone = np.full((3, 10), -1)
    alone[0] = 3
    with_alone = alpha_estimate(np.concatenate([ratings, alone], axis=1), 4)
    assert with_alone == alpha_estimate(ratings, 4)
    assert alpha_estimate(alone, 4) == {"items": 0, "value": None, "low": None, "high": None}


def test_without_any_variation_alpha_is_not_defined() -> None:
    assert alpha_estimate(np.zeros((3, 20), dtype=np.int64), 4)["value"] is None


def test_levels_become_safe_and_unsafe_and_missing_stays_missing() -> None:
    assert to_halves(np.array([[0, 1, 2, 3, -1]])).tolist() == [[0, 0, 1, 1, -1]]


def test_a_majority_counts_votes_and_ties_go_to_the_higher_risk() -> None:
    votes = np.array([[0, 0, 0, 3, -1, 4], [0, 3, 1, 3, -1, 4], [2, -1, 2, 0, 1, 4]])
    assert majority(votes, 4).tolist() == [0, 3, 2, 3, 1, 4]


def test_a_model_as_good_as_the_majority_is_not_inferior_and_a_bad_one_is() -> None:
    ratings = ratings_of(3, noise=0.4, missing=0.1)
    good = non_inferiority(majority(ratings, 4), ratings)
    assert good["non_inferior"] is True and good["difference"]["value"] > 0 and good["p"] < 0.001
    bad = non_inferiority(np.zeros(ratings.shape[1], dtype=np.int64), ratings)
    assert bad["non_inferior"] is False and bad["p"] > 0.99
    assert bad["lower_bound"] < bad["margin"] < 0
    silent = non_inferiority(np.full(ratings.shape[1], 4), ratings)
    assert silent["model_f1"] == 0.0 and silent["non_inferior"] is False


def test_the_bootstrap_is_that_of_drawing_items_and_experts_one_by_one() -> None:
    def macro_f1(gold: Any, said: Any) -> float:
        counts = [((gold == level) & (said == level)).sum() for level in range(4)]
        sizes = [(gold == level).sum() + (said == level).sum() for level in range(4)]
        return float(np.mean([2 * n / size for n, size in zip(counts, sizes, strict=True) if size]))

    ratings = ratings_of(4, n=60, missing=0.2)
    ratings = ratings[:, (ratings >= 0).sum(axis=0) > 1]
    model = np.roll(majority(ratings, 4), 1)
    model[10:] = majority(ratings, 4)[10:]
    found = non_inferiority(model, ratings)
    given = [column[column >= 0] for column in ratings.T]
    generator, gold, n = np.random.default_rng(9), majority(ratings, 4), ratings.shape[1]
    differences = []
    for _ in range(500):
        items = generator.integers(n, size=n)
        expert = np.array([generator.choice(given[item]) for item in items])
        differences.append(macro_f1(gold[items], model[items]) - macro_f1(gold[items], expert))
    assert found["lower_bound"] == pytest.approx(np.percentile(differences, 5), abs=0.02)
    assert found["difference"]["value"] == pytest.approx(np.mean(differences), abs=0.03)


def test_too_few_items_decide_nothing() -> None:
    found = non_inferiority(np.zeros(4, dtype=np.int64), np.zeros((2, 4), dtype=np.int64))
    assert found["items"] == 4 and found["non_inferior"] is None
