"""The classes that answers are of, as codes: an answer that cannot be read has a code of its own, the last one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ground.contracts.rows import QUADRANTS
from ground.contracts.rows_text import RISK_LEVELS
from ground.contracts.taxonomy import is_safe

__all__ = ["CLASSES", "UNSAFE", "Classes", "Kind"]

Kind = Literal["quadrants", "medhal", "medval"]


@dataclass(frozen=True)
class Classes:
    """The labels of one kind of rows.

    Attributes:
        kind: which rows.
        names: as they stand in reports; their places are the codes, the gravest class comes last.
        words: how a label may be written in a prediction file, and its code.
        expected: the same, for messages.
        label: the column of the label.
        pair: the column that rows made from one another share.
        headline: the metric that stands for all others in pictures and in short tables.
        texts: the columns that are read beside the statement or output; their words are a row's length.
    """

    kind: Kind
    names: tuple[str, ...]
    words: Mapping[str, int]
    expected: str
    label: str
    pair: str
    headline: str
    texts: tuple[str, ...]

    @property
    def silent(self) -> int:
        """The code of an answer that cannot be read, and of no answer."""
        return len(self.names)


_LEVELS = {f"{level}{decimals}": code for code, level in enumerate(RISK_LEVELS) for decimals in ("", ".0")}
CLASSES: Mapping[Kind, Classes] = {
    classes.kind: classes
    for classes in (
        Classes(
            "quadrants",
            QUADRANTS,
            {name: code for code, name in enumerate(QUADRANTS)},
            "Q1, Q2, Q3, Q4, or empty where no answer could be read",
            "quadrant",
            "group_id",
            "f1",
            ("context",),
        ),
        Classes(
            "medhal",
            ("factual", "non-factual"),
            {"true": 0, "false": 1},
            "true, false, or null where no answer could be read",
            "label",
            "pair_id",
            "non_factual_f1",
            ("context",),
        ),
        Classes(
            "medval",
            tuple(f"level {level}" for level in RISK_LEVELS),
            _LEVELS,
            "1, 2, 3, 4, or null where no answer could be read",
            "risk_level",
            "triple_id",
            "macro_f1",
            ("input", "output"),
        ),
    )
}
UNSAFE: npt.NDArray[np.bool_] = np.array([not is_safe(level) for level in RISK_LEVELS])
"""Which risk levels are unsafe. *Shape:* (4,)."""
