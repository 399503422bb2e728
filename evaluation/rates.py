"""Rates of confusion tables, of one or of thousands at once, for each kind of rows; and the error of calibration.

A row without a readable answer has no class: it is missed by the class that it belongs to (recall falls) and is a false
alarm of none. Tables have *shape* (..., k, k + 1): rows are the labels, columns the answers, the last one no answer.
Rates are shares from 0 to 1 of *shape* (...), NaN where they are not defined.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from evaluation.classes import UNSAFE, Kind
from evaluation.intervals import Counted, Estimate, estimate_of
from ground.contracts.rows import QUADRANTS
from ground.contracts.rows_text import RISK_LEVELS
from ground.resampling import share

__all__ = [
    "BINS",
    "SUPPORTED",
    "TRUE",
    "Draws",
    "calibration_counts",
    "calibration_error",
    "differences",
    "estimates_of",
    "rate_draws",
    "rate_estimates",
    "validator_rates",
]

BINS = 10
# Of Q1 to Q4 (docs/definitions.md#quadrant).
TRUE = np.array([True, True, False, False])
SUPPORTED = np.array([True, False, True, False])

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Rates = dict[str, Floats]
Draws = tuple[Rates, Rates]
"""Each rate of S runs, *shapes* (S,), and in each resample its mean over them, *shapes* (B,)."""


def _by_class(tables: Floats) -> tuple[Floats, Floats, Floats]:
    """Return precision, recall and F1 of each class. *Shapes:* (..., k) each."""
    right = np.diagonal(tables, axis1=-2, axis2=-1)
    answered, there = tables[..., :-1].sum(axis=-2), tables.sum(axis=-1)
    return share(right, answered), share(right, there), share(2 * right, answered + there)


def _accuracy(tables: Floats) -> Floats:
    return share(np.diagonal(tables, axis1=-2, axis2=-1).sum(axis=-1), tables.sum(axis=(-2, -1)))


def metrics_of(tables: Floats) -> Rates:
    """Return every metric of quadrants (MediEval, section 3.2, equations 6 to 9). *Shape:* ``tables`` (..., 4, 5).

    A quadrant that has rows but is never predicted has precision 0 (as in the paper's Table 1). A quadrant without
    rows has no F1, and then the macro averages are undefined too: a mean over fewer quadrants is another measure.
    """
    there = tables.sum(axis=-1)
    precision, recall, f1 = _by_class(tables)
    precision, f1 = (np.where(there > 0, part, np.nan) for part in (np.nan_to_num(precision), f1))
    return {
        "accuracy": _accuracy(tables),
        "precision": precision.mean(axis=-1),
        "recall": recall.mean(axis=-1),
        "f1": f1.mean(axis=-1),
        **{f"f1_{quadrant.lower()}": f1[..., at] for at, quadrant in enumerate(QUADRANTS)},
        "hsr": share(tables[..., 1, 0], there[..., 1]),
        "tir": share(tables[..., 2, 0], there[..., 2]),
        "is_true_accuracy": _accuracy(halves(tables, TRUE)),
        "is_supported_accuracy": _accuracy(halves(tables, SUPPORTED)),
    }


def detector_rates(tables: Floats) -> Rates:
    """Return precision, recall and F1 of both classes, their macro F1, and accuracy (MedHal, section 4.1).

    *Shape:* ``tables`` (..., 2, 3), factual first.
    """
    parts = dict(zip(("precision", "recall", "f1"), _by_class(tables), strict=True))
    rates = {
        f"{name}_{rate}": values[..., at]
        for at, name in enumerate(("factual", "non_factual"))
        for rate, values in parts.items()
    }
    return {**rates, "macro_f1": parts["f1"].mean(axis=-1), "accuracy": _accuracy(tables)}


def halves(tables: Floats, second: Mask = UNSAFE) -> Floats:
    """Bring k classes to two: those of the mask come second. *Shapes:* (..., k, k + 1), (k,) to (..., 2, 3)."""
    rows = np.stack([tables[..., part, :].sum(axis=-2) for part in (~second, second)], axis=-2)
    both = [rows[..., :-1][..., part].sum(axis=-1) for part in (~second, second)]
    return np.stack([*both, rows[..., -1]], axis=-1)


def validator_rates(tables: Floats) -> Rates:
    """Return macro-F1 over the four levels, linear kappa, and safe against unsafe (MedVAL, supplement S2.3).

    Levels that neither occur nor are answered do not count in macro-F1. Kappa is taken over the rows with an answer.
    Sensitivity is the recall of unsafe outputs (levels 3 and 4), specificity that of safe ones. *Shape:* ``tables``
    (..., 4, 5).
    """
    f1 = _by_class(tables)[2]
    of_halves = halves(tables)
    precision, recall, safety_f1 = _by_class(of_halves)
    return {
        "macro_f1": share(np.nansum(f1, axis=-1), np.isfinite(f1).sum(axis=-1).astype(np.float64)),
        **{f"f1_level_{level}": f1[..., at] for at, level in enumerate(RISK_LEVELS)},
        "accuracy": _accuracy(tables),
        "kappa_linear": linear_kappa(tables[..., :-1]),
        "unsafe_sensitivity": recall[..., 1],
        "unsafe_specificity": recall[..., 0],
        "unsafe_precision": precision[..., 1],
        "unsafe_f1": safety_f1[..., 1],
        "safety_accuracy": _accuracy(of_halves),
    }


def linear_kappa(tables: Floats) -> Floats:
    """Return Cohen's kappa with linear weights of many tables. *Shapes:* (..., k, k) to (...)."""
    k = tables.shape[-1]
    weights = np.abs(np.arange(k)[:, None] - np.arange(k)[None, :])
    total = np.maximum(tables.sum(axis=(-2, -1)), 1)[..., None, None]
    expected = tables.sum(axis=-1)[..., :, None] * tables.sum(axis=-2)[..., None, :] / total
    return 1 - share((tables * weights).sum(axis=(-2, -1)), (expected * weights).sum(axis=(-2, -1)))


RATES: Mapping[Kind, Callable[[Floats], Rates]] = {
    "quadrants": metrics_of,
    "medhal": detector_rates,
    "medval": validator_rates,
}


def drawn_rates(kind: Kind, drawn: Floats, observed: Floats) -> Rates:
    """Return the rates of resamples; macro-F1 is undefined in those that lack a class which the rows have.

    A mean over fewer classes is another measure: its spread would be that of the rare classes coming and going.
    *Shapes:* ``drawn`` (..., b, k, k + 1), ``observed`` (..., 1, k, k + 1).
    """
    rates = RATES[kind](drawn)
    if "macro_f1" in rates:
        lacking = ((observed.sum(axis=-1) > 0) & (drawn.sum(axis=-1) == 0)).any(axis=-1)
        rates["macro_f1"] = np.where(lacking, np.nan, rates["macro_f1"])
    return rates


def rate_draws(kind: Kind, counted: Counted, runs: Sequence[int], mask: Mask | None = None) -> Draws:
    """Return the rates of runs, as observed and resampled.

    Args:
        kind: of the rows.
        counted: the answers of all runs.
        runs: the numbers of those that are meant: the seeds of one model.
        mask: *shape* (R,), the types that count; all where left out.
    """
    tables = zip(*(counted.tables(run, mask) for run in runs), strict=True)
    observed, drawn = (np.stack(part) for part in tables)
    points = {name: values[:, 0] for name, values in RATES[kind](observed).items()}
    return points, {name: values.mean(axis=0) for name, values in drawn_rates(kind, drawn, observed).items()}


def rate_estimates(kind: Kind, counted: Counted, run: int, mask: Mask | None = None) -> dict[str, Estimate]:
    """Return every rate of one run with its interval; the arguments are those of `rate_draws`."""
    return estimates_of(rate_draws(kind, counted, [run], mask), counted.clusters(mask))


def estimates_of(draws: Draws, n_clusters: int) -> dict[str, Estimate]:
    """Return the mean of each rate over runs with its interval."""
    points, drawn = draws
    return {name: estimate_of(float(values.mean()), drawn[name], n_clusters) for name, values in points.items()}


def differences(a: Draws, b: Draws, n_clusters: int, names: Sequence[str] | None = None) -> dict[str, Estimate]:
    """Return the first minus the second over the same resamples, for the rates named (all where left out)."""
    return {
        name: estimate_of(float(a[0][name].mean() - b[0][name].mean()), a[1][name] - b[1][name], n_clusters)
        for name in names or a[0]
    }


def calibration_counts(confidence: Floats, right: Mask) -> csr_array:
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
