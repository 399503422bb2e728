"""Rates of confusion tables, of one or of thousands at once.

A row without a readable answer has no class: it is missed by the class that it belongs to (recall falls) and is a false
alarm of none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from evaluation.classes import UNSAFE
from evaluation.intervals import Counted, Estimate, estimate_of, share
from evaluation.text.dataset import Kind
from ground.contracts.rows_text import RISK_LEVELS

__all__ = [
    "RATES",
    "Rates",
    "detector_rates",
    "drawn_rates",
    "halves",
    "linear_kappa",
    "rate_draws",
    "rate_estimates",
    "validator_rates",
]

Floats = npt.NDArray[np.float64]
Rates = dict[str, Floats]


def _by_class(tables: Floats) -> tuple[Floats, Floats, Floats]:
    """Return precision, recall and F1 of each class. *Shapes:* (b, k, k + 1) to (b, k) each."""
    right = np.diagonal(tables, axis1=1, axis2=2)
    said, there = tables[:, :, :-1].sum(axis=1), tables.sum(axis=2)
    return share(right, said), share(right, there), share(2 * right, said + there)


def _accuracy(tables: Floats) -> Floats:
    return share(np.diagonal(tables, axis1=1, axis2=2).sum(axis=1), tables.sum(axis=(1, 2)))


def detector_rates(tables: Floats) -> Rates:
    """Return precision, recall and F1 of both classes, their macro F1, and accuracy (MedHal, section 4.1).

    Args:
        tables: *shape* (b, 2, 3), factual first; the last column is no answer.

    Returns:
        Arrays of *shape* (b,); NaN where undefined.
    """
    precision, recall, f1 = _by_class(tables)
    rates: Rates = {}
    for number, name in enumerate(("factual", "non_factual")):
        rates |= {
            f"{name}_precision": precision[:, number],
            f"{name}_recall": recall[:, number],
            f"{name}_f1": f1[:, number],
        }
    return {**rates, "macro_f1": f1.mean(axis=1), "accuracy": _accuracy(tables)}


def halves(tables: Floats) -> Floats:
    """Bring four levels to safe (1 and 2) and unsafe (3 and 4). *Shapes:* (b, 4, 5) to (b, 2, 3), safe first."""
    rows = np.stack([tables[:, ~UNSAFE].sum(axis=1), tables[:, UNSAFE].sum(axis=1)], axis=1)
    safe, unsafe = (rows[:, :, :-1][:, :, which].sum(axis=2) for which in (~UNSAFE, UNSAFE))
    return np.stack([safe, unsafe, rows[:, :, -1]], axis=2)


def validator_rates(tables: Floats) -> Rates:
    """Return macro-F1 over the four levels, linear kappa, and safe against unsafe (MedVAL, supplement S2.3).

    Levels that neither occur nor are answered do not count in macro-F1. Kappa is taken over the rows with an answer.
    Sensitivity is the recall of unsafe outputs (levels 3 and 4), specificity that of safe ones.

    Args:
        tables: *shape* (b, 4, 5).

    Returns:
        Arrays of *shape* (b,); NaN where undefined.
    """
    f1 = _by_class(tables)[2]
    of_halves = halves(tables)
    precision, recall, safety_f1 = _by_class(of_halves)
    return {
        "macro_f1": share(np.nansum(f1, axis=1), np.isfinite(f1).sum(axis=1).astype(np.float64)),
        **{f"f1_level_{level}": f1[:, number] for number, level in enumerate(RISK_LEVELS)},
        "accuracy": _accuracy(tables),
        "kappa_linear": linear_kappa(tables[:, :, :-1]),
        "unsafe_sensitivity": recall[:, 1],
        "unsafe_specificity": recall[:, 0],
        "unsafe_precision": precision[:, 1],
        "unsafe_f1": safety_f1[:, 1],
        "safety_accuracy": _accuracy(of_halves),
    }


def linear_kappa(tables: Floats) -> Floats:
    """Return Cohen's kappa with linear weights of many tables. *Shapes:* (b, k, k) to (b,)."""
    k = tables.shape[1]
    weights = np.abs(np.arange(k)[:, None] - np.arange(k)[None, :])
    total = tables.sum(axis=(1, 2))
    expected = tables.sum(axis=2)[:, :, None] * tables.sum(axis=1)[:, None, :] / np.maximum(total, 1)[:, None, None]
    return 1 - share((tables * weights).sum(axis=(1, 2)), (expected * weights).sum(axis=(1, 2)))


def drawn_rates(kind: Kind, drawn: Floats, observed: Floats) -> Rates:
    """Return the rates of resamples; macro-F1 is undefined in those that lack a class which the rows have.

    A mean over fewer classes is another measure: its spread would be that of the rare classes coming and going.

    Args:
        kind: of the tables.
        drawn: *shape* (b, k, k + 1).
        observed: *shape* (1, k, k + 1).
    """
    rates = RATES[kind](drawn)
    lacking = ((observed.sum(axis=2) > 0) & (drawn.sum(axis=2) == 0)).any(axis=1)
    return {**rates, "macro_f1": np.where(lacking, np.nan, rates["macro_f1"])}


RATES: Mapping[Kind, Callable[[Floats], Rates]] = {"medhal": detector_rates, "medval": validator_rates}


def rate_draws(
    kind: Kind, counted: Counted, run: int, mask: npt.NDArray[np.bool_] | None = None
) -> tuple[Rates, Rates]:
    """Return the rates of a run as observed, *shapes* (1,), and in each resample, *shapes* (B,)."""
    observed, drawn = counted.tables(run, mask)
    return RATES[kind](observed), drawn_rates(kind, drawn, observed)


def rate_estimates(
    kind: Kind, counted: Counted, run: int, mask: npt.NDArray[np.bool_] | None = None
) -> dict[str, Estimate]:
    """Return every rate of a run with its interval.

    Args:
        kind: of the rows.
        counted: the answers of all runs.
        run: its number.
        mask: *shape* (R,), the types that count; all where left out.
    """
    (points, draws), n = rate_draws(kind, counted, run, mask), counted.clusters(mask)
    return {name: estimate_of(float(values[0]), draws[name], n) for name, values in points.items()}
