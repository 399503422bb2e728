"""Everything that the patterns say between some heads and some targets at once, each edge visited once per state.

The search goes forwards from one head after another, two steps at most; the last step is looked up in an index of the
targets' own edges (``kg.targets``), so that it visits only edges that end in a target. Patterns share their first steps
in a tree, and a concept is passed on once for each place of the tree, however many walks lead to it. A walk counts as a
path when its concepts are all different. Each part of the search lists for the next one what it is to read, so that
memory is asked for some rows before it is needed. Time grows with the edges visited; memory with the edges beside the
targets (some 30 bytes each) and with what a batch of heads finds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ground.compiled import kernel, maker, part
from ground.errors import InputError
from kg.numbers import NumberedPattern
from kg.search import grow, run_end
from kg.targets import class_of, number_of, prefetch

__all__ = ["PatternTree", "build_tree", "find_facts", "new_room", "prune", "unpack"]

SHORT, LONG = 48, 2048
"""So few keys are sorted by insertion; so many by long digits."""

ROWS = 4096
"""So much is reached before it is passed on: what fits into a cache."""

AHEAD = 12
"""So many places ahead memory is asked for. Asking takes a tenth of the time of waiting for it."""

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
        first_key: where the keys of a unit and the groups of a target begin in ``keys``.
            Shape: (n_units * n_codes + 1,)
        keys: of the patterns that hold for a unit and the groups of a target, those of a unit one after another.
            Shape: (n_keys,)
    """

    child: NDArray[np.int16]
    limits: NDArray[np.int64]
    follows: NDArray[np.int64]
    widest: NDArray[np.int64]
    narrowest: NDArray[np.int64]
    local: NDArray[np.int64]
    first_unit: NDArray[np.int64]
    unit_class: NDArray[np.int64]
    unit_local: NDArray[np.int64]
    first_key: NDArray[np.int64]
    keys: NDArray[np.int64]

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """What the kernel takes, in its order."""
        return (
            self.child, self.limits, self.follows, self.widest, self.narrowest, self.local,
            self.first_unit, self.unit_class, self.unit_local, self.first_key, self.keys,
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
    patterns: Sequence[tuple[int, NumberedPattern]],
    limits: Sequence[int],
    n_steps: int,
    head_mask: int,
    tail_masks: NDArray[np.int64],
) -> PatternTree:
    """Build the tree of some patterns.

    Args:
        patterns: each with its key.
        limits: all limits of fan that the index knows, sorted.
        n_steps: number of steps of the vocabulary.
        head_mask: the groups of the heads.
        tail_masks: what the numbers of the targets' groups mean. Shape: (n_codes,)

    Raises:
        InputError: more steps follow upon one first step than a state has bits for.
    """
    ends: dict[tuple[tuple[int, ...], int], list[list[int]]] = {}
    for code, pattern in patterns:
        level = len(limits) if pattern.max_fan == 0 else list(limits).index(pattern.max_fan)
        ends.setdefault((pattern.steps, level), []).append([code, pattern.tails, int(pattern.same)])
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
    rows = np.array([(i, *row) for i, unit in enumerate(units) for row in ends[unit]], np.int64).reshape(-1, 4)
    of_unit, first_key = _of_groups(rows, len(units), head_mask, tail_masks)
    leads_on = {key for key in keys if len(key) == 2 and (child[place[key]] >= 0).any()}
    begins = {key[:1] for key in leads_on}
    local = _numbered([key[:-1] if key in leads_on or key in begins else None for key in keys])
    if local.max(initial=-1, where=np.array([len(steps) == 2 for steps in keys])) >= MAX_CHILDREN:
        raise InputError(
            "too many patterns of three steps have the same beginning",
            found=str(local.max() + 1),
            expected=f"{MAX_CHILDREN} second steps",
        )
    return PatternTree(
        child=child,
        limits=np.array(limits, np.int64),
        follows=follows.view(np.int64),
        widest=widest,
        narrowest=narrowest,
        local=local,
        first_unit=np.searchsorted([place[steps] for steps, _ in units], np.arange(len(keys) + 1)),
        unit_class=np.array([level for _, level in units], np.int64),
        unit_local=_numbered([steps[:1] if len(steps) > 1 else () for steps, _ in units]),
        first_key=first_key,
        keys=of_unit,
    )


