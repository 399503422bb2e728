"""Models as runs load them: what cannot be trained is refused, and experts are trained and come back as others do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from ground.errors import InputError, UsageError
from ground.lm.tiny import tiny_decoder, tiny_tokenizer
from tests.training.sft.cases import medhal_dataset, medhal_rows
from tests.training.toy import toy_dataset
from training.classifier.train import predict_classifier, train_classifier
from training.corfu.run import train_corfu
from training.runs.models import load_model, load_tokenizer, restore_weights, save_model
from training.runs.settings import ClassifierSettings, CorfuSettings, HardwareSettings, LoraSettings, MedhalSettings
from training.sft.train import train_texts

CPU = HardwareSettings(device="cpu")
NF4 = HardwareSettings(device="cpu", quantize="nf4")


@pytest.fixture(scope="module")
def experts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    dataset, root = toy_dataset(), tmp_path_factory.mktemp("experts")
    texts = [*dataset.contexts["context"], *dataset.rows["statement"]]
    return tiny_decoder("mixtral", tiny_tokenizer(texts, root / "t"), root / "m")


def test_4_bit_weights_without_an_adapter_are_refused_by_every_verb(experts: Path, tmp_path: Path) -> None:
    whole: dict[str, Any] = {"lora": LoraSettings(r=0), "hardware": NF4}
    data = medhal_dataset(tmp_path / "data", medhal_rows(16))
    runs = (
        lambda out: train_classifier(toy_dataset(), experts, out, ClassifierSettings(**whole)),
        lambda out: train_corfu(toy_dataset(), experts, out, CorfuSettings(**whole)),
        lambda out: train_texts("medhal", data, str(experts), out, MedhalSettings(**whole)),
    )
    for run in runs:
        with pytest.raises(UsageError, match="4-bit weights cannot be trained without an adapter"):
            run(tmp_path / "run")
        assert not (tmp_path / "run").exists()


def test_a_model_of_experts_is_trained_with_an_adapter_and_without_dropout_which_is_said(
    experts: Path, tmp_path: Path
) -> None:
    said: list[str] = []
    settings = ClassifierSettings(epochs=1, lora=LoraSettings(r=2, dropout=0.05), hardware=CPU)
    train_classifier(toy_dataset(), experts, tmp_path / "run", settings, say=said.append)
    assert any(line.startswith("lora.dropout is 0, not 0.05") for line in said)
    model = load_model(tmp_path / "run", "quadrants", CPU)
    names = [name for name, weight in model.named_parameters() if "lora_B" in name and float(weight.abs().max()) > 0]
    assert any(".experts." in name for name in names)
    assert predict_classifier(tmp_path / "run", toy_dataset(), "test").height == 24


@pytest.mark.parametrize("rank", [0, 2])
def test_every_trained_weight_of_experts_comes_back(experts: Path, tmp_path: Path, rank: int) -> None:
    trained = load_model(experts, "causal", CPU, lora=LoraSettings(r=rank))
    with torch.no_grad():
        for weight in trained.parameters():
            if weight.requires_grad:
                weight.normal_()
    save_model(trained, load_tokenizer(experts), tmp_path)
    again = load_model(experts, "causal", CPU, lora=LoraSettings(r=rank))
    restore_weights(again, tmp_path)
    for (name, ours), theirs in zip(again.named_parameters(), trained.parameters(), strict=True):
        assert torch.equal(ours, theirs), name


def test_a_checkpoint_that_lacks_a_weight_is_refused(experts: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    for rank, name in ((0, "model.safetensors"), (2, "adapter_model.safetensors")):
        model, folder = load_model(experts, "causal", CPU, lora=LoraSettings(r=rank)), tmp_path / str(rank)
        save_model(model, load_tokenizer(experts), folder)
        weights = load_file(folder / name)
        weights.pop(next(key for key in sorted(weights) if "q_proj" in key))
        save_file(weights, folder / name, {"format": "pt"})
        with pytest.raises(InputError, match="does not hold the weights"):
            restore_weights(model, folder)


def test_a_run_of_all_weights_of_a_detector_goes_on_with_its_experts(experts: Path, tmp_path: Path) -> None:
    from tests.training.sft.test_train import StopAt

    data = medhal_dataset(tmp_path / "data", medhal_rows(8))
    settings = MedhalSettings(
        epochs=1,
        batch_size=4,
        per_device_batch_size=4,
        lora=LoraSettings(r=0),
        hardware=HardwareSettings(device="cpu", save_steps=1),
    )
    train_texts("medhal", data, str(experts), tmp_path / "whole", settings)
    with pytest.raises(KeyboardInterrupt):
        train_texts("medhal", data, str(experts), tmp_path / "run", settings, callbacks=[StopAt(1)])
    train_texts("medhal", data, str(experts), tmp_path / "run", settings, resume=True)
    whole, run = (load_model(tmp_path / name, "causal", CPU) for name in ("whole", "run"))
    for (name, ours), theirs in zip(run.named_parameters(), whole.parameters(), strict=True):
        assert torch.equal(ours, theirs), name
