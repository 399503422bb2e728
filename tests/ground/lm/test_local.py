"""A local transformers model: batches, seeds, templates, limits."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel
from transformers import LlamaForCausalLM

from ground.errors import InputError, UsageError
from ground.lm.client import LanguageModel
from ground.lm.results import Completion, Failure, FailureReason, Message, Request
from ground.lm.settings import LmSettings
from ground.lm.tiny import tiny_decoder, tiny_tokenizer

TEXTS = ["The patient has gout.", "Colchicine treats gout.", "Answer with Q1, Q2, Q3 or Q4."]
QUESTIONS = [Request((Message(role="user", content=" ".join(TEXTS[: n % 3 + 1]) + str(n)),)) for n in range(7)]


class Verdict(BaseModel):
    label: Literal["yes", "no"]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiny")
    return tiny_decoder("llama", tiny_tokenizer(TEXTS * 5, folder / "tokenizer", chat=True), folder / "model")


def settings(model: Path, **others: Any) -> LmSettings:
    return LmSettings(kind="transformers", model=str(model), **{"max_tokens": 12, **others})


def texts(model: Path, workspace: Path, requests: list[Request], **others: Any) -> list[str | None]:
    with LanguageModel(settings(model, **others), workspace, "credentialed") as opened:
        return [result.text for result in opened.complete_all(requests)]


def test_answers_do_not_depend_on_the_batch(tiny: Path, tmp_path: Path) -> None:
    alone = texts(tiny, tmp_path / "alone", QUESTIONS, batch_size=1)
    assert texts(tiny, tmp_path / "together", QUESTIONS, batch_size=4) == alone
    assert len(set(alone)) > 1


def test_samples_depend_on_their_own_seed_only(tiny: Path, tmp_path: Path) -> None:
    samples = [Request(QUESTIONS[0].messages, sample=n) for n in range(4)]
    drawn = texts(tiny, tmp_path / "a", samples, temperature=1.0)
    assert texts(tiny, tmp_path / "b", samples[::-1], temperature=1.0) == drawn[::-1]
    assert len(set(drawn)) == 4


def test_tokens_are_counted_and_the_second_run_is_from_the_cache(tiny: Path, tmp_path: Path) -> None:
    for sent in (7, 0):
        with LanguageModel(settings(tiny, price_in=1.0, price_out=2.0), tmp_path, "credentialed") as model:
            results = model.complete_all(QUESTIONS)
            totals = model.totals
        assert totals.sent == sent
    first = results[0]
    assert isinstance(first, Completion) and first.cached
    assert first.usage.completion_tokens == 12 and first.finish_reason == "length"
    assert first.usage.prompt_tokens is not None and first.usage.prompt_tokens > 5


def test_an_answer_that_never_fits_is_a_typed_failure_after_its_tries(tiny: Path, tmp_path: Path) -> None:
    with LanguageModel(settings(tiny, answer_retries=1), tmp_path, "credentialed") as model:
        result = model.complete(QUESTIONS[0].messages, Verdict)
    assert isinstance(result, Failure)
    assert (result.reason, result.attempts) == (FailureReason.TRUNCATED, 2)


def test_a_prompt_longer_than_the_model_is_rejected_and_the_others_are_answered(tiny: Path, tmp_path: Path) -> None:
    long = Request((Message(role="user", content="gout " * 5000),))
    with LanguageModel(settings(tiny), tmp_path, "credentialed") as model:
        results = model.complete_all([long, QUESTIONS[0]])
    assert isinstance(results[0], Failure) and results[0].reason is FailureReason.REJECTED
    assert "room for 4084" in results[0].detail
    assert isinstance(results[1], Completion)


def test_a_tokenizer_without_a_template_gets_the_messages_joined(tiny: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    tiny_decoder("llama", tiny_tokenizer(TEXTS * 5, tmp_path / "tokenizer"), plain)
    conversation = Request((Message(role="system", content="Be brief."), Message(role="user", content="Gout?")))
    joined = Request((Message(role="user", content="Be brief.\n\nGout?"),))
    first, second = texts(plain, tmp_path / "work", [conversation, joined])
    assert first == second and first


@pytest.mark.parametrize("chat", [True, False], ids=["chat", "plain"])
def test_special_tokens_in_a_note_are_read_as_its_letters(
    chat: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenizer = tiny_tokenizer(TEXTS * 5, tmp_path / "tokenizer", chat=chat)
    tokenizer.add_special_tokens({"extra_special_tokens": ["<|eot_id|>"]})
    special = {tokenizer.convert_tokens_to_ids(mark) for mark in ("<s>", "</s>", "<|eot_id|>")}
    model, seen, generate = tiny_decoder("llama", tokenizer, tmp_path / "model"), [], LlamaForCausalLM.generate

    def watched(self: Any, **given: Any) -> Any:
        seen.extend(given["input_ids"].tolist())
        return generate(self, **given)

    monkeypatch.setattr(LlamaForCausalLM, "generate", watched)
    note = "Given <|eot_id|> colchicine.</s> <s>"
    said = texts(model, tmp_path / "work", [Request((Message(role="user", content=text),)) for text in (note, "Gout.")])
    # The template ends one message by a mark of its own.
    assert said[0] and [sum(id in special for id in ids) for ids in seen] == [int(chat), int(chat)]


def test_new_weights_at_the_same_path_are_not_taken_for_the_old_ones(tiny: Path, tmp_path: Path) -> None:
    model = tmp_path / "run"
    shutil.copytree(tiny, model)
    before = texts(model, tmp_path / "work", QUESTIONS)
    (model / "predictions-test.parquet").write_bytes(b"a run gets other files later")
    with LanguageModel(settings(model), tmp_path / "work", "open") as opened:
        opened.complete_all(QUESTIONS)
        assert opened.totals.sent == 0
    tiny_decoder("llama", tiny_tokenizer(TEXTS * 5, tmp_path / "tokenizer", chat=True), model, seed=1)
    assert texts(model, tmp_path / "work", QUESTIONS) != before


def test_fields_that_only_a_server_knows_are_refused(tiny: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="top_p"):
        LanguageModel(settings(tiny, extra_body={"top_p": 0.5}), tmp_path, "open")


def test_nothing_heavy_is_loaded_before_a_model_is_used() -> None:
    program = (
        "import sys, ground.lm.client, ground.lm.local, ground.lm.endpoint\n"
        "print([name for name in ('openai', 'torch', 'transformers', 'jsonschema') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_model_that_is_not_there_is_named(tmp_path: Path) -> None:
    with (
        LanguageModel(settings(tmp_path / "no-model"), tmp_path, "open") as model,
        pytest.raises(InputError, match="cannot be loaded"),
    ):
        model.complete_all(QUESTIONS)


def test_a_name_that_is_no_folder_is_not_asked_for_elsewhere() -> None:
    program = "import ground, huggingface_hub.constants as hub; print(hub.HF_HUB_OFFLINE, hub.HF_HUB_DISABLE_TELEMETRY)"
    outside = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    done = subprocess.run([sys.executable, "-c", program], env=outside, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True"]
