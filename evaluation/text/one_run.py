"""How good one run of a detector (MedHal) or validator (MedVAL) is: the numbers of the reports, without a report.

Unreadable answers, and rows without one (outcome ``missing``), count as wrong and never as a class.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from evaluation.intervals import RESAMPLES
from evaluation.predictions import join_predictions, read_predictions
from evaluation.text.dataset import Kind, Split, TextDataset
from evaluation.text.numbers import counted_of, run_numbers
from evaluation.text.reference import Reference, read_reference, reference_of

__all__ = ["evaluate_predictions", "medhal_metrics", "medval_metrics"]

Row = Mapping[str, Any]


def medhal_metrics(rows: Sequence[Row], predictions: Iterable[Row], seed: int = 42) -> dict[str, Any]:
    """Compare rows of MedHal with their predictions, both in memory (`evaluation.text.numbers.run_numbers`).

    Args:
        rows: ``id``, ``label``, ``explanation``, ``task``, and ``subject_id`` or ``pair_id``.
        predictions: ``id``, ``label`` (None: unreadable), ``explanation``, ``outcome``.
        seed: of the bootstrap.

    Raises:
        InputError: predictions of unknown rows, or two for one row.
    """
    return _metrics("medhal", rows, predictions, seed)


def medval_metrics(rows: Sequence[Row], predictions: Iterable[Row], seed: int = 42) -> dict[str, Any]:
    """Do the same for MedVAL: rows have ``risk_level`` and ``triple_id``, and predictions a level as ``label``."""
    return _metrics("medval", rows, predictions, seed)


def _metrics(kind: Kind, rows: Sequence[Row], predictions: Iterable[Row], seed: int) -> dict[str, Any]:
    types = {"id": pl.String, "label": pl.Boolean if kind == "medhal" else pl.Int64}
    types |= {"explanation": pl.String, "outcome": pl.String}
    table = pl.DataFrame([{name: one.get(name) for name in types} for one in predictions], schema=types)
    return _of_table(reference_of(rows, kind), table, seed)


def evaluate_predictions(
    kind: Kind, predictions: Path, dataset_dir: Path, split: Split = "test", seed: int = 42
) -> dict[str, Any]:
    """Compare a predictions file of one run with a split (`evaluation.text.numbers.run_numbers`).

    Raises:
        InputError: either cannot be read, they do not belong together, or the split is empty.
    """
    reference = read_reference(TextDataset.open(dataset_dir, kind), split)
    return _of_table(reference, read_predictions(predictions, kind), seed)


def _of_table(reference: Reference, table: pl.DataFrame, seed: int) -> dict[str, Any]:
    one = table.with_columns(model=pl.lit("run"), seed=pl.lit(None, pl.Int64))
    (run,) = join_predictions(reference.frame, one, reference.kind, missing="wrong")
    counted = counted_of(reference, [run], RESAMPLES, seed)
    return run_numbers(reference, run, counted, 0, resamples=RESAMPLES, seed=seed)
