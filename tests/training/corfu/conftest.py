"""The toy dataset and a decoder with random weights that all tests of CoRFu share."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluation.datasets import MedievalDataset
from ground.lm.tiny import tiny_decoder, tiny_tokenizer
from tests.training.toy import toy_dataset


@pytest.fixture(scope="session")
def dataset() -> MedievalDataset:
    return toy_dataset()


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory, dataset: MedievalDataset) -> Path:
    root = tmp_path_factory.mktemp("corfu")
    texts = [*dataset.contexts["context"], *dataset.rows["statement"]]
    return tiny_decoder("llama", tiny_tokenizer(texts, root / "t"), root / "m")
