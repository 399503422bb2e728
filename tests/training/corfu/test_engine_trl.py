"""trl's DPOTrainer as the yardstick: our loss, gradients and weights on packed rows are those that it gives."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch

from evaluation.datasets import MedievalDataset
from tests.training.weights import relative, weights_of
from training.corfu.engine_trl import pair_trainer
from training.corfu.pairs import REGIMES, pair_items, stage_pairs
from training.corfu.run import train_corfu
from training.corfu.stage import CorfuObjective, pair_logps
from training.packing.collate import RunData
from training.packing.plan import plan_rows
from training.packing.shared import SharedPolicy
from training.packing.tokens import encode_contexts, encode_statements
from training.runs.models import load_model, load_tokenizer
from training.runs.settings import CorfuSettings, HardwareSettings, LoraSettings, OptimizerSettings, PackingSettings

HARDWARE = HardwareSettings(device="cpu", precision="float64", save_steps=2)
BETA = 0.1


def settings(lambda_: float, regime: str = "q1_q2", **changes: Any) -> CorfuSettings:
    return CorfuSettings.model_validate(
        {
            "regime": regime,
            "beta": BETA,
            "lambda": lambda_,
            "batch_size": 8,
            "lora": LoraSettings(r=4, alpha=16, dropout=0.0),
            "optimizer": OptimizerSettings(learning_rate=1e-2, warmup_ratio=0.1),
            "packing": PackingSettings(max_length=256, tokens_per_row=512),
            "hardware": HARDWARE,
            **changes,
        }
    )


@pytest.fixture(scope="module")
def data(dataset: MedievalDataset, model: Path) -> RunData:
    tokenizer = load_tokenizer(model)
    texts = dataset.rows["statement"].unique().sort().to_list()
    contexts, _ = encode_contexts(tokenizer, dataset.contexts["context"].to_list(), max_tokens=200)
    pairs = stage_pairs(dataset.split_rows("train"), REGIMES["mixed"][0], pairs_per_winner=2, seed=1)
    items = pair_items(pairs, {n: n for n in range(10)}, {text: n for n, text in enumerate(texts)})
    return RunData.alike(contexts, encode_statements(tokenizer, texts, end=True), items, tokenizer.pad_token_id)


def fresh(model: Path) -> Any:
    return load_model(model, "causal", HARDWARE, lora=LoraSettings(r=4, alpha=16, dropout=0.0), seed=3)


def move(policy: Any) -> None:
    """Set the adapter to weights at which margins are far from zero, and of both signs."""
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for name, value in policy.named_parameters():
            if ".default." in name:
                value.copy_(torch.randn(value.shape, generator=generator, dtype=torch.float64) * 0.3)


def gradients(policy: Any) -> torch.Tensor:
    found = [value.grad.flatten() for name, value in sorted(policy.named_parameters()) if ".default." in name]
    return torch.cat(found)


def ours(model: Path, data: RunData, lambda_: float) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return mean loss, margins and gradients on packed rows."""
    policy = fresh(model)
    shared = SharedPolicy(policy)
    reference = pair_logps(shared, data, 512)
    move(policy)
    objective = CorfuObjective(reference, BETA, lambda_)
    total, margins = torch.zeros((), dtype=torch.float64), []
    rows = plan_rows(range(len(data.items)), data.items, data.contexts.lengths, data.statements.lengths, 512)
    for plan in rows:
        row, order, places = shared.tensors(plan, data)
        losses, logged = objective(shared(row), order, places)
        (losses.sum() / len(data.items)).backward()
        total += losses.sum().detach() / len(data.items)
        margins.append(logged["margin"])
    return total, torch.cat(margins), gradients(policy)


def batch_of(trainer: Any) -> Any:
    return trainer.data_collator([trainer.train_dataset[n] for n in range(len(trainer.train_dataset))])


