"""Detectors and validators without training: a model is asked as fine-tuned ones are, with one example or none.

Prompts are those of `ground.contracts.prompts`, answers are read strictly (`ground.contracts.answers`), and what cannot
be read, or was never answered, has no label and counts as wrong.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import polars as pl
from pydantic import Field

from evaluation.text.dataset import Kind, Split, TextDataset
from ground.contracts.taxonomy import resolve_tasks
from ground.errors import InputError
from ground.lm.client import LanguageModel
from ground.lm.results import Completion, Message, Request, Result
from ground.lm.settings import LmSettings
from ground.settings import Section
from ground.stable import stable_hash
from ground.storage.files import atomic_path, private_directory, write_text
from training.classifier.zeroshot import cut_context
from training.runs.asking import answers_table, model_name, require_answers, tokenizer_for
from training.sft.generate import write_predictions
from training.sft.shots import examples_for
from training.sft.tasks import TASKS, SftTask

__all__ = ["AskedReport", "AskedSettings", "ask_dataset", "ask_rows", "messages_of"]

# What a row's label rests on, and what may be cut where it is long.
CUT: Mapping[Kind, str] = {"medhal": "context", "medval": "input"}
SHOTS = ("zero-shot", "one-shot")
CUT_AT_LENGTH = "length"


class AskedSettings(Section):
    """Which rows are asked about, with how many examples, and how much of their text is shown."""

    split: Split = Field(default="test", description="which split is asked about")
    tasks: tuple[str, ...] = Field(default=(), description="rows of these tasks only; empty: all")
    rows: int = Field(default=0, ge=0, description="ask about so many rows only, drawn by seed; 0 means all")
    seed: int = Field(default=42, ge=0, lt=2**32, description="seed of that draw, and of the example's")
    shots: Literal[0, 1] = Field(default=0, description="worked examples before the question, from the train split")
    max_example_characters: int = Field(
        default=6000, ge=1, description="an example's texts have no more characters than this together"
    )
    max_context_tokens: int = Field(
        default=0, ge=0, description="tokens of a context (MedVAL: an input), cut by section as in training; 0: whole"
    )
    tokenizer: str = Field(
        default="", description="whose tokens those are: a name or folder; unset: the local model's own"
    )


@dataclass(frozen=True)
class AskedReport:
    """How many rows were asked about, and for how many there is no label."""

    rows: int
    outcomes: dict[str, int]
    unparseable: int
    failed: int
    cut: int
    contexts_cut: int
    language_model: dict[str, Any]

    @property
    def share_unparseable(self) -> float:
        """Share of rows without a label, whatever the cause; they count as wrong."""
        return (self.unparseable + self.failed) / self.rows

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {**vars(self), "share_unparseable": self.share_unparseable}


def messages_of(task: SftTask, row: Mapping[str, Any], example: Mapping[str, Any] | None = None) -> tuple[Message, ...]:
    """Return the question about a row, after an example's question and answer where there is one."""
    question = Message(role="user", content=task.prompt(row))
    if example is None:
        return (question,)
    shown = (
        Message(role="user", content=task.prompt(example)),
        Message(role="assistant", content=task.answer(example).text),
    )
    return (*shown, question)


def ask_dataset(
    dataset: TextDataset,
    model_settings: LmSettings,
    settings: AskedSettings,
    workspace: Path,
    out: Path,
    advance: Callable[[int], None] = lambda _: None,
) -> AskedReport:
    """Ask a language model about the rows of a split.

    Writes to ``out``: ``predictions-{split}.parquet`` by the contract (label null where there is none),
    ``answers-{split}.parquet`` with every raw answer, and ``asked-{split}.json``. A run that was stopped goes on from
    the workspace's cache.

    Raises:
        RefusedError: a credentialed dataset and an endpoint off this machine that the settings do not name.
        UsageError: a settings value that does not work.
        InputError: the split is empty, there is no example, the model cannot be reached or answers nothing at all.
    """
    tasks = resolve_tasks(settings.tasks, dataset.kind)
    rows = _chosen(dataset, tasks, settings)
    examples = (
        examples_for(
            dataset,
            sorted({row["task"] for row in rows}),
            max_characters=settings.max_example_characters,
            seed=settings.seed,
        )
        if settings.shots
        else {}
    )
    about = {"dataset": {"name": dataset.folder.resolve().name, **dataset.identity}}
    return ask_rows(
        dataset.kind,
        rows,
        model_settings,
        settings,
        workspace,
        out,
        licence_tier=dataset.licence_tier,
        examples=examples,
        name=settings.split,
        about=about,
        advance=advance,
    )


def _chosen(dataset: TextDataset, tasks: Sequence[str], settings: AskedSettings) -> list[dict[str, Any]]:
    rows = list(dataset.rows(settings.split, tasks))
    if not rows:
        raise InputError(f"the {settings.split} split has no row of these tasks", file=dataset.folder)
    if not 0 < settings.rows < len(rows):
        return rows
    lowest = sorted((stable_hash(settings.seed, "asked", row["id"]), row["id"]) for row in rows)[: settings.rows]
    kept = {name for _, name in lowest}
    return [row for row in rows if row["id"] in kept]


