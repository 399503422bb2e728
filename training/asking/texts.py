"""Detectors and validators without training: a model is asked as fine-tuned ones are, with one example or none.

Prompts are those of `ground.contracts.prompts`, answers are read strictly (`ground.contracts.answers`), and what cannot
be read, or was never answered, has no label and counts as wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field

from evaluation.text.dataset import Kind, TextDataset
from ground.contracts.taxonomy import resolve_tasks
from ground.errors import InputError
from ground.lm.results import Message
from ground.lm.settings import LmSettings
from training.asking.engine import Advance, AskedReport, AskingSettings, Prediction, Question, Row, ask, drawn
from training.asking.shots import examples_for
from training.sft.encoding import TASKS
from training.sft.generate import write_predictions

__all__ = ["SHOTS", "AskedSettings", "ask_dataset", "question_of"]

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


def question_of(kind: Kind, shots: int = 0) -> Question:
    """Return the question of fine-tuning about rows of a kind."""
    task = TASKS[kind]

    def messages(row: Row, example: Row | None) -> tuple[Message, ...]:
        shown = () if example is None else (("user", task.prompt(example)), ("assistant", task.answer(example).text))
        return tuple(Message(role=role, content=text) for role, text in (*shown, ("user", task.prompt(row))))

    def write(path: Path, found: list[Prediction]) -> None:
        write_predictions(path, kind, iter(found), where=path.stem.removeprefix("predictions-"))

    return Question("asked", SHOTS[shots], CUT[kind], messages, task.read, write)


def ask_dataset(
    dataset: TextDataset,
    model_settings: LmSettings,
    settings: AskedSettings,
    workspace: Path,
    out: Path,
    advance: Advance = lambda _: None,
) -> AskedReport:
    """Ask a language model about the rows of a split; files and errors are those of `training.asking.engine.ask`.

    Raises:
        InputError: the split has no row of these tasks, or there is no example.
    """
    rows = list(dataset.rows(settings.split, resolve_tasks(settings.tasks, dataset.kind)))
    if not rows:
        raise InputError(f"the {settings.split} split has no row of these tasks", file=dataset.folder)
    chosen = drawn(rows, settings, "asked")
    tasks = sorted({row["task"] for row in chosen}) if settings.shots else []
    limits = {"max_characters": settings.max_example_characters, "seed": settings.seed}
    examples = examples_for(dataset, tasks, **limits) if tasks else {}
    return ask(
        question_of(dataset.kind, settings.shots),
        chosen,
        model_settings,
        settings,
        workspace,
        out,
        licence_tier=dataset.licence_tier,
        name=settings.split,
        about={
            "dataset": {"name": dataset.folder.resolve().name, **dataset.identity},
            "examples": {task: example["id"] for task, example in examples.items()},
        },
        examples=examples,
        advance=advance,
    )
