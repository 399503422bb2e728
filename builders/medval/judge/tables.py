"""The validator's own tables (``builders/data``): what findings weigh, grave names, words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import cast

from ground import ROOT
from ground.contracts.rows_text import ErrorCategory, RiskLevel
from ground.storage.tables import read_table

__all__ = ["Weight", "critical_drugs", "judge_weight", "serious_diagnoses", "words"]

DATA = ROOT / "builders" / "data"


@dataclass(frozen=True, slots=True)
class Weight:
    """What a finding weighs, and which category of MedVAL's taxonomy it is of."""

    level: RiskLevel
    category: ErrorCategory


@cache
def words(kind: str) -> dict[str, str]:
    """Return the words of one kind with what stands beside them."""
    rows = read_table(DATA / "judge_words.tsv", ("word", "other", "kind", "source"))
    return {row["word"]: row["other"] for row in rows if row["kind"] == kind}


@cache
def critical_drugs() -> tuple[str, ...]:
    """Return the drugs of narrow margin or vital effect."""
    return tuple(row["drug"] for row in read_table(DATA / "critical_drugs.tsv", ("drug", "source")))


@cache
def serious_diagnoses() -> tuple[str, ...]:
    """Return the diagnoses and red flags that change what is done at once."""
    return tuple(row["diagnosis"] for row in read_table(DATA / "serious_diagnoses.tsv", ("diagnosis", "source")))


@cache
def _weights() -> dict[str, Weight]:
    rows = read_table(DATA / "judge_weights.tsv", ("rule", "level", "category", "why", "source"))
    return {
        row["rule"]: Weight(cast(RiskLevel, int(row["level"])), cast(ErrorCategory, row["category"])) for row in rows
    }


def judge_weight(rule: str) -> Weight:
    """Return what a finding weighs."""
    return _weights()[rule]
