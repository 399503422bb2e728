"""Which decoders may share contexts: those that obey a custom mask and custom positions, tried and not assumed."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from ground.errors import UsageError
from training.packing.attention import attention_mask, row_multiple
from training.packing.collate import packed_row
from training.runs.models import backbone_of, base_of, evaluating, implementation_of

__all__ = ["check_decoder", "check_sharing"]

PROBE = (9, (5, 7, 4))
"""Tokens of the probe's context, and of its statements."""
TOLERANCE = {torch.float64: 1e-9, torch.float32: 1e-4, torch.bfloat16: 0.01, torch.float16: 0.002}
"""Relative difference of hidden states between packed and separate rows that needs no explanation, by precision."""
PLAIN_ENGINE = "choose --engine plain (one statement a row)"
NOISE = 3.0
"""How many times the noise of separate rows among themselves a larger difference may be."""


def _refuse(why: str, config: Any, do: str = PLAIN_ENGINE) -> UsageError:
    return UsageError(
        f"contexts cannot be shared by this model: {why}",
        found=f"model_type {config.model_type}",
        expected="a decoder with full causal attention that obeys a mask and positions (Llama, Qwen3, Mistral, ...)",
        do=do,
    )


def check_decoder(config: Any) -> None:
    """Refuse what a configuration shows to be impossible: encoder-decoders, sliding-window or linear attention."""
    if config.is_encoder_decoder:
        raise _refuse("it is an encoder-decoder", config)
    kinds = set(getattr(config, "layer_types", None) or ["full_attention"])
    if kinds != {"full_attention"}:
        raise _refuse(f"layers of kind {', '.join(sorted(kinds - {'full_attention'}))}", config)
    if getattr(config, "sliding_window", None) and getattr(config, "use_sliding_window", True):
        raise _refuse(
            f"sliding-window attention of {config.sliding_window} tokens, which counts row positions",
            config,
            f"{PLAIN_ENGINE}, or set sliding_window to null in config.json if the model was trained without",
        )


@contextmanager
def _separate(model: Any) -> Iterator[None]:
    """Have rows read by SDPA inside where FlexAttention reads packed ones: it would be compiled for every length."""
    own = implementation_of(model)
    base_of(model).set_attn_implementation("sdpa" if own == "flex_attention" else own)
    try:
        yield
    finally:
        base_of(model).set_attn_implementation(own)


@torch.no_grad()
def check_sharing(model: Any) -> float:
    """Run one short packed row and the same statements apart, and compare the states of the last layer.

    Some decoders take a mask or positions and ignore them (learned or relative positions of their own, recurrent
    layers): only a run can tell.

    A difference beyond `TOLERANCE` is measured against what separate rows differ by among themselves, read once
    as they are and once padded, with other kernels: where that noise explains it, a warning says so.

    Returns:
        The relative difference. A model whose states differ by more than rounding and noise is refused.
    """
    backbone, config = backbone_of(model), base_of(model).config
    if not {"attention_mask", "position_ids"} <= set(inspect.signature(backbone.forward).parameters):
        raise _refuse("it takes no attention mask or no positions", config)
    device, dtype = next(backbone.parameters()).device, backbone.dtype
    generator = torch.Generator().manual_seed(0)
    context, *statements = (
        torch.randint(0, config.vocab_size, (n,), generator=generator).numpy() for n in (PROBE[0], *PROBE[1])
    )
    implementation = implementation_of(model)
    row = packed_row([(context, statements)], multiple=row_multiple(implementation))

    def states(ids: torch.Tensor, **more: Any) -> torch.Tensor:
        hidden: torch.Tensor = backbone(input_ids=ids, use_cache=False, **more).last_hidden_state
        return hidden[0]

    def alone(part: Any, pads: int) -> torch.Tensor:
        """Read a statement through the model's own causal mask and positions, as it is or padded, as batches are."""
        n = len(context) + len(part)
        ids = torch.as_tensor([*context, *part, *[0] * pads], device=device)[None]
        return states(ids, attention_mask=(torch.arange(n + pads, device=device) < n).long()[None])[len(context) : n]

    with evaluating(backbone):
        row = row.to(device)
        mask = attention_mask(row, implementation, dtype)
        hidden = states(row.input_ids, position_ids=row.position_ids, attention_mask=mask)
        together = torch.cat([hidden[row.segment_of == number + 1] for number in range(len(statements))]).double()
        whole = len(context) + sum(map(len, statements))
        head = base_of(model).get_output_embeddings()
        ids = torch.as_tensor(context)[None].to(device)
        with _separate(model):
            apart, padded = (torch.cat([alone(part, pads) for part in statements]).double() for pads in (0, whole))
            if head is not None:
                own = base_of(model)(input_ids=ids, use_cache=False).logits[0].double()
                taken = head(states(ids)).double()
    difference, noise = (float((read - apart).norm() / apart.norm()) for read in (together, padded))
    if not difference <= max(TOLERANCE[dtype], NOISE * noise):
        raise _refuse(
            f"packed and separate rows differ by {difference:.1e}, separate ones among themselves by {noise:.1e}: not "
            "causal, or mask or positions ignored",
            config,
        )
    if difference > TOLERANCE[dtype]:
        warnings.warn(
            f"packed and separate rows differ by {difference:.1e}: the noise of {dtype} explains it, since separate "
            f"rows differ by {noise:.1e} among themselves",
            RuntimeWarning,
            stacklevel=2,
        )
    if head is not None and not float((own - taken).norm() / own.norm()) <= max(TOLERANCE[dtype], NOISE * noise):
        raise _refuse(
            "its logits are scaled or capped behind its head (Cohere, Granite)", config, "choose --engine trl"
        )
    return difference
