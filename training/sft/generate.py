"""Answers in batch: left padding, greedy unless told otherwise, read strictly, written as a predictions file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from evaluation.datasets import Kind, TextDataset
from evaluation.predictions import write_predictions
from ground.contracts.splits import Split, Version
from ground.errors import InputError, UsageError
from ground.lm.sampling import answers
from ground.progress import progress
from training.runs.models import load_config, load_model, load_tokenizer, name_of, quiet, usable_length
from training.runs.settings import GenerationSettings
from training.runs.text_runs import texts_attention
from training.sft.encoding import TASKS, SftTask, encode_prompt

__all__ = ["Generator", "generate"]

# Rows that are sorted by length together, in batches: little padding, and the memory stays flat.
BATCHES_AT_ONCE = 64


def generate(
    kind: Kind,
    dataset_dir: Path,
    model: str,
    out_file: Path,
    settings: GenerationSettings,
    split: Split = "test",
    version: Version = "full",
) -> dict[str, Any]:
    """Judge and explain the statements of a split, or name errors and grade the risk of its outputs.

    Args:
        kind: of the dataset: MedHal or MedVAL.
        dataset_dir: its folder.
        model: a run folder, or folder or hub name of a causal model.
        out_file: a predictions file (Parquet), in a folder that is made private.
        settings: of the generation.
        split: of the dataset.
        version: of MedHal, which rows.

    Returns:
        ``rows``, and ``outcomes``: how many rows had each outcome; ``cut``: how many reached ``max_new_tokens`` before
        their end.

    Raises:
        InputError: no such dataset or model, or an empty split.
    """
    dataset = TextDataset.open(dataset_dir, kind, version)
    if not (n := dataset.count(split, settings.tasks)):
        where = f"{dataset.folder.name}, {split}"
        raise InputError("there is no row to answer", found=where, do="choose another split or other tasks")
    generator, predictions = Generator.load(model, kind, settings), []
    with progress(f"answers to the {split} split", n) as advance:
        for prediction in generator.predictions(dataset.rows(split, settings.tasks)):
            predictions.append(prediction)
            advance(1)
    return write_predictions(out_file, predictions, kind)


@dataclass(frozen=True)
class Generator:
    """A model that answers rows of one kind."""

    name: str
    task: SftTask
    model: Any
    tokenizer: Any
    settings: GenerationSettings
    max_length: int

    @classmethod
    def load(cls, name: str, kind: Kind, settings: GenerationSettings) -> Generator:
        """Load a run folder, or a model from a folder or the hub.

        Raises:
            InputError: it cannot be loaded.
            UsageError: settings or model leave no room for a prompt, or a device is asked for that is not there.
        """
        length = usable_length(load_config(name), settings.max_length)
        if settings.max_new_tokens >= length:
            what, found = "max_new_tokens leaves no room for a prompt", f"{settings.max_new_tokens:,}"
            raise UsageError(what, found=found, expected=f"less than {length:,} (max_length, the model's positions)")
        attention = texts_attention(settings.hardware)[0]
        with quiet():
            model = load_model(name, "causal", settings.hardware, attention=attention).eval()
        return cls(
            name=name_of(name),
            task=TASKS[kind],
            model=model,
            tokenizer=load_tokenizer(name),
            settings=settings,
            max_length=length,
        )

    def predictions(self, rows: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yield one prediction a row, in the order of the rows."""
        settings = self.settings
        torch.manual_seed(settings.seed)
        limits = (self.max_length - settings.max_new_tokens, settings.max_new_tokens, settings.batch_size)
        temperature, stream = settings.temperature, iter(rows)
        while chunk := list(islice(stream, BATCHES_AT_ONCE * settings.batch_size)):
            prompts = [encode_prompt(self.tokenizer, self.task.prompt(row)) for row in chunk]
            texts = answers(self.model, self.tokenizer, prompts, *limits, settings.batching, temperature=temperature)
            for row, answer in zip(chunk, sorted(texts), strict=True):
                known = {"id": row["id"], "model": self.name, "seed": settings.seed}
                yield {**known, **self.task.read(answer.text), "cut": answer.cut}
