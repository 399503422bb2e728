from __future__ import annotations

from pathlib import Path

import pytest

from evaluation.datasets import MedievalDataset
from tests.training.encoder.world import small_dataset, tiny_encoder
from training.encoder.train import train_encoder
from training.runs.settings import EncoderSettings


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_encoder(tmp_path_factory.mktemp("tiny-bert"))


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> MedievalDataset:
    return small_dataset(tmp_path_factory.mktemp("world") / "medieval")


@pytest.fixture(scope="session")
def late() -> EncoderSettings:
    return EncoderSettings(
        epochs=20,
        batch_size=16,
        window_tokens=32,
        overlap_tokens=4,
        frozen_layers=0,
        match_layers=(0,),
        learning_rate=3e-3,
        head_learning_rate=3e-3,
        dropout=0.0,
        device="cpu",
    )


@pytest.fixture(scope="session")
def late_run(
    dataset: MedievalDataset, tiny: Path, late: EncoderSettings, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    run = tmp_path_factory.mktemp("runs") / "late"
    train_encoder(dataset, tiny, run, late)
    return run
