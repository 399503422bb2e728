"""Metrics of the quadrant task, of one confusion matrix or of thousands at once (section 3.2, equations 6 to 9)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from evaluation.intervals import share
from ground.contracts.rows import QUADRANTS

__all__ = [
    "BINS",
    "METRICS",
    "calibration_counts",
    "calibration_error",
    "metrics_of",
]

METRICS: tuple[str, ...] = (
    "accuracy",
    "precision",
    "recall",
    "f1",
    *(f"f1_{quadrant.lower()}" for quadrant in QUADRANTS),
    "hsr",
    "tir",
    "is_true_accuracy",
    "is_supported_accuracy",
)
BINS = 10

N = len(QUADRANTS)
Q1, Q2, Q3, Q4 = range(N)
TRUE = np.array([True, True, False, False])
SUPPORTED = np.array([True, False, True, False])
Floats = npt.NDArray[np.float64]


def metrics_of(confusion: Floats) -> dict[str, Floats]:
    """Return every metric of `METRICS`, as shares from 0 to 1.

    A quadrant that has rows but is never predicted has precision 0 (as in the paper's Table 1). A quadrant without
    rows has no F1, and then the macro averages are undefined too: a mean over fewer quadrants is another measure.

    Args:
        confusion: *shape* (..., 4, 5), counts or sums of weights.

    Returns:
        For each name an array of *shape* (...); NaN where the metric is undefined.
    """
    gold = confusion.sum(axis=-1)
    said = confusion[..., :N].sum(axis=-2)
    hit = np.diagonal(confusion, axis1=-2, axis2=-1)
    precision = np.where(gold > 0, np.nan_to_num(share(hit, said)), np.nan)
    recall = share(hit, gold)
    f1 = np.where(gold > 0, share(2 * hit, gold + said), np.nan)
    total = gold.sum(axis=-1)
    return {
        "accuracy": share(hit.sum(axis=-1), total),
        "precision": precision.mean(axis=-1),
        "recall": recall.mean(axis=-1),
        "f1": f1.mean(axis=-1),
        **{f"f1_{quadrant.lower()}": f1[..., index] for index, quadrant in enumerate(QUADRANTS)},
        "hsr": share(confusion[..., Q2, Q1], gold[..., Q2]),
        "tir": share(confusion[..., Q3, Q1], gold[..., Q3]),
        "is_true_accuracy": share(_agreement(confusion, TRUE), total),
        "is_supported_accuracy": share(_agreement(confusion, SUPPORTED), total),
    }


def _agreement(confusion: Floats, flag: npt.NDArray[np.bool_]) -> Floats:
    """Sum the cells whose row and column agree on a flag; an unreadable answer agrees with nothing."""
    same = flag[:, None] == flag[None, :]
    agreed: Floats = (confusion[..., :N] * same).sum(axis=(-2, -1))
    return agreed


def calibration_counts(confidence: Floats, right: npt.NDArray[np.bool_]) -> csr_array:
    """Lay each row into its bin of confidence; ten bins of equal width.

    Args:
        confidence: *shape* (n,), the probability of the label that was given; rows with NaN are in no bin.
        right: *shape* (n,).

    Returns:
        Sparse, *shape* (n, 30): for each bin one, the confidence, and whether the answer is right.
    """
    rows = np.flatnonzero(np.isfinite(confidence))
    sure = confidence[rows]
    first = 3 * np.minimum((sure * BINS).astype(np.int64), BINS - 1)
    values = np.concatenate([np.ones(len(rows)), sure, right[rows]])
    places = (np.tile(rows, 3), np.concatenate([first, first + 1, first + 2]))
    return csr_array((values, places), shape=(len(confidence), 3 * BINS))


def calibration_error(sums: Floats) -> Floats:
    """Return the expected calibration error (Guo et al. 2017, equation 3), NaN where no row has a confidence.

    Args:
        sums: *shape* (..., 30), sums over rows of `calibration_counts`.
    """
    bins = sums.reshape(*sums.shape[:-1], BINS, 3)
    gap = np.abs(bins[..., 1] - bins[..., 2]).sum(axis=-1)
    return share(gap, bins[..., 0].sum(axis=-1))
