"""The edges that end in some targets, by the concept from which they lead there: the last step of the search for facts.

All that a search reads of a concept is one record, so that it comes with one or two lines of memory, and may be asked
for before it is needed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from ground.compiled import kernel, maker, part
from kg.search import step_bounds

__all__ = ["TargetIndex", "class_of", "index_targets", "mark", "number_of", "prefetch"]

HEADER = 2
"""Words of a bundle's header."""


class TargetIndex(NamedTuple):
    """The edges that end in a target, by the concept from which they lead there (a source).

    Attributes:
        bits: 1 for sources. Shape: (ceil(n_nodes / 64),)
        rank: how many sources stand before each word of ``bits``. Shape: (n_words,)
        sources: bits of the steps by which each leads to a target, step modulo 64; where its record begins; and for
            each class of fan zero, room for the state of a search. Shape: (n_sources, 2 + n_limits + 1)
        records: of each source the number of its bundles; a header of two words for each bundle, which is its edges of
            one step to targets of the same groups: step | class of the number of all neighbours that the step leads to,
            targets or not, << 8 | number of the groups << 16, then how many edges; at last the places of the targets
            among the targets, bundle after bundle, sorted within each. Shape: (n,)
    """

    bits: NDArray[np.uint64]
    rank: NDArray[np.int32]
    sources: NDArray[np.int64]
    records: NDArray[np.uint32]


