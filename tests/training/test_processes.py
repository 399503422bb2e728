"""Two processes (gloo, on the CPU) give the losses and the weights of one, and one of them writes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from trl import GRPOTrainer

from ground.lm.tiny import tiny_decoder, tiny_tokenizer
from tests.training.classifier.test_train import descent, losses
from tests.training.grpo.words import drawn_in_turn, word_arm, word_model
from tests.training.process_probe import ABSTAINED, all_weights, rewarded, three_stages
from tests.training.toy import toy_dataset
from tests.training.weights import assert_same_weights
from tests.training.worlds import small_dataset
from training.classifier.items import quadrant_data
from training.classifier.train import train_classifier
from training.corfu.run import train_corfu
from training.grpo.train import train_arm
from training.packing.plan import plan_epochs


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("processes")
    world, toy = small_dataset(root), toy_dataset()
    texts = [*toy.contexts["context"], *toy.rows["statement"]]
    tiny_decoder("llama", tiny_tokenizer(texts, root / "tokens"), root / "m" / "policy")
    word_model(root / "m" / "words")
    return tiny_decoder("llama", tiny_tokenizer(world.contexts["context"].to_list(), root / "t"), root / "m")


@pytest.fixture(scope="module")
def together(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which two processes trained: whole, with split weights, and after a kill."""
    out = tmp_path_factory.mktemp("together")
    probe = ["-m", "tests.training.process_probe", str(base), str(out)]
    done = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", *probe],
        env=os.environ | {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True, text=True, check=False, timeout=1200,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout == ""
    return out


def test_two_processes_train_as_one_does(base: Path, together: Path, tmp_path: Path) -> None:
    alone = train_classifier(small_dataset(base, admissions=3), base, tmp_path / "one", descent())
    record = json.loads((together / "shared" / "training.json").read_text())
    assert len(losses(record)) == 2
    assert losses(record) == pytest.approx(losses(alone), rel=1e-6)
    assert_same_weights(together / "shared", tmp_path / "one", 1e-6)


def test_processes_with_a_share_of_all_weights_each_train_as_one_does(
    base: Path, together: Path, tmp_path: Path
) -> None:
    alone = train_classifier(small_dataset(base, admissions=3), base, tmp_path / "one", all_weights(split=False))
    record = json.loads((together / "all-split" / "training.json").read_text())
    assert losses(record) == pytest.approx(losses(alone), rel=1e-6)
    assert (record["machine"]["gradient_checkpointing"], alone["machine"]["gradient_checkpointing"]) == (True, False)
    assert_same_weights(together / "all-split", tmp_path / "one", 1e-6)


def test_processes_with_a_share_each_prefer_as_one_does(base: Path, together: Path, tmp_path: Path) -> None:
    alone = train_corfu(toy_dataset(), base / "policy", tmp_path / "one", three_stages(split=False))
    record = json.loads((together / "corfu-split" / "training.json").read_text())
    assert len(record["stages"]) == 3
    for ours, theirs in zip(record["stages"], alone["stages"], strict=True):
        expected = [step["loss"] for step in theirs["records"]]
        assert [step["loss"] for step in ours["records"]] == pytest.approx(expected, rel=1e-6)
        assert ours["validation"] == pytest.approx(theirs["validation"], rel=1e-9)
    assert_same_weights(together / "corfu-split", tmp_path / "one", 1e-6)


def test_split_weights_are_rewarded_as_whole_ones_are_and_those_of_killed_processes_too(together: Path) -> None:
    whole, split = (json.loads((together / run / "training.json").read_text()) for run in ("grpo-whole", "grpo-split"))
    assert len(losses(whole)) == 2 and whole["losses"][0]["reward"] > 0.1
    for name in ("loss", "reward", "kl", "grad_norm"):
        expected = [step[name] for step in whole["losses"]]
        assert [step[name] for step in split["losses"]] == pytest.approx(expected, rel=1e-6)
    assert split["evaluations"] == whole["evaluations"] and len(whole["evaluations"]) == 2
    assert split["evaluation"] == whole["evaluation"] and split["order_sha256"] == whole["order_sha256"]
    assert_same_weights(together / "grpo-split", together / "grpo-whole", 1e-6)


def test_one_process_goes_on_from_the_shares_of_two(base: Path, together: Path) -> None:
    left, settings = together / "grpo-left", rewarded(split=True, responses_at_once=8, rank=4)
    arm = word_arm(left.parent / "rows-0", "1", ABSTAINED)
    record = train_arm(arm, str(base / "words"), left, settings, resume=True)
    first = json.loads((together / "grpo-split" / "training.json").read_text())["losses"][0]
    assert record["losses"][0] == first and len(record["losses"]) == 2
    assert record["losses"][1]["kl"] > 0


def test_the_same_responses_teach_two_processes_what_they_teach_one(
    base: Path, together: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(GRPOTrainer, "_generate_single_turn", drawn_in_turn)
    settings = rewarded(split=False, responses_at_once=16, rank=0)
    alone = train_arm(word_arm(tmp_path, "1", ABSTAINED), str(base / "words"), tmp_path / "one", settings)
    record = json.loads((together / "grpo-all-split" / "training.json").read_text())
    for name in ("loss", "reward", "kl", "grad_norm"):
        expected = [step[name] for step in alone["losses"]]
        assert [step[name] for step in record["losses"]] == pytest.approx(expected, rel=1e-6, abs=1e-7)
    assert_same_weights(together / "grpo-all-split", tmp_path / "one", 1e-6)


def test_the_last_step_has_fewer_rows_than_processes(base: Path) -> None:
    from training.runs.models import load_tokenizer

    world = small_dataset(base, admissions=3)
    rows = quadrant_data(world, world.split_rows("train"), load_tokenizer(base), max_length=4096).data
    settings = descent()
    plan = plan_epochs(
        rows.items, rows.contexts.lengths, rows.statements.lengths, batch_size=settings.batch_size,
        max_per_context=settings.packing.max_per_context, tokens_per_row=settings.packing.tokens_per_row,
        epochs=1, seed=settings.seed,
    )  # fmt: skip
    assert [len(step.items) for step in plan] == [20, 4]
    assert len(plan[1].rows) == 1
