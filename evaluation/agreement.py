"""Several answers to a row: the runs' majority, and experts' ratings beside a validator's (MedVAL, supplement S2.3).

Krippendorff's alpha among experts, their majority as the reference, and a model beside a single expert.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from evaluation.classes import UNSAFE, Classes
from evaluation.intervals import DIGITS, RESAMPLES, SEED, Counted, estimate_of
from evaluation.predictions import Answers
from evaluation.rates import rate_estimates, validator_rates
from evaluation.rows import Reference
from ground.errors import InputError
from ground.reliability import alpha_draws, ordinal_distance
from ground.resampling import FEWEST_CLUSTERS, resampled

__all__ = ["ENSEMBLE", "ensemble", "experts_part", "majority", "require_rated_rows"]

ENSEMBLE = "ensemble"
"""Name of the run that the others make together."""
MARGIN = -0.05
NI_RESAMPLES = 10_000
LOWER_BOUND = 5.0
LEVELS = 4

Codes = npt.NDArray[np.int64]


def majority(codes: Codes, n_classes: int) -> Codes:
    """Return the most frequent class of each row; of classes that are equally frequent the gravest.

    A rater or run without an answer has no vote; where none has, there is no answer.

    Args:
        codes: *shape* (m, n), 0 to k - 1, and k or less than 0 for no answer.
        n_classes: k.

    Returns:
        *Shape* (n,), 0 to k - 1, k for no answer.
    """
    votes = np.stack([(codes == code).sum(axis=0) for code in range(n_classes)])
    # From the gravest downwards: argmax takes the first of equals.
    gravest = n_classes - 1 - np.argmax(votes[::-1], axis=0)
    return np.where(votes.sum(axis=0) > 0, gravest, n_classes)


def ensemble(runs: Sequence[Answers], classes: Classes) -> Answers:
    """Return the majority of several runs as a run of its own; ties go to the higher risk (MedVAL, stage 3)."""
    codes = majority(np.stack([run.codes for run in runs]), classes.silent)
    n, silent = len(codes), int((codes == classes.silent).sum())
    outcomes = {name: rows for name, rows in (("no_vote", silent), ("voted", n - silent)) if rows}
    there, unsure = np.ones(n, dtype=np.bool_), np.full(n, np.nan)
    return Answers(ENSEMBLE, None, codes, there, outcomes, (None,) * n, unsure, kind="ensemble")


def to_halves(ratings: Codes) -> Codes:
    """Bring levels to safe (0) and unsafe (1); a missing rating stays missing (below 0). *Shape:* (m, n)."""
    return np.where(ratings < 0, -1, UNSAFE[np.maximum(ratings, 0)].astype(np.int64))


def alpha_estimate(ratings: Codes, k: int) -> dict[str, Any]:
    """Return Krippendorff's alpha (ordinal) over items with its interval, and the items with two ratings or more.

    ``ratings`` are codes of k classes, below 0 where missing. *Shape:* (m, n).
    """
    counts = np.stack([(ratings == code).sum(axis=0) for code in range(k)], axis=1)
    # Items with the same ratings are of one kind.
    kinds, sizes = np.unique(counts[counts.sum(axis=1) > 1], axis=0, return_counts=True)
    drawn = resampled(np.eye(len(kinds)), sizes, RESAMPLES, SEED)
    value, *draws = alpha_draws(kinds, ordinal_distance, np.vstack([sizes, drawn]))
    items = int(sizes.sum())
    return {"items": items, **estimate_of(float(value), np.array(draws), items)}


def non_inferiority(model: Codes, ratings: Codes) -> dict[str, Any]:
    """Ask whether a model is not worse than a single expert, by a paired bootstrap of the items (supplement S2.3).

    The reference is the experts' majority, ties to the higher risk. A single expert is one of those who rated the item,
    drawn anew for each item of each resample. The contrast is macro-F1 of the model minus that of the expert; the model
    is not inferior where its lower 95% bound (one-sided: the 5th percentile) lies above the margin. The expert has a
    part in the majority and the model has none, which is to the model's disadvantage.

    Args:
        model: *shape* (n,), 0 to 3, 4 for no answer.
        ratings: *shape* (m, n), codes, below 0 where missing; items with fewer than two ratings are left out.

    Returns:
        ``items``, ``model_f1``, ``expert_f1`` (of all experts, an item's sharing its weight), ``difference`` with its
        two-sided interval, ``lower_bound``, ``margin``, ``p`` (share of resamples at or below the margin) and
        ``non_inferior``; None where there are fewer than five items.
    """
    several = (ratings >= 0).sum(axis=0) > 1
    model, ratings = model[several], ratings[:, several]
    n, result = len(model), {"items": len(model), "margin": MARGIN, "resamples": NI_RESAMPLES}
    if n < FEWEST_CLUSTERS:
        return {**result, **dict.fromkeys(("model_f1", "expert_f1", "difference", "lower_bound", "p", "non_inferior"))}
    # A resample draws n pairs of an item and one of its raters; pairs with the same levels are of one kind.
    rater, item = np.nonzero(ratings >= 0)
    levels = np.stack([majority(ratings, LEVELS)[item], model[item], ratings[rater, item]], axis=1)
    kinds, kind = np.unique(levels, axis=0, return_inverse=True)
    weights = np.bincount(kind.ravel(), weights=1 / np.bincount(item)[item])
    tables = np.zeros((len(kinds), 2, LEVELS, LEVELS + 1))
    for who, codes in enumerate(kinds.T[1:]):
        tables[np.arange(len(kinds)), who, kinds[:, 0], codes] = 1
    drawn = resampled(tables.reshape(len(kinds), -1), weights, NI_RESAMPLES, SEED).reshape(-1, *tables.shape[1:])
    both = np.tensordot(weights, tables, axes=1), drawn
    (of_model, of_expert), resamples = (validator_rates(part)["macro_f1"] for part in both)
    difference = np.subtract(*resamples.T)
    lower = float(np.percentile(difference, LOWER_BOUND))
    return {
        **result,
        "model_f1": round(float(of_model), DIGITS),
        "expert_f1": round(float(of_expert), DIGITS),
        "difference": estimate_of(float(of_model - of_expert), difference, n),
        "lower_bound": round(lower, DIGITS),
        "p": round(float((1 + (difference <= MARGIN).sum()) / (1 + NI_RESAMPLES)), DIGITS),
        "non_inferior": bool(lower > MARGIN),
    }


def experts_part(
    reference: Reference,
    ratings: pl.DataFrame,
    runs: Sequence[Answers],
    labels: Sequence[str],
) -> dict[str, Any]:
    """Compare experts with each other, with the dataset's labels and with the runs.

    Args:
        reference: the rows.
        ratings: ``id``, ``model`` (the rater), ``label`` (1 to 4, null: not rated) and ``errors`` (``category``,
            ``text``), as `evaluation.sheets.read_sheets` returns them.
        runs: the validators' answers, in the order of the rows.
        labels: how the runs are called.

    Returns:
        ``raters``, ``agreement`` (Krippendorff's alpha of four levels and of safe against unsafe, overall and by task),
        ``labels_against_majority``, ``runs_against_majority``, ``non_inferiority`` and ``categories``.
    """
    own = {name: ratings.filter(pl.col("model") == name) for name in sorted(ratings["model"].unique().to_list())}
    table = np.stack([_codes(reference, ratings) for ratings in own.values()])
    rated = (table >= 0).any(axis=0)
    part, table = reference.keep(rated), table[:, rated]
    answers = [part.gold, *(run.codes[rated] for run in runs)]
    gold = majority(table, LEVELS)
    counted = Counted.of(gold, answers, part.clusters, classes=LEVELS)
    against = [
        {
            "metrics": rate_estimates("medval", counted, at),
            "confusion": counted.tables(at)[0][0].astype(np.int64).tolist(),
        }
        for at in range(len(answers))
    ]
    return {
        "items": int(rated.sum()),
        "items_with_several": int(((table >= 0).sum(axis=0) > 1).sum()),
        "raters": [
            {"rater": name, "rated": int((codes >= 0).sum()), "not_rated": int(ratings["label"].null_count())}
            for (name, ratings), codes in zip(own.items(), table, strict=True)
        ],
        "agreement": _agreement(part, table),
        "labels_against_majority": against[0],
        "runs_against_majority": [{"name": name, **figures} for name, figures in zip(labels, against[1:], strict=True)],
        "non_inferiority": [
            {"name": name, **non_inferiority(codes, table)} for name, codes in zip(labels, answers[1:], strict=True)
        ],
        "categories": _categories(ratings),
    }


def require_rated_rows(reference: Reference, ratings: pl.DataFrame) -> None:
    """Refuse ratings of rows that are not in the split."""
    unknown = ratings.join(reference.frame.select("id"), on="id", how="anti").height
    if unknown:
        raise InputError(
            "experts rated rows that are not in the split",
            found=f"{unknown:,} of {ratings.height:,} ratings",
            do="choose the dataset and the split that the sheets were written from",
        )


def _codes(reference: Reference, ratings: pl.DataFrame) -> Codes:
    """Return one rater's ratings in the order of the rows. *Shape:* (n,), below 0 where there is none."""
    joined = reference.frame.select("id").join(ratings, on="id", how="left", maintain_order="left")
    return joined["label"].cast(pl.Int64).fill_null(0).to_numpy() - 1


def _agreement(part: Reference, table: Codes) -> dict[str, Any]:
    tasks, names = part.cuts()["task"]

    def of(values: Codes, k: int) -> dict[str, Any]:
        by_task = {name: alpha_estimate(values[:, tasks == at], k) for at, name in enumerate(names)}
        return {"overall": alpha_estimate(values, k), "by_task": by_task}

    return {"four_levels": of(table, LEVELS), "safe_unsafe": of(to_halves(table), 2)}


def _categories(ratings: pl.DataFrame) -> list[dict[str, Any]]:
    errors = ratings.select(pl.col("errors").explode()).drop_nulls()
    if not errors.height:
        return []
    counts = errors.unnest("errors")["category"].value_counts().sort(["count", "category"], descending=[True, False])
    return [{"category": name, "errors": int(n)} for name, n in counts.iter_rows()]
