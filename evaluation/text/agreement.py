"""Experts among themselves, and a model beside one expert: Krippendorff's alpha and non-inferiority (MedVAL, S2.3)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from evaluation.classes import UNSAFE
from evaluation.intervals import DIGITS, RESAMPLES, estimate_of, share
from evaluation.text.rates import validator_rates
from evaluation.text.votes import majority

__all__ = ["MARGIN", "alpha_estimate", "coincidences", "non_inferiority", "ordinal_alpha", "to_halves"]

MARGIN = -0.05
NI_RESAMPLES = 10_000
# Draws of items that are in memory at once, at most.
DRAWS_AT_ONCE = 4_000_000
LOWER_BOUND = 5.0

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def to_halves(ratings: Codes) -> Codes:
    """Bring levels to safe (0) and unsafe (1); a missing rating stays missing (below 0). *Shape:* (m, n)."""
    return np.where(ratings < 0, -1, UNSAFE[np.maximum(ratings, 0)].astype(np.int64))


def coincidences(ratings: Codes, k: int) -> Floats:
    """Return each item's part of the coincidence matrix; an item with fewer than two ratings has none.

    Krippendorff 2018, section 12.3.1: the pairs of values of one item, each weighed by 1 / (ratings of the item - 1).

    Args:
        ratings: *shape* (m, n), codes of m raters for n items, below 0 where a rating is missing.
        k: classes.

    Returns:
        *Shape* (n, k, k).
    """
    counts = np.stack([(ratings == code).sum(axis=0) for code in range(k)], axis=1).astype(np.float64)
    of_item = counts.sum(axis=1)
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(k)[None]
    weight = np.divide(1.0, of_item - 1, out=np.zeros_like(of_item), where=of_item > 1)
    weighed: Floats = pairs * weight[:, None, None]
    return weighed


def ordinal_alpha(sums: Floats) -> Floats:
    """Return Krippendorff's alpha with the ordinal metric of many coincidence matrices. *Shapes:* (b, k, k) to (b,)."""
    k = sums.shape[1]
    n_v = sums.sum(axis=2)
    total = n_v.sum(axis=1)
    below = np.concatenate([np.zeros((len(sums), 1)), np.cumsum(n_v, axis=1)], axis=1)
    # Values between c and d, both ends included, less half of each end.
    between = below[:, None, 1:] - below[:, :-1, None] - (n_v[:, :, None] + n_v[:, None, :]) / 2
    upper = np.triu(np.ones((k, k)), 1)
    distance = between**2 * upper
    observed = (sums * distance).sum(axis=(1, 2))
    expected = (n_v[:, :, None] * n_v[:, None, :] * distance).sum(axis=(1, 2))
    alpha: Floats = 1 - (total - 1) * share(observed, expected)
    return alpha


def alpha_estimate(ratings: Codes, k: int, *, resamples: int = RESAMPLES, seed: int = 42) -> dict[str, Any]:
    """Return Krippendorff's alpha (ordinal) over items with its interval, and the items with two ratings or more.

    Args:
        ratings: *shape* (m, n), codes, below 0 where missing.
        k: classes.
        resamples: of the items.
        seed: of the resamples.
    """
    parts = coincidences(ratings, k)
    several = (ratings >= 0).sum(axis=0) > 1
    result: dict[str, Any] = {"items": int(several.sum())}
    if not several.any():
        return {**result, **estimate_of(np.nan, np.zeros(0), 0)}
    kinds, sizes = np.unique(parts[several].reshape(int(several.sum()), -1), axis=0, return_counts=True)
    draws = np.random.default_rng(seed).multinomial(sizes.sum(), sizes / sizes.sum(), size=resamples)
    drawn = ordinal_alpha((draws.astype(np.float64) @ kinds).reshape(resamples, k, k))
    return {**result, **estimate_of(_alpha(ratings[:, several], k), drawn, int(several.sum()))}


def _alpha(ratings: Codes, k: int) -> float:
    if len(np.unique(ratings[ratings >= 0])) < 2:
        # One value only: there is no disagreement to expect, and alpha is not defined.
        return float("nan")
    return float(ordinal_alpha(coincidences(ratings, k).sum(axis=0)[None])[0])


