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
from evaluation.rates import Draws, calibration_counts, calibration_error, differences, rate_draws

__all__ = ["Model", "calibration_bins", "compare_all", "estimates", "grouped", "model_draws"]

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


def model_draws(model: Model, counted: Counted, mask: Mask | None = None) -> Draws:
    """Return each metric of every seed and resample; over all rows (no mask) the calibration error too."""
    points, drawn = rate_draws("quadrants", counted, model.runs, mask)
    if mask is None:
        bins = [counted.sums(values) for values in model.calibration]
        observed, errors = (calibration_error(np.stack(part)) for part in zip(*bins, strict=True))
        points["ece"], drawn["ece"] = observed[:, 0], errors.mean(axis=0)
    return points, drawn


def estimates(model: Model, counted: Counted, mask: Mask | None = None) -> dict[str, Estimate]:
    """Return every metric as the mean over seeds with its interval over patients.

    ``value`` is the mean over seeds, the interval is that of this mean, and ``spread`` is the sample standard deviation
    over seeds (None for one seed). Arguments are those of `model_draws`.
    """
    (points, drawn), n = model_draws(model, counted, mask), counted.clusters(mask)
    found = {name: estimate_of(float(values.mean()), drawn[name], n) for name, values in points.items()}
    for name, one in found.items():
        several = len(model.runs) > 1 and one["value"] is not None
        one["spread"] = round(float(points[name].std(ddof=1)), DIGITS) + 0.0 if several else None
    return found


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
    drawn = {model.name: model_draws(model, counted) for model in models}
    pairs = [(a, b) for at, a in enumerate(models) for b in models[at + 1 :] if a.kind == "model"]
    found = [_compared(a, b, counted, drawn) for a, b in pairs]
    correct(found, "holm")
    return found if len(found) > 1 else [{**one, "p_holm": None} for one in found]


def _compared(a: Model, b: Model, counted: Counted, drawn: Mapping[str, Draws]) -> dict[str, Any]:
    shared = sorted(({*a.seeds} & {*b.seeds}) - {None}, key=lambda seed: seed or 0)
    at_a, at_b = (model.seeds.index(shared[0]) if shared else 0 for model in (a, b))
    parts = differences(drawn[a.name], drawn[b.name], counted.clusters())
    return {
        "a": a.name,
        "b": b.name,
        "seed_a": a.seeds[at_a],
        "seed_b": b.seeds[at_b],
        **mcnemar(counted, a.runs[at_a], b.runs[at_b]),
        "differences": {name: {**one, "spread": None} for name, one in parts.items()},
    }
