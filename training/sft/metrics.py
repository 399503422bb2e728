"""How good one run of a detector (MedHal) or validator (MedVAL) is, from rows and predictions in memory.

The numbers are those of the reports (`evaluation.text`): unreadable answers count as wrong and never as a
class; intervals draw patients where rows have a ``subject_id``, else pairs or triples of rows made from one another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from evaluation.text.counts import RESAMPLES
from evaluation.text.dataset import Kind
from evaluation.text.numbers import counted_of, run_numbers
from evaluation.text.predictions import join_answers, label_codes
from evaluation.text.reference import Reference, reference_of

__all__ = ["medhal_metrics", "medval_metrics", "metrics_of_table"]

Row = Mapping[str, Any]
ONE = "run"


def medhal_metrics(rows: Sequence[Row], predictions: Iterable[Row], seed: int = 42) -> dict[str, Any]:
    """Compare a MedHal split with its predictions.

    Args:
        rows: ``id``, ``label``, ``explanation``, ``task``, and ``subject_id`` or ``pair_id``.
        predictions: ``id``, ``label`` (None: unreadable), ``explanation``, ``outcome``.
        seed: of the bootstrap.

    Returns:
        As `evaluation.text.numbers.run_numbers`.

    Raises:
        InputError: predictions of unknown rows, or two for one row.
    """
    return _metrics("medhal", rows, predictions, seed)


def medval_metrics(rows: Sequence[Row], predictions: Iterable[Row], seed: int = 42) -> dict[str, Any]:
    """Compare a MedVAL split with its predictions.

    Args:
        rows: ``id``, ``risk_level``, ``task``, and ``subject_id`` or ``triple_id``.
        predictions: ``id``, ``label`` (risk level, None: unreadable), ``outcome``.
        seed: of the bootstrap.

    Returns:
        As `evaluation.text.numbers.run_numbers`.

    Raises:
        InputError: predictions of unknown rows, or two for one row.
    """
    return _metrics("medval", rows, predictions, seed)


def _metrics(kind: Kind, rows: Sequence[Row], predictions: Iterable[Row], seed: int) -> dict[str, Any]:
    reference, found = reference_of(rows, kind), list(predictions)
    labels = pl.Series([row["label"] for row in found], dtype=pl.Boolean if kind == "medhal" else pl.Int64)
    table = pl.DataFrame(
        {
            "id": pl.Series([row["id"] for row in found], dtype=pl.String),
            "code": label_codes(labels, reference.classes, "predictions"),
            "explanation": pl.Series([row.get("explanation") for row in found], dtype=pl.String),
            "outcome": pl.Series([row["outcome"] for row in found], dtype=pl.String),
            "model": pl.Series([ONE] * len(found), dtype=pl.String),
            "seed": pl.Series([None] * len(found), dtype=pl.Int64),
        }
    )
    return metrics_of_table(reference, table, seed)


def metrics_of_table(reference: Reference, table: pl.DataFrame, seed: int = 42) -> dict[str, Any]:
    """Return the numbers of one run's predictions; rows without one count as wrong (outcome ``missing``).

    Args:
        reference: the rows.
        table: as `evaluation.text.predictions.read_answers` returns it; its model and seed are not looked at.
        seed: of the bootstrap.

    Raises:
        InputError: predictions of unknown rows, or two for one row.
    """
    one = table.with_columns(model=pl.lit(ONE), seed=pl.lit(None, pl.Int64))
    (run,) = join_answers(reference, one, missing="wrong")
    counted = counted_of(reference, [run], RESAMPLES, seed)
    return run_numbers(reference, run, counted, 0, resamples=RESAMPLES, seed=seed)
