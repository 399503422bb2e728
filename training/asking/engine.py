"""How a language model is asked about rows: behind the gate of privacy, from the cache, with every raw answer kept."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
from pydantic import Field

from ground.errors import InputError, UsageError
from ground.lm.client import LanguageModel
from ground.lm.results import Completion, Failure, Request, Result
from ground.lm.settings import LmSettings
from ground.settings import Section
from ground.stable import stable_hash
from ground.storage.files import atomic_path, private_directory, write_text
from training.packing.contexts import context_sections, kept_tokens

__all__ = ["AskedReport", "AskingSettings", "Prediction", "ask", "cut_contexts", "drawn", "prediction"]

CUT_AT_LENGTH = "length"
Prediction = dict[str, Any]
"""A row's ``id``, ``label`` (None: no readable answer), ``outcome``, ``cut``, ``model``, ``seed``, and what is more."""


class AskingSettings(Section):
    """Which rows are asked about, and how much of their text is shown."""

    split: Literal["train", "validation", "test"] = Field(default="test", description="which split is asked about")
    rows: int = Field(default=0, ge=0, description="ask about so many rows only, drawn by seed; 0 means all")
    seed: int = Field(default=42, ge=0, lt=2**32, description="seed of that draw, and of an example's")
    max_context_tokens: int = Field(
        default=0, ge=0, description="tokens of a context (MedVAL: an input), cut by section as in training; 0: whole"
    )
    tokenizer: str = Field(
        default="", description="whose tokens those are: a name or folder; unset: the local model's own"
    )


@dataclass(frozen=True)
class AskedReport:
    """How many rows were asked about, and for how many there is no label: unreadable answers, and failures."""

    rows: int
    outcomes: dict[str, int]
    unparseable: int
    failed: dict[str, int]  # no answer, by reason
    cut: int
    contexts_cut: int
    language_model: dict[str, Any]

    @property
    def share_unparseable(self) -> float:
        """Share of rows without a label, whatever the cause; they count as wrong."""
        return (self.unparseable + sum(self.failed.values())) / self.rows

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {**vars(self), "share_unparseable": self.share_unparseable}


def ask(
    names: Sequence[str],
    questions: Callable[[], tuple[Iterable[Request], int]],
    predict: Callable[[str, Result], Prediction],
    write: Callable[[Path, list[Prediction]], object],
    model_settings: LmSettings,
    workspace: Path,
    out: Path,
    *,
    licence_tier: str,
    split: str,
    record: str,
    about: Mapping[str, Any],
    advance: Callable[[int], None],
) -> AskedReport:
    """Ask about rows; write ``predictions-{split}.parquet``, ``answers-{split}.parquet`` and ``{record}-{split}.json``.

    A run that was stopped goes on from the workspace's cache.

    Args:
        names: the rows' ids.
        questions: makes the requests, in their order, and says how many contexts were cut.
        predict: reads an answer to the row of an id.
        write: writes the predictions, by the contract of their kind.
        model_settings: the model.
        workspace: holds the cache of answers.
        out: takes the files.
        licence_tier: ``open``, or else the rows stay on this machine.
        split: of the rows, in the names of the files.
        record: what the record's file is called.
        about: settings and rows, for the record.
        advance: called with 1 for each row that has its answer.

    Raises:
        RefusedError: credentialed rows and an endpoint off this machine that the settings do not name.
        InputError: the model cannot be reached or loaded, or it answers nothing at all.
    """
    # Opened first: a refusal comes before any work, and before anything is written.
    with LanguageModel(model_settings, workspace, licence_tier) as model:
        requests, contexts_cut = questions()
        results = model.complete_all(requests, advance)
        totals, asked = model.totals.as_dict(), model.describe()
    _require_answers(results, model_settings)
    found = [predict(name, result) for name, result in zip(names, results, strict=True)]
    private_directory(out)
    write(out / f"predictions-{split}.parquet", found)
    with atomic_path(out / f"answers-{split}.parquet") as temporary:
        table = pl.DataFrame({name: [one[name] for one in found] for name in ("id", "label")})
        table.hstack(_answers_table(results)).write_parquet(temporary)
    silent = [result for one, result in zip(found, results, strict=True) if one["label"] is None]
    failures = [result for result in silent if isinstance(result, Failure)]
    report = AskedReport(
        rows=len(found),
        outcomes=dict(sorted(Counter(one["outcome"] for one in found).items())),
        unparseable=len(silent) - len(failures),
        failed=dict(Counter(failure.reason.value for failure in failures)),
        cut=sum(one["cut"] for one in found),
        contexts_cut=contexts_cut,
        language_model=totals,
    )
    place = {
        "endpoint": model_settings.endpoint if model_settings.kind == "endpoint" else None,
        "reason_for_remote": model_settings.allow_remote_reason,
    }
    told = {"language_model": {**asked, **place}, **about, "report": report.as_dict()}
    write_text(out / f"{record}-{split}.json", json.dumps(told, indent=2, sort_keys=True) + "\n")
    return report


