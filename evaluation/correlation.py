"""How scores go with the labels that people gave: Pearson's r and Spearman's rho (MedVAL, section 3.6 and figure S7).

Scores are runs' own levels, ROUGE and BLEU of the output, or those of any other metric from a file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.stats import rankdata

from evaluation.explanations import overlap
from evaluation.intervals import RESAMPLES, SEED, estimate_of
from evaluation.rows import Reference
from ground.errors import InputError
from ground.resampling import resampled, share
from ground.storage.foreign import Check, read_foreign, refuse_rows

__all__ = ["Scores", "correlations", "overlap_scores", "read_scores"]

Floats = npt.NDArray[np.float64]
Scores = Mapping[str, Floats]
"""By name a score of each row, NaN where there is none. *Shapes:* (n,)."""


def read_scores(file: Path, reference: Reference) -> Floats:
    """Read ``id`` and ``score`` (any number) into the order of the rows.

    Raises:
        InputError: no such columns, a score that is no number, an id twice or of no row, or no score at all.
    """
    frame = read_foreign(file, "a file of scores", ("id", "score"))
    score, given = pl.col("score").cast(pl.Float64, strict=False), pl.col("score").cast(pl.String).fill_null("") != ""
    frame = frame.select(
        id=pl.col("id").cast(pl.String), score=score, wrong=given & ~score.is_finite().fill_null(False)
    )
    refuse_rows(
        frame,
        file,
        Check(pl.col("wrong"), "a score is no number", "any finite number, or nothing"),
        Check(pl.col("id").is_duplicated(), "a row is scored twice", "each id once"),
        Check(~pl.col("id").is_in(reference.frame["id"].implode()), "a score is of no row", "ids of this dataset"),
    )
    joined = reference.frame.select("id").join(frame, on="id", how="left", maintain_order="left")["score"]
    if joined.null_count() == len(joined):
        raise InputError("the file has no score", file=file)
    return joined.fill_null(float("nan")).to_numpy()


def overlap_scores(rows: Sequence[Mapping[str, Any]]) -> Scores:
    """Return ROUGE and BLEU of outputs against experts' own, as far as rows have them, or else against the inputs."""
    there = np.array([bool(row.get("reference")) for row in rows])
    against, word, there = ("reference", "", there) if there.any() else ("input", " with the input", ~there)
    used = [row for row, has in zip(rows, there, strict=True) if has]
    scores = {}
    for name, values in overlap([(str(row[against]), str(row["output"])) for row in used]).items():
        scores[f"{name}{word}"] = np.full(len(rows), np.nan)
        scores[f"{name}{word}"][there] = values
    return scores


def correlations(reference: Reference, scores: Scores) -> list[dict[str, Any]]:
    """Correlate scores with the codes of the labels, of which the gravest is the highest.

    Intervals are over the same clusters as all others; ranks are those of the whole sample.

    Returns:
        For each score ``name``, ``n``, ``pearson``, ``spearman`` and ``by_task`` (Pearson).
    """
    tasks, names = reference.cuts()["task"]
    labels = reference.gold.astype(np.float64)
    figures = []
    for name, values in scores.items():
        there = np.isfinite(values)
        ranked, grades = (rankdata(part[there]) for part in (values, labels))
        clusters = reference.clusters
        figures.append(
            {
                "name": name,
                "n": int(there.sum()),
                "pearson": _estimate(values[there], labels[there], clusters[there]),
                "spearman": _estimate(ranked, grades, clusters[there]),
                "by_task": {
                    task: _estimate(*(part[there & (tasks == at)] for part in (values, labels, clusters)))
                    for at, task in enumerate(names)
                },
            }
        )
    return figures


def _estimate(x: Floats, y: Floats, clusters: npt.NDArray[np.int64]) -> dict[str, float | None]:
    if len(x) < 2:
        return estimate_of(np.nan, np.zeros(0), 0)
    # Moments are sums over rows, about the means, which keeps the digits.
    x, y = x - x.mean(), y - y.mean()
    groups, index = np.unique(clusters, return_inverse=True)
    moments = np.zeros((len(groups), 6))
    np.add.at(moments, index, np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=1))
    drawn = resampled(moments, np.ones(len(groups), np.int64), RESAMPLES, SEED)
    return estimate_of(float(_pearson(moments.sum(axis=0)[None])[0]), _pearson(drawn), len(groups))


def _pearson(moments: Floats) -> Floats:
    """Return r of sums of 1, x, y, x², y², xy. *Shapes:* (b, 6) to (b,)."""
    n, x, y, xx, yy, xy = moments.T
    spread = np.clip(n * xx - x * x, 0, None) * np.clip(n * yy - y * y, 0, None)
    # What varies less than rounding does not vary.
    spread = np.where(spread > 1e-12 * np.square(np.maximum(n, 1)) * np.maximum(xx * yy, 1e-300), spread, 0)
    return share(n * xy - x * y, np.sqrt(spread))
