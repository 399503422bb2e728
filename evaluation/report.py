"""The report of an evaluation: numbers, tables and pictures in one folder, written as a whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from evaluation import figures
from evaluation.agreement import ENSEMBLE, ensemble, experts_part, require_rated_rows
from evaluation.baselines import BASELINES, baseline_predictions
from evaluation.comparisons import FEW_DISCORDANT, compare
from evaluation.correlation import correlations, overlap_scores, read_scores
from evaluation.datasets import Kind, MedievalDataset, TextDataset
from evaluation.intervals import RESAMPLES, SEED, Counted
from evaluation.markdown import rendered
from evaluation.numbers import (
    SMALL_CLUSTERS,
    SMALL_ROWS,
    Model,
    categories_by_class,
    counted_of,
    estimates,
    grouped,
    labels_of,
    length_bins,
    models_numbers,
    runs_numbers,
    seed_summary,
)
from evaluation.paper import PAPER_COLUMNS
from evaluation.predictions import Answers, Missing, join_predictions, read_runs, write_predictions
from evaluation.rates import BINS
from evaluation.rows import Reference, quadrant_rows, read_reference
from ground.contracts.rows import QUADRANTS
from ground.contracts.splits import Split
from ground.errors import InputError, UsageError
from ground.flow.manifest import to_json
from ground.resampling import FEWEST_CLUSTERS
from ground.storage.files import atomic_directory, sha256_of

__all__ = ["evaluate_quadrants", "evaluate_text"]

Report = Mapping[str, Any]


def evaluate_quadrants(
    dataset: MedievalDataset,
    predictions: Sequence[Path],
    out: Path,
    *,
    split: Split = "test",
    split_column: str = "split",
    baselines: bool = True,
    missing: Missing = "refuse",
    lambdas: Mapping[str, tuple[str, float]] | None = None,
    losses: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
) -> dict[str, Any]:
    """Evaluate prediction files and write ``report.json``, ``report.md``, ``figures/*.png``.

    With baselines, ``baselines.parquet`` holds their predictions. The same inputs give the same bytes of the JSON and
    Markdown files; the order in which files are named changes nothing.

    Args:
        dataset: what was predicted.
        predictions: files in the contract of `evaluation.predictions`; none evaluates the baselines alone.
        out: folder of the report; an earlier report there is replaced.
        split: which rows.
        split_column: which of the splits, as `MedievalDataset.in_split` takes it.
        baselines: fit the shortcut baselines and report them too.
        missing: what a row without a prediction is (`evaluation.predictions.join_predictions`).
        lambdas: for a picture over lambda, of each model by the name in the prediction files: what it is compared
            within (backbone and regime), and CoRFu's lambda.
        losses: for a picture of learning curves, the records of each run.

    Returns:
        The content of ``report.json``.

    Raises:
        InputError: a prediction file is damaged, or does not fit the rows.
        UsageError: nothing to evaluate, a folder that holds something else, or models that are not there.
    """
    _refuse_other_folder(out)
    if not predictions and not baselines:
        raise UsageError("there is nothing to evaluate", expected="a prediction file, or baselines")
    whole = quadrant_rows(dataset, split, split_column)
    read = read_runs(whole.frame, predictions, "quadrants", missing)
    table = baseline_predictions(dataset, split, split_column) if baselines else None
    shortcuts = [] if table is None else _baseline_runs(whole, table, [run for _, run in read])
    reference, runs = _common(whole, [*(run for _, run in read), *shortcuts], missing)
    counted = counted_of(reference, runs)
    models = grouped(runs, counted)
    rows = reference.frame
    report = {
        "dataset": {
            **dataset.identity,
            "split": split,
            "split_column": split_column,
            "rows": rows.height,
            "rows_left_out": whole.frame.height - rows.height,
            "patients": rows["subject_id"].n_unique(),
            "admissions": rows["hadm_id"].n_unique(),
            "quadrants": {quadrant: int((rows["quadrant"] == quadrant).sum()) for quadrant in QUADRANTS},
        },
        "settings": {"resamples": RESAMPLES, "seed": SEED, "missing": missing},
        "predictions": [_counts_of_answers(file, run) for file, run in read],
        "files": _hashed(predictions),
        "models": models_numbers(reference, models, counted),
        "comparisons": compare(models, counted, "holm"),
        "lambda": _lambda_points(lambdas or {}, models, counted),
    }

    def draw(folder: Path, pictures: Path) -> None:
        figures.draw_quadrants(report, losses or {}, pictures)
        if table is not None:
            write_predictions(folder / "baselines.parquet", table)

    _write(out, report, "quadrants.md.j2", draw, columns=PAPER_COLUMNS, quadrants=QUADRANTS, bins=BINS)
    return report


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
    scores: Mapping[str, Path] | None = None,
    with_overlap: bool = False,
) -> dict[str, Any]:
    """Do the same for a detector's or a validator's predictions; with ratings, ``ratings.parquet`` holds them.

    Arguments and errors are those of `evaluate_quadrants`, but for:

    Args:
        kind: of the dataset.
        dataset: what was predicted.
        predictions: files; none needs ratings.
        out: nothing is written where left out.
        split: which rows.
        missing: what a row without a prediction is.
        with_ensemble: add the majority of all runs as a run of its own.
        ratings: experts' (MedVAL), as `evaluation.sheets.read_sheets` returns them.
        scores: files of other metrics by name (``id``, ``score``), to be correlated with the labels.
        with_overlap: correlate ROUGE and BLEU of outputs, too.
    """
    if out is not None:
        _refuse_other_folder(out)
    if not (predictions or scores or with_overlap) and ratings is None:
        sheets = ", or experts' sheets" if kind == "medval" else ""
        raise UsageError("there is nothing to evaluate", expected=f"a predictions file, a run, an endpoint{sheets}")
    whole = read_reference(dataset, split)
    if ratings is not None:
        require_rated_rows(whole, ratings)
    read = [run for _, run in read_runs(whole.frame, predictions, kind, missing)]
    reference, runs = _common(whole, read, missing)
    if with_ensemble and len(runs) > 1:
        _refuse_names(runs, ENSEMBLE)
        runs.append(ensemble(runs, reference.classes))
    classes, labels = reference.classes, labels_of(runs)
    silent = classes.silent
    scored = {label: np.where(run.codes < silent, run.codes, np.nan) for label, run in zip(labels, runs, strict=True)}
    scored |= {name: read_scores(file, reference) for name, file in (scores or {}).items()}
    scored |= overlap_scores(_texts_of(dataset, split, reference)) if with_overlap else {}
    counted = counted_of(reference, runs)
    models = [
        Model(label, run.kind, (run.seed,), (at,), kind)
        for at, (label, run) in enumerate(zip(labels, runs, strict=True))
    ]
    numbers = runs_numbers(reference, runs, counted)
    report = {
        "kind": kind,
        "dataset": {
            **dataset.identity,
            "split": split,
            "rows_left_out": whole.frame.height - reference.frame.height,
        },
        "files": _hashed(predictions),
        "rows": _described(reference),
        "runs": [
            {"name": model.name, "model": run.model, "seed": run.seed, "kind": run.kind, **figures}
            for model, run, figures in zip(models, runs, numbers, strict=True)
        ],
        "seeds": seed_summary(runs, numbers, classes.headline),
        "comparisons": compare(models, counted, "bonferroni", by_class=classes.names),
        "scores": correlations(reference, scored) if kind == "medval" or scores or with_overlap else [],
        "error_categories": _categories(reference, runs, labels),
        "experts": None if ratings is None else experts_part(reference, ratings, runs, labels),
        "settings": {"resamples": RESAMPLES, "seed": SEED, "missing": missing},
    }

    def draw(folder: Path, pictures: Path) -> None:
        figures.draw_texts(report, pictures)
        if ratings is not None:
            ratings.write_parquet(folder / "ratings.parquet")

    if out is not None:
        _write(out, report, "texts.md.j2", draw)
    return report


def _common(reference: Reference, runs: Sequence[Answers], missing: Missing) -> tuple[Reference, list[Answers]]:
    """Return the rows that count for all runs alike (under ``leave_out`` what all predicted), and the runs on them.

    Raises:
        InputError: there is none.
    """
    asked = [run.there for run in runs if missing == "leave_out"]
    kept = np.logical_and.reduce([np.ones(reference.frame.height, dtype=np.bool_), *asked])
    if not kept.any():
        raise InputError("no row has a prediction of every run", expected="rows that all runs predicted")
    return reference.keep(kept), [run.keep(kept) for run in runs]


def _refuse_names(runs: Sequence[Answers], *taken: str) -> None:
    """Refuse models that are called as a report calls what it adds itself: their numbers would be taken for one's."""
    if used := sorted({run.model for run in runs}.intersection(taken)):
        what = "a model has the name of a baseline, or of the ensemble"
        raise InputError(what, found=", ".join(used), expected="another name", do="rename the model")


def _baseline_runs(reference: Reference, table: pl.DataFrame, read: Sequence[Answers]) -> list[Answers]:
    _refuse_names(read, *BASELINES)
    joined = join_predictions(reference.frame, table, source="baselines")
    runs = {run.model: replace(run, kind="baseline") for run in joined}
    return [runs[name] for name in BASELINES]


def _counts_of_answers(file: str, run: Answers) -> dict[str, Any]:
    return {
        "file": file,
        "model": run.model,
        "seed": run.seed,
        "rows": len(run.codes),
        "missing": int((~run.there).sum()),
        "unparseable": int((run.there & (run.codes == len(QUADRANTS))).sum()),
        "label_is_not_the_highest_score": run.not_the_best,
    }


def _lambda_points(
    lambdas: Mapping[str, tuple[str, float]], models: Sequence[Model], counted: Counted
) -> list[dict[str, Any]]:
    by_name = {model.name: model for model in models}
    if absent := sorted(set(lambdas) - set(by_name)):
        raise UsageError(
            "a model of the lambda sweep has no predictions", found=", ".join(absent), expected=", ".join(by_name)
        )
    return [
        {"series": series, "lambda": value, "model": name, "metrics": estimates(by_name[name], counted)}
        for name, (series, value) in sorted(lambdas.items(), key=lambda item: (item[1], item[0]))
    ]


def _texts_of(dataset: TextDataset, split: Split, reference: Reference) -> list[dict[str, Any]]:
    """Return input, output and where there is one an expert's output, in the order of the rows."""
    rows = dataset.scan(split).select(pl.col("id").cast(pl.String), "input", "output", pl.col(r"^reference$"))
    return reference.frame.select("id").join(rows.collect(), on="id", how="left", maintain_order="left").to_dicts()


def _categories(reference: Reference, runs: Sequence[Answers], labels: Sequence[str]) -> dict[str, Any]:
    """Return the errors of each category by risk level: as the rows have them, and as each run named them."""
    k = reference.classes.silent
    named = {"labels": categories_by_class(reference.gold, reference.frame["categories"].to_list(), k)}
    named |= {label: categories_by_class(run.codes, run.categories, k) for label, run in zip(labels, runs, strict=True)}
    return {name: own for name, own in named.items() if own}


def _described(reference: Reference) -> dict[str, Any]:
    classes, cuts = reference.classes, reference.cuts()
    (tasks, task_names), (lengths, length_names) = cuts["task"], cuts["length"]
    return {
        "rows": reference.frame.height,
        "classes": list(classes.names),
        "headline": classes.headline,
        "clusters": int(reference.frame["cluster"].n_unique()),
        "clusters_are": reference.clusters_are,
        "by_task": {
            task: np.bincount(reference.gold[tasks == at], minlength=classes.silent).tolist()
            for at, task in enumerate(task_names)
        },
        "bins": length_bins(reference),
        "by_length": dict(zip(length_names, np.bincount(lengths, minlength=len(length_names)).tolist(), strict=True)),
    }


def _hashed(files: Sequence[Path]) -> list[dict[str, str]]:
    return [{"file": path.name, "sha256": sha256_of(path)} for path in sorted(files)]


def _refuse_other_folder(out: Path) -> None:
    """Refuse a folder that holds something else than an earlier report."""
    if out.exists() and not (out.is_dir() and ((out / "report.json").is_file() or not any(out.iterdir()))):
        raise UsageError(
            "the report's folder holds something else",
            file=out,
            expected="a new folder, an empty one, or an earlier report",
            do="name another folder",
        )


def _write(out: Path, report: Report, template: str, draw: Callable[[Path, Path], None], **more: Any) -> None:
    """Write the files of a report.

    Args:
        out: the folder of the report; an earlier one there is replaced.
        report: what ``report.json`` holds.
        template: of ``report.md``, in ``evaluation/templates``.
        draw: draws the pictures into ``figures``, its second argument, and may write into the folder, its first.
        more: what the template reads beside the report.
    """
    limits = {"fewest": FEWEST_CLUSTERS, "few_discordant": FEW_DISCORDANT}
    limits |= {"small_rows": SMALL_ROWS, "small_patients": SMALL_CLUSTERS, "most_panels": figures.MOST_PANELS}
    with atomic_directory(out) as folder:
        pictures = folder / "figures"
        pictures.mkdir(mode=0o700)
        draw(folder, pictures)
        drawn = sorted(path.name for path in pictures.iterdir())
        page = rendered(template, report, drawn, **limits, **more)
        (folder / "report.json").write_text(to_json(report), encoding="utf-8", newline="\n")
        (folder / "report.md").write_text(page, encoding="utf-8", newline="\n")
