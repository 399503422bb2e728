"""The same classifier with several seeds; evaluation averages their predictions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evaluation.quadrants.dataset import MedievalDataset
from training.classifier.train import train_classifier
from training.runs.settings import ClassifierSettings

__all__ = ["SEEDS", "train_seeds"]

SEEDS = (42, 43, 44)
"""MediEval, section 4: three seeds."""


def train_seeds(
    dataset: MedievalDataset,
    model: str | Path,
    out: Path,
    settings: ClassifierSettings,
    seeds: Sequence[int] = SEEDS,
    **options: Any,
) -> dict[int, dict[str, Any]]:
    """Train one run for each seed, into ``out/seed-42``, ...; ``options`` are those of `train_classifier`.

    With ``resume`` seeds that are whole are passed over. Returns the runs' records by seed.
    """
    return {
        seed: train_classifier(
            dataset, model, out / f"seed-{seed}", settings.model_copy(update={"seed": seed}), **options
        )
        for seed in dict.fromkeys(seeds)
    }
