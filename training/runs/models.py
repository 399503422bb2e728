"""Models and tokenizers by hub name, local path or run folder, with adapters and heads as the settings say."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any, Literal

import torch

from ground.contracts.rows import QUADRANTS
from ground.errors import InputError, UsageError
from ground.lm.local import load_pretrained, reading_weights
from training.runs.settings import HardwareSettings, LoraSettings

__all__ = [
    "LABELS",
    "Task",
    "adapter_config",
    "add_adapter",
    "backbone_of",
    "base_of",
    "checkpoint_activations",
    "compile_layers",
    "device_of",
    "evaluating",
    "has_experts",
    "hub_commit",
    "implementation_of",
    "load_config",
    "load_model",
    "load_tokenizer",
    "lora_of",
    "name_of",
    "precision_of",
    "quiet",
    "refuse_adapter",
    "restore_weights",
    "save_model",
    "split_parts",
    "trained_weights",
    "usable_length",
]

Task = Literal["causal", "quadrants"]
FLASH = ("flash_attention_2", "flash_attention_3")
ADAPTER = "adapter_config.json"
HEAD = "score"
"""transformers' name of a decoder's classification head."""
LABELS = {"id2label": dict(enumerate(QUADRANTS)), "label2id": {name: at for at, name in enumerate(QUADRANTS)}}
"""What a configuration says of a four-way head."""
LOGGERS = ("transformers", "peft", "trl", "accelerate", "datasets", "bitsandbytes")


@contextmanager
def quiet() -> Iterator[None]:
    """Keep transformers, peft and trl from writing anything but errors; what was set before is set again after."""
    from transformers.utils import logging as transformers_logging

    levels = {logger: logger.level for logger in map(logging.getLogger, LOGGERS)}
    bars = transformers_logging.is_progress_bar_enabled()
    transformers_logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            for logger in levels:
                logger.setLevel(logging.ERROR)
                warnings.filterwarnings("ignore", module=rf"{logger.name}(\.|$)")
            yield
    finally:
        for logger, level in levels.items():
            logger.setLevel(level)
        if bars:
            transformers_logging.enable_progress_bar()


@contextmanager
def evaluating(module: Any) -> Iterator[None]:
    """Have a module in evaluation mode (no dropout) inside, and in the mode that it was in afterwards."""
    training = module.training
    module.eval()
    try:
        yield
    finally:
        module.train(training)


def device_of(hardware: HardwareSettings) -> str:
    """Return ``cuda`` or ``cpu``; `UsageError` where cuda was asked for and is not there."""
    there = torch.cuda.is_available()
    if hardware.device == "cuda" and not there:
        raise UsageError("there is no CUDA device", expected="hardware.device = cpu or auto")
    return "cuda" if there and hardware.device != "cpu" else "cpu"


def precision_of(hardware: HardwareSettings) -> torch.dtype:
    """Return the precision of the weights: bfloat16 on a GPU that has it, else float32, unless it is set."""
    if hardware.precision != "auto":
        return getattr(torch, hardware.precision)  # type: ignore[no-any-return]
    return torch.bfloat16 if device_of(hardware) == "cuda" and torch.cuda.is_bf16_supported() else torch.float32


def base_of(model: Any) -> Any:
    """Return the transformers model inside adapters and wrappers."""
    return model.get_base_model() if hasattr(model, "get_base_model") else model


def backbone_of(model: Any) -> Any:
    """Return the decoder without its head."""
    return base_of(model).base_model


def implementation_of(model: Any) -> str:
    """Return the attention implementation that the model runs."""
    return str(base_of(model).config._attn_implementation)


def checkpoint_activations(model: Any) -> None:
    """Compute activations again in the backward pass; the non-reentrant kind works behind frozen embeddings."""
    base_of(model).gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})


def has_experts(model: Any) -> bool:
    """Say whether a model has experts that are stacked in one parameter (Mixtral)."""
    return any(weight.ndim == 3 and ".experts." in name for name, weight in model.named_parameters())


def compile_layers(model: Any, **options: Any) -> None:
    """Have a decoder's layers compiled when they first run: what lies between their products becomes few kernels.

    ``options`` are those of `torch.compile`. What is compiled serves all layers, once for a first length of rows and
    once more for any length; a first layer whose input had no gradient would double that.
    """
    from transformers.modeling_layers import GradientCheckpointingLayer

    def follow(_module: Any, _inputs: Any, embedded: torch.Tensor) -> torch.Tensor:
        return embedded.requires_grad_() if torch.is_grad_enabled() and not embedded.requires_grad else embedded

    base_of(model).get_input_embeddings().register_forward_hook(follow)
    for layer in backbone_of(model).modules():
        if isinstance(layer, GradientCheckpointingLayer):
            layer.compile(**options)


def trained_weights(hardware: HardwareSettings, *, whole: bool) -> tuple[HardwareSettings, bool]:
    """Return how a model that is trained is loaded, and whether half precision is left to autocast.

    Adapters (float32) sit on weights in half precision. Weights that are trained themselves (``whole``) stay in
    float32: a small step would be lost in half precision. Either are multiplied in bfloat16 on a GPU, as trl's trainers
    do. 4-bit weights that are trained themselves are refused: norms, embeddings and the head, which stay as they are,
    would be trained alone.
    """
    if whole and hardware.quantize != "none":
        raise UsageError(
            "4-bit weights cannot be trained without an adapter",
            found=f"lora.r = 0 and hardware.quantize = {hardware.quantize}",
            do="set lora.r to 8 or more, or hardware.quantize to none",
        )
    if precision_of(hardware) != torch.bfloat16:
        return hardware, False
    kept = hardware.model_copy(update={"precision": "float32"}) if whole else hardware
    return kept, device_of(hardware) == "cuda"


def usable_length(config: Any, wanted: int) -> int:
    """Return how many tokens a row may have: those asked for, or the model's number of positions where that is less."""
    positions = getattr(config, "max_position_embeddings", None)
    return min(wanted, int(positions)) if positions else wanted


