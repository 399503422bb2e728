"""A leaderboard of models under two sets of labels: who gains, who loses, and how sure that is (paper, section 3.3).

Both sides are graded on the same rows, those that both sets label, so that a difference comes from the labels alone.
Intervals of a difference and of ranks are percentile bootstraps over rows, drawn alike for every model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ground.errors import UsageError
from ground.resampling import LEVEL, resampled
from ground.stable import stable_hash
from stewardship.adjudication.agreement import mcnemar
from stewardship.benchmark.folder import Benchmark
from stewardship.grading.grades import (
    Answers,
    Grader,
    LabelSet,
    Missing,
    Others,
    Share,
    check_models,
    grade_rows,
    share,
)

__all__ = ["Board", "Difference", "Entry", "Place", "board", "paired_difference"]


Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Place:
    """A rank with its 95% bootstrap interval; 1 is best, equal models share the better rank."""

    rank: int
    low: int
    high: int


@dataclass(frozen=True)
class Difference:
    """How much a model's accuracy changes from the first labels to the second.

    Attributes:
        low: lower end of the 95% bootstrap interval over rows.
        gained: rows that are wrong under the first labels and right under the second.
        p: exact McNemar test of gained against lost (two-sided); 1 where there are none.
    """

    value: float
    low: float
    high: float
    gained: int
    lost: int
    p: float


@dataclass(frozen=True)
class Entry:
    """One model under both sets of labels, the first one first."""

    model: str
    shares: tuple[Share, Share]
    places: tuple[Place, Place]
    difference: Difference

    @property
    def climbed(self) -> int:
        """How many ranks it climbs; negative where it falls."""
        return self.places[0].rank - self.places[1].rank


@dataclass(frozen=True)
class Board:
    """The leaderboard.

    Attributes:
        entries: by accuracy under the second labels, best first.
        left_out: rows that the first, and that the second set alone labels.
        tau: Kendall's tau-b of both orders; None for a single model, or where all are equal.
        graded: *shape* (rows, 1 + 2 models): uid, and ``MODEL: LABELS``, whether a model is right under them.
    """

    labels: tuple[str, str]
    entries: tuple[Entry, ...]
    rows: int
    left_out: tuple[int, int]
    tau: float | None
    graded: pl.DataFrame


def board(
    benchmark: Benchmark,
    first: LabelSet,
    second: LabelSet,
    answers: Sequence[Answers],
    grader: Grader,
    *,
    missing: Missing = "refuse",
    others: Others = "refuse",
    resamples: int = 10_000,
    seed: int = 42,
) -> Board:
    """Grade every model under both sets of labels.

    Args:
        answers: of each model; names are unique.
        grader: as `stewardship.grading.grades.grade_rows` takes it.
        missing: what a row without an answer is; ``leave_out`` leaves it out for all models alike.
        others: whether answers to rows that the benchmark lacks are an error.
        seed: of its draws.

    Raises:
        UsageError: both sets are one, two models have the same name, or no row is labelled by both.
        InputError: as `stewardship.grading.grades.grade_rows`.
    """
    if first.name == second.name:
        raise UsageError("both sides have the same labels", found=first.name, expected="two different ones")
    names = [answer.model for answer in answers]
    check_models(answers)
    common = set(first.references) & set(second.references)
    left_out = len(first.references) - len(common), len(second.references) - len(common)
    if missing == "leave_out":
        common = common.intersection(*(answer.texts for answer in answers))
    if not common:
        raise UsageError("no row has a label in both sets", found=f"{first.name} and {second.name}")
    graded = {
        (answer.model, labels.name): grade_rows(
            benchmark, labels, answer, grader, missing=missing, others=others, only=common
        )
        for answer in answers
        for labels in (first, second)
    }
    uids = graded[names[0], first.name]["uid"]
    sides = [
        np.stack([graded[name, labels.name]["correct"].to_numpy() for name in names]) for labels in (first, second)
    ]
    entries = _entries(names, sides, resamples, seed)
    return Board(
        labels=(first.name, second.name),
        entries=tuple(sorted(entries, key=lambda entry: (entry.places[1].rank, entry.places[0].rank, entry.model))),
        rows=len(uids),
        left_out=left_out,
        tau=_tau(*(side.sum(1) for side in sides)),
        graded=pl.DataFrame([uids, *(rows["correct"].alias(": ".join(key)) for key, rows in graded.items())]),
    )


def _entries(names: Sequence[str], sides: Sequence[Bools], resamples: int, seed: int) -> list[Entry]:
    before, after = (_drawn(side, resamples, seed) for side in sides)
    places = [_places(side.sum(1), drawn) for side, drawn in zip(sides, (before, after), strict=True)]
    return [
        Entry(
            model=name,
            shares=(share(sides[0][number].tolist()), share(sides[1][number].tolist())),
            places=(places[0][number], places[1][number]),
            difference=_difference(sides[0][number], sides[1][number], (after - before)[:, number]),
        )
        for number, name in enumerate(names)
    ]


def _drawn(right: Bools, resamples: int, seed: int) -> NDArray[np.float64]:
    """Return accuracies over resampled rows. *Shape:* (models, rows) to (resamples, models).

    The draws depend on the seed and the number of rows alone: all models, and both sides, see the same rows.
    """
    rows = right.shape[1]
    each = np.ones(rows, dtype=np.int64)
    return resampled(right.T.astype(np.float64), each, resamples, stable_hash(seed, "leaderboard", rows)) / rows


def _places(right: NDArray[np.int64], drawn: NDArray[np.float64]) -> list[Place]:
    # Sums of weights in another order differ by roundings; a row is a step of 1 / rows, far above.
    ranks = 1 + (drawn[:, None, :] > drawn[:, :, None] + 1e-9).sum(2)
    ends = np.percentile(ranks, LEVEL, axis=0, method="nearest")
    own = 1 + (right[None, :] > right[:, None]).sum(1)
    return [Place(int(rank), int(ends[0, i]), int(ends[1, i])) for i, rank in enumerate(own)]


def paired_difference(before: Sequence[bool], after: Sequence[bool], resamples: int, seed: int) -> Difference:
    """Return how the share of right answers changes over the same rows."""
    sides = np.array([before, after], dtype=bool)
    drawn = _drawn(sides, resamples, seed)
    return _difference(sides[0], sides[1], drawn[:, 1] - drawn[:, 0])


def _difference(before: Bools, after: Bools, drawn: NDArray[np.float64]) -> Difference:
    gained, lost = int((after & ~before).sum()), int((before & ~after).sum())
    low, high = (float(end) for end in np.percentile(drawn, LEVEL))
    p = mcnemar(gained, lost)
    return Difference((gained - lost) / len(before), low, high, gained, lost, 1.0 if p is None else p)


def _tau(before: NDArray[np.int64], after: NDArray[np.int64]) -> float | None:
    from scipy.stats import kendalltau

    if len(before) < 2:
        return None
    result = float(kendalltau(before, after).statistic)
    return result if np.isfinite(result) else None
