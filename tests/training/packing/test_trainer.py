"""Training on packed rows: the loss does not depend on packing, and a stopped run goes on to the same weights."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from ground.errors import TrainingError
from ground.lm.tiny import tiny_decoder, tiny_tokenizer
from training.packing.collate import RunData
from training.packing.plan import Item, plan_epochs
from training.packing.shared import SharedClassifier
from training.packing.tokens import EncodedTexts
from training.packing.trainer import train_packed
from training.runs.models import load_model, load_tokenizer
from training.runs.resuming import Record, trainer_arguments
from training.runs.settings import ClassifierSettings, HardwareSettings, LoraSettings, OptimizerSettings

LABELS = torch.arange(24) % 4


class CrossEntropy:
    """Labels that have nothing to do with the texts: enough to drive an optimizer."""

    logged = ("right",)

    def __call__(
        self, values: torch.Tensor, items: Sequence[int], places: torch.Tensor
    ) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        logits, labels = values[places[:, 0]], LABELS[list(items)]
        return nn.functional.cross_entropy(logits, labels, reduction="none"), {"right": logits.argmax(-1) == labels}


class Broken(CrossEntropy):
    """A loss that is not a number."""

    def __call__(self, values: torch.Tensor, items: Sequence[int], places: torch.Tensor) -> Any:
        losses, logged = super().__call__(values, items, places)
        return losses * torch.nan, logged


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("trainer")
    return tiny_decoder("llama", tiny_tokenizer(["a b c d"], root / "t"), root / "m")


@pytest.fixture(scope="module")
def data() -> RunData:
    numbers = np.random.default_rng(0)
    contexts = EncodedTexts.of([numbers.integers(3, 200, n) for n in (20, 12, 30)])
    statements = EncodedTexts.of([numbers.integers(3, 200, 3 + i % 4) for i in range(24)])
    items = [Item(f"i{i}", i % 3, (i,)) for i in range(24)]
    return RunData(contexts, statements, items, np.linspace(0.5, 2, 24))


def run(
    folder: Path, data: RunData, out: Path, *, tokens: int = 200, resume: bool = False, save: int = 100, **options: Any
) -> tuple[dict[str, torch.Tensor], list[Record]]:
    hardware = HardwareSettings(device="cpu", save_steps=save)
    model = load_model(folder, "quadrants", hardware, lora=LoraSettings(r=4, dropout=options.pop("dropout", 0.0)))
    plan = plan_epochs(
        data.items, data.contexts.lengths, data.statements.lengths,
        batch_size=8, max_per_context=4, tokens_per_row=tokens, epochs=2, seed=1,
    )  # fmt: skip
    records, _ = train_packed(
        SharedClassifier(model), load_tokenizer(folder), data, plan, options.pop("objective", CrossEntropy()), out,
        ClassifierSettings(optimizer=OptimizerSettings(learning_rate=1e-2), hardware=hardware, seed=1),
        resume=resume, **options,
    )  # fmt: skip
    weights = {name: value.clone() for name, value in model.state_dict().items() if "lora" in name or "score" in name}
    return weights, records


def test_the_rows_that_items_are_packed_into_change_no_weight(folder: Path, data: RunData, tmp_path: Path) -> None:
    wide, wide_records = run(folder, data, tmp_path / "wide", tokens=400)
    narrow, narrow_records = run(folder, data, tmp_path / "narrow", tokens=45)
    assert len(wide_records) == 6
    for one, other in zip(wide_records, narrow_records, strict=True):
        assert one["loss"] == pytest.approx(other["loss"], abs=1e-5)
    for name, value in wide.items():
        assert torch.allclose(value, narrow[name], atol=1e-4), name


def test_a_stopped_run_goes_on_to_the_weights_of_one_that_was_not(folder: Path, data: RunData, tmp_path: Path) -> None:
    whole, whole_records = run(folder, data, tmp_path / "whole", dropout=0.3)

    class StopError(Exception):
        pass

    done = 0

    def stop(n: int) -> None:
        nonlocal done
        done += n
        if done == 5:
            raise StopError

    with pytest.raises(StopError):
        run(folder, data, tmp_path / "stopped", dropout=0.3, save=2, advance=stop)
    again, records = run(folder, data, tmp_path / "stopped", dropout=0.3, save=2, resume=True)
    assert [record["step"] for record in records] == [0, 1, 2, 3, 4, 5]
    assert records == whole_records
    for name, value in whole.items():
        assert torch.equal(value, again[name]), name


def test_a_loss_that_is_no_number_stops_with_a_message(folder: Path, data: RunData, tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="the loss is not a number") as error:
        run(folder, data, tmp_path, objective=Broken())
    assert "learning_rate" in str(error.value)


def test_a_process_without_a_launcher_uses_one_gpu(tmp_path: Path) -> None:
    from transformers import TrainingArguments

    class OnFourGpus(TrainingArguments):
        def __post_init__(self) -> None:
            super().__post_init__()
            self._n_gpu = 4

    settings = ClassifierSettings(hardware=HardwareSettings(device="cpu"))
    arguments = trainer_arguments(OnFourGpus, tmp_path, settings, autocast=False, per_device_train_batch_size=1)
    assert arguments.n_gpu == arguments.train_batch_size == 1
