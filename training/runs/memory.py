"""Memory that a run needs. Before anything is loaded its weights are counted, and its step is run on fake tensors.

Weights, gradients and AdamW's states are counted from the configuration. Activations are not derived from formulas:
a model without storage behind its tensors runs the very step of the run, forward and backward, while every tensor's
birth and death is followed. Adapters, dropout, masks, gradient checkpointing and autocast are thereby counted as they
are.

Measured on a CPU (decoders of 4 and 6 layers, 768 and 1,536 tokens, LoRA and all weights, with and without gradient
checkpointing): what torch's allocator holds is met to 1.3 %, always from below. What a process holds is more, since
glibc's allocator keeps what is freed: 1.4 to 1.8 times the activations, 2.9 times with gradient checkpointing;
`CPU_ALLOCATOR` counts 1.7. Not measured: CUDA's allocator, and models of experts. Not counted: workspaces of kernels
and the runtime itself (Python and libraries, or a CUDA context: some 0.5 GB each).

On a GPU nothing needs to be thought: the largest step is run on the loaded model before training (`rehearse`).
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from training.runs.models import FLASH, Task, add_adapter, checkpoint_activations, device_of, load_config, precision_of
from training.runs.resuming import peak_memory
from training.runs.settings import HardwareSettings, LoraSettings

__all__ = ["Estimate", "Step", "card_memory", "estimate_memory", "free_memory", "rehearse"]

Step = Callable[[Any], torch.Tensor]
"""Runs a run's largest forward pass on a model, on its device, and returns a scalar."""

NF4_BYTES = 0.5 + 1 / 64 + 4 / (64 * 256)
"""Bytes of a 4-bit weight: half a byte, a byte of scale for 64 weights, and 4 bytes for 256 scales (QLoRA, sec. 3)."""
NEVER_NF4 = {"lora_A", "lora_B", "score", "lm_head"}
CPU_ALLOCATOR = 1.7
"""What a process on a CPU holds by what its tensors need; see the measurements above."""
GIB = 1 << 30


@dataclass(frozen=True)
class Estimate:
    """Bytes that one process needs at its peak, by what needs them.

    Attributes:
        weights: of the model, trained or not.
        trained: weights that are trained.
        optimizer: AdamW's two states of each of them.
        step: activations and gradients at the peak.
        free: what the device has now.
        device: ``cpu`` or ``cuda``.
        reference: of a second copy of the model, which the policy is compared with.
        measured: the most that a GPU had allocated when the step was run on it; None where there is none.
    """

    weights: int
    trained: int
    optimizer: int
    step: int
    free: int
    device: str
    reference: int = 0
    measured: int | None = None

    @property
    def tensors(self) -> int:
        """The live tensors at the peak."""
        return self.weights + self.reference + self.optimizer + self.step

    @property
    def total(self) -> int:
        """What the process is thought to hold at the peak, the allocator's reserve included."""
        return self.tensors + (round((CPU_ALLOCATOR - 1) * self.step) if self.device == "cpu" else 0)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, bytes."""
        return {**vars(self), "tensors": self.tensors, "total": self.total}

    def __str__(self) -> str:
        weights = self.weights + self.reference
        sizes = (self.total, weights, self.optimizer, self.total - weights - self.optimizer, self.free)
        total, *parts, free = (f"{n / GIB:.3g}" if n < 10 * GIB else f"{n / GIB:.1f}" for n in sizes)
        return (
            f"memory: about {total} GiB (weights {parts[0]}, optimizer {parts[1]}, activations and gradients "
            f"{parts[2]}); free on the {self.device}: {free} GiB"
        )

    def warning(self, hardware: HardwareSettings, smaller: str) -> str | None:
        """Say what to change where the estimate exceeds its share of the free memory, None where it does not.

        ``smaller`` says what makes a step of this verb smaller.
        """
        if self.total <= hardware.memory_margin * self.free:
            return None
        if self.step >= self.weights + self.optimizer:
            do = smaller if hardware.gradient_checkpointing else "set hardware.gradient_checkpointing = true"
        elif self.optimizer >= self.weights:
            do = "set lora.r above 0 (adapters instead of all weights)"
        else:
            do = "set hardware.quantize = 'nf4'" if hardware.quantize == "none" else "choose a smaller base model"
        return f"memory may run short (hardware.memory_margin is {hardware.memory_margin:g}): {do}"


def card_memory() -> int:
    """Return the bytes of this machine's card; 0: it has none."""
    return int(torch.cuda.mem_get_info()[1]) if torch.cuda.is_available() else 0


def free_memory(device: str) -> int:
    """Return the bytes that are free on a device."""
    if device == "cuda":
        return int(torch.cuda.mem_get_info()[0])
    import psutil  # type: ignore[import-untyped,unused-ignore]

    return int(psutil.virtual_memory().available)


def rehearse(model: Any, step: Step, hardware: HardwareSettings, *, autocast: bool, copies: int) -> int:
    """Run a step of a model forward and backward, and return the most bytes that were held (`peak_memory`).

    It runs beside what the later steps of a run meet: gradients, and ``copies`` of all that is trained (the states of
    an optimizer). Nothing is learnt: weights, gradients and random draws are afterwards what they were.
    """
    if hardware.gradient_checkpointing:
        checkpoint_activations(model)
    trained, device, training = [w for w in model.parameters() if w.requires_grad], model.device, model.training
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats()
    try:
        with torch.random.fork_rng([device] if device.type == "cuda" else []):
            held = [torch.empty_like(weight) for weight in trained for _ in range(copies)]
            for weight in trained:
                weight.grad = torch.zeros_like(weight)
            with torch.autocast(device.type, torch.bfloat16, enabled=autocast):
                loss = step(model.train())
            loss.backward()
            del held
    finally:
        model.train(training)
        for weight in trained:
            weight.grad = None
    return peak_memory(device.type)


