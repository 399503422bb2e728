"""GRPO on labels: the reward, one step of two arms that differ in labels only, and their evaluation."""

from __future__ import annotations

import gc
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

pytest.importorskip("trl")

import torch
from trl import GRPOConfig, GRPOTrainer

from ground.errors import InputError, UsageError
from ground.lm.tiny import tiny_tokenizer
from tests.training.grpo.words import word_arm, word_model, write_rows
from tests.training.weights import assert_same_weights
from training.grpo import train
from training.grpo.evaluate import accuracies, grade_sets, respond
from training.grpo.prompts import encode, messages, planned_order, read_rows, system_prompt
from training.grpo.train import EVALUATION, arm_trainer, evaluate_base, reward_function, train_arm
from training.runs.folder import open_run
from training.runs.models import load_model, load_tokenizer
from training.runs.settings import GrpoSettings, HardwareSettings, LoraSettings, OptimizerSettings

pytestmark = pytest.mark.xdist_group("grpo")

TINY = GrpoSettings(
    epochs=1,
    prompts_per_step=8,
    group=4,
    per_device_batch_size=32,
    generation_batch_size=16,
    max_new_tokens=4,
    lora=LoraSettings(r=0),
    optimizer=OptimizerSettings(learning_rate=1e-3, warmup_ratio=0.0, schedule="constant_with_warmup"),
    hardware=HardwareSettings(device="cpu"),
)


@pytest.fixture(scope="module", autouse=True)
def few_objects_to_look_through() -> Iterator[None]:
    """Keep the collector from the objects of torch and trl: accelerate calls it at the begin and end of every run."""
    import trl.trainer.grpo_trainer  # noqa: F401

    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return word_model(tmp_path_factory.mktemp("words"))


def leaning(model_folder: Path) -> float:
    """Return the log-odds of the answer 1 against an abstention."""
    model, tokenizer = load_model(model_folder, "causal", TINY.hardware).eval(), load_tokenizer(model_folder)
    ids = tokenizer(messages(tokenizer, "question 0") + " <answer>", return_tensors="pt")["input_ids"]
    with torch.inference_mode():
        logits = model(input_ids=ids).logits[0, -1]
    one, none = tokenizer.convert_tokens_to_ids(["1", "unknown"])
    return float(logits[one] - logits[none])


def test_arms_that_differ_in_labels_see_the_same_and_move_apart(base: Path, tmp_path: Path) -> None:
    records = {}
    for label in ("1", "N/A"):
        one = word_arm(tmp_path, label)
        records[label] = train_arm(one, str(base), tmp_path / f"run-{label[0]}", TINY)
    first, second = records.values()
    assert first["order_sha256"] == second["order_sha256"] and first["steps"] == second["steps"] == 1
    assert first["settings"] == second["settings"]
    # Each response that is right in one arm is a wrong one, worth 0.1, in the other: the samples are the same.
    rewards = [record["losses"][0]["reward"] for record in records.values()]
    assert min(rewards) > 0.2 and sum(rewards) <= 1.1 + 1e-6
    assert leaning(tmp_path / "run-1") > leaning(base) > leaning(tmp_path / "run-N")
    graded = pl.read_parquet(tmp_path / "run-1" / EVALUATION)
    assert first["evaluation"]["same"]["rows"] == graded.height == 4
    assert first["evaluation"]["same"]["correct"] == graded["correct"].sum()
    assert "1 labels" in (tmp_path / "run-1" / "README.md").read_text()
    # A whole run is not trained again; another one is refused.
    again = train_arm(word_arm(tmp_path, "1"), str(base), tmp_path / "run-1", TINY, resume=True)
    assert again == json.loads((tmp_path / "run-1" / "training.json").read_text()) == first
    with pytest.raises(UsageError, match="another arm"):
        train_arm(word_arm(tmp_path, "N/A"), str(base), tmp_path / "run-1", TINY, resume=True)


