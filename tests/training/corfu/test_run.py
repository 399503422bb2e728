"""CoRFu's stages: a frozen reference each, exact resumption, and a run folder that others can load."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch

from evaluation.datasets import MedievalDataset
from ground.errors import UsageError
from tests.training.weights import assert_same_weights, weights_of
from training.corfu.run import sweep_lambda, train_corfu
from training.runs.settings import CorfuSettings, HardwareSettings, LoraSettings, OptimizerSettings, PackingSettings


class StopError(Exception):
    pass


def settings(
    regime: str = "q1_q2", dropout: float = 0.0, precision: str = "float32", rate: float = 1e-2, **changes: Any
) -> CorfuSettings:
    return CorfuSettings.model_validate(
        {
            "regime": regime,
            "batch_size": 4,
            "lora": LoraSettings(r=4, alpha=16, dropout=dropout),
            "optimizer": OptimizerSettings(learning_rate=rate, warmup_ratio=0.0),
            "packing": PackingSettings(max_length=256, tokens_per_row=512),
            "hardware": HardwareSettings.model_validate({"device": "cpu", "precision": precision, "save_steps": 2}),
            **changes,
        }
    )


PROGRESS = "training.corfu.run.progress"


def stopping(where: str, after: int) -> Callable[[str, int], AbstractContextManager[Callable[[int], None]]]:
    """Stop the run once so many steps of the named work are done; 0: before its first."""

    @contextmanager
    def progress(what: str, _total: int) -> Iterator[Callable[[int], None]]:
        left = after

        def advance(n: int) -> None:
            nonlocal left
            left -= n
            if what == where and left <= 0:
                raise StopError

        if what == where and after == 0:
            raise StopError
        yield advance

    return progress


@pytest.mark.parametrize("regime", ["mixed", "curriculum"])
def test_every_stage_begins_with_margins_of_zero(
    dataset: MedievalDataset, model: Path, tmp_path: Path, regime: str
) -> None:
    record = train_corfu(dataset, model, tmp_path / "run", settings(regime, precision="float64"))
    assert [stage["stage"] for stage in record["stages"]] == {
        "mixed": ["mixed"],
        "curriculum": ["q1_q2", "q1_q3", "q1_q4"],
    }[regime]
    for stage in record["stages"]:
        first, last = stage["records"][0], stage["records"][-1]
        assert abs(first["margin"]) < 1e-12
        assert stage["noise"]["pairs"] == 4 and stage["noise"]["largest_margin"] < 1e-12
        assert first["loss"] == pytest.approx(0.6931471805599453, rel=1e-6)
        assert abs(first["reward_winner"]) < 1e-12
        # The policy moves, so a reference that was not taken at the stage's beginning would show in the next stage.
        assert abs(last["margin"]) > 1e-3


@pytest.mark.parametrize(
    ("where", "after"),
    [("stage-2: training", 3), ("stage-2: reference", 0), ("stage-3: training", 1)],
    ids=["inside a stage", "between stages", "before a checkpoint of the last stage"],
)
def test_a_stopped_run_goes_on_to_the_weights_of_one_that_was_not(
    dataset: MedievalDataset,
    model: Path,
    tmp_path_factory: pytest.TempPathFactory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    where: str,
    after: int,
) -> None:
    asked = settings("curriculum", dropout=0.3, batch_size=6)
    whole = tmp_path_factory.getbasetemp() / "whole"
    expected = train_corfu(dataset, model, whole, asked, resume=True)
    monkeypatch.setattr(PROGRESS, stopping(where, after))
    with pytest.raises(StopError):
        train_corfu(dataset, model, tmp_path / "run", asked)
    done: list[str] = []

    @contextmanager
    def progress(what: str, _total: int) -> Iterator[Callable[[int], None]]:
        done.append(what)
        yield lambda _n: None

    monkeypatch.setattr(PROGRESS, progress)
    # As on a GPU: the largest row is run first, and changes nothing.
    monkeypatch.setattr("training.runs.folder.REHEARSED_ON", ("cpu",))
    record = train_corfu(dataset, model, tmp_path / "run", asked, resume=True)
    assert record["memory"]["measured"] > 0
    assert not any(what.startswith("stage-1") for what in done)
    # A reference that was kept is not computed again from a policy that has moved since.
    assert (f"{where.split(':', maxsplit=1)[0]}: reference" in done) == (after == 0)
    # How long it took is another matter.
    learnt = [[{**stage, "measured": None} for stage in one["stages"]] for one in (record, expected)]
    assert learnt[0] == learnt[1]
    assert_same_weights(tmp_path / "run", whole)
    assert not (tmp_path / "run" / "checkpoints").exists()


def test_a_policy_learns_what_is_preferred_and_says_so_on_validation_pairs(
    dataset: MedievalDataset, model: Path, tmp_path: Path
) -> None:
    record = train_corfu(dataset, model, tmp_path / "run", settings(epochs=6, rate=2e-2))
    (stage,) = record["stages"]
    assert stage["pairs"] == {
        "pairs": 18, "same_group": 18, "against_q2": 18, "winners": 18, "winners_without_loser": 0,
    }  # fmt: skip
    assert stage["validation"]["pairs"] == 6
    assert stage["validation"]["accuracy"] == 1.0
    assert stage["validation"]["negative"] == 0.0
    assert stage["validation"]["loss"] < 0.65
    assert stage["validation"]["reward_winner"] > stage["validation"]["reward_loser"]
    assert stage["records"][-1]["margin"] > 0.1
    assert len(stage["records"]) == 6 * 5


def test_the_run_folder_loads_without_this_package_and_says_how_it_was_made(
    dataset: MedievalDataset, model: Path, tmp_path: Path
) -> None:
    from peft import AutoPeftModelForCausalLM
    from transformers import AutoTokenizer

    out = tmp_path / "run"
    said: list[str] = []
    record = train_corfu(dataset, model, out, settings(), say=said.append)
    assert said[0].startswith("memory: about")
    loaded = AutoPeftModelForCausalLM.from_pretrained(out)
    assert sum(float(value.abs().sum()) for name, value in loaded.named_parameters() if "lora_B" in name) > 0
    assert AutoTokenizer.from_pretrained(out).eos_token == "</s>"
    assert out.stat().st_mode & 0o777 == 0o700
    kept = json.loads((out / "training.json").read_text())
    assert kept == json.loads(json.dumps(record))
    assert kept["dataset"]["manifest_sha256"] == "0" * 64
    assert kept["settings"]["lambda"] == 0.5
    assert kept["truncation"] == {
        "contexts": 8, "truncated": 0, "tokens": kept["truncation"]["tokens"], "tokens_cut": 0,
    }  # fmt: skip
    (stage,) = kept["stages"]
    assert all(step["grad_norm"] > 0 and step["learning_rate"] <= 1e-2 for step in stage["records"])
    assert stage["measured"]["tokens"] > 500 and stage["measured"]["tokens_per_second"] > 0
    assert stage["measured"]["peak_memory"] > 100 << 20
    card = (out / "README.md").read_text()
    assert "# CoRFu policy" in card
    assert "- Rows: pairs of q1_q2 18\n" in card
    assert train_corfu(dataset, model, out, settings(), resume=True) == kept


def test_a_folder_with_another_run_is_refused(
    dataset: MedievalDataset, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PROGRESS, stopping("stage-1: training", 1))
    with pytest.raises(StopError):
        train_corfu(dataset, model, tmp_path, settings())
    with pytest.raises(UsageError, match="already contains a run"):
        train_corfu(dataset, model, tmp_path, settings())
    with pytest.raises(UsageError, match="started with other settings") as error:
        train_corfu(dataset, model, tmp_path, settings(rate=1e-3), resume=True)
    assert "another settings.optimizer.learning_rate" in str(error.value)


def test_weights_are_split_for_packed_rows_alone(dataset: MedievalDataset, model: Path, tmp_path: Path) -> None:
    split = settings(hardware=HardwareSettings(device="cpu", split_weights=True))
    with pytest.raises(UsageError, match="does not split weights"):
        train_corfu(dataset, model, tmp_path / "run", split, engine="trl")
    assert not (tmp_path / "run").exists()


def test_an_adapter_goes_on_training(dataset: MedievalDataset, model: Path, tmp_path: Path) -> None:
    train_corfu(dataset, model, tmp_path / "first", settings())
    record = train_corfu(dataset, tmp_path / "first", tmp_path / "second", settings("q1_q3"))
    assert abs(record["stages"][0]["records"][0]["margin"]) < 1e-6
    first, second = weights_of(tmp_path / "first"), weights_of(tmp_path / "second")
    assert first.keys() == second.keys()
    assert any(not torch.equal(first[name], second[name]) for name in first)
    assert record["base_model"] == "m"
    assert record["base"]["name"] == "first"


def test_contexts_are_cut_so_that_both_statements_of_a_pair_fit(
    dataset: MedievalDataset, model: Path, tmp_path: Path
) -> None:
    packing = PackingSettings(max_length=80, tokens_per_row=80)
    record = train_corfu(dataset, model, tmp_path / "run", settings(packing=packing))
    assert 0 < record["truncation"]["truncated"] <= 8
    assert len(record["stages"][0]["records"]) == 5


def test_all_weights_train_at_rank_zero(dataset: MedievalDataset, model: Path, tmp_path: Path) -> None:
    from transformers import AutoModelForCausalLM

    record = train_corfu(dataset, model, tmp_path / "run", settings(lora=LoraSettings(r=0), rate=1e-3))
    before, after = (AutoModelForCausalLM.from_pretrained(folder) for folder in (model, tmp_path / "run"))
    moved = [not torch.equal(a, b) for a, b in zip(before.parameters(), after.parameters(), strict=True)]
    assert all(moved)
    assert abs(record["stages"][0]["records"][0]["margin"]) < 1e-6


def test_a_sweep_trains_one_run_for_each_lambda(
    dataset: MedievalDataset, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []

    @contextmanager
    def progress(what: str, _total: int) -> Iterator[Callable[[int], None]]:
        done.append(what)
        yield lambda _n: None

    monkeypatch.setattr(PROGRESS, progress)
    asked = settings("q1_q4", dropout=0.5, rate=0.1)
    table = sweep_lambda(dataset, model, tmp_path, asked, (0.0, 50.0))
    # The reference is the policy as it was given, for every lambda the same.
    counts = [done.count(f"stage-1: {what}") for what in ("reference", "reference-validation", "training")]
    assert counts == [1, 1, 2]
    assert {path.name for path in tmp_path.iterdir()} == {"lambda-0", "lambda-50", "lambda.tsv"}
    alone = train_corfu(dataset, model, tmp_path / "alone", asked.model_copy(update={"lambda_": 50.0}))
    swept = json.loads((tmp_path / "lambda-50" / "training.json").read_text())
    assert [{**stage, "measured": None} for stage in swept["stages"]] == [
        {**stage, "measured": None} for stage in alone["stages"]
    ]
    assert table["lambda"].to_list() == [0.0, 50.0]
    assert table["run"].to_list() == ["lambda-0", "lambda-50"]
    for run, value in (("lambda-0", 0.0), ("lambda-50", 50.0)):
        assert json.loads((tmp_path / run / "training.json").read_text())["settings"]["lambda"] == value
    assert (tmp_path / "lambda.tsv").read_text().startswith("lambda\trun\tstage\tpairs\tloss\tmargin\taccuracy")
    weights = [weights_of(tmp_path / run) for run in table["run"]]
    assert any(not torch.equal(weights[0][name], weights[1][name]) for name in weights[0])