def ask_rows(
    kind: Kind,
    rows: Sequence[Mapping[str, Any]],
    model_settings: LmSettings,
    settings: AskedSettings,
    workspace: Path,
    out: Path,
    *,
    licence_tier: str,
    examples: Mapping[str, Mapping[str, Any]] | None = None,
    name: str = "test",
    about: Mapping[str, Any] | None = None,
    advance: Callable[[int], None] = lambda _: None,
) -> AskedReport:
    """Ask a language model about rows in memory, which need no dataset folder; as `ask_dataset`.

    Args:
        kind: which question is asked.
        rows: ``id``, ``task`` and the texts of the question.
        model_settings: the model.
        settings: shots and cut; its ``split``, ``tasks`` and ``rows`` are not looked at.
        workspace: holds the cache of answers.
        out: takes the files.
        licence_tier: ``open``, or else the rows stay on this machine.
        examples: by task, where ``settings.shots`` is 1.
        name: in the names of the files.
        about: what the rows are, for the record.
        advance: called with 1 for each row that has its answer.
    """
    task, examples = TASKS[kind], examples or {}
    # Opened first: a refusal comes before any work, and before anything is written.
    with LanguageModel(model_settings, workspace, licence_tier) as model:
        shown, contexts_cut = _cut(kind, [*rows, *examples.values()], model_settings, settings)
        questions, shown_examples = shown[: len(rows)], dict(zip(examples, shown[len(rows) :], strict=True))
        results = model.complete_all(_requests(task, questions, shown_examples), advance)
        totals, asked = model.totals.as_dict(), model.describe()
    require_answers(results, model_settings)
    private_directory(out)
    predictions = [
        _prediction(task, row["id"], result, f"{model_name(model_settings)} + {SHOTS[settings.shots]}", model_settings)
        for row, result in zip(rows, results, strict=True)
    ]
    written = write_predictions(out / f"predictions-{name}.parquet", kind, iter(predictions), where=name)
    with atomic_path(out / f"answers-{name}.parquet") as temporary:
        ids = pl.DataFrame({"id": [row["id"] for row in rows]})
        ids.hstack(answers_table(results)).write_parquet(temporary)
    report = _report(written, predictions, results, contexts_cut, totals)
    record = {
        "settings": settings.model_dump(),
        "language_model": {
            **asked,
            "endpoint": model_settings.endpoint if model_settings.kind == "endpoint" else None,
            "reason_for_remote": model_settings.allow_remote_reason,
        },
        "examples": {task_name: example["id"] for task_name, example in examples.items()},
        **(about or {}),
        "report": report.as_dict(),
    }
    write_text(out / f"asked-{name}.json", json.dumps(record, indent=2, sort_keys=True) + "\n")
    return report


def _requests(
    task: SftTask, rows: Iterable[Mapping[str, Any]], examples: Mapping[str, Mapping[str, Any]]
) -> Iterator[Request]:
    for row in rows:
        yield Request(messages_of(task, row, examples.get(row["task"])))


def _cut(
    kind: Kind, rows: Sequence[Mapping[str, Any]], model_settings: LmSettings, settings: AskedSettings
) -> tuple[list[Mapping[str, Any]], int]:
    """Return the rows as they are shown, and how many were cut."""
    if not settings.max_context_tokens:
        return list(rows), 0
    tokenizer, column = tokenizer_for(model_settings, settings.tokenizer), CUT[kind]
    shown: list[Mapping[str, Any]] = [
        {**row, column: cut_context(row[column], tokenizer, settings.max_context_tokens)} if row[column] else row
        for row in rows
    ]
    return shown, sum(one[column] != row[column] for one, row in zip(shown, rows, strict=True))


def _prediction(task: SftTask, name: str, result: Result, model: str, model_settings: LmSettings) -> dict[str, Any]:
    known = {"id": name, "model": model, "seed": model_settings.seed}
    if not isinstance(result, Completion):
        errors = {"errors": None} if task.kind == "medval" else {}
        failed = f"failed_{result.reason.value}"
        return {**known, **errors, "label": None, "explanation": None, "outcome": failed, "cut": False}
    read = task.parse(result.text)
    found = [{"category": category, "text": words} for category, words in getattr(read, "errors", ())]
    return {
        **known,
        **({"errors": found if read.label is not None else None} if task.kind == "medval" else {}),
        "label": read.label,
        "explanation": read.explanation,
        "outcome": read.outcome,
        "cut": result.finish_reason == CUT_AT_LENGTH,
    }


def _report(
    written: Mapping[str, Any],
    predictions: Sequence[Mapping[str, Any]],
    results: Sequence[Result],
    contexts_cut: int,
    totals: dict[str, Any],
) -> AskedReport:
    answered = [isinstance(result, Completion) for result in results]
    silent = Counter(there for one, there in zip(predictions, answered, strict=True) if one["label"] is None)
    return AskedReport(
        rows=written["rows"],
        outcomes=written["outcomes"],
        unparseable=silent[True],
        failed=silent[False],
        cut=written["cut"],
        contexts_cut=contexts_cut,
        language_model=totals,
    )