def adapter_of(model: str | Path) -> Any:
    """Return PEFT's configuration of an adapter folder, None for anything else."""
    if not (Path(model) / ADAPTER).is_file():
        return None
    from peft import PeftConfig

    return PeftConfig.from_pretrained(str(model))


def refuse_adapter(model: str | Path) -> None:
    """Refuse an adapter (`UsageError`) where a whole model is wanted."""
    if adapter_of(model) is not None:
        raise UsageError(
            "the base model is an adapter", file=model, expected="a whole model", do="merge the adapter first"
        )


def lora_of(model: str | Path, asked: LoraSettings) -> LoraSettings:
    """Return the settings of a folder's own adapter, which goes on being used; those asked for anywhere else."""
    if (adapter := adapter_of(model)) is None:
        return asked
    names = adapter.target_modules
    return LoraSettings(
        r=adapter.r,
        alpha=adapter.lora_alpha,
        dropout=adapter.lora_dropout,
        target_modules=(names,) if isinstance(names, str) else tuple(sorted(names)),
    )


def name_of(model: str | Path) -> str:
    """Return what a model is called: its folder's name, or the hub's."""
    return Path(model).resolve().name if Path(model).is_dir() else str(model)


def _base_name(model: str | Path) -> str:
    """Return the model itself, or the base model of an adapter folder."""
    adapter = adapter_of(model)
    return str(adapter.base_model_name_or_path if adapter else model)


def load_config(model: str | Path) -> Any:
    """Load the configuration of a model, or of the base model of a run folder; `InputError` where there is none."""
    from transformers import AutoConfig

    return load_pretrained(AutoConfig, _base_name(model))


def hub_commit(model: str | Path) -> str | None:
    """Return the commit of a hub's model that is used here, None for a folder; `InputError` where there is none."""
    if Path(model).is_dir():
        return None
    from huggingface_hub import try_to_load_from_cache

    # Puts what the hub has now, or without a network had last, into the cache that all else is loaded from.
    load_config(model)
    cached = try_to_load_from_cache(str(model), "config.json")
    return Path(cached).parent.name if isinstance(cached, str) else None


def load_tokenizer(model: str | Path) -> Any:
    """Load the tokenizer of a model, or of a run folder; a missing padding token becomes the end-of-text token."""
    from transformers import AutoTokenizer

    try:
        tokenizer = load_pretrained(AutoTokenizer, model)
    except InputError:
        if (base := _base_name(model)) == str(model):
            raise
        return load_tokenizer(base)
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def _place(hardware: HardwareSettings) -> str:
    """Return this process's device: one process a GPU, as torchrun and accelerate number them."""
    return f"cuda:{os.environ.get('LOCAL_RANK', '0')}" if device_of(hardware) == "cuda" else "cpu"


