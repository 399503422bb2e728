"""Dataset folders as training and evaluation read them: opened with their columns checked, evidence never read.

MediEval's statements come without their contexts, and each context once; MedHal's and MedVAL's rows come a batch at a
time, never the whole set.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import polars as pl
import pyarrow as pa

from ground.contracts.rows import MEDIEVAL_SCHEMA
from ground.contracts.rows_text import MEDHAL_SCHEMA, MEDVAL_SCHEMA
from ground.contracts.splits import FOLDS, Split, Version
from ground.contracts.taxonomy import resolve_tasks
from ground.errors import InputError, UsageError
from ground.flow.manifest import tier_of
from ground.storage.files import sha256_of
from ground.storage.parquet import check_columns, parquet_schema

__all__ = [
    "COLUMNS",
    "Kind",
    "MedievalDataset",
    "TextDataset",
]

Kind = Literal["medhal", "medval"]

# The evidence columns (spans, replaced concept, distance; a row's edit and its consistency) are not among them: a model
# that is given a row's evidence is given its label.
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "medieval": (
        *("id", "group_id", "subject_id", "hadm_id", "statement", "quadrant", "is_true", "is_supported", "predicate"),
        *("head_name", "tail_name", "hops", "tier", "support_level", "split", "fact_split", "fold"),
    ),
    "medhal": ("id", "pair_id", "context", "statement", "label", "explanation", "task", "subject_id", "split"),
    "medval": (
        *("id", "triple_id", "task", "instruction", "input", "output"),
        *("reasoning", "errors", "risk_level", "subject_id", "split"),
    ),
}
SCHEMAS = {"medieval": MEDIEVAL_SCHEMA, "medhal": MEDHAL_SCHEMA, "medval": MEDVAL_SCHEMA}
BATCH_ROWS = 1024


def _data_files(folder: Path, dataset: str, *more: str) -> tuple[Path, ...]:
    """Return the data files of a folder, which all have the columns that are read, and some more.

    Raises:
        InputError: there is none, or a column is missing or of another type.
    """
    files = tuple(sorted((folder / "data").glob("*.parquet")))
    if not files:
        raise InputError(
            f"this folder holds no {dataset} dataset",
            file=folder,
            expected="data/{train,validation,test}-*.parquet",
            do=f"ontoground build {dataset}",
        )
    schema = SCHEMAS[dataset]
    check_columns(files, pa.schema([schema.field(name) for name in (*COLUMNS[dataset], *more)]))
    return files


@dataclass(frozen=True)
class MedievalDataset:
    """Statements, contexts and the provenance of one folder as ``ontoground build medieval`` writes it.

    ``rows`` has one row a sample (`COLUMNS`), ordered by id; ``contexts`` has one row an admission
    (``hadm_id``, ``context``), ordered by hadm_id.
    """

    folder: Path
    rows: pl.DataFrame
    contexts: pl.DataFrame
    manifest_sha256: str

    @classmethod
    def open(cls, folder: Path) -> MedievalDataset:
        """Read a folder.

        Raises:
            InputError: it is no MediEval dataset, a column is missing or of another type, or an admission has two
                contexts.
        """
        scan = pl.scan_parquet(list(_data_files(folder, "medieval", "context")), glob=False)
        manifest = folder / "manifest.json"
        if not manifest.is_file():
            raise InputError("the dataset has no manifest", file=manifest, do="ontoground build medieval")
        contexts = scan.select("hadm_id", "context").unique().sort("hadm_id", "context").collect()
        if contexts["hadm_id"].n_unique() < contexts.height:
            raise InputError("an admission has two contexts", file=folder / "data", expected="one context an admission")
        return cls(
            folder=folder,
            rows=scan.select(COLUMNS["medieval"]).sort("id").collect(),
            contexts=contexts,
            manifest_sha256=sha256_of(manifest),
        )

    @property
    def licence_tier(self) -> str:
        """``open`` or ``credentialed``, as `ground.flow.manifest.tier_of` says."""
        return tier_of(self.folder)

    @property
    def identity(self) -> dict[str, Any]:
        """What runs and reports say of it."""
        source = {"name": self.folder.resolve().name, "manifest_sha256": self.manifest_sha256}
        return source | {"licence_tier": self.licence_tier, "rows": self.rows.height}

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


@dataclass(frozen=True)
class TextDataset:
    """One folder of MedHal or MedVAL.

    ``identity`` is what runs and reports say of it: ``name``, ``licence_tier``, and the manifest's SHA-256, or that of
    the list of files where a folder has no manifest; of MedHal's smaller versions also which.
    """

    folder: Path
    kind: Kind
    identity: dict[str, str]
    files: tuple[Path, ...]
    version: Version = "full"

    @classmethod
    def open(cls, folder: Path, kind: Kind, version: Version = "full") -> TextDataset:
        """Open a folder with ``data/{train,validation,test}-*.parquet``.

        Raises:
            InputError: no such files, or a column is missing or of another type.
        """
        files = _data_files(folder, kind)
        if version != "full" and any(f"in_{version}" not in parquet_schema(file).names for file in files):
            what = "this dataset has no smaller versions"
            raise InputError(what, file=folder, found=version, expected=f"a column in_{version}, as MedHal has")
        identity = {"name": folder.resolve().name, "licence_tier": tier_of(folder)} | _identity(folder, files)
        identity |= {} if version == "full" else {"version": version}
        return cls(folder, kind, identity, files, version)

    @property
    def licence_tier(self) -> str:
        """``open`` or ``credentialed``, as `ground.flow.manifest.tier_of` says."""
        return self.identity["licence_tier"]

    def scan(self, split: Split, tasks: Sequence[str] = (), consistency: float | None = None) -> pl.LazyFrame:
        """Return the rows of a split with all their columns, in the order of the files, to be read where needed.

        ``tasks`` keeps the tasks of these names only (`resolve_tasks`; texts of others have tasks of their own);
        ``consistency`` rows of MedVAL that have this or more, rated ones have none.
        """
        rows = pl.scan_parquet(list(self.files), glob=False).filter(pl.col("split") == split)
        rows = rows if self.version == "full" else rows.filter(pl.col(f"in_{self.version}"))
        rows = rows.filter(pl.col("task").is_in(resolve_tasks(tasks, self.kind))) if tasks else rows
        return rows if consistency is None else rows.filter(pl.col("consistency") >= consistency)

    def rows(
        self, split: Split, tasks: Sequence[str] = (), consistency: float | None = None
    ) -> Iterator[dict[str, Any]]:
        """Yield the rows of `scan`, a batch at a time, with the columns that are read (`COLUMNS`)."""
        for batch in (
            self.scan(split, tasks, consistency).select(COLUMNS[self.kind]).collect_batches(chunk_size=BATCH_ROWS)
        ):
            yield from batch.iter_rows(named=True)

    def count(self, split: Split, tasks: Sequence[str] = (), consistency: float | None = None) -> int:
        """Return how many rows `scan` has."""
        return int(self.scan(split, tasks, consistency).select(pl.len()).collect().item())


def _identity(folder: Path, files: Sequence[Path]) -> dict[str, str]:
    if (manifest := folder / "manifest.json").is_file():
        return {"manifest_sha256": sha256_of(manifest)}
    listed = "".join(f"{sha256_of(file)}  {file.name}\n" for file in files)
    return {"files_sha256": hashlib.sha256(listed.encode()).hexdigest()}
