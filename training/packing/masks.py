"""Who sees whom in a packed row: a statement sees its context and itself, never another statement."""

from __future__ import annotations

from typing import Any

import torch

from ground.errors import UsageError
from training.packing.attention import SPLIT
from training.packing.collate import PackedRow

__all__ = ["FLEX_BLOCK", "attention_mask", "visible"]

FLEX_BLOCK = 128
"""Rows are padded to whole blocks of FlexAttention, so that few distinct lengths are compiled."""


def visible(row: PackedRow, first: int = 0, last: int | None = None) -> torch.Tensor:
    """Return the mask of a row's queries from ``first`` up to ``last``, true where the key is seen.

    *Shape:* (last - first, n).
    """
    context, segment = row.context_of, row.segment_of
    order = torch.arange(context.shape[0], device=context.device)
    asks = order[first:last, None]
    in_sight = (segment[None, :] == 0) | (segment[first:last, None] == segment[None, :])
    # Padding sees itself, since a query that sees nothing gives NaN.
    seen = (context[first:last, None] == context[None, :]) & in_sight & ((context[None, :] >= 0) | (order == asks))
    return seen & (order <= asks)


def _blocks(row: PackedRow) -> tuple[torch.Tensor, torch.Tensor]:
    """Say which blocks a row's mask shows in part, and which whole. *Shapes:* (n / 128, n / 128) each.

    The mask is made for one block of queries at a time: as a whole it would be larger than all else that is made here.
    """
    n = row.context_of.shape[0]
    some, whole = [], []
    for first in range(0, n, FLEX_BLOCK):
        seen = visible(row, first, first + FLEX_BLOCK).view(FLEX_BLOCK, -1, FLEX_BLOCK)
        some.append(seen.any(2).any(0))
        whole.append(seen.all(2).all(0))
    return torch.stack(some) & ~torch.stack(whole), torch.stack(whole)


def _listed(blocks: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return for each block of queries how many blocks it sees, and which, those first, as `BlockMask` takes them."""
    order = blocks.int().argsort(dim=1, descending=True, stable=True)
    return blocks.sum(1).int()[None, None], order.int()[None, None]


def _flex(row: PackedRow) -> Any:
    from torch.nn.attention.flex_attention import BlockMask

    context_of, segment_of = row.context_of, row.segment_of

    def rule(_batch: Any, _head: Any, query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
        same = context_of[query] == context_of[key]
        in_sight = (segment_of[key] == 0) | (segment_of[query] == segment_of[key])
        real = (context_of[key] >= 0) | (query == key)
        return same & in_sight & real & (key <= query)

    partly, wholly = _blocks(row)
    return BlockMask.from_kv_blocks(*_listed(partly), *_listed(wholly), BLOCK_SIZE=FLEX_BLOCK, mask_mod=rule)


def attention_mask(row: PackedRow, implementation: str, dtype: torch.dtype) -> Any:
    """Return the mask in the form that an attention implementation of transformers takes.

    Args:
        row: the packed row, on the model's device.
        implementation: ``sdpa`` (boolean), split SDPA (boolean, statements' queries only), ``eager`` (additive) or
            ``flex_attention`` (a BlockMask).
        dtype: of the additive mask.

    Raises:
        UsageError: split SDPA was given a row of several contexts.
    """
    if implementation == "flex_attention":
        return _flex(row)
    if implementation == SPLIT:
        if len(row.contexts) > 1:
            raise UsageError("split attention takes one context a row", do="plan rows with join_contexts=False")
        return visible(row, row.contexts[0])[None, None]
    seen = visible(row)[None, None]
    if implementation == "eager":
        return torch.zeros(seen.shape, dtype=dtype, device=seen.device).masked_fill(~seen, torch.finfo(dtype).min)
    return seen
