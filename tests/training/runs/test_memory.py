"""The memory estimate: live tensors as measured, growth with tokens and layers, and advice where memory runs short."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from ground.lm.tiny import tiny_decoder, tiny_tokenizer
from training.packing.collate import packed_row
from training.packing.shared import SharedClassifier, SharedPolicy
from training.runs.memory import Estimate, estimate_memory, rehearse
from training.runs.models import checkpoint_activations, load_model, trained_weights
from training.runs.settings import (
    ClassifierSettings,
    CorfuSettings,
    GrpoSettings,
    HardwareSettings,
    LoraSettings,
    MedhalSettings,
    MedvalSettings,
)
from training.runs.text_runs import add_head, texts_step

GIB = 1 << 30
CPU = HardwareSettings(device="cpu", gradient_checkpointing=False)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("memory")
    return tiny_decoder("llama", tiny_tokenizer(["a b c"], root / "t"), root / "m", hidden=256, layers=4)


def estimate(base: Path, tokens: int = 256, rank: int = 8, **hardware: object) -> Estimate:
    row = packed_row([(np.arange(tokens - 20) % 200 + 3, [np.arange(5, 15), np.arange(5, 15)])])
    return estimate_memory(
        str(base), "quadrants", lambda model: SharedClassifier(model)(row).sum(), LoraSettings(r=rank),
        CPU.model_copy(update=hardware), attention="sdpa",
    )  # fmt: skip


def allocated_at_most(step: Callable[[], None], trace: Path) -> int:
    """Return the most bytes that torch's own allocator held during a call, above what it held before."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profiler:
        step()
    profiler.export_chrome_trace(str(trace))
    events = [
        e["args"] for e in json.loads(trace.read_text(encoding="utf-8"))["traceEvents"] if e["name"] == "[memory]"
    ]
    return int(max(e["Total Allocated"] for e in events) - (events[0]["Total Allocated"] - events[0]["Bytes"]))


@pytest.mark.parametrize(("rank", "checkpointing"), [(8, False), (0, True)])
def test_live_tensors_are_met_as_allocated(base: Path, tmp_path: Path, rank: int, checkpointing: bool) -> None:
    numbers = np.random.default_rng(0)
    row = packed_row([(numbers.integers(3, 200, 568), [numbers.integers(3, 200, 25) for _ in range(8)])])
    hardware, lora = CPU.model_copy(update={"gradient_checkpointing": checkpointing}), LoraSettings(r=rank)
    thought = estimate_memory(
        str(base), "quadrants", lambda made: SharedClassifier(made)(row).sum(), lora, hardware, attention="sdpa"
    )
    model = load_model(base, "quadrants", hardware, lora=lora, attention="sdpa").train()
    if checkpointing:
        checkpoint_activations(model)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad])

    def steps() -> None:
        # The second step has the optimizer's states, and its second row the gradients of its first one.
        for rows in (1, 2):
            for _ in range(rows):
                SharedClassifier(model)(row).sum().backward()
            optimizer.step()
            optimizer.zero_grad()

    measured = thought.weights + allocated_at_most(steps, tmp_path / "trace.json")
    assert thought.tensors == pytest.approx(measured, rel=0.05)
    assert thought.total > thought.tensors


def test_weights_and_trained_weights_are_those_of_the_model(base: Path) -> None:
    for rank in (8, 0):
        model = load_model(base, "quadrants", CPU, lora=LoraSettings(r=rank))
        found = estimate(base, rank=rank)
        parameters = sum(4 * p.numel() for p in model.parameters())
        assert found.weights == pytest.approx(parameters, rel=1e-3)
        assert found.trained == sum(4 * p.numel() for p in model.parameters() if p.requires_grad)
        assert found.optimizer == 2 * found.trained


def test_checkpointing_and_fewer_tokens_need_less_and_four_bits_shrink_the_weights(base: Path) -> None:
    usual = estimate(base)
    assert estimate(base, gradient_checkpointing=True).step < 0.6 * usual.step
    assert 1.8 < estimate(base, tokens=512).step / usual.step < 2.6
    assert estimate(base, quantize="nf4").weights < 0.3 * usual.weights
    assert estimate(base, precision="bfloat16").weights < 0.6 * usual.weights


def test_attention_that_needs_a_gpu_is_estimated_without_one(base: Path) -> None:
    flash, usual = (
        estimate_memory(
            str(base), "causal", texts_step(2, 64, 16), LoraSettings(), CPU, attention=name, prepare=add_head
        )
        for name in ("flash_attention_2", "sdpa")
    )
    assert replace(flash, free=usual.free) == usual


