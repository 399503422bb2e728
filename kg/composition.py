"""Which drugs are the same: brands, salts, products and strengths resolved to their substances and routes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["ROUTES", "DrugLinks", "resolve_drugs"]

SYSTEMIC, LOCAL, UNKNOWN = np.uint8(1), np.uint8(2), np.uint8(4)
ROUTES = {"systemic": SYSTEMIC, "local": LOCAL, "unknown": UNKNOWN}
"""Where a product acts, a bit each."""


@dataclass(frozen=True)
class DrugLinks:
    """What composition links say.

    Attributes:
        same: the whole of a link is a form of its part: it holds one substance only, and is taken by a route of it
            that carries its indications. Shape: (n_links,)
        systemic: a product that acts in the whole body holds the concept. Shape: (n_nodes,)
        local: a product that acts where it is applied holds the concept. Shape: (n_nodes,)
    """

    same: NDArray[np.bool_]
    systemic: NDArray[np.bool_]
    local: NDArray[np.bool_]


def _single(head: NDArray[np.int32], tail: NDArray[np.int32], n_nodes: int) -> NDArray[np.bool_]:
    """Tell which concepts resolve to exactly one substance. Shape: (n_nodes,)

    A substance is a part that is never a whole. Each concept collects the lowest and the highest number of the
    substances that it reaches: equal where there is one only. A circle that reaches none counts as unknown.
    """
    low = np.full(n_nodes, n_nodes, np.int64)
    high = np.full(n_nodes, -1, np.int64)
    is_whole = np.zeros(n_nodes, bool)
    is_whole[head] = True
    leaves = np.unique(tail[~is_whole[tail]])
    low[leaves] = high[leaves] = leaves
    while True:
        before = low.copy(), high.copy()
        np.minimum.at(low, head, low[tail])
        np.maximum.at(high, head, high[tail])
        if np.array_equal(before[0], low) and np.array_equal(before[1], high):
            return np.asarray(low == high, bool)


def _routes(head: NDArray[np.int32], tail: NDArray[np.int32], routes: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Hand the routes of products down to what they hold. Shape: (n_nodes,)"""
    while True:
        before = routes.copy()
        np.bitwise_or.at(routes, tail, routes[head])
        if np.array_equal(before, routes):
            return routes


def resolve_drugs(
    head: NDArray[np.int32],
    tail: NDArray[np.int32],
    product: NDArray[np.int32],
    route: NDArray[np.uint8],
    n_nodes: int,
) -> DrugLinks:
    """Resolve composition links.

    A drug that is both swallowed and put on the skin has indications that a cream of it does not have: where a part
    has systemic and other products, a whole is a form of it only if it has a systemic product itself. A dose form of
    unknown words is not taken to be systemic.

    Args:
        head: composition links, the whole (a brand, a salt, a product). Shape: (n_links,)
        tail: the part (a substance, a base, a strength). Shape: (n_links,)
        product: concepts that have a dose form. Shape: (n_products,)
        route: where that form acts, a bit of `ROUTES`. Shape: (n_products,)
        n_nodes: number of concepts.
    """
    own = np.zeros(n_nodes, np.uint8)
    np.bitwise_or.at(own, product, route)
    routes = _routes(head, tail, own)
    systemic, local = (routes & SYSTEMIC) > 0, (routes & LOCAL) > 0
    mixed = systemic & ((routes & (LOCAL | UNKNOWN)) > 0)
    same = _single(head, tail, n_nodes)[head] & (systemic[head] | ~mixed[tail])
    return DrugLinks(same, systemic, local)
