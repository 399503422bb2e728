"""Kernels that lay out the graph's arrays: texts in rows of one width, edges in the order of an adjacency."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

__all__ = ["fill_adjacency", "fill_rows"]


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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
    for node in range(n_nodes):
        begin[node + 1] += begin[node]
    indptr[:] = begin  # every edge has each of its ends once as source and once as target
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
    begin[:] = indptr
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