def test_responses_of_continuous_batching_teach_the_same_lesson(base: Path, tmp_path: Path) -> None:
    settings = TINY.model_copy(update={"batching": "continuous"})
    record = train_arm(word_arm(tmp_path, "1"), str(base), tmp_path / "run", settings)
    assert record["losses"][0]["reward"] > 0.1 and record["losses"][0]["grad_norm"] > 0
    assert leaning(tmp_path / "run") > leaning(base)
    assert {str(weight.dtype) for weight in load_model(tmp_path / "run", "causal", TINY.hardware).parameters()} == {
        "torch.float32"
    }
    assert record["evaluation"]["same"]["rows"] == 4


def test_a_run_that_was_cut_goes_on_to_the_same_weights(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from transformers import TrainerCallback

    class Cut(TrainerCallback):
        def on_step_begin(self, _args: Any, state: Any, *_: Any, **__: Any) -> None:
            if state.global_step == 1:
                raise KeyboardInterrupt

    hardware = HardwareSettings(device="cpu", save_steps=1)
    settings = TINY.model_copy(
        update={"epochs": 2, "group": 2, "per_device_batch_size": 16, "evaluate_every": 1, "hardware": hardware}
    )
    one = word_arm(tmp_path, "1")
    whole = train_arm(one, str(base), tmp_path / "whole", settings)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):

        def cut(*args: Any, **named: Any) -> Any:
            named["callbacks"] = [*named["callbacks"], Cut()]
            return arm_trainer(*args, **named)

        patch.setattr("training.grpo.train.arm_trainer", cut)
        train_arm(one, str(base), tmp_path / "cut", settings)
    # As on a GPU: the largest step is run first, and changes nothing.
    monkeypatch.setattr("training.runs.folder.REHEARSED_ON", ("cpu",))
    again = train_arm(one, str(base), tmp_path / "cut", settings, resume=True)
    assert again["memory"]["measured"] > 0
    for name in ("losses", "evaluations", "evaluation", "order_sha256"):
        assert again[name] == whole[name]
    assert [step["step"] for step in whole["evaluations"]] == [1, 2]
    assert_same_weights(tmp_path / "cut", tmp_path / "whole")


@pytest.mark.parametrize("chat", [False, True])
def test_training_and_evaluation_encode_a_prompt_alike_and_the_loss_is_plain(
    base: Path, tmp_path: Path, chat: bool
) -> None:
    one = word_arm(tmp_path, "1")
    rows = {row.uid: row for row in one.rows}
    tokenizer = load_tokenizer(base)
    if chat:
        tokenizer.chat_template = tiny_tokenizer(["a b"], tmp_path / "chat", chat=True).chat_template
    order = planned_order(list(rows), 1, 1, 8)
    with open_run("grpo", base, tmp_path / "run", one.data, TINY, resume=False, say=None) as run:
        trainer = arm_trainer(run, tokenizer, rows, order)
    assert trainer.train_dataset["uid"] == order
    prompts = trainer.train_dataset["prompt"][:2]
    assert trainer._tokenize_prompts(prompts)[0] == encode(tokenizer, prompts, thinking=True)
    arguments = trainer.args
    assert (arguments.scale_rewards, arguments.loss_type, arguments.num_iterations) == ("none", "dr_grpo", 1)
    assert (arguments.beta, arguments.num_generations, arguments.steps_per_generation) == (0.001, 4, 1)
    assert not arguments.shuffle_dataset and arguments.max_completion_length == 4
    # Rows come in the planned order, each as often as a group is large.
    assert [order[n] for n in trainer._get_train_sampler()] == [uid for uid in order for _ in range(4)]


def test_the_reward_is_that_of_the_rows_label(base: Path, tmp_path: Path) -> None:
    rows = {row.uid: row for row in read_rows(write_rows(tmp_path / "a.parquet", {"1": "1", "2": "N/A"}))}
    tokenizer = load_tokenizer(base)
    said = ["<answer> 1 </answer>", "<answer> unknown </answer>", "<answer> 1"]
    ids = [tokenizer(text)["input_ids"] for text in said]
    both: dict[str, Any] = {"completion_ids": ids * 2, "uid": ["1"] * 3 + ["2"] * 3, "prompts": []}
    assert reward_function(rows, TINY, tokenizer)(**both) == [1, 0.1, 0, 0.1, 1, 0]
    released = TINY.model_copy(update={"reward": TINY.reward.model_copy(update={"rule": "released", "correct": 2.0})})
    assert reward_function(rows, released, tokenizer)(**both) == [2, 0, 0, 0, 2, 0]


