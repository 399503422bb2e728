"""A policy's responses to the rows of evaluation, and their grades against several sets of labels (paper, appendix E).

One response is sampled for each row, as in training, and graded against every set that labels the row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
import torch

from ground.contracts.grading import grade_abstention
from ground.lm.sampling import end_tokens, sampled
from ground.progress import progress
from training.grpo.prompt import encode, messages
from training.grpo.rows import Row
from training.grpo.settings import GrpoSettings

__all__ = ["accuracies", "grade_sets", "respond"]


def respond(
    model: Any, tokenizer: Any, prompts: Mapping[str, str], settings: GrpoSettings, categories: Sequence[str] = ()
) -> dict[str, str | None]:
    """Return one sampled response for each prompt, by uid; None for a prompt that is too long.

    The state of the random generators is put back: an evaluation between two steps changes nothing in training.

    Raises:
        OntogroundError: memory is short.
    """
    uids = list(prompts)
    made = [messages(tokenizer, prompts[uid], categories) for uid in uids]
    encoded = encode(tokenizer, made, thinking=settings.thinking)
    fitting = [n for n, ids in enumerate(encoded) if len(ids) <= settings.max_prompt_tokens]
    responses: dict[str, str | None] = dict.fromkeys(uids)
    was_training = model.training
    model.eval()
    device = next(model.parameters()).device
    tokens, at_once = [encoded[n] for n in fitting], settings.generation_batch_size
    try:
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            torch.manual_seed(settings.seed)
            with progress("responses to the rows of evaluation", len(fitting)) as advance:
                for said in sampled(model, tokens, _config(model, tokenizer, settings), at_once, settings.batching):
                    responses[uids[fitting[said.prompt]]] = tokenizer.decode(said.tokens, skip_special_tokens=True)
                    advance(1)
    finally:
        model.train(was_training)
    return responses


def _config(model: Any, tokenizer: Any, settings: GrpoSettings) -> Any:
    from transformers import GenerationConfig

    return GenerationConfig(
        max_new_tokens=settings.max_new_tokens,
        do_sample=True,
        temperature=settings.temperature,
        top_p=settings.top_p,
        top_k=0,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=end_tokens(model, tokenizer),
    )


def grade_sets(
    responses: Mapping[str, str | None], sets: Mapping[str, Sequence[Row]], categories: Sequence[str] = ()
) -> pl.DataFrame:
    """Grade responses against every set of labels (grader B).

    Returns:
        A frame with set, uid, label, response, answer, verdict, correct and abstained; a prompt that was too long is a
        format error, and its response is null.
    """
    rows = []
    for name, labelled in sets.items():
        for row in labelled:
            text = responses[row.uid]
            graded = grade_abstention(text, row.reference, categories=categories)
            rows.append(
                {
                    "set": name,
                    "uid": row.uid,
                    "label": row.reference.value.text(),
                    "response": text,
                    "answer": graded.answer.text(),
                    "verdict": str(graded.verdict),
                    "correct": graded.correct,
                    "abstained": graded.abstained,
                }
            )
    columns = dict.fromkeys(("set", "uid", "label", "response", "answer", "verdict"), pl.String)
    return pl.DataFrame(rows, schema={**columns, "correct": pl.Boolean, "abstained": pl.Boolean})


def accuracies(graded: pl.DataFrame) -> dict[str, dict[str, int]]:
    """Return rows, right answers, format errors and abstentions of each set."""
    counted = graded.group_by("set", maintain_order=True).agg(
        pl.len().alias("rows"),
        pl.col("correct").sum(),
        (pl.col("verdict") == "format_error").sum().alias("format_errors"),
        pl.col("abstained").sum(),
    )
    return {row.pop("set"): row for row in counted.to_dicts()}
