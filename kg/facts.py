"""The facts of a cohort as Arrow tables: heads in batches, so that memory does not grow with the result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kg.arrays import GraphArrays
from kg.cohort import build_tree, find_facts, index_targets, mark, prune
from kg.numbers import VocabularyNumbers, pattern_name
from kg.predicates import TIERS
from kg.search import step_bounds

__all__ = ["FACT_SCHEMA", "FactSearch"]

HEADS_AT_ONCE = 1024

FACT_SCHEMA = pa.schema(
    [
        pa.field("head_cui", pa.string()),
        pa.field("predicate", pa.dictionary(pa.int32(), pa.string())),
        pa.field("tail_cui", pa.string()),
        pa.field("pattern", pa.dictionary(pa.int32(), pa.string())),
        pa.field("tier", pa.dictionary(pa.int32(), pa.string())),
        pa.field("hops", pa.int8()),
    ]
)
"""One row for each (head, predicate, tail) and pattern that connects them."""


@dataclass
class FactSearch:
    """The search for what some patterns say between heads and tails.

    Attributes:
        arrays: the graph.
        numbers: its vocabulary.
        tails: sorted concepts where paths may end. Shape: (n_tails,)
        chosen: numbers of the patterns.
        visited: how many edges have been followed so far.
    """

    arrays: GraphArrays
    numbers: VocabularyNumbers
    tails: NDArray[np.int32]
    chosen: Sequence[int]
    visited: int = 0

    def __post_init__(self) -> None:
        arrays, patterns = self.arrays, self.numbers.patterns
        self._graph = (np.asarray(arrays.indptr), np.asarray(arrays.step), np.asarray(arrays.neighbour))
        self._masks = np.asarray(arrays.groups)[self.tails]
        self._tail_masks = np.unique(self._masks)
        self._limits = sorted({patterns[number].max_fan for number in self.chosen} - {0})
        self._places = mark(self.tails, len(arrays.cui))
        is_last = np.zeros(self.numbers.back.size, np.bool_)
        is_last[[patterns[number].steps[-1] for number in self.chosen]] = True
        limits = np.array(self._limits, np.int64)
        self._index = index_targets(*self._graph, self.tails, self.numbers.back, is_last, limits)
        self._seen = np.zeros((len(self._limits) + 1, self._index[2].size - 1), np.uint64)
        self._memory = np.zeros((0, 0), np.uint64)
        self._trees: dict[int, tuple[NDArray[Any], ...]] = {}
        self._extensions: dict[int, NDArray[np.int64]] = {}
        self._columns = self._pattern_columns()

    def tables(self, heads: NDArray[np.int32]) -> Iterator[pa.Table]:
        """Yield the facts of some heads at a time; schema ``FACT_SCHEMA``, sorted throughout.

        Args:
            heads: sorted concepts where paths begin. Shape: (n_heads,)
        """
        for begin in range(0, heads.size, HEADS_AT_ONCE):
            some = heads[begin : begin + HEADS_AT_ONCE]
            yield self._table(some, self._found(some))

    def _found(self, heads: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return (head, number of the pattern, place of the tail). Shape: (n, 3)"""
        masks = np.asarray(self.arrays.groups)[heads]
        parts = [np.empty((0, 3), np.int32)]
        for mask in np.unique(masks):
            tree = self._tree(int(mask))
            rows, visited = find_facts(
                self._graph, heads[masks == mask], int(mask), self._places, self._masks, self._index, tree,
                self._memory, self._seen,
            )  # fmt: skip
            self.visited += int(visited)
            parts.append(rows)
        found = np.concatenate(parts)
        kept = np.ones(found.shape[0], bool)
        for number in self.chosen:
            step = self.numbers.patterns[number].extends
            if step >= 0:
                rows = np.flatnonzero(found[:, 1] == number)
                kept[rows] = self._extensible(found[rows, 0], found[rows, 2], step)
        return np.asarray(found[kept], np.int32)

    def _tree(self, head_mask: int) -> tuple[NDArray[Any], ...]:
        """Return the tree of the patterns that heads of these groups may have."""
        if head_mask not in self._trees:
            patterns = self.numbers.patterns
            kept = prune(patterns, self.chosen, head_mask, self._tail_masks)
            tree = build_tree([(n, patterns[n]) for n in kept], self._limits, self.numbers.back.size)
            self._trees[head_mask] = tree.arrays
            rows, words = int(tree.unit_local.max(initial=-1)) + 1, (self.tails.size + 63) // 64
            if rows > self._memory.shape[0]:
                self._memory = np.zeros((rows, words), np.uint64)
        return self._trees[head_mask]

    def _extensible(self, heads: NDArray[np.int32], places: NDArray[np.int32], step: int) -> NDArray[np.bool_]:
        """Tell which tails have an edge that describes them and does not lead back to the head. Shape: (n,)"""
        if step not in self._extensions:
            # The only neighbour that describes a tail; -1 where there is none, -2 where there are several.
            indptr, steps, neighbour = self._graph
            only = np.full(self.tails.size, -1, np.int64)
            for place, tail in enumerate(self.tails):
                begin, end = step_bounds(indptr, steps, tail, step)
                only[place] = -2 if end - begin > 1 else neighbour[begin] if end > begin else -1
            self._extensions[step] = only
        only = self._extensions[step][places]
        return np.asarray((only != -1) & (only != heads))

    def _pattern_columns(self) -> tuple[NDArray[np.int64], list[list[str]]]:
        """Return (predicate, rank among patterns, hops, tier, name) of each pattern as numbers, and their names."""
        lines = self.arrays.vocabulary.patterns
        predicates = sorted({line.predicate for line in lines})
        names = sorted({pattern_name(line) for line in lines})
        code = {name: n for n, name in enumerate(names)}
        rows = [(line.hops, TIERS.index(line.tier), code[pattern_name(line)]) for line in lines]
        rank = {row: n for n, row in enumerate(sorted(set(rows)))}
        place = {name: n for n, name in enumerate(predicates)}
        table = [(place[line.predicate], rank[row], *row) for line, row in zip(lines, rows, strict=True)]
        return np.array(table, np.int64).reshape(-1, 5), [predicates, list(TIERS), names]

    def _table(self, heads: NDArray[np.int32], found: NDArray[np.int32]) -> pa.Table:
        """Sort and name facts by head, predicate, tail, hops, tier and pattern."""
        columns, (predicates, tiers, names) = self._columns
        of_pattern = columns[found[:, 1]]
        # One number for all that is sorted by: some 10 bits of head, 7 of predicate, 22 of tail, 11 of pattern.
        key = np.searchsorted(heads, found[:, 0]) * np.int64(len(predicates)) + of_pattern[:, 0]
        key = (key * self.tails.size + found[:, 2]) * len(columns) + of_pattern[:, 1]
        order = np.argsort(key)
        found, of_pattern = found[order], of_pattern[order]

        def coded(column: int, values: Sequence[str]) -> pa.Array:
            codes = pa.array(of_pattern[:, column].astype(np.int32))
            return pa.DictionaryArray.from_arrays(codes, pa.array(values, pa.string()))

        return pa.table(
            [
                self._cuis(heads, np.searchsorted(heads, found[:, 0])),
                coded(0, predicates),
                self._cuis(self.tails, found[:, 2]),
                coded(4, names),
                coded(3, tiers),
                pa.array(of_pattern[:, 2].astype(np.int8)),
            ],
            schema=FACT_SCHEMA,
        )

    def _cuis(self, nodes: NDArray[np.int32], places: NDArray[Any]) -> pa.Array:
        """Return the CUIs of some places among sorted concepts."""
        distinct, inverse = np.unique(places, return_inverse=True)
        cuis = np.asarray(self.arrays.cui)[nodes[distinct]]
        return pa.array(cuis.astype(str), pa.string()).take(pa.array(inverse))
