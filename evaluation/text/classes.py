"""The classes of both kinds of rows as codes, the gravest last: an answer that cannot be read has a code of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluation.text.dataset import Kind
from ground.contracts.rows_text import RISK_LEVELS
from ground.contracts.taxonomy import is_safe

__all__ = ["CLASSES", "UNSAFE", "Classes"]


@dataclass(frozen=True)
class Classes:
    """The labels of one kind of rows.

    Attributes:
        kind: which rows.
        labels: as they stand in rows and prediction files; their places are the codes, the gravest class comes last.
        names: as they stand in reports.
        label: the column of the label.
        pair: the column that rows made from one another share.
        headline: the metric that stands for all others in pictures and in short tables.
    """

    kind: Kind
    labels: tuple[Any, ...]
    names: tuple[str, ...]
    label: str
    pair: str
    headline: str

    @property
    def silent(self) -> int:
        """The code of an answer that cannot be read, and of no answer."""
        return len(self.labels)


CLASSES: Mapping[Kind, Classes] = {
    "medhal": Classes("medhal", (True, False), ("factual", "non-factual"), "label", "pair_id", "non_factual_f1"),
    "medval": Classes(
        "medval", RISK_LEVELS, tuple(f"level {level}" for level in RISK_LEVELS), "risk_level", "triple_id", "macro_f1"
    ),
}
UNSAFE: npt.NDArray[np.bool_] = np.array([not is_safe(level) for level in RISK_LEVELS])
"""Which risk levels are unsafe. *Shape:* (4,)."""
