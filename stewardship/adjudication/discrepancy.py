"""How far two labels of one row are apart, and whether that is too far (docs/stewardship.md#triage)."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from ground.contracts.labels import LabelKind, LabelValue

__all__ = ["FLAGGED", "SLACK", "Flag", "discrepancies", "relative_error"]

SLACK = 1e-12
"""A limit is kept to this much: 1.9 and 2 are 5% apart, and 0.05000000000000004 as binary numbers."""


class Flag(StrEnum):
    """What triage says of a row."""

    ABSTAINED = "abstained"
    DIFFERS = "differs"
    UNFLAGGED = "unflagged"


FLAGGED = (Flag.ABSTAINED, Flag.DIFFERS)


def relative_error(first: ArrayLike, second: ArrayLike) -> NDArray[np.float64]:
    """Return rel.err = \\|a - b\\| / max(\\|a\\|, \\|b\\|), and 0 where both are 0 (paper, equation 1).

    It is symmetric and lies between 0 and 2: above 1 only for opposite signs, exactly 1 where one of both is 0.

    Args:
        first: *shape* (n,) or a number.
        second: *shape* (n,) or a number.
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    larger = np.maximum(np.abs(a), np.abs(b))
    scale = np.where(larger == 0, 1.0, larger)
    with np.errstate(over="ignore"):
        apart = np.abs(a - b) / scale
    # Two huge numbers of opposite signs overflow when they are subtracted first.
    return np.where(np.isfinite(apart), apart, np.abs(a / scale - b / scale))


def discrepancies(
    original: Sequence[LabelValue], recomputed: Sequence[LabelValue], *, limit: float = 0.05
) -> pl.DataFrame:
    """Compare two labels of each row.

    Numbers are compared by `relative_error`, dates by the days between them, categories by name (0 or 1). Two
    abstentions are equal. One abstention alone has no distance and is ``abstained``. Labels of other kinds than one
    another, or one that cannot be read, have none either and are ``differs`` (number against date: assumed).

    Args:
        original: *shape* (n,).
        recomputed: *shape* (n,).
        limit: above it two labels differ; for dates in days, so that one day is enough.

    Returns:
        *shape* (n, 3): ``distance`` (null where there is none), ``unit`` (rel_err, days, name; null where there is no
        distance) and ``flag``.
    """
    ours, theirs = _kinds(original), _kinds(recomputed)
    same = ours == theirs
    distance = np.full(len(original), np.nan)
    unit = np.full(len(original), None, dtype=object)
    numbers = same & (ours == LabelKind.NUMBER)
    days = same & (ours == LabelKind.DATE)
    names = same & (ours == LabelKind.CATEGORY)
    both = same & (ours == LabelKind.ABSTENTION)
    distance[numbers] = relative_error(_values(original, numbers), _values(recomputed, numbers))
    distance[days] = np.abs(_ordinals(original, days) - _ordinals(recomputed, days))
    distance[names] = [original[at] != recomputed[at] for at in np.flatnonzero(names)]
    distance[both] = 0.0
    for where, name in ((numbers | both, "rel_err"), (days, "days"), (names, "name")):
        unit[where] = name
    one_abstains = (ours == LabelKind.ABSTENTION) ^ (theirs == LabelKind.ABSTENTION)
    flags = np.where(np.isnan(distance) | (distance > limit + SLACK), Flag.DIFFERS.value, Flag.UNFLAGGED.value)
    flags = np.where(one_abstains, Flag.ABSTAINED.value, flags)
    return pl.DataFrame(
        {
            "distance": pl.Series(distance, dtype=pl.Float64).fill_nan(None),
            "unit": pl.Series(unit.tolist(), dtype=pl.String),
            "flag": pl.Series(flags.tolist(), dtype=pl.String),
        }
    )


def _kinds(labels: Sequence[LabelValue]) -> NDArray[Any]:
    return np.array([label.kind.value for label in labels], dtype="U12")


def _values(labels: Sequence[LabelValue], where: NDArray[np.bool_]) -> NDArray[np.float64]:
    return np.array([labels[at].number for at in np.flatnonzero(where)], dtype=np.float64)


def _ordinals(labels: Sequence[LabelValue], where: NDArray[np.bool_]) -> NDArray[np.float64]:
    days = [labels[at].day for at in np.flatnonzero(where)]
    return np.array([day.toordinal() for day in days if day is not None], dtype=np.float64)
