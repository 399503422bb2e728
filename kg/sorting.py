"""Kernels that turn rows of MRREL into numbers and sort them: the evidence of each edge together, nothing twice.

A text (a CUI, a RUI) is a row of bytes that ends with zeros. A *record* is one piece of evidence of one edge. Its
*key* holds, from the highest bits down, the predicate (8 bits), the tail (31) and the rank of the evidence (16): with
the head, whose records lie together, the order of edges and of what is said for them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ground.compiled import kernel, part

__all__ = [
    "NOT_AN_EDGE",
    "count_records",
    "fill_edges",
    "fill_evidence",
    "find_texts",
    "number_texts",
    "place_records",
    "read_rows",
    "sort_records",
]

NOT_AN_EDGE = 255
"""In place of a predicate."""
BLOCK = 4096
MIX = 0x1E3779B97F4A7C15
SELF_LOOP, SUPPRESSED, UNKNOWN_CONCEPT, HEAD_GROUP, TAIL_GROUP, OTHER_GROUP = range(1, 7)


@part
def _slot(data: Any, begin: Any, end: Any) -> Any:
    """Return where to look for a text; CUIs, whose digits count up, lie in the order of their numbers."""
    number = 0
    for place in range(begin, end):
        number = number * 10 + data[place]
    return number


@kernel
def number_texts(texts: Any, slots: Any) -> None:
    """Fill a table in which the number of a text is found: its own slot, or the next free one of its walk.

    Args:
        texts: all different. Shape: (n, width)
        slots: all -1, to be filled. Shape: (a power of two above n,)
    """
    mask = slots.size - 1
    flat = texts.reshape(-1)
    width = texts.shape[1]
    for row in range(texts.shape[0]):
        end = row * width
        while end < (row + 1) * width and flat[end] != 0:
            end += 1
        number = _slot(flat, row * width, end)
        slot = number & mask
        while slots[slot] >= 0:
            slot = (slot + (((number * MIX) >> 33) | 1)) & mask
        slots[slot] = row


@kernel
def find_texts(begin: Any, data: Any, texts: Any, slots: Any, found: Any) -> None:
    """Find the number of each text, -1 where it has none.

    Each read of memory has a loop of its own over some thousand texts, so that reads do not wait for one another.

    Args:
        begin, data: texts one after another. Shapes: (n + 1,), (bytes,)
        texts, slots: the texts that have a number, and the table of ``number_texts``.
        found: to be filled. Shape: (n,)
    """
    mask, width = slots.size - 1, texts.shape[1]
    numbers = np.empty(BLOCK, np.int64)
    for first in range(0, found.size, BLOCK):
        last = min(first + BLOCK, found.size)
        for text in range(first, last):
            numbers[text - first] = _slot(data, begin[text], begin[text + 1])
        for text in range(first, last):
            found[text] = slots[numbers[text - first] & mask]
        for text in range(first, last):
            number, row = numbers[text - first], found[text]
            length = begin[text + 1] - begin[text]
            slot = number & mask
            while row >= 0:
                same = length == width or (length < width and texts[row, length] == 0)
                place = 0
                while same and place < length:
                    same = texts[row, place] == data[begin[text] + place]
                    place += 1
                if same:
                    break
                slot = (slot + (((number * MIX) >> 33) | 1)) & mask
                row = slots[slot]
            found[text] = row


@part
def _is_same(one: Any, begin: int, end: int, other: Any, other_begin: int, other_end: int) -> bool:
    """Tell whether two texts are the same; a missing one is like no other."""
    same = end > begin and end - begin == other_end - other_begin
    place = 0
    while same and place < end - begin:
        same = one[begin + place] == other[other_begin + place]
        place += 1
    return same


@part
def _reason(head: int, tail: int, is_loop: bool, suppressed: int, line: Any, groups: Any) -> int:
    """Return the number of what speaks against an edge (kg/edge_refused), 0 where nothing does."""
    if is_loop:
        return SELF_LOOP
    if suppressed:
        return SUPPRESSED
    if head < 0 or tail < 0:
        return UNKNOWN_CONCEPT
    if groups[head] & line[3] == 0:
        return HEAD_GROUP
    if groups[tail] & line[4] == 0:
        return TAIL_GROUP
    return OTHER_GROUP if groups[head] & groups[tail] & line[5] == 0 else 0


@kernel
def read_rows(
    kind: Any, suppressed: Any, one_of: Any, two_of: Any,
    begin1: Any, cui1: Any, begin2: Any, cui2: Any, begin_rui: Any, rui: Any,
    groups: Any, first_line: Any, lines: Any,
    head: Any, tail: Any, predicate: Any, kind_of: Any, forward: Any, rui_of: Any, refused: Any, at: int,
) -> int:  # fmt: skip
    """Append the edges that rows of MRREL make, and count the rows that make none.

    Args:
        kind, suppressed: of each row. Shape: (n,)
        one_of, two_of: the nodes of CUI1 and CUI2, -1 where there is none. Shape: (n,)
        begin1, cui1, begin2, cui2, begin_rui, rui: texts of each row, one after another. Shapes: (n + 1,), (bytes,)
        groups: bits of each concept's groups. Shape: (n_nodes,)
        first_line: where the lines of each kind begin. Shape: (n_kinds + 1,)
        lines: predicate, forward, symmetric, and the bits that head, tail and both must have. Shape: (n_lines, 6)
        head, tail, predicate, kind_of, forward: of each edge, to be filled. Shape: (capacity,)
        rui_of: zeros, to be filled. Shape: (capacity, width)
        refused: rows by reason and predicate, added to. Shape: (8, 256)
        at: where to begin.

    Returns:
        Where the next edge goes.
    """
    for row in range(kind.shape[0]):
        one, two = one_of[row], two_of[row]
        is_loop = one == two
        if is_loop and one < 0:
            is_loop = _is_same(cui1, begin1[row], begin1[row + 1], cui2, begin2[row], begin2[row + 1])
        for number in range(first_line[kind[row]], first_line[kind[row] + 1]):
            line = lines[number]
            # MRREL reads CUI2 RELA CUI1
            source, target = (two, one) if line[1] else (one, two)
            reason = _reason(source, target, is_loop, suppressed[row], line, groups)
            if reason:
                refused[reason, line[0]] += 1
                continue
            if line[2] and source > target:
                source, target = target, source
            head[at], tail[at], predicate[at] = source, target, line[0]
            kind_of[at], forward[at] = kind[row], line[1]
            begin = begin_rui[row]
            for place in range(begin_rui[row + 1] - begin):
                rui_of[at, place] = rui[begin + place]
            at += 1
    return at


@kernel
def count_records(
    head: Any, tail: Any, predicate: Any, implied: Any, both_ways: Any, kind: Any, begin: Any, kinds: Any
) -> None:
    """Count the records of each head: edges, and those that they imply.

    Args:
        head, tail, predicate: edges; some may be ``NOT_AN_EDGE``. Shape: (n,)
        implied: the predicate that an edge implies between its ends, or ``NOT_AN_EDGE``. Shape: (n,)
        both_ways: whether a predicate implies it between tail and head too. Shape: (256,)
        kind: what states the edge. Shape: (n,)
        begin: zeros; becomes where the records of each head begin. Shape: (n_nodes + 1,)
        kinds: zeros; becomes the number of edges of each kind. Shape: (n_kinds,)
    """
    for row in range(head.shape[0]):
        if predicate[row] == NOT_AN_EDGE:
            continue
        kinds[kind[row]] += 1
        begin[head[row] + 1] += 1
        if implied[row] != NOT_AN_EDGE:
            begin[head[row] + 1] += 1
            if both_ways[predicate[row]]:
                begin[tail[row] + 1] += 1
    for node in range(begin.shape[0] - 1):
        begin[node + 1] += begin[node]


@kernel
def place_records(
    head: Any, tail: Any, predicate: Any, implied: Any, both_ways: Any,
    kind: Any, forward: Any, rank: Any, place: Any, key: Any, row_of: Any,
) -> None:  # fmt: skip
    """Put each record among those of its head.

    Args:
        head, tail, predicate, implied, both_ways: as for ``count_records``.
        kind, forward: what states the edge, and whether it reads forwards. Shape: (n,)
        rank: order of the kinds. Shape: (n_kinds,)
        place: where the records of each head begin; afterwards, where they end. Shape: (n_nodes,)
        key, row_of: to be filled: the key, and the edge that states it. Shape: (n_records,)
    """
    for row in range(head.shape[0]):
        if predicate[row] == NOT_AN_EDGE:
            continue
        evidence = np.int64(rank[kind[row]]) + (0 if forward[row] else 32768)
        to = place[head[row]]
        key[to] = (np.int64(predicate[row]) << 47) | (np.int64(tail[row]) << 16) | evidence
        row_of[to] = row
        place[head[row]] += 1
        if implied[row] == NOT_AN_EDGE:
            continue
        to = place[head[row]]
        key[to] = (np.int64(implied[row]) << 47) | (np.int64(tail[row]) << 16) | evidence
        row_of[to] = row
        place[head[row]] += 1
        if both_ways[predicate[row]]:
            to = place[tail[row]]
            key[to] = (np.int64(implied[row]) << 47) | (np.int64(head[row]) << 16) | evidence
            row_of[to] = row
            place[tail[row]] += 1


@part
def _compare(one: Any, other: Any, rui: Any, kind: Any) -> Any:
    """Compare what two rows say for one edge by RUI, a missing one last, then by kind; 0 where they are the same."""
    if (rui[one, 0] == 0) != (rui[other, 0] == 0):
        return 1 if rui[one, 0] == 0 else -1
    for place in range(rui.shape[1]):
        if rui[one, place] != rui[other, place]:
            return np.int64(rui[one, place]) - np.int64(rui[other, place])
    return np.int64(kind[one]) - np.int64(kind[other])


@kernel
def sort_records(begin: Any, key: Any, row_of: Any, rui: Any, kind: Any, sizes: Any) -> None:
    """Sort the records of each head, and move them together so that each stands there once.

    Args:
        begin: where the records of each head begin; changed where records are dropped. Shape: (n_nodes + 1,)
        key, row_of: the records. Shape: (n_records,)
        rui, kind: of the rows. Shapes: (n, width), (n,)
        sizes: becomes the number of edges, the number of records, and the length of the longest RUI. Shape: (3,)
    """
    edges = to = longest = 0
    end = begin[0]
    for node in range(begin.shape[0] - 1):
        first, end = end, begin[node + 1]
        gap = end - first
        while gap > 1:
            # Shell's sort: most concepts have few records, and hubs have hundreds of thousands.
            gap = max(gap * 5 // 11, 1)
            for place in range(first + gap, end):
                one, row = key[place], row_of[place]
                hole = place
                while hole >= first + gap:
                    above = key[hole - gap]
                    if above < one or (above == one and _compare(row_of[hole - gap], row, rui, kind) <= 0):
                        break
                    key[hole], row_of[hole] = above, row_of[hole - gap]
                    hole -= gap
                key[hole], row_of[hole] = one, row
        kept = to
        for place in range(first, end):
            one, row = key[place], row_of[place]
            if to > kept and key[to - 1] == one and _compare(row_of[to - 1], row, rui, kind) == 0:
                continue
            edges += to == kept or key[to - 1] >> 16 != one >> 16
            while longest < rui.shape[1] and rui[row, longest] != 0:
                longest += 1
            key[to], row_of[to] = one, row
            to += 1
        begin[node] = kept
    begin[begin.shape[0] - 1] = to
    sizes[0], sizes[1], sizes[2] = edges, to, longest


@kernel
def fill_edges(begin: Any, key: Any, head: Any, predicate: Any, tail: Any, evidence_begin: Any) -> None:
    """Write the edges of sorted records.

    Args:
        begin, key: as ``sort_records`` leaves them.
        head, predicate, tail: edges, to be filled. Shape: (n_edges,)
        evidence_begin: where the evidence of each edge begins, to be filled. Shape: (n_edges + 1,)
    """
    edge = -1
    for node in range(begin.shape[0] - 1):
        for place in range(begin[node], begin[node + 1]):
            if place == begin[node] or key[place] >> 16 != key[place - 1] >> 16:
                edge += 1
                head[edge], predicate[edge] = node, key[place] >> 47
                tail[edge] = (key[place] >> 16) & 0x7FFFFFFF
                evidence_begin[edge] = place
    evidence_begin[edge + 1] = begin[begin.shape[0] - 1]


@kernel
def fill_evidence(
    row_of: Any, rui: Any, kind: Any, rela_of_kind: Any, sab_of_kind: Any,
    kind_of: Any, rela_of: Any, sab_of: Any, rui_of: Any,
) -> None:  # fmt: skip
    """Write what each sorted record says.

    Args:
        row_of, rui, kind: as ``sort_records`` leaves them.
        rela_of_kind, sab_of_kind: numbers of each kind's texts. Shape: (n_kinds,)
        kind_of, rela_of, sab_of: of each piece of evidence, to be filled. Shape: (n_records,)
        rui_of: the same. Shape: (n_records, length of the longest)
    """
    for place in range(row_of.shape[0]):
        row = row_of[place]
        kind_of[place] = kind[row]
        rela_of[place], sab_of[place] = rela_of_kind[kind[row]], sab_of_kind[kind[row]]
        for letter in range(rui_of.shape[1]):
            rui_of[place, letter] = rui[row, letter]
