"""What a dataset folder of ours is: which dataset, which columns make a benchmark's row, which labels there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

import pyarrow as pa
import pyarrow.parquet as pq

from ground.contracts.rows import MEDIEVAL_SCHEMA
from ground.contracts.rows_text import MEDHAL_SCHEMA, MEDVAL_SCHEMA
from ground.errors import InputError
from ground.flow.manifest import LicenceTier, read_manifest, tier_of

__all__ = ["LABELS", "DatasetFolder", "DatasetKind", "open_folder"]

DatasetKind = Literal["medieval", "medhal", "medval"]
KINDS: tuple[DatasetKind, ...] = get_args(DatasetKind)
SCHEMAS: dict[DatasetKind, pa.Schema] = {"medieval": MEDIEVAL_SCHEMA, "medhal": MEDHAL_SCHEMA, "medval": MEDVAL_SCHEMA}
LABELS: dict[DatasetKind, tuple[str, ...]] = {
    "medieval": ("Q1", "Q2", "Q3", "Q4"),
    "medhal": ("factual", "non-factual"),
    "medval": ("1", "2", "3", "4"),
}
"""The labels of each dataset, in their order."""


@dataclass(frozen=True)
class DatasetFolder:
    """A dataset on disk.

    Attributes:
        kind: which dataset.
        folder: where it is.
        licence_tier: ``open`` or ``credentialed``, as `ground.flow.manifest.tier_of` says.
        settings: what it was built with.
    """

    kind: DatasetKind
    folder: Path
    licence_tier: LicenceTier
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def manifest(self) -> Path:
        """The file that names it."""
        return self.folder / "manifest.json"

    @property
    def files(self) -> list[Path]:
        """The files of its rows."""
        return sorted((self.folder / "data").glob("*.parquet"))

    @property
    def columns(self) -> tuple[str, str, str]:
        """SQL of a row's key, of its label as text, and of what rows are compared by.

        The ids of MediEval and MedVAL end with the quadrant or the variant: a reviewer who sees such a key is not
        blind. Their key is a hash of the id.
        """
        blind = "md5(id)[:16]"
        match self.kind:
            case "medieval":
                return blind, "quadrant", "predicate"
            case "medhal":
                return "id", "if(label, 'factual', 'non-factual')", "task"
            case "medval":
                return blind, "risk_level::varchar", "task"


def open_folder(folder: Path) -> DatasetFolder:
    """Open a dataset folder.

    Raises:
        InputError: there is no such folder, it is no dataset of ours, or its rows are not of the dataset's schema.
    """
    files = sorted((folder / "data").glob("*.parquet"))
    expected = "a folder that `ontoground build medieval`, `medhal` or `medval` wrote"
    if not files:
        raise InputError("this folder holds no dataset", file=folder, expected=expected)
    # A folder that lost its manifest is known by its columns, and taken for credentialed.
    manifest = read_manifest(folder)
    columns = pq.read_schema(files[0]).names
    kind = manifest.get("dataset") or next((one for one in KINDS if set(SCHEMAS[one].names) <= set(columns)), None)
    if kind not in KINDS:
        raise InputError("this is not a dataset built by ontoground", file=folder, found=str(kind), expected=expected)
    if missing := [name for name in SCHEMAS[kind].names if name not in columns]:
        raise InputError(f"rows of {kind} lack columns", file=files[0], expected=", ".join(missing))
    return DatasetFolder(kind, folder, tier_of(folder), manifest.get("settings") or {})
