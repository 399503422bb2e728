"""A dataset in packed rows: its contexts, a run's optimizer steps, the largest row, and items that are only read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import polars as pl
import torch
from torch import nn

from evaluation.datasets import MedievalDataset
from ground.errors import InputError
from training.packing.attention import attention_of, joins_contexts
from training.packing.collate import PackedRow, collate_row
from training.packing.decoders import implementation_of
from training.packing.plan import RowPlan, Step, plan_epochs, plan_rows
from training.packing.tokens import EncodedTexts, Truncation, encode_contexts
from training.packing.trainer import RunData, evaluate_rows
from training.runs.settings import ClassifierSettings, CorfuSettings

__all__ = ["encode_admissions", "largest_row", "plan_steps", "read_items"]


def encode_admissions(
    dataset: MedievalDataset, rows: pl.DataFrame, tokenizer: Any, *, max_tokens: int, chat: bool
) -> tuple[EncodedTexts, dict[int, int], Truncation]:
    """Encode the contexts of the admissions of rows; see `encode_contexts`.

    Returns:
        The contexts, the index of each admission's, and what cutting them cost.

    Raises:
        InputError: an admission has no context.
    """
    hadms = rows.select("hadm_id").unique()
    contexts = dataset.contexts.join(hadms, on="hadm_id", how="semi").sort("hadm_id")
    if contexts.height < hadms.height:
        raise InputError("a row's admission has no context", file=dataset.folder / "data")
    encoded, truncation = encode_contexts(tokenizer, contexts["context"].to_list(), max_tokens=max_tokens, chat=chat)
    return encoded, {hadm: at for at, hadm in enumerate(contexts["hadm_id"])}, truncation


def plan_steps(data: RunData, settings: ClassifierSettings | CorfuSettings) -> list[Step]:
    """Plan every optimizer step of a run."""
    return plan_epochs(
        data.items,
        data.contexts.lengths,
        data.statements.lengths,
        batch_size=settings.batch_size,
        max_per_context=settings.packing.max_per_context,
        tokens_per_row=settings.packing.tokens_per_row,
        epochs=settings.epochs,
        seed=settings.seed,
        join_contexts=joins_contexts(attention_of(settings.hardware)),
    )


def largest_row(data: RunData, steps: Sequence[Step]) -> PackedRow:
    """Return the row of a plan that has most tokens."""

    def tokens(row: RowPlan) -> int:
        contexts = sum(int(data.contexts.lengths[block.context]) for block in row.blocks)
        used = [{s for index in block.items for s in data.items[index].statements} for block in row.blocks]
        return contexts + sum(int(data.statements.lengths[s]) for statements in used for s in statements)

    largest = max((row for step in steps for row in step.rows), key=tokens)
    return collate_row(largest, data.items, data.contexts, data.statements)[0]


def read_items(
    module: nn.Module,
    data: RunData,
    tokens_per_row: int,
    *,
    rows: Sequence[RowPlan] | None = None,
    autocast: bool = False,
    advance: Callable[[int], None] | None = None,
) -> torch.Tensor:
    """Return what a `SharedPolicy` or `SharedClassifier` gives for the statements of each item, without dropout.

    *Shape:* (n_items, statements of an item, ...), float64 on the CPU.

    Args:
        module: the model.
        data: items and their texts.
        tokens_per_row: all items of a context stand in as few rows as this budget allows.
        rows: planned ones instead; items that are in none of them are left out.
        autocast: bfloat16 arithmetic on float32 weights.
        advance: is told the items that are done.
    """
    if rows is None:
        join = joins_contexts(implementation_of(module.model))
        lengths = data.contexts.lengths, data.statements.lengths
        rows = plan_rows(range(len(data.items)), data.items, *lengths, tokens_per_row, join_contexts=join)
    device = next(module.parameters()).device.type
    with torch.autocast(device, torch.bfloat16, enabled=autocast):
        return torch.stack(evaluate_rows(module, data, rows, advance))
