"""Quadrants by scoring label continuations: equal to separate rows, and in the contract's shape."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch

from evaluation.datasets import MedievalDataset
from evaluation.predictions import read_predictions, write_predictions
from ground.contracts.rows import QUADRANTS
from training.corfu.run import train_corfu
from training.corfu.scores import label_continuations, score_quadrants, scored_data
from training.runs.models import load_model, load_tokenizer
from training.runs.settings import CorfuSettings, HardwareSettings, LoraSettings, PackingSettings

SETTINGS = CorfuSettings(
    seed=43,
    batch_size=6,
    lora=LoraSettings(r=4),
    packing=PackingSettings(max_length=256, tokens_per_row=600),
    hardware=HardwareSettings(device="cpu", precision="float64"),
)


def separate(model: Any, tokenizer: Any, data: Any) -> torch.Tensor:
    """Return probabilities from the labels' own tokens, one row a statement (or none) and label."""
    labels, found = label_continuations(tokenizer), []
    for item in data.items:
        scores = []
        for label, segment in zip([*labels, *labels], item.statements, strict=True):
            ids = torch.tensor(np.concatenate([data.contexts[item.context], data.statements[segment]]))
            assert ids[-len(label) :].tolist() == label.tolist()
            logps = model(input_ids=ids[None]).logits[0].log_softmax(-1)
            at = torch.arange(len(ids) - len(label) - 1, len(ids) - 1)
            scores.append(logps[at, ids[-len(label) :]].sum())
        behind, alone = torch.stack(scores).chunk(2)
        found.append((behind - alone).softmax(-1))
    return torch.stack(found)


@torch.no_grad()
def test_scores_are_those_of_the_labels_in_separate_rows(dataset: MedievalDataset, model: Path) -> None:
    scored = score_quadrants(model, dataset, "test", SETTINGS)
    rows, tokenizer = dataset.split_rows("test"), load_tokenizer(model)
    data, _ = scored_data(dataset, rows, tokenizer, 256)
    policy = load_model(model, "causal", SETTINGS.hardware).eval()
    apart = separate(policy, tokenizer, data)
    assert scored.height == 24
    assert np.allclose(np.array(scored["scores"].to_list()), apart.numpy(), rtol=1e-6)
    assert scored["label"].to_list() == [QUADRANTS[at] for at in apart.argmax(-1).tolist()]


def test_the_four_labels_differ_in_truth_and_support_alone(model: Path) -> None:
    tokenizer = load_tokenizer(model)
    texts = [tokenizer.decode(ids, skip_special_tokens=True) for ids in label_continuations(tokenizer)]
    assert texts == [
        "\nAnswer: true, supported by the record",
        "\nAnswer: true, not supported by the record",
        "\nAnswer: false, supported by the record",
        "\nAnswer: false, not supported by the record",
    ]
    assert all(ids[-1] == tokenizer.eos_token_id for ids in label_continuations(tokenizer))


def test_a_run_of_corfu_gives_a_prediction_file_that_evaluation_reads(
    dataset: MedievalDataset, model: Path, tmp_path: Path
) -> None:
    train_corfu(dataset, model, tmp_path / "policy", SETTINGS)
    scored = score_quadrants(tmp_path / "policy", dataset, "validation", SETTINGS)
    assert scored.height == 24
    assert not scored["scores"].equals(score_quadrants(model, dataset, "validation", SETTINGS)["scores"])
    write_predictions(tmp_path / "predictions-validation.parquet", scored)
    read = read_predictions(tmp_path / "predictions-validation.parquet")
    assert read["id"].to_list() == dataset.split_rows("validation")["id"].to_list()
    assert read["model"].unique().to_list() == ["policy"]
    assert read["seed"].unique().to_list() == [43]
    assert read.select(pl.col("scores").list.sum()).to_series().to_numpy() == pytest.approx(1.0)


def test_a_policy_whose_training_rows_are_as_long_as_its_contexts_is_scored_too(
    dataset: MedievalDataset, model: Path
) -> None:
    # An item of eight segments shares a row: it is longer than a context with its longest statement.
    changed = {"packing": PackingSettings(max_length=100, tokens_per_row=100)}
    scored = score_quadrants(model, dataset, "test", SETTINGS.model_copy(update=changed))
    data, cut = scored_data(dataset, dataset.split_rows("test"), load_tokenizer(model), 100)
    assert int(data.contexts.lengths.max()) + int(data.statements.lengths.max()) == 100
    assert 0 < cut.tokens_cut < cut.tokens and cut.truncated == len(data.contexts)
    apart = separate(load_model(model, "causal", SETTINGS.hardware).eval(), load_tokenizer(model), data)
    assert np.allclose(np.array(scored["scores"].to_list()), apart.detach().numpy(), rtol=1e-6)
