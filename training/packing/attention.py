"""The attention that a packed row runs, and who sees whom in it.

A statement sees its context and itself, never another statement. Each implementation of transformers takes that in a
form of its own; one is made here, a split form of SDPA that spends nothing on what the mask forbids.

In a row of one context the context's own attention is plain causal attention, for which SDPA has a kernel without a
mask; only the statements' queries need one. A dense mask over the row would compute every context position against
every statement, to throw it away.
"""

from __future__ import annotations

import os
import shutil
import sysconfig
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from ground.errors import UsageError
from training.packing.collate import PackedRow
from training.runs.models import FLASH, device_of
from training.runs.settings import HardwareSettings

__all__ = [
    "SPLIT",
    "attention_mask",
    "attention_of",
    "compiles",
    "joins_contexts",
    "register_split",
    "row_multiple",
    "visible",
]

SPLIT = "ontoground_split"
"""Name under which the split form is registered with transformers."""
FLEX_BLOCK = 128
"""Rows are padded to whole blocks of FlexAttention, so that few distinct lengths are compiled."""

VARIANTS = 64
"""Most compiled forms of FlexAttention in a process: one for rows with gradients, one without, one for a row of one
block, another for autocast. Behind its own limit of 8 torch would make the whole matrix of scores."""


def split_sdpa(
    module: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, attention_mask: Any, **options: Any
) -> tuple[torch.Tensor, None]:
    """Attend causally within the context, and under the mask from the statements to the whole row.

    As transformers calls it. *Shapes:* ``query`` (1, heads, n, size), ``key`` and ``value`` with the layer's key-value
    heads; ``attention_mask`` (1, 1, m, n) for the last m queries, None for causal attention; the result
    (1, n, heads, size), with None for the weights.
    """
    from transformers.integrations.sdpa_attention import sdpa_attention_forward as sdpa

    context = 0 if attention_mask is None else query.shape[2] - attention_mask.shape[-2]
    if context == 0:
        whole: tuple[torch.Tensor, None] = sdpa(module, query, key, value, attention_mask, **options)
        return whole
    first, _ = sdpa(module, query[:, :, :context], key[:, :, :context], value[:, :, :context], None, **options)
    rest, _ = sdpa(module, query[:, :, context:], key, value, attention_mask, **options)
    return torch.cat([first, rest], dim=1), None


def joins_contexts(implementation: str | None) -> bool:
    """Say whether a row may hold several contexts: it costs nothing where attention skips what the mask hides."""
    return implementation == "flex_attention"


def row_multiple(implementation: str | None) -> int:
    """Return what the tokens of a packed row are a multiple of."""
    return FLEX_BLOCK if implementation == "flex_attention" else 1


def register_split() -> None:
    """Make the split form known to transformers; calling it again changes nothing."""
    from transformers import AttentionInterface
    from transformers.masking_utils import AttentionMaskInterface, sdpa_mask

    AttentionInterface.register(SPLIT, split_sdpa)
    AttentionMaskInterface.register(SPLIT, sdpa_mask)


def compiles() -> bool:
    """Say whether FlexAttention can be compiled for a GPU here: Triton, which also needs a C compiler and Python.h."""
    from torch.utils._triton import has_triton

    compiler = any(map(shutil.which, (os.environ.get("CC", "cc"), "gcc", "clang")))
    return bool(has_triton()) and compiler and Path(sysconfig.get_path("include"), "Python.h").is_file()


def attention_of(hardware: HardwareSettings) -> str:
    """Return transformers' name of the attention of packed rows: the device's fastest unless it is set, never Flash's.

    FlexAttention that is not compiled makes the whole matrix of scores: where it cannot be, a warning says so.
    """
    if hardware.attention in FLASH:
        raise UsageError(
            "FlashAttention takes no mask, which packed rows need",
            found=f"hardware.attention = {hardware.attention}",
            do="set it to auto, or choose --engine plain or trl",
        )
    name = SPLIT if hardware.attention == "split" else hardware.attention
    if name == "auto":
        on_gpu = device_of(hardware) == "cuda"
        name = "flex_attention" if on_gpu and compiles() else SPLIT
        if on_gpu and name == SPLIT:
            lacking = "FlexAttention cannot be compiled (no Triton, C compiler or Python.h)"
            warnings.warn(f"{lacking}: packed rows take split attention", RuntimeWarning, stacklevel=2)
    if name == SPLIT:
        register_split()
    if name == "flex_attention":
        torch._dynamo.config.recompile_limit = max(torch._dynamo.config.recompile_limit, VARIANTS)
    return name


def visible(row: PackedRow, first: int = 0, last: int | None = None) -> torch.Tensor:
    """Return the mask of a row's queries from ``first`` up to ``last``, true where the key is seen.

    *Shape:* (last - first, n).
    """
    order = torch.arange(row.context_of.shape[0], device=row.context_of.device)
    return _rule(row)(None, None, order[first:last, None], order[None])


def _rule(row: PackedRow) -> Callable[[Any, Any, torch.Tensor, torch.Tensor], torch.Tensor]:
    """Return whether a query sees a key, by their places in the row, as FlexAttention asks for each pair of them."""
    context_of, segment_of = row.context_of, row.segment_of

    def rule(_batch: Any, _head: Any, query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
        same = context_of[query] == context_of[key]
        in_sight = (segment_of[key] == 0) | (segment_of[query] == segment_of[key])
        # Padding sees itself, since a query that sees nothing gives NaN.
        real = (context_of[key] >= 0) | (query == key)
        return same & in_sight & real & (key <= query)

    return rule


def _blocks(row: PackedRow) -> tuple[torch.Tensor, torch.Tensor]:
    """Say which blocks a row's mask shows in part, and which whole. *Shapes:* (n / 128, n / 128) each.

    The mask is made for one block of queries at a time: as a whole it would be larger than all else that is made here.
    """
    n = row.context_of.shape[0]
    some, whole = [], []
    for first in range(0, n, FLEX_BLOCK):
        attended = visible(row, first, first + FLEX_BLOCK).view(FLEX_BLOCK, -1, FLEX_BLOCK)
        some.append(attended.any(2).any(0))
        whole.append(attended.all(2).all(0))
    return torch.stack(some) & ~torch.stack(whole), torch.stack(whole)


def _listed(blocks: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return for each block of queries how many blocks it sees, and which, those first, as `BlockMask` takes them."""
    order = blocks.int().argsort(dim=1, descending=True, stable=True)
    return blocks.sum(1).int()[None, None], order.int()[None, None]


def _flex(row: PackedRow) -> Any:
    from torch.nn.attention.flex_attention import BlockMask

    partly, wholly = _blocks(row)
    return BlockMask.from_kv_blocks(*_listed(partly), *_listed(wholly), BLOCK_SIZE=FLEX_BLOCK, mask_mod=_rule(row))


def attention_mask(row: PackedRow, implementation: str, dtype: torch.dtype) -> Any:
    """Return a row's mask in the form that an attention implementation of transformers takes.

    ``sdpa`` takes booleans, split SDPA those of the statements' queries in a row of one context, ``eager`` what is
    added (of this ``dtype``), and ``flex_attention`` a BlockMask.
    """
    if implementation == "flex_attention":
        return _flex(row)
    if implementation == SPLIT:
        if len(row.contexts) > 1:
            raise UsageError("split attention takes one context a row", do="plan rows with join_contexts=False")
        return visible(row, row.contexts[0])[None, None]
    mask = visible(row)[None, None]
    if implementation == "eager":
        return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill(~mask, torch.finfo(dtype).min)
    return mask
