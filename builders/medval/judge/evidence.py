"""How much each kind of evidence against a note on a conversation tells, as it was measured on notes of both sorts.

A dense note has dozens of claims, and each is read against lay words. What is found in faithful notes nearly as often
as in wrong ones tells nothing: it is not read, and no error (``builders/data/judge_evidence.tsv``; measured by
``benchmarks.judge_evidence``).
"""

from __future__ import annotations

from functools import cache

from builders.medval.judge.tables import DATA
from ground.storage.tables import read_table

__all__ = ["COLUMNS", "tells"]

COLUMNS = ("evidence", "sort", "wrong", "of_wrong", "faithful", "of_faithful", "source")
# So many times as frequent as in faithful notes is evidence in those with an error of the sort that it finds best.
_LEAST = 24


@cache
def _ratios() -> dict[str, float]:
    """Return the likelihood ratio of each kind, half a note added to each count."""
    return {
        row["evidence"]: ((int(row["wrong"]) + 0.5) / (int(row["of_wrong"]) + 1))
        / ((int(row["faithful"]) + 0.5) / (int(row["of_faithful"]) + 1))
        for row in read_table(DATA / "judge_evidence.tsv", COLUMNS)
    }


def tells(evidence: str) -> bool:
    """Tell whether evidence of a kind makes an error; evidence that has no kind was read in the note's own words."""
    return not evidence or _ratios().get(evidence, 0.0) >= _LEAST
