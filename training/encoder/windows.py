"""Windows over a context: they tile the whole of it, are of nearly one length, and never look at what a row asks."""

from __future__ import annotations

from itertools import pairwise

__all__ = ["tile"]


def tile(n_tokens: int, size: int, overlap: int) -> list[slice]:
    """Cover ``n_tokens`` with the fewest windows of at most ``size`` tokens that share at least ``overlap``.

    The windows are of nearly equal length, so that a batch of them has little padding. A window depends on the length
    of the context only: choosing windows by a row's evidence would give the label away.

    Returns:
        Slices in order, the first starting at 0 and the last ending at ``n_tokens``; one empty slice for no tokens.

    >>> tile(10, 6, 2)
    [slice(0, 6, None), slice(4, 10, None)]
    """
    if n_tokens <= size:
        return [slice(0, n_tokens)]
    count = -(-(n_tokens - overlap) // (size - overlap))
    # Lengths before the overlap, spread evenly: the first start at 0, the last end at n_tokens.
    body = n_tokens - overlap
    edges = [body * i // count for i in range(count + 1)]
    return [slice(start, end + overlap) for start, end in pairwise(edges)]
