"""The two tasks, and rows as token ids: the prompt as generation sees it, then the answer, which alone has a loss."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluation.datasets import Kind
from ground.contracts.answers import MedhalAnswer, MedvalAnswer, parse_medhal, parse_medval
from ground.contracts.prompts import Answer, medhal_answer, medhal_prompt, medval_answer, medval_prompt
from ground.errors import InputError, UsageError
from ground.lm.sampling import prompt_tokens

__all__ = ["IGNORED", "TASKS", "SftTask", "encode_answer", "encode_prompt", "encode_rows"]

IGNORED = -100
"""Label of a token without loss."""

Ids = npt.NDArray[np.int32]


@dataclass(frozen=True)
class SftTask:
    """Prompt, answer and reader of one kind of row."""

    kind: Kind
    prompt: Callable[[Mapping[str, Any]], str]
    answer: Callable[[Mapping[str, Any]], Answer]
    parse: Callable[[str], MedhalAnswer | MedvalAnswer]

    def read(self, text: str | None) -> dict[str, Any]:
        """Return what a prediction has of an answer: ``label``, ``explanation``, ``outcome``, and MedVAL's ``errors``.

        None is the answer to a prompt that was too long.
        """
        answer = self.parse(text or "")
        prediction = {"label": answer.label, "explanation": answer.explanation, "outcome": answer.outcome}
        if text is None:
            prediction |= {"label": None, "explanation": None, "outcome": "prompt_too_long"}
        if self.kind == "medhal":
            return prediction
        errors = [{"category": category, "text": words} for category, words in getattr(answer, "errors", ())]
        return {**prediction, "errors": None if prediction["label"] is None else errors}


TASKS: dict[Kind, SftTask] = {
    "medhal": SftTask("medhal", medhal_prompt, medhal_answer, parse_medhal),
    "medval": SftTask("medval", medval_prompt, medval_answer, parse_medval),
}


def encode_prompt(tokenizer: Any, prompt: str) -> list[int]:
    """Return a prompt's tokens, as one user message; thinking is switched off where a chat template knows it."""
    return prompt_tokens(tokenizer, [{"role": "user", "content": prompt}], enable_thinking=False)


def encode_answer(tokenizer: Any, answer: Answer) -> list[int]:
    """Return an answer's tokens, with the end-of-text token where the answer ends."""
    if tokenizer.eos_token_id is None:
        # A model could not learn to stop.
        raise UsageError(
            "the tokenizer has no end-of-text token, as that of an encoder",
            expected="a decoder, with eos_token in tokenizer_config.json",
        )
    ids = list(tokenizer(answer.text, add_special_tokens=False, split_special_tokens=True)["input_ids"])
    return [*ids, tokenizer.eos_token_id] if answer.ends else ids


def encode_rows(
    rows: Iterable[Mapping[str, Any]], tokenizer: Any, task: SftTask, max_length: int
) -> tuple[Any, Counter[str], Counter[str]]:
    """Encode rows; one that is longer than ``max_length`` is left out and counted, not cut.

    Returns:
        A `datasets.Dataset` with ``input_ids`` and ``labels``, which trl takes as it is; counts: ``too_long`` (left
        out), ``open_answer`` (kept, without an end), ``tokens`` and, of them, ``with_loss``, in one pass; ``longest``:
        tokens of the longest row; and how many rows of each task are kept.
    """
    from datasets import Dataset

    encoded: list[Ids] = []
    labels: list[Ids] = []
    counts, by_task = Counter[str](), Counter[str]()
    for row in rows:
        answer = task.answer(row)
        prompt_ids, answer_ids = encode_prompt(tokenizer, task.prompt(row)), encode_answer(tokenizer, answer)
        length = len(prompt_ids) + len(answer_ids)
        if length > max_length:
            counts["too_long"] += 1
            continue
        by_task[row["task"]] += 1
        counts.update(open_answer=not answer.ends, tokens=length, with_loss=len(answer_ids))
        counts["longest"] = max(counts["longest"], length)
        encoded.append(np.array([*prompt_ids, *answer_ids], dtype=np.int32))
        labels.append(np.array([*[IGNORED] * len(prompt_ids), *answer_ids], dtype=np.int32))
    if not encoded:
        raise InputError(
            "no row is left to train on",
            found=f"{counts['too_long']} rows longer than max_length = {max_length} tokens, none shorter",
            do="raise max_length, or choose other tasks",
        )
    # Offsets of a plain list are 32 bits wide: too few for all tokens.
    kind = pa.large_list(pa.int32())
    table = pa.table({"input_ids": pa.array(encoded, kind), "labels": pa.array(labels, kind)})
    return Dataset(table), counts, by_task
