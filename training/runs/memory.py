"""Memory that a run needs, estimated before it: the model of the run is counted, and its step is run on fake tensors.

Weights, gradients and AdamW's states are counted from the configuration. Activations are not derived from formulas:
two short copies of the model (1 and 2 layers, no storage behind their tensors) run the very step of the run, forward
and backward, while every tensor's birth and death is followed; what is kept grows linearly with layers. Adapters,
dropout, masks, gradient checkpointing and autocast are thereby counted as they are.

Measured on a CPU (decoders of 4 and 6 layers, 768 and 1,536 tokens, LoRA and all weights, with and without gradient
checkpointing): what torch's allocator holds is met to 1.3 %, always from below. What a process holds is more, since
glibc's allocator keeps what is freed: 1.4 to 1.8 times the activations, 2.9 times with gradient checkpointing;
`CPU_ALLOCATOR` counts 1.7. Not measured: CUDA's allocator, and models of experts. Not counted: workspaces of kernels
and the runtime itself (Python and libraries, or a CUDA context: some 0.5 GB each).
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Iterable
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only

from training.packing.attention import attention_of_texts
from training.runs.models import Task, add_adapter, device_of, load_config, precision_of, trained_weights
from training.runs.settings import HardwareSettings, LoraSettings

__all__ = ["Estimate", "estimate_memory", "estimate_texts", "free_memory"]

NF4_BYTES = 0.5 + 1 / 64 + 4 / (64 * 256)
"""Bytes of a 4-bit weight: half a byte, a byte of scale for 64 weights, and 4 bytes for 256 scales (QLoRA, sec. 3)."""
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
    """

    weights: int
    trained: int
    optimizer: int
    step: int
    free: int
    device: str
    reference: int = 0

    @property
    def tensors(self) -> int:
        """The live tensors at the peak."""
        return self.weights + self.reference + self.optimizer + self.step

    @property
    def total(self) -> int:
        """What the process is thought to hold at the peak, the allocator's reserve included."""
        reserve = (CPU_ALLOCATOR - 1) * self.step if self.device == "cpu" else 0.0
        return self.tensors + round(reserve)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, bytes."""
        return {**vars(self), "tensors": self.tensors, "total": self.total}

    def __str__(self) -> str:
        def gib(n: int) -> str:
            return f"{n / GIB:.3g}" if n < 10 * GIB else f"{n / GIB:.1f}"

        step = self.total - self.weights - self.reference - self.optimizer
        return (
            f"memory: about {gib(self.total)} GiB (weights {gib(self.weights + self.reference)}, "
            f"optimizer {gib(self.optimizer)}, activations and gradients {gib(step)}); "
            f"free on the {self.device}: {gib(self.free)} GiB"
        )

    def warning(self, margin: float, hardware: HardwareSettings) -> str | None:
        """Say what to change where the estimate exceeds its share of the free memory, None where it does not."""
        if self.total <= margin * self.free:
            return None
        if self.step < self.weights + self.optimizer:
            do = "hardware.quantize = 'nf4'" if hardware.quantize == "none" else "a smaller base model"
            do = do if self.optimizer < self.weights else "lora.r above 0 (adapters instead of all weights)"
        elif not hardware.gradient_checkpointing:
            do = "hardware.gradient_checkpointing = true, or a lower packing.tokens_per_row"
        else:
            do = "a lower packing.tokens_per_row (and packing.max_length)"
        return f"memory may run short (hardware.memory_margin is {margin:g}): set {do}"


def estimate_texts(
    model: str,
    rows: int,
    tokens: int,
    answer: int,
    lora: LoraSettings,
    hardware: HardwareSettings,
    *,
    reference: bool = False,
) -> Estimate:
    """Estimate a run of trl on rows of one text each, before anything is loaded; AdamW's states are counted whole.

    Args:
        model: as of `estimate_memory`.
        rows: of one forward pass.
        tokens: of the longest row.
        answer: of its tokens, those whose logits are taken.
        lora: the adapter.
        hardware: as of `estimate_memory`.
        reference: whether all weights are compared with a second copy; an adapter is switched off instead.
    """
    loaded, autocast = trained_weights(hardware, whole=lora.r == 0)
    ids = torch.zeros((rows, tokens), dtype=torch.int64)

    def step(policy: Any) -> torch.Tensor:
        logits = policy(input_ids=ids, use_cache=False, logits_to_keep=answer).logits.float()
        logps: torch.Tensor = logits.flatten(0, 1).log_softmax(-1)
        return -logps[:, 0].sum()

    found = estimate_memory(
        model, "causal", step, lora, loaded,
        attention=attention_of_texts(hardware), autocast=autocast, sizes=(rows, tokens, answer),
    )  # fmt: skip
    return replace(found, reference=found.weights if reference and lora.r == 0 else 0)


def free_memory(device: str) -> int:
    """Return the bytes that are free on a device."""
    if device == "cuda":
        return int(torch.cuda.mem_get_info()[0])
    import psutil  # type: ignore[import-untyped,unused-ignore]

    return int(psutil.virtual_memory().available)


class _Peak(TorchDispatchMode):
    """Follows the storages that operations make, and remembers how much lived at once."""

    def __init__(self, known: Iterable[torch.Tensor]) -> None:
        super().__init__()
        self.now = self.most = 0
        # A view of a weight is no new memory.
        self.seen: weakref.WeakSet[Any] = weakref.WeakSet(tensor.untyped_storage() for tensor in known)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        tree_map_only(torch.Tensor, self._see, result)
        return result

    def _see(self, tensor: torch.Tensor) -> None:
        storage = tensor.untyped_storage()
        if storage in self.seen:
            return
        self.seen.add(storage)
        size = storage.nbytes()
        self.now += size
        self.most = max(self.most, self.now)
        weakref.finalize(storage, self._forget, size)

    def _forget(self, size: int) -> None:
        self.now -= size


def _choose(module: Any, states: torch.Tensor, chosen: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Stand in for experts: who is chosen, on which their kernels depend, is not known of fake tensors."""
    each, hidden = chosen.shape[-1], states.shape[-1]

    def product(rows: torch.Tensor, experts: torch.Tensor) -> torch.Tensor:
        return rows @ (experts[0] if module.is_transposed else experts[0].mT)

    rows = states.repeat_interleave(each, 0)
    inner = module._apply_gate(product(rows, module.gate_up_proj)) if module.has_gate else module.act_fn(
        product(rows, module.up_proj)
    )  # fmt: skip
    found = product(inner, module.down_proj) * weights.reshape(-1, 1)
    return found.view(-1, each, hidden).sum(1).to(states.dtype)


