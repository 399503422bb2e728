"""All paths between two concepts: a kernel that walks from the end that has fewer edges and looks the other end up.

Neither memory nor time depends on the size of the graph: what is read are the edges beside the two concepts and, for
patterns of three steps, beside the neighbours of one of them. Entries are positions in the adjacency (``kg.arrays``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kg.numbers import NumberedPattern
from kg.search import grow, position, run_end, step_bounds

__all__ = ["Plan", "connect", "describe", "make_plan"]

# Columns of ``Plan.walks`` and of ``Plan.patterns``.
FIRST, SECOND, THIRD, BACK, FAN, BEGIN, END = range(7)
HEADS, TAILS, SAME, EXTENDS, PLACE = range(5)
NONE: Any = np.int64(-1)  # a literal -1 would be a type of its own, and compile all again


class Plan(NamedTuple):
    """Patterns as numbers, made once for each choice of patterns.

    Attributes:
        first: where the walks that begin with a step begin and end in ``walks``. Shape: (n_steps + 1,)
        walks: distinct sequences of steps: up to three steps (-1: none), the last one read backwards, the largest fan
            (0: any), where their patterns begin and end. Shape: (n_walks, 7)
        patterns: masks of the groups of head and tail, whether they must share one, the step that extends the pattern
            (-1: none), its place among those given. Shape: (n_patterns, 5)
    """

    first: NDArray[np.int64]
    walks: NDArray[np.int64]
    patterns: NDArray[np.int64]


def make_plan(patterns: Sequence[NumberedPattern], back: Sequence[int]) -> Plan:
    """Sort patterns by their walks.

    Args:
        patterns: the patterns.
        back: each step read backwards.
    """
    order = sorted(range(len(patterns)), key=lambda i: (patterns[i].steps, patterns[i].max_fan, i))
    walks: list[list[int]] = []
    last = None
    for place, i in enumerate(order):
        steps, fan = patterns[i].steps, patterns[i].max_fan
        if (steps, fan) != last:
            walks.append([*steps, *([-1] * (3 - len(steps))), back[steps[-1]], fan, place, place])
            last = (steps, fan)
        walks[-1][END] = place + 1
    table = np.array(walks, np.int64).reshape(-1, 7)
    return Plan(
        first=np.searchsorted(table[:, FIRST], np.arange(len(back) + 1)),
        walks=table,
        patterns=np.array([(*patterns[i][2:], i) for i in order], np.int64).reshape(-1, 5),
    )


@njit(cache=True)
def _runs(indptr: Any, step: Any, node: int, n_steps: int) -> Any:
    """Return the bounds of each step beside a node. Shape: (2, n_steps)"""
    bounds = np.zeros((2, n_steps), np.int64)
    begin, end = indptr[node], indptr[node + 1]
    while begin < end:
        after = run_end(step, begin, end)
        bounds[0, step[begin]], bounds[1, step[begin]] = begin, after
        begin = after
    return bounds


@njit(cache=True)
def _not_below(neighbour: Any, low: int, end: int, wanted: int) -> int:
    """Return the first place from ``low`` on whose neighbour is not below the wanted one."""
    stride = 1
    while low + stride < end and neighbour[low + stride] < wanted:
        low += stride
        stride *= 2
    high = min(end, low + stride)
    while low < high:
        middle = (low + high) >> 1
        if neighbour[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True)
def _too_wide(begin: int, end: int, fan: int) -> bool:
    return fan > 0 and end - begin > fan


@njit(cache=True)
def _put(found: Any, n: int, limit: int, row: Any) -> Any:
    """Add a row (walk, entries of three edges) and return (rows, their number); with a limit the first ones stay.

    The concepts in between are in the order of the entries.
    """
    if limit > 0:
        place = n
        while place > 0 and (
            row[1] < found[place - 1, 1] or (row[1] == found[place - 1, 1] and row[2] < found[place - 1, 2])
        ):
            place -= 1
        if place == limit:
            return found, n
        n -= n == limit
    else:
        place = n
    if n == found.shape[0]:
        found = grow(found)
    for at in range(n, place, -1):
        for column in range(4):
            found[at, column] = found[at - 1, column]
    for column in range(4):
        found[place, column] = row[column]
    return found, n + 1


@njit(cache=True)
def _two(graph: Any, found: Any, at: int, walk: Any, ends: Any, near: Any, far: Any, limit: int) -> Any:
    """Add the paths of two steps: concepts that stand both beside the head and beside the tail."""
    indptr, step, neighbour = graph
    n = 0
    head, tail = ends
    from_head = near[1] - near[0] <= far[1] - far[0]
    less, more = (near, far) if from_head else (far, near)
    low = more[0]
    for entry in range(less[0], less[1]):
        node: Any = np.int64(neighbour[entry])
        low = _not_below(neighbour, low, more[1], node)
        if low == more[1]:
            break
        if neighbour[low] != node or node in (head, tail):
            continue
        begin, end = step_bounds(indptr, step, node, walk[SECOND])
        if not _too_wide(begin, end, walk[FAN]):
            last = position(neighbour, begin, end, tail)
            found, n = _put(found, n, limit, (at, entry if from_head else low, last, NONE))
    return found, n


@njit(cache=True)
def _three(graph: Any, found: Any, at: int, walk: Any, ends: Any, near: Any, far: Any, back: int, limit: int) -> Any:
    """Add the paths of three steps, from the end with fewer neighbours: those whose edges meet the other's."""
    indptr, step, neighbour = graph
    head, tail = ends
    from_head = near[1] - near[0] <= far[1] - far[0]
    outer, inner = (near, far) if from_head else (far, near)
    middle_step = walk[SECOND] if from_head else back
    n = 0
    for entry in range(outer[0], outer[1]):
        node: Any = np.int64(neighbour[entry])
        if node in (head, tail):
            continue
        begin, end = step_bounds(indptr, step, node, middle_step)
        if begin == end or (from_head and _too_wide(begin, end, walk[FAN])):
            continue
        by_node = end - begin <= inner[1] - inner[0]
        less_begin, less_end, low, more_end = (
            (begin, end, inner[0], inner[1]) if by_node else (inner[0], inner[1], begin, end)
        )
        for place in range(less_begin, less_end):
            other: Any = np.int64(neighbour[place])
            low = _not_below(neighbour, low, more_end, other)
            if low == more_end:
                break
            if neighbour[low] != other or other in (head, tail, node):
                continue
            x, y = (node, other) if from_head else (other, node)
            first = entry if from_head else (low if by_node else place)
            two_begin, two_end = step_bounds(indptr, step, x, walk[SECOND])
            three_begin, three_end = step_bounds(indptr, step, y, walk[THIRD])
            if _too_wide(two_begin, two_end, walk[FAN]) or _too_wide(three_begin, three_end, walk[FAN]):
                continue
            second = position(neighbour, two_begin, two_end, y)
            last = position(neighbour, three_begin, three_end, tail)
            found, n = _put(found, n, limit, (at, first, second, last))
            if from_head and n == limit:
                return found, n
    return found, n


