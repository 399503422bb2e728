"""The report on detectors or validators: numbers, tables and pictures in one folder, whole or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from evaluation.intervals import RESAMPLES
from evaluation.predictions import Answers, Missing, common_rows, read_runs
from evaluation.report import refuse_other_folder, write_report
from evaluation.text import figures
from evaluation.text.dataset import Kind, Split, TextDataset
from evaluation.text.experts import experts_part
from evaluation.text.numbers import compare_runs, counted_of, labels_of, run_numbers, seed_summary
from evaluation.text.reference import Reference, read_reference
from evaluation.text.votes import ensemble
from ground.errors import InputError, UsageError
from ground.storage.files import sha256_of

__all__ = ["evaluate_text", "text_report"]


def evaluate_text(
    kind: Kind,
    dataset: TextDataset,
    predictions: Sequence[Path],
    out: Path,
    *,
    split: Split = "test",
    missing: Missing = "refuse",
    with_ensemble: bool = False,
    ratings: pl.DataFrame | None = None,
    resamples: int = RESAMPLES,
    seed: int = 42,
) -> dict[str, Any]:
    """Evaluate prediction files (`text_report`) and write ``report.json``, ``report.md`` and ``figures/*.png``.

    With ratings, ``ratings.parquet`` holds them. The same inputs give the same bytes of the JSON and Markdown files.

    Raises:
        InputError: a file is damaged, or does not fit the rows.
        UsageError: nothing to evaluate, or a folder that holds something else.
    """
    refuse_other_folder(out)
    report = text_report(
        kind,
        dataset,
        predictions,
        split=split,
        missing=missing,
        with_ensemble=with_ensemble,
        ratings=ratings,
        resamples=resamples,
        seed=seed,
    )

    def draw(folder: Path, pictures: Path) -> None:
        figures.draw_all(report, pictures)
        if ratings is not None:
            ratings.write_parquet(folder / "ratings.parquet")

    write_report(out, report, "texts.md.j2", draw)
    return report


def text_report(
    kind: Kind,
    dataset: TextDataset,
    predictions: Sequence[Path],
    *,
    split: Split = "test",
    missing: Missing = "refuse",
    with_ensemble: bool = False,
    ratings: pl.DataFrame | None = None,
    resamples: int = RESAMPLES,
    seed: int = 42,
) -> dict[str, Any]:
    """Evaluate prediction files; the order in which they are named changes nothing.

    Args:
        kind: of the dataset.
        dataset: what was predicted.
        predictions: files by the contract (`evaluation.predictions`).
        split: which rows.
        missing: what a row without a prediction is.
        with_ensemble: add the majority of all runs as a run of its own.
        ratings: experts' (MedVAL), as `evaluation.sheets.read.read_sheets` returns them.
        resamples: of patients or pairs, for the intervals.
        seed: of the resamples.

    Returns:
        The content of ``report.json``.

    Raises:
        InputError: a file is damaged, or does not fit the rows.
        UsageError: nothing to evaluate.
    """
    if not predictions and ratings is None:
        raise UsageError("there is nothing to evaluate", expected=_needed(kind))
    reference = read_reference(dataset, split)
    if ratings is not None:
        _require_rated_rows(reference, ratings)
    runs = [run for _, run in read_runs(reference.frame, predictions, kind, missing)]
    kept = common_rows(runs, missing, reference.frame.height)
    return {
        "kind": kind,
        "dataset": {
            "name": dataset.folder.resolve().name,
            **dataset.identity,
            "licence_tier": dataset.licence_tier,
            "split": split,
            "rows_left_out": int((~kept).sum()),
        },
        "files": [{"file": path.name, "sha256": sha256_of(path)} for path in sorted(predictions)],
        **_numbers(
            reference.keep(kept),
            [run.keep(kept) for run in runs],
            with_ensemble=with_ensemble,
            ratings=ratings,
            resamples=resamples,
            seed=seed,
        ),
        "settings": {"resamples": resamples, "seed": seed, "missing": missing},
    }


def _numbers(
    reference: Reference,
    runs: Sequence[Answers],
    *,
    with_ensemble: bool,
    ratings: pl.DataFrame | None,
    resamples: int,
    seed: int,
) -> dict[str, Any]:
    """Return the numbers of a report: ``rows``, ``runs``, ``seeds``, ``comparisons``, ``experts``."""
    every = [*runs, ensemble(runs, reference.classes)] if with_ensemble and len(runs) > 1 else list(runs)
    labels = labels_of(every)
    counted = counted_of(reference, every, resamples, seed)
    numbers = [run_numbers(reference, run, counted, at, resamples=resamples, seed=seed) for at, run in enumerate(every)]
    return {
        "rows": _described(reference),
        "runs": [
            {"name": label, "model": run.model, "seed": run.seed, "kind": run.kind, **one}
            for label, run, one in zip(labels, every, numbers, strict=True)
        ],
        "seeds": seed_summary(every, numbers, reference.classes.headline),
        "comparisons": compare_runs(labels, counted, reference),
        "experts": None
        if ratings is None
        else experts_part(reference, ratings, every, labels, resamples=resamples, seed=seed),
    }


def _require_rated_rows(reference: Reference, ratings: pl.DataFrame) -> None:
    unknown = ratings.join(reference.frame.select("id"), on="id", how="anti").height
    if unknown:
        raise InputError(
            "experts rated rows that are not in the split",
            found=f"{unknown:,} of {ratings.height:,} ratings",
            do="choose the dataset and the split that the sheets were written from",
        )


def _needed(kind: Kind) -> str:
    sheets = ", or experts' sheets" if kind == "medval" else ""
    return f"a predictions file, a run, an endpoint{sheets}"


def _described(reference: Reference) -> dict[str, Any]:
    frame, classes = reference.frame, reference.classes
    by_task = {
        task: np.bincount(frame.filter(pl.col("task") == task)["gold"].to_numpy(), minlength=classes.silent).tolist()
        for task in reference.tasks
    }
    return {
        "rows": frame.height,
        "classes": list(classes.names),
        "headline": classes.headline,
        "clusters": int(frame["cluster"].n_unique()),
        "clusters_are": reference.clusters_are,
        "by_task": by_task,
        "by_length": _lengths(reference),
    }


def _lengths(reference: Reference) -> dict[str, int]:
    index, names = reference.length_parts()
    return dict(zip(names, np.bincount(index, minlength=len(names)).tolist(), strict=True))
