"""Language models as detectors and validators: the prompt of training, one example or none, strict reading."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from evaluation.datasets import TextDataset
from evaluation.predictions import read_predictions
from evaluation.report import evaluate_text
from ground.contracts.answers import parse_medval
from ground.contracts.prompts import medhal_prompt, medval_answer, medval_prompt
from ground.errors import InputError, RefusedError, UsageError
from ground.lm.settings import LmSettings
from tests.ground.lm.server import completion, scripted_server
from tests.training.sft.cases import medhal_dataset, medhal_rows, medval_dataset, medval_rows, tiny_model
from training.asking.detectors import AskedSettings, ask_dataset

SAID = ["Factual: YES", "Factual: NO\nExplanation: Takes another drug.", "I cannot tell.", "Factual: NO"]


@pytest.fixture
def medhal(tmp_path: Path) -> TextDataset:
    rows = medhal_rows(8, "train", "summarization") + medhal_rows(4, "train", "nli") + medhal_rows(4, "test", "nli")
    return TextDataset.open(medhal_dataset(tmp_path / "medhal", rows), "medhal")


@pytest.fixture
def medval(tmp_path: Path) -> TextDataset:
    rows = medval_rows(8, "train") + medval_rows(4, "test") + medval_rows(2, "test", "dialogue2note")
    return TextDataset.open(medval_dataset(tmp_path / "medval", rows), "medval")


def model(url: str, **more: Any) -> LmSettings:
    return LmSettings(endpoint=url, model="scripted", concurrency=1, **more)


def test_rows_are_asked_as_in_training_and_answers_become_predictions(medhal: TextDataset, tmp_path: Path) -> None:
    with scripted_server(lambda n, _: completion(SAID[n])) as server:
        report = ask_dataset(medhal, model(server.url, seed=7), AskedSettings(), tmp_path / "w", tmp_path / "out")
    rows = list(medhal.rows("test"))
    assert [body["messages"] for body in server.bodies] == [
        [{"role": "user", "content": medhal_prompt(row)}] for row in rows
    ]
    found = pl.read_parquet(tmp_path / "out" / "predictions-test.parquet")
    assert found["label"].to_list() == [True, False, None, False]
    assert found["outcome"].to_list() == ["no_explanation", "parsed", "no_label", "no_explanation"]
    assert set(found["model"]) == {"scripted + zero-shot"} and set(found["seed"]) == {7}
    assert (report.rows, report.unparseable, report.failed, report.share_unparseable) == (4, 1, {}, 0.25)
    (numbers,) = evaluate_text("medhal", medhal, [tmp_path / "out" / "predictions-test.parquet"])["runs"]
    assert numbers["share_unparseable"]["value"] == 0.25
    assert json.loads((tmp_path / "out" / "asked-test.json").read_text())["report"]["unparseable"] == 1


def test_a_run_that_was_stopped_asks_only_what_is_not_answered(medval: TextDataset, tmp_path: Path) -> None:
    answer = medval_answer(next(medval.rows("test"))).text
    with scripted_server(lambda _n, _: completion(answer)) as server:
        for _ in range(2):
            ask_dataset(medval, model(server.url), AskedSettings(), tmp_path / "w", tmp_path / "out")
        assert len(server.bodies) == len({json.dumps(body["messages"]) for body in server.bodies}) <= 6
    found = read_predictions(tmp_path / "out" / "predictions-test.parquet", "medval")
    assert set(found["code"]) == {0} and found.height == 6


def test_one_example_comes_first_from_the_train_split_and_the_same_task(medval: TextDataset, tmp_path: Path) -> None:
    with scripted_server(lambda _n, _: completion("Risk level: 1")) as server:
        settings = AskedSettings(shots=1)
        report = ask_dataset(medval, model(server.url), settings, tmp_path / "w", tmp_path / "out")
    train = {medval_prompt(row): row for row in medval.rows("train")}
    for body in server.bodies:
        first, answer, question = body["messages"]
        assert [turn["role"] for turn in body["messages"]] == ["user", "assistant", "user"]
        assert answer["content"] == medval_answer(train[first["content"]]).text
        assert parse_medval(answer["content"]).outcome == "parsed"
        assert question["content"] in {medval_prompt(row) for row in medval.rows("test")}
    assert len({body["messages"][0]["content"] for body in server.bodies}) == 1
    record = json.loads((tmp_path / "out" / "asked-test.json").read_text())
    # dialogue2note has no row in the train split: it borrows.
    assert set(record["examples"]) == {"report2impression", "dialogue2note"}
    assert len(set(record["examples"].values())) == 1 and report.outcomes == {"wrong_form": 6}
    assert set(pl.read_parquet(tmp_path / "out" / "predictions-test.parquet")["model"]) == {"scripted + one-shot"}


def test_examples_have_whole_answers_and_are_not_too_long(medhal: TextDataset, tmp_path: Path) -> None:
    from training.asking.detectors import examples_for

    for seed in range(6):
        # Non-factual NLI rows have no explanation to show.
        found = examples_for(medhal, ["nli", "summarization"], max_characters=6000, seed=seed)
        assert found["nli"]["label"] is True and found["nli"]["task"] == "nli"
        assert found["summarization"]["task"] == "summarization"
    assert len({examples_for(medhal, ["nli"], max_characters=6000, seed=n)["nli"]["id"] for n in range(12)}) == 2
    with pytest.raises(InputError, match="can be an example"):
        examples_for(medhal, ["nli"], max_characters=10, seed=1)


def test_failures_are_outcomes_without_a_label(medval: TextDataset, tmp_path: Path) -> None:
    def reply(n: int, _body: Any) -> Any:
        return completion(None, refusal="I will not.") if n == 0 else completion("Reasoning: x", finish_reason="length")

    with scripted_server(reply) as server:
        report = ask_dataset(medval, model(server.url), AskedSettings(rows=3), tmp_path / "w", tmp_path / "out")
    assert report.rows == 3 and report.failed["refused"] >= 1 and report.share_unparseable == 1.0
    found = pl.read_parquet(tmp_path / "out" / "predictions-test.parquet")
    assert "failed_refused" in found["outcome"].to_list()
    assert found["label"].null_count() == 3 and found["cut"].sum() == report.cut


def test_long_contexts_are_cut_to_a_budget_of_tokens(tmp_path: Path) -> None:
    rows: list[Any] = medhal_rows(2, "test")
    rows[0]["context"] = "Past Medical History:\n" + "insulin " * 300 + "\nDischarge Diagnosis:\nmetformin\n"
    dataset = TextDataset.open(medhal_dataset(tmp_path / "d", rows), "medhal")
    tokenizer = tiny_model(tmp_path / "model")
    with scripted_server(lambda _n, _: completion("Factual: YES")) as server:
        settings = AskedSettings(max_context_tokens=60, tokenizer=str(tokenizer))
        report = ask_dataset(dataset, model(server.url), settings, tmp_path / "w", tmp_path / "out")
    asked = server.bodies[0]["messages"][0]["content"]
    assert report.contexts_cut == 1 and asked.count("insulin") < 60 and "Discharge Diagnosis:\nmetformin" in asked
    with pytest.raises(UsageError, match="needs a tokenizer"):
        ask_dataset(
            dataset, model("http://127.0.0.1:1/v1"), AskedSettings(max_context_tokens=9), tmp_path / "w", tmp_path / "o"
        )


def test_credentialed_rows_do_not_leave_this_machine(tmp_path: Path) -> None:
    folder = medhal_dataset(tmp_path / "d", medhal_rows(2, "test"))
    (folder / "manifest.json").write_text("{}")
    dataset = TextDataset.open(folder, "medhal")
    with pytest.raises(RefusedError):
        ask_dataset(dataset, model("https://models.example/v1"), AskedSettings(), tmp_path / "w", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_model_that_answers_nothing_and_an_empty_split_are_errors(medhal: TextDataset, tmp_path: Path) -> None:
    with scripted_server(lambda _n, _: completion(None, refusal="No.")) as server:
        with pytest.raises(InputError, match="answered none of 4"):
            ask_dataset(medhal, model(server.url), AskedSettings(), tmp_path / "w", tmp_path / "out")
        with pytest.raises(InputError, match="no row of these tasks"):
            ask_dataset(medhal, model(server.url), AskedSettings(tasks=("QA",)), tmp_path / "w", tmp_path / "out")
    assert not (tmp_path / "out").exists()
