"""Experts' ratings beside a validator's: agreement among experts, their majority as the reference, non-inferiority."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from evaluation.intervals import Counted
from evaluation.predictions import Answers
from evaluation.rates import rate_estimates
from evaluation.text.agreement import LEVELS, Codes, alpha_estimate, majority, non_inferiority, to_halves
from evaluation.text.reference import Reference
from ground.errors import InputError

__all__ = ["experts_part"]


def experts_part(
    reference: Reference,
    ratings: pl.DataFrame,
    runs: Sequence[Answers],
    labels: Sequence[str],
    *,
    resamples: int,
    seed: int,
) -> dict[str, Any]:
    """Compare experts with each other, with the dataset's labels and with the runs.

    Args:
        reference: the rows.
        ratings: ``id``, ``model`` (the rater), ``label`` (1 to 4, null: not rated) and ``errors`` (``category``,
            ``text``), as `evaluation.sheets.read.read_sheets` returns them.
        runs: the validators' answers, in the order of the rows.
        labels: how the runs are called.
        resamples: of items or clusters.
        seed: of the resamples.

    Returns:
        ``raters``, ``agreement`` (Krippendorff's alpha of four levels and of safe against unsafe, overall and by task),
        ``labels_against_majority``, ``runs_against_majority``, ``non_inferiority`` and ``categories``.
    """
    own = {name: ratings.filter(pl.col("model") == name) for name in sorted(ratings["model"].unique().to_list())}
    table = np.stack([_codes(reference, said) for said in own.values()])
    rated = (table >= 0).any(axis=0)
    part, table = reference.keep(rated), table[:, rated]
    answers, clusters = [part.gold, *(run.codes[rated] for run in runs)], part.frame["cluster"].to_numpy()
    counted = Counted.of(majority(table, LEVELS), answers, clusters, classes=LEVELS, resamples=resamples, seed=seed)
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
            {"rater": name, "rated": int((codes >= 0).sum()), "not_rated": int(said["label"].null_count())}
            for (name, said), codes in zip(own.items(), table, strict=True)
        ],
        "agreement": _agreement(part, table, resamples, seed),
        "labels_against_majority": against[0],
        "runs_against_majority": [{"name": name, **one} for name, one in zip(labels, against[1:], strict=True)],
        "non_inferiority": [
            {"name": name, **non_inferiority(codes, table, seed=seed)}
            for name, codes in zip(labels, answers[1:], strict=True)
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


def _codes(reference: Reference, said: pl.DataFrame) -> Codes:
    """Return one rater's ratings in the order of the rows. *Shape:* (n,), below 0 where there is none."""
    joined = reference.frame.select("id").join(said, on="id", how="left", maintain_order="left")
    return joined["label"].cast(pl.Int64).fill_null(0).to_numpy() - 1


def _agreement(part: Reference, table: Codes, resamples: int, seed: int) -> dict[str, Any]:
    tasks = part.frame["task"].to_numpy()

    def of(values: Codes, k: int) -> dict[str, Any]:
        masks = {task: tasks == task for task in part.tasks}
        return {
            "overall": alpha_estimate(values, k, resamples=resamples, seed=seed),
            "by_task": {
                task: alpha_estimate(values[:, mask], k, resamples=resamples, seed=seed) for task, mask in masks.items()
            },
        }

    return {"four_levels": of(table, LEVELS), "safe_unsafe": of(to_halves(table), 2)}


def _categories(ratings: pl.DataFrame) -> list[dict[str, Any]]:
    errors = ratings.select(pl.col("errors").explode()).drop_nulls()
    if not errors.height:
        return []
    counts = errors.unnest("errors")["category"].value_counts().sort(["count", "category"], descending=[True, False])
    return [{"category": name, "errors": int(n)} for name, n in counts.iter_rows()]
