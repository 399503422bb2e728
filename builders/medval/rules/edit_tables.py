"""The generator's own tables (``builders/data``): what edits weigh, words of equal and of reverse meaning."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from builders.medval.rules.tables import DATA, Weight, read_weights
from ground.storage.tables import read_table

__all__ = ["Variant", "flip_words", "minor_drugs", "variants", "weight_of", "weights"]


@dataclass(frozen=True, slots=True)
class Variant:
    """Two wordings of one meaning; ``kind`` is the rule that uses them."""

    one: str
    other: str
    kind: str


@cache
def weights() -> dict[str, Weight]:
    """Return the weight of each edit, in the order of the file."""
    return read_weights("edit_weights")


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
def flip_words(said: str) -> tuple[tuple[str, str], ...]:
    """Return what stands before a problem that is ``present`` or ``absent``, and what says the reverse."""
    rows = read_table(DATA / "edit_weights_flips.tsv", ("said", "before", "after", "source"))
    return tuple((row["before"], row["after"]) for row in rows if row["said"] == said)
