"""Quadrant classifiers: both engines give the same model, which keeps its head and is usable without our package."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch

from evaluation.datasets import MedievalDataset
from ground.errors import InputError, TrainingError, UsageError
from ground.lm.tiny import tiny_decoder, tiny_tokenizer
from tests.training.weights import assert_same_weights, weights_of
from tests.training.worlds import small_dataset
from training.classifier.heads import ready_to_train
from training.classifier.items import class_weights, quadrant_data
from training.classifier.train import Engine, predict_classifier, train_classifier
from training.corfu.run import train_corfu
from training.packing.collate import packed_row
from training.packing.shared import SharedClassifier, SharedPolicy
from training.runs.models import load_model, load_tokenizer, save_model
from training.runs.resuming import memory_errors
from training.runs.settings import (
    ClassifierSettings,
    CorfuSettings,
    HardwareSettings,
    LoraSettings,
    OptimizerSettings,
    PackingSettings,
)

CPU = HardwareSettings(device="cpu")
EXACT = HardwareSettings(device="cpu", precision="float64")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> MedievalDataset:
    return small_dataset(tmp_path_factory.mktemp("world"))


@pytest.fixture(scope="module")
def base(world: MedievalDataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("base")
    texts = world.contexts["context"].to_list() + world.rows["statement"].to_list()
    return tiny_decoder("llama", tiny_tokenizer(texts, root / "t"), root / "m")


def descent(**changed: Any) -> ClassifierSettings:
    """Plain gradient descent, so that weights show gradients as they are."""
    optimizer = OptimizerSettings(
        optimizer="sgd", learning_rate=1.0, weight_decay=0, warmup_ratio=0, max_grad_norm=1e9,
        schedule="constant_with_warmup",
    )  # fmt: skip
    options: dict[str, Any] = {
        "epochs": 1, "batch_size": 20, "optimizer": optimizer, "hardware": EXACT,
        "lora": LoraSettings(r=4, dropout=0), "packing": PackingSettings(max_per_context=8),
    }  # fmt: skip
    return ClassifierSettings(**(options | changed))


@pytest.fixture(scope="module")
def fitted(world: MedievalDataset, base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of plain descent, an adapter of rank 4, in float64."""
    run = tmp_path_factory.mktemp("fitted") / "run"
    train_classifier(world, base, run, descent())
    return run


def unbalanced(world: MedievalDataset) -> MedievalDataset:
    """Leave rows out, so that the weights of the classes differ."""
    rows = world.rows.filter(~((pl.col("quadrant") == "Q3") & pl.col("id").str.contains("-0-|-1-")))
    return MedievalDataset(world.folder, rows, world.contexts, world.manifest_sha256)


def losses(record: dict[str, Any]) -> list[float]:
    return [values["loss"] for values in record["losses"]]


def test_shared_and_plain_rows_give_the_same_losses_and_gradients(
    world: MedievalDataset, base: Path, tmp_path: Path
) -> None:
    rows = unbalanced(world)
    shared = train_classifier(rows, base, tmp_path / "shared", descent())
    plain = train_classifier(rows, base, tmp_path / "plain", descent(), engine="plain")
    assert shared["class_weights"]["Q3"] == pytest.approx(3 * shared["class_weights"]["Q1"])
    assert len(losses(shared)) == 3
    assert losses(shared) == pytest.approx(losses(plain), rel=1e-6)
    assert_same_weights(tmp_path / "shared", tmp_path / "plain", 1e-6)


def test_checkpointed_activations_give_the_same_gradients(
    world: MedievalDataset, base: Path, fitted: Path, tmp_path: Path
) -> None:
    hardware = EXACT.model_copy(update={"gradient_checkpointing": True})
    train_classifier(world, base, tmp_path / "again", descent(hardware=hardware))
    assert_same_weights(tmp_path / "again", fitted, 1e-9)


