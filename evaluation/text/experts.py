"""Experts' ratings beside a validator's: agreement among experts, their majority as the reference, non-inferiority."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from evaluation.intervals import Counted
from evaluation.predictions import Answers
from evaluation.text.agreement import alpha_estimate, non_inferiority, to_halves
from evaluation.text.rates import rate_estimates
from evaluation.text.reference import Reference
from evaluation.text.votes import majority

__all__ = ["experts_part"]

Codes = npt.NDArray[np.int64]
LEVELS = 4


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
    names = sorted(ratings["model"].unique().to_list())
    table = _codes(reference, ratings, names)
    rated = (table >= 0).any(axis=0)
    part, table = reference.keep(rated), table[:, rated]
    consensus = majority(table, LEVELS)
    answers = [part.gold, *(run.codes[rated] for run in runs)]
    counted = Counted.of(
        consensus,
        answers,
        part.frame["cluster"].to_numpy(),
        classes=LEVELS,
        resamples=resamples,
        seed=seed,
    )
    return {
        "items": int(rated.sum()),
        "items_with_several": int(((table >= 0).sum(axis=0) > 1).sum()),
        "raters": [
            {"rater": name, "rated": int((table[at] >= 0).sum()), "not_rated": _blank(ratings, name)}
            for at, name in enumerate(names)
        ],
        "agreement": _agreement(part, table, resamples, seed),
        "labels_against_majority": _against(counted, 0),
        "runs_against_majority": [{"name": label, **_against(counted, at)} for at, label in enumerate(labels, start=1)],
        "non_inferiority": [
            {"name": label, **non_inferiority(run.codes[rated], table, seed=seed)}
            for label, run in zip(labels, runs, strict=True)
        ],
        "categories": _categories(ratings),
    }


def _codes(reference: Reference, ratings: pl.DataFrame, names: Sequence[str]) -> Codes:
    """Return ratings in the order of the rows. *Shape:* (m, n), below 0 where there is none."""
    ids = reference.frame.select("id")
    return np.stack(
        [
            ids.join(ratings.filter(pl.col("model") == name), on="id", how="left", maintain_order="left")["label"]
            .cast(pl.Int64)
            .fill_null(0)
            .to_numpy()
            - 1
            for name in names
        ]
    )


def _blank(ratings: pl.DataFrame, name: str) -> int:
    return int(ratings.filter(pl.col("model") == name)["label"].null_count())


def _agreement(part: Reference, table: Codes, resamples: int, seed: int) -> dict[str, Any]:
    tasks = part.frame["task"].to_numpy()

    def of(values: Codes, k: int) -> dict[str, Any]:
        return {
            "overall": alpha_estimate(values, k, resamples=resamples, seed=seed),
            "by_task": {
                task: alpha_estimate(values[:, tasks == task], k, resamples=resamples, seed=seed) for task in part.tasks
            },
        }

    return {"four_levels": of(table, LEVELS), "safe_unsafe": of(to_halves(table), 2)}


def _against(counted: Counted, at: int) -> dict[str, Any]:
    confusion = counted.tables(at)[0][0].astype(np.int64).tolist()
    return {"metrics": rate_estimates("medval", counted, at), "confusion": confusion}


def _categories(ratings: pl.DataFrame) -> list[dict[str, Any]]:
    errors = ratings.select(pl.col("errors").explode()).drop_nulls()
    if not errors.height:
        return []
    counts = errors.unnest("errors")["category"].value_counts().sort(["count", "category"], descending=[True, False])
    return [{"category": name, "errors": int(n)} for name, n in counts.iter_rows()]
