"""What a run uses of its machine, and that every fallback is said."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from ground.errors import UsageError
from tests.training.sft.cases import medhal_dataset, medhal_rows, tiny_model
from training.runs.models import device_of, precision_of
from training.runs.resuming import choose_optimizer
from training.runs.settings import GenerationSettings, HardwareSettings, MedhalSettings, MedvalSettings
from training.runs.text_runs import texts_attention
from training.sft.generate import generate
from training.sft.train import train_texts


def test_an_optimizer_of_cuda_is_replaced_on_a_cpu_and_that_is_said() -> None:
    assert choose_optimizer("paged_adamw_8bit", "cuda") == ("paged_adamw_8bit", None)
    used, why = choose_optimizer("paged_adamw_8bit", "cpu")
    assert used == "adamw_torch"
    assert why is not None
    assert "paged_adamw_8bit needs CUDA" in why
    assert choose_optimizer("adafactor", "cpu") == ("adafactor", None)


def test_auto_settings_resolve_and_impossible_ones_are_refused() -> None:
    hardware = HardwareSettings(device="cpu")
    assert (device_of(hardware), precision_of(hardware)) == ("cpu", torch.float32)
    assert texts_attention(hardware) == ("sdpa", [])
    assert texts_attention(HardwareSettings(device="cpu", quantize="nf4"))[1]
    attention, notes = texts_attention(HardwareSettings(device="cpu", attention="split"))
    assert attention == "sdpa"
    assert notes == ["attention split is for packed rows; sdpa is used"]
    with pytest.raises(UsageError, match="float64"):
        texts_attention(HardwareSettings(device="cpu", quantize="nf4", precision="float64"))
    if not torch.cuda.is_available():
        with pytest.raises(UsageError, match="no CUDA"):
            texts_attention(HardwareSettings(device="cuda"))


def test_defaults_are_the_papers() -> None:
    medhal, medval = MedhalSettings(), MedvalSettings()
    assert (medhal.max_length, medhal.batch_size, medhal.epochs) == (8192, 16, 1)
    assert (medhal.optimizer.optimizer, medhal.hardware.quantize) == ("paged_adamw_8bit", "nf4")
    assert (medhal.lora.r, medhal.lora.alpha, medhal.lora.target_modules) == (16, 16, ("all-linear",))
    assert (medval.epochs, medval.batch_size, medval.optimizer.learning_rate) == (5, 1, 1e-5)
    assert medval.optimizer.schedule == "linear"


def test_a_model_with_fewer_positions_shortens_the_rows_and_says_so(tmp_path: Path) -> None:
    base, data = str(tiny_model(tmp_path / "base")), medhal_dataset(tmp_path / "data", medhal_rows(2))
    hardware = HardwareSettings(device="cpu")
    for length, said in ((8192, [True]), (4000, [])):
        settings = MedhalSettings(max_length=length, batch_size=2, hardware=hardware)
        record = train_texts("medhal", data, base, tmp_path / str(length), settings)
        assert ["4,096 positions" in note for note in record["machine"]["notes"] if "positions" in note] == said


def test_an_adapter_on_4_bit_weights_trains_in_float32_and_answers(tmp_path: Path) -> None:
    base = tiny_model(tmp_path / "base", hidden=64)
    data = medhal_dataset(tmp_path / "data", [*medhal_rows(4), *medhal_rows(2, split="test")])
    # A rate at which bfloat16 would round most steps away.
    settings = MedhalSettings.model_validate(
        {
            "batch_size": 2,
            "per_device_batch_size": 2,
            "optimizer": {"learning_rate": 1e-5, "warmup_ratio": 0.0},
            "hardware": {"device": "cpu", "quantize": "nf4"},
        }
    )
    record = train_texts("medhal", data, str(base), tmp_path / "run", settings)
    assert record["machine"]["quantize"] == "nf4"
    assert record["machine"]["trained_weights"] == "float32"
    weights = load_file(tmp_path / "run" / "adapter_model.safetensors")
    assert {weight.dtype for weight in weights.values()} == {torch.float32}
    assert all(weight.abs().max() > 0 for name, weight in weights.items() if "lora_B" in name)
    answers = generate(
        "medhal",
        data,
        str(tmp_path / "run"),
        tmp_path / "p.parquet",
        GenerationSettings(max_new_tokens=2, hardware=HardwareSettings(device="cpu", quantize="nf4")),
    )
    assert answers["rows"] == 2
