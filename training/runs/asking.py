"""What all runs that ask a language model share: the tokenizer that contexts are counted with, and the raw answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ground.errors import InputError, UsageError
from ground.lm.results import Completion, Failure, Result
from ground.lm.settings import LmSettings

__all__ = ["answers_table", "model_name", "require_answers", "tokenizer_for"]


def tokenizer_for(model_settings: LmSettings, name: str) -> Any:
    """Load the tokenizer that a budget of tokens is counted with: of this name, or the local model's own.

    Raises:
        UsageError: there is none, it cannot be loaded, or it gives no offsets.
    """
    name = name or (model_settings.model if model_settings.kind == "transformers" else "")
    if not name:
        raise UsageError(
            "max_context_tokens needs a tokenizer",
            expected="tokenizer = the name or folder of the served model's tokenizer",
        )
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(name)
    except (OSError, ValueError) as error:
        raise UsageError("the tokenizer cannot be loaded", found=name, expected="a folder or a hub name") from error
    if not tokenizer.is_fast:
        raise UsageError("the tokenizer gives no offsets", found=name, expected="a fast one (tokenizer.json)")
    return tokenizer


def require_answers(results: Sequence[Result], model_settings: LmSettings) -> None:
    """Refuse a run in which the model answered nothing at all.

    Raises:
        InputError: every request failed; it names the first reason.
    """
    failures = [result for result in results if isinstance(result, Failure)]
    if len(failures) == len(results):
        raise InputError(
            f"the model answered none of {len(results)} requests",
            found=f"the first: {failures[0].reason} ({failures[0].detail})",
            expected=f"{model_settings.model} to answer",
            do="where the prompt is too long, set max_context_tokens; else see to the model and run again",
        )


def model_name(model_settings: LmSettings) -> str:
    """Return the model's name for predictions: a local folder's without its path."""
    folder = Path(model_settings.model)
    return folder.name if folder.is_dir() else model_settings.model


def answers_table(results: Sequence[Result]) -> pl.DataFrame:
    """Return what the model said to each request; answers may repeat the record, so they stay in a private folder."""
    records = [
        {
            "outcome": result.outcome,
            "answer": result.text,
            "reason": None if isinstance(result, Completion) else result.reason.value,
            "detail": None if isinstance(result, Completion) else result.detail,
            "finish_reason": result.finish_reason,
            "served_model": result.model,
            "prompt_tokens": result.usage.prompt_tokens,
            "completion_tokens": result.usage.completion_tokens,
            "attempts": result.attempts,
            "temperature": result.temperature,
            "seed": result.seed,
            "key": result.key,
        }
        for result in results
    ]
    schema: dict[str, Any] = {
        **dict.fromkeys(("outcome", "answer", "reason", "detail", "finish_reason", "served_model"), pl.String),
        **dict.fromkeys(("prompt_tokens", "completion_tokens", "attempts"), pl.Int64),
        "temperature": pl.Float64,
        "seed": pl.Int64,
        "key": pl.String,
    }
    return pl.DataFrame(records, schema=schema)
