"""All paths between two concepts: a kernel that walks from the end that has fewer edges and looks the other end up.

Neither memory nor time depends on the size of the graph: what is read are the edges beside the two concepts and, for
patterns of three steps, beside the neighbours of one of them. Entries are positions in the adjacency (``kg.arrays``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ground.compiled import kernel, maker, part
from kg.numbers import NumberedPattern
from kg.search import grow, not_below, position, run_end, step_bounds

__all__ = ["Plan", "connect", "describe", "make_plan"]

# Columns of ``Plan.walks`` and of ``Plan.patterns``.
FIRST, SECOND, THIRD, BACK, FAN, BEGIN, END = range(7)
HEADS, TAILS, SAME, EXTENDS, PLACE = range(5)
NONE: Any = np.int64(-1)  # for numba a literal -1 is a type of its own, for which all would be compiled again


class Plan(NamedTuple):
    """Patterns as numbers, made once for each choice of patterns.

    Attributes:
        first: where the walks begin in ``walks`` that begin with a step and whose last step, read backwards, is
            another; they end where the next ones begin. Shape: (n_steps * n_steps + 1,)
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
    ends = [(pattern.steps[0], back[pattern.steps[-1]]) for pattern in patterns]
    order = sorted(range(len(patterns)), key=lambda i: (ends[i], patterns[i].steps, patterns[i].max_fan, i))
    walks: list[list[int]] = []
    last = None
    for place, i in enumerate(order):
        steps, fan = patterns[i].steps, patterns[i].max_fan
        if (steps, fan) != last:
            walks.append([*steps, *([-1] * (3 - len(steps))), back[steps[-1]], fan, place, place])
            last = (steps, fan)
        walks[-1][END] = place + 1
    table, n_steps = np.array(walks, np.int64).reshape(-1, 7), len(back)
    return Plan(
        first=np.searchsorted(table[:, FIRST] * n_steps + table[:, BACK], np.arange(n_steps * n_steps + 1)),
        walks=table,
        patterns=np.array([(*patterns[i][2:], i) for i in order], np.int64).reshape(-1, 5),
    )


@part
def _too_wide(begin: int, end: int, fan: int) -> bool:
    return fan > 0 and end - begin > fan


@maker
def _put(found: Any, base: int, n: int, limit: int, first: int, second: int, third: int) -> Any:
    """Add the entries of a path and return (rows, their number); with a limit the first ones from ``base`` on stay.

    The concepts in between are in the order of the entries.
    """
    place = n
    if limit > 0:
        while place > base and (
            first < found[place - 1, 0] or (first == found[place - 1, 0] and second < found[place - 1, 1])
        ):
            place -= 1
        if place == base + limit:
            return found, n
        n -= n == base + limit
    if n == found.shape[0]:
        found = grow(found)
    for at in range(n, place, -1):
        for column in range(3):
            found[at, column] = found[at - 1, column]
    found[place, 0], found[place, 1], found[place, 2] = first, second, third
    return found, n + 1


@part
def _sort(found: Any, begin: int, end: int) -> None:
    """Sort paths by their entries, Shell's way: a library's sort would take seconds to compile."""
    gap = (end - begin) >> 1
    while gap > 0:
        for row in range(begin + gap, end):
            first, second, third, at = found[row, 0], found[row, 1], found[row, 2], row
            while at >= begin + gap and (
                found[at - gap, 0] > first or (found[at - gap, 0] == first and found[at - gap, 1] > second)
            ):
                for column in range(3):
                    found[at, column] = found[at - gap, column]
                at -= gap
            found[at, 0], found[at, 1], found[at, 2] = first, second, third
        gap = 1 if gap == 2 else gap * 5 // 11


