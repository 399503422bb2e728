"""Typed search over the adjacency: kernels that follow path patterns, breadth first, on numbers only.

A walk counts as a path when its concepts are all different. Patterns have at most three steps, so it is enough to
remember, for each concept that two steps reach, two different concepts that it was reached through.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["PatternTrie", "build_trie", "find_pairs", "find_paths", "levels", "meet", "step_bounds", "target_reach"]


@dataclass(frozen=True)
class PatternTrie:
    """Patterns that share their first steps, as a tree in preorder: a frontier is worked out once for all of them.

    Attributes:
        depth, step, max_fan, leaf, emits: per tree node. Shape: (n_tree,)
        skip: the first tree node behind this one's subtree. Shape: (n_tree,)
        reach_row: row of ``target_reach`` that a leaf may consult, or -1. Shape: (n_tree,)
        reach_steps: the step of each such row. Shape: (n_rows,)
        ends: for each tree node the patterns that end there.
    """

    depth: NDArray[np.int64]
    step: NDArray[np.int64]
    max_fan: NDArray[np.int64]
    leaf: NDArray[np.bool_]
    emits: NDArray[np.bool_]
    skip: NDArray[np.int64]
    reach_row: NDArray[np.int64]
    reach_steps: NDArray[np.int64]
    ends: tuple[tuple[int, ...], ...]


def build_trie(patterns: list[tuple[int, tuple[int, ...], int]]) -> PatternTrie:
    """Build the tree of patterns, each given as (its number, its steps, its largest fan or 0)."""
    tree: dict[tuple[tuple[int, int], ...], list[int]] = {}
    for number, steps, max_fan in patterns:
        path = tuple((step, max_fan) for step in steps)
        for length in range(1, len(path)):
            tree.setdefault(path[:length], [])
        tree.setdefault(path, []).append(number)
    keys = sorted(tree)
    depth = np.array([len(key) for key in keys], np.int64)
    skip = np.full(len(keys), len(keys), np.int64)
    for i in range(len(keys)):
        behind = np.flatnonzero(depth[i + 1 :] <= depth[i])
        if behind.size:
            skip[i] = i + 1 + behind[0]
    step = np.array([key[-1][0] for key in keys], np.int64)
    leaf = skip == np.arange(len(keys)) + 1
    reach_steps = np.unique(step[leaf])
    reach_row = np.where(leaf, np.searchsorted(reach_steps, step), -1)
    return PatternTrie(
        depth=depth,
        step=step,
        max_fan=np.array([key[-1][1] for key in keys], np.int64),
        leaf=leaf,
        emits=np.array([bool(tree[key]) for key in keys], bool),
        skip=skip,
        reach_row=reach_row.astype(np.int64),
        reach_steps=reach_steps,
        ends=tuple(tuple(sorted(tree[key])) for key in keys),
    )


@njit(cache=True)
def step_bounds(indptr: Any, step: Any, node: int, wanted: int) -> Any:
    """Return (begin, end) of a node's adjacency entries of one step."""
    low, high = indptr[node], indptr[node + 1]
    end = high
    while low < high:
        middle = (low + high) >> 1
        if step[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    begin = low
    high = end
    while low < high:
        middle = (low + high) >> 1
        if step[middle] <= wanted:
            low = middle + 1
        else:
            high = middle
    return begin, low


@njit(cache=True)
def _position(neighbour: Any, begin: int, end: int, wanted: int) -> int:
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
def target_reach(indptr: Any, step: Any, neighbour: Any, targets: Any, back_steps: Any, n_nodes: int) -> Any:
    """Mark, for each last step, the concepts from which it leads to a target. Shape: (n_rows, n_nodes)"""
    reach = np.zeros((back_steps.size, n_nodes), np.uint8)
    for row in range(back_steps.size):
        for target in targets:
            begin, end = step_bounds(indptr, step, target, back_steps[row])
            for entry in range(begin, end):
                reach[row, neighbour[entry]] = 1
    return reach


@njit(cache=True)
def _grow(values: Any) -> Any:
    larger = np.empty((2 * values.shape[0], values.shape[1]), values.dtype)
    larger[: values.shape[0]] = values
    return larger


@njit(cache=True)
def find_pairs(
    indptr: Any,
    step: Any,
    neighbour: Any,
    heads: Any,
    is_target: Any,
    reach: Any,
    depth: Any,
    tree_step: Any,
    max_fan: Any,
    leaf: Any,
    emits: Any,
    skip: Any,
    reach_row: Any,
) -> Any:
    """Find every (head, tree node, target) that a path of the tree node's steps connects.

    Returns:
        Rows (head, tree node, tail), each once. Shape: (n, 3)
    """
    n_nodes = indptr.size - 1
    n_tree = depth.size
    found = np.empty((1024, 3), np.int32)
    n_found = 0
    frontier = np.empty((2, n_nodes), np.int32)
    size = np.zeros(2, np.int64)
    seen = np.zeros((3, n_nodes), np.int64)
    first = np.empty(n_nodes, np.int32)
    second = np.empty(n_nodes, np.int32)
    own = np.empty(1, np.int32)
    stamp = 0
    for head in heads:
        own[0] = head
        tree = 0
        while tree < n_tree:
            stamp += 1
            level = depth[tree]
            source = own if level == 1 else frontier[level - 2, : size[level - 2]]
            keep = not leaf[tree]
            kept = 0
            for node in source:
                if leaf[tree] and reach[reach_row[tree], node] == 0:
                    continue
                begin, end = step_bounds(indptr, step, node, tree_step[tree])
                if max_fan[tree] > 0 and end - begin > max_fan[tree]:
                    continue
                for entry in range(begin, end):
                    other = neighbour[entry]
                    if other == head:
                        continue
                    if level == 3 and first[node] == other and second[node] == -1:
                        continue
                    if seen[level - 1, other] == stamp:
                        if level == 2 and second[other] == -1 and first[other] != node:
                            second[other] = node
                        continue
                    seen[level - 1, other] = stamp
                    if level == 2:
                        first[other] = node
                        second[other] = -1
                    if keep:
                        frontier[level - 1, kept] = other
                        kept += 1
                    if emits[tree] and is_target[other] == 1:
                        if n_found == found.shape[0]:
                            found = _grow(found)
                        found[n_found, 0] = head
                        found[n_found, 1] = tree
                        found[n_found, 2] = other
                        n_found += 1
            if keep:
                size[level - 1] = kept
            tree = tree + 1 if keep and kept > 0 else skip[tree]
    return found[:n_found]


@njit(cache=True)
def find_paths(
    indptr: Any, step: Any, neighbour: Any, head: int, tail: int, steps: Any, max_fan: int, limit: int
) -> Any:
    """Enumerate the paths of one pattern between two concepts, ordered by the concepts in between.

    Returns:
        Adjacency entries of each path's edges, at most ``limit`` paths (0: all). Shape: (n, len(steps))
    """
    n_steps = steps.size
    found = np.empty((64, n_steps), np.int64)
    n_found = 0
    begin, end = step_bounds(indptr, step, head, steps[0])
    if max_fan > 0 and end - begin > max_fan:
        return found[:0]
    if n_steps == 1:
        entry = _position(neighbour, begin, end, tail)
        if entry >= 0:
            found[0, 0] = entry
            return found[:1]
        return found[:0]
    for entry_1 in range(begin, end):
        middle = neighbour[entry_1]
        if middle == tail or middle == head:
            continue
        begin_2, end_2 = step_bounds(indptr, step, middle, steps[1])
        if max_fan > 0 and end_2 - begin_2 > max_fan:
            continue
        if n_steps == 2:
            entry = _position(neighbour, begin_2, end_2, tail)
            if entry >= 0:
                if n_found == found.shape[0]:
                    found = _grow(found)
                found[n_found, 0] = entry_1
                found[n_found, 1] = entry
                n_found += 1
                if n_found == limit:
                    return found[:n_found]
            continue
        for entry_2 in range(begin_2, end_2):
            last = neighbour[entry_2]
            if last == head or last == tail or last == middle:
                continue
            begin_3, end_3 = step_bounds(indptr, step, last, steps[2])
            if max_fan > 0 and end_3 - begin_3 > max_fan:
                continue
            entry = _position(neighbour, begin_3, end_3, tail)
            if entry >= 0:
                if n_found == found.shape[0]:
                    found = _grow(found)
                found[n_found, 0] = entry_1
                found[n_found, 1] = entry_2
                found[n_found, 2] = entry
                n_found += 1
                if n_found == limit:
                    return found[:n_found]
    return found[:n_found]


@njit(cache=True)
def levels(indptr: Any, step: Any, neighbour: Any, starts: Any, steps: Any, max_depth: int, stop: int) -> Any:
    """Search breadth first along any of some steps.

    Args:
        starts: where to begin. Shape: (n,)
        steps: the steps that may be taken. Shape: (s,)
        max_depth: how far to go.
        stop: a concept at which to stop, or -1.

    Returns:
        (concepts in the order of their discovery, their depths), the starts not among them.
    """
    n_nodes = indptr.size - 1
    seen = np.zeros(n_nodes, np.uint8)
    found = np.empty((256, 2), np.int32)
    n_found = 0
    current = starts.copy()
    for node in starts:
        seen[node] = 1
    for depth in range(1, max_depth + 1):
        before = n_found
        for node in current:
            for wanted in steps:
                begin, end = step_bounds(indptr, step, node, wanted)
                for entry in range(begin, end):
                    other = neighbour[entry]
                    if seen[other] == 1:
                        continue
                    seen[other] = 1
                    if n_found == found.shape[0]:
                        found = _grow(found)
                    found[n_found, 0] = other
                    found[n_found, 1] = depth
                    n_found += 1
                    if other == stop:
                        return found[:n_found]
        if n_found == before:
            break
        current = found[before:n_found, 0].copy()
    return found[:n_found]


@njit(cache=True)
def meet(indptr: Any, step: Any, neighbour: Any, one: int, other: int, steps: Any, max_depth: int) -> int:
    """Return the length of the shortest walk between two concepts along some steps, or -1 beyond ``max_depth``.

    The steps must hold both directions of each predicate. The search goes on from the side with the smaller frontier.
    """
    n_nodes = indptr.size - 1
    depth = np.zeros((2, n_nodes), np.int16)  # 0: not seen; else depth + 1
    depth[0, one] = 1
    depth[1, other] = 1
    if one == other:
        return 0
    frontiers = [np.array([one], np.int64), np.array([other], np.int64)]
    reached = np.zeros(2, np.int64)
    while reached[0] + reached[1] < max_depth:
        side = 0 if frontiers[0].size <= frontiers[1].size else 1
        if frontiers[side].size == 0:
            return -1
        following = np.empty(64, np.int64)
        n_following = 0
        met = False
        for node in frontiers[side]:
            for wanted in steps:
                begin, end = step_bounds(indptr, step, node, wanted)
                for entry in range(begin, end):
                    near = neighbour[entry]
                    if depth[side, near] > 0:
                        continue
                    depth[side, near] = reached[side] + 2
                    if depth[1 - side, near] > 0:
                        met = True
                    if n_following == following.size:
                        following = np.concatenate((following, np.empty_like(following)))
                    following[n_following] = near
                    n_following += 1
        reached[side] += 1
        if met:
            return reached[0] + reached[1]
        frontiers[side] = following[:n_following]
    return -1
