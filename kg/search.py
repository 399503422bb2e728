"""Kernels over the adjacency that follow any number of steps: bounds of a step, levels of a hierarchy."""

from __future__ import annotations

from typing import Any

import numpy as np

from ground.compiled import kernel, maker, part

__all__ = ["grow", "levels", "not_below", "position", "run_end", "step_bounds"]


@part
def not_below(values: Any, begin: int, end: int, wanted: int) -> Any:
    """Return the first place from ``begin`` on, among sorted values, whose value is not below the wanted one.

    The strides double before they are halved: what is wanted is mostly near, and entries that are near are read.
    """
    low, stride = begin, 1
    while low + stride < end and values[low + stride] < wanted:
        low += stride
        stride *= 2
    high = min(end, low + stride)
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@part
def step_bounds(indptr: Any, step: Any, node: int, wanted: int) -> Any:
    """Return (begin, end) of a node's adjacency entries of one step."""
    end = indptr[node + 1]
    begin = not_below(step, indptr[node], end, wanted)
    return begin, not_below(step, begin, end, wanted + 1)


@part
def position(neighbour: Any, begin: int, end: int, wanted: int) -> Any:
    """Return where a neighbour stands among sorted entries, or -1."""
    place = not_below(neighbour, begin, end, wanted)
    return place if place < end and neighbour[place] == wanted else -1


@part
def run_end(step: Any, begin: int, end: int) -> Any:
    """Return where the entries of the step that stands at ``begin`` end."""
    wanted: Any = np.int64(step[begin])
    return not_below(step, begin, end, wanted + 1)


@maker
def grow(values: Any) -> Any:
    """Return rows with room for as many again; a loop, since slices take seconds to compile. Shape: (2 n, columns)"""
    larger = np.empty((2 * values.shape[0], values.shape[1]), values.dtype)
    for row in range(values.shape[0]):
        for column in range(values.shape[1]):
            larger[row, column] = values[row, column]
    return larger


@kernel
def levels(indptr: Any, step: Any, neighbour: Any, begin: Any, starts: Any, steps: Any, max_depth: int) -> Any:
    """Search breadth first from each of some groups of concepts, along any of some steps.

    Args:
        indptr, step, neighbour: the adjacency.
        begin: where the concepts of a group begin. Shape: (groups + 1,)
        starts: concepts of groups.
        steps: numbers of steps.
        max_depth: most steps.

    Returns:
        Rows (group, concept, depth), by group in the order of discovery, the starts not among them. Shape: (n, 3)
    """
    group_of = np.full(indptr.size - 1, -1, np.int32)
    reached, n_reached = np.empty((256, 3), np.int32), 0
    for group in range(begin.size - 1):
        current = starts[begin[group] : begin[group + 1]].copy()
        for node in current:
            group_of[node] = group
        for depth in range(1, max_depth + 1):
            before = n_reached
            for node in current:
                for wanted in steps:
                    first, end = step_bounds(indptr, step, node, wanted)
                    for entry in range(first, end):
                        other = neighbour[entry]
                        if group_of[other] != group:
                            group_of[other] = group
                            if n_reached == reached.shape[0]:
                                reached = grow(reached)
                            reached[n_reached, 0], reached[n_reached, 1], reached[n_reached, 2] = group, other, depth
                            n_reached += 1
            if n_reached == before:
                break
            current = reached[before:n_reached, 1].copy()
    return reached[:n_reached]
