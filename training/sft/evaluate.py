"""A predictions file against its dataset: detectors (MedHal) and validators (MedVAL)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from ontoground.errors import InputError
from training.sft.metrics import medhal_metrics, medval_metrics
from training.sft.rows import Kind, Split, TextDataset

__all__ = ["evaluate_predictions", "read_predictions"]

READERS: dict[str, Callable[[Path], pl.DataFrame]] = {
    ".parquet": pl.read_parquet,
    ".csv": pl.read_csv,
    ".jsonl": pl.read_ndjson,
}


def read_predictions(file: Path, kind: Kind) -> list[dict[str, Any]]:
    """Read ``id``, ``label`` (null: no readable answer), and ``explanation`` and ``outcome`` where the file has them.

    Labels are true and false (MedHal) or 1 to 4 (MedVAL). A file of another tool needs no ``outcome``.

    Raises:
        InputError: another kind of file, a column is missing, or a label outside the classes.
    """
    if file.suffix not in READERS or not file.is_file():
        raise InputError("no predictions file", file=file, expected=f"a file that ends in {', '.join(READERS)}")
    try:
        table = READERS[file.suffix](file)
    except pl.exceptions.PolarsError as error:
        raise InputError("the predictions cannot be read", file=file, found=type(error).__name__) from error
    lacking = sorted({"id", "label"} - set(table.columns))
    if lacking:
        raise InputError("a column is missing", file=file, found=f"no {', '.join(lacking)}", expected="id, label")
    label = table["label"]
    fits = (
        label.dtype == pl.Boolean
        if kind == "medhal"
        else label.dtype.is_integer() and bool(label.is_between(1, 4).all())
    )
    if not fits and label.null_count() < len(label):
        raise InputError(
            "a label outside the classes",
            file=file,
            found=str(label.dtype),
            expected="true or false" if kind == "medhal" else "1, 2, 3 or 4",
        )
    kept = table.select(
        pl.col("id").cast(pl.String),
        "label",
        pl.col("explanation") if "explanation" in table.columns else pl.lit(None).alias("explanation"),
        pl.col("outcome")
        if "outcome" in table.columns
        else pl.when(pl.col("label").is_null()).then(pl.lit("no_label")).otherwise(pl.lit("parsed")).alias("outcome"),
    )
    return kept.to_dicts()


def evaluate_predictions(
    kind: Kind, predictions: Path, dataset_dir: Path, split: Split = "test", seed: int = 42
) -> dict[str, Any]:
    """Compare a predictions file with a split (`medhal_metrics`, `medval_metrics`).

    Raises:
        InputError: either cannot be read, they do not belong together, or the split is empty.
    """
    rows = list(TextDataset.open(dataset_dir, kind).rows(split))
    if not rows:
        raise InputError(f"the {split} split is empty", file=dataset_dir, do="choose another split")
    metrics = medhal_metrics if kind == "medhal" else medval_metrics
    return metrics(rows, read_predictions(predictions, kind), seed)
