"""Steps between very many concepts, up and down the hierarchy (`kg.graph.HIERARCHY_STEPS`)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from kg.graph import HIERARCHY_STEPS, ConceptGraph

__all__ = ["distances", "reached"]

STARTS_AT_ONCE = 64
"""Concepts from which the hierarchy is walked at once: in six steps each can come to very many."""

Ints = npt.NDArray[np.int64]


def reached(graph: ConceptGraph, starts: Ints, limit: int) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Yield what concepts reach up and down, without the starts: position among the starts, concept, least steps.

    Args:
        graph: the concept graph.
        starts: numbers of concepts. Shape: (n,)
        limit: most steps.
    """
    for begin in range(0, starts.size, STARTS_AT_ONCE):
        some = starts[begin : begin + STARTS_AT_ONCE].astype(np.int32)
        rows = graph.reach(np.arange(some.size + 1), some, HIERARCHY_STEPS, limit).astype(np.int64)
        yield begin + rows[:, 0], rows[:, 1], rows[:, 2]


def distances(graph: ConceptGraph, left: Ints, right: Ints, limit: int) -> npt.NDArray[np.int32]:
    """Return the steps between the concepts of distinct pairs, -1 beyond the limit. Shape: (n,)

    Args:
        graph: the concept graph.
        left: numbers of concepts, -1 for a concept that the graph does not have. Shape: (n,)
        right: likewise.
        limit: most steps.
    """
    steps_between = np.where((left == right) & (left >= 0), 0, -1).astype(np.int32)
    there = np.flatnonzero((left >= 0) & (right >= 0))
    key = left[there] * len(graph) + right[there]
    order = np.argsort(key)
    there, key = there[order], key[order]
    starts, is_goal = np.unique(left[there]), np.zeros(len(graph), np.bool_)
    is_goal[right[there]] = True
    for start, goal, steps in reached(graph, starts, limit):
        wanted = is_goal[goal]
        met = starts[start[wanted]] * len(graph) + goal[wanted]
        first, last = np.searchsorted(key, met), np.searchsorted(key, met, side="right")
        asked = last > first
        steps_between[there[first[asked]]] = steps[wanted][asked]
    return steps_between