def test_an_evaluation_leaves_the_random_generators_as_they_were(base: Path, tmp_path: Path) -> None:
    one = word_arm(tmp_path, "1")
    model, tokenizer = load_model(base, "causal", TINY.hardware), load_tokenizer(base)
    prompts = {row.uid: row.prompt for row in one.rows} | {"long": "word " * 3000}
    before = torch.random.get_rng_state()
    responses = respond(model.train(), tokenizer, prompts, TINY)
    assert torch.equal(torch.random.get_rng_state(), before) and model.training
    assert responses["long"] is None and responses == respond(model, tokenizer, prompts, TINY)
    sets = {"ones": one.rows, "none": word_arm(tmp_path, "N/A").rows}
    graded = grade_sets(responses, sets)
    counted = accuracies(graded)
    assert counted["ones"]["rows"] == 8 and counted["none"]["correct"] == counted["ones"]["abstained"]
    assert evaluate_base(one, str(base), TINY).height == 4


def test_steps_and_prompts_that_do_not_fit_are_refused(base: Path, tmp_path: Path) -> None:
    one = word_arm(tmp_path, "1")
    with pytest.raises(InputError, match="no prompt is short enough"):
        train_arm(one, str(base), tmp_path / "a", TINY.model_copy(update={"max_prompt_tokens": 16}))
    few = shutil.copytree(base, tmp_path / "few")
    (few / "config.json").write_text((few / "config.json").read_text().replace("1024", "140"))
    with pytest.raises(InputError, match="no prompt is short enough") as refused:
        train_arm(one, str(few), tmp_path / "a", TINY)
    assert "at most 136: max_prompt_tokens, and the model's positions" in str(refused.value)
    assert set(evaluate_base(one, str(few), TINY)["response"]) == {None}
    with pytest.raises(UsageError, match="more rows than there are"):
        train_arm(one, str(base), tmp_path / "a", TINY.model_copy(update={"prompts_per_step": 9}))
    with pytest.raises(UsageError, match="not a multiple of the rows of a forward pass"):
        train_arm(one, str(base), tmp_path / "a", TINY.model_copy(update={"per_device_batch_size": 5}))
    assert not (tmp_path / "a").exists()


def test_vllm_is_asked_for_by_name_and_samples_a_step_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = TINY.model_copy(update={"generation": "vllm"})
    monkeypatch.setattr(train, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="vLLM is not installed") as error:
        train._arguments(settings)
    assert "ontoground[vllm]" in str(error.value) and not train._arguments(TINY)["use_vllm"]
    monkeypatch.setattr(train, "find_spec", lambda name: name)
    config = GRPOConfig("unused", use_cpu=True, bf16=False, **train._arguments(settings))
    assert (config.use_vllm, config.vllm_mode, config.vllm_max_model_length) == (True, "colocate", 3004)
    trainer = object.__new__(train.PolicyTrainer)
    trainer.model = torch.nn.Module()
    trainer.use_vllm, trainer.at_once, trainer.batching = True, 1, "continuous"
    monkeypatch.setattr(GRPOTrainer, "_generate_single_turn", lambda _self, ids, *rest: (ids, [rest]))
    assert trainer._generate_single_turn([[1], [2]], None, {}, 4) == ([[1], [2]], [(None, {}, 4)])


def test_the_prompt_lets_a_model_abstain_and_names_what_labels_can_be() -> None:
    assert "<answer>unknown</answer>" in system_prompt() and "MM/DD/YYYY" in system_prompt()
    named = system_prompt(("Q1", "Q2"))
    assert "one of Q1, Q2" in named and "MM/DD/YYYY" not in named
    assert "{" not in system_prompt() + named