def test_a_rehearsal_meets_gradients_and_states_and_leaves_no_trace(base: Path) -> None:
    model = load_model(base, "causal", CPU, lora=LoraSettings(r=4, dropout=0.5)).eval()
    add_head(model)
    weights, draws = {name: w.clone() for name, w in model.state_dict().items()}, torch.random.get_rng_state()
    trained = [w for w in model.parameters() if w.requires_grad]
    met = []

    def step(policy: Any) -> torch.Tensor:
        met.append(policy.training and all(w.grad is not None for w in trained))
        return texts_step(2, 32, 8)(policy)

    assert rehearse(model, step, CPU, autocast=False, copies=2) > 0
    with pytest.raises(torch.OutOfMemoryError):
        rehearse(model, short_of_memory, CPU, autocast=False, copies=2)
    assert met == [True] and not model.training
    assert all(w.grad is None for w in model.parameters())
    assert torch.equal(torch.random.get_rng_state(), draws)
    assert all(torch.equal(w, weights[name]) for name, w in model.state_dict().items())


def short_of_memory(_model: Any) -> torch.Tensor:
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")


def test_a_warning_names_the_setting_to_change() -> None:
    small = Estimate(weights=GIB, trained=1 << 20, optimizer=2 << 20, step=GIB, free=100 * GIB, device="cuda")
    smaller = "lower per_device_batch_size"
    assert small.warning(CPU, smaller) is None
    activations = replace(small, step=99 * GIB)
    assert "hardware.gradient_checkpointing = true" in str(activations.warning(CPU, smaller))
    checkpointed = CPU.model_copy(update={"gradient_checkpointing": True})
    assert str(activations.warning(checkpointed, smaller)).endswith(f": {smaller}")
    assert "hardware.quantize = 'nf4'" in str(replace(small, weights=99 * GIB).warning(CPU, smaller))
    assert "lora.r" in str(replace(small, optimizer=99 * GIB).warning(CPU, smaller))
    assert str(small) == (
        "memory: about 2 GiB (weights 1, optimizer 0.00195, activations and gradients 1); free on the cuda: 100.0 GiB"
    )


def llama_8b(folder: Path, layers: int) -> str:
    from transformers import LlamaConfig

    LlamaConfig(
        vocab_size=128256, hidden_size=4096, intermediate_size=14336, num_hidden_layers=layers, num_attention_heads=32,
        num_key_value_heads=8, max_position_embeddings=131072, pad_token_id=0,
    ).save_pretrained(folder)  # fmt: skip
    return str(folder)


def on_a_card(hardware: HardwareSettings) -> HardwareSettings:
    return hardware.model_copy(update={"device": "cpu", "precision": "bfloat16"})


def packed(model: str, module: Any, settings: Any, task: Any) -> Estimate:
    packing = settings.packing
    full = packed_row([(np.arange(packing.tokens_per_row - 16 * 24) % 1000, [np.arange(5, 29)] * 16)])
    return estimate_memory(
        model, task, lambda loaded: module(loaded)(full).sum(), settings.lora, on_a_card(settings.hardware),
        attention="flex_attention",
    )  # fmt: skip


def of_texts(model: str, settings: Any, tokens: int, answer: int) -> Estimate:
    rows, hardware = settings.per_device_batch_size, on_a_card(settings.hardware)
    loaded, autocast = trained_weights(hardware, whole=settings.lora.r == 0)
    return estimate_memory(
        model, "causal", texts_step(rows, tokens, answer), settings.lora, loaded, attention="sdpa",
        autocast=autocast, prepare=add_head, reference=True,
    )  # fmt: skip


def test_defaults_of_every_verb_fit_80_gib_for_8_billion_weights(tmp_path: Path) -> None:
    """Estimates grow by the same with each layer, so those of 1 and 2 layers tell of all 32."""
    grpo = GrpoSettings()
    whole = grpo.model_copy(update={"lora": LoraSettings(r=0)})
    needed: list[dict[str, int]] = []
    for layers in (1, 2):
        model = llama_8b(tmp_path / str(layers), layers)
        medhal, medval = MedhalSettings(), MedvalSettings()
        estimates = {
            "classifier": packed(model, SharedClassifier, ClassifierSettings(), "quadrants"),
            "corfu": packed(model, SharedPolicy, CorfuSettings(), "causal"),
            "medhal": of_texts(model, medhal, medhal.max_length, medhal.max_length),
            "medval": of_texts(model, medval, medval.max_length, medval.max_length),
            "grpo": of_texts(model, grpo, grpo.max_prompt_tokens + grpo.max_new_tokens, grpo.max_new_tokens + 1),
            "whole": of_texts(model, whole, 512, 128),
        }
        assert estimates["whole"].reference == estimates["whole"].weights
        needed.append({verb: estimate.tensors for verb, estimate in estimates.items()})
    one, two = needed
    of_all = {verb: one[verb] + 31 * (two[verb] - one[verb]) for verb in one}
    assert of_all.pop("whole") > 80 * GIB
    assert all(tensors < 0.9 * 80 * GIB for tensors in of_all.values()), of_all


def test_a_step_on_rows_that_stand_for_texts_has_gradients_that_are_numbers(tmp_path: Path) -> None:
    deep = tiny_decoder("llama", tiny_tokenizer(["a b c"], tmp_path / "t"), tmp_path / "m", hidden=128, layers=32)
    model = load_model(deep, "causal", CPU)
    add_head(model)
    texts_step(2, 32, 8)(model).backward()
    assert all(torch.isfinite(weight.grad).all() for weight in model.parameters() if weight.grad is not None)