def estimate_memory(
    model: str,
    task: Task,
    step: Step,
    lora: LoraSettings,
    hardware: HardwareSettings,
    *,
    attention: str | None,
    autocast: bool = False,
    prepare: Callable[[Any], object] | None = None,
    reference: bool = False,
) -> Estimate:
    """Estimate the peak of one process before anything is loaded.

    Args:
        model: hub name, local path or run folder; only its configuration is read.
        task: ``causal`` or ``quadrants``, as `load_model` takes it.
        step: such as ``lambda model: SharedClassifier(model)(row.to(model.device)).sum()``.
        lora: the adapter.
        hardware: device, precision, quantization, checkpointing.
        attention: transformers' attention implementation.
        autocast: whether float32 weights are multiplied in bfloat16.
        prepare: what else is done to the model, such as freezing its backbone.
        reference: whether all weights are compared with a second copy; an adapter is switched off instead.
    """
    # FlexAttention and FlashAttention need their device, and SDPA stands in. With a dense mask it holds as much as
    # FlexAttention with recomputation, a tenth more without.
    attention = "sdpa" if attention in (None, "flex_attention", *FLASH) else attention
    with torch.device("meta"):
        empty = _model(load_config(model), task, attention, precision_of(hardware), lora).train()
        if prepare is not None:
            prepare(empty)
    trained = sum(p.nbytes for p in empty.parameters() if p.requires_grad)
    weights, unpacked = _weights(empty, hardware)
    device = device_of(hardware)
    return Estimate(
        weights=weights,
        trained=trained,
        optimizer=2 * trained,
        # AdamW's own temporaries are as large as what it trains, beside the gradients.
        step=trained + max(_most(empty, step, bool(hardware.gradient_checkpointing), autocast) + unpacked, trained),
        free=free_memory(device),
        device=device,
        reference=weights if reference and lora.r == 0 else 0,
    )


def _most(model: Any, step: Step, checkpointing: bool, autocast: bool) -> int:
    """Return the most bytes that a step of a model holds beside weights and gradients."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode(allow_non_fake_inputs=True):
        # Fake tensors are on the CPU, whose kernels are thereby chosen.
        model.to_empty(device="cpu")
        if checkpointing:
            checkpoint_activations(model)
        for parameter in model.parameters():
            # A step's later rows meet the gradients of its earlier ones, which are counted apart.
            parameter.grad = torch.empty_like(parameter) if parameter.requires_grad else None
        known = [*model.parameters(), *model.buffers()]
        with _Peak([*known, *(weight.grad for weight in known if weight.grad is not None)]) as peak:
            with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
                loss = step(model)
            loss.backward()
        return int(peak.most)


class _Peak(TorchDispatchMode):
    """Follows the storages that operations make, and remembers how much lived at once."""

    def __init__(self, known: Iterable[torch.Tensor]) -> None:
        super().__init__()
        self.now = self.most = 0
        # A view of a weight is no new memory.
        self.seen: weakref.WeakSet[Any] = weakref.WeakSet(tensor.untyped_storage() for tensor in known)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        storages = [leaf.untyped_storage() for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor)]
        for storage in storages:
            if storage not in self.seen:
                self.seen.add(storage)
                self._add(storage.nbytes())
                weakref.finalize(storage, self._add, -storage.nbytes())
        return result

    def _add(self, size: int) -> None:
        self.now += size
        self.most = max(self.most, self.now)


def _model(config: Any, task: Task, attention: str, dtype: torch.dtype, lora: LoraSettings) -> Any:
    from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification
    from transformers.integrations.moe import ALL_EXPERTS_FUNCTIONS

    config.num_labels = 4
    kind = AutoModelForCausalLM if task == "causal" else AutoModelForSequenceClassification
    model = kind.from_config(config, attn_implementation=attention, dtype=dtype)
    ALL_EXPERTS_FUNCTIONS.register("experts_stand_in", _choose)
    model.config._experts_implementation = "experts_stand_in"
    return add_adapter(model, task, lora) if lora.r > 0 else model


def _choose(module: Any, states: torch.Tensor, chosen: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Stand in for experts: who is chosen, on which their kernels depend, is not known of fake tensors."""
    each, hidden = chosen.shape[-1], states.shape[-1]

    def product(rows: torch.Tensor, experts: torch.Tensor) -> torch.Tensor:
        return rows @ (experts[0] if module.is_transposed else experts[0].mT)

    rows = states.repeat_interleave(each, 0)
    inner = module._apply_gate(product(rows, module.gate_up_proj)) if module.has_gate else module.act_fn(
        product(rows, module.up_proj)
    )  # fmt: skip
    outputs = product(inner, module.down_proj) * weights.reshape(-1, 1)
    return outputs.view(-1, each, hidden).sum(1).to(states.dtype)


def _weights(model: Any, hardware: HardwareSettings) -> tuple[int, int]:
    """Return the bytes of all weights, and of the largest one that is unpacked for a product where they are 4-bit."""
    whole = sum(tensor.nbytes for tensor in (*model.parameters(), *model.buffers()))
    if hardware.quantize == "none":
        return whole, 0
    linear = [(name, module.weight) for name, module in model.named_modules() if isinstance(module, nn.Linear)]
    packed = [weight for name, weight in linear if not NEVER_NF4 & set(name.split("."))]
    saved = sum(weight.nbytes - weight.numel() * NF4_BYTES for weight in packed)
    return round(whole - saved), max(weight.nbytes for weight in packed)
