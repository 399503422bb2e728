"""Phase 2: answers of several runs become a label, or none (docs/stewardship.md#phase-2-recomputation)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ground.contracts.labels import LabelKind, LabelValue
from ground.settings import StewardSettings
from stewardship.adjudication.agreement import USUAL
from stewardship.adjudication.discrepancy import SLACK, relative_error
from stewardship.history.events import DEFERRED, HIGH_CONFIDENCE

__all__ = ["Consensus", "ConsensusSummary", "consensus", "summarise"]

NEAR_CONSENSUS = "near_consensus"


@dataclass(frozen=True)
class Consensus:
    """What the runs come to.

    Attributes:
        status: ``high_confidence`` or ``deferred``.
        rule: ``4of5`` (quorum and runs), ``near_consensus``, or None.
        label: the label, numbers rounded; None where deferred.
        runs: runs in all.
    """

    status: str
    rule: str | None
    label: LabelValue | None
    votes: int
    answered: int
    runs: int


def consensus(answers: Sequence[LabelValue], settings: StewardSettings = USUAL) -> Consensus:
    """Return the label that enough runs agree on.

    Two answers are equal if they are of one kind and have one value, numbers rounded to ``decimals`` (small ones to two
    significant digits; beside an answer that is zero, what rounds to zero is zero). ``quorum`` equal
    answers make a label; so do ``near_quorum`` if another answer is near: a number (as it was given) within
    ``near_rel_err`` of the majority's by `relative_error`, a date within ``near_days``. Nothing is near an abstention
    or a category. Answers that cannot be read are empty votes and the quorum stays (assumed). Two answers that are
    equally common are no majority.
    """
    zero = any(answer.number == 0 for answer in answers)
    keys = [_key(answer, settings.decimals, zero=zero) for answer in answers]
    counts = Counter(key for key in keys if key.answered).most_common(2)
    answered = sum(key.answered for key in keys)
    if not counts:
        return Consensus(DEFERRED, None, None, 0, 0, len(answers))
    label, votes = counts[0]
    rule = None
    if len(counts) == 1 or counts[1][1] < votes:
        others = [answer for answer, key in zip(answers, keys, strict=True) if key != label]
        if votes >= settings.quorum:
            rule = f"{settings.quorum}of{len(answers)}"
        elif votes >= settings.near_quorum and any(_near(label, other, settings) for other in others):
            rule = NEAR_CONSENSUS
    if rule is None:
        return Consensus(DEFERRED, None, None, votes, answered, len(answers))
    return Consensus(HIGH_CONFIDENCE, rule, label, votes, answered, len(answers))


def _key(answer: LabelValue, decimals: int, *, zero: bool) -> LabelValue:
    if zero and answer.number is not None and round(answer.number, decimals) == 0:
        return LabelValue.of(0.0)
    return answer.rounded(decimals)


def _near(label: LabelValue, other: LabelValue, settings: StewardSettings) -> bool:
    if label.number is not None and other.number is not None:
        return float(relative_error(label.number, other.number)) <= settings.near_rel_err + SLACK
    if label.day is not None and other.day is not None:
        return abs((label.day - other.day).days) <= settings.near_days
    return False


@dataclass(frozen=True)
class ConsensusSummary:
    """Phase 2 over a benchmark (paper 3.2: 887 of 1,047 = 85%; 7.4% of them abstain).

    Attributes:
        abstained: high-confidence labels that say that the score cannot be computed.
    """

    n: int
    high: int
    near: int
    deferred: int
    abstained: int
    coverage: float | None
    abstention_rate: float | None


def summarise(results: Iterable[Consensus]) -> ConsensusSummary:
    """Sum up the consensus of all rows."""
    rows = list(results)
    high = [row for row in rows if row.label is not None]
    abstained = sum(row.label is not None and row.label.kind is LabelKind.ABSTENTION for row in high)
    return ConsensusSummary(
        n=len(rows),
        high=len(high),
        near=sum(row.rule == NEAR_CONSENSUS for row in high),
        deferred=len(rows) - len(high),
        abstained=abstained,
        coverage=len(high) / len(rows) if rows else None,
        abstention_rate=abstained / len(high) if high else None,
    )
