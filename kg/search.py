"""Kernels over the adjacency that follow any number of steps: bounds of a step, levels of a hierarchy, distances."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

__all__ = ["grow", "levels", "meet", "position", "run_end", "step_bounds"]


@njit(cache=True)
def step_bounds(indptr: Any, step: Any, node: int, wanted: int) -> Any:
    """Return (begin, end) of a node's adjacency entries of one step."""
    low, end = indptr[node], indptr[node + 1]
    high = end
    while low < high:
        middle = (low + high) >> 1
        if step[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    begin, high = low, end
    while low < high:
        middle = (low + high) >> 1
        if step[middle] <= wanted:
            low = middle + 1
        else:
            high = middle
    return begin, low


@njit(cache=True)
def position(neighbour: Any, begin: int, end: int, wanted: int) -> Any:
    """Return where a neighbour stands among sorted entries, or -1."""
    low, high = begin, end
    while low < high:
        middle = (low + high) >> 1
        if neighbour[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    if low < end and neighbour[low] == wanted:
        return low
    return -1


@njit(cache=True)
def run_end(step: Any, begin: int, end: int) -> int:
    """Return where the entries of the step that stands at ``begin`` end."""
    wanted, stride, low = step[begin], 1, begin
    while low + stride < end and step[low + stride] == wanted:
        low += stride
        stride *= 2
    high = min(end, low + stride)
    low += 1
    while low < high:
        middle = (low + high) >> 1
        if step[middle] <= wanted:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True)
def grow(values: Any) -> Any:
    """Return rows with room for as many again; a loop, since slices take seconds to compile. Shape: (2 n, columns)"""
    larger = np.empty((2 * values.shape[0], values.shape[1]), values.dtype)
    for row in range(values.shape[0]):
        for column in range(values.shape[1]):
            larger[row, column] = values[row, column]
    return larger


@njit(cache=True)
def levels(indptr: Any, step: Any, neighbour: Any, start: int, steps: Any, max_depth: int) -> Any:
    """Search breadth first along any of some steps.

    Returns:
        Rows (concept, depth) in the order of discovery, the start not among them. Shape: (n, 2)
    """
    seen = np.zeros(indptr.size - 1, np.uint8)
    seen[start] = 1
    found, n_found = np.empty((256, 2), np.int32), 0
    current = np.full(1, start, np.int32)
    for depth in range(1, max_depth + 1):
        before = n_found
        for node in current:
            for wanted in steps:
                begin, end = step_bounds(indptr, step, node, wanted)
                for entry in range(begin, end):
                    other = neighbour[entry]
                    if seen[other] == 0:
                        seen[other] = 1
                        if n_found == found.shape[0]:
                            found = grow(found)
                        found[n_found, 0], found[n_found, 1] = other, depth
                        n_found += 1
        if n_found == before:
            break
        current = found[before:n_found, 0].copy()
    return found[:n_found]


@njit(cache=True)
def _spread(indptr: Any, step: Any, neighbour: Any, depth: Any, side: int, frontier: Any, steps: Any, mark: int) -> Any:
    """Move one side of ``meet`` a step on; return (its new frontier, whether it met the other side)."""
    reached, n_reached, met = np.empty((64, 1), np.int64), 0, False
    for node in frontier:
        for wanted in steps:
            begin, end = step_bounds(indptr, step, node, wanted)
            for entry in range(begin, end):
                near = neighbour[entry]
                if depth[side, near] > 0:
                    continue
                depth[side, near] = mark
                met = met or depth[1 - side, near] > 0
                if n_reached == reached.shape[0]:
                    reached = grow(reached)
                reached[n_reached, 0] = near
                n_reached += 1
    return reached[:n_reached, 0].copy(), met


@njit(cache=True)
def meet(indptr: Any, step: Any, neighbour: Any, one: int, other: int, steps: Any, max_depth: int) -> Any:
    """Return the length of the shortest walk between two concepts along some steps, or -1 beyond ``max_depth``.

    The steps must hold both directions of each predicate. The search goes on from the side with the smaller frontier.
    """
    if one == other:
        return 0
    depth = np.zeros((2, indptr.size - 1), np.uint8)
    depth[0, one] = depth[1, other] = 1
    left, right = np.full(1, one, np.int64), np.full(1, other, np.int64)
    for taken in range(1, max_depth + 1):
        if left.size == 0 or right.size == 0:
            return -1
        if left.size <= right.size:
            left, met = _spread(indptr, step, neighbour, depth, 0, left, steps, 1)
        else:
            right, met = _spread(indptr, step, neighbour, depth, 1, right, steps, 1)
        if met:
            return taken
    return -1
