"""Which drugs hold one substance only: brands, salts, products and strengths resolved to their ingredients."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["single_drugs"]


def single_drugs(head: NDArray[np.int32], tail: NDArray[np.int32], n_nodes: int) -> NDArray[np.int32]:
    """Return the heads that resolve to exactly one substance, sorted.

    A substance is a concept that is a tail and never a head. Each head collects the lowest and the highest number of
    the substances that it reaches; they are equal where there is one only. A circle that reaches no substance counts
    as unknown and is left out.

    Args:
        head: composition links, the whole (a brand, a salt, a product). Shape: (n,)
        tail: the part (an ingredient, a base, a strength). Shape: (n,)
        n_nodes: number of concepts.
    """
    if head.size == 0:
        return np.empty(0, np.int32)
    low = np.full(n_nodes, n_nodes, np.int64)
    high = np.full(n_nodes, -1, np.int64)
    is_head = np.zeros(n_nodes, bool)
    is_head[head] = True
    leaves = np.unique(tail[~is_head[tail]])
    low[leaves] = high[leaves] = leaves
    while True:
        before = (low.copy(), high.copy())
        np.minimum.at(low, head, low[tail])
        np.maximum.at(high, head, high[tail])
        if np.array_equal(before[0], low) and np.array_equal(before[1], high):
            break
    return np.flatnonzero(is_head & (low == high)).astype(np.int32)
