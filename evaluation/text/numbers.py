"""All numbers of one run: overall, by task, by length of the context, where its errors lie, and its explanations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluation.intervals import DIGITS
from evaluation.text.counts import Counted, estimate_of
from evaluation.text.explanations import explanation_metrics
from evaluation.text.predictions import Answers
from evaluation.text.rates import RATES, drawn_rates, share
from evaluation.text.reference import Reference
from ground.contracts.taxonomy import medval_tasks

__all__ = ["counted_of", "labels_of", "run_numbers", "seed_summary"]

Mask = npt.NDArray[np.bool_]


def labels_of(runs: Sequence[Answers]) -> list[str]:
    """Return what runs are called: the model's name, with its seed where a model has several."""
    names = [run.model for run in runs]
    return [
        f"{run.model}, seed {run.seed}" if names.count(run.model) > 1 and run.seed is not None else run.model
        for run in runs
    ]


def counted_of(reference: Reference, runs: Sequence[Answers], resamples: int, seed: int) -> Counted:
    """Count the answers of all runs together."""
    tasks = reference.tasks
    code = dict(zip(tasks, range(len(tasks)), strict=True))
    return Counted.of(
        reference.gold,
        [run.codes for run in runs],
        reference.frame["cluster"].to_numpy(),
        classes=reference.classes.silent,
        tasks=np.array([code[task] for task in reference.frame["task"]], dtype=np.int64),
        parts=reference.length_parts()[0],
        resamples=resamples,
        seed=seed,
    )


def run_numbers(
    reference: Reference, run: Answers, counted: Counted, at: int, *, resamples: int, seed: int
) -> dict[str, Any]:
    """Return the numbers of one run.

    Args:
        reference: the rows.
        run: its answers.
        counted: the answers of all runs.
        at: which of them this one is.
        resamples: for the explanations.
        seed: of those resamples.

    Returns:
        ``rows``, ``outcomes``, ``share_unparseable``, ``overall``, ``answered`` (over rows with an answer),
        ``by_task``, ``by_length``, ``errors_by_task``, ``confusion``; ``explanation`` (MedHal) or ``over_tasks``.
    """
    classes = reference.classes
    silent = counted.answers[at] == classes.silent
    _, parts = reference.length_parts()
    tasks = {task: counted.task == code for code, task in enumerate(reference.tasks)}
    of_tasks = {task: _estimates(counted, at, reference, mask) for task, mask in tasks.items()}
    numbers = {
        "rows": len(run.codes),
        "outcomes": run.outcomes,
        "share_unparseable": _share(counted, silent),
        "overall": _estimates(counted, at, reference),
        "answered": _estimates(counted, at, reference, ~silent),
        "by_task": of_tasks,
        "by_length": {
            name: _estimates(counted, at, reference, counted.part == code) for code, name in enumerate(parts)
        },
        "errors_by_task": _errors(counted, at, tasks),
        "confusion": counted.tables(at)[0][0].astype(np.int64).tolist(),
    }
    if classes.kind == "medval":
        return {**numbers, "over_tasks": _over_tasks(counted, at, tasks)}
    both = (reference.gold == 1) & (run.codes == 1)
    return {
        **numbers,
        "explanation": explanation_metrics(
            reference.frame["explanation"].to_list(),
            run.explanations,
            both,
            reference.frame["cluster"].to_numpy(),
            resamples=resamples,
            seed=seed,
        ),
    }


def _estimates(counted: Counted, at: int, reference: Reference, mask: Mask | None = None) -> dict[str, Any]:
    """Return ``rows``, ``answered`` and every rate with its interval, of the types of a mask."""
    observed, drawn = counted.tables(at, mask)
    n = counted.clusters(mask)
    kind = reference.classes.kind
    points, draws = RATES[kind](observed), drawn_rates(kind, drawn, observed)
    return {
        "rows": int(observed.sum()),
        "answered": int(observed[:, :, :-1].sum()),
        **{name: estimate_of(float(values[0]), draws[name], n) for name, values in points.items()},
    }


def _share(counted: Counted, mask: Mask) -> dict[str, float | None]:
    total, part = counted.observed.sum(), counted.observed[mask].sum()
    value = part / total if total else np.nan
    return estimate_of(
        float(value), share(counted.drawn[:, mask].sum(axis=1), counted.drawn.sum(axis=1)), counted.clusters()
    )


def _errors(counted: Counted, at: int, tasks: Mapping[str, Mask]) -> dict[str, Any]:
    """Return each task's share of all errors, beside its share of the rows (MedHal, appendix E)."""
    wrong = counted.answers[at] != counted.gold
    drawn = counted.drawn[:, wrong].sum(axis=1)
    total, rows = counted.observed[wrong].sum(), counted.observed.sum()
    found = {}
    for task, mask in tasks.items():
        of_task = float(counted.observed[wrong & mask].sum())
        draws = share(counted.drawn[:, wrong & mask].sum(axis=1), drawn)
        found[task] = {
            "errors": int(of_task),
            "share_of_errors": estimate_of(of_task / total if total else np.nan, draws, counted.clusters()),
            "share_of_rows": round(float(counted.observed[mask].sum() / rows), DIGITS),
        }
    return found


def _over_tasks(counted: Counted, at: int, tasks: Mapping[str, Mask]) -> dict[str, Any]:
    """Return macro-F1 as a mean over tasks that count the same: all, those trained on in the paper, and the others.

    MedVAL, supplement S2.3: equal weight of risk levels and of tasks.
    """
    trained = {row["task"] for row in medval_tasks() if row["paper_train"] == "yes"}
    groups = {
        "all": list(tasks),
        "in_distribution": [task for task in tasks if task in trained],
        "held_out": [task for task in tasks if task not in trained],
    }
    return {name: _mean_f1(counted, at, [tasks[task] for task in of]) for name, of in groups.items()}


def _mean_f1(counted: Counted, at: int, masks: Sequence[Mask]) -> dict[str, Any]:
    if not masks:
        return {"tasks": 0, **estimate_of(np.nan, np.zeros(0), 0)}
    tables = [counted.tables(at, mask) for mask in masks]
    points = np.stack([RATES["medval"](observed)["macro_f1"] for observed, _ in tables])
    draws = np.stack([drawn_rates("medval", drawn, observed)["macro_f1"] for observed, drawn in tables])
    n = counted.clusters(np.any(np.stack(list(masks)), axis=0))
    return {"tasks": len(masks), **estimate_of(float(points.mean()), draws.mean(axis=0), n)}


def seed_summary(runs: Sequence[Answers], numbers: Sequence[Mapping[str, Any]], headline: str) -> list[dict[str, Any]]:
    """Return mean and sample standard deviation over seeds of each model that has several."""
    found = []
    for name in dict.fromkeys(run.model for run in runs):
        values = [
            one["overall"][headline]["value"]
            for run, one in zip(runs, numbers, strict=True)
            if run.model == name and one["overall"][headline]["value"] is not None
        ]
        if len(values) > 1:
            spread = float(np.std(values, ddof=1))
            found.append(
                {
                    "model": name,
                    "metric": headline,
                    "seeds": len(values),
                    "mean": round(float(np.mean(values)), DIGITS),
                    "spread": round(spread, DIGITS),
                }
            )
    return found
