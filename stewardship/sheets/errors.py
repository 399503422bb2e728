"""How many labels are wrong by what reviewers say: shares with Wilson intervals, by how the rows were drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ground.contracts.labels import LabelValue
from ground.settings import StewardSettings
from stewardship.adjudication.agreement import review, wilson
from stewardship.history.log import History
from stewardship.sheets.batch import Batch

__all__ = ["PUBLISHED", "ErrorRate", "confusion", "drawn_of", "error_rates"]

PUBLISHED = "published"
"""How rows were drawn whose physicians' labels came with a table."""


@dataclass(frozen=True)
class ErrorRate:
    """A labeller's labels that reviewers do not agree with.

    Attributes:
        drawn: how the rows were drawn: shares of rows drawn in unlike ways are never put together.
        labeller: original or recomputed.
        by: what the rows are divided by; ``all`` where they are not.
        group: the part.
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


def drawn_of(history: History, batches: Sequence[Batch]) -> dict[str, str]:
    """Return how each reviewed row was drawn, by uid; where it was drawn twice, by the batch that was written first."""
    found: dict[str, str] = {}
    for batch in batches:
        if batch.kind in ("blind", "sample"):
            for item in batch.items:
                found.setdefault(item.uid, batch.drawn)
    return {uid: found.get(uid, PUBLISHED) for uid, event in history.latest("physician").items() if event.value}


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
        settings: tolerances.
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
    found = []
    for (how, labeller, by, group), (errors, n) in sorted(
        counts.items(), key=lambda one: (one[0][0], one[0][1], order[one[0][2]], one[0][3])
    ):
        rate = wilson(errors, n)
        found.append(ErrorRate(how, labeller, by, group, errors, n, rate.value, rate.low, rate.high))
    return found


def confusion(
    physician: Mapping[str, LabelValue], original: Mapping[str, LabelValue], drawn: Mapping[str, str]
) -> dict[str, dict[str, dict[str, int]]]:
    """Return by how rows were drawn, by the published label and by the reviewers' the rows; for names of labels."""
    found: dict[str, dict[str, dict[str, int]]] = {}
    for uid, label in physician.items():
        if uid in original and label.answered:
            row = found.setdefault(drawn.get(uid, PUBLISHED), {}).setdefault(original[uid].text(), {})
            row[label.text()] = row.get(label.text(), 0) + 1
    return found
