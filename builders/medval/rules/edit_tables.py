"""The generator's own tables (``builders/data``): what edits weigh, what is grave, words of equal meaning."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import cast

from ground import ROOT
from ground.contracts.rows_text import ErrorCategory, RiskLevel
from ground.storage.tables import read_table

__all__ = ["Variant", "Weight", "grave_roots", "variants", "weight_of", "weights", "words"]

DATA = ROOT / "builders" / "data"


@dataclass(frozen=True, slots=True)
class Weight:
    """What an edit weighs; ``category`` is None where it has no clinical meaning."""

    level: RiskLevel
    category: ErrorCategory | None


@dataclass(frozen=True, slots=True)
class Variant:
    """Two wordings of one meaning; ``kind`` is the rule that uses them."""

    first: str
    second: str
    kind: str


@cache
def weights() -> dict[str, Weight]:
    """Return the weight of each edit, in the order of the file."""
    rows = read_table(DATA / "edit_weights.tsv", ("rule", "level", "category", "why", "source"))
    return {
        row["rule"]: Weight(
            cast(RiskLevel, int(row["level"])), cast(ErrorCategory, row["category"]) if row["category"] else None
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
def grave_roots() -> tuple[str, ...]:
    """Return groups of problems and classes of drugs below which everything is grave."""
    return tuple(row["name"] for row in read_table(DATA / "edit_weights_grave.tsv", ("name", "kind", "source")))


@cache
def words(kind: str) -> dict[str, str]:
    """Return the words of one kind with what stands beside them (``edit_weights_words.tsv``)."""
    rows = read_table(DATA / "edit_weights_words.tsv", ("word", "other", "kind", "source"))
    return {row["word"]: row["other"] for row in rows if row["kind"] == kind}
