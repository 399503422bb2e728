"""All numbers of one run of a detector (MedHal) or validator (MedVAL), and the comparisons of several.

Overall, by task, by length of the context, where the errors lie, and the explanations. Unreadable answers, and rows
without one (outcome ``missing``), count as wrong and never as a class.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from evaluation.comparisons import ALPHA, correct, mcnemar
from evaluation.intervals import DIGITS, RESAMPLES, Counted, estimate_of
from evaluation.predictions import Answers, join_predictions, read_predictions
from evaluation.rates import differences, rate_draws, rate_estimates
from evaluation.text.dataset import Kind, Split, TextDataset
from evaluation.text.explanations import explanation_metrics
from evaluation.text.reference import Reference, read_reference, reference_of
from ground.contracts.taxonomy import medval_tasks

__all__ = [
    "OVERALL",
    "compare_runs",
    "evaluate_predictions",
    "labels_of",
    "medhal_metrics",
    "medval_metrics",
    "runs_numbers",
    "seed_summary",
]

OVERALL = "overall"
DIFFERENCES = {
    "medhal": ("non_factual_f1", "factual_f1", "accuracy"),
    "medval": ("macro_f1", "unsafe_f1", "unsafe_sensitivity", "unsafe_specificity", "accuracy"),
}

Mask = npt.NDArray[np.bool_]
Row = Mapping[str, Any]


def medhal_metrics(rows: Sequence[Row], predictions: Iterable[Row], seed: int = 42) -> dict[str, Any]:
    """Compare rows of MedHal with their predictions, both in memory; gives one run's `runs_numbers`.

    Args:
        rows: ``id``, ``label``, ``explanation``, ``task``, and ``subject_id`` or ``pair_id``.
        predictions: ``id``, ``label`` (None: unreadable), ``explanation``, ``outcome``.
        seed: of the bootstrap.

    Raises:
        InputError: predictions of unknown rows, or two for one row.
    """
    return _of_rows("medhal", rows, predictions, seed)


def medval_metrics(rows: Sequence[Row], predictions: Iterable[Row], seed: int = 42) -> dict[str, Any]:
    """Do the same for MedVAL: rows have ``risk_level`` and ``triple_id``, and predictions a level as ``label``."""
    return _of_rows("medval", rows, predictions, seed)


def evaluate_predictions(
    kind: Kind, predictions: Path, dataset_dir: Path, split: Split = "test", seed: int = 42
) -> dict[str, Any]:
    """Compare a predictions file of one run with a split (`runs_numbers`).

    Raises:
        InputError: either cannot be read, they do not belong together, or the split is empty.
    """
    reference = read_reference(TextDataset.open(dataset_dir, kind), split)
    return _of_table(reference, read_predictions(predictions, kind), seed)


def _of_rows(kind: Kind, rows: Sequence[Row], predictions: Iterable[Row], seed: int) -> dict[str, Any]:
    types = {"id": pl.String, "label": pl.Boolean if kind == "medhal" else pl.Int64}
    types |= {"explanation": pl.String, "outcome": pl.String}
    table = pl.DataFrame([{name: one.get(name) for name in types} for one in predictions], schema=types)
    return _of_table(reference_of(rows, kind), table, seed)


def _of_table(reference: Reference, table: pl.DataFrame, seed: int) -> dict[str, Any]:
    one = table.with_columns(model=pl.lit("run"), seed=pl.lit(None, pl.Int64))
    runs = join_predictions(reference.frame, one, reference.kind, missing="wrong")
    return runs_numbers(reference, runs, counted_of(reference, runs, RESAMPLES, seed), RESAMPLES, seed)[0]


def labels_of(runs: Sequence[Answers]) -> list[str]:
    """Return what runs are called: the model's name, with its seed where a model has several."""
    names = [run.model for run in runs]
    return [
        f"{run.model}, seed {run.seed}" if names.count(run.model) > 1 and run.seed is not None else run.model
        for run in runs
    ]


def counted_of(reference: Reference, runs: Sequence[Answers], resamples: int, seed: int) -> Counted:
    """Count the answers of all runs together; tasks and lengths are its cuts, in their order."""
    tasks, frame = reference.tasks, reference.frame
    return Counted.of(
        reference.gold,
        [run.codes for run in runs],
        frame["cluster"].to_numpy(),
        classes=reference.classes.silent,
        cuts={
            "task": np.searchsorted(tasks, frame["task"].to_list()) if tasks else np.zeros(0, np.int64),
            "part": reference.length_parts()[0],
        },
        resamples=resamples,
        seed=seed,
    )


