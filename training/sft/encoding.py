"""Rows as token ids: the prompt exactly as generation sees it, then the answer, on which alone the loss is taken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ground.contracts.prompts import Answer
from ground.errors import InputError, UsageError
from training.packing.tokens import unmarked

__all__ = ["IGNORED", "EncodedRows", "encode_answer", "encode_prompt", "encode_rows"]

IGNORED = -100
"""Label of a token without loss."""

# Offsets of an Arrow list are 32 bits wide; so many rows of 8,192 tokens stay below.
ROWS_PER_CHUNK = 100_000

Ids = npt.NDArray[np.int32]


@dataclass(frozen=True)
class EncodedRows:
    """Token ids of many rows in one array.

    *Shapes:* ``ids`` (n_tokens,), ``offsets`` (n_rows + 1,), ``prompts`` (n_rows,): tokens of each row's prompt.
    """

    ids: Ids
    offsets: npt.NDArray[np.int64]
    prompts: npt.NDArray[np.int64]

    @classmethod
    def of(cls, rows: list[Ids], prompts: list[int]) -> EncodedRows:
        """Join the ids of several rows."""
        lengths = np.array([len(row) for row in rows], dtype=np.int64)
        return cls(
            ids=np.concatenate([np.empty(0, np.int32), *rows]),
            offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            prompts=np.array(prompts, dtype=np.int64),
        )

    def __len__(self) -> int:
        return len(self.prompts)

    @property
    def trained_tokens(self) -> int:
        """Tokens that the loss is taken on, in one pass."""
        return int(len(self.ids) - self.prompts.sum())

    def dataset(self) -> Any:
        """Return a `datasets.Dataset` with ``input_ids`` and ``labels``, which trl takes as it is."""
        from datasets import Dataset

        return Dataset(pa.concat_tables([self._table(begin) for begin in range(0, len(self), ROWS_PER_CHUNK)]))

    def _table(self, begin: int) -> pa.Table:
        offsets = self.offsets[begin : begin + ROWS_PER_CHUNK + 1]
        prompts = self.prompts[begin : begin + ROWS_PER_CHUNK]
        ids = self.ids[offsets[0] : offsets[-1]]
        offsets = (offsets - offsets[0]).astype(np.int32)
        within = np.arange(len(ids)) - np.repeat(offsets[:-1], np.diff(offsets))
        labels = np.where(within < np.repeat(prompts, np.diff(offsets)), IGNORED, ids).astype(np.int32)
        return pa.table(
            {
                "input_ids": pa.ListArray.from_arrays(offsets, ids),
                "labels": pa.ListArray.from_arrays(offsets, labels),
            }
        )


def encode_prompt(tokenizer: Any, prompt: str) -> list[int]:
    """Return a prompt's tokens up to where the answer begins.

    With the tokenizer's chat template where it has one (as one user message; thinking switched off where the template
    knows it), else as plain text with the tokens that the tokenizer puts first.
    """
    if tokenizer.chat_template:
        text = tokenizer.apply_chat_template(
            [{"role": "user", "content": unmarked(tokenizer, prompt)}],
            tokenize=False,
            add_generation_prompt=True,
            enable_thinking=False,
        )
        return list(tokenizer(text, add_special_tokens=False)["input_ids"])
    ids = list(tokenizer(prompt, split_special_tokens=True)["input_ids"])
    return ids[:-1] if ids and ids[-1] == tokenizer.eos_token_id else ids


def encode_answer(tokenizer: Any, answer: Answer) -> list[int]:
    """Return an answer's tokens, with the end-of-text token where the answer ends.

    Raises:
        UsageError: the tokenizer has no end-of-text token, so a model could not learn to stop.
    """
    if tokenizer.eos_token_id is None:
        raise UsageError("the tokenizer has no end-of-text token", expected="eos_token in tokenizer_config.json")
    ids = list(tokenizer(answer.text, add_special_tokens=False, split_special_tokens=True)["input_ids"])
    return [*ids, tokenizer.eos_token_id] if answer.ends else ids


def encode_rows(
    rows: Iterable[Mapping[str, Any]],
    tokenizer: Any,
    prompt_of: Callable[[Mapping[str, Any]], str],
    answer_of: Callable[[Mapping[str, Any]], Answer],
    max_length: int,
    *,
    by_task: Counter[str],
) -> tuple[EncodedRows, Counter[str]]:
    """Encode rows; one that is longer than ``max_length`` is left out and counted, not cut.

    ``by_task`` is told the task of each row that is kept.

    Returns:
        The encoded rows, and counts: ``too_long`` (left out), ``open_answer`` (kept, without an end).

    Raises:
        InputError: no row is left.
    """
    encoded, prompts, counts = [], [], Counter[str]()
    for row in rows:
        answer = answer_of(row)
        prompt_ids, answer_ids = encode_prompt(tokenizer, prompt_of(row)), encode_answer(tokenizer, answer)
        if len(prompt_ids) + len(answer_ids) > max_length:
            counts["too_long"] += 1
            continue
        by_task[row["task"]] += 1
        counts["open_answer"] += not answer.ends
        encoded.append(np.array([*prompt_ids, *answer_ids], dtype=np.int32))
        prompts.append(len(prompt_ids))
    if not encoded:
        raise InputError(
            "no row is left to train on",
            found=f"{counts['too_long']} rows longer than max_length = {max_length} tokens, none shorter",
            do="raise max_length, or choose other tasks",
        )
    return EncodedRows.of(encoded, prompts), counts
