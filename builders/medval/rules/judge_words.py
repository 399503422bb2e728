"""The validator's own words and weights (``builders/data/judge_*.tsv``), which the generator does not read."""

from __future__ import annotations

from functools import cache

from builders.medval.rules.tables import Weight, read_weights
from ground import ROOT
from ground.storage.tables import read_table

__all__ = ["judge_weight", "judge_words"]


@cache
def judge_words(kind: str) -> dict[str, str]:
    """Return the words of one kind with what stands beside them."""
    rows = read_table(ROOT / "builders" / "data" / "judge_words.tsv", ("word", "other", "kind", "source"))
    return {row["word"]: row["other"] for row in rows if row["kind"] == kind}


@cache
def _weights() -> dict[str, Weight]:
    return read_weights("judge_weights")


def judge_weight(rule: str) -> Weight:
    """Return what a finding weighs."""
    return _weights()[rule]