@maker
def _two(graph: Any, found: Any, n: int, walk: Any, ends: Any, near: Any, far: Any, limit: int) -> Any:
    """Add the paths of two steps: concepts that stand both beside the head and beside the tail."""
    indptr, step, neighbour = graph
    base = n
    head, tail = ends
    from_head = near[1] - near[0] <= far[1] - far[0]
    less, more = (near, far) if from_head else (far, near)
    low = more[0]
    for entry in range(less[0], less[1]):
        node: Any = np.int64(neighbour[entry])
        low = not_below(neighbour, low, more[1], node)
        if low == more[1]:
            break
        if neighbour[low] != node or node in (head, tail):
            continue
        begin, end = step_bounds(indptr, step, node, walk[SECOND])
        if not _too_wide(begin, end, walk[FAN]):
            last = position(neighbour, begin, end, tail)
            found, n = _put(found, base, n, limit, entry if from_head else low, last, NONE)
            if n == base + limit and limit > 0:
                break
    return found, n


@maker
def _three(graph: Any, found: Any, n: int, walk: Any, ends: Any, near: Any, far: Any, back: int, limit: int) -> Any:
    """Add the paths of three steps, from the end with fewer neighbours: those whose edges meet the other's."""
    indptr, step, neighbour = graph
    head, tail = ends
    from_head = near[1] - near[0] <= far[1] - far[0]
    outer, inner = (near, far) if from_head else (far, near)
    middle_step = walk[SECOND] if from_head else back
    base = n
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
            low = not_below(neighbour, low, more_end, other)
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
            found, n = _put(found, base, n, limit, first, second, last)
            if from_head and n == base + limit and limit > 0:
                return found, n
    if not from_head and limit == 0:
        _sort(found, base, n)
    return found, n


@part
def _holds(patterns: Any, place: int, head_mask: int, tail_mask: int) -> bool:
    """Tell whether the groups of two concepts are those of a pattern."""
    heads, tails = patterns[place, HEADS], patterns[place, TAILS]
    return (
        (heads == -1 or heads & head_mask != 0)
        and (tails == -1 or tails & tail_mask != 0)
        and (patterns[place, SAME] == 0 or head_mask & tail_mask != 0)
    )


@part
def _any_holds(patterns: Any, begin: int, end: int, head_mask: int, tail_mask: int) -> bool:
    place = begin
    while place < end and not _holds(patterns, place, head_mask, tail_mask):
        place += 1
    return place < end


@maker
def _follow(graph: Any, found: Any, n: int, walk: Any, ends: Any, near: Any, far: Any, back: Any, limit: int) -> Any:
    """Add the paths of one walk, from the head's entries of its first step and the tail's of its last, in order."""
    if walk[SECOND] >= 0 and walk[THIRD] >= 0:
        return _three(graph, found, n, walk, ends, near, far, back[walk[SECOND]], limit)
    if walk[SECOND] >= 0:
        return _two(graph, found, n, walk, ends, near, far, limit)
    entry = position(graph[2], near[0], near[1], ends[1])
    return _put(found, n, n, limit, entry, NONE, NONE) if entry >= 0 else (found, n)


@part
def _extension(graph: Any, head: int, tail: int, extends: int) -> int:
    """Return the entry of the first edge that describes the tail and does not lead back to the head, or -1."""
    indptr, step, neighbour = graph
    begin, end = step_bounds(indptr, step, tail, extends) if extends >= 0 else (NONE, NONE)
    for entry in range(begin, end):
        if neighbour[entry] != head:
            return entry
    return -1


@part
def _runs(indptr: Any, step: Any, node: int, runs: Any) -> int:
    """List the steps beside a node, each with where its entries begin and end; return how many there are."""
    n, begin, end = 0, indptr[node], indptr[node + 1]
    while begin < end:
        after = run_end(step, begin, end)
        runs[n, 0], runs[n, 1], runs[n, 2] = step[begin], begin, after
        n, begin = n + 1, after
    return n


@maker
def _file(parts: Any, n: int, place: int, begin: int, end: int, extension: int) -> Any:
    """Add the paths of a pattern to the parts, which are in the order of their patterns; return (parts, number)."""
    if n == parts.shape[0]:
        parts = grow(parts)
    low = n
    while low > 0 and parts[low - 1, 0] > place:
        for column in range(4):
            parts[low, column] = parts[low - 1, column]
        low -= 1
    parts[low, 0], parts[low, 1], parts[low, 2], parts[low, 3] = place, begin, end, extension
    return parts, n + 1


