"""The plain engine: passes of a few rows weigh as one large pass does."""

from __future__ import annotations

import math
from pathlib import Path

import polars as pl
import pytest
import torch

from tests.training.classifier.test_train import CPU, EXACT, descent
from tests.training.tiny import tiny_decoder, tiny_tokenizer
from tests.training.worlds import small_dataset
from training.classifier.items import QuadrantData, QuadrantLoss, class_weights, quadrant_data
from training.classifier.plain import PlainClassifier, evaluate_plain, plain_steps
from training.packing.plan import plan_epochs
from training.packing.trainer import train_packed
from training.runs.models import load_model, load_tokenizer
from training.runs.resuming import Record
from training.runs.settings import LoraSettings


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("plain")
    world = small_dataset(root)
    tokenizer = tiny_tokenizer(world.contexts["context"].to_list(), root / "t")
    return tiny_decoder("qwen3", tokenizer, root / "m")


@pytest.fixture(scope="module")
def rows(base: Path) -> QuadrantData:
    world = small_dataset(base)
    # 30 rows and batches of 8: the last step has 6.
    kept = world.split_rows("train").filter(~pl.col("id").str.contains("-0-Q2")).head(30)
    found = quadrant_data(world, kept, load_tokenizer(base), max_length=4096)
    return found.weighted(class_weights(found.labels, "balanced"))


def run(base: Path, rows: QuadrantData, out: Path, at_once: int) -> tuple[list[Record], dict[str, torch.Tensor]]:
    model = load_model(base, "quadrants", EXACT, lora=LoraSettings(r=4, dropout=0), trainable=True)
    plan = plan_epochs(
        rows.data.items, rows.data.contexts.lengths, rows.data.statements.lengths,
        batch_size=8, max_per_context=4, tokens_per_row=4096, epochs=1, seed=3,
    )  # fmt: skip
    records, _ = train_packed(
        PlainClassifier(model), load_tokenizer(base), rows.data, plain_steps(plan, rows.data, at_once),
        QuadrantLoss(rows.labels), out, descent(seed=3),
    )  # fmt: skip
    return records, {name: p.detach() for name, p in model.named_parameters() if p.requires_grad}


def test_four_batches_of_two_train_as_one_batch_of_eight(base: Path, rows: QuadrantData, tmp_path: Path) -> None:
    records, weights = run(base, rows, tmp_path / "accumulated", 2)
    expected, others = run(base, rows, tmp_path / "whole", 8)
    assert len(records) == 4
    assert [r["loss"] for r in records] == pytest.approx([r["loss"] for r in expected], rel=1e-7)
    for name, value in weights.items():
        assert torch.allclose(value, others[name], rtol=1e-6, atol=1e-9), name
    # Before any update the loss of four classes is about log 4, whatever is accumulated.
    assert records[0]["loss"] == pytest.approx(math.log(4), abs=0.3)


def test_padding_and_batching_change_no_logit(base: Path, rows: QuadrantData) -> None:
    model = load_model(base, "quadrants", CPU, lora=LoraSettings(r=0), trainable=True)
    alone, together = (evaluate_plain(model, rows.data, rows_at_once=n) for n in (1, 7))
    assert alone.shape == (30, 4)
    assert torch.allclose(alone, together, atol=1e-5)
    assert not torch.allclose(alone[0], alone[1], atol=1e-4)
