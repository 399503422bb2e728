"""A dataset in packed rows: its contexts, a run's optimizer steps, the largest row, and items that are only read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import polars as pl
import torch

from evaluation.datasets import MedievalDataset
from ground.errors import InputError
from training.packing.attention import joins_contexts, row_multiple
from training.packing.collate import PackedRow, RunData, collate_row
from training.packing.plan import RowPlan, Step, plan_epochs, plan_rows
from training.packing.tokens import EncodedTexts, Truncation, encode_contexts
from training.runs.models import evaluating, implementation_of
from training.runs.settings import ClassifierSettings, CorfuSettings

__all__ = ["encode_admissions", "item_values", "largest_row", "plan_steps", "row_values"]

Advance = Callable[[int], None]


def encode_admissions(
    dataset: MedievalDataset, rows: pl.DataFrame, tokenizer: Any, *, max_tokens: int, chat: bool
) -> tuple[EncodedTexts, dict[int, int], Truncation]:
    """Encode the contexts of the admissions of rows, as `encode_contexts`.

    Returns:
        The contexts, the index of each admission's, and what cutting them cost.
    """
    hadms = rows.select("hadm_id").unique()
    contexts = dataset.contexts.join(hadms, on="hadm_id", how="semi").sort("hadm_id")
    if contexts.height < hadms.height:
        raise InputError("the admission of a row has no context", file=dataset.folder / "data")
    encoded, truncation = encode_contexts(tokenizer, contexts["context"].to_list(), max_tokens=max_tokens, chat=chat)
    return encoded, {hadm: at for at, hadm in enumerate(contexts["hadm_id"])}, truncation


def plan_steps(data: RunData, settings: ClassifierSettings | CorfuSettings, attention: str | None) -> list[Step]:
    """Plan every optimizer step of a run, by transformers' name of its attention: some join contexts in a row."""
    return plan_epochs(
        data.items,
        data.contexts.lengths,
        data.statements.lengths,
        batch_size=settings.batch_size,
        max_per_context=settings.packing.max_per_context,
        tokens_per_row=settings.packing.tokens_per_row,
        epochs=settings.epochs,
        seed=settings.seed,
        join_contexts=joins_contexts(attention),
    )


def largest_row(data: RunData, steps: Sequence[Step], attention: str | None) -> PackedRow:
    """Return the row of a plan that has most tokens, padding included, and of such most in its statements."""
    multiple = row_multiple(attention)

    def tokens(row: RowPlan) -> tuple[int, int]:
        used = [{s for index in block.items for s in data.items[index].statements} for block in row.blocks]
        statements = sum(int(data.statements.lengths[s]) for block in used for s in block)
        whole = statements + sum(int(data.contexts.lengths[block.context]) for block in row.blocks)
        return -(-whole // multiple), statements

    largest = max((row for step in steps for row in step.rows), key=tokens)
    return collate_row(largest, data, multiple=multiple)[0]


def item_values(
    module: Any, data: RunData, tokens_per_row: int, *, autocast: bool = False, advance: Advance = lambda _: None
) -> torch.Tensor:
    """Return `row_values` of all items; those of a context stand in as few rows as ``tokens_per_row`` allows."""
    join = joins_contexts(implementation_of(module.model))
    lengths = data.contexts.lengths, data.statements.lengths
    rows = plan_rows(range(len(data.items)), data.items, *lengths, tokens_per_row, join_contexts=join)
    return row_values(module, data, rows, autocast=autocast, advance=advance)


@torch.no_grad()
def row_values(
    module: Any,
    data: RunData,
    rows: Sequence[RowPlan],
    *,
    autocast: bool = False,
    advance: Advance = lambda _: None,
) -> torch.Tensor:
    """Return what a model gives for the statements of each item of planned rows, without dropout.

    Processes that train together have a share of the rows each, and all get all values.

    Args:
        module: as of `training.packing.trainer.train_packed`.
        data: items and their texts.
        rows: items that are in none of them are left out.
        autocast: bfloat16 arithmetic on float32 weights.
        advance: is told the items that are done.

    Returns:
        Values in the order of ``data.items``. *Shape:* (n_items, statements of an item, ...), float64 on the CPU.
    """
    group = torch.distributed if torch.distributed.is_available() and torch.distributed.is_initialized() else None
    values_of: dict[int, torch.Tensor] = {}
    with evaluating(module):
        for plan in rows if group is None else rows[group.get_rank() :: group.get_world_size()]:
            row, order, places = module.tensors(plan, data)
            with torch.autocast(places.device.type, torch.bfloat16, enabled=autocast):
                values = module(row)
            values_of |= {index: values[place].double().cpu() for index, place in zip(order, places, strict=True)}
            advance(len(order))
    if group is not None:
        shares: list[dict[int, torch.Tensor]] = [{}] * group.get_world_size()
        group.all_gather_object(shares, values_of)
        advance(sum(map(len, shares)) - len(values_of))
        values_of = {index: values for share in shares for index, values in share.items()}
    return torch.stack([values_of[index] for index in sorted(values_of)])
