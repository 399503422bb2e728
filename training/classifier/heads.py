"""Decoders with a four-way ``score`` head: a new adapter, an adapter that goes on, or CoRFu's under a new head."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import torch
from torch import nn

from ground.errors import UsageError
from training.packing.decoders import backbone_of, base_of
from training.runs.models import ADAPTER, load_model
from training.runs.settings import HardwareSettings, LoraSettings

__all__ = ["HEAD", "load_classifier", "train_in_float32"]

HEAD = "score"


def _task_of(folder: str | Path) -> str | None:
    """Return the task of an adapter folder (``CAUSAL_LM``, ``SEQ_CLS``), None for anything else."""
    if not (Path(folder) / ADAPTER).is_file():
        return None
    from peft import PeftConfig

    return str(PeftConfig.from_pretrained(str(folder)).task_type).removeprefix("TaskType.")


def load_classifier(
    model: str | Path,
    hardware: HardwareSettings,
    lora: LoraSettings,
    *,
    seed: int = 42,
    freeze_backbone: bool = False,
    attention: str | None = None,
) -> Any:
    """Load a classifier that is to be trained.

    A base model gets a new adapter and head; a classifier's run goes on with its own; a policy's run (CoRFu) keeps its
    adapter and gets a new head. With ``freeze_backbone`` only the head is trained, and the backbone has no dropout:
    its states are those of the model that was given.

    Raises:
        InputError: the model cannot be loaded.
        UsageError: the model has no ``score`` head, or cuda was asked for and is not there.
    """
    if _task_of(model) == "CAUSAL_LM":
        loaded = _under_new_head(model, hardware, seed, attention)
    else:
        loaded = load_model(model, "quadrants", hardware, lora=lora, seed=seed, attention=attention, trainable=True)
    if not hasattr(base_of(loaded), HEAD):
        raise UsageError(
            "the model's classification head is not the one that is trained here",
            found=f"model_type {base_of(loaded).config.model_type}",
            expected="a decoder whose head is called score (Llama, Qwen3, Mistral, ...)",
        )
    if freeze_backbone:
        freeze(loaded)
    return loaded


def _under_new_head(folder: str | Path, hardware: HardwareSettings, seed: int, attention: str | None) -> Any:
    """Put a causal adapter into a sequence classifier; PEFT has no call for it."""
    from peft import PeftConfig, TaskType, get_peft_model, load_peft_weights, set_peft_model_state_dict

    config = deepcopy(PeftConfig.from_pretrained(str(folder)))
    config.task_type, config.inference_mode = TaskType.SEQ_CLS, False
    base = load_model(
        str(config.base_model_name_or_path), "quadrants", hardware, lora=None, seed=seed, attention=attention
    )
    # The base may have been given as a folder that this adapter does not carry a tokenizer for; its own will do.
    model = get_peft_model(base, config)
    weights = load_peft_weights(str(folder), device="cpu")
    name = f"base_model.model.{HEAD}.weight"
    weights[name] = getattr(base_of(model), HEAD).modules_to_save["default"].weight.detach().cpu()
    result = set_peft_model_state_dict(model, weights)
    left = [key for key in result.missing_keys if ".lora_" in key or f".{HEAD}.modules_to_save" in key]
    if result.unexpected_keys or left:
        raise UsageError(
            "the policy's adapter does not fit under a classification head",
            file=folder,
            found=f"{len(result.unexpected_keys)} weights without a place, {len(left)} places without weights",
            expected="an adapter of layers of the backbone alone",
            do="train the policy without adapters on its language-model head",
        )
    return model


def freeze(model: Any) -> None:
    """Let the head alone be trained, and switch the backbone's dropout off."""
    for name, parameter in model.named_parameters():
        head = name.startswith(f"{HEAD}.") or f".{HEAD}." in name
        parameter.requires_grad_(head and "original_module" not in name)
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0


def train_in_float32(model: Any) -> None:
    """Keep a half-precision model's head in float32, as PEFT does for adapters.

    A step of 2e-5 on a weight of 0.02 is below bfloat16's resolution (2^-9 of the weight) and would be lost.
    """
    head = getattr(base_of(model), HEAD)
    if backbone_of(model).dtype not in (torch.bfloat16, torch.float16):
        return
    head.float()
    head.register_forward_pre_hook(lambda _module, inputs: (inputs[0].float(),))
