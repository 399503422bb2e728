"""Krippendorff's alpha: how far raters agree beyond chance, with missing ratings, for any distance between values."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["krippendorff_alpha"]


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
