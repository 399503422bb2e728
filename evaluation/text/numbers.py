"""All numbers of one run: overall, by task, by length of the context, where its errors lie, and its explanations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluation.comparisons import ALPHA, correct, mcnemar
from evaluation.intervals import DIGITS, Counted, estimate_of
from evaluation.predictions import Answers
from evaluation.text.dataset import Kind
from evaluation.text.explanations import explanation_metrics
from evaluation.text.rates import rate_draws, rate_estimates
from evaluation.text.reference import Reference
from ground.contracts.taxonomy import medval_tasks

__all__ = ["OVERALL", "compare_runs", "counted_of", "labels_of", "run_numbers", "seed_summary"]

OVERALL = "overall"
DIFFERENCES = {
    "medhal": ("non_factual_f1", "factual_f1", "accuracy"),
    "medval": ("macro_f1", "unsafe_f1", "unsafe_sensitivity", "unsafe_specificity", "accuracy"),
}

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
        cuts={
            "task": np.array([code[task] for task in reference.frame["task"]], dtype=np.int64),
            "part": reference.length_parts()[0],
        },
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
    silent = counted.answers[at] == reference.classes.silent
    _, parts = reference.length_parts()
    tasks = {task: counted.cuts["task"] == code for code, task in enumerate(reference.tasks)}
    of_tasks = {task: _estimates(counted, at, reference, mask) for task, mask in tasks.items()}
    numbers = {
        "rows": len(run.codes),
        "outcomes": run.outcomes,
        "share_unparseable": counted.share(silent),
        "overall": _estimates(counted, at, reference),
        "answered": _estimates(counted, at, reference, ~silent),
        "by_task": of_tasks,
        "by_length": {
            name: _estimates(counted, at, reference, counted.cuts["part"] == code) for code, name in enumerate(parts)
        },
        "errors_by_task": _errors(counted, at, tasks),
        "confusion": counted.tables(at)[0][0].astype(np.int64).tolist(),
    }
    if reference.kind == "medval":
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
    observed, _ = counted.tables(at, mask)
    rows = {"rows": int(observed.sum()), "answered": int(observed[:, :, :-1].sum())}
    return {**rows, **rate_estimates(reference.kind, counted, at, mask)}


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
    rates = [rate_draws("medval", counted, at, mask) for mask in masks]
    points, draws = (np.stack([one["macro_f1"] for one in part]) for part in zip(*rates, strict=True))
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


def compare_runs(labels: Sequence[str], counted: Counted, reference: Reference) -> list[dict[str, Any]]:
    """Compare every run with those after it.

    McNemar's test takes the rows of one class (or all) and asks whether one run is right more often where the two
    differ. Bonferroni's correction is for all tests of the report together (MedVAL, supplement S2.3). Differences are
    first minus second, over the same resamples.

    Args:
        labels: *shape* (M,), how the runs are called.
        counted: their answers, in the same order.
        reference: the rows.

    Returns:
        For each pair ``a``, ``b``, ``tests`` (``of``, ``rows``, ``only_a``, ``only_b``, ``p``, ``exact``,
        ``p_bonferroni``, ``significant``) and ``differences``.
    """
    parts = {OVERALL: np.ones_like(counted.gold, dtype=np.bool_)}
    parts |= {name: counted.gold == code for code, name in enumerate(reference.classes.names)}
    found: list[dict[str, Any]] = [
        {
            "a": labels[a],
            "b": labels[b],
            "tests": [_test(counted, a, b, name, mask) for name, mask in parts.items()],
            "differences": _differences(counted, a, b, reference.kind),
        }
        for a, b in combinations(range(len(labels)), 2)
    ]
    tests = [test for one in found for test in one["tests"]]
    correct(tests, "bonferroni")
    for test in tests:
        test["significant"] = test["p_bonferroni"] <= ALPHA
    return found


def _test(counted: Counted, a: int, b: int, name: str, mask: Mask) -> dict[str, Any]:
    found = mcnemar(counted, a, b, mask)
    rows = int(counted.observed[mask].sum())
    return {"of": name, "rows": rows, **{key: found[key] for key in ("only_a", "only_b", "p", "exact")}}


def _differences(counted: Counted, a: int, b: int, kind: Kind) -> dict[str, Any]:
    (point_a, drawn_a), (point_b, drawn_b) = (rate_draws(kind, counted, run) for run in (a, b))
    n = counted.clusters()
    return {
        name: estimate_of(float(point_a[name][0] - point_b[name][0]), drawn_a[name] - drawn_b[name], n)
        for name in DIFFERENCES[kind]
    }