def _model(config: Any, task: Task, attention: str, dtype: torch.dtype, lora: LoraSettings, layers: int | None) -> Any:
    from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification
    from transformers.integrations.moe import ALL_EXPERTS_FUNCTIONS

    config = deepcopy(config)
    config.num_labels = 4
    if layers is not None:
        config.num_hidden_layers = layers
        if getattr(config, "layer_types", None):
            config.layer_types = config.layer_types[:layers]
    kind = AutoModelForCausalLM if task == "causal" else AutoModelForSequenceClassification
    model = kind.from_config(config, attn_implementation=attention, dtype=dtype)
    ALL_EXPERTS_FUNCTIONS.register("experts_stand_in", _choose)
    model.config._experts_implementation = "experts_stand_in"
    return add_adapter(model, task, lora) if lora.r > 0 else model


def _fake(model: nn.Module) -> None:
    """Replace a meta model's tensors by fake ones on the CPU, so that operations choose the CPU's kernels."""
    for module in model.modules():
        for name, weight in module.named_parameters(recurse=False):
            fake = torch.empty(weight.shape, dtype=weight.dtype, device="cpu")
            setattr(module, name, nn.Parameter(fake, requires_grad=weight.requires_grad))
        for name, buffer in module.named_buffers(recurse=False):
            setattr(module, name, torch.empty(buffer.shape, dtype=buffer.dtype, device="cpu"))


@dataclass(frozen=True)
class _Step:
    """Bytes of a step beside weights and gradients: kept for the backward pass, and at the peaks of the two passes."""

    kept: int
    forward: int
    backward: int


_MEASURED: dict[Hashable, list[_Step]] = {}
"""Steps of models of one layer and of two, by all that they depend on."""


