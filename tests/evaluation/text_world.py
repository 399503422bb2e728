"""A small detectors' world and a small validators' world, with answers whose quality is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from evaluation.datasets import TextDataset
from tests.training.sft.cases import medhal_dataset, medhal_rows, medval_dataset, medval_rows

__all__ = ["answers", "detectors", "experts", "validators"]


def detectors(folder: Path) -> tuple[TextDataset, list[Any]]:
    """120 statements of three tasks; questions have no context."""
    rows: list[Any] = []
    for task, n in (("question_answering", 60), ("summarization", 40), ("nli", 20)):
        for number, row in enumerate(medhal_rows(n, split="test", task=task)):
            row["context"] = None if task == "question_answering" else "word " * (10 + number)
            rows.append(row)
    return TextDataset.open(medhal_dataset(folder, rows), "medhal"), rows


def validators(folder: Path) -> tuple[TextDataset, list[Any]]:
    """120 outputs of three tasks (one of them trained on in the paper), thirty of each level."""
    rows: list[Any] = []
    for task in ("report2impression", "dialogue2note", "course2diagnosis"):
        made: list[Any] = medval_rows(40, split="test", task=task)
        for number, row in enumerate(made):
            row["risk_level"] = 1 + (number // 2 + number) % 4
            row["input"] = f"{row['input']} Findings {number}."
            rows.append(row)
    return TextDataset.open(medval_dataset(folder, rows), "medval"), rows


def answers(
    path: Path, rows: list[Any], label: str, classes: tuple[Any, ...], right: float, model: str, seed: int = 1
) -> Path:
    """Write predictions that are right with some probability, and silent in one row of twenty."""
    generator = np.random.default_rng(seed)
    said = [
        None
        if generator.random() < 0.05
        else row[label]
        if generator.random() < right
        else classes[generator.integers(len(classes))]
        for row in rows
    ]
    explanation = [row.get("explanation") or "No reason." for row in rows]
    table = {"id": [row["id"] for row in rows], "label": said, "explanation": explanation}
    pl.DataFrame(table).with_columns(model=pl.lit(model), seed=pl.lit(seed)).write_parquet(path)
    return path


def experts(rows: list[Any], names: tuple[str, ...] = ("anna", "ben", "chris")) -> pl.DataFrame:
    """Ratings of every third row: right in four of five, one level off in the rest, missing now and then."""
    generator = np.random.default_rng(5)
    found = []
    for name in names:
        for row in rows[::3]:
            step = int(generator.choice([-1, 1])) if generator.random() < 0.2 else 0
            label = None if generator.random() < 0.1 else int(np.clip(row["risk_level"] + step, 1, 4))
            errors = [{"category": "missing_claim", "text": "a drug"}] if (label or 1) > 1 else []
            found.append({"id": row["id"], "label": label, "errors": errors, "model": name})
    return pl.DataFrame(found)
