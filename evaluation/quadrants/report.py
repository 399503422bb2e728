"""The report of an evaluation: numbers, tables and pictures in one folder, written as a whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from evaluation.intervals import DIGITS, Counted
from evaluation.predictions import (
    Answers,
    Missing,
    Unknown,
    common_rows,
    join_predictions,
    label_codes,
    read_runs,
    write_predictions,
)
from evaluation.quadrants import figures
from evaluation.quadrants.baselines import BASELINES, baseline_predictions
from evaluation.quadrants.dataset import MedievalDataset, Split
from evaluation.quadrants.numbers import Model, calibration_bins, compare_all, estimates, grouped
from evaluation.quadrants.tables import PAPER_COLUMNS, same_measurement
from evaluation.rates import BINS
from evaluation.report import hashed, refuse_other_folder, write_report
from evaluation.slices import slices
from ground.contracts.rows import QUADRANTS
from ground.errors import InputError, UsageError

__all__ = ["evaluate_quadrants"]

Losses = Mapping[str, Sequence[Mapping[str, Any]]]


def evaluate_quadrants(
    dataset: MedievalDataset,
    predictions: Sequence[Path],
    out: Path,
    *,
    split: Split = "test",
    split_column: str = "split",
    baselines: bool = True,
    resamples: int = 1000,
    seed: int = 42,
    missing: Missing = "refuse",
    unknown: Unknown = "refuse",
    lambdas: Mapping[str, float] | None = None,
    losses: Losses | None = None,
) -> dict[str, Any]:
    """Evaluate prediction files and write ``report.json``, ``report.md``, ``figures/*.png``.

    With baselines, ``baselines.parquet`` holds their predictions. The same inputs give the same bytes of the JSON and
    Markdown files.

    Args:
        dataset: what was predicted.
        predictions: files in the contract of `evaluation.predictions`; none evaluates the baselines alone.
        out: folder of the report; an earlier report there is replaced.
        split: which rows.
        split_column: which of the splits, as `MedievalDataset.in_split` takes it.
        baselines: fit the shortcut baselines and report them too.
        resamples: of patients, for the intervals.
        seed: of the resamples.
        missing: what a row without a prediction is (`evaluation.predictions.join_predictions`).
        unknown: what a prediction for no evaluated row is.
        lambdas: for a picture over lambda, CoRFu's lambda of each model, by the name in the prediction files.
        losses: for a picture of learning curves, the records of each run.

    Returns:
        The content of ``report.json``.

    Raises:
        InputError: a prediction file is damaged, or does not fit the rows.
        UsageError: nothing to evaluate, a folder that holds something else, or models that are not there.
    """
    refuse_other_folder(out)
    if not predictions and not baselines:
        raise UsageError("there is nothing to evaluate", expected="a prediction file, or baselines")
    rows = dataset.split_rows(split, split_column)
    runs = [("model", file, run) for file, run in read_runs(rows, predictions, "quadrants", missing, unknown)]
    table = baseline_predictions(dataset, split, split_column) if baselines else None
    if table is not None:
        runs += [("baseline", "", run) for run in _baseline_runs(rows, table, {run.model for _, _, run in runs})]
    kept = common_rows([run for _, _, run in runs], missing, rows.height)
    rows = rows.filter(pl.Series(kept))
    whole = [(kind, run.keep(kept)) for kind, _, run in runs]
    gold = label_codes(rows["quadrant"], "quadrants").to_numpy()
    patients, answers = rows["subject_id"].to_numpy(), [run.codes for _, run in whole]
    counted = Counted.by_row(gold, answers, patients, classes=len(QUADRANTS), resamples=resamples, seed=seed)
    models = grouped(whole, counted)
    report = {
        "dataset": _described(dataset, rows, split, split_column, int((~kept).sum())),
        "settings": {"resamples": resamples, "seed": seed, "missing": missing, "unknown": unknown},
        "predictions": [_told(file, run) for kind, file, run in runs if kind == "model"],
        "files": hashed(predictions),
        "models": _model_parts(models, rows, dataset.contexts, counted),
        "comparisons": compare_all(models, counted),
        "lambda": _lambda_points(lambdas or {}, models, counted),
    }

    def draw(folder: Path, pictures: Path) -> None:
        figures.draw_all(report, losses or {}, pictures)
        if table is not None:
            write_predictions(folder / "baselines.parquet", table)

    write_report(out, report, "quadrants.md.j2", draw, columns=PAPER_COLUMNS, quadrants=QUADRANTS, bins=BINS)
    return report


def _baseline_runs(rows: pl.DataFrame, table: pl.DataFrame, names: set[str]) -> list[Answers]:
    if taken := sorted(names & set(BASELINES)):
        raise InputError(
            "a model has the name of a baseline", found=", ".join(taken), expected="another name", do="rename the model"
        )
    runs = {run.model: run for run in join_predictions(rows, table, source="baselines")}
    return [runs[name] for name in BASELINES]


def _described(
    dataset: MedievalDataset, rows: pl.DataFrame, split: str, split_column: str, left_out: int
) -> dict[str, Any]:
    return {
        "name": dataset.folder.resolve().name,
        "manifest_sha256": dataset.manifest_sha256,
        "licence_tier": dataset.licence_tier,
        "split": split,
        "split_column": split_column,
        "rows": rows.height,
        "rows_left_out": left_out,
        "patients": rows["subject_id"].n_unique(),
        "admissions": rows["hadm_id"].n_unique(),
        "quadrants": {quadrant: int((rows["quadrant"] == quadrant).sum()) for quadrant in QUADRANTS},
    }


def _told(file: str, run: Answers) -> dict[str, Any]:
    return {
        "file": file,
        "model": run.model,
        "seed": run.seed,
        "rows": len(run.codes),
        "missing": int((~run.there).sum()),
        "unknown": run.unknown,
        "unparseable": int((run.there & (run.codes == len(QUADRANTS))).sum()),
        "label_is_not_the_highest_score": run.not_the_best,
    }


def _model_parts(
    models: Sequence[Model], rows: pl.DataFrame, contexts: pl.DataFrame, counted: Counted
) -> list[dict[str, Any]]:
    parts = slices(rows, contexts)
    return [
        {
            "name": model.name,
            "kind": model.kind,
            "seeds": list(model.seeds),
            "metrics": estimates(model, counted),
            "confusion": np.round(np.mean([counted.tables(run)[0][0] for run in model.runs], axis=0), DIGITS).tolist(),
            "calibration": calibration_bins(model, counted),
            "paper": same_measurement(model.name),
            "slices": [
                {
                    "by": part.by,
                    "value": part.value,
                    "rows": part.n_rows,
                    "patients": part.n_patients,
                    "small": part.small,
                    "metrics": estimates(model, counted, part.mask),
                }
                for part in parts
            ],
        }
        for model in models
    ]


def _lambda_points(lambdas: Mapping[str, float], models: Sequence[Model], counted: Counted) -> list[dict[str, Any]]:
    by_name = {model.name: model for model in models}
    if absent := sorted(set(lambdas) - set(by_name)):
        raise UsageError(
            "a model of the lambda sweep has no predictions", found=", ".join(absent), expected=", ".join(by_name)
        )
    return [
        {"lambda": value, "model": name, "metrics": estimates(by_name[name], counted)}
        for name, value in sorted(lambdas.items(), key=lambda item: (item[1], item[0]))
    ]