def test_without_penalty_packed_rows_give_the_loss_and_gradients_of_trl(
    model: Path, data: RunData, tmp_path: Path
) -> None:
    from trl import DPOTrainer

    policy = fresh(model)
    trainer = pair_trainer(data, policy, load_tokenizer(model), tmp_path, settings(0.0))
    move(policy)
    # Not the loss of the subclass, but trl's own.
    assert trainer.loss_types == ["sigmoid"]
    loss = DPOTrainer.compute_loss(trainer, policy, batch_of(trainer))
    loss.backward()
    packed, margins, packed_gradients = ours(model, data, 0.0)
    assert len(margins) == len(data.items) == 36
    assert (margins < -0.01).any()
    assert (margins > 0.01).any()
    assert relative(packed, loss) < 1e-6
    assert relative(packed_gradients, gradients(policy)) < 1e-6


def test_with_the_penalty_packed_rows_give_the_loss_and_gradients_of_the_subclass(
    model: Path, data: RunData, tmp_path: Path
) -> None:
    policy = fresh(model)
    trainer = pair_trainer(data, policy, load_tokenizer(model), tmp_path, settings(0.5))
    move(policy)
    loss = trainer.compute_loss(policy, batch_of(trainer))
    loss.backward()
    packed, margins, packed_gradients = ours(model, data, 0.5)
    plain, _, _ = ours(model, data, 0.0)
    assert float(packed - plain) == pytest.approx(0.5 * float(margins.clamp(max=0).square().mean()))
    assert float(packed - plain) > 1e-4
    assert relative(packed, loss) < 1e-6
    assert relative(packed_gradients, gradients(policy)) < 1e-6


def adapter(folder: Path) -> torch.Tensor:
    weights = weights_of(folder)
    return torch.cat([weights[name].double().flatten() for name in sorted(weights)])


@pytest.fixture(scope="module")
def curriculum(dataset: MedievalDataset, model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("curriculum") / "run"
    train_corfu(dataset, model, out, settings(0.5, "curriculum"), engine="trl")
    return out


def test_both_engines_train_to_the_same_weights(
    dataset: MedievalDataset, model: Path, curriculum: Path, tmp_path: Path
) -> None:
    """Three stages of three steps, the last of each with fewer pairs than the others."""
    record = train_corfu(dataset, model, tmp_path / "shared", settings(0.5, "curriculum"))
    trl = train_corfu(dataset, model, curriculum, settings(0.5, "curriculum"), engine="trl", resume=True)
    for one, other in zip(record["stages"], trl["stages"], strict=True):
        assert one["pairs"] == other["pairs"]
        assert len(one["records"]) == len(other["records"]) == 3
        for step, yardstick in zip(one["records"], other["records"], strict=True):
            assert step == pytest.approx(yardstick, rel=1e-4, abs=1e-6)
        assert one["validation"] == pytest.approx(other["validation"], rel=1e-4, abs=1e-6)
    assert relative(adapter(tmp_path / "shared"), adapter(curriculum)) < 1e-4


def test_the_copy_that_trl_keeps_as_reference_is_not_left_in_the_run_folder(curriculum: Path) -> None:
    assert sorted(path.name for path in curriculum.iterdir()) == [
        "README.md", "adapter_config.json", "adapter_model.safetensors", "tokenizer.json", "tokenizer_config.json",
        "training.json",
    ]  # fmt: skip


def test_a_stopped_run_of_trl_goes_on_to_the_weights_of_one_that_was_not(
    dataset: MedievalDataset, model: Path, curriculum: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class StopError(Exception):
        pass

    @contextmanager
    def progress(what: str, _total: int) -> Iterator[Any]:
        left = 3

        def advance(n: int) -> None:
            nonlocal left
            left -= n
            if what == "stage-2: training" and left == 0:
                raise StopError

        yield advance

    asked = settings(0.5, "curriculum")
    with monkeypatch.context() as patched, pytest.raises(StopError):
        patched.setattr("training.corfu.engine_trl.progress", progress)
        train_corfu(dataset, model, tmp_path / "run", asked, engine="trl")
    record = train_corfu(dataset, model, tmp_path / "run", asked, engine="trl", resume=True)
    assert [len(stage["records"]) for stage in record["stages"]] == [3, 3, 3]
    assert relative(adapter(tmp_path / "run"), adapter(curriculum)) < 1e-6
