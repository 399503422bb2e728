"""Bootstrap by patient: rows of one patient are not independent, so patients are drawn, not rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluation.quadrants.metrics import calibration_counts, calibration_error, confusion_counts, metrics_of
from evaluation.quadrants.predictions import Run

__all__ = [
    "FEWEST_PATIENTS",
    "Bootstrap",
    "Estimate",
    "ModelRuns",
    "estimate",
    "estimates",
    "model_draws",
    "percentile_interval",
]

FEWEST_PATIENTS = 5
LEVEL = (2.5, 97.5)
# An interval over draws that are undefined more often than this would describe other data.
MOST_UNDEFINED = 0.05
DIGITS = 6

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Bootstrap:
    """Resamples of patients as weights: how often each patient was drawn.

    Attributes:
        patients: *shape* (n,), index of each row's patient in the order of ``subject_id``.
        n_patients: P.
        weights: *shape* (B, P); each row sums to P.
    """

    patients: npt.NDArray[np.int64]
    n_patients: int
    weights: Floats

    @classmethod
    def of(cls, subject_ids: npt.NDArray[np.int64], resamples: int, seed: int) -> Bootstrap:
        """Draw patients with replacement; the draws depend on the seed and the number of patients only.

        Args:
            subject_ids: *shape* (n,), patient of each row.
            resamples: B.
            seed: of the draws.
        """
        ids, index = np.unique(subject_ids, return_inverse=True)
        draws = np.random.default_rng(seed).multinomial(len(ids), np.full(len(ids), 1 / len(ids)), size=resamples)
        return cls(index.astype(np.int64), len(ids), draws.astype(np.float64))

    def resample(self, by_patient: Floats) -> Floats:
        """Sum counts over each resample. *Shape:* (P, ...) to (B, ...)."""
        flat = by_patient.reshape(self.n_patients, -1)
        return (self.weights @ flat).reshape(len(self.weights), *by_patient.shape[1:])


@dataclass(frozen=True)
class Estimate:
    """A value with its 95% percentile interval over patients and its spread over seeds; None is undefined.

    ``value`` is the mean over seeds, the interval is that of this mean, and ``spread`` is the sample standard deviation
    over seeds (None for one seed).
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    spread: float | None = None

    def as_dict(self) -> dict[str, float | None]:
        """Return plain values, rounded so that they are the same on every machine."""
        parts = {"value": self.value, "low": self.low, "high": self.high, "spread": self.spread}
        return {name: None if part is None else round(part, DIGITS) + 0.0 for name, part in parts.items()}


@dataclass(frozen=True)
class ModelRuns:
    """All seeds of one model, counted by patient.

    Attributes:
        name: of the model.
        kind: ``model`` or ``baseline``.
        seeds: S of them.
        labels: *shape* (S, n).
        right: *shape* (S, n).
        confidence: *shape* (S, n), NaN where unknown.
        confusion: *shape* (S, P, 4, 5).
        calibration: *shape* (S, P, 10, 3).
    """

    name: str
    kind: str
    seeds: tuple[int | None, ...]
    labels: npt.NDArray[np.int64]
    right: npt.NDArray[np.bool_]
    confidence: Floats
    confusion: Floats
    calibration: Floats

    @classmethod
    def of(cls, runs: Sequence[Run], kind: str, gold: npt.NDArray[np.int64], bootstrap: Bootstrap) -> ModelRuns:
        """Count the runs of one model. ``gold`` has *shape* (n,)."""
        patients, n = bootstrap.patients, bootstrap.n_patients
        labels = np.stack([run.labels for run in runs])
        confidence = np.stack([run.confidence for run in runs])
        right = labels == gold
        return cls(
            name=runs[0].model,
            kind=kind,
            seeds=tuple(run.seed for run in runs),
            labels=labels,
            right=right,
            confidence=confidence,
            confusion=np.stack([confusion_counts(gold, row, patients, n) for row in labels]),
            calibration=np.stack(
                [calibration_counts(sure, ok, patients, n) for sure, ok in zip(confidence, right, strict=True)]
            ),
        )

    def within(self, mask: npt.NDArray[np.bool_], gold: npt.NDArray[np.int64], bootstrap: Bootstrap) -> Floats:
        """Count some of the rows only. *Shape:* (S, P, 4, 5)."""
        patients, n = bootstrap.patients[mask], bootstrap.n_patients
        return np.stack([confusion_counts(gold[mask], row[mask], patients, n) for row in self.labels])


def percentile_interval(draws: Floats, n_patients: int) -> tuple[float, float] | None:
    """Return the 95% percentile interval.

    None where there are fewer than five patients, or where more than 5% of the draws are undefined.

    Args:
        draws: *shape* (B,), NaN where undefined.
        n_patients: how many patients the value rests on.
    """
    defined = draws[np.isfinite(draws)]
    if n_patients < FEWEST_PATIENTS or not len(defined) or len(defined) < (1 - MOST_UNDEFINED) * len(draws):
        return None
    low, high = np.percentile(defined, LEVEL)
    return float(low), float(high)


def model_draws(
    confusion: Floats, calibration: Floats | None, bootstrap: Bootstrap
) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Return each metric of every seed, and each metric of every resample averaged over seeds.

    Args:
        confusion: *shape* (S, P, 4, 5).
        calibration: *shape* (S, P, 10, 3), or None for no calibration error.
        bootstrap: the resamples.

    Returns:
        Two dictionaries by metric: arrays of *shape* (S,) and of *shape* (B,).
    """
    points = metrics_of(confusion.sum(axis=1))
    drawn = metrics_of(bootstrap.resample(np.moveaxis(confusion, 0, 1)))
    if calibration is not None:
        points["ece"] = calibration_error(calibration.sum(axis=1))
        drawn["ece"] = calibration_error(bootstrap.resample(np.moveaxis(calibration, 0, 1)))
    return points, {name: draws.mean(axis=1) for name, draws in drawn.items()}


def estimates(confusion: Floats, calibration: Floats | None, bootstrap: Bootstrap) -> dict[str, Estimate]:
    """Return every metric as the mean over seeds with its interval over patients.

    Args:
        confusion: *shape* (S, P, 4, 5).
        calibration: *shape* (S, P, 10, 3), or None.
        bootstrap: the resamples.
    """
    points, drawn = model_draws(confusion, calibration, bootstrap)
    present = int((confusion.sum(axis=(0, 2, 3)) > 0).sum())
    return {name: estimate(values, drawn[name], present) for name, values in points.items()}


def estimate(values: Floats, draws: Floats, n_patients: int) -> Estimate:
    """Return the mean over seeds with its interval; undefined where any seed's value is.

    Args:
        values: *shape* (S,).
        draws: *shape* (B,), resampled means over seeds.
        n_patients: how many patients the value rests on.
    """
    mean = float(values.mean())
    if not np.isfinite(mean):
        return Estimate(None)
    low, high = percentile_interval(draws, n_patients) or (None, None)
    spread = float(values.std(ddof=1)) if len(values) > 1 else None
    return Estimate(mean, low, high, spread)
