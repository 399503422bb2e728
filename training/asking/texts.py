"""Detectors and validators without training: a model is asked as fine-tuned ones are, with one example or none.

Prompts are those of `ground.contracts.prompts`, answers are read strictly (`ground.contracts.answers`), and what cannot
be read, or was never answered, has no label and counts as wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from evaluation.text.dataset import Kind, TextDataset
from ground.contracts.taxonomy import resolve_tasks
from ground.errors import InputError
from ground.lm.results import Completion, Message, Request, Result
from ground.lm.settings import LmSettings
from training.asking.engine import AskedReport, AskingSettings, Prediction, ask, cut_contexts, drawn, prediction
from training.asking.shots import examples_for
from training.sft.encoding import TASKS, SftTask
from training.sft.generate import write_predictions

__all__ = ["SHOTS", "AskedSettings", "ask_dataset", "ask_rows", "messages_of"]

# What a row's label rests on, and what may be cut where it is long.
CUT: Mapping[Kind, str] = {"medhal": "context", "medval": "input"}
SHOTS = ("zero-shot", "one-shot")


class AskedSettings(AskingSettings):
    """Which rows are asked about, with how many examples, and how much of their text is shown."""

    tasks: tuple[str, ...] = Field(default=(), description="rows of these tasks only; empty: all")
    shots: Literal[0, 1] = Field(default=0, description="worked examples before the question, from the train split")
    max_example_characters: int = Field(
        default=6000, ge=1, description="an example's texts have no more characters than this together"
    )


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
    """Ask a language model about the rows of a split; the files are those of `training.asking.engine.ask`.

    Raises:
        RefusedError: a credentialed dataset and an endpoint off this machine that the settings do not name.
        UsageError: a settings value that does not work.
        InputError: the split is empty, there is no example, the model cannot be reached or answers nothing at all.
    """
    tasks = resolve_tasks(settings.tasks, dataset.kind)
    rows = list(dataset.rows(settings.split, tasks))
    if not rows:
        raise InputError(f"the {settings.split} split has no row of these tasks", file=dataset.folder)
    kept = drawn([row["id"] for row in rows], settings, "asked")
    rows = [row for row in rows if row["id"] in kept]
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

    def questions() -> tuple[Iterable[Request], int]:
        column, both = CUT[kind], [*rows, *examples.values()]
        shown = cut_contexts({row[column] for row in both if row[column]}, model_settings, settings)
        seen: list[Mapping[str, Any]] = [{**row, column: shown[row[column]]} if row[column] else row for row in both]
        by_task = dict(zip(examples, seen[len(rows) :], strict=True))
        requests = (Request(messages_of(task, row, by_task.get(row["task"]))) for row in seen[: len(rows)])
        return requests, sum(one[column] != row[column] for one, row in zip(seen, both, strict=True))

    def predict(name: str, result: Result) -> Prediction:
        read = task.parse(result.text) if isinstance(result, Completion) else None
        errors = [{"category": category, "text": words} for category, words in getattr(read, "errors", ())]
        labelled = read is not None and read.label is not None
        known = {} if read is None else {name: getattr(read, name) for name in ("label", "explanation", "outcome")}
        own = {"errors": errors if labelled else None} if kind == "medval" else {}
        found = prediction(name, result, model_settings, SHOTS[settings.shots], **known)
        return {"explanation": None, **own, **found}

    def write(path: Path, found: list[Prediction]) -> None:
        write_predictions(path, kind, iter(found), where=name)

    return ask(
        [row["id"] for row in rows],
        questions,
        predict,
        write,
        model_settings,
        workspace,
        out,
        licence_tier=licence_tier,
        split=name,
        record="asked",
        about={
            "settings": settings.model_dump(),
            "examples": {task_name: example["id"] for task_name, example in examples.items()},
            **(about or {}),
        },
        advance=advance,
    )
