"""A MediEval dataset folder as training reads it: statements without their contexts, and each context once."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import polars as pl

from ground.contracts.rows import MEDIEVAL_SCHEMA
from ground.errors import InputError
from ground.flow.manifest import tier_of
from ground.storage.files import sha256_of

__all__ = ["MedievalDataset", "Split"]

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
)


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

    def split_rows(self, split: Split, column: Literal["split", "fact_split"] = "split") -> pl.DataFrame:
        """Return the rows of one split, ordered by id.

        Raises:
            InputError: the split is empty.
        """
        rows = self.rows.filter(pl.col(column) == split)
        if rows.is_empty():
            raise InputError(
                f"the {split} split is empty", file=self.folder, expected=f"rows whose {column} is {split}"
            )
        return rows
