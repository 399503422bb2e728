"""Rows as token ids: the prompt exactly as generation sees it, then the answer, on which alone the loss is taken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from ontoground.errors import InputError, UsageError
from training.sft.prompts import Answer

__all__ = ["IGNORED", "EncodedRows", "encode_answer", "encode_prompt", "encode_rows"]

IGNORED = -100
"""Label of a token without loss."""

Ids = npt.NDArray[np.int32]


class EncodedRows(torch.utils.data.Dataset[dict[str, Any]]):
    """Token ids of many rows in one array, as trl's SFTTrainer takes data that are tokenised already.

    *Shapes:* ``ids`` (n_tokens,), ``offsets`` (n_rows + 1,), ``prompts`` (n_rows,): tokens of each row's prompt.
    """

    column_names = ("input_ids", "labels")

    def __init__(self, rows: list[Ids], prompts: list[int]) -> None:
        self.ids = np.concatenate([np.empty(0, np.int32), *rows])
        self.offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)]).astype(np.int64)
        self.prompts = np.array(prompts, dtype=np.int64)

    def __len__(self) -> int:
        return len(self.prompts)

    def __getitem__(self, index: int) -> dict[str, Any]:
        """Return ``input_ids`` and ``labels`` of one row. *Shapes:* (n,), (n,)."""
        if not 0 <= index < len(self):
            raise IndexError(index)
        ids = self.ids[self.offsets[index] : self.offsets[index + 1]].astype(np.int64)
        labels = ids.copy()
        labels[: self.prompts[index]] = IGNORED
        return {"input_ids": ids, "labels": labels}

    @property
    def trained_tokens(self) -> int:
        """Tokens that the loss is taken on, in one pass."""
        return int(len(self.ids) - self.prompts.sum())


def encode_prompt(tokenizer: Any, prompt: str) -> list[int]:
    """Return a prompt's tokens up to where the answer begins.

    With the tokenizer's chat template where it has one (as one user message; thinking switched off where the template
    knows it), else as plain text with the tokens that the tokenizer puts first.
    """
    if tokenizer.chat_template:
        text = tokenizer.apply_chat_template(
            [{"role": "user", "content": prompt}], tokenize=False, add_generation_prompt=True, enable_thinking=False
        )
        return list(tokenizer(text, add_special_tokens=False)["input_ids"])
    ids = list(tokenizer(prompt)["input_ids"])
    return ids[:-1] if ids and ids[-1] == tokenizer.eos_token_id else ids


def encode_answer(tokenizer: Any, answer: Answer) -> list[int]:
    """Return an answer's tokens, with the end-of-text token where the answer ends.

    Raises:
        UsageError: the tokenizer has no end-of-text token, so a model could not learn to stop.
    """
    if tokenizer.eos_token_id is None:
        raise UsageError("the tokenizer has no end-of-text token", expected="eos_token in tokenizer_config.json")
    ids = list(tokenizer(answer.text, add_special_tokens=False)["input_ids"])
    return [*ids, tokenizer.eos_token_id] if answer.ends else ids


def encode_rows(
    rows: Iterable[Mapping[str, Any]],
    tokenizer: Any,
    prompt_of: Callable[[Mapping[str, Any]], str],
    answer_of: Callable[[Mapping[str, Any]], Answer],
    max_length: int,
) -> tuple[EncodedRows, Counter[str]]:
    """Encode rows; one that is longer than ``max_length`` is left out and counted, not cut.

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
        counts["open_answer"] += not answer.ends
        encoded.append(np.array([*prompt_ids, *answer_ids], dtype=np.int32))
        prompts.append(len(prompt_ids))
    if not encoded:
        raise InputError(
            "no row is left to train on",
            found=f"{counts['too_long']} rows longer than max_length = {max_length} tokens, none shorter",
            do="raise max_length, or choose other tasks",
        )
    return EncodedRows(encoded, prompts), counts
