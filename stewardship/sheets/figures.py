"""How far several raters of the same rows agree: percent agreement, Cohen's kappa, Krippendorff's alpha."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from ground.contracts.labels import LabelKind, LabelValue
from ground.json_record import JsonRecord
from ground.reliability import alpha_interval, kappa_interval, krippendorff_alpha
from ground.settings import StewardSettings
from stewardship.adjudication.agreement import Estimate, review, wilson
from stewardship.history.log import History
from stewardship.sheets.batch import SheetBatch
from stewardship.sheets.ratings import Ratings, agreed_pair

__all__ = [
    "PUBLISHED",
    "Alpha",
    "ErrorRate",
    "Pair",
    "Reliability",
    "confusion",
    "drawn_of",
    "error_rates",
    "reliability",
]


@dataclass(frozen=True)
class Pair:
    """Two raters on the rows that both labelled.

    Attributes:
        first, second: the raters.
        agree: rows on which they agree by the rule for a label and a physician's.
        same: rows with the same label, numbers rounded.
        kappa: Cohen's, of labels that are the same; N/A is a label. None where it is not defined: all labels are one.
        kappa_low, kappa_high: its 95% interval, rows drawn again.
        by_label: by the first rater's label and the second's, the rows; for names of labels only.
    """

    first: str
    second: str
    n: int
    agree: int
    share: Estimate
    same: int
    kappa: float | None
    kappa_low: float | None
    kappa_high: float | None
    by_label: dict[str, dict[str, int]] | None


@dataclass(frozen=True)
class Alpha:
    """Krippendorff's alpha over all raters.

    Attributes:
        level: ``nominal``: labels are the same or not, and N/A is a label of its own. ``interval``: numbers by their
            squared distance; answers that are no number are left out. ``computable``: whether there is an answer at
            all, N/A against any value.
        value: None where it is not defined: fewer than two answers to any row, or all the same.
        low, high: its 95% interval, rows drawn again.
    """

    level: Literal["nominal", "interval", "computable"]
    value: float | None
    low: float | None
    high: float | None
    rows: int
    answers: int


@dataclass(frozen=True)
class Reliability(JsonRecord):
    """Agreement of raters.

    Attributes:
        unanimous: rows on which all pairs agree by the rule.
        alphas: nominal and computable; interval too where labels are numbers.
    """

    rows: int
    raters: tuple[str, ...]
    unanimous: int
    pairs: tuple[Pair, ...]
    alphas: tuple[Alpha, ...]


def reliability(
    ratings: Ratings, predictions: Mapping[str, Sequence[LabelValue]], settings: StewardSettings
) -> Reliability:
    """Compare raters on the rows that two or more of them labelled.

    Args:
        ratings: row to rater to label.
        predictions: row to its other labels, which decide with the raters' whether a score is ordinal.
    """
    shared = {uid: by for uid, by in ratings.items() if len(by) > 1}
    raters = sorted({rater for by in shared.values() for rater in by})
    pairs = [_pair(*two, shared, predictions, settings) for two in combinations(raters, 2)]
    unanimous = sum(
        all(
            agreed_pair(item, other, predictions.get(uid, ()), settings)
            for item, other in combinations([by[rater] for rater in sorted(by)], 2)
        )
        for uid, by in shared.items()
    )
    levels: list[Literal["nominal", "interval", "computable"]] = ["nominal", "computable"]
    if any(label.number is not None for by in shared.values() for label in by.values()):
        levels.insert(1, "interval")
    alphas = [_alpha(level, shared, raters, settings) for level in levels]
    return Reliability(len(shared), tuple(raters), unanimous, tuple(pair for pair in pairs if pair.n), tuple(alphas))


def _pair(
    first: str,
    second: str,
    shared: Ratings,
    predictions: Mapping[str, Sequence[LabelValue]],
    settings: StewardSettings,
) -> Pair:
    both = [(uid, by[first], by[second]) for uid, by in shared.items() if first in by and second in by]
    agree = sum(agreed_pair(item, other, predictions.get(uid, ()), settings) for uid, item, other in both)
    names = [[_name(label, settings.decimals) for label in (item, other)] for _, item, other in both]
    ours, theirs = [name for name, _ in names], [other for _, other in names]
    counts: dict[str, dict[str, int]] | None = None
    if all(LabelKind.NUMBER is not label.kind is not LabelKind.DATE for _, *two in both for label in two):
        counts = {}
        for our, other in zip(ours, theirs, strict=True):
            row = counts.setdefault(our, {})
            row[other] = row.get(other, 0) + 1
    same = sum(our == other for our, other in zip(ours, theirs, strict=True))
    kappa, low, high = _kappa(ours, theirs, settings.seed)
    share = wilson(agree, len(both))
    return Pair(first, second, len(both), agree, share, same, kappa, low, high, counts)


def _name(label: LabelValue, decimals: int) -> str:
    return label.rounded(decimals).text()


def _kappa(
    first: Sequence[str], second: Sequence[str], seed: int
) -> tuple[float, float, float] | tuple[None, None, None]:
    from sklearn.metrics import cohen_kappa_score, confusion_matrix

    # One label throughout: chance agreement is 1, and kappa is 0/0.
    if len({*first, *second}) < 2:
        return None, None, None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        interval = kappa_interval(confusion_matrix(first, second), seed=seed)
        # There are two labels: some drawing has them too, if not this one.
        low, high = interval or (-1.0, 1.0)
        return float(cohen_kappa_score(first, second)), low, high


def _alpha(
    level: Literal["nominal", "interval", "computable"],
    shared: Ratings,
    raters: Sequence[str],
    settings: StewardSettings,
) -> Alpha:
    import numpy as np

    units: list[list[str | float]] = []
    for by in shared.values():
        cells = [cell for rater in raters if (cell := _unit(by.get(rater), level, settings.decimals)) is not None]
        if len(cells) > 1:
            units.append(cells)
    answers = sorted({cell for cells in units for cell in cells}, key=str)
    n = sum(map(len, units))
    if len(answers) < 2:
        return Alpha(level, None, None, None, len(units), n)
    place = {answer: at for at, answer in enumerate(answers)}
    counts = np.array([np.bincount([place[cell] for cell in cells], minlength=len(place)) for cells in units])
    if level == "interval":
        values = np.array([float(answer) for answer in answers])
        distance = (values[:, None] - values[None, :]) ** 2
    else:
        distance = 1 - np.eye(len(answers))
    low, high = alpha_interval(counts, distance, seed=settings.seed) or (None, None)
    return Alpha(level, krippendorff_alpha(counts, distance), low, high, len(units), n)


def _unit(label: LabelValue | None, level: str, decimals: int) -> str | float | None:
    """Return what of a label counts at a level; None where it counts for nothing."""
    if label is None:
        return None
    if level == "interval":
        return label.number
    if level == "computable":
        return "no" if label.kind is LabelKind.ABSTENTION else "yes"
    return _name(label, decimals)


PUBLISHED = "published"
"""How rows were drawn whose physicians' labels came with a table."""


