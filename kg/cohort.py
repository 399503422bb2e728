"""Everything that the patterns say between some heads and some targets at once, each edge visited once per state.

The search goes forwards from one head after another, two steps at most; the last step is looked up in an index of the
targets' own edges, so that it visits only edges that end in a target. Patterns share their first steps in a tree, and a
concept is passed on once for each place of the tree, however many walks lead to it. A walk counts as a path when its
concepts are all different. Time grows with the edges visited; memory with the edges beside the targets (some 15 bytes
each while the index is made, 6 after) and with what a batch of heads finds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kg.numbers import NumberedPattern
from kg.search import grow, run_end, step_bounds
from ontoground.errors import InputError

__all__ = [
    "PatternTree",
    "TargetIndex",
    "build_tree",
    "find_facts",
    "index_targets",
    "mark",
    "number_of",
    "prune",
    "unpack",
]

DIGIT_BITS = 11
DIGIT = (1 << DIGIT_BITS) - 1
SHORT = 64
"""So few keys are sorted by insertion."""

MAX_CHILDREN = 32
"""A state of a reached concept is two bits (seen, done) for each place of the tree below a first step."""


@dataclass(frozen=True)
class PatternTree:
    """Walks that share their first steps as one tree; node 0 is the head of all.

    Attributes:
        child: the node that a step leads to, or -1. Shape: (n_nodes, n_steps)
        limits: the limits of fan that occur, sorted. The class of a fan is how many it exceeds.
            Shape: (n_limits,)
        follows: bits of the steps that end a walk next, step modulo 64. Shape: (n_nodes,)
        widest, narrowest: the largest and the smallest class that a pattern at or below the node allows.
            Shape: (n_nodes,)
        local: number of a node of one or two steps among its siblings, if a walk of three steps passes it; or -1.
            Shape: (n_nodes,)
        first_unit: where the units of a node begin in ``unit_class``. Shape: (n_nodes + 1,)
        unit_class: the class up to which a unit, one limit at one node, allows a walk. Shape: (n_units,)
        unit_local: number of a unit among those below the same first step. Shape: (n_units,)
        first_end: where the patterns of a unit begin in ``ends``. Shape: (n_units + 1,)
        ends: key of the pattern, mask of the tail's groups, whether the ends must share one, by how many bits the
            place of a target is shifted in the key. Shape: (n_ends, 4)
    """

    child: NDArray[np.int16]
    limits: NDArray[np.int64]
    follows: NDArray[np.uint64]
    widest: NDArray[np.int64]
    narrowest: NDArray[np.int64]
    local: NDArray[np.int64]
    first_unit: NDArray[np.int64]
    unit_class: NDArray[np.int64]
    unit_local: NDArray[np.int64]
    first_end: NDArray[np.int64]
    ends: NDArray[np.int64]

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """What the kernel takes, in its order."""
        return (
            self.child, self.limits, self.follows, self.widest, self.narrowest, self.local,
            self.first_unit, self.unit_class, self.unit_local, self.first_end, self.ends,
        )  # fmt: skip


def prune(
    patterns: Sequence[NumberedPattern], chosen: Sequence[int], head_mask: int, tail_masks: NDArray[np.int64]
) -> list[int]:
    """Return the patterns that may begin at a head of these groups and end at a target of any of the given groups."""
    kept = []
    for number in chosen:
        pattern = patterns[number]
        ends = tail_masks if pattern.tails == -1 else tail_masks[(tail_masks & pattern.tails) != 0]
        if pattern.same:
            ends = ends[(ends & head_mask) != 0]
        if ends.size and (pattern.heads == -1 or pattern.heads & head_mask):
            kept.append(number)
    return kept


def build_tree(
    patterns: Sequence[tuple[int, NumberedPattern]], limits: Sequence[int], n_steps: int, shift: int
) -> PatternTree:
    """Build the tree of some patterns.

    Args:
        patterns: each with its key.
        limits: all limits of fan that the index knows, sorted.
        n_steps: number of steps of the vocabulary.
        shift: by how many bits the place of a target is shifted in a key.

    Raises:
        InputError: more steps follow upon one first step than a state has bits for.
    """
    ends: dict[tuple[tuple[int, ...], int], list[list[int]]] = {}
    for code, pattern in patterns:
        level = len(limits) if pattern.max_fan == 0 else list(limits).index(pattern.max_fan)
        ends.setdefault((pattern.steps, level), []).append([code, pattern.tails, int(pattern.same), shift])
    keys = sorted({steps[:length] for steps, _ in ends for length in range(len(steps) + 1)} | {()})
    place = {key: i for i, key in enumerate(keys)}
    child = np.full((len(keys), n_steps), -1, np.int16)
    for key in keys[1:]:
        child[place[key[:-1]], key[-1]] = place[key]
    widest, narrowest = np.full(len(keys), -1), np.full(len(keys), len(limits))
    for steps, level in ends:
        nodes = [place[steps[:length]] for length in range(len(steps) + 1)]
        widest[nodes] = np.maximum(widest[nodes], level)
        narrowest[nodes] = np.minimum(narrowest[nodes], level)
    follows = np.zeros(len(keys), np.uint64)
    for steps, _ in ends:
        follows[place[steps[:-1]]] |= np.uint64(1 << steps[-1] % 64)
    units = sorted(ends, key=lambda unit: (place[unit[0]], unit[1]))
    rows = [row for unit in units for row in ends[unit]]
    leads_on = {key for key in keys if len(key) == 2 and (child[place[key]] >= 0).any()}
    begins = {key[:1] for key in leads_on}
    local = _numbered([key[:-1] if key in leads_on or key in begins else None for key in keys])
    if local.max(initial=-1, where=np.array([len(steps) == 2 for steps in keys])) >= MAX_CHILDREN:
        raise InputError(
            "too many patterns of three steps begin alike",
            found=str(local.max() + 1),
            expected=f"{MAX_CHILDREN} second steps",
        )
    return PatternTree(
        child=child,
        limits=np.array(limits, np.int64),
        follows=follows,
        widest=widest,
        narrowest=narrowest,
        local=local,
        first_unit=np.searchsorted([place[steps] for steps, _ in units], np.arange(len(keys) + 1)),
        unit_class=np.array([level for _, level in units], np.int64),
        unit_local=_numbered([steps[:1] if len(steps) > 1 else () for steps, _ in units]),
        first_end=np.cumsum([0, *(len(ends[unit]) for unit in units)]),
        ends=np.array(rows, np.int64).reshape(-1, 4),
    )


def _numbered(owners: Sequence[tuple[int, ...] | None]) -> NDArray[np.int64]:
    """Number the members of each owner from 0; -1 for those of none."""
    counts: dict[tuple[int, ...], int] = {}
    numbers = []
    for owner in owners:
        if owner is not None:
            counts[owner] = counts.get(owner, -1) + 1
        numbers.append(-1 if owner is None else counts[owner])
    return np.array(numbers, np.int64)


class TargetIndex(NamedTuple):
    """The edges that end in a target, by the concept from which they lead there.

    Attributes:
        bits: 1 for concepts that have such an edge. Shape: (ceil(n_nodes / 64),)
        rank: how many of those stand before each word of ``bits``. Shape: (n_words,)
        leads: bits of the steps by which each of them leads to a target, step modulo 64. Shape: (n_sources,)
        first: where the bundles of each of them begin; a bundle is its edges of one step. Shape: (n_sources + 1,)
        step: step of a bundle. Shape: (n_bundles,)
        wide: class of the number of all neighbours that the step leads to, targets or not. Shape: (n_bundles,)
        begin: where the edges of a bundle begin. Shape: (n_bundles + 1,)
        target: place of the target among the targets, sorted within a bundle. Shape: (n,)
    """

    bits: NDArray[np.uint64]
    rank: NDArray[np.int32]
    leads: NDArray[np.uint64]
    first: NDArray[np.int64]
    step: NDArray[np.uint8]
    wide: NDArray[np.uint8]
    begin: NDArray[np.int64]
    target: NDArray[np.int32]


@njit(cache=True)
def _class_of(fan: int, limits: Any) -> int:
    """Return how many limits a fan exceeds."""
    level = 0
    for limit in limits:
        level += fan > limit
    return level


@njit(cache=True)
def _popcount(word: Any) -> Any:
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True)
def number_of(bits: Any, rank: Any, node: int) -> Any:
    """Return the place of a concept among those that are marked, or -1."""
    word = bits[node >> 6]
    bit = np.uint64(node & 63)
    if (word >> bit) & np.uint64(1) == 0:
        return -1
    return rank[node >> 6] + _popcount(word & ((np.uint64(1) << bit) - np.uint64(1)))


@njit(cache=True)
def mark(nodes: Any, n_nodes: int) -> Any:
    """Return (bits, rank) of sorted concepts, so that ``number_of`` gives the place of each among them."""
    bits, rank = np.zeros((n_nodes + 63) // 64, np.uint64), np.zeros((n_nodes + 63) // 64, np.int32)
    for node in nodes:
        bits[node >> 6] |= np.uint64(1) << np.uint64(node & 63)
    before = 0
    for word in range(bits.size):
        rank[word] = before
        before += _popcount(bits[word])
    return bits, rank


@njit(cache=True)
def _by_step(indptr: Any, step: Any, neighbour: Any, targets: Any, back: Any, is_last: Any) -> Any:
    """Return (bounds of each step, concepts, places of targets) of the edges that lead to targets by a last step."""
    bounds = np.zeros(back.size + 1, np.int64)
    for target in targets:
        for entry in range(indptr[target], indptr[target + 1]):
            bounds[back[step[entry]] + 1] += is_last[back[step[entry]]]
    for forwards in range(back.size):
        bounds[forwards + 1] += bounds[forwards]
    source, place = np.empty(bounds[-1], np.int32), np.empty(bounds[-1], np.int32)
    cursor = bounds.copy()
    for i in range(targets.size):
        for entry in range(indptr[targets[i]], indptr[targets[i] + 1]):
            forwards = back[step[entry]]
            if is_last[forwards]:
                source[cursor[forwards]], place[cursor[forwards]] = neighbour[entry], i
                cursor[forwards] += 1
    return bounds, source, place


@njit(cache=True)
def index_targets(indptr: Any, step: Any, neighbour: Any, targets: Any, back: Any, is_last: Any, limits: Any) -> Any:
    """Index the edges that lead to targets by a last step.

    Args:
        indptr, step, neighbour: the graph.
        targets: sorted concepts. Shape: (n_targets,)
        back: each step read backwards. Shape: (n_steps,)
        is_last: whether a step is one. Shape: (n_steps,)
        limits: sorted limits of fan. Shape: (n_limits,)

    Returns:
        What ``TargetIndex`` holds.
    """
    bounds, source, place = _by_step(indptr, step, neighbour, targets, back, is_last)
    count, last = np.zeros(indptr.size - 1, np.int32), np.full(indptr.size - 1, -1, np.int16)
    bundles = np.zeros(indptr.size - 1, np.uint8)
    for forwards in range(back.size):
        for i in range(bounds[forwards], bounds[forwards + 1]):
            node = source[i]
            count[node] += 1
            bundles[node] += last[node] != forwards
            last[node] = forwards
    sources = np.flatnonzero(count)
    bits, rank = mark(sources, indptr.size - 1)
    first, cursor = np.zeros(sources.size + 1, np.int64), np.zeros(sources.size + 1, np.int64)
    for i in range(sources.size):
        first[i + 1] = first[i] + bundles[sources[i]]
        cursor[i + 1] = cursor[i] + count[sources[i]]
    steps, wide, begin = (
        np.empty(first[-1], np.uint8), np.zeros(first[-1], np.uint8), np.zeros(first[-1] + 1, np.int64)
    )  # fmt: skip
    begin[-1] = source.size
    target = np.empty(source.size, np.int32)
    opened, leads = first.copy(), np.zeros(sources.size, np.uint64)
    last.fill(-1)
    for forwards in range(back.size):
        for i in range(bounds[forwards], bounds[forwards + 1]):
            node = source[i]
            at = number_of(bits, rank, node)
            if last[node] != forwards:
                last[node] = forwards
                steps[opened[at]], begin[opened[at]] = forwards, cursor[at]
                leads[at] |= np.uint64(1) << np.uint64(forwards & 63)
                if limits.size > 0:
                    low, high = step_bounds(indptr, step, node, forwards)
                    wide[opened[at]] = _class_of(high - low, limits)
                opened[at] += 1
            target[cursor[at]] = place[i]
            cursor[at] += 1
    return bits, rank, leads, first, steps, wide, begin, target


@njit(cache=True)
def _second(  # noqa: PLR0912 - one loop over numbers: a call for each edge would cost more than the edge
    graph: Any,
    head: int,
    first: Any,
    one: int,
    level: int,
    index: Any,
    places: Any,
    tree: Any,
    seen: Any,
    out: Any,
    n: Any,
) -> Any:
    """Take the first and the second step of a head, and list what is reached that the index knows.

    Args:
        first: begin and end of the head's entries of the first step.
        one, level: the place in the tree that the step leads to, and the class of its fan.
        out: (visits, touched): rows (number in the index, place in the tree, class of the walk, place among the targets
            of the concept in between or -1), and what was set in ``seen``.
        n: edges visited, keys, visits, touched.
    """
    indptr, step, neighbour = graph
    bits, rank, leads = index[0], index[1], index[2]
    child, limits, follows, widest, narrowest, local = tree[:6]
    visits, touched = out
    for entry in range(first[0], first[1]):
        x = neighbour[entry]
        if x == head:
            continue
        at = number_of(bits, rank, x)
        if at >= 0 and leads[at] & follows[one] != 0:
            if n[2] == visits.shape[0]:
                visits = grow(visits)
            visits[n[2], 0], visits[n[2], 1], visits[n[2], 2], visits[n[2], 3] = at, one, level, -1
            n[2] += 1
        if local[one] < 0:
            continue
        place = number_of(places[0], places[1], x)
        begin, end = indptr[x], indptr[x + 1]
        while begin < end:
            after = run_end(step, begin, end)
            two, low, begin = child[one, step[begin]], begin, after
            deeper = max(level, _class_of(after - low, limits))
            if two < 0 or local[two] < 0 or deeper > widest[two]:
                continue
            # Where all that follows allows the walk, its class does not matter.
            kept = 0 if deeper <= narrowest[two] else deeper
            once = np.uint64(1) << np.uint64(2 * local[two])
            done = once << np.uint64(1)
            n[0] += after - low
            for x_entry in range(low, after):
                y = neighbour[x_entry]
                at = number_of(bits, rank, y)
                if at < 0 or y == head or leads[at] & follows[two] == 0:
                    continue
                state = seen[kept, at]
                if state & done != 0:
                    continue
                if state == 0:
                    if n[3] == touched.shape[0]:
                        touched = grow(touched)
                    touched[n[3], 0], touched[n[3], 1] = kept, at
                    n[3] += 1
                # A walk through x cannot end in x; another walk to y may, and the second one leaves nothing out.
                seen[kept, at] = state | (done if place < 0 or state & once != 0 else once)
                if n[2] == visits.shape[0]:
                    visits = grow(visits)
                visits[n[2], 0], visits[n[2], 1], visits[n[2], 2], visits[n[2], 3] = at, two, deeper, place
                n[2] += 1
    for i in range(n[3]):
        seen[touched[i, 0], touched[i, 1]] = 0
    n[3] = 0
    return visits, touched


@njit(cache=True)
def _last(  # noqa: PLR0912 - as above
    visits: Any,
    own: int,
    head_mask: int,
    index: Any,
    tail_masks: Any,
    tree: Any,
    memory: Any,
    out: Any,
    n: Any,
) -> Any:
    """Follow the indexed edges of what was reached to targets, and keep what is new.

    Args:
        visits: see ``_second``.
        own: the head's place among the targets, or -1.
        memory: bits of what was found by (unit, target). Shape: (n_units, n_words)
        out: (keys, words): what was found, and which words of ``memory`` are not zero.
        n: edges visited, keys, visits.
    """
    _, _, _, first, steps, wide, begin, target = index
    codes, masks = tail_masks
    child, follows, first_unit, unit_class, unit_local, first_end, ends = tree
    keys, words = out
    n_words = 0
    for visit in range(n[2]):
        at, node, level, between = visits[visit, 0], visits[visit, 1], visits[visit, 2], visits[visit, 3]
        wanted = follows[node]
        for bundle in range(first[at], first[at + 1]):
            # Most bundles do not end a walk, which one word tells.
            if (wanted >> np.uint64(steps[bundle] & 63)) & np.uint64(1) == 0:
                continue
            leaf = child[node, steps[bundle]]
            if leaf < 0:
                continue
            reached = max(level, wide[bundle])
            for unit in range(first_unit[leaf], first_unit[leaf + 1]):
                if reached > unit_class[unit]:
                    continue
                local, low, high = unit_local[unit], begin[bundle], begin[bundle + 1]
                first_of, after = first_end[unit], first_end[unit + 1]
                n[0] += high - low
                while n[1] + (high - low) * (after - first_of) > keys.shape[0]:
                    keys = grow(keys)
                for i in range(low, high):
                    other = target[i]
                    word, bit = other >> 6, np.uint64(1) << np.uint64(other & 63)
                    known = memory[local, word]
                    if known & bit != 0 or other in (own, between):
                        continue
                    memory[local, word] = known | bit
                    if known == 0:
                        if n_words == words.shape[0]:
                            words = grow(words)
                        words[n_words, 0], words[n_words, 1] = local, word
                        n_words += 1
                    mask = masks[codes[other]]
                    for end in range(first_of, after):
                        if (ends[end, 1] == -1 or ends[end, 1] & mask != 0) and (
                            ends[end, 2] == 0 or head_mask & mask != 0
                        ):
                            keys[n[1], 0] = ends[end, 0] | (np.int64(other) << ends[end, 3])
                            n[1] += 1
    for i in range(n_words):
        memory[words[i, 0], words[i, 1]] = 0
    n[2] = 0
    return keys, words


@njit(cache=True)
def _sort(keys: Any, spare: Any, counts: Any, begin: int, end: int, bits: int) -> None:
    """Sort keys by their lowest bits, a digit at a time, the lowest first.

    Args:
        keys: Shape: (n, 1)
        spare: room for as many as are sorted. Shape: (n, 1)
        counts: room. Shape: (2 ** DIGIT_BITS + 1,)
        begin, end: those that are sorted.
        bits: how many bits tell them apart.
    """
    n = end - begin
    if n < SHORT:
        for place in range(begin + 1, end):
            key, at = keys[place, 0], place
            while at > begin and keys[at - 1, 0] > key:
                keys[at, 0] = keys[at - 1, 0]
                at -= 1
            keys[at, 0] = key
        return
    source, to, low, high, shift, in_spare = keys, spare, begin, 0, 0, False
    while shift < bits:
        counts[:] = 0
        for i in range(n):
            counts[((source[low + i, 0] >> shift) & DIGIT) + 1] += 1
        for digit in range(DIGIT):
            counts[digit + 1] += counts[digit]
        for i in range(n):
            key = source[low + i, 0]
            digit = (key >> shift) & DIGIT
            to[high + counts[digit], 0] = key
            counts[digit] += 1
        source, to, low, high, shift = to, source, high, low, shift + DIGIT_BITS
        in_spare = not in_spare
    if in_spare:
        for i in range(n):
            keys[begin + i, 0] = spare[i, 0]


@njit(cache=True)
def find_facts(
    graph: Any,
    heads: Any,
    key_bits: int,
    head_mask: int,
    places: Any,
    tail_masks: Any,
    index: Any,
    tree: Any,
    memory: Any,
    seen: Any,
) -> Any:
    """Find every (head, pattern, target) that a path connects, for heads of the same groups.

    Args:
        graph: (indptr, step, neighbour).
        heads: where paths begin. Shape: (n_heads,)
        key_bits: how many bits a key has.
        head_mask: their groups.
        places: (bits, rank) of the targets, see ``mark``.
        tail_masks: (codes, masks): the groups of each target as a number, which fits more of them into a cache, shape
            (n_targets,); what the numbers mean, shape (n_masks,).
        index: see ``TargetIndex``.
        tree: see ``PatternTree.arrays``.
        memory: zeros, and left so. Shape: (n_units, n_words)
        seen: zeros, and left so: two bits for each place of the tree at which a concept of the index was reached with
            a walk of a class: once, with nothing more to come. Shape: (n_classes, n_sources)

    Returns:
        (what was found, each once, as pattern's key | place of the target, shape (n, 1), head after head and sorted for
        each; where each head's keys begin, shape (n_heads + 1,); how many edges were visited).
    """
    indptr, step, _ = graph
    bits, rank = index[0], index[1]
    child, limits, follows, widest, _, _, first_unit, unit_class, unit_local, first_end, ends = tree
    last = (child, follows, first_unit, unit_class, unit_local, first_end, ends)
    keys, words = np.empty((4096, 1), np.int64), np.empty((4096, 2), np.int64)
    visits, touched, n = np.empty((4096, 4), np.int64), np.empty((4096, 2), np.int64), np.zeros(4, np.int64)
    spare, counts = np.empty((4096, 1), np.int64), np.empty(DIGIT + 2, np.int64)
    begins = np.zeros(heads.size + 1, np.int64)
    for i in range(heads.size):
        head: Any = np.int64(heads[i])
        own, at = number_of(places[0], places[1], head), number_of(bits, rank, head)
        if at >= 0:
            visits[0, 0], visits[0, 1], visits[0, 2], visits[0, 3] = at, 0, 0, -1
            n[2] = 1
            keys, words = _last(visits, own, head_mask, index, tail_masks, last, memory, (keys, words), n)
        begin, end = indptr[head], indptr[head + 1]
        while begin < end:
            after = run_end(step, begin, end)
            one, low, begin = child[0, step[begin]], begin, after
            level = _class_of(after - low, limits)
            if one < 0 or level > widest[one]:
                continue
            n[0] += after - low
            out = (visits, touched)
            visits, touched = _second(graph, head, (low, after), one, level, index, places, tree, seen, out, n)
            keys, words = _last(visits, own, head_mask, index, tail_masks, last, memory, (keys, words), n)
        while spare.shape[0] < n[1] - begins[i]:
            spare = grow(spare)
        _sort(keys, spare, counts, begins[i], n[1], key_bits)
        begins[i + 1] = n[1]
    return keys[: n[1]], begins, n[0]


@njit(cache=True)
def unpack(keys: Any, begins: Any, heads: Any, offsets: Any, bits: Any, of_rank: Any, numbers: Any, hops: Any) -> None:
    """Write the facts of some heads as columns.

    Args:
        keys, begins: what ``find_facts`` returns.
        heads: places of the heads. Shape: (n_heads,)
        offsets: where the facts of each place begin in the columns. Shape: (n_places,)
        bits: bits of the pattern, and of the target's place, in a key.
        of_rank: number of the name, of the tier, and hops of each pattern. Shape: (n_ranks, 3)
        numbers: head, predicate, target, name, tier, pattern, to be filled. Shape: (6, n)
        hops: to be filled. Shape: (n,)
    """
    pattern_bits, tail_bits = bits
    for i in range(heads.size):
        to = offsets[heads[i]]
        for place in range(begins[i], begins[i + 1]):
            key = keys[place, 0]
            rank = key & ((1 << pattern_bits) - 1)
            numbers[0, to], numbers[1, to] = heads[i], key >> (pattern_bits + tail_bits)
            numbers[2, to] = (key >> pattern_bits) & ((1 << tail_bits) - 1)
            numbers[3, to], numbers[4, to], numbers[5, to] = of_rank[rank, 0], of_rank[rank, 1], rank
            hops[to] = of_rank[rank, 2]
            to += 1
