"""What generator and validator of MedVAL both read to this day: graver drugs and diagnoses, and words by kind."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import cast

from ground import ROOT
from ground.contracts.rows_text import ErrorCategory, RiskLevel
from ground.storage.tables import read_table

__all__ = ["DATA", "Weight", "critical_drugs", "read_weights", "serious_diagnoses", "words"]

DATA = ROOT / "builders" / "data"


@dataclass(frozen=True, slots=True)
class Weight:
    """What a change weighs; ``category`` is None where it has no clinical meaning."""

    rule: str
    level: RiskLevel
    category: ErrorCategory | None
    why: str


def read_weights(table: str) -> dict[str, Weight]:
    """Return the weights of a table by rule."""
    rows = read_table(DATA / f"{table}.tsv", ("rule", "level", "category", "why", "source"))
    return {
        row["rule"]: Weight(
            row["rule"],
            cast(RiskLevel, int(row["level"])),
            cast(ErrorCategory, row["category"]) if row["category"] else None,
            row["why"],
        )
        for row in rows
    }


@cache
def critical_drugs() -> tuple[str, ...]:
    """Return the drugs of narrow margin or vital effect."""
    return tuple(row["drug"] for row in read_table(DATA / "critical_drugs.tsv", ("drug", "source")))


@cache
def serious_diagnoses() -> tuple[str, ...]:
    """Return the diagnoses and red flags that change what is done at once."""
    return tuple(row["diagnosis"] for row in read_table(DATA / "serious_diagnoses.tsv", ("diagnosis", "source")))


@cache
def words(kind: str) -> dict[str, str]:
    """Return the words of one kind with what stands beside them (``edit_weights_words.tsv``)."""
    rows = read_table(DATA / "edit_weights_words.tsv", ("word", "other", "kind", "source"))
    return {row["word"]: row["other"] for row in rows if row["kind"] == kind}