def runs_numbers(
    reference: Reference, runs: Sequence[Answers], counted: Counted, resamples: int, seed: int
) -> list[dict[str, Any]]:
    """Return the numbers of each run.

    Args:
        reference: the rows.
        runs: their answers.
        counted: the same, counted (`counted_of`).
        resamples: for the explanations.
        seed: of those resamples.

    Returns:
        ``rows``, ``outcomes``, ``share_unparseable``, ``overall``, ``answered`` (over rows with an answer),
        ``by_task``, ``by_length``, ``errors_by_task``, ``confusion``; ``explanation`` (MedHal) or ``over_tasks``.
    """
    masks = [
        {name: counted.cuts[cut] == code for code, name in enumerate(names)}
        for cut, names in (("task", reference.tasks), ("part", reference.length_parts()[1]))
    ]
    found = []
    for at, run in enumerate(runs):
        silent = counted.answers[at] == counted.classes
        by_task, by_length = (
            {name: _estimates(counted, at, reference.kind, mask) for name, mask in cut.items()} for cut in masks
        )
        numbers = {
            "rows": len(run.codes),
            "outcomes": run.outcomes,
            "share_unparseable": counted.share(silent),
            "overall": _estimates(counted, at, reference.kind),
            "answered": _estimates(counted, at, reference.kind, ~silent),
            "by_task": by_task,
            "by_length": by_length,
            "errors_by_task": _errors(counted, at, masks[0]),
            "confusion": counted.tables(at)[0][0].astype(np.int64).tolist(),
        }
        if reference.kind == "medval":
            found.append({**numbers, "over_tasks": _over_tasks(counted, at, masks[0])})
            continue
        both, told = (reference.gold == 1) & (run.codes == 1), reference.frame["explanation"].to_list()
        clusters = reference.frame["cluster"].to_numpy()
        said = explanation_metrics(told, run.explanations, both, clusters, resamples=resamples, seed=seed)
        found.append({**numbers, "explanation": said})
    return found


def _estimates(counted: Counted, at: int, kind: Kind, mask: Mask | None = None) -> dict[str, Any]:
    """Return ``rows``, ``answered`` and every rate with its interval, of the types of a mask."""
    observed, _ = counted.tables(at, mask)
    rows = {"rows": int(observed.sum()), "answered": int(observed[:, :, :-1].sum())}
    return {**rows, **rate_estimates(kind, counted, at, mask)}


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
    points, draws = (np.stack([one["macro_f1"] for one in part]) for part in zip(*rates, strict=True))
    n = counted.clusters(np.any(np.stack(list(masks)), axis=0))
    return {"tasks": len(masks), **estimate_of(float(points.mean()), draws.mean(axis=0), n)}


def seed_summary(runs: Sequence[Answers], numbers: Sequence[Mapping[str, Any]], headline: str) -> list[dict[str, Any]]:
    """Return mean and sample standard deviation over seeds of each model that has several."""
    values: dict[str, list[float]] = {}
    for run, one in zip(runs, numbers, strict=True):
        if (value := one["overall"][headline]["value"]) is not None:
            values.setdefault(run.model, []).append(value)
    return [
        {
            "model": name,
            "metric": headline,
            "seeds": len(of),
            "mean": round(float(np.mean(of)), DIGITS),
            "spread": round(float(np.std(of, ddof=1)), DIGITS),
        }
        for name, of in values.items()
        if len(of) > 1
    ]


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
    kind, n = reference.kind, counted.clusters()
    parts = {OVERALL: np.ones_like(counted.gold, dtype=np.bool_)}
    parts |= {name: counted.gold == code for code, name in enumerate(reference.classes.names)}
    drawn = [rate_draws(kind, counted, [at]) for at in range(len(labels))]
    found: list[dict[str, Any]] = [
        {
            "a": labels[a],
            "b": labels[b],
            "tests": [_test(counted, a, b, name, mask) for name, mask in parts.items()],
            "differences": differences(drawn[a], drawn[b], n, DIFFERENCES[kind]),
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
