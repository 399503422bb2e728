"""The validator's own words (``builders/data/judge_words.tsv``), which the generator does not read."""

from __future__ import annotations

from functools import cache

from ground import ROOT
from ground.storage.tables import read_table

__all__ = ["judge_words"]


@cache
def judge_words(kind: str) -> dict[str, str]:
    """Return the words of one kind with what stands beside them."""
    rows = read_table(ROOT / "builders" / "data" / "judge_words.tsv", ("word", "other", "kind", "source"))
    return {row["word"]: row["other"] for row in rows if row["kind"] == kind}
