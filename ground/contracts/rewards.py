"""Rewards of reinforcement learning from labels (grader C; arXiv 2512.19691, appendix D.4).

`reward` is the paper's rule. `released_reward` is what the authors' published code does, which differs: it looks first
whether the answer is of the label's type, so that an abstention where there is a number, or a number where there is
none, gets nothing instead of the reward of a wrong answer; it knows the spelling ``unknown`` alone, and fewer ways to
write a number.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from ground.contracts.grading import Reference, Verdict, grade_abstention
from ground.contracts.labels import LabelKind

__all__ = ["REWARDS", "RewardRule", "RewardWeights", "released_reward", "reward"]

RewardRule = Literal["paper", "released"]


@dataclass(frozen=True)
class RewardWeights:
    """What a response is worth.

    Attributes:
        correct: a right answer, a right abstention included.
        wrong: an answer that can be read and is wrong.
        format_error: no answer that can be read.
    """

    correct: float = 1.0
    wrong: float = 0.1
    format_error: float = 0.0

    def of(self, verdict: Verdict) -> float:
        """Return the reward of a verdict."""
        return {Verdict.CORRECT: self.correct, Verdict.WRONG: self.wrong}.get(verdict, self.format_error)


PAPER = RewardWeights()


def reward(
    text: str | None, reference: Reference, weights: RewardWeights = PAPER, *, categories: Collection[str] = ()
) -> float:
    """Return the reward of a response by the paper's rule.

    Args:
        text: the whole response, its answer in ``<answer>...</answer>``.
        reference: the label with its limits.
        weights: 1, 0.1 and 0 where left out.
        categories: names that labels can be, where they are names.
    """
    return weights.of(grade_abstention(text, reference, categories=categories).verdict)


# What the authors' code accepts, and nothing else.
BARE_NUMBER = re.compile(r"-?\d+\.?\d*")
BRACKETED = (
    re.compile(r"\(\s*(\d{1,9})\s+weeks?,\s*(\d{1,9})\s+days?\s*\)", re.IGNORECASE),
    re.compile(r"\(\s*'(\d{1,9})\s+weeks?'\s*,\s*'(\d{1,9})\s+days?'\s*\)", re.IGNORECASE),
    re.compile(r"\(\s*(\d{1,9})\s*,\s*(\d{1,9})\s*\)"),
)
UNKNOWN = "unknown"


def released_reward(
    text: str | None, reference: Reference, weights: RewardWeights = PAPER, *, categories: Collection[str] = ()
) -> float:
    """Return the reward that the authors' code gives; arguments as of `reward`, labels that are names have none.

    The answer stands behind the last opening tag; where that is not closed, an earlier answer does not count. Dates are
    read by python-dateutil (which comes with matplotlib) in any form that it knows.

    Raises:
        ValueError: labels are names, which that code does not know.
    """
    if categories:
        raise ValueError("the authors' reward knows no labels that are names")
    _, tag, behind = (text or "").rpartition("<answer>")
    inside, closed, _ = behind.partition("</answer>")
    value = _released_value(inside.strip()) if tag and closed else None
    low, high = (_limit(end.kind, end.value) for end in (reference.lower, reference.upper))
    if value is None or type(value) is not type(low) or type(value) is not type(high):
        return weights.format_error
    if value == UNKNOWN:
        return weights.correct
    try:
        right = low <= value <= high  # type: ignore[operator]
    except TypeError:  # a time with a zone: their code stops here
        return weights.format_error
    return weights.correct if right else weights.wrong


def _limit(kind: LabelKind, value: object) -> float | str | datetime | None:
    if kind is LabelKind.ABSTENTION:
        return UNKNOWN
    if isinstance(value, float):
        return value
    return datetime.fromisoformat(str(value)) if kind is LabelKind.DATE else None


def _released_value(answer: str) -> float | str | datetime | None:
    """Return a number, the word ``unknown``, or a time; None for all else."""
    if BARE_NUMBER.fullmatch(answer):
        return float(answer)
    for form in BRACKETED:
        if match := form.fullmatch(answer):
            return float(7 * int(match[1]) + int(match[2]))
    if answer.lower() == UNKNOWN:
        return UNKNOWN
    from dateutil import parser  # type: ignore[import-untyped]

    try:
        with warnings.catch_warnings(action="ignore"):  # of names of time zones, which quote the answer
            time = parser.parse(answer)
    except (ValueError, TypeError, ArithmeticError):
        # It has a number that is too long for it, or none where one must be.
        return None
    return time if isinstance(time, datetime) else None


REWARDS: dict[RewardRule, Callable[..., float]] = {"paper": reward, "released": released_reward}
