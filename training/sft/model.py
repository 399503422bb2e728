"""What fine-tuning and its answers use of this machine: attention, optimizer, length; every fallback is said."""

from __future__ import annotations

from dataclasses import dataclass, field

from ground.errors import UsageError
from training.packing.attention import attention_of_texts
from training.runs.models import device_of, load_config, precision_of, usable_length
from training.runs.settings import HardwareSettings

__all__ = ["Machine", "choose_machine", "choose_optimizer", "rows_length"]

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


def choose_machine(hardware: HardwareSettings) -> Machine:
    """Resolve ``auto`` settings.

    Raises:
        UsageError: CUDA is asked for and not there, or 4-bit weights with float64.
    """
    device = device_of(hardware)
    precision = str(precision_of(hardware)).removeprefix("torch.")
    if hardware.quantize == "nf4" and precision == "float64":
        raise UsageError("4-bit weights are not computed in float64", do="set hardware.quantize to none")
    notes = []
    if hardware.quantize == "nf4" and device == "cpu":
        notes.append("4-bit weights are slow on a CPU")
    attention = attention_of_texts(hardware)
    if hardware.attention not in ("auto", attention):
        notes.append(f"attention {hardware.attention} is for packed rows; {attention} is used")
    return Machine(device, precision, attention, hardware.quantize, tuple(notes))


def choose_optimizer(name: str, device: str) -> tuple[str, str | None]:
    """Return the optimizer to use, and why where it is not the one asked for."""
    if device == "cuda" or not any(word in name for word in CUDA_ONLY):
        return name, None
    return "adamw_torch", f"{name} needs CUDA; adamw_torch (32-bit states) is used on the CPU"


def rows_length(model: str, max_length: int) -> tuple[int, str | None]:
    """Return how many tokens a row may have with this model, and why where that is less than asked for."""
    length = usable_length(load_config(model), max_length)
    if length == max_length:
        return max_length, None
    return length, f"the model has {length:,} positions: longer rows are left out (max_length {max_length:,})"
