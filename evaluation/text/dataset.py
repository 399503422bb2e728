"""MedHal and MedVAL dataset folders as training reads them: a batch of rows at a time, never the whole set."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.dataset as ds

from ground.contracts.rows_text import MEDHAL_SCHEMA, MEDVAL_SCHEMA
from ground.errors import InputError
from ground.flow.manifest import tier_of
from ground.storage.files import sha256_of
from ground.storage.parquet import parquet_schema

__all__ = ["Kind", "Split", "TextDataset"]

Kind = Literal["medhal", "medval"]
Split = Literal["train", "validation", "test"]

# What training and evaluation read of each kind. A row's edit and its consistency are not among them.
COLUMNS: dict[Kind, tuple[str, ...]] = {
    "medhal": ("id", "pair_id", "context", "statement", "label", "explanation", "task", "subject_id", "split"),
    "medval": (
        *("id", "triple_id", "task", "instruction", "input", "output"),
        *("reasoning", "errors", "risk_level", "subject_id", "split"),
    ),
}
SCHEMAS: dict[Kind, pa.Schema] = {"medhal": MEDHAL_SCHEMA, "medval": MEDVAL_SCHEMA}
BATCH_ROWS = 1024


@dataclass(frozen=True)
class TextDataset:
    """One dataset folder of either kind.

    ``identity`` tells which data these are: the manifest's SHA-256, or that of the list of files where a folder has no
    manifest.
    """

    folder: Path
    kind: Kind
    licence_tier: str
    identity: dict[str, str]
    files: tuple[Path, ...]

    @classmethod
    def open(cls, folder: Path, kind: Kind) -> TextDataset:
        """Open a folder with ``data/{train,validation,test}-*.parquet``.

        Raises:
            InputError: no such files, or a column is missing or of another type.
        """
        files = tuple(sorted((folder / "data").glob("*.parquet")))
        if not files:
            raise InputError(
                f"this folder holds no {kind} dataset",
                file=folder,
                expected="data/{train,validation,test}-*.parquet",
                do=f"ontoground build {kind}",
            )
        for file in files:
            _check_columns(file, kind)
        manifest = folder / "manifest.json"
        return cls(
            folder=folder,
            kind=kind,
            licence_tier=tier_of(folder),
            identity=_identity(manifest, files),
            files=files,
        )

    def rows(self, split: Split, tasks: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
        """Yield the rows of a split in the order of the files; ``tasks`` keeps these tasks only."""
        columns, table = list(COLUMNS[self.kind]), self._table(split, tasks)
        for batch in table.to_batches(columns=columns, batch_size=BATCH_ROWS, batch_readahead=2):
            yield from batch.to_pylist()

    def count(self, split: Split, tasks: Sequence[str] | None = None) -> int:
        """Return how many rows a split (and these tasks of it) has."""
        return int(self._table(split, tasks).count_rows())

    def _table(self, split: Split, tasks: Sequence[str] | None) -> ds.Dataset:
        wanted = ds.field("split") == split
        if tasks is not None:
            wanted &= ds.field("task").isin(list(tasks))
        return ds.dataset(list(self.files), format="parquet").filter(wanted)


def _check_columns(file: Path, kind: Kind) -> None:
    found, expected = parquet_schema(file), SCHEMAS[kind]
    for name in COLUMNS[kind]:
        if name not in found.names:
            raise InputError("a column is missing", file=file, found=f"no {name}", expected=", ".join(COLUMNS[kind]))
        if not _same(found.field(name).type, expected.field(name).type):
            raise InputError(
                f"the column {name} has another type",
                file=file,
                found=str(found.field(name).type),
                expected=str(expected.field(name).type),
            )


def _same(found: pa.DataType, expected: pa.DataType) -> bool:
    # Writers differ in widths (int8 or int64, string or large_string) and in the names of list items; kinds must agree.
    for kind in (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean):
        if kind(expected):
            return bool(kind(found) or pa.types.is_null(found))
    if pa.types.is_string(expected):
        return bool(pa.types.is_string(found) or pa.types.is_large_string(found) or pa.types.is_null(found))
    if pa.types.is_list(expected):
        return bool(
            (pa.types.is_list(found) or pa.types.is_large_list(found)) and _same(found.value_type, expected.value_type)
        )
    names = {found.field(n).name for n in range(found.num_fields)} if pa.types.is_struct(found) else set()
    return {"category", "text"} <= names


def _identity(manifest: Path, files: Sequence[Path]) -> dict[str, str]:
    if manifest.is_file():
        return {"manifest_sha256": sha256_of(manifest)}
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{sha256_of(file)}  {file.name}\n".encode())
    return {"files_sha256": digest.hexdigest()}
