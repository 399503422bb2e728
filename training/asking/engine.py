"""How a language model is asked about rows: behind the gate of privacy, from the cache, with every raw answer kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
from pydantic import Field

from evaluation.classes import Kind
from evaluation.predictions import write_predictions
from ground.errors import InputError, UsageError
from ground.flow.manifest import to_json
from ground.lm.client import LanguageModel
from ground.lm.results import Completion, Failure, Message, Request, Result
from ground.lm.settings import LmSettings
from ground.progress import progress
from ground.settings import Section
from ground.stable import stable_hash
from ground.storage.files import atomic_path, write_text
from training.packing.tokens import kept_parts

__all__ = ["AskedReport", "AskingSettings", "Prediction", "Question", "Row", "ask", "cut_context", "drawn"]

CUT_AT_LENGTH = "length"
ANSWERS = {
    **dict.fromkeys(("outcome", "answer", "reason", "detail", "finish_reason", "served_model"), pl.String),
    **dict.fromkeys(("prompt_tokens", "completion_tokens", "attempts"), pl.Int64),
    **{"temperature": pl.Float64, "seed": pl.Int64, "key": pl.String},
}
"""Columns of what a model said: those of a result and of its usage."""
Row = Mapping[str, Any]
Prediction = dict[str, Any]
"""A row's ``id``, ``label`` (None: no readable answer), ``outcome``, ``cut``, ``model``, ``seed``, and what is more."""


@dataclass(frozen=True)
class Question:
    """What is asked about rows of one kind.

    Attributes:
        record: what the record's file is called.
        method: how the model is asked, beside its name in predictions.
        column: the text that may be cut where it is long.
        messages: the turns of the question about a row, after an example's where there is one.
        read: ``label``, ``outcome`` and what is more of an answer; the same keys of every text.
        kind: of the rows, by whose contract predictions are written.
    """

    record: str
    method: str
    column: str
    messages: Callable[[Row, Row | None], tuple[Message, ...]]
    read: Callable[[str], Prediction]
    kind: Kind


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
    question: Question,
    rows: Sequence[Row],
    model_settings: LmSettings,
    settings: AskingSettings,
    workspace: Path,
    out: Path,
    *,
    licence_tier: str,
    name: str,
    about: Mapping[str, Any],
    examples: Mapping[str, Row] | None = None,
) -> AskedReport:
    """Ask about rows; write ``predictions-{name}.parquet``, ``answers-{name}.parquet`` and ``{record}-{name}.json``.

    A run that was stopped goes on from the workspace's cache.

    Args:
        question: what is asked, and how answers are read.
        rows: with ``id`` and the texts of the question.
        model_settings: the model.
        settings: how much is shown; its ``split`` and ``rows`` are not looked at.
        workspace: holds the cache of answers.
        out: takes the files.
        licence_tier: ``open``, or else the rows stay on this machine.
        name: in the names of the files, such as the split.
        about: settings and rows, for the record.
        examples: a worked one for each task; none where left out.

    Raises:
        RefusedError: credentialed rows and an endpoint off this machine that the settings do not name.
        UsageError: a settings value that does not work.
        InputError: the model cannot be reached or loaded, or it answers nothing at all.
    """
    # Opened first: a refusal comes before any work, and before anything is written.
    with LanguageModel(model_settings, workspace, licence_tier) as model:
        requests, contexts_cut = _requests(question, rows, examples or {}, model_settings, settings)
        with progress(f"asking {_model_name(model_settings)}", len(rows)) as advance:
            results = model.complete_all(requests, advance)
        totals, asked = model.totals.as_dict(), model.describe()
    _require_answers(results, model_settings)
    known = {"model": f"{_model_name(model_settings)} + {question.method}", "seed": model_settings.seed}
    answers = [
        {"id": row["id"], **known, **_prediction(result, question)} for row, result in zip(rows, results, strict=True)
    ]
    written = write_predictions(out / f"predictions-{name}.parquet", answers, question.kind)
    with atomic_path(out / f"answers-{name}.parquet") as temporary:
        table = pl.DataFrame({column: [answer[column] for answer in answers] for column in ("id", "label")})
        table.hstack(_answers_table(results)).write_parquet(temporary)
    silent = [result for answer, result in zip(answers, results, strict=True) if answer["label"] is None]
    failures = [result for result in silent if isinstance(result, Failure)]
    report = AskedReport(
        **written,
        unparseable=len(silent) - len(failures),
        failed=dict(Counter(failure.reason.value for failure in failures)),
        contexts_cut=contexts_cut,
        language_model=totals,
    )
    place = {
        "endpoint": model_settings.endpoint if model_settings.kind == "endpoint" else None,
        "reason_for_remote": model_settings.allow_remote_reason,
    }
    record = {"settings": settings.model_dump(), **about, "language_model": {**asked, **place}}
    write_text(out / f"{question.record}-{name}.json", to_json({**record, "report": report.as_dict()}))
    return report


