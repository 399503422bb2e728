"""Balanced parts of a directed graph: edges that lead into each node as often as out of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from builders.medieval.coding import begins
from ground.compiled import kernel

__all__ = ["circuits_of"]


def circuits_of(source: npt.NDArray[np.int32], goal: npt.NDArray[np.int32], nodes: int) -> npt.NDArray[np.int32]:
    """Take circuits out of the edges, until none is left among the others.

    The edges of a circuit lead into every node as often as out of it. A walk takes each edge once, in their order;
    where it comes back to a node, it has found a circuit, and where it can go no further, the last edge is left out. So
    the work grows with the number of edges. Another choice can hold more edges.

    Args:
        source: of the edges, sorted. Shape: (edges,)
        goal: of the edges. Shape: (edges,)
        nodes: number of nodes.

    Returns:
        The circuit that each edge belongs to, numbered from 0; -1 for none. Shape: (edges,)
    """
    circuit = np.full(source.size, -1, np.int32)
    _walk(begins(source, nodes), goal.astype(np.int32), circuit)
    return circuit


@kernel
def _walk(begin: Any, goal: Any, circuit: Any) -> None:
    nodes = begin.size - 1
    following = begin[:-1].copy()
    place = np.full(nodes, -1, np.int32)
    path = np.empty(nodes, np.int32)
    taken = np.empty(nodes, np.int32)
    number = 0
    for start in range(nodes):
        path[0] = start
        place[start] = 0
        length = 1
        while length:
            node = path[length - 1]
            if following[node] == begin[node + 1]:
                place[node] = -1
                length -= 1
                continue
            edge = following[node]
            following[node] += 1
            other = goal[edge]
            if place[other] < 0:
                place[other] = length
                path[length] = other
                taken[length] = edge
                length += 1
                continue
            circuit[edge] = number
            for position in range(place[other] + 1, length):
                circuit[taken[position]] = number
                place[path[position]] = -1
            number += 1
            length = place[other] + 1
