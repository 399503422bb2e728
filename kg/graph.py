"""The one public class of the graph: memory-mapped, typed, exact within three hops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kg.arrays import GraphArrays, open_arrays
from kg.predicates import TIERS, Pattern
from ontoground.errors import InputError
from ontoground.rows import PathEdgeRow

if TYPE_CHECKING:
    import networkx
    import rdflib

    from kg.search import Adjacency, PatternTrie

__all__ = ["FACT_SCHEMA", "ConceptGraph", "Edge", "Relation"]

MAX_HOPS = 3
HEADS_AT_ONCE = 64
FREE_FAN = 1 << 62

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


@dataclass(frozen=True, order=True)
class Edge:
    """One edge beside a concept, read head PREDICATE tail, with the first piece of its evidence."""

    head: str
    predicate: str
    tail: str
    rela: str
    sab: str
    rui: str


@dataclass(frozen=True)
class Relation:
    """One path of one pattern between two concepts: what it says, how strongly, and its edges in order."""

    predicate: str
    pattern: str
    tier: str
    path: tuple[PathEdgeRow, ...]

    @property
    def hops(self) -> int:
        """Number of edges of the path."""
        return len(self.path)


def _pattern_name(pattern: Pattern) -> str:
    """Name a pattern; a descriptive extension stands in brackets: ``treats . (is_a)``."""
    return f"{pattern.pattern} . ({pattern.extends})" if pattern.extends else pattern.pattern


HIERARCHY_STEPS = ("is_a", "has_subtype", "has_pharmacologic_class", "pharmacologic_class_of")


class ConceptGraph:
    """The concept graph of a workspace. Open it with ``ConceptGraph.open(folder)``; nothing is read before it is used.

    Concepts are CUIs. A method that is given a CUI which the release does not have raises InputError.
    """

    def __init__(self, arrays: GraphArrays) -> None:
        self._arrays = arrays
        self._vocabulary = arrays.vocabulary
        self._step_names = self._vocabulary.step_names
        self._patterns = self._vocabulary.patterns
        self._cuis = arrays.cui
        self._tries: dict[tuple[int, ...], PatternTrie] = {}
        self._width = arrays.cui.dtype.itemsize

    @classmethod
    def open(cls, folder: Path) -> ConceptGraph:
        """Map the arrays of a graph's folder.

        Raises:
            InputError: the folder holds no graph.
        """
        return cls(open_arrays(folder))

    # ---- concepts

    def __len__(self) -> int:
        return int(self._cuis.shape[0])

    def __contains__(self, cui: object) -> bool:
        return isinstance(cui, str) and self._find(cui) >= 0

    def __iter__(self) -> Iterator[str]:
        return (str(cui, "ascii") for cui in self._cuis)

    def _find(self, cui: str) -> int:
        wanted = cui.encode()
        if not wanted or len(wanted) > self._width:
            return -1
        place = int(np.searchsorted(self._cuis, np.bytes_(wanted)))
        return place if place < len(self) and self._cuis[place] == wanted else -1

    def _node(self, cui: str) -> int:
        node = self._find(cui)
        if node < 0:
            raise InputError(
                f"there is no concept {cui}",
                found=cui,
                expected="a CUI of MRCONSO in the release that the graph was built from",
                do="look for its name with `ontoground sql`, in kg.name",
            )
        return node

    def _nodes(self, cuis: Iterable[str]) -> NDArray[np.int32]:
        """Return the sorted numbers of concepts, each once. Shape: (n,)"""
        return np.unique(np.array([self._node(cui) for cui in cuis], np.int32))

    def _cui(self, node: int) -> str:
        return str(self._cuis[node], "ascii")

    def _cui_array(self, nodes: NDArray[np.int32]) -> pa.Array:
        distinct, places = np.unique(nodes, return_inverse=True)
        names = pa.array([self._cui(node) for node in distinct], pa.string())
        return names.take(pa.array(places))

    def name(self, cui: str) -> str:
        """Return the preferred name of a concept."""
        node = self._node(cui)
        begin, end = self._arrays.name_begin[node : node + 2]
        return bytes(self._arrays.name[begin:end]).decode()

    def names(self, cui: str) -> list[str]:
        """Return the preferred name and the other English names of a concept."""
        node, arrays = self._node(cui), self._arrays
        first, last = (int(value) for value in arrays.label_first[node : node + 2])
        begins = arrays.label_begin[first : last + 1]
        labels = [bytes(arrays.label[begin:end]).decode() for begin, end in pairwise(begins)]
        return [self.name(cui), *labels]

    def groups(self, cui: str) -> tuple[str, ...]:
        """Return the semantic groups of a concept, sorted."""
        mask = int(self._arrays.groups[self._node(cui)])
        return tuple(name for bit, name in enumerate(self._arrays.group_names) if mask >> bit & 1)

    # ---- edges

    def _entry_edge(self, source: int, entry: int) -> PathEdgeRow:
        """Return an adjacency entry as an edge, read in the direction in which it is walked."""
        arrays = self._arrays
        evidence = int(arrays.evidence_begin[int(arrays.edge[entry])])
        return {
            "head_cui": self._cui(source),
            "predicate": self._step_names[int(arrays.step[entry])],
            "rela": arrays.rela_names[int(arrays.rela[evidence])],
            "tail_cui": self._cui(int(arrays.neighbour[entry])),
            "sab": arrays.sab_names[int(arrays.sab[evidence])],
            "rui": str(arrays.rui[evidence], "ascii"),
        }

    def _edge(self, source: int, entry: int) -> Edge:
        row = self._entry_edge(source, entry)
        return Edge(row["head_cui"], row["predicate"], row["tail_cui"], row["rela"], row["sab"], row["rui"])

    def neighbours(self, cui: str, predicate: str | None = None) -> list[Edge]:
        """Return the edges that begin at a concept, inverse predicates included, by predicate and tail.

        Args:
            cui: the head of the edges.
            predicate: only edges of this predicate or inverse.

        Raises:
            InputError: the release has no such concept, or there is no such predicate.
        """
        node = self._node(cui)
        begin, end = (int(value) for value in self._arrays.indptr[node : node + 2])
        if predicate is not None:
            begin, end = self._bounds(node, self._vocabulary.step_of(predicate))
        return [self._edge(node, entry) for entry in range(begin, end)]

    def evidence(self, head: str, predicate: str, tail: str) -> list[Edge]:
        """Return all evidence of an edge, the source's own direction first; none where there is no such edge."""
        arrays, node, other = self._arrays, self._node(head), self._node(tail)
        begin, end = self._bounds(node, self._vocabulary.step_of(predicate))
        place = begin + int(np.searchsorted(arrays.neighbour[begin:end], other))
        if place == end or int(arrays.neighbour[place]) != other:
            return []
        edge = int(arrays.edge[place])
        first, last = (int(value) for value in arrays.evidence_begin[edge : edge + 2])
        return [
            Edge(
                head,
                predicate,
                tail,
                arrays.rela_names[int(arrays.rela[row])],
                arrays.sab_names[int(arrays.sab[row])],
                str(arrays.rui[row], "ascii"),
            )
            for row in range(first, last)
        ]

    def edges_between(self, cuis: Iterable[str], *, canonical: bool = False) -> list[Edge]:
        """Return the edges whose two ends are among some concepts, sorted by head, predicate, tail.

        Args:
            cuis: the concepts.
            canonical: each edge once, in its canonical direction; otherwise also read the other way round.
        """
        nodes, arrays = self._nodes(cuis), self._arrays
        found: list[Edge] = []
        for node in nodes:
            begin, end = (int(value) for value in arrays.indptr[node : node + 2])
            kept = np.isin(arrays.neighbour[begin:end], nodes)
            if canonical:
                kept &= (arrays.head[arrays.edge[begin:end]] == node) & (arrays.step[begin:end] % 2 == 0)
            found += [self._edge(int(node), int(entry)) for entry in np.flatnonzero(kept) + begin]
        return found

    def _adjacency(self) -> Adjacency:
        from kg.search import Adjacency

        return Adjacency(self._arrays.indptr, self._arrays.step, self._arrays.neighbour)

    def _bounds(self, node: int, step: int) -> tuple[int, int]:
        begin, end = (int(value) for value in self._arrays.indptr[node : node + 2])
        steps = self._arrays.step[begin:end]
        return begin + int(np.searchsorted(steps, step, "left")), begin + int(np.searchsorted(steps, step, "right"))

    # ---- relations

    def _chosen(
        self, max_hops: int, tiers: Sequence[str] | None, predicates: Sequence[str] | None, extended: bool
    ) -> list[int]:
        """Return the numbers of the patterns that a query asks for."""
        if not 1 <= max_hops <= MAX_HOPS:
            raise InputError("a path has 1 to 3 hops", found=str(max_hops), expected="1, 2 or 3")
        for tier in tiers or ():
            if tier not in TIERS:
                raise InputError("there is no such tier", found=tier, expected=", ".join(TIERS))
        for predicate in predicates or ():
            self._vocabulary.step_of(predicate)
        return [
            number
            for number, pattern in enumerate(self._patterns)
            if pattern.hops <= max_hops
            and (tiers is None or pattern.tier in tiers)
            and (predicates is None or pattern.predicate in predicates)
            and (extended or not pattern.extends)
        ]

    def _connections(
        self, heads: NDArray[np.int32], targets: NDArray[np.int32], patterns: list[int]
    ) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]]:
        """Yield (heads, patterns, tails) of what the patterns connect, for some heads at a time."""
        from kg.search import find_pairs, target_reach

        trie = self._trie(tuple(patterns))
        back = np.array([self._backwards(int(step)) for step in trie.reach_steps], np.int64)
        adjacency = self._adjacency()
        reach = target_reach(adjacency, targets, back)
        is_target = np.zeros(len(self), np.uint8)
        is_target[targets] = 1
        tree = (trie.depth, trie.step, trie.max_fan, trie.leaf, trie.emits, trie.skip, trie.reach_row)
        for begin in range(0, heads.size, HEADS_AT_ONCE):
            found = find_pairs(adjacency, heads[begin : begin + HEADS_AT_ONCE], is_target, reach, tree)
            yield self._named(found, trie.ends)

    def _trie(self, patterns: tuple[int, ...]) -> PatternTrie:
        """Return the tree of some patterns; the few that are asked for are kept."""
        from kg.search import build_trie

        if patterns not in self._tries:
            lines = [(number, self._patterns[number]) for number in patterns]
            step = {name: number for number, name in enumerate(self._step_names)}
            self._tries[patterns] = build_trie(
                [(number, tuple(step[name] for name in line.steps), line.max_fan) for number, line in lines]
            )
        return self._tries[patterns]

    def _backwards(self, step: int) -> int:
        return step if self._vocabulary.predicates[step // 2].symmetric else step ^ 1

    def _named(
        self, found: NDArray[np.int32], ends: tuple[tuple[int, ...], ...]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
        """Turn tree nodes into patterns, and keep what the ends of each pattern's predicate allow."""
        order = np.argsort(found[:, 1], kind="stable")
        found = found[order]
        parts: list[NDArray[np.int32]] = [np.empty((0, 3), np.int32)]
        trees, begins = np.unique(found[:, 1], return_index=True)
        for tree, rows in zip(trees, np.split(found, begins[1:]), strict=False):
            for number in ends[tree]:
                kept = rows[self._allowed(number, rows[:, 0], rows[:, 2])]
                part = kept.copy()
                part[:, 1] = number
                parts.append(part)
        every = np.concatenate(parts)
        return every[:, 0], every[:, 1], every[:, 2]

    def _mask(self, groups: tuple[str, ...]) -> int:
        names = self._arrays.group_names
        return -1 if groups == ("*",) else sum(1 << names.index(name) for name in groups if name in names)

    def _allowed(self, number: int, heads: NDArray[np.int32], tails: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Tell which pairs have ends that the pattern's predicate and extension allow. Shape: (n,)"""
        pattern = self._patterns[number]
        head_groups, tail_groups, same_group = self._vocabulary.ends_of(pattern.predicate)
        masks = self._arrays.groups
        head_masks, tail_masks = masks[heads], masks[tails]
        allowed = np.ones(heads.shape, bool)
        for groups, found in ((head_groups, head_masks), (tail_groups, tail_masks)):
            if groups != ("*",):
                allowed &= (found & self._mask(groups)) != 0
        if same_group:
            allowed &= (head_masks & tail_masks) != 0
        if pattern.extends:
            allowed &= self._extensible(heads, tails, self._vocabulary.step_of(pattern.extends))
        return allowed

    def _extensible(self, heads: NDArray[np.int32], tails: NDArray[np.int32], step: int) -> NDArray[np.bool_]:
        """Tell which tails have an edge that describes them and does not lead back to the head. Shape: (n,)"""
        distinct, places = np.unique(tails, return_inverse=True)
        bounds = [self._bounds(int(tail), step) for tail in distinct]
        count = np.array([end - begin for begin, end in bounds], np.int64)
        only = np.array([self._arrays.neighbour[begin] if end - begin == 1 else -1 for begin, end in bounds], np.int64)
        return np.asarray((count[places] > 1) | ((count[places] == 1) & (only[places] != heads)), bool)

    def _extension(self, head: int, tail: int, step: int) -> int:
        """Return the entry of the first edge that describes the tail and does not lead back to the head, or -1."""
        begin, end = self._bounds(tail, step)
        for entry in range(begin, end):
            if int(self._arrays.neighbour[entry]) != head:
                return entry
        return -1

    def _paths(self, head: int, tail: int, pattern: Pattern, limit: int) -> list[tuple[PathEdgeRow, ...]]:
        from kg.search import find_paths

        arrays = self._arrays
        steps = np.array([self._vocabulary.step_of(name) for name in pattern.steps], np.int64)
        found = find_paths(self._adjacency(), head, tail, steps, pattern.max_fan, limit)
        extension = -1
        if pattern.extends:
            extension = self._extension(head, tail, self._vocabulary.step_of(pattern.extends))
            if extension < 0:
                return []
        paths = []
        for entries in found:
            place, edges = head, []
            for entry in [*entries, *([extension] if extension >= 0 else [])]:
                edges.append(self._entry_edge(place, int(entry)))
                place = int(arrays.neighbour[int(entry)])
            paths.append(tuple(edges))
        return paths

    def relations(
        self,
        head: str,
        tail: str,
        max_hops: int = MAX_HOPS,
        tiers: Sequence[str] | None = None,
        *,
        extended: bool = False,
        paths_per_pattern: int | None = None,
    ) -> list[Relation]:
        """Return every path of every pattern from one concept to another: R(h, t).

        Ordered by tier, number of hops, predicate, pattern, and the concepts in between.

        Args:
            head: where the paths begin.
            tail: where they end.
            max_hops: longest path, 1 to 3.
            tiers: only patterns of these tiers; None means all.
            extended: also patterns that describe the tail by one more edge ("..., which is a type of ...").
            paths_per_pattern: keep only so many paths of a pattern.

        Raises:
            InputError: an unknown concept, a wrong number of hops, or an unknown tier.
        """
        one, other = self._node(head), self._node(tail)
        chosen = self._chosen(max_hops, tiers, None, extended)
        ends = (np.array([one], np.int32), np.array([other], np.int32))
        numbers = [int(n) for _, found, _ in self._connections(*ends, chosen) for n in found]
        return [
            Relation(pattern.predicate, _pattern_name(pattern), pattern.tier, path)
            for pattern in sorted((self._patterns[n] for n in numbers), key=self._order)
            for path in self._paths(one, other, pattern, paths_per_pattern or 0)
        ]

    @staticmethod
    def _order(pattern: Pattern) -> tuple[int, int, str, str]:
        return TIERS.index(pattern.tier), pattern.hops, pattern.predicate, _pattern_name(pattern)

    def facts(
        self,
        concepts: Iterable[str],
        max_hops: int = MAX_HOPS,
        tiers: Sequence[str] | None = None,
        predicates: Sequence[str] | None = None,
        *,
        targets: Iterable[str] | None = None,
        extended: bool = False,
    ) -> pa.Table:
        """Return what the patterns say about all ordered pairs of concepts at once; schema ``FACT_SCHEMA``.

        The work grows with the edges that are visited, not with the number of pairs. The result depends on the sets of
        concepts only, and is sorted by head, predicate, tail, hops, tier and pattern.

        Args:
            concepts: heads; also the tails where no targets are given.
            max_hops: longest path, 1 to 3.
            tiers: only patterns of these tiers; None means all.
            predicates: only these statement predicates (inverse names are predicates of their own); None means all.
            targets: the tails, where they differ from the heads.
            extended: also patterns that describe the tail by one more edge.

        Raises:
            InputError: an unknown concept, predicate or tier, or a wrong number of hops.
        """
        heads = self._nodes(concepts)
        tails = heads if targets is None else self._nodes(targets)
        chosen = self._chosen(max_hops, tiers, predicates, extended)
        parts = [np.empty((3, 0), np.int32)]
        if heads.size and tails.size and chosen:
            parts += [np.stack(part) for part in self._connections(heads, tails, chosen)]
        return self._fact_table(np.concatenate(parts, axis=1))

    def _fact_table(self, found: NDArray[np.int32]) -> pa.Table:
        """Sort and name facts given as (head, pattern, tail). Shape: (3, n)"""
        predicates = sorted({pattern.predicate for pattern in self._patterns})
        names = sorted({_pattern_name(pattern) for pattern in self._patterns})
        code = {name: n for n, name in enumerate(names)}
        columns = np.array(
            [
                (predicates.index(line.predicate), line.hops, TIERS.index(line.tier), code[_pattern_name(line)])
                for line in self._patterns
            ],
            np.int32,
        ).reshape(-1, 4)
        predicate, hops, tier, pattern = columns[found[1]].T
        order = np.lexsort((pattern, tier, hops, found[2], predicate, found[0]))

        def coded(codes: NDArray[np.int32], values: Sequence[str]) -> pa.Array:
            return pa.DictionaryArray.from_arrays(pa.array(codes[order], pa.int32()), pa.array(values, pa.string()))

        return pa.table(
            [
                self._cui_array(found[0][order]),
                coded(predicate, predicates),
                self._cui_array(found[2][order]),
                coded(pattern, names),
                coded(tier, TIERS),
                pa.array(hops[order], pa.int8()),
            ],
            schema=FACT_SCHEMA,
        )

    def path(self, head: str, tail: str, pattern: str) -> list[PathEdgeRow]:
        """Return the first path of a pattern, by the concepts in between, with the first evidence of each edge.

        Args:
            head: where the path begins.
            tail: where it ends; an extension, in brackets, goes one edge further.
            pattern: steps as in ``kg.pattern`` or in a fact, such as ``drug_form_of . treats``. A pattern that is not
                in the table is followed without a limit of fan.

        Returns:
            The edges in order, each read in the direction in which it is walked; empty where there is no such path.
        """
        one, other = self._node(head), self._node(tail)
        known = [line for line in self._patterns if _pattern_name(line) == pattern]
        free = Pattern(pattern, tuple(pattern.split(" . ")), "", "", "stated", 0, "")
        # The same steps may serve two predicates, one with a limit of fan: its path says more.
        for line in sorted(known, key=lambda line: line.max_fan or FREE_FAN) or [free]:
            if paths := self._paths(one, other, line, 1):
                return list(paths[0])
        return []

    # ---- hierarchy and kin

    def _levels(self, cui: str, steps: Sequence[str], max_depth: int | None) -> dict[str, int]:
        from kg.search import levels

        numbers = np.array([self._vocabulary.step_of(name) for name in steps], np.int64)
        depth = len(self) if max_depth is None else max_depth
        found = levels(self._adjacency(), self._node(cui), numbers, depth)
        order = np.lexsort((found[:, 0], found[:, 1]))
        return {self._cui(int(node)): int(level) for node, level in found[order]}

    def ancestors(self, cui: str, max_depth: int | None = None) -> dict[str, int]:
        """Return the concepts above by ``is_a`` with their least distance, nearest first."""
        return self._levels(cui, ["is_a"], max_depth)

    def descendants(self, cui: str, max_depth: int | None = None) -> dict[str, int]:
        """Return the concepts below by ``is_a`` with their least distance, nearest first."""
        return self._levels(cui, ["has_subtype"], max_depth)

    def siblings(self, cui: str) -> list[str]:
        """Return the other children of the direct ``is_a`` parents, sorted."""
        found = {
            child.tail
            for parent in self.neighbours(cui, "is_a")
            for child in self.neighbours(parent.tail, "has_subtype")
        }
        return sorted(found - {cui})

    def equivalents(self, cui: str) -> list[str]:
        """Return the other names of the same drug, sorted: brands, salts, forms and products of one substance.

        A combination is not equivalent to any of its ingredients: see ``ingredients`` and ``products``.
        """
        return sorted(self._levels(cui, ["drug_form_of", "has_drug_form"], None))

    def ingredients(self, cui: str) -> list[str]:
        """Return what a brand, product or combination holds, under all its names, sorted.

        A mention of the concept implies each of these; the concept's own other names are among them.
        """
        return sorted(self._levels(cui, ["drug_form_of", "has_drug_form", "contains_drug"], None))

    def products(self, cui: str) -> list[str]:
        """Return the combinations, and the products of other routes, that hold a drug, under all their names, sorted.

        A mention of any of these may be a mention of the drug; the drug's own other names are among them.
        """
        return sorted(self._levels(cui, ["drug_form_of", "has_drug_form", "contained_in_drug"], None))

    def distance(self, one: str, other: str, max_distance: int = 6) -> int | None:
        """Return the length of the shortest walk up and down the hierarchy; None beyond the limit.

        The hierarchy is ``is_a``, and the step from a drug to its pharmacologic class: sources that classify drugs by
        another relation than ``isa`` say the same.
        """
        from kg.search import meet

        steps = np.array(
            [self._vocabulary.step_of(name) for name in HIERARCHY_STEPS if name in self._vocabulary.step_names],
            np.int64,
        )
        found = int(meet(self._adjacency(), self._node(one), self._node(other), steps, max_distance))
        return None if found < 0 else found

    # ---- exports

    def to_networkx(self, cuis: Iterable[str]) -> networkx.MultiDiGraph:
        """Return the graph between some concepts: nodes with name and groups, edges with predicate and evidence."""
        from kg.export import to_networkx

        return to_networkx(self, cuis)

    def to_kgx(self, folder: Path, cuis: Iterable[str] | None = None) -> Path:
        """Write ``nodes.tsv`` and ``edges.tsv`` for KGX, of some concepts or of the whole graph."""
        from kg.export import to_kgx

        chosen = None if cuis is None else self._nodes(cuis)
        return to_kgx(self._arrays, folder, chosen)

    def to_rdf(self, cuis: Iterable[str]) -> rdflib.Graph:
        """Return the graph between some concepts in SKOS and our own predicates."""
        from kg.export import to_rdf

        return to_rdf(self, cuis)
