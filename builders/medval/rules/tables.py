"""The tables of MedVAL's rules (``builders/data``): what changes weigh, drugs, diagnoses, words of equal meaning."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import cast

from ground import ROOT
from ground.contracts.rows_text import ErrorCategory, RiskLevel
from ground.storage.tables import grouped, read_table

__all__ = [
    "Contraindication",
    "Serious",
    "Variant",
    "Weight",
    "contraindications",
    "critical_drugs",
    "diagnosis_groups",
    "drug_groups",
    "flip_words",
    "minor_drugs",
    "read_weights",
    "serious_diagnoses",
    "variants",
    "weight_of",
    "weights",
    "words",
]

DATA = ROOT / "builders" / "data"


@dataclass(frozen=True, slots=True)
class Weight:
    """What a change weighs; ``category`` is None where it has no clinical meaning."""

    rule: str
    level: RiskLevel
    category: ErrorCategory | None
    why: str


@dataclass(frozen=True, slots=True)
class Variant:
    """Two wordings of one meaning; ``kind`` is the rule that uses them."""

    one: str
    other: str
    kind: str


@dataclass(frozen=True, slots=True)
class Contraindication:
    """A drug with a usual dose, and a problem in which it must not be given."""

    drug: str
    dose: str
    problem: str
    why: str


@dataclass(frozen=True, slots=True)
class Serious:
    """A serious diagnosis: its group, whose it is (any, female, male) and at which ages (years) it is plausible."""

    group: str
    sex: str
    min_age: int
    max_age: int


@cache
def weights() -> dict[str, Weight]:
    """Return the weight of each edit, in the order of the file."""
    return read_weights("edit_weights")


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


def weight_of(rule: str) -> Weight:
    """Return the weight of an edit."""
    return weights()[rule]


@cache
def variants() -> tuple[Variant, ...]:
    """Return the wordings of equal meaning."""
    rows = read_table(DATA / "spelling_variants.tsv", ("one", "other", "kind", "source"))
    return tuple(Variant(row["one"], row["other"], row["kind"]) for row in rows)


@cache
def minor_drugs() -> tuple[str, ...]:
    """Return the supplements, bowel regimens and symptomatic drugs."""
    return tuple(row["drug"] for row in read_table(DATA / "minor_drugs.tsv", ("drug", "source")))


@cache
def critical_drugs() -> tuple[str, ...]:
    """Return the drugs of narrow margin or vital effect."""
    return tuple(row["drug"] for row in read_table(DATA / "critical_drugs.tsv", ("drug", "source")))


@cache
def contraindications() -> tuple[Contraindication, ...]:
    """Return the contraindications that go beyond the graph's."""
    columns = ("drug", "dose", "problem", "why", "source")
    rows = read_table(DATA / "critical_drugs_contraindicated.tsv", columns)
    return tuple(Contraindication(row["drug"], row["dose"], row["problem"], row["why"]) for row in rows)


@cache
def serious_diagnoses() -> dict[str, Serious]:
    """Return what is known of each serious diagnosis, by its name."""
    columns = ("diagnosis", "group", "sex", "min_age", "max_age", "source")
    return {
        row["diagnosis"]: Serious(row["group"], row["sex"], int(row["min_age"]), int(row["max_age"]))
        for row in read_table(DATA / "serious_diagnoses.tsv", columns)
    }


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


def _groups(rows: list[dict[str, str]], key: str) -> dict[str, tuple[tuple[str, ...], bool]]:
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
    """Return the words of one kind with what stands beside them (``edit_weights_words.tsv``)."""
    rows = read_table(DATA / "edit_weights_words.tsv", ("word", "other", "kind", "source"))
    return {row["word"]: row["other"] for row in rows if row["kind"] == kind}


@cache
def flip_words(said: str) -> tuple[tuple[str, str], ...]:
    """Return what stands before a problem that is ``present`` or ``absent``, and what says the reverse."""
    rows = read_table(DATA / "edit_weights_flips.tsv", ("said", "before", "after", "source"))
    return tuple((row["before"], row["after"]) for row in rows if row["said"] == said)
