"""Labels: the loss is on the answer and its end, token by token, as trl's own completion-only loss has it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from datasets import Dataset
from transformers import AutoTokenizer
from trl import SFTConfig, SFTTrainer

from evaluation.datasets import Kind
from ground.contracts.prompts import Answer
from ground.errors import InputError
from tests.training.sft.cases import medhal_rows, medval_rows, tiny_model
from training.sft.encoding import IGNORED, TASKS, encode_answer, encode_prompt, encode_rows

ROWS: dict[Kind, list[Any]] = {"medhal": medhal_rows(6), "medval": medval_rows(4)}


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "chat"])
def base(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("model"), chat=request.param)


@pytest.mark.parametrize("kind", ["medhal", "medval"])
def test_prompt_tokens_carry_no_loss_and_answer_tokens_all_do(base: Path, kind: Kind) -> None:
    tokenizer, task = AutoTokenizer.from_pretrained(base), TASKS[kind]
    rows, _, _ = encode_rows(ROWS[kind], tokenizer, task, 2000)
    for row, encoded in zip(ROWS[kind], rows, strict=True):
        prompt = encode_prompt(tokenizer, task.prompt(row))
        answer = encode_answer(tokenizer, task.answer(row))
        assert encoded["input_ids"] == [*prompt, *answer]
        assert encoded["labels"] == [*([IGNORED] * len(prompt)), *answer]
        assert tokenizer.decode(answer) == task.answer(row).text + tokenizer.eos_token
        assert tokenizer.decode(prompt).count(task.prompt(row)) == 1


@pytest.mark.parametrize("kind", ["medhal", "medval"])
def test_tokens_and_labels_are_those_that_trl_makes_of_prompt_and_completion(
    base: Path, tmp_path: Path, kind: Kind
) -> None:
    tokenizer, task = AutoTokenizer.from_pretrained(base), TASKS[kind]
    texts = [(task.prompt(row), task.answer(row).text) for row in ROWS[kind]]
    if tokenizer.chat_template:
        asked: list[dict[str, Any]] = [
            {
                "prompt": [{"role": "user", "content": prompt}],
                "completion": [{"role": "assistant", "content": answer}],
            }
            for prompt, answer in texts
        ]
    else:
        asked = [{"prompt": prompt, "completion": answer} for prompt, answer in texts]
    arguments = SFTConfig(str(tmp_path), max_length=None, use_cpu=True, bf16=False, report_to="none")
    trainer = SFTTrainer(str(base), args=arguments, train_dataset=Dataset.from_list(asked), processing_class=tokenizer)
    ours, _, _ = encode_rows(ROWS[kind], tokenizer, task, 2000)
    for theirs, encoded in zip(trainer.train_dataset, ours, strict=True):
        assert encoded["input_ids"] == theirs["input_ids"]
        assert encoded["labels"] == theirs["labels"]


def test_an_open_answer_does_not_teach_to_stop(base: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(base)
    closed, open_ = (encode_answer(tokenizer, Answer("Factual: NO", ends=ends)) for ends in (True, False))
    assert closed == [*open_, tokenizer.eos_token_id]


def test_a_row_longer_than_the_limit_is_left_out_whole(base: Path) -> None:
    tokenizer, task = AutoTokenizer.from_pretrained(base), TASKS["medhal"]
    rows = [*ROWS["medhal"], {**ROWS["medhal"][0], "context": "Takes insulin. " * 50}]
    whole, none, _ = encode_rows(rows, tokenizer, task, 5000)
    assert none["too_long"] == 0
    lengths = [len(ids) for ids in whole["input_ids"]]
    kept, counts, by_task = encode_rows(rows, tokenizer, task, max(lengths[:-1]))
    assert (len(kept), counts["too_long"], by_task.total()) == (len(rows) - 1, 1, len(rows) - 1)
    assert [len(ids) for ids in kept["input_ids"]] == lengths[:-1]
    assert (none["tokens"], none["longest"], counts["tokens"]) == (sum(lengths), max(lengths), sum(lengths[:-1]))
    with pytest.raises(InputError, match="no row is left"):
        encode_rows(rows, tokenizer, task, 20)
