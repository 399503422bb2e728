"""How far raters agree beyond chance: Krippendorff's alpha for any distance between values, and intervals."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["alpha_interval", "kappa_interval", "krippendorff_alpha"]

Interval = tuple[float, float]


def krippendorff_alpha(counts: npt.NDArray[np.int64], distance: npt.NDArray[np.float64]) -> float | None:
    """Return alpha, at most 1; None where chance alone would not disagree.

    Source: Krippendorff, Content Analysis (2018), section 12.3: one less the disagreement observed within units over
    the one expected between all of them.

    Args:
        counts: *shape* (units, values): how often each unit was given each value; units with one rating have no part.
        distance: *shape* (values, values): squared difference of each two values, 0 on the diagonal; 1 elsewhere where
            values are names.
    """
    rated = counts[counts.sum(axis=1) > 1].astype(np.float64)
    of_value, of_unit = rated.sum(axis=0), rated.sum(axis=1)
    # Pairs within a unit, each weighed by 1 / (ratings of the unit - 1); equal ones have no distance.
    observed = float((((rated @ distance) * rated).sum(axis=1) / (of_unit - 1)).sum())
    expected = float(of_value @ distance @ of_value) / (of_value.sum() - 1) if len(rated) else 0.0
    return 1 - observed / expected if expected else None


def alpha_interval(
    counts: npt.NDArray[np.int64], distance: npt.NDArray[np.float64], *, resamples: int = 1_000, seed: int = 42
) -> Interval | None:
    """Return alpha's 95% percentile bootstrap interval: units are drawn again, and with them all their ratings.

    None where no drawing of the units leaves alpha defined.

    Args:
        counts, distance: as of `krippendorff_alpha`.
        resamples: how many times.
        seed: of the drawings.
    """
    rated = counts[counts.sum(axis=1) > 1].astype(np.float64)
    if not len(rated):
        return None
    apart = ((rated @ distance) * rated).sum(axis=1) / (rated.sum(axis=1) - 1)
    drawn = np.random.default_rng(seed).multinomial(len(rated), np.full(len(rated), 1 / len(rated)), resamples)
    of_value = drawn @ rated
    expected = ((of_value @ distance) * of_value).sum(axis=1) / (of_value.sum(axis=1) - 1)
    return _middle(drawn @ apart, expected)


def kappa_interval(table: npt.NDArray[np.int64], *, resamples: int = 1_000, seed: int = 42) -> Interval | None:
    """Return the 95% percentile bootstrap interval of Cohen's kappa; None where it is never defined.

    Args:
        table: *shape* (values, values): how many units have which value by the first rater and by the second.
        resamples: how many times units are drawn again.
        seed: of the drawings.
    """
    n, values = int(table.sum()), len(table)
    if not n:
        return None
    drawn = np.random.default_rng(seed).multinomial(n, table.ravel() / n, resamples).reshape(-1, values, values)
    differ = n - np.trace(drawn, axis1=1, axis2=2)
    expected = n - (drawn.sum(axis=1) * drawn.sum(axis=2)).sum(axis=1) / n
    return _middle(differ.astype(np.float64), expected)


def _middle(observed: npt.NDArray[np.float64], expected: npt.NDArray[np.float64]) -> Interval | None:
    """Return what leaves 2.5% of ``1 - observed / expected`` on either side, where chance alone would disagree."""
    defined = expected > 0
    if not defined.any():
        return None
    low, high = np.percentile(1 - observed[defined] / expected[defined], [2.5, 97.5])
    return float(low), float(high)
