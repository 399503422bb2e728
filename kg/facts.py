"""The facts of a cohort as Arrow tables: heads in batches, so that memory does not grow with the result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kg.arrays import GraphArrays
from kg.cohort import build_tree, find_facts, new_room, prune, unpack
from kg.numbers import VocabularyNumbers, pattern_name
from kg.predicates import TIERS
from kg.targets import index_targets, mark

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


@dataclass
class FactSearch:
    """The search for what some patterns say between heads and tails.

    Attributes:
        arrays: the graph.
        numbers: its vocabulary.
        tails: sorted concepts where paths may end. Shape: (n_tails,)
        chosen: numbers of the patterns.
        ordered: sort the facts of each head, which takes a third of the time; without it they stay as they were found.
        visited: how many edges have been followed so far.
    """

    arrays: GraphArrays
    numbers: VocabularyNumbers
    tails: NDArray[np.int32]
    chosen: Sequence[int]
    ordered: bool = True
    visited: int = 0

    def __post_init__(self) -> None:
        arrays, patterns = self.arrays, self.numbers.patterns
        self._graph = (arrays.indptr, arrays.step, arrays.neighbour)
        self._tail_masks, codes = np.unique(arrays.groups[self.tails], return_inverse=True)
        self._limits = sorted({patterns[number].max_fan for number in self.chosen} - {0})
        self._places = mark(self.tails, len(arrays.cui))
        is_last = np.zeros(self.numbers.back.size, np.bool_)
        is_last[[patterns[number].steps[-1] for number in self.chosen]] = True
        limits = np.array(self._limits, np.int64)
        groups = codes.astype(np.uint16)
        self._index = index_targets(self._graph, self.tails, groups, self.numbers.back, is_last, limits)
        self._memory = np.zeros(0, np.int64)
        self._room = new_room()
        self._trees: dict[int, tuple[NDArray[Any], ...]] = {}
        self._extensions: dict[int, NDArray[np.int64]] = {}
        self._cuis = self._named(self.tails)
        self._number_keys()

    def _number_keys(self) -> None:
        """Lay out the key of a head's fact: predicate, tail, pattern, from the highest bits down, as facts are sorted.

        A pattern is numbered by hops, tier and name, which do not tell patterns of two predicates apart.
        """
        lines = self.arrays.vocabulary.patterns
        of_line = [(line.hops, TIERS.index(line.tier), pattern_name(line)) for line in lines]
        self._ranked = sorted(set(of_line))
        self._predicates = sorted({line.predicate for line in lines})
        rank, predicate = ({name: n for n, name in enumerate(names)} for names in (self._ranked, self._predicates))
        self._pattern_bits = len(self._ranked).bit_length()
        self._tail_bits = self.tails.size.bit_length()
        self._key_bits = self._pattern_bits + self._tail_bits + len(predicate).bit_length()
        self._keys = [
            predicate[line.predicate] << (self._pattern_bits + self._tail_bits) | rank[name]
            for line, name in zip(lines, of_line, strict=True)
        ]
        patterns = self.numbers.patterns
        self._extended = sorted(
            {
                (rank[of_line[number]], patterns[number].extends)
                for number in self.chosen
                if patterns[number].extends >= 0
            }
        )
        self._names = sorted({name for _, _, name in self._ranked})
        place = {name: number for number, name in enumerate(self._names)}
        self._of_rank = np.array([(place[name], tier, hops) for hops, tier, name in self._ranked], np.int32)

    def tables(self, heads: NDArray[np.int32]) -> Iterator[pa.Table]:
        """Yield the facts of some heads at a time; schema ``FACT_SCHEMA``, sorted throughout if ``ordered``.

        Args:
            heads: sorted concepts where paths begin. Shape: (n_heads,)
        """
        cuis, begin, at_once = self._named(heads), 0, HEADS_AT_ONCE
        predicates, names, tiers = (pa.array(texts, pa.string()) for texts in (self._predicates, self._names, TIERS))
        while begin < heads.size:
            some = heads[begin : begin + at_once]
            numbers, hops = self._found(some)
            at_once = max(1, min(HEADS_AT_ONCE, 2 * at_once, at_once * ROWS_AT_ONCE // max(1, hops.size)))
            if self._extended:
                kept = self._extensible_rows(some, numbers)
                numbers, hops = numbers[:, kept], hops[kept]
            columns = (
                _coded(numbers[0] + begin, cuis), _coded(numbers[1], predicates), _coded(numbers[2], self._cuis),
                _coded(numbers[3], names), _coded(numbers[4], tiers), pa.array(hops),
            )  # fmt: skip
            begin += some.size
            yield pa.table(columns, schema=FACT_SCHEMA)

    def _named(self, nodes: NDArray[np.int32]) -> pa.Array:
        return pa.array(self.arrays.cui[nodes].tolist(), pa.binary()).cast(pa.string())

    def _found(self, heads: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int8]]:
        """Return the columns of what is found and its hops; see ``kg.cohort.unpack``. Shape: (6, n), (n,)"""
        masks, offsets = self.arrays.groups[heads], np.zeros(heads.size + 1, np.int64)
        parts, filled = [], 0
        for mask in np.unique(masks):
            tree, these = self._tree(int(mask)), np.flatnonzero(masks == mask)
            self._room, begins, visited = find_facts(
                self._graph, heads[these], self._key_bits if self.ordered else 0, self._pattern_bits, self._places,
                self._index, tree, self._memory, self._room, filled,
            )  # fmt: skip
            self.visited += int(visited)
            offsets[these + 1], filled = np.diff(begins), int(begins[-1])
            parts.append((begins, these))
        np.cumsum(offsets, out=offsets)
        numbers, hops = np.empty((6, offsets[-1]), np.int32), np.empty(offsets[-1], np.int8)
        for begins, these in parts:
            bits = self._pattern_bits, self._tail_bits
            unpack(self._room[0], begins, these, offsets, bits, self._of_rank, numbers, hops)
        return numbers, hops

    def _extensible_rows(self, heads: NDArray[np.int32], numbers: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Tell which rows need no edge that describes the tail, or have one. Shape: (n,)"""
        kept = np.ones(numbers.shape[1], bool)
        for rank, step in self._extended:
            rows = np.flatnonzero(numbers[5] == rank)
            kept[rows] = self._extensible(heads[numbers[0, rows]], numbers[2, rows], step)
        return kept

    def _tree(self, head_mask: int) -> tuple[NDArray[Any], ...]:
        """Return the tree of the patterns that heads of these groups may have."""
        if head_mask not in self._trees:
            patterns = self.numbers.patterns
            kept = prune(patterns, self.chosen, head_mask, self._tail_masks)
            lines = [(self._keys[number], patterns[number]) for number in kept]
            tree = build_tree(lines, self._limits, self.numbers.back.size, head_mask, self._tail_masks)
            self._trees[head_mask] = tree.arrays
            words = (int(tree.unit_local.max(initial=-1)) + 1) * ((self.tails.size + 63) // 64)
            if words > self._memory.size:
                self._memory = np.zeros(words, np.int64)
        return self._trees[head_mask]

    def _extensible(self, heads: NDArray[np.int32], places: NDArray[np.int32], step: int) -> NDArray[np.bool_]:
        """Tell which tails have an edge that describes them and does not lead back to the head. Shape: (n,)"""
        if step not in self._extensions:
            # The only neighbour that describes a tail; -1 where there is none, -2 where there are several.
            indptr, steps, neighbour = self._graph
            only = np.full(self.tails.size, -1, np.int64)
            for place, tail in enumerate(self.tails):
                beside = slice(indptr[tail], indptr[tail + 1])
                begin, end = indptr[tail] + np.searchsorted(steps[beside], [step, step + 1])
                only[place] = -2 if end - begin > 1 else neighbour[begin] if end > begin else -1
            self._extensions[step] = only
        only = self._extensions[step][places]
        return np.asarray((only != -1) & (only != heads))


def _coded(codes: NDArray[np.int32], values: pa.Array) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(codes), values, safe=False)