def _of_groups(
    rows: NDArray[np.int64], n_units: int, head_mask: int, tail_masks: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the keys of the patterns that hold for each unit and groups of a target, and where those of each begin.

    Args:
        rows: unit, key, mask of the tail's groups, whether the ends must share one. Shape: (n, 4)
    """
    masks = tail_masks[None, :]
    holds = (rows[:, 2:3] == -1) | (rows[:, 2:3] & masks != 0)
    holds &= (rows[:, 3:] == 0) | (masks & head_mask != 0)
    held, code = np.nonzero(holds)
    owner = rows[held, 0] * tail_masks.size + code
    order = np.argsort(owner, kind="stable")
    return rows[held[order], 1], np.searchsorted(owner[order], np.arange(n_units * tail_masks.size + 1))


def _numbered(owners: Sequence[tuple[int, ...] | None]) -> NDArray[np.int64]:
    """Number the members of each owner from 0; -1 for those of none."""
    counts: dict[tuple[int, ...], int] = {}
    numbers = []
    for owner in owners:
        if owner is not None:
            counts[owner] = counts.get(owner, -1) + 1
        numbers.append(-1 if owner is None else counts[owner])
    return np.array(numbers, np.int64)


@maker
def _reach(
    graph: Any, head: int, first: Any, one: int, level: int, index: Any, places: Any, tree: Any, reached: Any, n: Any
) -> Any:
    """Take the first and the second step of a head, and list what is reached that the index knows.

    Args:
        first: begin and end of the head's entries of the first step.
        one, level: the place in the tree that the step leads to, and the class of its fan.
        reached: rows (number of the source, place in the tree | class of the walk << 16, what tells its state or -1
            where it is reached only once, place among the targets of the concept in between or -1).
        n: edges visited, rows of ``reached``, ...

    Returns:
        (rows, where to go on with the first step: when ``ROWS`` are reached they are passed on first).
    """
    indptr, step, neighbour = graph
    bits, rank = index[0], index[1]
    child, limits, _, widest, narrowest, local = tree[:6]
    entry, last, rows = first[0], first[1] - 1, 0
    while entry <= last and rows < ROWS:
        x = neighbour[entry]
        entry += 1
        n[0] += 1
        if x == head:
            continue
        if rows == reached.shape[0]:
            reached = grow(reached)
        at = number_of(bits, rank, x)
        reached[rows, 0], reached[rows, 1], reached[rows, 2], reached[rows, 3] = at, one | level << 16, -1, -1
        rows += at >= 0
        if local[one] < 0:
            continue
        prefetch(indptr, neighbour[min(entry + AHEAD, last)])
        soon = indptr[neighbour[min(entry + AHEAD // 2, last)]]
        prefetch(step, soon)
        prefetch(neighbour, soon)
        place = number_of(places[0], places[1], x)
        begin, end = indptr[x], indptr[x + 1]
        while begin < end:
            after = run_end(step, begin, end)
            two, low, begin = child[one, step[begin]], begin, after
            deeper = max(level, class_of(after - low, limits))
            if two < 0 or local[two] < 0 or deeper > widest[two]:
                continue
            # Where all that follows allows the walk, its class does not matter.
            state = (0 if deeper <= narrowest[two] else deeper) << 8 | 2 * local[two]
            n[0] += after - low
            while rows + after - low > reached.shape[0]:
                reached = grow(reached)
            for x_entry in range(low, after):
                y = neighbour[x_entry]
                at = number_of(bits, rank, y)
                reached[rows, 0], reached[rows, 1] = at, two | deeper << 16
                reached[rows, 2], reached[rows, 3] = state, place
                rows += (at >= 0) & (y != head)
    n[1] = rows
    return reached, entry


@maker
def _pass_on(reached: Any, sources: Any, follows: Any, touched: Any, n: Any) -> Any:
    """Keep of what was reached what leads on to targets and is new; the number becomes the place of the record.

    Args:
        touched: sources and states that were set, to be cleared.
        n: edges visited, rows of ``reached``, of ``touched``, ...
    """
    kept, n_touched = 0, n[2]
    while n_touched + n[1] > touched.shape[0]:
        touched = grow(touched)
    for row in range(n[1]):
        prefetch(sources, sources.shape[1] * reached[min(row + AHEAD, n[1] - 1), 0])
        at, walk, state, place = reached[row, 0], reached[row, 1], reached[row, 2], reached[row, 3]
        if sources[at, 0] & follows[walk & 0xFFFF] == 0:
            continue
        if state >= 0:
            once, column = np.int64(1) << (state & 63), 2 + (state >> 8)
            known = sources[at, column]
            if known & (once << 1) != 0:
                continue
            # A walk through x cannot end in x; another walk to y may, and the second one leaves nothing out.
            sources[at, column] = known | (once << 1 if place < 0 or known & once != 0 else once)
            touched[n_touched, 0], touched[n_touched, 1] = at, column
            n_touched += known == 0
        reached[kept, 0], reached[kept, 1], reached[kept, 2] = sources[at, 1], walk, place
        kept += 1
    n[1], n[2] = kept, n_touched
    return touched


@maker
def _bundles(reached: Any, records: Any, n_codes: int, tree: Any, bundles: Any, n: Any) -> Any:
    """List the bundles that end a walk, for each unit that the walk serves.

    Args:
        reached: see ``_reach``; with places of records.
        bundles: rows (where the bundle's targets begin and end, unit, unit and groups of the targets, place of the
            concept in between).
        n: edges visited, rows of ``reached``, of ``touched``, of ``bundles``, ...
    """
    child, follows, first_unit, unit_class, first_key = tree
    rows = 0
    for row in range(n[1]):
        soon = reached[min(row + AHEAD, n[1] - 1), 0]
        prefetch(records, soon)
        at, node, level = reached[row, 0], reached[row, 1] & 0xFFFF, reached[row, 1] >> 16
        wanted = follows[node]
        high = at + 1 + 2 * np.int64(records[at])
        for header in range(at + 1, high, 2):
            kind = np.int64(records[header])
            low, high = high, high + records[header + 1]
            # Most bundles do not end a walk, which one word tells.
            if (wanted >> (kind & 63)) & 1 == 0:
                continue
            leaf = child[node, kind & 255]
            if leaf < 0:
                continue
            widest = max(level, (kind >> 8) & 255)
            for unit in range(first_unit[leaf], first_unit[leaf + 1]):
                held = unit * n_codes + (kind >> 16)
                if widest > unit_class[unit] or first_key[held] == first_key[held + 1]:
                    continue
                if rows == bundles.shape[0]:
                    bundles = grow(bundles)
                bundles[rows, 0], bundles[rows, 1], bundles[rows, 2], bundles[rows, 3] = low, high, unit, held
                bundles[rows, 4] = reached[row, 2]
                rows += 1
    n[3] = rows
    return bundles


@maker
def _last(
    bundles: Any, own: int, records: Any, held: Any, shift: int, memory: Any, found: Any, words: Any, n: Any
) -> Any:
    """Keep the targets of the bundles that are new to their units.

    Args:
        own: the head's place among the targets, or -1.
        held: where the units begin in ``memory``; keys of the patterns, see ``PatternTree``.
        memory: bits of what was found by unit and target. Shape: (n_units * n_words,)
        found: keys of what was found. Shape: (n, 1)
        words: which words of ``memory`` are not zero. Shape: (n, 1)
        n: edges visited, rows of ``reached``, of ``touched``, of ``bundles``, keys, words.
    """
    unit_row, first_key, codes = held
    to, n_words = n[4], n[5]
    for bundle in range(n[3]):
        prefetch(records, bundles[min(bundle + AHEAD, n[3] - 1), 0])
        low, high, row = bundles[bundle, 0], bundles[bundle, 1], unit_row[bundles[bundle, 2]]
        first, after, between = first_key[bundles[bundle, 3]], first_key[bundles[bundle, 3] + 1], bundles[bundle, 4]
        n[0] += high - low
        while to + (high - low) * (after - first) > found.shape[0]:
            found = grow(found)
        while n_words + high - low > words.shape[0]:
            words = grow(words)
        code = codes[first]
        for i in range(low, high):
            other = np.int64(records[i])
            word, bit = row + (other >> 6), np.int64(1) << (other & 63)
            known = memory[word]
            if known & bit != 0 or other in (own, between):
                continue
            memory[word] = known | bit
            words[n_words, 0] = word
            n_words += known == 0
            found[to, 0] = code | other << shift
            to += 1
            for more in range(first + 1, after):
                found[to, 0] = codes[more] | other << shift
                to += 1
    n[4], n[5] = to, n_words
    return found, words


@part
def _clear(sources: Any, touched: Any, memory: Any, words: Any, n: Any) -> None:
    """Forget what was reached and found by one first step."""
    for i in range(n[2]):
        sources[touched[i, 0], touched[i, 1]] = 0
    for i in range(n[5]):
        memory[words[i, 0]] = 0
    n[2] = n[5] = 0


@part
def _sort(found: Any, spare: Any, keys: Any, begin: int, n: int, counts: Any, bits: int) -> None:
    """Sort keys by their lowest bits, a digit at a time, the lowest first; the last digit takes them where they belong.

    Args:
        found: the keys, which do not stay. Shape: (at least n, 1)
        spare: room for as many. Shape: (at least n, 1)
        keys: where they go, from ``begin`` on. Shape: (at least begin + n, 1)
        n: how many they are.
        counts: room. Shape: (8, 2048)
        bits: how many bits tell them apart, at most 64.
    """
    if n < SHORT:
        for i in range(n):
            key, at = found[i, 0], begin + i
            while at > begin and keys[at - 1, 0] > key:
                keys[at, 0] = keys[at - 1, 0]
                at -= 1
            keys[at, 0] = key
        return
    digits = (bits + 10) // 11 if n > LONG else (bits + 7) // 8
    width = (bits + digits - 1) // digits
    size = 1 << width
    for digit in range(digits):
        for value in range(size):
            counts[digit, value] = 0
    for i in range(n):
        key = found[i, 0]
        for digit in range(digits):
            counts[digit, key & (size - 1)] += 1
            key >>= width
    source, to = found, spare
    for digit in range(digits):
        shift, before = digit * width, 0
        if digit == digits - 1:
            to, before = keys, begin
        for value in range(size):
            before, counts[digit, value] = before + counts[digit, value], before
        for i in range(n):
            key = source[i, 0]
            value = (key >> shift) & (size - 1)
            to[counts[digit, value], 0] = key
            counts[digit, value] += 1
        source, to = to, source


def new_room() -> tuple[NDArray[Any], ...]:
    """Return room for ``find_facts``, which grows as it is used: keys, those of one head, others, words, and so on."""
    return tuple(np.empty((4096, columns), np.int64) for columns in (1, 1, 1, 1, 4, 2, 5))


@kernel
def find_facts(
    graph: Any,
    heads: Any,
    key_bits: int,
    shift: int,
    places: Any,
    index: Any,
    tree: Any,
    memory: Any,
    room: Any,
    n_keys: int,
) -> Any:
    """Find every (head, pattern, target) that a path connects, for heads of the same groups.

    Args:
        graph: (indptr, step, neighbour).
        heads: where paths begin. Shape: (n_heads,)
        key_bits, shift: how many bits a key has, 0 where keys stay in the order in which they are found, and by how
            many the place of a target is shifted in it.
        places: (bits, rank) of the targets, see ``mark``.
        index: see ``TargetIndex``.
        tree: see ``PatternTree.arrays``.
        memory: zeros, and left so. Shape: (n_units * ceil(n_targets / 64),)
        room: see ``new_room``.
        n_keys: how many keys the room holds already, which stay.

    Returns:
        (room, whose first array holds what was found, each once, as pattern's key | place of the target, head after
        head and sorted for each, if keys have bits; where each head's keys begin, shape (n_heads + 1,); how many edges
        were visited: the entries that were read to look at their neighbour, of the adjacency in the first two steps and
        of the index in the last one, those included that lead nowhere).
    """
    indptr, step, _ = graph
    bits, rank, sources, records = index
    child, limits, follows, widest, _, _, first_unit, unit_class, unit_local, first_key, codes = tree
    unit_row, n_codes = unit_local * ((places[1][-1] + 63) >> 6), (first_key.size - 1) // max(1, unit_class.size)
    ending = (child, follows, first_unit, unit_class, first_key)
    keys, found, spare, words, reached, touched, bundles = room
    n, counts = np.zeros(6, np.int64), np.empty((8, 2048), np.int32)
    begins = np.full(heads.size + 1, n_keys, np.int64)
    for i in range(heads.size):
        head: Any = np.int64(heads[i])
        own, at = number_of(places[0], places[1], head), number_of(bits, rank, head)
        end, after = indptr[head + 1], indptr[head]
        entry, one, level = after, 0, 0
        # The head itself comes first, as what no step has reached.
        reached[0, 0], reached[0, 1], reached[0, 2], reached[0, 3] = at, 0, -1, -1
        n[1] = at >= 0
        while True:
            if n[1] > 0:
                touched = _pass_on(reached, sources, follows, touched, n)
                bundles = _bundles(reached, records, n_codes, ending, bundles, n)
                held = (unit_row, first_key, codes)
                found, words = _last(bundles, own, records, held, shift, memory, found, words, n)
                n[1] = 0
            if entry == after:
                _clear(sources, touched, memory, words, n)
                if after == end:
                    break
                after = run_end(step, entry, end)
                one, level = child[0, step[entry]], class_of(after - entry, limits)
                if one < 0 or level > widest[one]:
                    entry = after
                    continue
            reached, entry = _reach(graph, head, (entry, after), one, level, index, places, tree, reached, n)
        begins[i + 1] = begins[i] + n[4]
        while spare.shape[0] < n[4]:
            spare = grow(spare)
        while keys.shape[0] < begins[i + 1]:
            keys = grow(keys)
        if key_bits:
            _sort(found, spare, keys, begins[i], n[4], counts, key_bits)
        else:
            for j in range(n[4]):
                keys[begins[i] + j, 0] = found[j, 0]
        n[4] = 0
    return (keys, found, spare, words, reached, touched, bundles), begins, n[0]


@kernel
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
