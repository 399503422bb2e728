"""The four-way ``score`` head of a decoder: trained in float32, with its backbone or alone."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from ground.errors import UsageError
from training.runs.models import HEAD, backbone_of, base_of

__all__ = ["freeze", "keep_head_wide", "ready_to_train"]


def ready_to_train(model: Any, *, freeze_backbone: bool = False) -> Any:
    """Return a classifier whose head is trained in float32, and alone where its backbone is frozen.

    A frozen backbone has no dropout: its states are those of the model that was given. A model without a ``score`` head
    is refused.
    """
    if not hasattr(base_of(model), HEAD):
        raise UsageError(
            "the model's classification head is not the one that is trained here",
            found=f"model_type {base_of(model).config.model_type}",
            expected="a decoder whose head is called score (Llama, Qwen3, Mistral, ...)",
        )
    if freeze_backbone:
        freeze(model)
    keep_head_wide(model)
    return model


def freeze(model: Any) -> None:
    """Let the head alone be trained, and switch the backbone's dropout off."""
    for name, parameter in model.named_parameters():
        head = name.startswith(f"{HEAD}.") or f".{HEAD}." in name
        parameter.requires_grad_(head and "original_module" not in name)
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0


def keep_head_wide(model: Any) -> None:
    """Keep a half-precision model's head in float32, as PEFT does for adapters.

    A step of 2e-5 on a weight of 0.02 is below bfloat16's resolution (2^-9 of the weight) and would be lost.
    """
    head = getattr(base_of(model), HEAD)
    if backbone_of(model).dtype not in (torch.bfloat16, torch.float16):
        return
    head.float()
    head.register_forward_pre_hook(lambda _module, inputs: (inputs[0].float(),))
