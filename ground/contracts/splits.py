"""The names by which rows are split: columns of a dataset, and the folds that are each tested once."""

from __future__ import annotations

from typing import Literal

__all__ = ["FOLDS", "SPLITS_IN_WORDS", "SPLIT_COLUMN", "Split"]

Split = Literal["train", "validation", "test"]

FOLDS = "folds"
"""In place of a column of splits: every row, each tested by a model that was not trained on its fold."""
SPLIT_COLUMN = r"^(split|fact_split|folds|fold_\d+)$"
"""How a run's rows are split: by a column of the dataset, or by the fold that is tested."""
SPLITS_IN_WORDS = "by patient (split), also by fact (fact_split), or fold_N, which tests fold N and trains on others"