def _prefetch(typing_context: Any, array: Any, place: Any) -> Any:
    """Ask for the line of memory in which an array's element stands; ``place`` counts elements in order of memory.

    A search knows where it will read next some time before it does. Nothing is read, so no place is wrong.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        element = builder.gep(data, [context.cast(builder, arguments[1], signature.args[1], types.intp)])
        number, pointer = ir.IntType(32), builder.bitcast(element, ir.IntType(8).as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, number, number, number])
        name = "llvm.prefetch.p0"
        function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
        # For reading, to be kept close, data.
        builder.call(function, [pointer, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, place), generate


prefetch: Any = intrinsic(_prefetch)


@part
def class_of(fan: int, limits: Any) -> int:
    """Return how many limits a fan exceeds."""
    level = 0
    for limit in limits:
        level += fan > limit
    return level


@part
def _popcount(word: Any) -> Any:
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@part
def number_of(bits: Any, rank: Any, node: int) -> Any:
    """Return the place of a concept among those that are marked, or -1."""
    word = bits[node >> 6]
    bit = np.uint64(node & 63)
    if (word >> bit) & np.uint64(1) == 0:
        return -1
    return rank[node >> 6] + _popcount(word & ((np.uint64(1) << bit) - np.uint64(1)))


@maker
def _ranked(bits: Any) -> Any:
    """Return how many bits stand before each word, and at the end how many in all. Shape: (n_words + 1,)"""
    rank = np.zeros(bits.size + 1, np.int32)
    for word in range(bits.size):
        rank[word + 1] = rank[word] + _popcount(bits[word])
    return rank


@kernel
def mark(nodes: Any, n_nodes: int) -> Any:
    """Return (bits, rank) of some concepts, so that ``number_of`` gives the place of each among them, sorted."""
    bits = np.zeros((n_nodes + 63) // 64, np.uint64)
    for node in nodes:
        bits[node >> 6] |= np.uint64(1) << np.uint64(node & 63)
    return bits, _ranked(bits)


@kernel
def _by_step(graph: Any, targets: Any, codes: Any, n_codes: int, back: Any, is_last: Any) -> Any:
    """Return the edges that lead to targets by a last step, by step and groups of the target.

    Returns:
        (where those of each step and code begin, their concepts, places of their targets).
    """
    indptr, step, neighbour = graph
    bounds = np.zeros(back.size * n_codes + 1, np.int64)
    for i in range(targets.size):
        for entry in range(indptr[targets[i]], indptr[targets[i] + 1]):
            forwards = back[step[entry]]
            bounds[forwards * n_codes + codes[i] + 1] += is_last[forwards]
    for kind in range(bounds.size - 1):
        bounds[kind + 1] += bounds[kind]
    source, place = np.empty(bounds[-1], np.int32), np.empty(bounds[-1], np.int32)
    cursor = bounds.copy()
    for i in range(targets.size):
        for entry in range(indptr[targets[i]], indptr[targets[i] + 1]):
            forwards = back[step[entry]]
            if is_last[forwards]:
                at = cursor[forwards * n_codes + codes[i]]
                source[at], place[at] = neighbour[entry], i
                cursor[forwards * n_codes + codes[i]] += 1
    return bounds, source, place


@kernel
def _counted(bounds: Any, source: Any, bits: Any, rank: Any, sources: Any) -> int:
    """Count bundles and edges of each source, and lay out the records.

    Args:
        bounds, source: see ``_by_step``; concepts become numbers of sources.
        sources: zeros; where each record begins is filled in. Shape: (n_sources, n_columns)

    Returns:
        How many words the records have.
    """
    last = np.full(sources.shape[0], -1, np.int32)
    for kind in range(bounds.size - 1):
        for i in range(bounds[kind], bounds[kind + 1]):
            at = number_of(bits, rank, source[i])
            source[i] = at
            sources[at, 1] += 1 if last[at] == kind else 1 + HEADER
            last[at] = kind
    words = 0
    for at in range(sources.shape[0]):
        words, sources[at, 1] = words + sources[at, 1] + 1, words
    return words


@kernel
def _filled(graph: Any, edges: Any, n_codes: int, nodes: Any, limits: Any, sources: Any, records: Any) -> None:
    """Write the records, and the bits of the steps.

    Args:
        edges: (bounds, numbers of sources, places of targets).
        nodes: the concept of each source. Shape: (n_sources,)
        records: zeros. Shape: (n,)
    """
    indptr, step, _ = graph
    bounds, source, place = edges
    last = np.full(sources.shape[0], -1, np.int32)
    # How many bundles come first, then where the next target of the open bundle goes.
    for kind in range(bounds.size - 1):
        for i in range(bounds[kind], bounds[kind + 1]):
            at = source[i]
            records[sources[at, 1]] += last[at] != kind
            last[at] = kind
    last.fill(-1)
    header = np.zeros(sources.shape[0], np.int32)
    cursor = np.empty(sources.shape[0], np.int64)
    for at in range(sources.shape[0]):
        cursor[at] = sources[at, 1] + 1 + HEADER * records[sources[at, 1]]
    for kind in range(bounds.size - 1):
        forwards, code = kind // n_codes, kind % n_codes
        for i in range(bounds[kind], bounds[kind + 1]):
            at = source[i]
            if last[at] != kind:
                last[at] = kind
                header[at] += 1
                sources[at, 0] |= np.int64(1) << (forwards & 63)
                wide = 0
                if limits.size > 0:
                    low, high = step_bounds(indptr, step, nodes[at], forwards)
                    wide = class_of(high - low, limits)
                records[sources[at, 1] + HEADER * header[at] - 1] = forwards | wide << 8 | code << 16
            records[sources[at, 1] + HEADER * header[at]] += 1
            records[cursor[at]] = place[i]
            cursor[at] += 1


def index_targets(
    graph: tuple[NDArray[Any], ...],
    targets: NDArray[np.int32],
    codes: NDArray[np.uint16],
    back: NDArray[np.int64],
    is_last: NDArray[np.bool_],
    limits: NDArray[np.int64],
) -> TargetIndex:
    """Index the edges that lead to targets by a last step.

    Args:
        graph: (indptr, step, neighbour).
        targets: sorted concepts. Shape: (n_targets,)
        codes: the groups of each as a number. Shape: (n_targets,)
        back: each step read backwards. Shape: (n_steps,)
        is_last: whether a step is one. Shape: (n_steps,)
        limits: sorted limits of fan. Shape: (n_limits,)
    """
    n_nodes, n_codes = graph[0].size - 1, int(codes.max(initial=0)) + 1
    bounds, source, place = _by_step(graph, targets, codes, n_codes, back, is_last)
    bits, rank = mark(source, n_nodes)
    # numpy asks for large pages, which compiled code does not.
    sources = np.empty((int(rank[-1]), 2 + limits.size + 1), np.int64)
    sources.fill(0)
    records = np.empty(_counted(bounds, source, bits, rank, sources), np.uint32)
    records.fill(0)
    nodes = np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little"))
    _filled(graph, (bounds, source, place), n_codes, nodes, limits, sources, records)
    return TargetIndex(bits, rank, sources, records)
