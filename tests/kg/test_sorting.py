"""Numbers in place of texts, and evidence in order, equal what plain Python makes of the same rows."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kg.edges import EdgeRows, sort_edges
from kg.predicates import read_vocabulary
from kg.sorting import NOT_AN_EDGE, find_texts, number_texts


def _laid_out(texts: list[bytes]) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    begin = np.cumsum([0, *map(len, texts)]).astype(np.int32)
    begin.flags.writeable = False  # as Arrow's: the kernel is compiled once for both
    return begin, np.frombuffer(b"".join(texts), np.uint8)


def test_a_text_is_found_among_others_that_share_its_slot() -> None:
    numbers = random.Random(0).sample(range(10_000_000), 400)
    texts = sorted({b"C1", b"C01", b"X9", *(b"C%07d" % number for number in numbers)})
    known, unknown = texts[::2], texts[1::2]
    rows = np.zeros((len(known), 8), np.uint8)
    for row, text in zip(rows, known, strict=True):
        row[: len(text)] = list(text)
    slots = np.full(512, -1, np.int32)
    number_texts(rows, slots)
    asked = [*known, *unknown, b"", known[0] + b"0"]
    found = np.empty(len(asked), np.int32)
    find_texts(*_laid_out(asked), rows, slots, found)
    assert found.tolist() == [*range(len(known)), *[-1] * (len(unknown) + 2)]


def _rows(n: int, n_nodes: int) -> EdgeRows:
    """Return rows of few concepts, a hub among them, many of them the same."""
    make = np.random.default_rng(1)
    head = np.where(make.random(n) < 0.5, 0, make.integers(0, n_nodes, n)).astype(np.int32)
    rui = np.zeros((n, 2), np.uint8)
    rui[:, 0] = make.choice([0, 65, 66], n)
    rui[:, 1] = np.where(rui[:, 0] > 0, make.choice([0, 65], n), 0)
    return EdgeRows(
        head=head,
        tail=make.integers(0, n_nodes, n).astype(np.int32),
        predicate=make.choice([0, 1, NOT_AN_EDGE], n).astype(np.uint8),
        kind=make.integers(0, 3, n).astype(np.uint16),
        forward=make.random(n) < 0.5,
        rui=rui,
        implied=np.full(n, NOT_AN_EDGE, np.uint8),
        refused=np.zeros((8, 256), np.int64),
    )


def test_evidence_is_sorted_and_stands_there_once() -> None:
    vocabulary, n_nodes = read_vocabulary(), 5
    codes = {line.predicate: code for code, line in enumerate(vocabulary.predicates)}
    rows, rank = _rows(3000, n_nodes), [1, 0, 1]
    implied = np.where(rows.predicate == 1, codes["broader"], NOT_AN_EDGE).astype(np.uint8)
    predicate = np.where(rows.predicate == 1, codes["synonym_of"], rows.predicate).astype(np.uint8)
    rows = replace(rows, predicate=predicate, implied=implied)
    wanted = set()
    for row in range(len(rows.head)):
        head, tail, stated, kind = (int(column[row]) for column in (rows.head, rows.tail, predicate, rows.kind))
        forward, rui = bool(rows.forward[row]), rows.rui[row].tobytes().rstrip(b"\0")
        evidence = (not forward, rank[kind], rui == b"", rui, kind)
        if stated == codes["synonym_of"]:
            wanted.add((head, codes["broader"], tail, *evidence))
            wanted.add((tail, codes["broader"], head, *evidence))
        if stated != NOT_AN_EDGE:
            wanted.add((head, stated, tail, *evidence))
    records = sort_edges(rows, vocabulary, np.array(rank, np.uint16), n_nodes)
    heads = np.repeat(np.arange(n_nodes), np.diff(records.begin))
    found = []
    for head, key, row in zip(heads.tolist(), records.key.tolist(), records.row_of.tolist(), strict=True):
        rui = rows.rui[row].tobytes().rstrip(b"\0")
        edge = (head, key >> 47, (key >> 16) & 0x7FFFFFFF)
        found.append((*edge, bool(key & 32768), key & 32767, rui == b"", rui, int(rows.kind[row])))
    assert found == sorted(wanted)
    assert records.edges == len({line[:3] for line in wanted})