@njit(cache=True)
def _holds(row: Any, head_mask: int, tail_mask: int) -> bool:
    """Tell whether the groups of two concepts are those of a pattern."""
    return (
        (row[HEADS] == -1 or row[HEADS] & head_mask != 0)
        and (row[TAILS] == -1 or row[TAILS] & tail_mask != 0)
        and (row[SAME] == 0 or head_mask & tail_mask != 0)
    )


@njit(cache=True)
def _any_holds(patterns: Any, walk: Any, head_mask: int, tail_mask: int) -> bool:
    allowed = False
    for place in range(walk[BEGIN], walk[END]):
        allowed |= _holds(patterns[place], head_mask, tail_mask)
    return allowed


@njit(cache=True)
def _follow(graph: Any, found: Any, at: int, walk: Any, ends: Any, near: Any, far: Any, back: Any, limit: int) -> Any:
    """Return the paths of one walk, from the head's entries of its first step and the tail's of its last."""
    if walk[SECOND] >= 0 and walk[THIRD] >= 0:
        return _three(graph, found, at, walk, ends, near, far, back[walk[SECOND]], limit)
    if walk[SECOND] >= 0:
        return _two(graph, found, at, walk, ends, near, far, limit)
    entry = position(graph[2], near[0], near[1], ends[1])
    return _put(found, 0, limit, (at, entry, NONE, NONE)) if entry >= 0 else (found, 0)