def non_inferiority(
    model: Codes, ratings: Codes, *, margin: float = MARGIN, resamples: int = NI_RESAMPLES, seed: int = 42
) -> dict[str, Any]:
    """Ask whether a model is not worse than a single expert, by a paired bootstrap of the items (supplement S2.3).

    The reference is the experts' majority, ties to the higher risk. A single expert is one of those who rated the item,
    drawn anew for each item of each resample. The contrast is macro-F1 of the model minus that of the expert; the model
    is not inferior where its lower 95% bound (one-sided: the 5th percentile) lies above the margin. The expert has a
    part in the majority and the model has none, which is to the model's disadvantage.

    Args:
        model: *shape* (n,), 0 to 3, 4 for no answer.
        ratings: *shape* (m, n), codes, below 0 where missing; items with fewer than two ratings are left out.
        margin: below 0.
        resamples: B.
        seed: of the resamples.

    Returns:
        ``items``, ``model_f1``, ``expert_f1`` (mean over draws of the expert), ``difference`` with its two-sided
        interval, ``lower_bound``, ``margin``, ``p`` (share of resamples at or below the margin) and ``non_inferior``;
        None where there are fewer than five items.
    """
    several = (ratings >= 0).sum(axis=0) > 1
    model, ratings = model[several], ratings[:, several]
    n, result = len(model), {"items": len(model), "margin": margin, "resamples": resamples}
    if n < 5:
        return {**result, **dict.fromkeys(("model_f1", "expert_f1", "difference", "lower_bound", "p", "non_inferior"))}
    gold = majority(ratings, 4)
    of_model, of_expert = _drawn_f1(gold, model, ratings, resamples, seed)
    point = float(validator_rates(_table(gold, model)[None])["macro_f1"][0])
    everyone = _expected_expert(gold, ratings, seed)
    difference = of_model - of_expert
    lower = float(np.percentile(difference, LOWER_BOUND))
    return {
        **result,
        "model_f1": round(point, DIGITS),
        "expert_f1": round(everyone, DIGITS),
        "difference": estimate_of(point - everyone, difference, n),
        "lower_bound": round(lower, DIGITS),
        "p": round(float((1 + (difference <= margin).sum()) / (1 + resamples)), DIGITS),
        "non_inferior": bool(lower > margin),
    }


def _table(gold: Codes, answers: Codes) -> Floats:
    return np.bincount(gold * 5 + answers, minlength=20).reshape(4, 5).astype(np.float64)


def _experts(ratings: Codes) -> tuple[Codes, Codes]:
    """Put the ratings of each item first. *Shapes:* (m, n) to (n, m) and how many there are, (n,)."""
    order = np.argsort(ratings < 0, axis=0, kind="stable")
    return np.take_along_axis(ratings, order, axis=0).T, (ratings >= 0).sum(axis=0)


def _expected_expert(gold: Codes, ratings: Codes, seed: int, draws: int = 1000) -> float:
    """Return the mean macro-F1 of single experts on the items as they are."""
    first, counts = _experts(ratings)
    generator = np.random.default_rng((seed, 1))
    said = first[np.arange(len(gold)), (generator.random((draws, len(gold))) * counts).astype(np.int64)]
    return float(validator_rates(_tables(np.broadcast_to(gold, said.shape), said))["macro_f1"].mean())


def _drawn_f1(gold: Codes, model: Codes, ratings: Codes, resamples: int, seed: int) -> tuple[Floats, Floats]:
    """Return macro-F1 of the model and of a single expert in each resample. *Shapes:* (B,) each."""
    first, counts = _experts(ratings)
    generator = np.random.default_rng(seed)
    n = len(gold)
    at_once = max(1, DRAWS_AT_ONCE // n)
    of_model, of_expert = [], []
    for begin in range(0, resamples, at_once):
        size = (min(at_once, resamples - begin), n)
        items = generator.integers(n, size=size)
        experts = (generator.random(size) * counts[items]).astype(np.int64)
        of_model.append(validator_rates(_tables(gold[items], model[items]))["macro_f1"])
        of_expert.append(validator_rates(_tables(gold[items], first[items, experts]))["macro_f1"])
    return np.concatenate(of_model), np.concatenate(of_expert)


def _tables(gold: Codes, answers: Codes) -> Floats:
    """Count many tables at once. *Shapes:* (b, n) twice to (b, 4, 5)."""
    cell = np.arange(len(gold))[:, None] * 20 + gold * 5 + answers
    return np.bincount(cell.ravel(), minlength=20 * len(gold)).reshape(-1, 4, 5).astype(np.float64)
