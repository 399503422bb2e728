"""A causal model on this machine: device, precision, 4-bit weights and optimizer; every fallback is said."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from ontoground.errors import InputError, UsageError
from training.settings import HardwareSettings, SftSettings

__all__ = [
    "Machine",
    "choose_machine",
    "choose_optimizer",
    "load_model",
    "load_tokenizer",
    "lora_config",
    "usable_length",
]

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float64": torch.float64}
# bitsandbytes' optimizers: paged ones need CUDA's unified memory, 8-bit ones its kernels.
CUDA_ONLY = ("paged", "8bit", "bnb")


@dataclass(frozen=True)
class Machine:
    """What a run uses; ``notes`` says where that is not what the settings ask for."""

    device: str
    precision: str
    attention: str
    quantize: str
    notes: tuple[str, ...] = field(default=())

    @property
    def dtype(self) -> torch.dtype:
        """The weights' type, and that of the arithmetic on 4-bit weights."""
        return DTYPES[self.precision]


def choose_machine(hardware: HardwareSettings) -> Machine:
    """Resolve ``auto`` settings.

    Raises:
        UsageError: CUDA is asked for and not there, or 4-bit weights with float64.
    """
    cuda = torch.cuda.is_available()
    if hardware.device == "cuda" and not cuda:
        raise UsageError("no CUDA device here", found="device = cuda", do="set hardware.device to auto or cpu")
    device = "cuda" if cuda and hardware.device != "cpu" else "cpu"
    precision = hardware.precision
    if precision == "auto":
        precision = "bfloat16" if device == "cuda" and torch.cuda.is_bf16_supported() else "float32"
    if hardware.quantize == "nf4" and precision == "float64":
        raise UsageError("4-bit weights are not computed in float64", do="set hardware.quantize to none")
    notes = []
    if hardware.quantize == "nf4" and device == "cpu":
        notes.append("4-bit weights are slow on a CPU")
    attention = "sdpa" if hardware.attention == "auto" else hardware.attention
    return Machine(device, precision, attention, hardware.quantize, tuple(notes))


def choose_optimizer(name: str, device: str) -> tuple[str, str | None]:
    """Return the optimizer to use, and why where it is not the one asked for."""
    if device == "cuda" or not any(word in name for word in CUDA_ONLY):
        return name, None
    return "adamw_torch", f"{name} needs CUDA; adamw_torch (32-bit states) is used on the CPU"


@contextmanager
def _loading(name: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        raise InputError(
            "the model cannot be loaded",
            file=name,
            found=type(error).__name__,
            expected="a folder or hub name of a causal language model, or a run folder with an adapter",
        ) from error


def load_tokenizer(name: str) -> Any:
    """Load a tokenizer from a folder or the hub; the end-of-text token pads where there is no padding token."""
    from transformers import AutoTokenizer

    with _loading(name):
        tokenizer = AutoTokenizer.from_pretrained(name)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def usable_length(name: str, max_length: int) -> tuple[int, str | None]:
    """Return how many tokens a row may have with this model, and why where that is less than asked for."""
    from transformers import AutoConfig

    folder = Path(name)
    if (folder / "adapter_config.json").is_file():
        from peft import PeftConfig

        name = str(PeftConfig.from_pretrained(name).base_model_name_or_path)
    with _loading(name):
        positions = getattr(AutoConfig.from_pretrained(name), "max_position_embeddings", None)
    if positions is None or positions >= max_length:
        return max_length, None
    return int(
        positions
    ), f"the model has {positions:,} positions: longer rows are left out (max_length {max_length:,})"


def _quantization(machine: Machine) -> Any:
    from transformers import BitsAndBytesConfig

    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=machine.dtype,
    )


def load_model(name: str, machine: Machine, dtype: torch.dtype | None = None) -> Any:
    """Load a causal model, or an adapter with its base, from a folder or the hub; its weights as the machine's type.

    ``dtype`` loads the weights as another type.

    Raises:
        InputError: the folder or name holds no causal language model.
    """
    from transformers import AutoModelForCausalLM
    from transformers.utils.logging import disable_progress_bar

    if not sys.stderr.isatty():
        disable_progress_bar()
    # One process a GPU, as torchrun and accelerate number them.
    place = f"cuda:{os.environ.get('LOCAL_RANK', '0')}" if machine.device == "cuda" else "cpu"
    keywords: dict[str, Any] = {"dtype": dtype or machine.dtype, "attn_implementation": machine.attention}
    if machine.quantize == "nf4":
        keywords["quantization_config"] = _quantization(machine)
        keywords["device_map"] = {"": place}
    with _loading(name):
        if (Path(name) / "adapter_config.json").is_file():
            from peft import AutoPeftModelForCausalLM

            model = AutoPeftModelForCausalLM.from_pretrained(name, **keywords)
        else:
            model = AutoModelForCausalLM.from_pretrained(name, **keywords)
    return model if machine.quantize == "nf4" else model.to(place)


def lora_config(settings: SftSettings) -> Any:
    """Return PEFT's configuration of the adapter, None for rank 0 (every weight is trained).

    Raises:
        UsageError: rank 0 with 4-bit weights, which cannot be trained themselves.
    """
    lora = settings.lora
    if lora.r == 0:
        if settings.hardware.quantize != "none":
            raise UsageError(
                "4-bit weights cannot be trained without an adapter",
                found="lora.r = 0 and hardware.quantize = nf4",
                do="set lora.r to 8 or more, or hardware.quantize to none",
            )
        return None
    from peft import LoraConfig

    modules = lora.target_modules[0] if lora.target_modules == ("all-linear",) else list(lora.target_modules)
    return LoraConfig(
        task_type="CAUSAL_LM", r=lora.r, lora_alpha=lora.alpha, lora_dropout=lora.dropout, target_modules=modules
    )
