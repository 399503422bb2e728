"""Detectors and validators without training: a model is asked as fine-tuned ones are, with one example or none.

Prompts are those of `ground.contracts.prompts`, answers are read strictly (`ground.contracts.answers`), and what cannot
be read, or was never answered, has no label and counts as wrong. A worked example in front of a question is drawn from
the train split by stable hash, of the same task if it can be. The draw does not look at the label, so the example
favours no class on purpose; one task always has the same, which keeps the beginning of its prompts the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import polars as pl
from pydantic import Field

from evaluation.classes import CLASSES
from evaluation.datasets import Kind, TextDataset
from ground.errors import InputError, UsageError
from ground.lm.results import Message
from ground.lm.settings import LmSettings
from ground.stable import stable_hash
from training.asking.engine import AskedReport, AskingSettings, Question, Row, ask, drawn
from training.asking.evaluators import read_format
from training.sft.encoding import TASKS

__all__ = ["SHOTS", "AskedSettings", "ask_dataset", "examples_for", "method_of", "question_of"]

SHOTS = ("zero-shot", "one-shot")

TEXTS: Mapping[Kind, tuple[str, ...]] = {
    "medhal": ("context", "statement", "explanation"),
    "medval": ("instruction", "input", "output", "reasoning"),
}


class AskedSettings(AskingSettings):
    """Which rows are asked about, with how many examples, and how much of their text is shown."""

    tasks: tuple[str, ...] = Field(default=(), description="rows of these tasks only; empty: all")
    shots: Literal[0, 1] = Field(default=0, description="worked examples before the question, from the train split")
    format: str = Field(
        default="",
        description="an evaluator's own format: halloumi, medval4b, prometheus2, or a TOML file; unset: ours",
    )
    max_example_characters: int = Field(
        default=6000, ge=1, description="an example's texts have no more characters than this together"
    )


def examples_for(
    dataset: TextDataset, tasks: Iterable[str], *, max_characters: int, seed: int
) -> dict[str, dict[str, Any]]:
    """Return the example of each task: a row of the train split, as `TextDataset.rows` yields it.

    A row can be an example where its answer is whole (a non-factual statement needs its explanation, a graded output
    its reasoning) and its texts have no more than ``max_characters`` together. A task without such a row borrows the
    example of the whole split.

    Raises:
        InputError: no row of the train split can be an example.
    """
    texts, explained = TEXTS[dataset.kind], TEXTS[dataset.kind][-1]
    whole = pl.col(explained).fill_null("").str.strip_chars() != ""
    if dataset.kind == "medhal":
        whole |= pl.col("label")
    characters = pl.sum_horizontal(pl.col(name).fill_null("").str.len_chars() for name in texts)
    rows = dataset.scan("train").filter(whole & (characters <= max_characters))
    able = rows.select(pl.col("id").cast(pl.String), pl.col("task").cast(pl.String)).collect()
    if not able.height:
        raise InputError(
            "no row of the train split can be an example",
            file=dataset.folder,
            expected=f"rows with a whole answer and at most {max_characters:,} characters",
            do="raise max_example_characters, or leave out --shots",
        )
    order = pl.Series([stable_hash(seed, "one-shot", name) for name in able["id"]], dtype=pl.UInt64)
    able = able.with_columns(rank=order).sort("rank", "id")
    first = {task: [*able.filter(pl.col("task") == task)["id"].head(1), able["id"][0]][0] for task in tasks}
    columns = ["id", "task", CLASSES[dataset.kind].label, *texts, *(["errors"] if dataset.kind == "medval" else [])]
    examples = rows.filter(pl.col("id").is_in(sorted(set(first.values())))).select(columns).collect()
    by_id = {row["id"]: row for row in examples.to_dicts()}
    return {task: by_id[name] for task, name in first.items()}


def question_of(kind: Kind, shots: int = 0) -> Question:
    """Return the question of fine-tuning about rows of a kind."""
    task = TASKS[kind]

    def messages(row: Row, example: Row | None) -> tuple[Message, ...]:
        first = () if example is None else (("user", task.prompt(example)), ("assistant", task.answer(example).text))
        return tuple(Message(role=role, content=text) for role, text in (*first, ("user", task.prompt(row))))

    return Question("asked", SHOTS[shots], CLASSES[kind].texts[0], messages, task.read, kind)


def _question(kind: Kind, settings: AskedSettings) -> tuple[Question, dict[str, Any]]:
    """Return our question or that of an evaluator's own format, and what the record says of the latter."""
    if not settings.format:
        return question_of(kind, settings.shots), {}
    if settings.shots:
        raise UsageError("a format of an evaluator has no worked examples", found="shots 1", expected="shots 0")
    form = read_format(settings.format)
    form.check(kind)
    question = Question(
        "asked", method_of(settings), CLASSES[kind].texts[0], lambda row, _: form.messages(row), form.read, kind
    )
    return question, {"format": form.model_dump()}


def method_of(settings: AskedSettings) -> str:
    """Return how a model is asked, as it stands beside its name."""
    return f"format {Path(settings.format).stem}" if settings.format else SHOTS[settings.shots]


def ask_dataset(
    dataset: TextDataset,
    model_settings: LmSettings,
    settings: AskedSettings,
    workspace: Path,
    out: Path,
    *,
    examples_from: TextDataset | None = None,
) -> AskedReport:
    """Ask a language model about the rows of a split; files and errors are those of `training.asking.engine.ask`.

    ``examples_from`` has the worked examples, where the dataset has no train split.

    Raises:
        InputError: the split has no row of these tasks, or there is no example.
    """
    rows = list(dataset.rows(settings.split, settings.tasks))
    if not rows:
        raise InputError(f"the {settings.split} split has no row of these tasks", file=dataset.folder)
    question, about = _question(dataset.kind, settings)
    chosen = drawn(rows, settings, "asked")
    tasks = sorted({row["task"] for row in chosen}) if settings.shots else []
    limits = {"max_characters": settings.max_example_characters, "seed": settings.seed}
    examples = examples_for(examples_from or dataset, tasks, **limits) if tasks else {}
    about |= {
        "dataset": dataset.identity,
        "examples": {task: example["id"] for task, example in examples.items()},
    }
    return ask(
        question, chosen, model_settings, settings, workspace, out,
        licence_tier=dataset.licence_tier, name=settings.split, about=about, examples=examples,
    )  # fmt: skip
