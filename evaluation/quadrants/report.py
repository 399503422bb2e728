"""The report of an evaluation: numbers, tables and pictures in one folder, written as a whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from evaluation.intervals import DIGITS, Bootstrap, ModelRuns, estimates
from evaluation.quadrants import figures
from evaluation.quadrants.baselines import BASELINES, baseline_predictions
from evaluation.quadrants.compare import Comparison, compare_all
from evaluation.quadrants.dataset import MedievalDataset, Split
from evaluation.quadrants.markdown import report_markdown
from evaluation.quadrants.predictions import (
    Missing,
    Run,
    Unknown,
    common_rows,
    join_predictions,
    label_codes,
    read_predictions,
    write_predictions,
)
from evaluation.quadrants.slices import slice_estimates, slices
from evaluation.quadrants.tables import same_measurement
from evaluation.reporting import refuse_other_folder, write_report
from ground.contracts.rows import QUADRANTS
from ground.errors import InputError, UsageError
from ground.storage.files import atomic_directory, sha256_of

__all__ = ["evaluate_quadrants"]

Losses = Mapping[str, Sequence[Mapping[str, Any]]]


def evaluate_quadrants(
    dataset: MedievalDataset,
    predictions: Sequence[Path],
    out: Path,
    *,
    split: Split = "test",
    split_column: Literal["split", "fact_split"] = "split",
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
        predictions: files in the contract of `predictions.PREDICTION_SCHEMA`; none evaluates the baselines alone.
        out: folder of the report; an earlier report there is replaced.
        split: which rows.
        split_column: which of the two splits.
        baselines: fit the shortcut baselines and report them too.
        resamples: of patients, for the intervals.
        seed: of the resamples.
        missing: what a row without a prediction is (`predictions.join_predictions`).
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
    runs = _model_runs(rows, predictions, missing, unknown)
    table = baseline_predictions(dataset, split, split_column) if baselines else None
    if table is not None:
        runs += [("baseline", "", run) for run in _baseline_runs(rows, table, {run.model for _, _, run in runs})]
    kept = common_rows([run for _, _, run in runs])
    if not kept.any():
        raise InputError("no row has a prediction of every model", expected="rows that all models predicted")
    rows = rows.filter(pl.Series(kept))
    gold = label_codes(rows["quadrant"])
    bootstrap = Bootstrap.of(rows["subject_id"].to_numpy(), resamples, seed)
    models = _grouped([(kind, run.keep(kept)) for kind, _, run in runs], gold, bootstrap)
    report = {
        "dataset": _described(dataset, rows, split, split_column, int((~kept).sum())),
        "settings": {"resamples": resamples, "seed": seed, "missing": missing, "unknown": unknown},
        "predictions": [_counted(file, run, len(kept)) for kind, file, run in runs if kind == "model"],
        "files": [{"file": path.name, "sha256": sha256_of(path)} for path in sorted(predictions)],
        "models": _model_parts(models, rows, dataset.contexts, gold, bootstrap),
        "comparisons": [_plain(one) for one in compare_all(models, bootstrap)],
        "lambda": _lambda_points(lambdas or {}, models, bootstrap),
    }
    _write(report, out, table, losses or {})
    return report


def _model_runs(
    rows: pl.DataFrame, paths: Sequence[Path], missing: Missing, unknown: Unknown
) -> list[tuple[str, str, Run]]:
    """Read and join all files; two files may hold seeds of one model, never the same seed twice."""
    found: dict[tuple[str, int | None], tuple[str, str, Run]] = {}
    for path in paths:
        for run in join_predictions(rows, read_predictions(path), source=path, missing=missing, unknown=unknown):
            key = (run.model, run.seed)
            if key in found:
                raise InputError(
                    "two prediction files hold the same model and seed",
                    file=path,
                    found=f"{run.model}, seed {run.seed}, as in {found[key][1]}",
                    expected="each model and seed once",
                )
            found[key] = ("model", path.name, run)
    return [found[key] for key in sorted(found, key=lambda key: (key[0], key[1] is not None, key[1] or 0))]


def _baseline_runs(rows: pl.DataFrame, table: pl.DataFrame, names: set[str]) -> list[Run]:
    taken = sorted(names & set(BASELINES))
    if taken:
        raise InputError(
            "a model has the name of a baseline", found=", ".join(taken), expected="another name", do="rename the model"
        )
    runs = {run.model: run for run in join_predictions(rows, table, source="baselines")}
    return [runs[name] for name in BASELINES]


def _grouped(runs: Sequence[tuple[str, Run]], gold: npt.NDArray[np.int64], bootstrap: Bootstrap) -> list[ModelRuns]:
    """Bring the seeds of each model together; the runs are in order already."""
    groups = groupby(runs, key=lambda pair: (pair[0], pair[1].model))
    return [ModelRuns.of([run for _, run in group], kind, gold, bootstrap) for (kind, _), group in groups]


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


def _counted(file: str, run: Run, n: int) -> dict[str, Any]:
    return {
        "file": file,
        "model": run.model,
        "seed": run.seed,
        "rows": n,
        "missing": run.missing,
        "unknown": run.unknown,
        "unparseable": run.unparseable,
        "label_is_not_the_highest_score": run.not_the_best,
    }


def _model_parts(
    models: Sequence[ModelRuns],
    rows: pl.DataFrame,
    contexts: pl.DataFrame,
    gold: npt.NDArray[np.int64],
    bootstrap: Bootstrap,
) -> list[dict[str, Any]]:
    parts = slices(rows, contexts)
    return [
        {
            "name": model.name,
            "kind": model.kind,
            "seeds": list(model.seeds),
            "metrics": _metrics(estimates(model.confusion, model.calibration, bootstrap)),
            "confusion": np.round(model.confusion.sum(axis=1).mean(axis=0), DIGITS).tolist(),
            "calibration": _bins(model),
            "paper": same_measurement(model.name),
            "slices": [
                {
                    "by": part.by,
                    "value": part.value,
                    "rows": part.n_rows,
                    "patients": part.n_patients,
                    "small": part.small,
                    "metrics": _metrics(slice_estimates(part, model, gold, bootstrap)),
                }
                for part in parts
            ],
        }
        for model in models
    ]


def _metrics(found: Mapping[str, Any]) -> dict[str, dict[str, float | None]]:
    return {name: estimate.as_dict() for name, estimate in found.items()}


def _bins(model: ModelRuns) -> list[dict[str, float]]:
    """Return the bins that hold rows, over all seeds."""
    sums = model.calibration.sum(axis=(0, 1))
    return [
        {
            "rows": int(rows),
            "mean_confidence": round(float(confidence / rows), DIGITS),
            "share_right": round(float(right / rows), DIGITS),
        }
        for rows, confidence, right in sums
        if rows
    ]


def _plain(one: Comparison) -> dict[str, Any]:
    plain = asdict(one) | {"differences": _metrics(one.differences)}
    return plain | {name: None if plain[name] is None else float(f"{plain[name]:.6g}") for name in ("p", "p_holm")}


def _lambda_points(
    lambdas: Mapping[str, float], models: Sequence[ModelRuns], bootstrap: Bootstrap
) -> list[dict[str, Any]]:
    by_name = {model.name: model for model in models}
    absent = sorted(set(lambdas) - set(by_name))
    if absent:
        raise UsageError(
            "a model of the lambda sweep has no predictions", found=", ".join(absent), expected=", ".join(by_name)
        )
    return [
        {
            "lambda": value,
            "model": name,
            "metrics": _metrics(estimates(by_name[name].confusion, by_name[name].calibration, bootstrap)),
        }
        for name, value in sorted(lambdas.items(), key=lambda item: (item[1], item[0]))
    ]


def _write(report: Mapping[str, Any], out: Path, table: pl.DataFrame | None, losses: Losses) -> None:
    with atomic_directory(out) as folder:
        pictures = folder / "figures"
        pictures.mkdir(mode=0o700)
        models = report["models"]
        figures.f1_figure(models, pictures / "f1_by_quadrant.png")
        figures.risk_figure(models, pictures / "risk.png")
        figures.confusion_figure(models, pictures / "confusion.png")
        figures.calibration_figure(models, pictures / "calibration.png")
        if report["lambda"]:
            figures.lambda_figure(report["lambda"], pictures / "lambda.png")
        if losses:
            figures.learning_figure(losses, pictures / "learning.png")
        if table is not None:
            write_predictions(folder / "baselines.parquet", table)
        write_report(folder, report, report_markdown)
