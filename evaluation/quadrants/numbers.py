"""The numbers of the models of a report: metrics over seeds with intervals over patients, and their differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluation.comparisons import correct, mcnemar
from evaluation.intervals import DIGITS, Counted, Estimate, estimate_of
from evaluation.predictions import Answers
from evaluation.quadrants.metrics import calibration_counts, calibration_error, metrics_of

__all__ = ["Model", "calibration_bins", "compare_all", "estimates", "grouped", "model_draws"]

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Model:
    """All seeds of one model.

    Attributes:
        name: of the model.
        kind: ``model`` or ``baseline``.
        seeds: S of them.
        runs: the number of each among the runs that are counted.
        calibration: of each, `calibration_counts` of the rows. *Shape:* (R, 30).
    """

    name: str
    kind: str
    seeds: tuple[int | None, ...]
    runs: tuple[int, ...]
    calibration: tuple[Any, ...]


def grouped(runs: Sequence[tuple[str, Answers]], counted: Counted) -> list[Model]:
    """Bring the seeds of each model together; runs come with their kind, those of one model side by side."""
    models = []
    for (kind, name), group in groupby(enumerate(runs), key=lambda one: (one[1][0], one[1][1].model)):
        places, own = zip(*((at, run) for at, (_, run) in group), strict=True)
        bins = (calibration_counts(run.confidence, run.codes == counted.gold) for run in own)
        models.append(Model(name, kind, tuple(run.seed for run in own), places, tuple(bins)))
    return models


def model_draws(
    model: Model, counted: Counted, mask: Mask | None = None
) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Return each metric of every seed, and each metric of every resample averaged over seeds.

    Args:
        model: one of those that `grouped` gives.
        counted: the answers of all runs.
        mask: *shape* (R,), the rows that count; all, and the calibration error too, where left out.

    Returns:
        Two dictionaries by metric: arrays of *shape* (S,) and of *shape* (B,).
    """
    tables = [counted.tables(run, mask) for run in model.runs]
    points, drawn = (metrics_of(np.stack(part)) for part in zip(*tables, strict=True))
    if mask is None:
        bins = [counted.sums(values) for values in model.calibration]
        points["ece"], drawn["ece"] = (calibration_error(np.stack(part)) for part in zip(*bins, strict=True))
    return (
        {name: values[:, 0] for name, values in points.items()},
        {name: values.mean(axis=0) for name, values in drawn.items()},
    )


def estimates(model: Model, counted: Counted, mask: Mask | None = None) -> dict[str, Estimate]:
    """Return every metric as the mean over seeds with its interval over patients.

    ``value`` is the mean over seeds, the interval is that of this mean, and ``spread`` is the sample standard deviation
    over seeds (None for one seed). Arguments are those of `model_draws`.
    """
    (points, drawn), n = model_draws(model, counted, mask), counted.clusters(mask)
    return {name: _estimate(values, drawn[name], n) for name, values in points.items()}


def _estimate(values: Floats, draws: Floats, n: int) -> Estimate:
    found = estimate_of(float(values.mean()), draws, n)
    several = len(values) > 1 and found["value"] is not None
    return {**found, "spread": round(float(values.std(ddof=1)), DIGITS) + 0.0 if several else None}


def calibration_bins(model: Model, counted: Counted) -> list[dict[str, float]]:
    """Return the bins that hold rows, over all seeds."""
    sums = sum(counted.sums(values)[0].reshape(-1, 3) for values in model.calibration)
    return [
        {
            "rows": int(rows),
            "mean_confidence": round(float(confidence / rows), DIGITS),
            "share_right": round(float(right / rows), DIGITS),
        }
        for rows, confidence, right in np.asarray(sums)
        if rows
    ]


def compare_all(models: Sequence[Model], counted: Counted) -> list[dict[str, Any]]:
    """Compare every model with the models after it and with every baseline; p is corrected for their number (Holm).

    Returns:
        For each pair ``a``, ``b``; ``seed_a``, ``seed_b``, the seeds whose rows McNemar's test counts: the lowest that
        both have, else each one's first; what `evaluation.comparisons.mcnemar` returns; ``p_holm``, None for a single
        pair; and ``differences``, a minus b for each metric.
    """
    found = [_compared(a, b, counted) for at, a in enumerate(models) for b in models[at + 1 :] if a.kind == "model"]
    correct(found, "holm")
    return found if len(found) > 1 else [{**one, "p_holm": None} for one in found]


def _compared(a: Model, b: Model, counted: Counted) -> dict[str, Any]:
    shared = sorted(({*a.seeds} & {*b.seeds}) - {None}, key=lambda seed: seed or 0)
    at_a, at_b = (model.seeds.index(shared[0]) if shared else 0 for model in (a, b))
    of_a, of_b = (model_draws(model, counted) for model in (a, b))
    n = counted.clusters()
    return {
        "a": a.name,
        "b": b.name,
        "seed_a": a.seeds[at_a],
        "seed_b": b.seeds[at_b],
        **mcnemar(counted, a.runs[at_a], b.runs[at_b]),
        "differences": _differences(of_a, of_b, n),
    }


def _differences(a: Sequence[Mapping[str, Floats]], b: Sequence[Mapping[str, Floats]], n: int) -> dict[str, Estimate]:
    (points_a, drawn_a), (points_b, drawn_b) = a, b
    return {
        name: _estimate(np.array([points_a[name].mean() - points_b[name].mean()]), drawn_a[name] - drawn_b[name], n)
        for name in points_a
    }
