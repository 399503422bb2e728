"""Kernels that lay out the arrays: texts in rows of one width, names in order, edges in the order of an adjacency."""

from __future__ import annotations

from typing import Any

import numpy as np

from ground.compiled import kernel, part

__all__ = ["fill_adjacency", "fill_rows", "pack_rows", "sort_names"]


@kernel
def fill_rows(rows: Any, offsets: Any, data: Any) -> None:
    """Copy texts that lie one after another into rows that end with zeros.

    Args:
        rows: zeros, to be filled. Shape: (n, width)
        offsets: where each text begins in ``data``; no text is longer than a row. Shape: (n + 1,)
        data: the bytes of the texts. Shape: (size,)
    """
    for row in range(rows.shape[0]):
        begin = offsets[row]
        for place in range(offsets[row + 1] - begin):
            rows[row, place] = data[begin + place]


@kernel
def pack_rows(rows: Any, offsets: Any, data: Any) -> None:
    """Copy texts out of rows that end with zeros, one after another.

    Args:
        rows: the texts. Shape: (n, width)
        offsets: where each text begins in ``data``, to be filled. Shape: (n + 1,)
        data: to be filled. Shape: (at least the bytes of the texts,)
    """
    to = 0
    for row in range(rows.shape[0]):
        offsets[row] = to
        for place in range(rows.shape[1]):
            if rows[row, place] == 0:
                break
            data[to] = rows[row, place]
            to += 1
    offsets[rows.shape[0]] = to


@part
def _is_above(data: Any, begin: Any, one: Any, other: Any) -> Any:
    """Tell whether a text comes after another, byte by byte."""
    length, other_length = begin[one + 1] - begin[one], begin[other + 1] - begin[other]
    for place in range(min(length, other_length)):
        difference = np.int64(data[begin[one] + place]) - np.int64(data[begin[other] + place])
        if difference != 0:
            return difference > 0
    return length > other_length


@kernel
def sort_names(
    node: Any, begin: Any, data: Any, first_begin: Any, first: Any, counts: Any, kept_begin: Any, kept: Any
) -> Any:
    """Keep each name of a concept once, in alphabetical order, without its preferred name.

    Args:
        node: the concept of each name; its names are together. Shape: (n,)
        begin, data: names one after another. Shapes: (n + 1,), (bytes,)
        first_begin, first: the preferred names of all concepts, laid out alike. Shapes: (n_nodes + 1,), (bytes,)
        counts: becomes the number of names kept of each concept of these names. Shape: (n_nodes,)
        kept_begin, kept: to be filled: names kept. Shapes: (n,), (bytes,)

    Returns:
        How many names and how many bytes have been kept.
    """
    order = np.empty(node.size, np.int32)
    names = to = at = 0
    while at < node.size:
        concept, size = node[at], 0
        preferred, length = first_begin[concept], first_begin[concept + 1] - first_begin[concept]
        while at < node.size and node[at] == concept:
            same = begin[at + 1] - begin[at] == length
            place = 0
            while same and place < length:
                same = data[begin[at] + place] == first[preferred + place]
                place += 1
            if not same:
                order[size] = at
                size += 1
            at += 1
        gap = size
        while gap > 1:
            gap = max(gap * 5 // 11, 1)
            for place in range(gap, size):
                one, hole = order[place], place
                while hole >= gap and _is_above(data, begin, order[hole - gap], one):
                    order[hole] = order[hole - gap]
                    hole -= gap
                order[hole] = one
        for place in range(size):
            one = order[place]
            if place and not _is_above(data, begin, one, order[place - 1]):
                continue
            kept_begin[names] = to
            names += 1
            counts[concept] += 1
            for letter in range(begin[one], begin[one + 1]):
                kept[to] = data[letter]
                to += 1
    return names, to


@kernel
def fill_adjacency(
    head: Any, tail: Any, predicate: Any, back: Any, indptr: Any, step: Any, neighbour: Any, edge: Any
) -> None:
    """Sort edges, read in both directions, by source, step and target: three counting sorts, the last key first.

    Entry e below m is edge e read from head to tail, entry m + e the same read backwards.

    Args:
        head, tail, predicate: the edges. Shape: (m,)
        back: the step that walks each predicate backwards; 2 p walks predicate p. Shape: (n_predicates,)
        indptr: zeros, to be filled. Shape: (n_nodes + 1,)
        step, neighbour, edge: to be filled. Shape: (2 m,)
    """
    m, n_nodes = head.shape[0], indptr.shape[0] - 1
    # by target: the backward entries have theirs in head
    begin = np.zeros(n_nodes + 1, np.int64)
    for e in range(m):
        begin[tail[e] + 1] += 1
        begin[head[e] + 1] += 1
    # Every edge has each of its ends once as source and once as target. Loops: a slice takes two seconds to compile.
    for node in range(n_nodes):
        begin[node + 1] += begin[node]
        indptr[node + 1] = begin[node + 1]
    by_target = np.empty(2 * m, np.int32)
    for e in range(m):
        by_target[begin[tail[e]]] = e
        begin[tail[e]] += 1
    for e in range(m):
        by_target[begin[head[e]]] = m + e
        begin[head[e]] += 1
    # by step
    first = np.zeros(257, np.int64)
    for e in range(m):
        first[2 * predicate[e] + 1] += 1
        first[back[predicate[e]] + 1] += 1
    for number in range(256):
        first[number + 1] += first[number]
    by_step = np.empty(2 * m, np.int32)
    for place in range(2 * m):
        entry = by_target[place]
        number = 2 * predicate[entry] if entry < m else back[predicate[entry - m]]
        by_step[first[number]] = entry
        first[number] += 1
    # by source
    for node in range(n_nodes):
        begin[node] = indptr[node]
    for place in range(2 * m):
        entry = by_step[place]
        forward = entry < m
        one = entry if forward else entry - m
        source = head[one] if forward else tail[one]
        to = begin[source]
        begin[source] += 1
        step[to] = 2 * predicate[one] if forward else back[predicate[one]]
        neighbour[to] = tail[one] if forward else head[one]
        edge[to] = one
