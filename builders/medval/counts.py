"""What a build made, counted from the audit table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from ground.json_record import JsonRecord
from ground.storage.sqlfiles import sql_text
from ground.storage.warehouse import open_database

__all__ = ["BuildReport", "Counts", "count_triples"]


@dataclass(frozen=True)
class Counts:
    """Tables over all triples; columns as in ``sql/builders/medval/*.sql``."""

    by_level: pl.DataFrame
    confusion: pl.DataFrame
    categories: pl.DataFrame
    rules: pl.DataFrame
    consistency: pl.DataFrame
    refusals: pl.DataFrame

    @property
    def inputs(self) -> int:
        """Inputs that reached the generator."""
        return int(self.by_level["inputs"].sum())

    @property
    def judged(self) -> int:
        """Triples that have a consistency."""
        return int(self.by_level["judged"].sum())

    @property
    def kept(self) -> int:
        """Triples whose two outputs are rows."""
        return int(self.by_level["kept"].sum())

    def mean_consistency(self) -> float | None:
        """Return the mean of M_MedVAL over judged triples."""
        return self.mean_of(self.by_level)

    def mean_of(self, levels: pl.DataFrame) -> float | None:
        """Return the same over some rows of ``by_level``; None where levels are known by construction."""
        judged = int(levels["judged"].sum())
        return float(levels["consistency_sum"].sum()) / judged if judged and self.consistency.height else None


def count_triples(path: Path) -> Counts:
    """Count the triples of an audit table."""
    with open_database() as connection:
        connection.execute("set threads = 1")
        connection.from_parquet(str(path)).create_view("triple")
        names = ("by_level", "confusion", "categories", "rules", "consistency", "refusals")
        return Counts(**{name: connection.sql(sql_text(f"builders/medval/{name}")).pl() for name in names})


@dataclass(frozen=True)
class BuildReport(JsonRecord):
    """What a build made.

    Attributes:
        folder: of the dataset.
        engine: ``rules`` or ``lm``.
        tau: from which consistency on a triple was kept; None under the rules.
        rows: of all splits.
        splits: rows by split.
        tasks: task, inputs, judged, kept, kept_share, mean_consistency, and kept triples by level ("1" to "4").
        left_out_tasks: task and reason.
        shortcuts: what the output alone tells, by task, source and reader (`builders.texts.shortcuts.Shortcut`).
        dropped: what was left out, by task, source and reason.
        language_models: what was asked and what it cost, by role; empty under the rules.
    """

    folder: str
    engine: str
    tau: float | None
    rows: int
    splits: Mapping[str, int]
    inputs: int
    judged: int
    kept: int
    mean_consistency: float | None
    tasks: list[dict[str, Any]]
    left_out_tasks: list[dict[str, str]]
    shortcuts: list[dict[str, Any]]
    dropped: Mapping[str, int]
    language_models: Mapping[str, Any]
