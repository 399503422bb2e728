"""A policy's responses to the rows of evaluation, and their grades against several sets of labels (paper, appendix E).

One response is sampled for each row, as in training, and graded against every set that labels the row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
import torch

from ground.contracts.grading import grade_abstention
from ground.errors import OntogroundError
from ground.progress import progress
from training.grpo.prompt import encode, messages
from training.grpo.rows import Row
from training.runs.settings import GrpoSettings

__all__ = ["accuracies", "grade_sets", "respond"]


@torch.inference_mode()
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
    # Of like length together, so that there is little padding.
    fitting = sorted(
        (n for n, ids in enumerate(encoded) if len(ids) <= settings.max_prompt_tokens),
        key=lambda n: (-len(encoded[n]), n),
    )
    responses: dict[str, str | None] = dict.fromkeys(uids)
    was_training = model.training
    model.eval()
    device = next(model.parameters()).device
    try:
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            torch.manual_seed(settings.seed)
            with progress("responses to the rows of evaluation", len(fitting)) as advance:
                for begin in range(0, len(fitting), settings.generation_batch_size):
                    batch = fitting[begin : begin + settings.generation_batch_size]
                    texts = _sample(model, tokenizer, [encoded[n] for n in batch], settings)
                    responses.update({uids[n]: text for n, text in zip(batch, texts, strict=True)})
                    advance(len(batch))
    except torch.OutOfMemoryError as error:
        raise OntogroundError("the device's memory is full", do="lower generation_batch_size") from error
    finally:
        model.train(was_training)
    return responses


def _sample(model: Any, tokenizer: Any, prompts: Sequence[Sequence[int]], settings: GrpoSettings) -> list[str]:
    from transformers import GenerationConfig

    width = max(map(len, prompts))
    padding = tokenizer.pad_token_id
    device = next(model.parameters()).device
    ids = torch.tensor([[padding] * (width - len(one)) + list(one) for one in prompts], device=device)
    mask = torch.tensor([[0] * (width - len(one)) + [1] * len(one) for one in prompts], device=device)
    ends = model.generation_config.eos_token_id
    ends = ends if isinstance(ends, list) else [ends]
    config = GenerationConfig(
        max_new_tokens=settings.max_new_tokens,
        do_sample=True,
        temperature=settings.temperature,
        top_p=settings.top_p,
        top_k=0,
        pad_token_id=padding,
        eos_token_id=sorted({end for end in (*ends, tokenizer.eos_token_id) if end is not None}),
    )
    out = model.generate(input_ids=ids, attention_mask=mask, generation_config=config)
    return [str(text) for text in tokenizer.batch_decode(out[:, width:], skip_special_tokens=True)]


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
