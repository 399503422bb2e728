"""The facts of a cohort as Arrow tables: heads in batches, so that memory does not grow with the result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kg.arrays import GraphArrays
from kg.numbers import VocabularyNumbers, pattern_name
from kg.paths import ANY_GROUP, EXTENDS, HEADS, PLACE, SAME, TAILS, SearchRoom, build_tree, find_targets, index_endings
from kg.predicates import TIERS

__all__ = ["FACT_SCHEMA", "FactSearch"]

HEADS_AT_ONCE = 256
ROWS_AT_ONCE = 1 << 17
"""Fewer heads are taken at once where they have more facts, so that what is found stays in a cache until it is laid out
in columns."""

_NAME = pa.dictionary(pa.int32(), pa.string())
FACT_SCHEMA = pa.schema(
    [
        pa.field("head_cui", _NAME),
        pa.field("predicate", _NAME),
        pa.field("tail_cui", _NAME),
        pa.field("pattern", _NAME),
        pa.field("tier", _NAME),
        pa.field("hops", pa.int8()),
    ]
)
"""One row for each (head, predicate, tail) and pattern that connects them."""

Numbers = NDArray[np.int64]


@dataclass
class FactSearch:
    """The search for what some patterns say between heads and tails.

    Attributes:
        arrays: the graph.
        numbers: its vocabulary.
        tails: sorted concepts where paths may end. Shape: (n_tails,)
        chosen: numbers of the patterns.
        ordered: sort the facts of each head; without it they stay as they were found.
    """

    arrays: GraphArrays
    numbers: VocabularyNumbers
    tails: NDArray[np.int32]
    chosen: Sequence[int]
    ordered: bool = True

    def __post_init__(self) -> None:
        arrays, back = self.arrays, self.numbers.back
        patterns = [self.numbers.patterns[number] for number in self.chosen]
        self._graph = (arrays.indptr, arrays.step, arrays.neighbour)
        self._tree = build_tree(patterns, back.size)
        self._columns = np.ascontiguousarray(self._tree.patterns.T)
        last_steps = sorted({pattern.steps[-1] for pattern in patterns})
        self._endings = index_endings(self._graph, arrays.groups, self.tails, back, last_steps)
        self._room = SearchRoom.of(len(arrays.cui), self.tails.size, self._tree)
        self._hits = np.empty((4096, 1), np.int64)
        self._cuis = self._named(self.tails)
        self._number_keys()

    def _number_keys(self) -> None:
        """Give each pattern a number in the order of facts of one tail, by predicate, and by hops, tier and name."""
        lines = [self.arrays.vocabulary.patterns[number] for number in self.chosen]
        self._predicates = sorted({line.predicate for line in lines})
        self._names = sorted({pattern_name(line) for line in lines})
        self._of_pattern = np.array(
            [
                (self._predicates.index(line.predicate), line.hops, TIERS.index(line.tier), self._names.index(name))
                for line, name in zip(lines, map(pattern_name, lines), strict=True)
            ],
            np.int64,
        ).reshape(-1, 4)
        self._rank = np.empty(len(lines), np.int64)
        self._rank[np.lexsort(self._of_pattern[:, :0:-1].T)] = np.arange(len(lines))

    def tables(self, heads: NDArray[np.int32]) -> Iterator[pa.Table]:
        """Yield the facts of some heads at a time; schema ``FACT_SCHEMA``, sorted throughout if ``ordered``.

        Args:
            heads: sorted concepts where paths begin. Shape: (n_heads,)
        """
        cuis, begin, at_once = self._named(heads), 0, HEADS_AT_ONCE
        predicates, names, tiers = (pa.array(texts, pa.string()) for texts in (self._predicates, self._names, TIERS))
        while begin < heads.size:
            some = heads[begin : begin + at_once]
            head, pattern, tail = self._targets(some)
            at_once = max(1, min(HEADS_AT_ONCE, 2 * at_once, at_once * ROWS_AT_ONCE // max(1, head.size)))
            predicate, hops, tier, name = self._of_pattern[pattern].T
            columns = [
                _coded(head + begin, cuis),
                _coded(predicate, predicates),
                _coded(tail, self._cuis),
                _coded(name, names),
                _coded(tier, tiers),
                pa.array(hops.astype(np.int8)),
            ]
            begin += some.size
            yield pa.table(columns, schema=FACT_SCHEMA)

    def _named(self, nodes: NDArray[np.int32]) -> pa.Array:
        return pa.array(self.arrays.cui[nodes].tolist(), pa.binary()).cast(pa.string())

    def _targets(self, heads: NDArray[np.int32]) -> tuple[Numbers, Numbers, Numbers]:
        """Return what is found: place of the head, pattern, place of the tail. Shapes: (n,)"""
        tree, groups = self._tree, self.arrays.groups
        self._hits, begins = find_targets(self._graph, groups, tree, self._endings, self._room, heads, self._hits)
        node, tail = np.divmod(self._hits[: begins[-1], 0], 1 << 32)
        # A node stands for the patterns that end there.
        n = np.diff(tree.first)[node]
        row = np.repeat(tree.first[node] - (np.cumsum(n) - n), n) + np.arange(n.sum())
        head, tail = np.repeat(np.repeat(np.arange(heads.size), np.diff(begins)), n), np.repeat(tail, n)
        columns = self._columns
        of_head, of_tail = (groups[heads] | ANY_GROUP)[head], self._endings.groups[tail]
        kept = (columns[HEADS][row] & of_head != 0) & (columns[TAILS][row] & of_tail != 0)
        if columns[SAME].any():
            kept &= (columns[SAME][row] == 0) | (of_head & of_tail & ~ANY_GROUP != 0)
        for step in np.unique(columns[EXTENDS][columns[EXTENDS] >= 0]).tolist():
            only = self._only(step)[tail]
            kept &= (columns[EXTENDS][row] != step) | ((only != -1) & (only != heads[head]))
        head, tail, pattern = head[kept], tail[kept], columns[PLACE][row[kept]]
        if self.ordered:
            order = np.lexsort((self._rank[pattern], tail, self._of_pattern[pattern, 0], head))
            head, tail, pattern = head[order], tail[order], pattern[order]
        return head, pattern, tail

    def _only(self, step: int) -> Numbers:
        """Return the only neighbour that describes each tail; -1 where there is none, -2 where there are several."""
        indptr, steps, neighbour = self._graph
        only = np.full(self.tails.size, -1, np.int64)
        for place, tail in enumerate(self.tails):
            beside = slice(indptr[tail], indptr[tail + 1])
            begin, end = indptr[tail] + np.searchsorted(steps[beside], [step, step + 1])
            only[place] = -2 if end - begin > 1 else neighbour[begin] if end > begin else -1
        return only


def _coded(codes: Numbers, values: pa.Array) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), values, safe=False)