def prediction(name: str, result: Result, model_settings: LmSettings, method: str, **read: Any) -> Prediction:
    """Return a row's prediction: what was read of an answer, or the reason why there is none."""
    folder = Path(model_settings.model)
    model = folder.name if folder.is_dir() else model_settings.model
    known = {"id": name, "model": f"{model} + {method}", "seed": model_settings.seed}
    if isinstance(result, Completion):
        return {**known, "cut": result.finish_reason == CUT_AT_LENGTH, **read}
    return {**known, "label": None, "outcome": f"failed_{result.reason.value}", "cut": False}


def drawn(names: Sequence[str], settings: AskingSettings, part: str) -> set[str]:
    """Return the ids of the rows that are asked about: those of a smaller number are among those of a larger one."""
    if not 0 < settings.rows < len(names):
        return set(names)
    return set(sorted(names, key=lambda name: (stable_hash(settings.seed, part, name), name))[: settings.rows])


def cut_contexts(texts: Iterable[str], model_settings: LmSettings, settings: AskingSettings) -> dict[str, str]:
    """Return each text as it is shown, the parts that training would keep under this budget, in their order.

    Raises:
        UsageError: the budget needs a tokenizer; there is none, it cannot be loaded, or it gives no offsets.
    """
    if not settings.max_context_tokens:
        return {text: text for text in texts}
    tokenizer = _tokenizer_for(model_settings, settings.tokenizer)
    return {text: cut_context(text, tokenizer, settings.max_context_tokens) for text in texts}


def cut_context(context: str, tokenizer: Any, max_tokens: int) -> str:
    """Return the parts of a context that training would keep under this budget; the tokenizer is a fast one."""
    encoded = tokenizer(context, add_special_tokens=False, return_offsets_mapping=True)
    spans = np.array(encoded["offset_mapping"], dtype=np.int64).reshape(-1, 2)
    kept = kept_tokens(spans[:, 0], context_sections(context), max_tokens)
    if kept.all():
        return context
    # Runs of kept tokens: where the mask goes up, and where it goes down again.
    steps = np.diff(np.concatenate([[0], kept.astype(np.int8), [0]]))
    runs = zip(np.flatnonzero(steps == 1), np.flatnonzero(steps == -1), strict=True)
    return "\n".join(context[spans[first, 0] : spans[last - 1, 1]].strip("\n") for first, last in runs)


def _tokenizer_for(model_settings: LmSettings, name: str) -> Any:
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


def _require_answers(results: Sequence[Result], model_settings: LmSettings) -> None:
    failures = [result for result in results if isinstance(result, Failure)]
    if len(failures) == len(results):
        raise InputError(
            f"the model answered none of {len(results)} requests",
            found=f"the first: {failures[0].reason} ({failures[0].detail})",
            expected=f"{model_settings.model} to answer",
            do="where the prompt is too long, set max_context_tokens; else see to the model and run again",
        )


def _answers_table(results: Sequence[Result]) -> pl.DataFrame:
    """Return what the model said to each request; answers may repeat the record, so they stay in a private folder."""
    words = ("outcome", "answer", "reason", "detail", "finish_reason", "served_model")
    schema: dict[str, Any] = dict.fromkeys(words, pl.String)
    schema |= dict.fromkeys(("prompt_tokens", "completion_tokens", "attempts"), pl.Int64)
    schema |= {"temperature": pl.Float64, "seed": pl.Int64, "key": pl.String}
    records = []
    for result in results:
        failed = None if isinstance(result, Completion) else result
        why = (failed and failed.reason.value, failed and failed.detail)
        said = (result.outcome, result.text, *why, result.finish_reason, result.model)
        counts = (result.usage.prompt_tokens, result.usage.completion_tokens, result.attempts)
        records.append((*said, *counts, result.temperature, result.seed, result.key))
    return pl.DataFrame(records, schema=schema, orient="row")
