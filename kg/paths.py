"""The search along patterns: every path between two concepts, and what a head reaches of many targets.

Patterns share their first steps in a tree, so that each edge is followed once for all of them. A walk counts as a path
when its concepts are all different. Entries are positions in the adjacency (``kg.arrays``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ground.compiled import kernel, maker, part
from ground.errors import InputError
from kg.numbers import NumberedPattern
from kg.search import grow, not_below, position, run_end, step_bounds

__all__ = [
    "Endings",
    "PatternTree",
    "SearchRoom",
    "build_tree",
    "find_paths",
    "find_targets",
    "index_endings",
]

ANY_GROUP = 1 << 62
"""A bit that all concepts share: it answers a pattern that asks for no group."""
ANY_FAN = 1 << 62
MAX_SIBLINGS = 32
"""The state of a reached concept is two bits for each second step that leads on."""

# Columns of ``PatternTree.patterns``.
HEADS, TAILS, SAME, EXTENDS, PLACE = range(5)


class PatternTree(NamedTuple):
    """Patterns that share their first steps; those of each limit of fan have a root of their own.

    Attributes:
        roots: number of roots, which are the first nodes. Shape: (1,)
        child: the node that a step leads to, or -1. Shape: (n_nodes, n_steps)
        max_fan: the largest number of neighbours that a step to the node may lead to. Shape: (n_nodes,)
        heads: groups of which a head must have one for any pattern at or below the node. Shape: (n_nodes,)
        tails: groups of which a tail must have one for any pattern that ends at the node, 0 if none does.
            Shape: (n_nodes,)
        follows: bits of the steps that lead on, step modulo 64. Shape: (n_nodes,)
        sibling: number of a node of two steps that leads on among those of the same first step. Shape: (n_nodes,)
        local: number of the node among all below the same first step. Shape: (n_nodes,)
        first: where the patterns that end at a node begin. Shape: (n_nodes + 1,)
        patterns: groups of head and tail, whether they must share one, the step that extends the pattern (-1: none),
            its place among those given. Shape: (n_patterns, 5)
    """

    roots: NDArray[np.int64]
    child: NDArray[np.int16]
    max_fan: NDArray[np.int64]
    heads: NDArray[np.int64]
    tails: NDArray[np.int64]
    follows: NDArray[np.uint64]
    sibling: NDArray[np.int64]
    local: NDArray[np.int64]
    first: NDArray[np.int64]
    patterns: NDArray[np.int64]


class Endings(NamedTuple):
    """The edges that end in targets, by the concept from which they lead there: the last step of a search.

    Attributes:
        place: the place of a concept among the targets, or -1. Shape: (n_nodes,)
        groups: of the targets. Shape: (n_targets,)
        steps: bits of the steps by which a concept leads to a target, step modulo 64. Shape: (n_nodes,)
        begin: where the edges of a concept begin, sorted by step and target. Shape: (n_nodes + 1,)
        step: step of an edge. Shape: (n,)
        target: place of the target that it leads to. Shape: (n,)
    """

    place: NDArray[np.int32]
    groups: NDArray[np.int64]
    steps: NDArray[np.uint64]
    begin: NDArray[np.int64]
    step: NDArray[np.uint8]
    target: NDArray[np.int32]


def build_tree(patterns: Sequence[NumberedPattern], n_steps: int) -> PatternTree:
    """Build the tree of some patterns, whose places are those in the sequence.

    Raises:
        InputError: more steps follow upon one first step than a state has bits for.
    """
    walks = [(pattern.max_fan or ANY_FAN, *pattern.steps) for pattern in patterns]
    keys = sorted(
        {walk[:length] for walk in walks for length in range(1, len(walk) + 1)}, key=lambda key: (len(key), key)
    )
    node_of = {key: node for node, key in enumerate(keys)}
    child = np.full((len(keys), n_steps), -1, np.int16)
    (heads, tails), follows = np.zeros((2, len(keys)), np.int64), np.zeros(len(keys), np.uint64)
    for key in keys:
        if len(key) > 1:
            child[node_of[key[:-1]], key[-1]] = node_of[key]
            follows[node_of[key[:-1]]] |= np.uint64(1 << key[-1] % 64)
    sibling = _numbered([key[:2] if len(key) == 3 and follows[node_of[key]] else None for key in keys])
    if sibling.max(initial=0) >= MAX_SIBLINGS:
        raise InputError(
            "too many patterns of three steps have the same beginning",
            found=str(sibling.max() + 1),
            expected=f"{MAX_SIBLINGS} second steps",
        )
    for walk, pattern in zip(walks, patterns, strict=True):
        heads[[node_of[walk[:length]] for length in range(1, len(walk) + 1)]] |= _asked(pattern.heads)
        tails[node_of[walk]] |= _asked(pattern.tails)
    ends = np.array([node_of[walk] for walk in walks], np.int64)
    order = np.argsort(ends, kind="stable")
    rows = [
        (_asked(patterns[i].heads), _asked(patterns[i].tails), patterns[i].same, patterns[i].extends, i) for i in order
    ]
    return PatternTree(
        roots=np.array([sum(len(key) == 1 for key in keys)]),
        child=child,
        max_fan=np.array([key[0] for key in keys], np.int64),
        heads=heads,
        tails=tails,
        follows=follows,
        sibling=sibling,
        local=_numbered([key[:2] if len(key) > 2 else None for key in keys]),
        first=np.searchsorted(ends[order], np.arange(len(keys) + 1)),
        patterns=np.array(rows, np.int64).reshape(-1, 5),
    )


def _numbered(owners: Sequence[tuple[int, ...] | None]) -> NDArray[np.int64]:
    """Number the members of each owner from 0; 0 for those of none."""
    counts: Counter[tuple[int, ...]] = Counter()
    numbers = []
    for owner in owners:
        numbers.append(counts[owner] if owner else 0)
        if owner:
            counts[owner] += 1
    return np.array(numbers, np.int64)


def _asked(groups: int) -> int:
    return ANY_GROUP if groups == -1 else groups


def index_endings(
    graph: tuple[NDArray[Any], ...],
    groups: NDArray[np.int64],
    targets: NDArray[np.int32],
    back: NDArray[np.int64],
    last_steps: Sequence[int],
) -> Endings:
    """Index the edges that lead to targets by a last step.

    Args:
        graph: (indptr, step, neighbour).
        groups: of all concepts. Shape: (n_nodes,)
        targets: sorted concepts. Shape: (n_targets,)
        back: each step read backwards. Shape: (n_steps,)
        last_steps: the steps that can be last.
    """
    indptr, step, neighbour = graph
    n_nodes, n_steps, n_targets, degree = indptr.size - 1, back.size, max(1, targets.size), np.diff(indptr)[targets]
    entry = np.repeat(indptr[targets] - (np.cumsum(degree) - degree), degree) + np.arange(degree.sum())
    forwards = back[step[entry]]
    kept = np.flatnonzero(np.isin(forwards, last_steps))
    # One number for source, step and target: numbers are sorted many times faster than rows.
    key = neighbour[entry[kept]].astype(np.int64) * n_steps + forwards[kept]
    key = key * n_targets + np.repeat(np.arange(targets.size), degree)[kept]
    key.sort()
    key, target = np.divmod(key, n_targets)
    source, forwards = np.divmod(key, n_steps)
    place, steps = np.full(n_nodes, -1, np.int32), np.zeros(n_nodes, np.uint64)
    place[targets] = np.arange(targets.size)
    np.bitwise_or.at(steps, source, np.left_shift(np.uint64(1), (forwards % 64).astype(np.uint64)))
    return Endings(
        place=place,
        groups=groups[targets] | ANY_GROUP,
        steps=steps,
        begin=np.concatenate(([0], np.cumsum(np.bincount(source, minlength=n_nodes)))),
        step=forwards.astype(np.uint8),
        target=target.astype(np.int32),
    )


@part
def _holds(tree: Any, pattern: int, head_groups: int, tail_groups: int) -> bool:
    """Tell whether the groups of two concepts are those of a pattern."""
    patterns = tree.patterns
    return (
        patterns[pattern, HEADS] & head_groups != 0
        and patterns[pattern, TAILS] & tail_groups != 0
        and (patterns[pattern, SAME] == 0 or head_groups & tail_groups & ~ANY_GROUP != 0)
    )


@part
def _next(tree: Any, node: int, step: int, fan: int, head_groups: int) -> Any:
    """Return the node that a step leads to, or -1: no pattern goes on so, for a head of these groups and this fan."""
    after = tree.child[node, step]
    return after if after >= 0 and fan <= tree.max_fan[after] and tree.heads[after] & head_groups != 0 else -1


@part
def _extension(graph: Any, head: int, tail: int, extends: int) -> Any:
    """Return the entry of the first edge that describes the tail and does not lead back to the head, or -1."""
    begin, end = step_bounds(graph[0], graph[1], tail, extends)
    while begin < end and graph[2][begin] == head:
        begin += 1
    return begin if begin < end else np.int64(-1)


@maker
def _add_path(rows: Any, n: int, graph: Any, tree: Any, ends: Any, node: int, entries: Any) -> Any:
    """Add a path to the rows, for each pattern that ends at a node; return (rows, their number)."""
    head, tail, head_groups, tail_groups = ends
    for pattern in range(tree.first[node], tree.first[node + 1]):
        if not _holds(tree, pattern, head_groups, tail_groups):
            continue
        extends, extension = tree.patterns[pattern, EXTENDS], np.int64(-1)
        if extends >= 0:
            extension = _extension(graph, head, tail, extends)
            if extension < 0:
                continue
        if n == rows.shape[0]:
            rows = grow(rows)
        rows[n, 0], rows[n, 4] = tree.patterns[pattern, PLACE], extension
        rows[n, 1], rows[n, 2], rows[n, 3] = entries
        n += 1
    return rows, n


@maker
def _third_steps(
    rows: Any, n: int, graph: Any, tree: Any, back: Any, ends: Any, second_node: int, first: int, run: Any
) -> Any:
    """Add the paths of three steps whose second step is among some entries of one step of a concept.

    Args:
        second_node: the node of the tree after two steps.
        first: entry of the first step.
        run: begin and end of the entries of the second step.
    """
    indptr, step, neighbour = graph
    head, tail = ends[0], ends[1]
    begin, end = indptr[tail], indptr[tail + 1]
    while begin < end:
        low, begin = begin, run_end(step, begin, end)
        forwards = back[step[low]]
        third_node = _next(tree, second_node, forwards, 0, ends[2])
        if third_node < 0:
            continue
        # Both are sorted: each jumps to where the other stands.
        edge = run[0]
        while edge < run[1] and low < begin:
            y: Any = np.int64(neighbour[edge])
            low = not_below(neighbour, low, begin, y)
            if low < begin and neighbour[low] == y:
                wide = step_bounds(indptr, step, y, forwards)
                if y != head and wide[1] - wide[0] <= tree.max_fan[third_node]:
                    last: Any = position(neighbour, wide[0], wide[1], tail)
                    rows, n = _add_path(rows, n, graph, tree, ends, third_node, (np.int64(first), np.int64(edge), last))
                edge += 1
            elif low < begin:
                edge = not_below(neighbour, edge, run[1], neighbour[low])
    return rows, n


@kernel
def find_paths(graph: Any, groups: Any, back: Any, tree: Any, head: int, tail: int) -> Any:
    """Find every path of every pattern from one concept to another.

    Args:
        graph: (indptr, step, neighbour).
        groups: of all concepts. Shape: (n_nodes,)
        back: each step read backwards. Shape: (n_steps,)
        tree: the patterns.
        head, tail: where paths begin and end.

    Returns:
        Rows (place of the pattern, entries of its one to three edges, entry of its extension), -1 where there is none;
        those of a pattern by the concepts in between. Shape: (n, 5)
    """
    indptr, step, neighbour = graph
    rows, n, none = np.empty((16, 5), np.int64), 0, np.int64(-1)
    ends = (np.int64(head), np.int64(tail), groups[head] | ANY_GROUP, groups[tail] | ANY_GROUP)
    begin, end = indptr[head], indptr[head + 1] if head != tail else indptr[head]
    while begin < end:
        low, begin = begin, run_end(step, begin, end)
        for root in range(tree.roots[0]):
            first_node = _next(tree, root, step[low], begin - low, ends[2])
            if first_node < 0:
                continue
            direct: Any = position(neighbour, low, begin, tail)
            if direct >= 0:
                rows, n = _add_path(rows, n, graph, tree, ends, first_node, (direct, none, none))
            for first in range(low if tree.follows[first_node] else begin, begin):
                x = neighbour[first]
                second, after = indptr[x], indptr[x + 1] if x != tail else indptr[x]
                while second < after:
                    near, second = second, run_end(step, second, after)
                    second_node = _next(tree, first_node, step[near], second - near, ends[2])
                    if second_node < 0:
                        continue
                    middle: Any = position(neighbour, near, second, tail)
                    if middle >= 0:
                        rows, n = _add_path(rows, n, graph, tree, ends, second_node, (np.int64(first), middle, none))
                    if tree.follows[second_node]:
                        rows, n = _third_steps(rows, n, graph, tree, back, ends, second_node, first, (near, second))
    return rows[:n]


class SearchRoom(NamedTuple):
    """What a search knows of one first step; it is left empty.

    Attributes:
        state: two bits for each second step by which a concept was reached: through one concept, through several.
            Shape: (n_nodes,)
        reached: concepts whose state is not 0. Shape: (n_nodes,)
        seen: whether a target was found for a node of the tree below the first step. Shape: (n_local, n_targets)
        hits: what was found: node of the tree << 32 | place of the target. Shape: (n_targets + seen.size,)
    """

    state: NDArray[np.uint64]
    reached: NDArray[np.int32]
    seen: NDArray[np.uint8]
    hits: NDArray[np.int64]

    @classmethod
    def of(cls, n_nodes: int, n_targets: int, tree: PatternTree) -> SearchRoom:
        """Make room; what is never written takes no memory."""
        seen = np.zeros((int(tree.local.max(initial=0)) + 1, n_targets), np.uint8)
        return cls(
            np.zeros(n_nodes, np.uint64), np.empty(n_nodes, np.int32), seen, np.empty(n_targets + seen.size, np.int64)
        )


@part
def _second_steps(graph: Any, tree: Any, endings: Any, room: Any, walk: Any, run: Any, n: Any) -> None:
    """Take the second step from a concept, and the third one from what it leads to.

    Args:
        walk: the head, the concept after one step, the node of the tree after two.
        run: begin and end of the entries of the second step.
        n: hits, concepts reached.
    """
    neighbour, place, steps, groups, state, seen = (
        graph[2], endings.place, endings.steps, endings.groups, room.state, room.seen,
    )  # fmt: skip
    head, x, second_node = walk
    tails, follows, row = tree.tails[second_node], tree.follows[second_node], tree.local[second_node]
    once = np.uint64(1) << np.uint64(2 * tree.sibling[second_node])
    several = once << np.uint64(1)
    for entry in range(run[0], run[1]):
        y = neighbour[entry]
        if y == head:
            continue
        target = place[y]
        if target >= 0 and seen[row, target] == 0 and tails & groups[target] != 0:
            seen[row, target] = 1
            room.hits[n[0]] = np.int64(second_node) << 32 | target
            n[0] += 1
        known = state[y]
        if steps[y] & follows == 0 or known & several != 0:
            continue
        if known == 0:
            room.reached[n[1]] = y
            n[1] += 1
        # A walk through x cannot end in x; another walk to y may, and the second one leaves nothing out.
        state[y] = known | (several if known & once != 0 else once)
        _last_steps(
            graph, tree, endings, room, (y, second_node), (place[head], place[x] if known & once == 0 else -1), n
        )


@part
def _last_steps(graph: Any, tree: Any, endings: Any, room: Any, walk: Any, passed: Any, n: Any) -> None:
    """Take the third step from a concept.

    Args:
        walk: the concept after two steps, and the node of the tree.
        passed: places among the targets of the concepts that the walk has passed, or -1.
        n: hits, concepts reached.
    """
    child, step_of, target_of, groups, seen = tree.child, endings.step, endings.target, endings.groups, room.seen
    y, second_node = walk
    begin, end = endings.begin[y], endings.begin[y + 1]
    while begin < end:
        low, begin = begin, run_end(step_of, begin, end)
        third_node = child[second_node, step_of[low]]
        if third_node < 0:
            continue
        if tree.max_fan[third_node] < ANY_FAN:
            wide = step_bounds(graph[0], graph[1], y, step_of[low])
            if wide[1] - wide[0] > tree.max_fan[third_node]:
                continue
        tails, row = tree.tails[third_node], tree.local[third_node]
        for i in range(low, begin):
            target = target_of[i]
            if seen[row, target] == 0 and target != passed[0] and target != passed[1] and tails & groups[target] != 0:
                seen[row, target] = 1
                room.hits[n[0]] = np.int64(third_node) << 32 | target
                n[0] += 1


@part
def _first_steps(graph: Any, tree: Any, endings: Any, room: Any, walk: Any, head_groups: int, run: Any, n: Any) -> None:
    """Take a first step and what follows.

    Args:
        walk: the head, and the node of the tree after one step.
        head_groups: of the head.
        run: begin and end of the entries of the first step.
        n: hits, concepts reached.
    """
    indptr, step, neighbour = graph
    head, first_node = walk
    for first in range(run[0], run[1]):
        x: Any = np.int64(neighbour[first])
        if endings.place[x] >= 0 and tree.tails[first_node] & endings.groups[endings.place[x]] != 0:
            room.hits[n[0]] = np.int64(first_node) << 32 | endings.place[x]
            n[0] += 1
        begin, end = indptr[x], indptr[x + 1] if tree.follows[first_node] else indptr[x]
        while begin < end:
            low, begin = begin, run_end(step, begin, end)
            second_node = _next(tree, first_node, step[low], begin - low, head_groups)
            if second_node >= 0:
                _second_steps(graph, tree, endings, room, (head, x, second_node), (low, begin), n)


@part
def _forget(tree: Any, room: Any, n: Any) -> None:
    """Clear what one first step left."""
    for i in range(n[0]):
        room.seen[tree.local[room.hits[i] >> 32], room.hits[i] & 0xFFFFFFFF] = 0
    for i in range(n[1]):
        room.state[room.reached[i]] = 0
    n[0] = n[1] = 0


@kernel
def find_targets(graph: Any, groups: Any, tree: Any, endings: Any, room: Any, heads: Any, targets: Any) -> Any:
    """Find which targets paths lead to from some heads, one head after another.

    A target is found once for each node of the tree, however many paths lead to it.

    Args:
        graph: (indptr, step, neighbour).
        groups: of all concepts. Shape: (n_nodes,)
        tree: the patterns.
        endings: the edges that end in targets.
        room: to work in.
        heads: where paths begin. Shape: (n_heads,)
        targets: takes what is found, and grows. Shape: (n, 1)

    Returns:
        (targets, each node of the tree << 32 | place of the target; where those of each head begin, shape
        (n_heads + 1,)).
    """
    indptr, step, _ = graph
    begins, n = np.zeros(heads.size + 1, np.int64), np.zeros(2, np.int64)
    for i in range(heads.size):
        head: Any = np.int64(heads[i])
        head_groups, begin, end, to = groups[head] | ANY_GROUP, indptr[head], indptr[head + 1], begins[i]
        while begin < end:
            low, begin = begin, run_end(step, begin, end)
            for root in range(tree.roots[0]):
                first_node = _next(tree, root, step[low], begin - low, head_groups)
                if first_node < 0:
                    continue
                _first_steps(graph, tree, endings, room, (head, first_node), head_groups, (low, begin), n)
                while to + n[0] > targets.shape[0]:
                    targets = grow(targets)
                for hit in range(n[0]):
                    targets[to + hit, 0] = room.hits[hit]
                to += n[0]
                _forget(tree, room, n)
        begins[i + 1] = to
    return targets, begins
