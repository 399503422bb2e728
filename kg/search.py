"""Typed search over the adjacency: kernels that follow path patterns, breadth first, on numbers only.

A walk counts as a path when its concepts are all different. Patterns have at most three steps, so it is enough to
remember, for each concept that two steps reach, two different concepts that it was reached through.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = [
    "Adjacency",
    "PatternTrie",
    "build_trie",
    "find_pairs",
    "find_paths",
    "levels",
    "meet",
    "step_bounds",
    "target_reach",
]


class Adjacency(NamedTuple):
    """The edges of all concepts, both directions, as ``kg.arrays`` describes them."""

    indptr: NDArray[np.int64]
    step: NDArray[np.uint8]
    neighbour: NDArray[np.int32]


class _Scratch(NamedTuple):
    """What a search remembers, so that it need not be cleared: stamps instead of flags. Levels count from 0.

    Attributes:
        seen: when a concept was last reached at a level. Shape: (3, n_nodes)
        reached: the concepts reached at a level. Shape: (3, n_nodes)
        first, second: two different concepts that a concept of level 1 was reached through. Shape: (n_nodes,)
    """

    seen: NDArray[np.int64]
    reached: NDArray[np.int32]
    first: NDArray[np.int32]
    second: NDArray[np.int32]


@dataclass(frozen=True)
class PatternTrie:
    """Patterns that share their first steps, as a tree in preorder: a frontier is worked out once for all of them.

    Attributes:
        depth, step, max_fan, leaf, emits: per tree node. Shape: (n_tree,)
        skip: the first tree node behind this one's subtree. Shape: (n_tree,)
        reach_row: bit of ``target_reach`` that a leaf may consult, or -1. Shape: (n_tree,)
        reach_steps: the step of each such bit. Shape: (n_bits,)
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
    open_at: list[int] = []
    for i, level in enumerate(depth):
        while open_at and depth[open_at[-1]] >= level:
            skip[open_at.pop()] = i
        open_at.append(i)
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
def step_bounds(adjacency: Any, node: int, wanted: int) -> Any:
    """Return (begin, end) of a node's adjacency entries of one step."""
    low, end = adjacency.indptr[node], adjacency.indptr[node + 1]
    high = end
    while low < high:
        middle = (low + high) >> 1
        if adjacency.step[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    begin, high = low, end
    while low < high:
        middle = (low + high) >> 1
        if adjacency.step[middle] <= wanted:
            low = middle + 1
        else:
            high = middle
    return begin, low


@njit(cache=True)
def _fan(adjacency: Any, node: int, wanted: int, max_fan: int) -> Any:
    """Return the bounds of one step, empty where it fans out to more concepts than the pattern allows (0: any)."""
    begin, end = step_bounds(adjacency, node, wanted)
    if max_fan > 0 and end - begin > max_fan:
        return begin, begin
    return begin, end


@njit(cache=True)
def _position(neighbour: Any, begin: int, end: int, wanted: int) -> Any:
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
def target_reach(adjacency: Any, targets: Any, back_steps: Any) -> Any:
    """Mark, for each last step, the concepts from which it leads to a target.

    Returns:
        One bit for each step, 64 to a word. Shape: (n_words, n_nodes)
    """
    reach = np.zeros(((back_steps.size + 63) // 64, adjacency.indptr.size - 1), np.uint64)
    for row in range(back_steps.size):
        bit = np.uint64(1) << np.uint64(row % 64)
        for target in targets:
            begin, end = step_bounds(adjacency, target, back_steps[row])
            for entry in range(begin, end):
                reach[row // 64, adjacency.neighbour[entry]] |= bit
    return reach


@njit(cache=True)
def _grow(values: Any) -> Any:
    larger = np.empty((2 * values.shape[0], values.shape[1]), values.dtype)
    larger[: values.shape[0]] = values
    return larger


@njit(cache=True)
def _is_path(scratch: Any, level: int, node: int, other: int) -> Any:
    """Tell whether a third step to ``other`` can follow two that do not pass through it."""
    return level < 2 or scratch.first[node] != other or scratch.second[node] != -1


@njit(cache=True)
def _follow(
    adjacency: Any,
    scratch: Any,
    source: Any,
    head: int,
    level: int,
    wanted: int,
    max_fan: int,
    allowed: Any,
    bit: int,
    stamp: int,
) -> Any:
    """Take one step from every concept of a frontier; return how many concepts it reaches (``scratch.reached``).

    Args:
        source: the frontier. Shape: (n,)
        allowed, bit: the bit tells the concepts from which the step is worth taking; empty for all.
            Shape: (n_nodes,) or (0,)
    """
    count = 0
    for node in source:
        if allowed.size > 0 and (allowed[node] >> np.uint64(bit)) & np.uint64(1) == 0:
            continue
        begin, end = _fan(adjacency, node, wanted, max_fan)
        for entry in range(begin, end):
            other = adjacency.neighbour[entry]
            if other == head or not _is_path(scratch, level, node, other):
                continue
            if scratch.seen[level, other] == stamp:
                if level == 1 and scratch.second[other] == -1 and scratch.first[other] != node:
                    scratch.second[other] = node
                continue
            scratch.seen[level, other] = stamp
            if level == 1:
                scratch.first[other] = node
                scratch.second[other] = -1
            scratch.reached[level, count] = other
            count += 1
    return count


@njit(cache=True)
def find_pairs(adjacency: Any, heads: Any, is_target: Any, reach: Any, tree: Any) -> Any:
    """Find every (head, tree node, target) that a path of the tree node's steps connects.

    Args:
        adjacency: the graph.
        heads: where paths begin. Shape: (n_heads,)
        is_target: 1 where they may end. Shape: (n_nodes,)
        reach: see ``target_reach``; its bits are the tree's last steps. Shape: (n_words, n_nodes)
        tree: (depth, step, max_fan, leaf, emits, skip, reach_row) of a ``PatternTrie``.

    Returns:
        Rows (head, tree node, tail), each once. Shape: (n, 3)
    """
    depth, step, max_fan, leaf, emits, skip, reach_row = tree
    n_nodes = adjacency.indptr.size - 1
    scratch = _Scratch(
        np.zeros((3, n_nodes), np.int64),
        np.empty((3, n_nodes), np.int32),
        np.empty(n_nodes, np.int32),
        np.empty(n_nodes, np.int32),
    )
    everywhere = np.empty(0, np.uint64)
    size = np.zeros(3, np.int64)
    found, n_found, stamp = np.empty((1024, 3), np.int32), 0, 0
    for head in heads:
        at = 0
        while at < depth.size:
            level = depth[at] - 1
            stamp += 1
            source = np.full(1, head, np.int32) if level == 0 else scratch.reached[level - 1, : size[level - 1]]
            allowed, bit = (reach[reach_row[at] // 64], reach_row[at] % 64) if leaf[at] else (everywhere, 0)
            size[level] = _follow(adjacency, scratch, source, head, level, step[at], max_fan[at], allowed, bit, stamp)
            if emits[at]:
                for other in scratch.reached[level, : size[level]]:
                    if is_target[other] == 1:
                        if n_found == found.shape[0]:
                            found = _grow(found)
                        found[n_found, 0], found[n_found, 1], found[n_found, 2] = head, at, other
                        n_found += 1
            at = at + 1 if size[level] > 0 else skip[at]
    return found[:n_found]


@njit(cache=True)
def find_paths(adjacency: Any, head: int, tail: int, steps: Any, max_fan: int, limit: int) -> Any:
    """Enumerate the paths of one pattern between two concepts, ordered by the concepts in between.

    Returns:
        Adjacency entries of each path's edges, at most ``limit`` paths (0: all). Shape: (n, len(steps))
    """
    last = steps.size - 1
    found, n_found = np.empty((64, steps.size), np.int64), 0
    place = np.full(steps.size, head, np.int64)
    cursor, stop = np.zeros(steps.size, np.int64), np.zeros(steps.size, np.int64)
    cursor[0], stop[0] = _fan(adjacency, head, steps[0], max_fan)
    level = 0
    while level >= 0:
        if level == last:
            entry = _position(adjacency.neighbour, cursor[level], stop[level], tail)
            if entry >= 0:
                if n_found == found.shape[0]:
                    found = _grow(found)
                found[n_found, :last] = cursor[:last] - 1
                found[n_found, last] = entry
                n_found += 1
                if n_found == limit:
                    break
            level -= 1
            continue
        if cursor[level] == stop[level]:
            level -= 1
            continue
        node = adjacency.neighbour[cursor[level]]
        cursor[level] += 1
        if node != tail and not np.any(place[: level + 1] == node):
            level += 1
            place[level] = node
            cursor[level], stop[level] = _fan(adjacency, node, steps[level], max_fan)
    return found[:n_found]


@njit(cache=True)
def levels(adjacency: Any, start: int, steps: Any, max_depth: int) -> Any:
    """Search breadth first along any of some steps.

    Returns:
        Rows (concept, depth) in the order of discovery, the start not among them. Shape: (n, 2)
    """
    seen = np.zeros(adjacency.indptr.size - 1, np.uint8)
    seen[start] = 1
    found, n_found = np.empty((256, 2), np.int32), 0
    current = np.full(1, start, np.int32)
    for depth in range(1, max_depth + 1):
        before = n_found
        for node in current:
            for wanted in steps:
                begin, end = step_bounds(adjacency, node, wanted)
                for entry in range(begin, end):
                    other = adjacency.neighbour[entry]
                    if seen[other] == 0:
                        seen[other] = 1
                        if n_found == found.shape[0]:
                            found = _grow(found)
                        found[n_found, 0], found[n_found, 1] = other, depth
                        n_found += 1
        if n_found == before:
            break
        current = found[before:n_found, 0].copy()
    return found[:n_found]


@njit(cache=True)
def _spread(adjacency: Any, depth: Any, side: int, frontier: Any, steps: Any, mark: int) -> Any:
    """Move one side of ``meet`` a step on; return (its new frontier, whether it met the other side)."""
    reached, n_reached, met = np.empty((64, 1), np.int64), 0, False
    for node in frontier:
        for wanted in steps:
            begin, end = step_bounds(adjacency, node, wanted)
            for entry in range(begin, end):
                near = adjacency.neighbour[entry]
                if depth[side, near] > 0:
                    continue
                depth[side, near] = mark
                met = met or depth[1 - side, near] > 0
                if n_reached == reached.shape[0]:
                    reached = _grow(reached)
                reached[n_reached, 0] = near
                n_reached += 1
    return reached[:n_reached, 0].copy(), met


@njit(cache=True)
def meet(adjacency: Any, one: int, other: int, steps: Any, max_depth: int) -> Any:
    """Return the length of the shortest walk between two concepts along some steps, or -1 beyond ``max_depth``.

    The steps must hold both directions of each predicate. The search goes on from the side with the smaller frontier.
    """
    if one == other:
        return 0
    depth = np.zeros((2, adjacency.indptr.size - 1), np.uint8)
    depth[0, one] = depth[1, other] = 1
    left, right = np.full(1, one, np.int64), np.full(1, other, np.int64)
    for taken in range(1, max_depth + 1):
        if left.size == 0 or right.size == 0:
            return -1
        if left.size <= right.size:
            left, met = _spread(adjacency, depth, 0, left, steps, 1)
        else:
            right, met = _spread(adjacency, depth, 1, right, steps, 1)
        if met:
            return taken
    return -1
