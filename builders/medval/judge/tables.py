"""The validator's own tables (``builders/data``): what findings weigh, groups of names, contraindications, words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import cast

from ground import ROOT
from ground.contracts.rows_text import ErrorCategory, RiskLevel
from ground.storage.tables import Row, grouped, read_table

__all__ = [
    "Contraindication",
    "Weight",
    "contraindications",
    "critical_drugs",
    "diagnosis_groups",
    "drug_groups",
    "judge_weight",
    "serious_diagnoses",
    "words",
]

DATA = ROOT / "builders" / "data"


@dataclass(frozen=True, slots=True)
class Weight:
    """What a finding weighs, and which category of MedVAL's taxonomy it is of."""

    level: RiskLevel
    category: ErrorCategory


@dataclass(frozen=True, slots=True)
class Contraindication:
    """A drug with a usual dose, and a problem in which it must not be given."""

    drug: str
    dose: str
    problem: str
    why: str


@cache
def contraindications() -> tuple[Contraindication, ...]:
    """Return the contraindications that go beyond the graph's."""
    columns = ("drug", "dose", "problem", "why", "source")
    rows = read_table(DATA / "critical_drugs_contraindicated.tsv", columns)
    return tuple(Contraindication(row["drug"], row["dose"], row["problem"], row["why"]) for row in rows)


@cache
def diagnosis_groups() -> dict[str, tuple[str, ...]]:
    """Return, by a diagnosis in lower case, the other diagnoses of its groups."""
    rows = read_table(DATA / "serious_diagnoses_siblings.tsv", ("diagnosis", "sibling_group", "source"))
    return {name: others for name, (others, _) in _groups(rows, "diagnosis").items()}


@cache
def drug_groups() -> dict[str, tuple[tuple[str, ...], bool]]:
    """Return, by a drug in lower case, the other drugs of its class and whether their doses are alike."""
    columns = ("drug", "sibling_group", "same_doses", "source")
    rows = read_table(DATA / "minor_drugs_siblings.tsv", columns)
    return _groups(rows, "drug")


def _groups(rows: list[Row], key: str) -> dict[str, tuple[tuple[str, ...], bool]]:
    members = grouped(rows, "sibling_group", key)
    found: dict[str, tuple[tuple[str, ...], bool]] = {}
    for row in rows:
        others = tuple(name for name in members[row["sibling_group"]] if name != row[key])
        known = found.get(row[key].lower(), ((), True))
        alike = known[1] and row.get("same_doses", "yes") == "yes"
        found[row[key].lower()] = (tuple(dict.fromkeys((*known[0], *others))), alike)
    return found


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
