"""The one bootstrap: clusters are drawn again, each with all that is in it, and an interval spans the drawings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["FEWEST_CLUSTERS", "LEVEL", "draws", "percentile_interval", "resampled", "share"]

FEWEST_CLUSTERS = 5
LEVEL = (2.5, 97.5)
# An interval over draws that are undefined more often than this would describe other data.
MOST_UNDEFINED = 0.05
# Resamples that are drawn at once: bounds the memory where every cluster is of its own kind.
AT_ONCE = 100

Floats = npt.NDArray[np.float64]


def draws(sizes: npt.NDArray[Any], resamples: int, seed: int) -> Iterator[Floats]:
    """Yield how often each kind of clusters is drawn, some resamples at a time. *Shape:* (at most `AT_ONCE`, K).

    ``sizes`` are the clusters of each kind, *shape* (K,); parts of clusters that add up to whole ones.
    """
    generator, n = np.random.default_rng(seed), round(float(sizes.sum()))
    for begin in range(0, resamples if n else 0, AT_ONCE):
        yield generator.multinomial(n, sizes / n, size=min(AT_ONCE, resamples - begin)).astype(np.float64)


def resampled(values: Any, sizes: npt.NDArray[Any], resamples: int, seed: int) -> Floats:
    """Draw clusters and sum their values.

    Args:
        values: *shape* (K, c), an array or a sparse one, of each kind of clusters.
        sizes: *shape* (K,), as of `draws`.
        resamples: B.
        seed: of the resamples.

    Returns:
        *Shape* (B, c).
    """
    blocks = [np.asarray(drawn @ values) for drawn in draws(sizes, resamples, seed)]
    return np.concatenate([np.zeros((0 if blocks else resamples, values.shape[1])), *blocks])


def share(above: npt.NDArray[Any], below: npt.NDArray[Any]) -> Floats:
    """Divide; NaN where there is nothing to divide by."""
    return np.divide(above, below, out=np.full(np.shape(above), np.nan), where=below > 0)


def percentile_interval(drawn: Floats, n_clusters: int) -> tuple[float, float] | None:
    """Return the 95% percentile interval.

    None where there are fewer than five clusters, or where more than 5% of the draws are undefined.

    Args:
        drawn: *shape* (B,), NaN where undefined.
        n_clusters: how many the value rests on.
    """
    defined = drawn[np.isfinite(drawn)]
    if n_clusters < FEWEST_CLUSTERS or not len(defined) or len(defined) < (1 - MOST_UNDEFINED) * len(drawn):
        return None
    low, high = np.percentile(defined, LEVEL)
    return float(low), float(high)
