"""Several runs, or several experts, as one: the majority, ties to the higher risk."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from evaluation.classes import Classes
from evaluation.predictions import Answers

__all__ = ["ENSEMBLE", "ensemble", "majority"]

ENSEMBLE = "ensemble"
"""Name of the run that the others make together."""


def majority(codes: npt.NDArray[np.int64], n_classes: int) -> npt.NDArray[np.int64]:
    """Return the most frequent class of each row; of classes that are equally frequent the gravest.

    A rater or run without an answer has no vote; where none has, there is no answer.

    Args:
        codes: *shape* (m, n), 0 to k - 1, and k or less than 0 for no answer.
        n_classes: k.

    Returns:
        *Shape* (n,), 0 to k - 1, k for no answer.
    """
    votes = np.stack([(codes == code).sum(axis=0) for code in range(n_classes)])
    # From the gravest downwards: argmax takes the first of equals.
    gravest = n_classes - 1 - np.argmax(votes[::-1], axis=0)
    return np.where(votes.sum(axis=0) > 0, gravest, n_classes)


def ensemble(runs: Sequence[Answers], classes: Classes) -> Answers:
    """Return the majority of several runs as a run of its own; ties go to the higher risk (MedVAL, stage 3)."""
    codes = majority(np.stack([run.codes for run in runs]), classes.silent)
    silent = int((codes == classes.silent).sum())
    outcomes = {"no_vote": silent, "voted": len(codes) - silent}
    return Answers(
        model=ENSEMBLE,
        seed=None,
        codes=codes,
        outcomes={name: n for name, n in outcomes.items() if n},
        explanations=(None,) * len(codes),
        there=np.ones(len(codes), dtype=np.bool_),
        confidence=np.full(len(codes), np.nan),
        kind="ensemble",
    )