def test_flash_attention_is_refused_for_packed_rows_alone(
    world: MedievalDataset, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = descent(hardware=HardwareSettings(device="cpu", attention="flash_attention_2"))
    with pytest.raises(UsageError, match="takes no mask"):
        train_classifier(world, base, tmp_path / "shared", settings)
    asked: list[str | None] = []

    def load(*_: Any, attention: str | None, **__: Any) -> Any:
        asked.append(attention)
        raise UsageError("loaded on another machine")

    monkeypatch.setattr("training.runs.folder.load_model", load)
    with pytest.raises(UsageError, match="another machine"):
        train_classifier(world, base, tmp_path / "plain", settings, engine="plain")
    assert asked == ["flash_attention_2"]


def test_a_statement_weighs_as_its_quadrant_is_rare() -> None:
    labels = np.array([0, 0, 0, 1, 2, 2, 3, 3])
    # n / (4 n_q): 8 / 12, 8 / 4, 8 / 8, 8 / 8; the mean over the rows is 1.
    assert class_weights(labels, "balanced").tolist() == pytest.approx([2 / 3, 2, 1, 1])
    assert class_weights(labels, "balanced")[labels].mean() == pytest.approx(1)
    assert class_weights(labels, "none").tolist() == [1, 1, 1, 1]
    assert class_weights(np.array([0, 0, 1]), "balanced").tolist() == pytest.approx([0.75, 1.5, 0, 0])


@pytest.fixture(scope="module")
def learnt(world: MedievalDataset, base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A classifier of all weights that has learnt which words make a statement false."""
    run = tmp_path_factory.mktemp("learnt") / "run"
    settings = ClassifierSettings(
        epochs=8, batch_size=12, lora=LoraSettings(r=0), optimizer=OptimizerSettings(learning_rate=3e-3), hardware=CPU
    )
    train_classifier(world, base, run, settings)
    return run


def test_the_loss_falls_and_what_was_learnt_is_predicted(world: MedievalDataset, learnt: Path) -> None:
    record = json.loads((learnt / "training.json").read_text())
    assert np.mean(losses(record)[-6:]) < 0.75 * np.mean(losses(record)[:6])
    found = predict_classifier(learnt, world, "test")
    assert found["id"].to_list() == world.split_rows("test")["id"].to_list()
    truth = world.split_rows("test")["is_true"]
    assert np.mean(found["label"].is_in(["Q1", "Q2"]).to_numpy() == truth.to_numpy()) > 0.95
    scores = np.array(found["scores"].to_list())
    assert np.allclose(scores.sum(1), 1)
    assert [f"Q{at + 1}" for at in scores.argmax(1)] == found["label"].to_list()
    assert set(found["seed"]) == {42}


def test_both_engines_predict_the_same(world: MedievalDataset, learnt: Path, tmp_path: Path) -> None:
    record = json.loads((learnt / "training.json").read_text())
    other = shutil.copytree(learnt, tmp_path / "plain")
    (other / "training.json").write_text(json.dumps(record | {"engine": "plain"}))
    shared, plain = (predict_classifier(run, world, "test") for run in (learnt, other))
    assert record["engine"] == "shared"
    assert shared["label"].equals(plain["label"])
    assert np.allclose(np.array(shared["scores"].to_list()), np.array(plain["scores"].to_list()), atol=1e-5)


def test_a_run_folder_holds_model_tokenizer_card_and_record_and_no_checkpoints(
    world: MedievalDataset, learnt: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = {file.name for file in learnt.iterdir()}
    assert {"model.safetensors", "config.json", "tokenizer.json", "README.md", "training.json"} <= names
    assert "checkpoints" not in names
    assert learnt.stat().st_mode & 0o777 == 0o700
    config = json.loads((learnt / "config.json").read_text())
    assert config["id2label"] == {"0": "Q1", "1": "Q2", "2": "Q3", "3": "Q4"}
    record = json.loads((learnt / "training.json").read_text())
    assert record["dataset"]["manifest_sha256"] == world.manifest_sha256
    assert record["rows"] == {"train": 72, "Q1": 18, "Q2": 18, "Q3": 18, "Q4": 18}
    assert record["software"]["torch"] == torch.__version__
    assert capsys.readouterr() == ("", "")


def test_adapter_and_head_give_the_same_logits_without_our_package(
    world: MedievalDataset, base: Path, fitted: Path
) -> None:
    from peft import PeftModel
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    ours = predict_classifier(fitted, world, "test")
    tokenizer = AutoTokenizer.from_pretrained(fitted)
    model = AutoModelForSequenceClassification.from_pretrained(base, num_labels=4, dtype=torch.float64)
    model = PeftModel.from_pretrained(model, fitted).eval()
    rows = world.split_rows("test").join(world.contexts, on="hadm_id").sort("id")
    for row, scores in list(zip(rows.iter_rows(named=True), ours["scores"], strict=True))[:6]:
        parts = ["Patient record:\n", row["context"], "\n\nStatement:", " " + row["statement"]]
        ids = [tokenizer.bos_token_id] + [
            token for part in parts for token in tokenizer(part, add_special_tokens=False)["input_ids"]
        ]
        with torch.no_grad():
            found = model(input_ids=torch.tensor([ids])).logits.softmax(-1)[0]
        assert found.tolist() == pytest.approx(scores, abs=1e-5)
    # The head was trained: another one, drawn anew, would not pass.
    assert "base_model.model.score.weight" in weights_of(fitted)


@pytest.fixture(scope="module")
def policy(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A policy's adapter, drawn at random as CoRFu would have trained it."""
    folder = tmp_path_factory.mktemp("policy") / "corfu"
    model = load_model(base, "causal", EXACT, lora=LoraSettings(r=4))
    torch.manual_seed(5)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "lora_B" in name:
                weight.normal_(std=0.3)
    save_model(model, load_tokenizer(base), folder)
    return folder


def test_a_policys_backbone_keeps_its_states_under_a_new_head(world: MedievalDataset, base: Path, policy: Path) -> None:
    row = packed_row([(np.arange(5, 30), [np.arange(40, 46), np.arange(50, 53)])])
    before = load_model(policy, "causal", EXACT).eval()
    after = ready_to_train(load_model(policy, "quadrants", EXACT, trainable=True), freeze_backbone=True)
    untrained = load_model(base, "causal", EXACT).eval()
    expected = SharedPolicy(before).states(row)
    # In training mode: a frozen backbone drops nothing out.
    found = SharedClassifier(after.train()).states(row)
    assert torch.equal(found, expected)
    assert not torch.allclose(SharedPolicy(untrained).states(row), expected, atol=1e-3)
    assert [name for name, weight in after.named_parameters() if weight.requires_grad] == [
        "base_model.model.score.modules_to_save.default.weight"
    ]


def test_a_frozen_backbone_stays_as_it_was_and_an_unfrozen_one_does_not(
    world: MedievalDataset, policy: Path, tmp_path: Path
) -> None:
    given = weights_of(policy)
    train_classifier(world, policy, tmp_path / "frozen", descent(), freeze_backbone=True)
    train_classifier(world, policy, tmp_path / "free", descent())
    frozen, free = weights_of(tmp_path / "frozen"), weights_of(tmp_path / "free")
    assert set(frozen) == set(given) | {"base_model.model.score.weight"}
    assert all(torch.equal(frozen[name], value) for name, value in given.items())
    assert any(not torch.equal(free[name], value) for name, value in given.items())
    head = "base_model.model.score.weight"
    assert not torch.equal(frozen[head], load_model(policy, "quadrants", EXACT, trainable=True).state_dict()[
        "base_model.model.score.modules_to_save.default.weight"
    ])  # fmt: skip
    assert predict_classifier(tmp_path / "frozen", world, "test").height == 36


def test_a_head_that_is_trained_stays_in_float32(base: Path) -> None:
    half = HardwareSettings(device="cpu", precision="bfloat16")
    model = ready_to_train(load_model(base, "quadrants", half, lora=LoraSettings(r=4), trainable=True))
    trained = {p.dtype for p in model.parameters() if p.requires_grad}
    assert trained == {torch.float32}
    row = packed_row([(np.arange(5, 30), [np.arange(40, 46)])])
    SharedClassifier(model)(row).sum().backward()
    assert all(p.grad is not None for name, p in model.named_parameters() if "score.modules_to_save" in name)


class Stopped:
    """Raises as Ctrl-C does, after so many steps."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, steps: int) -> None:
        from contextlib import contextmanager

        @contextmanager
        def bar(_title: str, _total: int | None) -> Any:
            def advance(n: int) -> None:
                self.left -= n
                if self.left == 0:
                    raise KeyboardInterrupt

            yield advance

        self.left = steps
        monkeypatch.setattr("training.classifier.train.progress", bar)


@pytest.mark.parametrize("engine", ["shared", "plain"])
def test_an_interrupted_run_goes_on_to_the_weights_of_one_that_was_not(
    world: MedievalDataset, base: Path, tmp_path: Path, engine: Engine
) -> None:
    settings = ClassifierSettings(
        epochs=1, batch_size=20, lora=LoraSettings(r=4, dropout=0.2), optimizer=OptimizerSettings(learning_rate=1e-2),
        hardware=CPU.model_copy(update={"save_steps": 2}),
    )  # fmt: skip
    whole = train_classifier(world, base, tmp_path / "whole", settings, engine=engine)
    out = tmp_path / "stopped"
    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        Stopped(patch, steps=3)
        train_classifier(world, base, out, settings, engine=engine)
    assert [folder.name for folder in (out / "checkpoints").glob("checkpoint-*")] == ["checkpoint-2"]
    # A checkpoint that was being written is passed over.
    (out / "checkpoints" / "checkpoint-4").mkdir()
    with pytest.raises(UsageError, match="already contains a run"):
        train_classifier(world, base, out, settings, engine=engine)
    with pytest.raises(InputError, match="did not finish"):
        predict_classifier(out, world, "test")
    with pytest.raises(UsageError, match="started with other settings"):
        train_classifier(world, base, out, settings.model_copy(update={"seed": 1}), engine=engine, resume=True)
    again = train_classifier(world, base, out, settings, engine=engine, resume=True)
    assert again["losses"] == whole["losses"]
    assert again["measured"]["tokens"] < whole["measured"]["tokens"]
    assert_same_weights(out, tmp_path / "whole")
    assert train_classifier(world, base, out, settings, engine=engine, resume=True) == again


def test_a_loss_that_is_no_number_stops_with_the_setting_to_change(
    world: MedievalDataset, base: Path, tmp_path: Path
) -> None:
    settings = descent(optimizer=OptimizerSettings(learning_rate=1e30, warmup_ratio=0), hardware=CPU)
    with pytest.raises(TrainingError, match="the loss is not a number") as error:
        train_classifier(world, base, tmp_path / "run", settings)
    assert "optimizer.learning_rate" in str(error.value)


def test_memory_that_is_not_there_is_said_with_the_setting_to_change() -> None:
    with pytest.raises(TrainingError, match="memory is short") as error, memory_errors("lower packing.tokens_per_row"):
        torch.empty(1 << 60)
    assert "packing.tokens_per_row" in str(error.value)
    with pytest.raises(RuntimeError, match="shape"), memory_errors("-"):
        torch.zeros(2).view(3)


@pytest.mark.parametrize("engine", ["shared", "plain"])
def test_the_largest_row_is_run_before_training_and_changes_nothing(
    world: MedievalDataset, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: Engine
) -> None:
    settings = ClassifierSettings(
        epochs=0.5, batch_size=20, lora=LoraSettings(r=4, dropout=0.2), optimizer=OptimizerSettings(learning_rate=1e-2),
        hardware=CPU,
    )  # fmt: skip
    without = train_classifier(world, base, tmp_path / "without", settings, engine=engine)
    monkeypatch.setattr("training.runs.folder.REHEARSED_ON", ("cpu",))
    said: list[str] = []
    record = train_classifier(world, base, tmp_path / "with", settings, engine=engine, say=said.append)
    assert record["losses"] == without["losses"]
    assert_same_weights(tmp_path / "with", tmp_path / "without")
    assert without["memory"]["measured"] is None and record["memory"]["measured"] > 0
    assert "when the largest step was run" in said[-1]


def test_activations_are_computed_again_where_the_step_does_not_fit_without(
    world: MedievalDataset, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fitting(_model: Any, _step: Any, hardware: HardwareSettings, **_: Any) -> int:
        if hardware.gradient_checkpointing or not tight:
            return 1 << 20
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has none.")

    monkeypatch.setattr("training.runs.folder.REHEARSED_ON", ("cpu",))
    monkeypatch.setattr("training.runs.folder.rehearse", fitting)
    settings = ClassifierSettings(epochs=0.5, lora=LoraSettings(r=2), hardware=CPU)
    for tight in (False, True):
        said: list[str] = []
        record = train_classifier(world, base, tmp_path / f"{tight}", settings, say=said.append)
        assert record["machine"]["gradient_checkpointing"] is tight
        assert record["settings"]["hardware"]["gradient_checkpointing"] == "auto"
        assert any("computing activations again" in line for line in said) is tight


@pytest.mark.parametrize("kind", ["classifier", "corfu"])
def test_a_largest_row_without_memory_ends_a_run_before_it_trains(
    world: MedievalDataset, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    def short(*_: Any, **__: Any) -> int:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has none.")

    reached: list[Any] = []
    monkeypatch.setattr("training.runs.folder.REHEARSED_ON", ("cpu",))
    monkeypatch.setattr("training.runs.folder.rehearse", short)
    monkeypatch.setattr("training.corfu.run.pair_logps", reached.append)
    monkeypatch.setattr(f"training.{kind}.{'run' if kind == 'corfu' else 'train'}.train_packed", reached.append)
    with pytest.raises(TrainingError, match="memory is short") as error:
        if kind == "corfu":
            train_corfu(world, base, tmp_path / "run", CorfuSettings(hardware=CPU))
        else:
            train_classifier(world, base, tmp_path / "run", ClassifierSettings(hardware=CPU))
    assert "lower packing.tokens_per_row" in str(error.value) and "Tried to allocate 2.00 GiB" in str(error.value)
    assert not reached and not (tmp_path / "run").exists()


def test_a_decoder_that_cannot_share_contexts_is_refused_and_trained_plainly(
    world: MedievalDataset, base: Path, tmp_path: Path
) -> None:
    from transformers import AutoConfig, AutoModelForCausalLM

    config = AutoConfig.from_pretrained(base).to_dict()
    kept = ("vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "head_dim")
    sizes = {name: config[name] for name in (*kept, "num_key_value_heads", "pad_token_id")}
    AutoModelForCausalLM.from_config(AutoConfig.for_model("mistral", sliding_window=16, **sizes)).save_pretrained(
        tmp_path / "mistral"
    )
    load_tokenizer(base).save_pretrained(tmp_path / "mistral")
    with pytest.raises(UsageError, match="sliding-window") as error:
        train_classifier(world, tmp_path / "mistral", tmp_path / "shared", descent(hardware=CPU))
    assert "--engine plain" in str(error.value)
    record = train_classifier(world, tmp_path / "mistral", tmp_path / "run", descent(hardware=CPU), engine="plain")
    assert record["engine"] == "plain"
    assert predict_classifier(tmp_path / "run", world, "test").height == 36


def test_seeds_make_a_run_each(world: MedievalDataset, base: Path, tmp_path: Path) -> None:
    def train(seed: int, **options: Any) -> dict[str, Any]:
        settings = descent(hardware=CPU, epochs=0.3, seed=seed)
        return train_classifier(world, base, tmp_path / f"seed-{seed}", settings, **options)

    records = {seed: train(seed) for seed in (42, 43)}
    assert records[42]["losses"] != records[43]["losses"]
    found = [predict_classifier(tmp_path / f"seed-{seed}", world, "test", name="tiny") for seed in (42, 43)]
    assert [set(frame["seed"]) for frame in found] == [{42}, {43}]
    assert set(found[0]["model"]) == {"tiny"}
    assert {seed: train(seed, resume=True) for seed in (42, 43)} == records


def test_contexts_are_cut_alike_for_every_row_and_the_cut_is_counted(world: MedievalDataset, base: Path) -> None:
    tokenizer = load_tokenizer(base)
    test, train = (quadrant_data(world, world.split_rows(s), tokenizer, max_length=60) for s in ("test", "train"))
    longest = max(int(part.data.statements.lengths.max()) for part in (test, train))
    assert max(train.data.contexts.lengths.max(), test.data.contexts.lengths.max()) == 60 - longest
    assert train.truncation.truncated > 0
    assert [item.context for item in train.data.items] == sorted(item.context for item in train.data.items)


def test_a_run_that_goes_on_says_what_adapter_it_has(world: MedievalDataset, fitted: Path, tmp_path: Path) -> None:
    asked = descent(lora=LoraSettings(r=2, alpha=6, dropout=0))
    record = train_classifier(world, fitted, tmp_path / "second", asked)
    assert (record["settings"]["lora"]["r"], record["settings"]["lora"]["alpha"]) == (4, 16)
    assert "rank 4, alpha 16" in (tmp_path / "second" / "README.md").read_text()


def test_a_classifier_is_no_policy(fitted: Path) -> None:
    with pytest.raises(UsageError, match="this run is a classifier"):
        load_model(fitted, "causal", CPU)


def test_corfu_goes_on_with_the_adapter_of_a_classifier_under_the_language_models_head(
    world: MedievalDataset, base: Path, fitted: Path, learnt: Path, tmp_path: Path
) -> None:
    row = packed_row([(np.arange(5, 30), [np.arange(40, 46), np.arange(50, 53)])])
    classifier, untrained = load_model(fitted, "quadrants", EXACT).eval(), load_model(base, "causal", EXACT).eval()
    policy = load_model(fitted, "causal", EXACT, trainable=True).eval()
    assert torch.equal(SharedPolicy(policy).states(row), SharedPolicy(classifier).states(row))
    assert not torch.equal(SharedPolicy(untrained).states(row), SharedPolicy(classifier).states(row))
    assert torch.equal(policy.get_output_embeddings().weight, untrained.get_output_embeddings().weight)
    trained = [name for name, weight in policy.named_parameters() if weight.requires_grad]
    assert trained and all(".lora_" in name for name in trained)
    record = train_corfu(world, fitted, tmp_path / "corfu", CorfuSettings(hardware=CPU))
    assert (record["settings"]["lora"]["r"], record["base_model"]) == (4, base.name)
    (stage,) = record["stages"]
    # The reference is the policy as it was given.
    assert stage["noise"]["largest_margin"] < 1e-4
    given, found = weights_of(fitted), weights_of(tmp_path / "corfu")
    assert set(found) == {name for name in given if "score" not in name}
    assert any(not torch.equal(given[name].float(), value) for name, value in found.items())
    # Of a classifier of all weights nothing is left of the language model's head.
    with pytest.raises(UsageError, match="no language-model head"):
        train_corfu(world, learnt, tmp_path / "whole", CorfuSettings(hardware=CPU, lora=LoraSettings(r=0)))
    assert not (tmp_path / "whole").exists()