@dataclass(frozen=True)
class ErrorRate:
    """A labeller's labels that reviewers do not agree with.

    Attributes:
        drawn: how the rows were drawn: shares of rows drawn in unlike ways are never put together.
        by: what the rows are divided by; ``all`` where they are not.
        errors: rows where the labels disagree.
        n: rows that reviewers and labeller both labelled.
        share, low, high: of errors, with the 95% Wilson interval.
    """

    drawn: str
    labeller: str
    by: str
    group: str
    errors: int
    n: int
    share: float | None
    low: float | None
    high: float | None


def drawn_of(history: History, batches: Sequence[SheetBatch]) -> dict[str, str]:
    """Return how each reviewed row was drawn, by uid; where it was drawn twice, by the batch that was written first."""
    results: dict[str, str] = {}
    for batch in batches:
        if batch.kind in ("blind", "sample"):
            for item in batch.items:
                results.setdefault(item.uid, batch.drawn)
    return {uid: results.get(uid, PUBLISHED) for uid, event in history.latest("physician").items() if event.value}


def error_rates(
    physician: Mapping[str, LabelValue],
    predictions: Mapping[str, Mapping[str, LabelValue]],
    drawn: Mapping[str, str],
    groups: Mapping[str, Mapping[str, str]],
    settings: StewardSettings,
) -> list[ErrorRate]:
    """Compare labellers with reviewers, by the rule of agreement (docs/stewardship.md#agreement).

    Args:
        physician: uid to the reviewers' label.
        predictions: labeller to its labels by uid.
        drawn: uid to how the row was drawn.
        groups: what to divide by to the group of each uid.
    """
    rows = review(physician, predictions, settings)
    counts: dict[tuple[str, str, str, str], list[int]] = {}
    for row in rows:
        places = [("all", "all"), *((by, group[row.uid]) for by, group in groups.items() if row.uid in group)]
        for labeller, agree in row.agree.items():
            for by, group in places:
                pair = counts.setdefault((drawn.get(row.uid, PUBLISHED), labeller, by, group), [0, 0])
                pair[0] += not agree
                pair[1] += 1
    order = {name: at for at, name in enumerate(["all", *groups])}
    rates = []
    for (how, labeller, by, group), (errors, n) in sorted(
        counts.items(), key=lambda count: (count[0][0], count[0][1], order[count[0][2]], count[0][3])
    ):
        rate = wilson(errors, n)
        rates.append(ErrorRate(how, labeller, by, group, errors, n, rate.value, rate.low, rate.high))
    return rates


def confusion(
    physician: Mapping[str, LabelValue], original: Mapping[str, LabelValue], drawn: Mapping[str, str]
) -> dict[str, dict[str, dict[str, int]]]:
    """Return by how rows were drawn, by the published label and by the reviewers' the rows; for names of labels."""
    results: dict[str, dict[str, dict[str, int]]] = {}
    for uid, label in physician.items():
        if uid in original and label.answered:
            row = results.setdefault(drawn.get(uid, PUBLISHED), {}).setdefault(original[uid].text(), {})
            row[label.text()] = row.get(label.text(), 0) + 1
    return results
