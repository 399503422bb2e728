"""A small made-up dataset in memory, and predictions for it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from evaluation.datasets import MedievalDataset
from evaluation.predictions import write_predictions
from ground.contracts.rows import QUADRANTS

DRUGS = ("aspirin", "heparin", "insulin", "metformin")


def dataset(n_patients: int = 12, groups: int = 2) -> MedievalDataset:
    """Patients with one admission and ``groups`` groups of four statements each; a third of the patients are test.

    The context names the drugs of Q1 and Q3, so that literal overlap tells what is supported.
    """
    rows, contexts = [], []
    for patient in range(n_patients):
        hadm = 1000 + patient
        split = ("train", "train", "test")[patient % 3]
        contexts.append({"hadm_id": hadm, "context": f"Takes ASPIRIN and insulin. Pain{'. More words' * patient}."})
        for group in range(groups):
            for quadrant, drug in zip(QUADRANTS, ("aspirin", "heparin", "insulin", "metformin"), strict=True):
                rows.append(
                    {
                        "id": f"{hadm}-{group}-{quadrant}",
                        "group_id": f"{hadm}-{group}",
                        "subject_id": 10 + patient,
                        "hadm_id": hadm,
                        "statement": f"{drug.capitalize()} treats pain.",
                        "quadrant": quadrant,
                        "is_true": quadrant in ("Q1", "Q2"),
                        "is_supported": quadrant in ("Q1", "Q3"),
                        "predicate": ("treats", "causes")[group % 2],
                        "head_name": drug,
                        "tail_name": "pain",
                        "hops": 1 + group,
                        "tier": "stated" if quadrant in ("Q1", "Q2") else None,
                        "support_level": {"Q1": "stated", "Q3": "co_mentioned"}.get(quadrant, "silent"),
                        "split": split,
                        "fact_split": split,
                        "given": "none",
                        "fold": patient % 4,
                    }
                )
    return MedievalDataset(
        folder=Path("datasets/medieval"),
        rows=pl.DataFrame(rows).sort("id"),
        contexts=pl.DataFrame(contexts),
        manifest_sha256="0" * 64,
    )


def predictions(
    gold: pl.DataFrame, model: str, seed: int | None, wrong_every: int, scores: bool = True
) -> pl.DataFrame:
    """Right answers, except that every so-many-th row is called Q1; the probability of an answer is 0.7."""
    called = ["Q1" if at % wrong_every == 0 else label for at, label in enumerate(gold["quadrant"])]
    table = pl.DataFrame(
        {"id": gold["id"], "label": called, "model": [model] * len(called), "seed": [seed] * len(called)},
        schema_overrides={"seed": pl.Int64},
    )
    if not scores:
        return table
    probabilities = np.where(np.array(called)[:, None] == np.array(QUADRANTS)[None, :], 0.7, 0.1)
    return table.with_columns(scores=pl.Series(probabilities.tolist()))


def written(file: Path, table: pl.DataFrame) -> Path:
    """Write a predictions file as other tools do; a CSV file holds lists as JSON."""
    if file.suffix == ".csv":
        lists = pl.format("[{}]", pl.col(pl.List(pl.Float64)).list.eval(pl.element().cast(pl.String)).list.join(", "))
        table.with_columns(lists).write_csv(file)
    elif file.suffix == ".jsonl":
        table.write_ndjson(file)
    else:
        write_predictions(file, table)
    return file