def _base(model: str | Path, task: Task, hardware: HardwareSettings, tokenizer: Any, attention: str | None) -> Any:
    from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification, BitsAndBytesConfig

    options: dict[str, Any] = {"dtype": precision_of(hardware)}
    if attention:
        options["attn_implementation"] = attention
    if hardware.quantize == "nf4":
        nf4 = {"load_in_4bit": True, "bnb_4bit_quant_type": "nf4", "bnb_4bit_use_double_quant": True}
        quantization = BitsAndBytesConfig(**nf4, bnb_4bit_compute_dtype=precision_of(hardware))
        options |= {"quantization_config": quantization, "device_map": {"": _place(hardware)}}
    if task == "quadrants":
        options |= LABELS
    kind = AutoModelForCausalLM if task == "causal" else AutoModelForSequenceClassification
    # An adapter records where its base was: a relative path would not outlive a change of folder.
    name = str(Path(model).resolve()) if Path(model).is_dir() else str(model)
    loaded, loading = load_pretrained(kind, name, output_loading_info=True, **options)
    if task == "causal" and loading["missing_keys"]:
        raise UsageError(
            "the model has no language-model head, and a policy is needed",
            file=str(model),
            found=f"{len(loading['missing_keys'])} weights that would be drawn anew",
            expected="a causal model, or an adapter on one",
            do="start from the base model, or from a classifier that was trained with lora.r above 0",
        )
    # Rows are padded with the tokenizer's token; classifiers look for the config's to find a row's last real token.
    if tokenizer.pad_token_id is not None:
        loaded.config.pad_token_id = tokenizer.pad_token_id
    return loaded


def _peft_kind(task: Task) -> str:
    """Return PEFT's name of a task."""
    return "CAUSAL_LM" if task == "causal" else "SEQ_CLS"


def adapter_config(model: Any, task: Task, lora: LoraSettings) -> Any:
    """Return PEFT's configuration of a new low-rank adapter; a classifier's head is trained and saved with it.

    An adapter of experts that are stacked in one parameter (Mixtral) has no dropout: PEFT has none there.
    """
    from peft import LoraConfig

    dropout = 0.0 if has_experts(model) else lora.dropout
    target = lora.target_modules[0] if lora.target_modules == ("all-linear",) else list(lora.target_modules)
    return LoraConfig(
        task_type=_peft_kind(task), r=lora.r, lora_alpha=lora.alpha, lora_dropout=dropout, target_modules=target
    )


def add_adapter(model: Any, task: Task, lora: LoraSettings) -> Any:
    """Put a new low-rank adapter on a model."""
    from peft import get_peft_model

    return get_peft_model(model, adapter_config(model, task, lora))


def load_model(
    model: str | Path,
    task: Task,
    hardware: HardwareSettings,
    *,
    lora: LoraSettings | None = None,
    seed: int = 42,
    attention: str | None = None,
    trainable: bool = False,
) -> Any:
    """Load a model for training or for use.

    A folder with an adapter is its base model with that adapter; any other model gets a new adapter where ``lora`` has
    a rank. An adapter of the other task goes on being trained under this one's head: a policy's under a new ``score``
    head, a classifier's under the language-model head of its base.

    Args:
        model: hub name, local path, or run folder.
        task: ``causal`` for a policy, ``quadrants`` for a classifier with a four-way ``score`` head.
        hardware: device, precision and quantization.
        lora: of a new adapter.
        seed: of new weights.
        attention: transformers' attention implementation, None for its default.
        trainable: whether a loaded adapter goes on training.

    Raises:
        InputError: the model cannot be loaded.
        UsageError: cuda was asked for and is not there, the adapter does not fit, or it is of the other task and is not
            to be trained.
    """
    torch.manual_seed(seed)
    adapter = adapter_of(model)
    loaded = _base(_base_name(model), task, hardware, load_tokenizer(model), attention)
    if adapter is not None:
        kind = _peft_kind(task)
        if adapter.task_type is not None and adapter.task_type != kind:
            if not trainable:
                is_a, needed = ("classifier", "policy") if task == "causal" else ("policy", "classifier")
                raise UsageError(f"this run is a {is_a}, and a {needed} is needed", file=model, do="train one on it")
            loaded = _under_other_head(model, adapter, loaded, task)
        else:
            from peft import PeftModel

            if task == "quadrants" and hasattr(loaded, HEAD):
                # As it was trained (training.classifier.heads).
                loaded.score.to(torch.promote_types(torch.float32, loaded.dtype))
            with reading_weights(model):
                loaded = PeftModel.from_pretrained(loaded, str(model), is_trainable=trainable)
    elif lora is not None and lora.r > 0:
        loaded = add_adapter(loaded, task, lora)
    return loaded if hardware.quantize != "none" else loaded.to(_place(hardware))


