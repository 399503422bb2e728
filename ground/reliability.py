"""How far raters agree beyond chance: Krippendorff's alpha for any distance between values, and intervals."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ground.resampling import LEVEL, draws, share

__all__ = ["alpha_draws", "alpha_interval", "kappa_interval", "krippendorff_alpha", "ordinal_distance"]

RESAMPLES = 1_000
Interval = tuple[float, float]
Floats = npt.NDArray[np.float64]
Distance = Floats | Callable[[Floats], Floats]
"""Squared difference of each two values, 0 on the diagonal, *shape* (values, values); or what makes it of how often
each value was given, *shapes* (b, values) to (b, values, values)."""


def ordinal_distance(of_value: Floats) -> Floats:
    """Return the squared differences of ranks (Krippendorff 2018, section 12.3.3).

    *Shapes:* (b, values), how often each value was given, to (b, values, values).
    """
    upto = np.cumsum(of_value, axis=1)
    # Ratings between two values, both included, less half of each end; the same either way.
    between = upto[:, None, :] - (upto - of_value)[:, :, None] - (of_value[:, :, None] + of_value[:, None, :]) / 2
    above: Floats = np.triu(between**2, 1)
    return above + above.swapaxes(1, 2)


def alpha_draws(counts: npt.NDArray[np.int64], distance: Distance, times: npt.NDArray[Any]) -> Floats:
    """Return alpha of drawings of the units; NaN where chance alone would not disagree.

    Args:
        counts, distance: as of `krippendorff_alpha`.
        times: *shape* (b, units): how often each unit is drawn, with all its ratings.

    Returns:
        *Shape* (b,).
    """
    several = counts.sum(axis=1) > 1
    rated, drawn = counts[several].astype(np.float64), times[:, several].astype(np.float64)
    of_value = drawn @ rated
    apart = distance(of_value) if callable(distance) else distance
    # Pairs within a unit, each weighed by 1 / (ratings of the unit - 1); equal ones have no distance.
    within = ((rated @ apart) * rated).sum(axis=-1) / (rated.sum(axis=1) - 1)
    observed = (drawn * within).sum(axis=1)
    expected = ((of_value[:, None] @ apart)[:, 0] * of_value).sum(axis=1)
    alphas: Floats = 1 - share((of_value.sum(axis=1) - 1) * observed, expected)
    return alphas


def krippendorff_alpha(counts: npt.NDArray[np.int64], distance: Distance) -> float | None:
    """Return alpha, at most 1; None where chance alone would not disagree.

    Source: Krippendorff, Content Analysis (2018), section 12.3: one less the disagreement observed within units over
    the one expected between all of them.

    Args:
        counts: *shape* (units, values): how often each unit was given each value; units with one rating have no part.
        distance: between values; 1 beside the diagonal where values are names, `ordinal_distance` where they are ranks.
    """
    (alpha,) = alpha_draws(counts, distance, np.ones((1, len(counts)), np.int64)).tolist()
    return None if math.isnan(alpha) else alpha


def alpha_interval(counts: npt.NDArray[np.int64], distance: Distance, *, seed: int) -> Interval | None:
    """Return alpha's 95% percentile bootstrap interval: units are drawn again, and with them all their ratings.

    None where no drawing of the units leaves alpha defined.

    Args:
        counts, distance: as of `krippendorff_alpha`.
        seed: of the drawings.
    """
    rated = counts[counts.sum(axis=1) > 1]
    if not len(rated):
        return None
    drawn = np.concatenate(list(draws(np.ones(len(rated)), RESAMPLES, seed)))
    return _middle(alpha_draws(rated, distance, drawn))


def kappa_interval(table: npt.NDArray[np.int64], *, seed: int) -> Interval | None:
    """Return the 95% percentile bootstrap interval of Cohen's kappa; None where it is never defined.

    Args:
        table: *shape* (values, values): how many units have which value by the first rater and by the second.
        seed: of the drawings.
    """
    n, values = int(table.sum()), len(table)
    if not n:
        return None
    drawn = np.concatenate(list(draws(table.ravel(), RESAMPLES, seed))).reshape(-1, values, values)
    differ = n - np.trace(drawn, axis1=1, axis2=2)
    expected = n - (drawn.sum(axis=1) * drawn.sum(axis=2)).sum(axis=1) / n
    return _middle(1 - share(differ, expected))


def _middle(drawn: Floats) -> Interval | None:
    """Return what leaves 2.5% of the drawings that are defined on either side; None where there are none."""
    if np.isnan(drawn).all():
        return None
    low, high = np.nanpercentile(drawn, LEVEL)
    return float(low), float(high)
