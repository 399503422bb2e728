"""The numbers of a report: every metric of each model with its interval, by part of the rows, and models compared.

Unreadable answers, and rows without one (outcome ``missing``), count as wrong and never as a class. Seeds of a model of
quadrants are brought together; detectors and validators stand alone, each with its seed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from evaluation.classes import Kind
from evaluation.datasets import Kind as TextKind
from evaluation.explanations import explanation_metrics
from evaluation.intervals import DIGITS, Counted, Estimate, estimate_of
from evaluation.paper import same_measurement
from evaluation.predictions import Answers, join_predictions
from evaluation.rates import Draws, calibration_counts, calibration_error, estimates_of, rate_draws, rate_estimates
from evaluation.rows import Reference, reference_of
from ground.contracts.taxonomy import medval_tasks
from ground.resampling import FEWEST_CLUSTERS

__all__ = [
    "Model",
    "categories_by_class",
    "counted_of",
    "estimates",
    "grouped",
    "labels_of",
    "length_bins",
    "metrics_of_rows",
    "model_draws",
    "models_numbers",
    "runs_numbers",
    "seed_summary",
]

SMALL_ROWS = 50
"""A part with fewer rows is called small: its numbers are there to be seen, not to be compared."""
SMALL_CLUSTERS = 10
"""The same of patients."""
LENGTH_BINS = 16

Mask = npt.NDArray[np.bool_]
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Model:
    """What is compared: all seeds of one model, or one run.

    Attributes:
        name: of the model.
        kind: ``model``, ``baseline`` or ``ensemble``.
        seeds: S of them.
        runs: the number of each among the runs that are counted.
        rows_kind: what it answers.
        calibration: of each, `calibration_counts` of the rows, where there are confidences. *Shape:* (R, 30).
    """

    name: str
    kind: str
    seeds: tuple[int | None, ...]
    runs: tuple[int, ...]
    rows_kind: Kind = "quadrants"
    calibration: tuple[Any, ...] = ()


def counted_of(reference: Reference, runs: Sequence[Answers]) -> Counted:
    """Count the answers of all runs together; what the rows are cut by are the cuts."""
    return Counted.of(
        reference.gold,
        [run.codes for run in runs],
        reference.clusters,
        classes=reference.classes.silent,
        cuts={by: codes for by, (codes, _) in reference.cuts().items()},
        # They alone have a confidence.
        by_row=reference.kind == "quadrants",
    )


def _masks(reference: Reference, counted: Counted) -> dict[str, dict[str, Mask]]:
    """Return each part of each cut as a mask of what is counted. *Shapes:* (R,)."""
    return {
        by: {name: counted.cuts[by] == code for code, name in enumerate(names)}
        for by, (_, names) in reference.cuts().items()
    }


def grouped(runs: Sequence[Answers], counted: Counted) -> list[Model]:
    """Bring the seeds of each model of quadrants together; those of one model stand side by side."""
    models = []
    for (kind, name), group in groupby(enumerate(runs), key=lambda numbered: (numbered[1].kind, numbered[1].model)):
        places, own = zip(*group, strict=True)
        bins = (calibration_counts(run.confidence, run.codes == counted.gold) for run in own)
        models.append(Model(name, kind, tuple(run.seed for run in own), places, calibration=tuple(bins)))
    return models


def model_draws(model: Model, counted: Counted, mask: Mask | None = None) -> Draws:
    """Return each metric of every seed and resample; over all rows (no mask) the calibration error too."""
    points, drawn = rate_draws(model.rows_kind, counted, model.runs, mask)
    if mask is None and model.calibration:
        bins = [counted.sums(values) for values in model.calibration]
        observed, errors = (calibration_error(np.stack(part)) for part in zip(*bins, strict=True))
        points["ece"], drawn["ece"] = observed[:, 0], errors.mean(axis=0)
    return points, drawn


def estimates(model: Model, counted: Counted, mask: Mask | None = None) -> dict[str, Estimate]:
    """Return every metric as the mean over seeds with its interval over patients.

    ``value`` is the mean over seeds, the interval is that of this mean, and ``spread`` is the sample standard deviation
    over seeds (None for one seed). Arguments are those of `model_draws`.
    """
    draws = model_draws(model, counted, mask)
    of_mask = estimates_of(draws, counted.clusters(mask))
    for name, estimate in of_mask.items():
        several = len(model.runs) > 1 and estimate["value"] is not None
        estimate["spread"] = round(float(draws[0][name].std(ddof=1)), DIGITS) + 0.0 if several else None
    return of_mask


def models_numbers(reference: Reference, models: Sequence[Model], counted: Counted) -> list[dict[str, Any]]:
    """Return the numbers of each model of quadrants.

    Returns:
        ``name``, ``kind``, ``seeds``, ``metrics``, ``confusion`` (mean over seeds), ``calibration`` (the bins that hold
        rows), ``paper`` (the paper's row, if it measured this model) and ``slices``.
    """
    parts = [(by, value, mask) for by, own in _masks(reference, counted).items() for value, mask in own.items()]
    sizes = [(int(mask.sum()), counted.clusters(mask)) for _, _, mask in parts]
    return [
        {
            "name": model.name,
            "kind": model.kind,
            "seeds": list(model.seeds),
            "metrics": estimates(model, counted),
            "confusion": np.round(np.mean([counted.tables(run)[0][0] for run in model.runs], axis=0), DIGITS).tolist(),
            "calibration": _calibration_bins(model, counted),
            "paper": same_measurement(model.name),
            "slices": [
                {
                    "by": by,
                    "value": value,
                    "rows": rows,
                    "patients": patients,
                    "small": rows < SMALL_ROWS or patients < SMALL_CLUSTERS,
                    "metrics": estimates(model, counted, mask),
                }
                for (by, value, mask), (rows, patients) in zip(parts, sizes, strict=True)
            ],
        }
        for model in models
    ]


def _calibration_bins(model: Model, counted: Counted) -> list[dict[str, float]]:
    sums = np.asarray(sum(counted.sums(values)[0].reshape(-1, 3) for values in model.calibration))
    return [
        {
            "rows": int(rows),
            "mean_confidence": round(float(confidence / rows), DIGITS),
            "share_right": round(float(right / rows), DIGITS),
        }
        for rows, confidence, right in sums
        if rows
    ]


def metrics_of_rows(kind: TextKind, rows: Sequence[Row], predictions: Iterable[Row]) -> dict[str, Any]:
    """Compare rows of MedHal or MedVAL with their predictions, both in memory; gives one run's `runs_numbers`.

    Args:
        kind: of the rows.
        rows: ``id``, the label, ``task``, ``subject_id`` or the pair; of MedHal ``explanation``.
        predictions: ``id``, ``label`` (None: unreadable), ``explanation``, ``outcome``.

    Raises:
        InputError: predictions of unknown rows, or two for one row.
    """
    types = {"id": pl.String, "label": pl.Boolean if kind == "medhal" else pl.Int64}
    types |= {"explanation": pl.String, "outcome": pl.String}
    table = pl.DataFrame([{name: prediction.get(name) for name in types} for prediction in predictions], schema=types)
    table = table.with_columns(model=pl.lit("run"))
    reference = reference_of(rows, kind)
    runs = join_predictions(reference.frame, table, kind, missing="wrong")
    return runs_numbers(reference, runs, counted_of(reference, runs))[0]


def labels_of(runs: Sequence[Answers]) -> list[str]:
    """Return what runs are called: the model's name, with its seed where a model has several."""
    names = [run.model for run in runs]
    return [
        f"{run.model}, seed {run.seed}" if names.count(run.model) > 1 and run.seed is not None else run.model
        for run in runs
    ]


def runs_numbers(reference: Reference, runs: Sequence[Answers], counted: Counted) -> list[dict[str, Any]]:
    """Return the numbers of each run of a detector or validator; its answers are counted, too (`counted_of`).

    Returns:
        ``rows``, ``outcomes``, ``share_unparseable``, ``overall``, ``answered`` (over rows with an answer),
        ``by_task``, ``by_length``, ``errors_by_task``, ``errors_by_bin`` (of `length_bins`), ``spread`` (standard
        deviation of the headline over resamples, by task and of all rows), ``confusion``;
        ``explanation`` (MedHal) or ``over_tasks``.
    """
    masks, kind = _masks(reference, counted), reference.kind
    figures = []
    for at, run in enumerate(runs):
        silent = counted.answers[at] == counted.classes
        numbers = {
            "rows": len(run.codes),
            "outcomes": run.outcomes,
            "share_unparseable": counted.share(silent),
            "overall": _estimates(counted, at, kind),
            "answered": _estimates(counted, at, kind, ~silent),
            **{
                f"by_{by}": {name: _estimates(counted, at, kind, mask) for name, mask in own.items()}
                for by, own in masks.items()
            },
            "errors_by_task": _errors(counted, at, masks["task"]),
            "errors_by_bin": length_bins(reference, run.codes != reference.gold)["rows"],
            "spread": {
                name: _spread(counted, at, reference, mask) for name, mask in {**masks["task"], "all": None}.items()
            },
            "confusion": counted.tables(at)[0][0].astype(np.int64).tolist(),
        }
        if kind == "medval":
            numbers["over_tasks"] = _over_tasks(counted, at, masks["task"])
        else:
            both, explanations = (reference.gold == 1) & (run.codes == 1), reference.frame["explanation"].to_list()
            numbers["explanation"] = explanation_metrics(explanations, run.explanations, both, reference.clusters)
        figures.append(numbers)
    return figures


def _estimates(counted: Counted, at: int, kind: Kind, mask: Mask | None = None) -> dict[str, Any]:
    """Return ``rows``, ``answered`` and every rate with its interval, of the types of a mask."""
    observed, _ = counted.tables(at, mask)
    rows = {"rows": int(observed.sum()), "answered": int(observed[:, :, :-1].sum())}
    return {**rows, **rate_estimates(kind, counted, at, mask)}


def _spread(counted: Counted, at: int, reference: Reference, mask: Mask | None) -> float | None:
    """Return the standard deviation of the headline over resamples (MedVAL, table S4); None where there is none."""
    drawn = rate_draws(reference.kind, counted, [at], mask)[1][reference.classes.headline]
    defined = drawn[np.isfinite(drawn)]
    enough = counted.clusters(mask) >= FEWEST_CLUSTERS and len(defined) > 1
    return round(float(defined.std(ddof=1)), DIGITS) if enough else None


def length_bins(reference: Reference, mask: Mask | None = None) -> dict[str, Any]:
    """Count rows by the words of what was read, in bins of equal width on a scale of logarithms; the first has none.

    Returns:
        ``edges`` in words (k + 1) and ``rows`` of each bin (k), of all rows or those of a mask.
    """
    words = reference.frame["words"].to_numpy()
    edges = [0.0, *np.geomspace(1, max(int(words.max(initial=1)), 1) + 1, LENGTH_BINS)]
    counts = np.histogram(words if mask is None else words[mask], edges)[0]
    return {"edges": [round(float(edge), 2) for edge in edges], "rows": counts.tolist()}


def categories_by_class(codes: npt.NDArray[np.int64], categories: Sequence[Sequence[str]], k: int) -> dict[str, Any]:
    """Return how many errors of each category stand in rows of each class, the most frequent first."""
    named = [(name, int(code)) for code, own in zip(codes, categories, strict=False) for name in own if code < k]
    counts = Counter(name for name, _ in named)
    return {name: [named.count((name, code)) for code in range(k)] for name, _ in counts.most_common()}


def _errors(counted: Counted, at: int, tasks: Mapping[str, Mask]) -> dict[str, Any]:
    """Return each task's share of all errors, beside its share of the rows (MedHal, appendix E)."""
    wrong, rows = counted.answers[at] != counted.gold, counted.observed.sum()
    return {
        task: {
            "errors": int(counted.observed[wrong & mask].sum()),
            "share_of_errors": counted.share(wrong & mask, wrong),
            "share_of_rows": round(float(counted.observed[mask].sum() / rows), DIGITS),
        }
        for task, mask in tasks.items()
    }


def trained_in_paper() -> tuple[str, ...]:
    """Return the tasks that MedVAL's paper trains on."""
    return tuple(row["task"] for row in medval_tasks() if row["paper_train"] == "yes")


def _over_tasks(counted: Counted, at: int, tasks: Mapping[str, Mask]) -> dict[str, Any]:
    """Return macro-F1 as a mean over tasks that count the same: all, those trained on in the paper, and the others.

    MedVAL, supplement S2.3: equal weight of risk levels and of tasks.
    """
    trained = trained_in_paper()
    groups = {"all": set(tasks), "in_distribution": set(trained), "held_out": set(tasks) - set(trained)}
    return {name: _mean_f1(counted, at, [tasks[task] for task in tasks if task in of]) for name, of in groups.items()}


def _mean_f1(counted: Counted, at: int, masks: Sequence[Mask]) -> dict[str, Any]:
    if not masks:
        return {"tasks": 0, **estimate_of(np.nan, np.zeros(0), 0)}
    rates = [rate_draws("medval", counted, [at], mask) for mask in masks]
    points, draws = (np.stack([rate["macro_f1"] for rate in part]) for part in zip(*rates, strict=True))
    n = counted.clusters(np.any(np.stack(list(masks)), axis=0))
    return {"tasks": len(masks), **estimate_of(float(points.mean()), draws.mean(axis=0), n)}


def seed_summary(runs: Sequence[Answers], numbers: Sequence[Row], headline: str) -> list[dict[str, Any]]:
    """Return mean and sample standard deviation over seeds of each model that has several."""
    values = [number["overall"][headline]["value"] for number in numbers]
    known = pl.DataFrame(
        {"model": [run.model for run in runs], "value": values}, schema={"model": pl.String, "value": pl.Float64}
    ).drop_nulls()
    value = pl.col("value")
    summary = known.group_by("model", maintain_order=True).agg(
        metric=pl.lit(headline), seeds=pl.len(), mean=value.mean().round(DIGITS), spread=value.std().round(DIGITS)
    )
    return summary.filter(pl.col("seeds") > 1).to_dicts()
