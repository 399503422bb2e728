"""The attention that a packed row runs, and a split form of SDPA that spends nothing on what the mask forbids.

In a row of one context the context's own attention is plain causal attention, for which SDPA has a kernel without a
mask; only the statements' queries need one. A dense mask over the row would compute every context position against
every statement, to throw it away.
"""

from __future__ import annotations

import os
import shutil
import warnings
from typing import Any

import torch

from ground.errors import UsageError
from training.runs.models import device_of
from training.runs.settings import HardwareSettings

__all__ = ["SPLIT", "attention_of", "attention_of_texts", "compiles", "fastest", "joins_contexts", "register_split"]

SPLIT = "ontoground_split"
"""Name under which the split form is registered with transformers."""
FLASH = ("flash_attention_2", "flash_attention_3")


def split_sdpa(
    module: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, attention_mask: Any, **options: Any
) -> tuple[torch.Tensor, None]:
    """Attend causally within the context, and under the mask from the statements to the whole row.

    Args:
        module: the attention layer.
        query: *Shape:* (1, heads, n, size); ``key`` and ``value`` have the layer's key-value heads.
        key: see above.
        value: see above.
        attention_mask: for the last m queries. *Shape:* (1, 1, m, n). None means causal attention.
        options: scaling and dropout, as transformers passes them.

    Returns:
        *Shape:* (1, n, heads, size), and None for the weights.
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


def register_split() -> None:
    """Make the split form known to transformers; calling it again changes nothing."""
    from transformers import AttentionInterface
    from transformers.masking_utils import AttentionMaskInterface, sdpa_mask

    AttentionInterface.register(SPLIT, split_sdpa)
    AttentionMaskInterface.register(SPLIT, sdpa_mask)


def compiles() -> bool:
    """Say whether FlexAttention can be compiled for a GPU here: it needs Triton, and Triton a C compiler."""
    from torch.utils._triton import has_triton

    return bool(has_triton()) and any(map(shutil.which, (os.environ.get("CC", "cc"), "gcc", "clang")))


def fastest(device: str, *, compiled: bool) -> str:
    """Return the attention of packed rows that is fastest on a device, and warn where a compiler would make it faster.

    FlexAttention that is not compiled makes the whole matrix of scores.
    """
    if device == "cuda" and not compiled:
        warnings.warn(
            "FlexAttention cannot be compiled (no Triton, or no C compiler): packed rows take split attention",
            RuntimeWarning,
            stacklevel=3,
        )
    return "flex_attention" if device == "cuda" and compiled else SPLIT


def attention_of(hardware: HardwareSettings) -> str:
    """Return transformers' name of the attention of packed rows: `fastest`, unless it is set.

    Raises:
        UsageError: FlashAttention is set, which takes no mask.
    """
    if hardware.attention in FLASH:
        raise UsageError(
            "FlashAttention takes no mask, which packed rows need",
            found=f"hardware.attention = {hardware.attention}",
            do="set it to auto, or choose --engine plain or trl",
        )
    if hardware.attention == "auto":
        device = device_of(hardware)
        name = fastest(device, compiled=device == "cuda" and compiles())
    else:
        name = SPLIT if hardware.attention == "split" else hardware.attention
    if name == SPLIT:
        register_split()
    return name


def attention_of_texts(hardware: HardwareSettings) -> str:
    """Return transformers' name of the attention for rows of one text each: the other kinds are for packed rows."""
    return hardware.attention if hardware.attention in ("sdpa", "eager", *FLASH) else "sdpa"
