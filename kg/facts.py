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
        self._seen = np.zeros((len(self._limits) + 1, self._index[2].size), np.uint64)
        self._memory = np.zeros((0, 0), np.uint64)
        self._trees: dict[int, tuple[NDArray[Any], ...]] = {}
        self._extensions: dict[int, NDArray[np.int64]] = {}
        self._cuis = pa.array(np.asarray(arrays.cui)[self.tails].astype(str), pa.string())
        self._number_keys()

    def _number_keys(self) -> None:
        """Lay out the key of a fact: head, predicate, tail, pattern, from the highest bits down, as facts are sorted.

        A pattern is numbered by hops, tier and name, which do not tell patterns of two predicates apart.
        """
        lines = self.arrays.vocabulary.patterns
        of_line = [(line.hops, TIERS.index(line.tier), pattern_name(line)) for line in lines]
        self._ranked = sorted(set(of_line))
        self._predicates = sorted({line.predicate for line in lines})
        rank, predicate = ({name: n for n, name in enumerate(names)} for names in (self._ranked, self._predicates))
        self._pattern_bits = len(self._ranked).bit_length()
        self._tail_bits = self.tails.size.bit_length()
        self._head_shift = self._pattern_bits + self._tail_bits + len(predicate).bit_length()
        self._keys = [
            predicate[line.predicate] << (self._pattern_bits + self._tail_bits) | rank[name]
            for line, name in zip(lines, of_line, strict=True)
        ]
        patterns = zip(self.numbers.patterns, of_line, strict=True)
        self._extended = [(rank[name], pattern.extends) for pattern, name in patterns if pattern.extends >= 0]

    def tables(self, heads: NDArray[np.int32]) -> Iterator[pa.Table]:
        """Yield the facts of some heads at a time; schema ``FACT_SCHEMA``, sorted throughout.

        Args:
            heads: sorted concepts where paths begin. Shape: (n_heads,)
        """
        for begin in range(0, heads.size, HEADS_AT_ONCE):
            some = heads[begin : begin + HEADS_AT_ONCE]
            yield self._table(some, self._found(some))

    def _found(self, heads: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the sorted keys of what is found. Shape: (n,)"""
        masks = np.asarray(self.arrays.groups)[heads]
        keys = np.arange(heads.size) << self._head_shift
        parts = [np.empty(0, np.int64)]
        for mask in np.unique(masks):
            tree, these = self._tree(int(mask)), masks == mask
            found, visited = find_facts(
                self._graph, heads[these], keys[these], int(mask), self._places, self._masks, self._index, tree,
                self._memory, self._seen,
            )  # fmt: skip
            self.visited += int(visited)
            parts.append(found[:, 0])
        found = np.concatenate(parts)
        found.sort()
        return self._with_extensions(heads, found)

    def _with_extensions(self, heads: NDArray[np.int32], found: NDArray[np.int64]) -> NDArray[np.int64]:
        """Drop what needs an edge that describes the tail and has none. Shape: (n,)"""
        place, dropped = self._pattern_of(found), np.zeros(found.size, bool)
        for rank, step in self._extended:
            rows = np.flatnonzero(place == rank)
            if rows.size:
                ends = heads[found[rows] >> self._head_shift], self._tail_of(found[rows])
                dropped[rows] = ~self._extensible(*ends, step)
        return found[~dropped] if dropped.any() else found

    def _pattern_of(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        return keys & ((1 << self._pattern_bits) - 1)

    def _tail_of(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        return keys >> self._pattern_bits & ((1 << self._tail_bits) - 1)

    def _tree(self, head_mask: int) -> tuple[NDArray[Any], ...]:
        """Return the tree of the patterns that heads of these groups may have."""
        if head_mask not in self._trees:
            patterns = self.numbers.patterns
            kept = prune(patterns, self.chosen, head_mask, self._tail_masks)
            lines = [(self._keys[number], patterns[number]) for number in kept]
            tree = build_tree(lines, self._limits, self.numbers.back.size, self._pattern_bits)
            self._trees[head_mask] = tree.arrays
            rows, words = int(tree.unit_local.max(initial=-1)) + 1, (self.tails.size + 63) // 64
            if rows > self._memory.shape[0]:
                self._memory = np.zeros((rows, words), np.uint64)
        return self._trees[head_mask]

    def _extensible(self, heads: NDArray[np.int32], places: NDArray[np.int64], step: int) -> NDArray[np.bool_]:
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

    def _table(self, heads: NDArray[np.int32], found: NDArray[np.int64]) -> pa.Table:
        """Name the facts of sorted keys."""
        pattern = self._pattern_of(found)
        predicate = found >> (self._pattern_bits + self._tail_bits)
        predicate &= (1 << (self._head_shift - self._pattern_bits - self._tail_bits)) - 1
        hops, tiers, names = (list(column) for column in zip(*self._ranked, strict=True))
        texts = sorted(set(names))
        name = np.array([texts.index(text) for text in names], np.int32)
        cuis = pa.array(np.asarray(self.arrays.cui)[heads].astype(str), pa.string())
        return pa.table(
            [
                cuis.take(pa.array(found >> self._head_shift)),
                _coded(predicate.astype(np.int32), self._predicates),
                self._cuis.take(pa.array(self._tail_of(found))),
                _coded(name[pattern], texts),
                _coded(np.array(tiers, np.int32)[pattern], TIERS),
                pa.array(np.array(hops, np.int8)[pattern]),
            ],
            schema=FACT_SCHEMA,
        )


def _coded(codes: NDArray[np.int32], values: Sequence[str]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(values, pa.string()))
