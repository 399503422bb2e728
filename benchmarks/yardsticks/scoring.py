"""How the spans that a reader found agree with those that are marked in the notes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.yardsticks.task import AssertedSpan, Note

__all__ = ["Score", "score"]

LONGEST = 1_000
"""No span has more code points."""


@dataclass(frozen=True, slots=True)
class Score:
    """Shares between 0 and 1.

    Attributes:
        recall: marked spans that a found one overlaps.
        exact_recall: marked spans that are found with the same ends.
        precision: found spans that overlap a marked one.
        assertion: of the marked spans that are found, those with the right assertion; absent and family count as one.
    """

    recall: float
    exact_recall: float
    precision: float
    assertion: float


def score(notes: Sequence[Note], spans: Mapping[str, Sequence[AssertedSpan]]) -> Score:
    """Compare found spans with the marks of the notes that were read."""
    marked = hits = exact = right = read = good = 0
    for note in notes:
        if note.id not in spans:
            continue
        ours, marks = sorted((begin, end, assertion) for begin, end, assertion in spans[note.id]), sorted(note.marks)
        marked, read = marked + len(marks), read + len(ours)
        for mark in marks:
            over = _overlapping(ours, mark)
            hits += bool(over)
            exact += any(span[:2] == mark[:2] for span in over)
            right += bool(over) and _agrees(over[0][2], mark[2])
        good += sum(bool(_overlapping(marks, span)) for span in ours)
    return Score(_share(hits, marked), _share(exact, marked), _share(good, read), _share(right, hits))


def _overlapping(spans: Sequence[AssertedSpan], wanted: AssertedSpan) -> list[AssertedSpan]:
    """Return the spans that overlap another; they are sorted."""
    begin, end, _ = wanted
    over = []
    for place in range(bisect_left(spans, (begin - LONGEST, 0, "")), len(spans)):
        if spans[place][0] >= end:
            break
        if spans[place][1] > begin:
            over.append(spans[place])
    return over


def _agrees(read: str, marked: str) -> bool:
    pair = {read, marked}
    return len(pair) == 1 or pair == {"absent", "family"}


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
