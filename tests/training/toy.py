"""A small MediEval dataset in memory: who is preferred can be read off a word, so that a policy can learn it."""

from __future__ import annotations

import random
from pathlib import Path

import polars as pl

from evaluation.datasets import MedievalDataset

__all__ = ["toy_dataset"]

DRUGS = ("aspirin", "heparin", "insulin", "lisinopril", "warfarin", "digoxin")
VERBS = {"Q1": "treats", "Q2": "prevents", "Q3": "causes", "Q4": "worsens"}
SPLITS = ("train", "train", "train", "validation", "test")


def toy_dataset(admissions: int = 10, groups: int = 3, seed: int = 0) -> MedievalDataset:
    """Make admissions with so many groups of four statements each; 3 of 5 admissions train, one validates."""
    draw = random.Random(seed)
    rows, contexts = [], []
    for number in range(admissions):
        drugs = draw.sample(DRUGS, groups)
        history = " ".join(f"takes {drug} {draw.randint(1, 9)} mg." for drug in draw.choices(DRUGS, k=number + 3))
        contexts.append({"hadm_id": number, "context": f"History of Present Illness: {history}"})
        rows += [
            {
                "id": f"{number}-{group}-{quadrant}",
                "group_id": f"{number}-{group}",
                "subject_id": number,
                "hadm_id": number,
                "statement": f"{drug} {verb} condition {group}.",
                "quadrant": quadrant,
                "split": SPLITS[number % len(SPLITS)],
                "fact_split": SPLITS[number % len(SPLITS)],
                "given": "none",
                "fold": number % 3,
            }
            for group, drug in enumerate(drugs)
            for quadrant, verb in VERBS.items()
        ]
    return MedievalDataset(
        folder=Path("toy"),
        rows=pl.DataFrame(rows).sort("id"),
        contexts=pl.DataFrame(contexts),
        manifest_sha256="0" * 64,
    )
