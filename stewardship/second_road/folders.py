"""What a dataset folder of ours is: which dataset, which columns make a benchmark's row, which labels there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

import pyarrow as pa

from ground.contracts.rows import CONTRADICTED_SCHEMA, MEDIEVAL_SCHEMA
from ground.contracts.rows_text import MEDHAL_SCHEMA, MEDVAL_SCHEMA
from ground.errors import InputError
from ground.flow.manifest import LicenceTier, read_manifest, tier_of
from ground.settings import BuildSettings
from ground.storage.parquet import check_columns, parquet_schema

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
EXPECTED = "a folder that `ontoground build medieval`, `medhal` or `medval` wrote"


@dataclass(frozen=True)
class DatasetFolder:
    """A dataset on disk.

    Attributes:
        kind: which dataset.
        folder: where it is.
        settings: what it was built with.
    """

    kind: DatasetKind
    folder: Path
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def licence_tier(self) -> LicenceTier:
        """``open`` or ``credentialed``, as `ground.flow.manifest.tier_of` says; it reads all files."""
        return tier_of(self.folder)

    @property
    def manifest(self) -> Path:
        """The file that names it."""
        return self.folder / "manifest.json"

    @property
    def files(self) -> list[Path]:
        """The files of its rows."""
        return sorted((self.folder / "data").glob("*.parquet"))

    @property
    def contradicted_files(self) -> list[Path]:
        """The files of MediEval's contradicted rows, where there are any."""
        return sorted((self.folder / "contradicted").glob("*.parquet"))

    @property
    def contraindicated_files(self) -> list[Path]:
        """The files of MediEval's statements of which none is called false, where there are any."""
        return sorted((self.folder / "contraindicated").glob("*.parquet"))

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

    def build_settings(self) -> BuildSettings:
        """Return the settings that MediEval's rows were built with.

        Raises:
            InputError: the manifest does not say so.
        """
        try:
            return BuildSettings.model_validate(self.settings["build"])
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                "this is not a dataset folder of MediEval",
                file=self.manifest,
                found="no settings of a build",
                expected="the manifest that `ontoground build medieval` wrote",
            ) from error


def open_folder(folder: Path) -> DatasetFolder:
    """Open a dataset folder.

    Raises:
        InputError: there is no such folder, it is no dataset of ours, or its rows are not of the dataset's schema.
    """
    files = sorted((folder / "data").glob("*.parquet"))
    if not files:
        raise InputError("this is not a dataset folder: it has no rows", file=folder, expected=EXPECTED)
    # A folder that lost its manifest is known by its columns, and taken for credentialed.
    manifest = read_manifest(folder)
    columns = parquet_schema(files[0]).names
    kind = manifest.get("dataset") or next((kind for kind in KINDS if set(SCHEMAS[kind].names) <= set(columns)), None)
    if kind not in KINDS:
        raise InputError("this is not a dataset built by ontoground", file=folder, found=str(kind), expected=EXPECTED)
    dataset = DatasetFolder(kind, folder, manifest.get("settings") or {})
    check_columns([*files, *dataset.contraindicated_files], SCHEMAS[kind])
    check_columns(dataset.contradicted_files, CONTRADICTED_SCHEMA)
    return dataset
