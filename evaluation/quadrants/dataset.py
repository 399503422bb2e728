"""A MediEval dataset folder as training reads it: statements without their contexts, and each context once."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import polars as pl

from ground.contracts.rows import MEDIEVAL_SCHEMA
from ground.errors import InputError, UsageError
from ground.flow.manifest import tier_of
from ground.storage.files import sha256_of

__all__ = ["FOLDS", "SPLITS_IN_WORDS", "SPLIT_COLUMN", "MedievalDataset", "Split"]

Split = Literal["train", "validation", "test"]

# What evaluation slices by; the evidence columns (spans, replaced concept, distance) are never read: a model that is
# given a row's evidence is given its label.
COLUMNS = (
    "id",
    "group_id",
    "subject_id",
    "hadm_id",
    "statement",
    "quadrant",
    "is_true",
    "is_supported",
    "predicate",
    "head_name",
    "tail_name",
    "hops",
    "tier",
    "support_level",
    "split",
    "fact_split",
    "fold",
)
FOLDS = "folds"
"""In place of a column of splits: every row, each tested by a model that was not trained on its fold."""
SPLIT_COLUMN = r"^(split|fact_split|folds|fold_\d+)$"
"""How a run's rows are split: by a column of the dataset, or by the fold that is tested."""
SPLITS_IN_WORDS = "by patient (split), also by fact (fact_split), or fold_N, which tests fold N and trains on others"


@dataclass(frozen=True)
class MedievalDataset:
    """Statements, contexts and the provenance of one dataset folder.

    ``rows`` has one row a sample (`COLUMNS`), ordered by id; ``contexts`` has one row an admission
    (``hadm_id``, ``context``), ordered by hadm_id.
    """

    folder: Path
    rows: pl.DataFrame
    contexts: pl.DataFrame
    manifest: dict[str, Any]
    manifest_sha256: str

    @classmethod
    def open(cls, folder: Path) -> MedievalDataset:
        """Read a folder as ``ontoground build medieval`` writes it.

        Raises:
            InputError: the folder is no MediEval dataset, a column is missing, or an admission has two contexts.
        """
        files = sorted((folder / "data").glob("*.parquet"))
        manifest = folder / "manifest.json"
        if not files or not manifest.is_file():
            raise InputError(
                "this folder holds no MediEval dataset",
                file=folder,
                expected="data/{train,validation,test}-*.parquet and manifest.json",
                do="ontoground build medieval",
            )
        scan = pl.scan_parquet(files, glob=False)
        lacking = sorted({*COLUMNS, "context"} - set(scan.collect_schema().names()))
        if lacking:
            raise InputError(
                "columns are missing",
                file=folder / "data",
                found=f"no {', '.join(lacking)}",
                expected=", ".join(MEDIEVAL_SCHEMA.names),
                do="build it again: ontoground build medieval",
            )
        contexts = scan.select("hadm_id", "context").unique().sort("hadm_id", "context").collect()
        if contexts["hadm_id"].n_unique() < contexts.height:
            raise InputError("an admission has two contexts", file=folder / "data", expected="one context an admission")
        return cls(
            folder=folder,
            rows=scan.select(COLUMNS).sort("id").collect(),
            contexts=contexts,
            manifest=json.loads(manifest.read_text(encoding="utf-8")),
            manifest_sha256=sha256_of(manifest),
        )

    @property
    def licence_tier(self) -> str:
        """``open`` or ``credentialed``, as `ground.flow.manifest.tier_of` says."""
        return tier_of(self.folder)

    @property
    def folds(self) -> tuple[int, ...]:
        """Folds that have rows, in order."""
        return tuple(self.rows["fold"].unique().sort())

    def in_split(self, split: Split, column: str = "split") -> pl.Expr:
        """Return which rows are of a split.

        Args:
            split: the wanted one.
            column: ``split``, ``fact_split``; ``fold_N``, where fold N is tested, the next one with rows validates and
                all others train; `FOLDS`, where all rows are tested.

        Raises:
            UsageError: there is no such fold, or `FOLDS` is asked for another split than test.
        """
        if column == FOLDS:
            if split != "test":
                raise UsageError("all folds together have one split", found=split, expected="test")
            return pl.lit(True)
        if not column.startswith("fold_"):
            return pl.col(column) == split
        folds, tested = self.folds, int(column.removeprefix("fold_"))
        if tested not in folds or (split != "test" and len(folds) < 3):
            raise UsageError(
                "the dataset has no such fold, or too few to train, validate and test",
                file=self.folder,
                found=f"fold {tested}",
                expected=f"three folds or more, and one of them: {', '.join(map(str, folds))}",
                do="build it with more patients, or other build.folds",
            )
        validating = folds[(folds.index(tested) + 1) % len(folds)]
        of_split = {"test": pl.col("fold") == tested, "validation": pl.col("fold") == validating}
        return of_split.get(split, ~pl.col("fold").is_in([tested, validating]))

    def split_rows(self, split: Split, column: str = "split") -> pl.DataFrame:
        """Return the rows of one split, ordered by id; ``column`` as `in_split` takes it.

        Raises:
            InputError: the split is empty.
            UsageError: as `in_split`.
        """
        rows = self.rows.filter(self.in_split(split, column))
        if rows.is_empty():
            raise InputError(
                f"the {split} split is empty", file=self.folder, expected=f"rows whose {column} is {split}"
            )
        return rows
