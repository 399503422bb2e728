"""The report on detectors or validators: numbers, tables and pictures in one folder, whole or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from evaluation.intervals import RESAMPLES
from evaluation.predictions import Missing, common_rows, read_runs
from evaluation.report import hashed, refuse_other_folder, write_report
from evaluation.text import figures
from evaluation.text.agreement import ensemble
from evaluation.text.dataset import Kind, Split, TextDataset
from evaluation.text.experts import experts_part, require_rated_rows
from evaluation.text.numbers import compare_runs, counted_of, labels_of, runs_numbers, seed_summary
from evaluation.text.reference import Reference, read_reference
from ground.errors import UsageError

__all__ = ["evaluate_text"]


def evaluate_text(
    kind: Kind,
    dataset: TextDataset,
    predictions: Sequence[Path],
    out: Path | None = None,
    *,
    split: Split = "test",
    missing: Missing = "refuse",
    with_ensemble: bool = False,
    ratings: pl.DataFrame | None = None,
    resamples: int = RESAMPLES,
    seed: int = 42,
) -> dict[str, Any]:
    """Evaluate prediction files and write ``report.json``, ``report.md`` and ``figures/*.png``.

    With ratings, ``ratings.parquet`` holds them. The same inputs give the same bytes of the JSON and Markdown files;
    the order in which files are named changes nothing.

    Args:
        kind: of the dataset.
        dataset: what was predicted.
        predictions: files by the contract (`evaluation.predictions`).
        out: folder of the report, an earlier report there is replaced; nothing is written where left out.
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
        UsageError: nothing to evaluate, or a folder that holds something else.
    """
    if out is not None:
        refuse_other_folder(out)
    if not predictions and ratings is None:
        sheets = ", or experts' sheets" if kind == "medval" else ""
        raise UsageError("there is nothing to evaluate", expected=f"a predictions file, a run, an endpoint{sheets}")
    whole = read_reference(dataset, split)
    if ratings is not None:
        require_rated_rows(whole, ratings)
    read = [run for _, run in read_runs(whole.frame, predictions, kind, missing)]
    kept = common_rows(read, missing, whole.frame.height)
    reference, runs = whole.keep(kept), [run.keep(kept) for run in read]
    if with_ensemble and len(runs) > 1:
        runs.append(ensemble(runs, reference.classes))
    labels, counted = labels_of(runs), counted_of(reference, runs, resamples, seed)
    numbers = runs_numbers(reference, runs, counted, resamples, seed)
    report = {
        "kind": kind,
        "dataset": {
            "name": dataset.folder.resolve().name,
            **dataset.identity,
            "licence_tier": dataset.licence_tier,
            "split": split,
            "rows_left_out": int((~kept).sum()),
        },
        "files": hashed(predictions),
        "rows": _described(reference),
        "runs": [
            {"name": label, "model": run.model, "seed": run.seed, "kind": run.kind, **one}
            for label, run, one in zip(labels, runs, numbers, strict=True)
        ],
        "seeds": seed_summary(runs, numbers, reference.classes.headline),
        "comparisons": compare_runs(labels, counted, reference),
        "experts": None
        if ratings is None
        else experts_part(reference, ratings, runs, labels, resamples=resamples, seed=seed),
        "settings": {"resamples": resamples, "seed": seed, "missing": missing},
    }

    def draw(folder: Path, pictures: Path) -> None:
        figures.draw_all(report, pictures)
        if ratings is not None:
            ratings.write_parquet(folder / "ratings.parquet")

    if out is not None:
        write_report(out, report, "texts.md.j2", draw)
    return report


def _described(reference: Reference) -> dict[str, Any]:
    frame, classes = reference.frame, reference.classes
    index, names = reference.length_parts()
    tasks = frame["task"].to_numpy()
    return {
        "rows": frame.height,
        "classes": list(classes.names),
        "headline": classes.headline,
        "clusters": int(frame["cluster"].n_unique()),
        "clusters_are": reference.clusters_are,
        "by_task": {
            task: np.bincount(reference.gold[tasks == task], minlength=classes.silent).tolist()
            for task in reference.tasks
        },
        "by_length": dict(zip(names, np.bincount(index, minlength=len(names)).tolist(), strict=True)),
    }
