"""Metrics of the quadrant task, of one confusion matrix or of thousands at once (section 3.2, equations 6 to 9)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evaluation.quadrants.predictions import UNPARSEABLE
from ground.contracts.rows import QUADRANTS

__all__ = [
    "BINS",
    "METRICS",
    "calibration_counts",
    "calibration_error",
    "confusion_counts",
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


def confusion_counts(
    gold: npt.NDArray[np.int64], labels: npt.NDArray[np.int64], patients: npt.NDArray[np.int64], n_patients: int
) -> Floats:
    """Count answers by patient.

    Args:
        gold: *shape* (n,), 0 to 3.
        labels: *shape* (n,), 0 to 3, 4 for no readable answer.
        patients: *shape* (n,), index of each row's patient.
        n_patients: how many patients there are.

    Returns:
        *Shape* (n_patients, 4, 5): rows are what is so, columns what was said.
    """
    width = UNPARSEABLE + 1
    cell = (patients * N + gold) * width + labels
    counts = np.bincount(cell, minlength=n_patients * N * width)
    return counts.reshape(n_patients, N, width).astype(np.float64)


def _share(part: Floats, whole: Floats) -> Floats:
    """Divide; NaN where there is nothing to divide by."""
    return np.divide(part, whole, out=np.full_like(part, np.nan), where=whole > 0)


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
    precision = np.where(gold > 0, np.nan_to_num(_share(hit, said)), np.nan)
    recall = _share(hit, gold)
    f1 = np.where(gold > 0, _share(2 * hit, gold + said), np.nan)
    total = gold.sum(axis=-1)
    return {
        "accuracy": _share(hit.sum(axis=-1), total),
        "precision": precision.mean(axis=-1),
        "recall": recall.mean(axis=-1),
        "f1": f1.mean(axis=-1),
        **{f"f1_{quadrant.lower()}": f1[..., index] for index, quadrant in enumerate(QUADRANTS)},
        "hsr": _share(confusion[..., Q2, Q1], gold[..., Q2]),
        "tir": _share(confusion[..., Q3, Q1], gold[..., Q3]),
        "is_true_accuracy": _share(_agreement(confusion, TRUE), total),
        "is_supported_accuracy": _share(_agreement(confusion, SUPPORTED), total),
    }


def _agreement(confusion: Floats, flag: npt.NDArray[np.bool_]) -> Floats:
    """Sum the cells whose row and column agree on a flag; an unreadable answer agrees with nothing."""
    same = flag[:, None] == flag[None, :]
    agreed: Floats = (confusion[..., :N] * same).sum(axis=(-2, -1))
    return agreed


def calibration_counts(
    confidence: Floats, right: npt.NDArray[np.bool_], patients: npt.NDArray[np.int64], n_patients: int
) -> Floats:
    """Sum by patient and bin of confidence; ten bins of equal width.

    Args:
        confidence: *shape* (n,), the probability of the label that was given; rows with NaN are left out.
        right: *shape* (n,).
        patients: *shape* (n,), index of each row's patient.
        n_patients: how many patients there are.

    Returns:
        *Shape* (n_patients, 10, 3): rows, sum of confidence, right answers.
    """
    known = np.isfinite(confidence)
    values = confidence[known]
    cell = patients[known] * BINS + np.minimum((values * BINS).astype(np.int64), BINS - 1)
    sums = [np.bincount(cell, weights=w, minlength=n_patients * BINS) for w in (None, values, right[known])]
    return np.stack(sums, axis=-1).reshape(n_patients, BINS, 3).astype(np.float64)


def calibration_error(bins: Floats) -> Floats:
    """Return the expected calibration error (Guo et al. 2017, equation 3), NaN where no row has a confidence.

    Args:
        bins: *shape* (..., 10, 3), as `calibration_counts` gives them or sums over patients.
    """
    gap = np.abs(bins[..., 1] - bins[..., 2]).sum(axis=-1)
    return _share(gap, bins[..., 0].sum(axis=-1))