def _run(make: Callable[[], Any], step: Callable[[Any], torch.Tensor], checkpointing: bool, autocast: bool) -> _Step:
    from torch._subclasses.fake_tensor import FakeTensorMode

    from training.packing.trainer import checkpoint_activations

    with torch.device("meta"):
        model = make()
    with FakeTensorMode(allow_non_fake_inputs=True):
        _fake(model)
        model.train()
        if checkpointing:
            checkpoint_activations(model)
        for parameter in model.parameters():
            # A step's later rows meet the gradients of its earlier ones, which are counted apart.
            parameter.grad = torch.empty_like(parameter) if parameter.requires_grad else None
        known = [*model.parameters(), *model.buffers()]
        known += [parameter.grad for parameter in known if parameter.grad is not None]
        with _Peak(known) as peak:
            with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
                loss = step(model)
            kept, forward, peak.most = peak.now, peak.most, peak.now
            loss.backward()
        return _Step(kept, forward, peak.most)


def estimate_memory(
    model: str,
    task: Task,
    step: Callable[[Any], torch.Tensor],
    lora: LoraSettings,
    hardware: HardwareSettings,
    *,
    attention: str | None,
    autocast: bool = False,
    freeze_backbone: bool = False,
    sizes: Hashable = None,
) -> Estimate:
    """Estimate the peak of one process before anything is loaded.

    Args:
        model: hub name, local path or run folder; only its configuration is read.
        task: ``causal`` or ``quadrants``, as `load_model` takes it.
        step: runs the run's largest forward pass on a model and returns a scalar, such as
            ``lambda model: SharedClassifier(model)(row).sum()``.
        lora: the adapter.
        hardware: device, precision, quantization, checkpointing.
        attention: transformers' attention implementation.
        autocast: whether float32 weights are multiplied in bfloat16.
        freeze_backbone: whether the ``score`` head alone is trained.
        sizes: of what ``step`` reads. Where they are given, a run that differs in nothing else, such as the next of a
            sweep, is not measured again.
    """
    config = load_config(model)
    # FlexAttention needs its device: SDPA with a dense mask holds as much with recomputation, a tenth more without.
    dtype, attention = precision_of(hardware), "sdpa" if attention in (None, "flex_attention") else attention

    def make(layers: int | None) -> Any:
        made = _model(config, task, attention, dtype, lora, layers)
        if freeze_backbone:
            from training.classifier.heads import freeze

            freeze(made)
        return made

    with torch.device("meta"):
        whole = make(None)
    trained = sum(p.numel() * p.element_size() for p in whole.parameters() if p.requires_grad)
    checkpointing = hardware.gradient_checkpointing
    same = (config.to_json_string(), task, sizes, lora, dtype, attention, checkpointing, autocast, freeze_backbone)
    if sizes is None or same not in _MEASURED:
        _MEASURED[same] = [_run(partial(make, layers), step, checkpointing, autocast) for layers in (1, 2)]
    one, two = _MEASURED[same]
    each = two.kept - one.kept
    activations = max(two.forward, two.backward + (config.num_hidden_layers - 2) * each)
    weights, unpacked = _weights(whole, hardware)
    device = device_of(hardware)
    return Estimate(
        weights=weights,
        trained=trained,
        optimizer=2 * trained,
        # AdamW's own temporaries are as large as what it trains, beside the gradients.
        step=trained + max(activations + unpacked, trained),
        free=free_memory(device),
        device=device,
    )


def _weights(model: Any, hardware: HardwareSettings) -> tuple[int, int]:
    """Return the bytes of all weights, and of the largest one that is unpacked for a product where they are 4-bit."""
    small = {
        id(module.weight)
        for name, module in model.named_modules()
        if isinstance(module, nn.Linear) and "lora_" not in name and not name.endswith(("score", "lm_head"))
        and ".score." not in name
    }  # fmt: skip
    if hardware.quantize == "none":
        small = set()
    total, largest = 0.0, 0
    for parameter in model.parameters():
        if id(parameter) in small:
            total += parameter.numel() * NF4_BYTES
            largest = max(largest, parameter.numel() * parameter.element_size())
        else:
            total += parameter.numel() * parameter.element_size()
    return round(total + sum(b.numel() * b.element_size() for b in model.buffers())), largest