@njit(cache=True)
def _copied(rows: Any, n: int, pattern: int, found: Any, paths: int, extension: int) -> Any:
    """Return rows with those of a pattern's paths added."""
    while n + paths > rows.shape[0]:
        rows = grow(rows)
    for i in range(paths):
        rows[n + i, 0], rows[n + i, 4] = pattern, extension
        for column in range(1, 4):
            rows[n + i, column] = found[i, column]
    return rows


@njit(cache=True)
def _extension(graph: Any, head: int, tail: int, extends: int) -> int:
    """Return the entry of the first edge that describes the tail and does not lead back to the head, or -1."""
    indptr, step, neighbour = graph
    begin, end = step_bounds(indptr, step, tail, extends) if extends >= 0 else (NONE, NONE)
    for entry in range(begin, end):
        if neighbour[entry] != head:
            return entry
    return -1


@njit(cache=True)
def connect(
    indptr: Any,
    step: Any,
    neighbour: Any,
    groups: Any,
    back: Any,
    first: Any,
    walks: Any,
    patterns: Any,
    head: int,
    tail: int,
    limit: int,
) -> Any:
    """Find every path of every pattern from one concept to another.

    Args:
        indptr, step, neighbour, groups: the graph.
        back: each step read backwards. Shape: (n_steps,)
        first, walks, patterns: see ``Plan``.
        head, tail: the two concepts.
        limit: paths of a pattern that are kept, the first by the concepts in between (0: all).

    Returns:
        Rows (place of the pattern, entries of its one to three edges, entry of its extension), -1 where there is none,
        in no order. Shape: (n, 5)
    """
    graph = (indptr, step, neighbour)
    rows = np.empty((16, 5), np.int64)
    n_rows = 0
    if head == tail or indptr[head] == indptr[head + 1] or indptr[tail] == indptr[tail + 1]:
        return rows[:0]
    ends, head_mask, tail_mask = (head, tail), groups[head], groups[tail]
    beside = _runs(indptr, step, tail, back.size)
    found = np.empty((16, 4), np.int64)
    begin, end = indptr[head], indptr[head + 1]
    while begin < end:
        after = run_end(step, begin, end)
        near, begin = (begin, after), after
        for at in range(first[step[near[0]]], first[step[near[0]] + 1]):
            walk = walks[at]
            far = (beside[0, walk[BACK]], beside[1, walk[BACK]])
            if far[0] == far[1] or _too_wide(near[0], near[1], walk[FAN]):
                continue
            if not _any_holds(patterns, walk, head_mask, tail_mask):
                continue
            found, n = _follow(graph, found, at, walk, ends, near, far, back, limit)
            if n == 0:
                continue
            for place in range(walk[BEGIN], walk[END]):
                if not _holds(patterns[place], head_mask, tail_mask):
                    continue
                extension = _extension(graph, head, tail, patterns[place, EXTENDS])
                if extension < 0 and patterns[place, EXTENDS] >= 0:
                    continue
                rows = _copied(rows, n_rows, patterns[place, PLACE], found, n, extension)
                n_rows += n
    return rows[:n_rows]


@njit(cache=True)
def describe(entries: Any, step: Any, neighbour: Any, edge: Any, evidence_begin: Any, rela: Any, sab: Any) -> Any:
    """Return what stands at adjacency entries: step, neighbour, number of RELA, number of SAB, first row of evidence.

    *Shape:* (n, 5)
    """
    rows = np.empty((entries.size, 5), np.int64)
    for i in range(entries.size):
        entry = entries[i]
        evidence = evidence_begin[edge[entry]]
        rows[i, 0], rows[i, 1] = step[entry], neighbour[entry]
        rows[i, 2], rows[i, 3], rows[i, 4] = rela[evidence], sab[evidence], evidence
    return rows
