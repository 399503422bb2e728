"""A small MediEval dataset made on the spot: whether a statement is true is in its words, support is in the context."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from evaluation.datasets import MedievalDataset
from ground.stable import stable_hash

__all__ = ["small_dataset"]

DRUGS = ("aspirin", "heparin", "insulin", "morphine", "digoxin", "warfarin", "codeine", "timolol")
COLUMNS = {"predicate": "treats", "head_name": "", "tail_name": "", "hops": 1, "tier": "stated", "support_level": ""}


def small_dataset(folder: Path, admissions: int = 9, groups: int = 3) -> MedievalDataset:
    """Return a dataset of ``admissions * groups * 4`` rows, two thirds of them for training."""
    rows, contexts = [], []
    for number in range(admissions):
        hadm, split = 100 + number, ("train", "train", "test")[number % 3]
        drawn = sorted(DRUGS, key=lambda drug, hadm=hadm: stable_hash(1, hadm, drug))  # type: ignore[misc]
        given, absent = drawn[:groups], drawn[groups : 2 * groups]
        course = " ".join(f"Given {drug}." for drug in given)
        contexts.append((hadm, f"Chief Complaint:\nPain\nBrief Hospital Course:\n{course * (1 + number % 3)}\n"))
        for group in range(groups):
            for quadrant, drug, verb in (
                ("Q1", given[group], "helps"),
                ("Q2", absent[group], "helps"),
                ("Q3", given[group], "never helps"),
                ("Q4", absent[group], "never helps"),
            ):
                rows.append(
                    {
                        "id": f"{hadm}-{group}-{quadrant}",
                        "group_id": f"{hadm}-{group}",
                        "subject_id": hadm,
                        "hadm_id": hadm,
                        "statement": f"{drug.capitalize()} {verb}.",
                        "quadrant": quadrant,
                        "is_true": quadrant in ("Q1", "Q2"),
                        "is_supported": quadrant in ("Q1", "Q3"),
                        "split": split,
                        "fact_split": split,
                        "given": "none",
                        "fold": hadm % 3,
                    }
                    | COLUMNS
                )
    return MedievalDataset(
        folder=folder,
        rows=pl.DataFrame(rows).sort("id"),
        contexts=pl.DataFrame(contexts, schema=["hadm_id", "context"], orient="row"),
        manifest_sha256="0" * 64,
    )
