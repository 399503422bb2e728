"""The names by which rows are chosen: columns of splits, folds that are each tested once, versions of MedHal."""

from __future__ import annotations

from typing import Literal

__all__ = ["FOLDS", "SPLITS_IN_WORDS", "SPLIT_COLUMN", "Split", "Version"]

Split = Literal["train", "validation", "test"]
Version = Literal["full", "length_filtered", "balanced"]
"""A version of MedHal (its section 3.8): all rows, those that are not too long, and of these as many of each task."""

FOLDS = "folds"
"""In place of a column of splits: every row, each tested by a model that was not trained on its fold."""
SPLIT_COLUMN = r"^(split|fact_split|folds|fold_\d+)$"
"""How a run's rows are split: by a column of the dataset, or by the fold that is tested."""
SPLITS_IN_WORDS = "by patient (split), also by fact (fact_split), or fold_N, which tests fold N and trains on others"