def _requests(
    question: Question,
    rows: Sequence[Row],
    examples: Mapping[str, Row],
    model_settings: LmSettings,
    settings: AskingSettings,
) -> tuple[Iterable[Request], int]:
    """Return the requests in the order of the rows, and how many texts were cut."""
    column = question.column
    texts = {row[column] for row in (*rows, *examples.values()) if row[column]}
    cut: dict[str | None, str] = {}
    if settings.max_context_tokens:
        tokenizer = _tokenizer_for(model_settings, settings.tokenizer)
        cut = {text: cut_context(text, tokenizer, settings.max_context_tokens) for text in texts}

    def with_cut_texts(row: Row) -> Row:
        return {**row, column: cut.get(row[column], row[column])}

    worked = {task: with_cut_texts(example) for task, example in examples.items()}
    requests = (Request(question.messages(with_cut_texts(row), worked.get(row.get("task", "")))) for row in rows)
    return requests, sum(after != before for before, after in cut.items())


def _model_name(model_settings: LmSettings) -> str:
    folder = Path(model_settings.model)
    return folder.name if folder.is_dir() else model_settings.model


def _prediction(result: Result, question: Question) -> Prediction:
    """Return what was read of an answer, or the reason why there is none."""
    if isinstance(result, Completion):
        return {**question.read(result.text), "cut": result.finish_reason == CUT_AT_LENGTH}
    return {**dict.fromkeys(question.read("")), "outcome": f"failed_{result.reason.value}", "cut": False}


def drawn(rows: Sequence[Row], settings: AskingSettings, part: str) -> list[Row]:
    """Return the rows that are asked about: those of a smaller number are among those of a larger one."""
    if not 0 < settings.rows < len(rows):
        return list(rows)
    order = sorted(rows, key=lambda row: (stable_hash(settings.seed, part, row["id"]), row["id"]))
    kept = {row["id"] for row in order[: settings.rows]}
    return [row for row in rows if row["id"] in kept]


def cut_context(context: str, tokenizer: Any, max_tokens: int) -> str:
    """Return the parts of a context that training would keep under this budget; the tokenizer is a fast one."""
    ((_, spans, kept),) = kept_parts(tokenizer, [context], max_tokens)
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
    from training.runs.models import load_tokenizer

    return load_tokenizer(name)


def _require_answers(results: Sequence[Result], model_settings: LmSettings) -> None:
    failures = [result for result in results if isinstance(result, Failure)]
    if len(failures) == len(results):
        raise InputError(
            f"the model answered none of {len(results)} requests",
            found=f"the first: {failures[0].reason} ({failures[0].detail})",
            expected=f"{model_settings.model} to answer",
            do="where the prompt is too long, set max_context_tokens; else check the model and run it again",
        )


def _answers_table(results: Sequence[Result]) -> pl.DataFrame:
    """Return what the model said to each request; answers may repeat the record, so they stay in a private folder."""
    dumped = (result.model_dump(mode="json") for result in results)
    rows = [{**row, **row["usage"], "answer": row["text"], "served_model": row["model"]} for row in dumped]
    return pl.DataFrame(rows, schema=ANSWERS)
