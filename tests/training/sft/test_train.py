"""Fine-tuning: the loss is on the answer alone and falls, runs resume exactly, and what is left out is counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback

from evaluation.datasets import TextDataset
from evaluation.numbers import metrics_of_rows
from ground.contracts.rows_text import MedhalRow
from ground.errors import InputError, TrainingError, UsageError
from ground.lm.sampling import WrittenAnswer, answers
from ground.lm.tiny import tiny_decoder
from tests.training.sft.cases import DRUGS, medhal_dataset, medhal_rows, medval_dataset, medval_rows, tiny_model
from tests.training.weights import assert_same_weights, weights_of
from training.runs.models import load_tokenizer
from training.runs.settings import GenerationSettings, MedhalSettings, MedvalSettings
from training.sft.encoding import encode_prompt
from training.sft.generate import Generator, generate
from training.sft.train import train_texts


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("model"))


def small(**changes: Any) -> dict[str, Any]:
    return {
        "batch_size": 4,
        "per_device_batch_size": 2,
        "max_length": 1024,
        "lora": {"r": 4, "alpha": 8},
        "optimizer": {"learning_rate": 1e-2, "optimizer": "adamw_torch"},
        "hardware": {"quantize": "none", "device": "cpu", "save_steps": 2},
        **changes,
    }


def medhal_settings(**changes: Any) -> MedhalSettings:
    return MedhalSettings.model_validate(small(**changes))


class StopAt(TrainerCallback):
    """Interrupts a run as Ctrl-C does, after a step."""

    def __init__(self, step: int) -> None:
        self.step = step

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.global_step == self.step:
            raise KeyboardInterrupt


def test_a_detector_learns_a_set_by_heart_and_answers_as_it_was_taught(tmp_path: Path) -> None:
    base = tiny_model(tmp_path / "base", hidden=64)
    factual, other = medhal_rows(2)
    rows = [factual, MedhalRow(**{**other, "context": " ".join(DRUGS * 4)})]
    data = medhal_dataset(tmp_path / "data", [*rows, *(MedhalRow(**{**row, "split": "test"}) for row in rows)])
    every_weight = medhal_settings(
        epochs=60,
        batch_size=2,
        lora={"r": 0},
        optimizer={"learning_rate": 5e-3, "beta2": 0.95, "schedule": "constant_with_warmup"},
        hardware={"quantize": "none", "device": "cpu"},
    )
    record = train_texts("medhal", data, str(base), tmp_path / "run", every_weight)
    losses = [entry["loss"] for entry in record["losses"]]
    assert losses[-1] < 0.05 < 5 < losses[0]

    out = tmp_path / "run" / "predictions-test.parquet"
    answers = generate("medhal", data, str(tmp_path / "run"), out, GenerationSettings(max_new_tokens=60))
    assert answers == {"rows": 2, "outcomes": {"parsed": 2}, "cut": 0}
    predictions = pq.read_table(out).to_pylist()
    assert [row["label"] for row in predictions] == [row["label"] for row in rows]
    metrics = metrics_of_rows("medhal", list(TextDataset.open(data, "medhal").rows("test")), predictions)
    assert metrics["overall"]["accuracy"]["value"] == 1.0
    assert metrics["explanation"]["rouge1"]["value"] == 1.0


def test_a_run_that_was_interrupted_and_resumed_gives_the_same_weights(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = medhal_dataset(tmp_path / "data", medhal_rows(12))
    # Dropout: the generator's state must come back too.
    settings = medhal_settings(epochs=2, lora={"r": 4, "dropout": 0.1})
    whole = train_texts("medhal", data, str(model), tmp_path / "whole", settings)
    # As on a GPU: the largest step is run first, and changes nothing.
    monkeypatch.setattr("training.runs.folder.REHEARSED_ON", ("cpu",))
    with pytest.raises(KeyboardInterrupt):
        train_texts("medhal", data, str(model), tmp_path / "run", settings, callbacks=[StopAt(3)])
    assert not (tmp_path / "run" / "training.json").exists()

    resumed = train_texts("medhal", data, str(model), tmp_path / "run", settings, resume=True)
    assert resumed["memory"]["measured"] > 0
    assert (resumed["resumed_from_step"], whole["resumed_from_step"]) == (2, None)
    assert_same_weights(tmp_path / "run", tmp_path / "whole")
    assert any(weight.abs().max() > 0 for name, weight in weights_of(tmp_path / "run").items() if "lora_B" in name)
    assert whole["losses"] == resumed["losses"]

    assert train_texts("medhal", data, str(model), tmp_path / "run", settings, resume=True) == json.loads(
        (tmp_path / "run" / "training.json").read_text()
    )
    with pytest.raises(UsageError, match="already contains a run"):
        train_texts("medhal", data, str(model), tmp_path / "run", settings)
    with pytest.raises(UsageError, match=r"another settings\.epochs"):
        train_texts("medhal", data, str(model), tmp_path / "run", medhal_settings(epochs=3), resume=True)


def test_a_run_folder_holds_adapter_tokenizer_record_and_card_and_nothing_of_the_way_there(
    tmp_path: Path, model: Path
) -> None:
    data = medval_dataset(tmp_path / "data", [*medval_rows(4), *medval_rows(2, split="test")])
    settings = MedvalSettings.model_validate(
        small(epochs=1, batch_size=2, per_device_batch_size=1, optimizer={"optimizer": "paged_adamw_8bit"})
    )
    record = train_texts("medval", data, str(model), tmp_path / "run", settings)
    assert {file.name for file in (tmp_path / "run").iterdir()} == {
        *("README.md", "adapter_config.json", "adapter_model.safetensors"),
        *("tokenizer.json", "tokenizer_config.json", "training.json"),
    }
    assert json.loads((tmp_path / "run" / "training.json").read_text()) == record
    assert record["tasks"] == {"report2impression": 4}
    assert record["machine"]["optimizer"] == "adamw_torch"
    assert any("paged_adamw_8bit needs CUDA" in note for note in record["machine"]["notes"])
    assert record["dataset"]["manifest_sha256"] in (tmp_path / "run" / "README.md").read_text()
    assert str(tmp_path) not in json.dumps(record)

    AutoTokenizer.from_pretrained(tmp_path / "run")
    out = tmp_path / "run" / "predictions-test.parquet"
    answers = generate("medval", data, str(tmp_path / "run"), out, GenerationSettings(max_new_tokens=4))
    assert answers == {"rows": 2, "outcomes": {"wrong_form": 2}, "cut": 2}
    assert pq.read_table(out)["label"].null_count == 2


def test_a_task_ablation_trains_on_one_task_and_counts_the_others(tmp_path: Path, model: Path) -> None:
    long = {**medhal_rows(1, task="summarization")[0], "context": " ".join(DRUGS * 60)}
    rows = [*medhal_rows(4), *medhal_rows(6, task="summarization"), *medhal_rows(2, task="nli"), long]
    data = medhal_dataset(tmp_path / "data", rows)  # type: ignore[arg-type]
    settings = medhal_settings(epochs=1, tasks=("Sum", "nli"), max_length=400)
    record = train_texts("medhal", data, str(model), tmp_path / "run", settings)
    assert record["tasks"] == {"nli": 2, "summarization": 6}
    assert record["rows"] == {"used": 8, "left_out": {"too_long": 1, "other_task": 4}, "without_explanation": 1}


def test_a_loss_that_is_no_number_stops_the_run(tmp_path: Path, model: Path) -> None:
    broken = AutoModelForCausalLM.from_pretrained(model)
    with torch.no_grad():
        broken.model.norm.weight.fill_(float("nan"))
    broken.save_pretrained(tmp_path / "broken")
    AutoTokenizer.from_pretrained(model).save_pretrained(tmp_path / "broken")
    data = medhal_dataset(tmp_path / "data", medhal_rows(4))
    with pytest.raises(TrainingError, match="the loss is not a number"):
        train_texts("medhal", data, str(tmp_path / "broken"), tmp_path / "run", medhal_settings(epochs=1))
    assert not (tmp_path / "run" / "training.json").exists()


class Spoil(TrainerCallback):
    """Turns a model round, and makes it a thousand times surer."""

    def on_step_end(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
        if state.global_step == 20:
            with torch.no_grad():
                model.base_model.model.model.norm.weight.mul_(-1000)


def test_a_run_that_diverges_is_stopped(tmp_path: Path, model: Path) -> None:
    data = medhal_dataset(tmp_path / "data", medhal_rows(2))
    settings = medhal_settings(epochs=45, batch_size=2, hardware={"quantize": "none", "device": "cpu"})
    with pytest.raises(TrainingError, match="training diverges"):
        train_texts("medhal", data, str(model), tmp_path / "run", settings, callbacks=[Spoil()])
    assert not (tmp_path / "run" / "training.json").exists()


def test_settings_that_do_not_fit_are_refused(tmp_path: Path, model: Path) -> None:
    data = medhal_dataset(tmp_path / "data", medhal_rows(4))
    with pytest.raises(UsageError, match="multiple"):
        train_texts("medhal", data, str(model), tmp_path / "a", medhal_settings(batch_size=3))
    with pytest.raises(UsageError, match="adapter"):
        train_texts(
            "medhal", data, str(model), tmp_path / "b", medhal_settings(lora={"r": 0}, hardware={"quantize": "nf4"})
        )
    with pytest.raises(InputError, match="no row is left"):
        train_texts("medhal", data, str(model), tmp_path / "c", medhal_settings(max_length=16))
    with pytest.raises(InputError, match="cannot be loaded"):
        train_texts("medhal", data, str(tmp_path / "nothing"), tmp_path / "d", medhal_settings())


@pytest.mark.parametrize("kind", ["qwen3", "mistral"])
def test_answers_in_a_batch_are_those_of_one_prompt_at_a_time(tmp_path: Path, kind: str) -> None:
    base = tiny_model(tmp_path, kind=kind, chat=True)
    rows = [{**row, "context": f"{row['context']} " * (n % 3 + 1)} for n, row in enumerate(medhal_rows(7))]
    together = Generator.load(str(base), "medhal", GenerationSettings(max_new_tokens=12, batch_size=4))
    apart = Generator.load(str(base), "medhal", GenerationSettings(max_new_tokens=12, batch_size=1))
    prompts = [encode_prompt(together.tokenizer, together.task.prompt(row)) for row in rows]
    assert len(set(map(len, prompts))) > 1

    def said(one: Generator) -> list[WrittenAnswer]:
        return sorted(answers(one.model, one.tokenizer, prompts, 4096, 12, one.settings.batch_size, temperature=0))

    assert said(together) == said(apart)
    assert [row["id"] for row in together.predictions(rows)] == [row["id"] for row in rows]


def test_a_prompt_without_room_for_an_answer_is_counted_and_not_cut(tmp_path: Path, model: Path) -> None:
    rows = medhal_rows(2, split="test")
    long = {**rows[0], "id": "long", "context": " ".join(DRUGS * 60)}
    data = medhal_dataset(tmp_path / "data", [*rows, long])  # type: ignore[list-item]
    settings = GenerationSettings(max_new_tokens=4, max_length=500)
    answers = generate("medhal", data, str(model), tmp_path / "p.parquet", settings)
    assert answers["outcomes"]["prompt_too_long"] == 1
    assert answers["rows"] == 3
    with pytest.raises(UsageError, match="no room"):
        generate(
            "medhal", data, str(model), tmp_path / "p.parquet", GenerationSettings(max_new_tokens=99, max_length=99)
        )
    # A model of few positions has less room than was asked for: no row of it would be answered.
    short = tiny_decoder("llama", load_tokenizer(model), tmp_path / "short", positions=64)
    with pytest.raises(UsageError, match="no room") as refused:
        generate("medhal", data, str(short), tmp_path / "p.parquet", GenerationSettings(max_new_tokens=64))
    assert "less than 64" in str(refused.value)
    with pytest.raises(InputError, match="no row to answer"):
        generate("medhal", data, str(model), tmp_path / "q.parquet", settings, split="validation")
    assert not (tmp_path / "q.parquet").exists()