def _under_other_head(folder: str | Path, adapter: Any, base: Any, task: Task) -> Any:
    """Put an adapter of one task into a model of the other; PEFT has no call for it."""
    from peft import get_peft_model, load_peft_weights, set_peft_model_state_dict

    config = deepcopy(adapter)
    config.task_type, config.inference_mode, config.modules_to_save = _peft_kind(task), False, None
    model = get_peft_model(base, config)
    head = f".{HEAD}."
    with reading_weights(folder):
        kept = load_peft_weights(str(folder), device="cpu")
    weights = {name: kept[name] for name in kept if head not in name}
    if task == "quadrants":
        new = getattr(model.get_base_model(), HEAD).modules_to_save["default"].weight
        weights[f"base_model.model.{HEAD}.weight"] = new.detach().cpu()
    result = set_peft_model_state_dict(model, weights)
    left = [key for key in result.missing_keys if ".lora_" in key or f"{head}modules_to_save" in key]
    if result.unexpected_keys or left:
        raise UsageError(
            "the adapter does not fit under another head",
            file=folder,
            found=f"{len(result.unexpected_keys)} weights without a place, {len(left)} places without weights",
            expected="an adapter of layers of the backbone alone",
            do="train the first model without adapters on its head",
        )
    return model


def split_parts(module: Any) -> list[Any]:
    """Return the parts of a model that were split between processes (FSDP2), whether or not they are whole now."""
    from torch.distributed.fsdp import FSDPModule

    return [part for part in module.modules() if isinstance(part, FSDPModule)]


def save_model(model: Any, tokenizer: Any, folder: Path) -> None:
    """Save adapter and head, or the whole model where there is no adapter, with the tokenizer, as transformers does."""
    weights = None
    if split_parts(model):
        # The weights are whole now; its own ``state_dict`` would take them apart, and hold this process's share.
        weights = {name: weight.detach() for name, weight in model.named_parameters(remove_duplicate=False)}
    model.save_pretrained(folder, state_dict=weights)
    tokenizer.save_pretrained(folder)


def restore_weights(model: Any, folder: Path) -> None:
    """Load what `save_model` wrote back into the trained weights of a model of the same shape, all of them.

    Whole models are read as transformers reads them: its files may hold weights under other names, and in other
    pieces, than the model (an expert's in Mixtral).
    """
    trained = {name: weight for name, weight in model.named_parameters() if weight.requires_grad}
    if (folder / ADAPTER).is_file():
        from peft import load_peft_weights, set_peft_model_state_dict

        with reading_weights(folder):
            unmatched = set_peft_model_state_dict(model, load_peft_weights(str(folder), device="cpu"))
        left = sorted((trained.keys() & set(unmatched.missing_keys)) | set(unmatched.unexpected_keys))
    else:
        # A head may be in float32 above a backbone in half precision.
        dtype = torch.promote_types(torch.float32, model.dtype)
        with reading_weights(folder):
            kept, loading = type(model).from_pretrained(folder, dtype=dtype, output_loading_info=True)
        theirs = dict(kept.named_parameters())
        left = sorted(trained.keys() & set(loading["missing_keys"]))
        with torch.no_grad():
            for name, weight in trained.items():
                weight.copy_(theirs[name])
    if left:
        raise InputError(
            "the checkpoint does not hold the weights of this model",
            file=folder,
            found=f"{len(left)} weights without a counterpart, such as {left[0]}",
            do="delete the run folder and train again",
        )
