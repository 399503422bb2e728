"""Statements and quadrants as a classifier trains on them, and the loss of one statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl
import torch

from evaluation.datasets import MedievalDataset
from evaluation.predictions import label_codes
from ground.contracts.rows import QUADRANTS
from training.packing.collate import RunData
from training.packing.packed_rows import encode_admissions
from training.packing.plan import Item
from training.packing.tokens import Truncation, encode_statements

__all__ = ["QuadrantData", "QuadrantLoss", "class_weights", "predicted", "quadrant_data"]


@dataclass(frozen=True)
class QuadrantData:
    """The encoded rows of one split, ordered by id.

    Attributes:
        data: what a run reads; item i is row i, and its only statement is statement i.
        ids: the rows' ids.
        labels: 0 to 3 for Q1 to Q4. *Shape:* (n_rows,).
        truncation: what cutting the contexts cost.
    """

    data: RunData
    ids: list[str]
    labels: npt.NDArray[np.int64]
    truncation: Truncation

    def weighted(self, per_class: npt.NDArray[np.float64]) -> QuadrantData:
        """Give every row the weight of its class. *Shape:* ``per_class`` (4,)."""
        return replace(self, data=replace(self.data, weights=per_class[self.labels]))

    def counts(self) -> dict[str, int]:
        """Return how many rows each quadrant has."""
        return {quadrant: int((self.labels == at).sum()) for at, quadrant in enumerate(QUADRANTS)}


class QuadrantLoss:
    """Cross entropy of each statement; the weights of the classes are the items' weights (`RunData.weights`)."""

    logged: tuple[str, ...] = ("accuracy",)

    def __init__(self, labels: npt.NDArray[np.int64]) -> None:
        self.labels = torch.from_numpy(labels)

    def __call__(
        self, values: torch.Tensor, items: Sequence[int], places: torch.Tensor
    ) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """Return losses from logits; see `training.packing.trainer.Objective`. *Shape:* ``values`` (k, 4)."""
        logits, labels = values[places[:, 0]], self.labels[list(items)].to(values.device)
        losses = torch.nn.functional.cross_entropy(logits, labels, reduction="none")
        return losses, {"accuracy": (logits.argmax(-1) == labels).to(losses.dtype)}


def class_weights(labels: npt.NDArray[np.int64], kind: Literal["balanced", "none"]) -> npt.NDArray[np.float64]:
    """Return the weight of each quadrant: n / (4 n_q) where balanced, so that the mean weight of a row is 1.

    MediEval, appendix D: "weighted cross-entropy". A quadrant that the split lacks has the weight 0.

    *Shape:* (4,).
    """
    if kind == "none":
        return np.ones(len(QUADRANTS))
    counts = np.bincount(labels, minlength=len(QUADRANTS)).astype(np.float64)
    there = counts > 0
    return np.where(there, len(labels) / (there.sum() * np.maximum(counts, 1)), 0.0)


def quadrant_data(
    dataset: MedievalDataset, rows: pl.DataFrame, tokenizer: Any, *, max_length: int, chat: bool = False
) -> QuadrantData:
    """Encode rows of a dataset, all of weight 1.

    Contexts are cut to ``max_length`` less the longest statement of the whole dataset, whatever its split: the same for
    every row. ``chat`` and errors are those of `encode_contexts`.
    """
    longest = int(encode_statements(tokenizer, dataset.rows["statement"].to_list(), end=False).lengths.max())
    encoded, place, truncation = encode_admissions(dataset, rows, tokenizer, max_tokens=max_length - longest, chat=chat)
    items = [Item(name, place[hadm], (at,)) for at, (name, hadm) in enumerate(rows.select("id", "hadm_id").iter_rows())]
    statements = encode_statements(tokenizer, rows["statement"].to_list(), end=False)
    data = RunData.alike(encoded, statements, items, tokenizer.pad_token_id or 0)
    labels = label_codes(rows["quadrant"], "quadrants").to_numpy(writable=True)
    return QuadrantData(data, rows["id"].to_list(), labels, truncation)


def predicted(ids: Sequence[str], scores: torch.Tensor, model: str, seed: int) -> pl.DataFrame:
    """Return predictions: ``id``, ``label``, ``scores``, ``model``, ``seed``. *Shape:* ``scores`` (n, 4)."""
    labels = [QUADRANTS[at] for at in scores.argmax(-1).tolist()]
    frame = pl.DataFrame({"id": ids, "label": labels, "scores": scores.tolist()})
    kinds = {"id": pl.String, "label": pl.String, "scores": pl.List(pl.Float64)}
    return frame.cast(kinds).with_columns(model=pl.lit(model), seed=pl.lit(seed, pl.Int64))  # type: ignore[arg-type]