@maker
def _between(graph: Any, groups: Any, back: Any, plan: Any, ends: Any, limit: int, out: Any) -> Any:
    """Find the paths of one pair.

    Args:
        plan: (first, walks, patterns), see ``Plan``.
        out: (paths, parts, runs): entries of paths, shape (n, 3); for each pattern that has any (its place, where its
            paths begin and end, entry of its extension), shape (n, 4); room for the steps beside the two concepts,
            shape (2, n_steps, 3). All are written from the start.

    Returns:
        (paths, parts, number of parts).
    """
    indptr, step, _ = graph
    first, walks, patterns = plan
    found, parts, runs = out
    (head, tail), n_found, n_parts = ends, 0, 0
    head_mask, tail_mask = groups[head], groups[tail]
    n_near = _runs(indptr, step, head, runs[0]) if head != tail else 0
    n_far = _runs(indptr, step, tail, runs[1]) if n_near > 0 else 0
    for pair_of_runs in range(n_near * n_far):
        one, other = pair_of_runs // n_far, pair_of_runs % n_far
        near, far = (runs[0, one, 1], runs[0, one, 2]), (runs[1, other, 1], runs[1, other, 2])
        group = runs[0, one, 0] * back.size + runs[1, other, 0]
        for at in range(first[group], first[group + 1]):
            if _too_wide(near[0], near[1], walks[at, FAN]):
                continue
            if not _any_holds(patterns, walks[at, BEGIN], walks[at, END], head_mask, tail_mask):
                continue
            base: Any = n_found
            found, n_found = _follow(graph, found, n_found, walks[at], ends, near, far, back, limit)
            if n_found == base:
                continue
            for place in range(walks[at, BEGIN], walks[at, END]):
                if not _holds(patterns, place, head_mask, tail_mask):
                    continue
                extension = _extension(graph, head, tail, patterns[place, EXTENDS])
                if extension >= 0 or patterns[place, EXTENDS] < 0:
                    parts, n_parts = _file(parts, n_parts, patterns[place, PLACE], base, n_found, extension)
    return found, parts, n_parts


@kernel
def connect(
    indptr: Any,
    step: Any,
    neighbour: Any,
    groups: Any,
    back: Any,
    first: Any,
    walks: Any,
    patterns: Any,
    pairs: Any,
    limit: int,
) -> Any:
    """Find every path of every pattern between the concepts of some pairs.

    Args:
        indptr, step, neighbour, groups: the graph.
        back: each step read backwards. Shape: (n_steps,)
        first, walks, patterns: see ``Plan``.
        pairs: where paths begin, and where they end. Shape: (2, n_pairs)
        limit: paths of a pattern that are kept, the first by the concepts in between (0: all).

    Returns:
        Rows (number of the pair, place of the pattern, entries of its one to three edges, entry of its extension), -1
        where there is none, sorted. Shape: (n, 6)
    """
    graph, plan = (indptr, step, neighbour), (first, walks, patterns)
    rows, n = np.empty((16, 6), np.int64), 0
    found, parts = np.empty((16, 3), np.int64), np.empty((16, 4), np.int64)
    runs = np.empty((2, back.size, 3), np.int64)
    for pair in range(pairs.shape[1]):
        ends = (pairs[0, pair], pairs[1, pair])
        found, parts, n_parts = _between(graph, groups, back, plan, ends, limit, (found, parts, runs))
        for at in range(n_parts):
            for path in range(parts[at, 1], parts[at, 2]):
                if n == rows.shape[0]:
                    rows = grow(rows)
                rows[n, 0], rows[n, 1], rows[n, 5] = pair, parts[at, 0], parts[at, 3]
                for column in range(3):
                    rows[n, 2 + column] = found[path, column]
                n += 1
    return rows[:n]


@kernel
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
