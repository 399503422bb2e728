"""A predictions file against its dataset, in one call: detectors (MedHal) and validators (MedVAL)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evaluation.text.dataset import Kind, Split, TextDataset
from evaluation.text.predictions import read_answers
from evaluation.text.reference import read_reference
from training.sft.metrics import metrics_of_table

__all__ = ["evaluate_predictions"]


def evaluate_predictions(
    kind: Kind, predictions: Path, dataset_dir: Path, split: Split = "test", seed: int = 42
) -> dict[str, Any]:
    """Compare a predictions file of one run with a split (`evaluation.text.numbers.run_numbers`).

    Raises:
        InputError: either cannot be read, they do not belong together, or the split is empty.
    """
    reference = read_reference(TextDataset.open(dataset_dir, kind), split)
    return metrics_of_table(reference, read_answers(predictions, kind), seed)
