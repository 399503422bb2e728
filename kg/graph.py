"""The one public class of the graph: memory-mapped, typed, exact within three hops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ground.contracts.rows import PathEdgeRow
from ground.errors import InputError
from kg.arrays import GraphArrays, open_arrays
from kg.numbers import VocabularyNumbers, pattern_name
from kg.predicates import TIERS, Pattern

if TYPE_CHECKING:
    from kg.paths import PatternTree

__all__ = ["ConceptGraph", "Relation"]

MAX_HOPS = 3
FREE_FAN = 1 << 62


class Relation(NamedTuple):
    """One path of one pattern between two concepts: what it says, how strongly, and its edges in order."""

    predicate: str
    pattern: str
    tier: str
    path: tuple[PathEdgeRow, ...]

    @property
    def hops(self) -> int:
        """Number of edges of the path."""
        return len(self.path)


Statement = tuple[str, str, str]
"""Predicate, name and tier of a pattern."""
ABOVE, BELOW = ("is_a", "placed_under"), ("has_subtype", "has_placed")
HIERARCHY_STEPS = (*ABOVE, *BELOW, "has_pharmacologic_class", "pharmacologic_class_of")


class ConceptGraph:
    """The concept graph of a workspace. Open it with ``ConceptGraph.open(folder)``; nothing is read before it is used.

    Concepts are CUIs. A method that is given a CUI which the release does not have raises InputError.
    """

    def __init__(self, arrays: GraphArrays) -> None:
        self.arrays = arrays
        self._vocabulary = arrays.vocabulary
        self._step_names = self._vocabulary.step_names
        self._patterns = self._vocabulary.patterns
        self._cuis = arrays.cui
        self._groups = arrays.groups
        self._graph = (arrays.indptr, arrays.step, arrays.neighbour)
        self._numbers = VocabularyNumbers(arrays.vocabulary, arrays.group_names)
        self._trees: dict[tuple[int, tuple[str, ...] | None, bool], tuple[PatternTree, list[Statement]]] = {}
        self._path_trees: dict[str, list[PatternTree]] = {}

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
        return isinstance(cui, str) and int(self.numbers_of((cui,))[0]) >= 0

    def __iter__(self) -> Iterator[str]:
        return (str(cui, "ascii") for cui in self._cuis)

    def numbers_of(self, cuis: Sequence[str]) -> NDArray[np.int64]:
        """Return the numbers of concepts, -1 where the release has none; they are in the order of CUIs. Shape: (n,)"""
        wanted = np.array([cui.encode() for cui in cuis], np.bytes_)
        if not (wanted.size and self._cuis.size):
            return np.full(wanted.size, -1)
        places = np.searchsorted(self._cuis, wanted.astype(self._cuis.dtype))
        places[places == self._cuis.size] = 0
        return np.where(self._cuis[places] == wanted, places, -1)

    def _numbered(self, cuis: Sequence[str]) -> NDArray[np.int64]:
        """Return the numbers of concepts in their order. Shape: (n,)"""
        nodes = self.numbers_of(cuis)
        # A list is searched in a tenth of the time that numpy takes to begin, and most questions are of two concepts.
        if -1 in nodes.tolist():
            cui = cuis[int(nodes.argmin())]
            raise InputError(
                f"there is no concept {cui}",
                found=cui,
                expected="a CUI of MRCONSO in the release that the graph was built from",
                do="look for its name with `ontoground sql`, in kg.name",
            )
        return nodes

    def _node(self, cui: str) -> int:
        return int(self._numbered((cui,))[0])

    def nodes(self, cuis: Iterable[str]) -> NDArray[np.int32]:
        """Return the sorted numbers of concepts, each once. Shape: (n,)"""
        return np.unique(self._numbered(list(cuis))).astype(np.int32)

    def name(self, cui: str) -> str:
        """Return the preferred name of a concept."""
        node = self._node(cui)
        begin, end = self.arrays.name_begin[node : node + 2]
        return bytes(self.arrays.name[begin:end]).decode()

    def groups(self, cui: str) -> tuple[str, ...]:
        """Return the semantic groups of a concept, sorted."""
        mask = int(self.arrays.groups[self._node(cui)])
        return tuple(name for bit, name in enumerate(self.arrays.group_names) if mask >> bit & 1)

    # ---- edges

    def _described(self, entries: NDArray[np.int64]) -> dict[int, dict[str, str]]:
        """Return adjacency entries as edges without their heads, each with its first evidence; -1 stands for none."""
        arrays, names = self.arrays, self._step_names
        entries = np.unique(entries)
        entries = entries[np.searchsorted(entries, 0) :]
        evidence = arrays.evidence_begin[arrays.edge[entries]]
        columns = (
            arrays.step[entries],
            arrays.cui[arrays.neighbour[entries]],
            arrays.rela[evidence],
            arrays.sab[evidence],
            arrays.rui[evidence],
        )
        return {
            entry: {
                "predicate": names[step],
                "rela": arrays.rela_names[rela],
                "tail_cui": tail.decode(),
                "sab": arrays.sab_names[sab],
                "rui": rui.decode(),
            }
            for entry, step, tail, rela, sab, rui in zip(
                entries.tolist(), *(column.tolist() for column in columns), strict=True
            )
        }

    def _in_words(self, head: int, entries: NDArray[np.int64]) -> list[tuple[PathEdgeRow, ...]]:
        """Return the edges of paths in order; paths that share an edge share its row.

        Args:
            head: where the paths begin.
            entries: adjacency entries of each, -1 for none. Shape: (n, edges)
        """
        known, rows = self._described(entries), dict[int, Any]()
        paths = []
        for row in entries.tolist():
            source, path = self._cuis[head].decode(), []
            for entry in row:
                if entry >= 0:
                    if entry not in rows:
                        # An entry has one head.
                        rows[entry] = {"head_cui": source, **known[entry]}
                    path.append(rows[entry])
                    source = rows[entry]["tail_cui"]
            paths.append(tuple(path))
        return paths

    def neighbours(self, cui: str, predicate: str | None = None) -> list[PathEdgeRow]:
        """Return the edges that begin at a concept, inverse predicates included, by predicate and tail.

        Args:
            cui: the head of the edges.
            predicate: only edges of this predicate or inverse.

        Raises:
            InputError: the release has no such concept, or there is no such predicate.
        """
        node = self._node(cui)
        begin, end = (int(value) for value in self.arrays.indptr[node : node + 2])
        if predicate is not None:
            step = self._vocabulary.step_of(predicate)
            begin, end = (begin + np.searchsorted(self.arrays.step[begin:end], (step, step + 1))).tolist()
        return [edge for (edge,) in self._in_words(node, np.arange(begin, end)[:, np.newaxis])]

    # ---- relations

    def _chosen(
        self, max_hops: int, tiers: Sequence[str] | None, predicates: Sequence[str] | None, extended: bool
    ) -> list[int]:
        """Return the numbers of the patterns that a query asks for."""
        if not 1 <= max_hops <= MAX_HOPS:
            raise InputError("a path must have 1 to 3 hops", found=str(max_hops), expected="1, 2 or 3")
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

    def _paths(
        self, head: str, tail: str, tree: PatternTree, statements: Sequence[Statement], limit: int
    ) -> list[Relation]:
        """Return the paths of a tree of patterns between two concepts, in order."""
        from kg.paths import find_paths

        source, target = self._numbered((head, tail)).tolist()
        rows = find_paths(self._graph, self._groups, self._numbers.back, tree, source, target)
        rows = rows[np.argsort(rows[:, 0], kind="stable")]
        if limit:
            place = np.arange(len(rows))
            rows = rows[place - np.searchsorted(rows[:, 0], rows[:, 0]) < limit]
        paths = self._in_words(source, rows[:, 1:])
        stated = (statements[place] for place in rows[:, 0].tolist())
        return [
            Relation(predicate, pattern, tier, path)
            for (predicate, pattern, tier), path in zip(stated, paths, strict=True)
        ]

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
        return self._paths(head, tail, *self._relation_tree(max_hops, tiers, extended), paths_per_pattern or 0)

    def _relation_tree(
        self, max_hops: int, tiers: Sequence[str] | None, extended: bool
    ) -> tuple[PatternTree, list[Statement]]:
        """Return the tree of a choice of patterns, kept, and the patterns by tier, hops, predicate and name."""
        key = (max_hops, None if tiers is None else tuple(tiers), extended)
        if key not in self._trees:
            from kg.paths import build_tree

            chosen = set(self._chosen(max_hops, tiers, None, extended))
            order = [number for number in self._numbers.order if number in chosen]
            tree = build_tree([self._numbers.patterns[number] for number in order], self._numbers.back.size)
            lines = [self._patterns[number] for number in order]
            self._trees[key] = tree, [(line.predicate, pattern_name(line), line.tier) for line in lines]
        return self._trees[key]

    def _trees_of_path(self, text: str) -> list[PatternTree]:
        """Return the trees of all patterns of a name, between concepts of any groups; they are kept.

        The same steps may serve two predicates, one with a limit of fan: its path says more, and its tree comes first.
        """
        from kg.paths import build_tree

        if text not in self._path_trees:
            known = [line for line in self._patterns if pattern_name(line) == text]
            free = Pattern(text, tuple(text.split(" . ")), "", "", "stated", 0, "")
            if free.hops > MAX_HOPS and not known:
                raise InputError("a path must have 1 to 3 hops", found=text, expected="1, 2 or 3 steps")
            lines = {line.max_fan: line for line in reversed(known)} or {0: free}
            self._path_trees[text] = [
                build_tree([self._numbers.pattern(lines[fan], any_groups=True)], self._numbers.back.size)
                for fan in sorted(lines, key=lambda fan: fan or FREE_FAN)
            ]
        return self._path_trees[text]

    def fact_tables(
        self,
        concepts: Iterable[str],
        max_hops: int = MAX_HOPS,
        tiers: Sequence[str] | None = None,
        predicates: Sequence[str] | None = None,
        *,
        targets: Iterable[str] | None = None,
        extended: bool = False,
        ordered: bool = True,
    ) -> Iterator[pa.Table]:
        """Yield what the patterns say about all ordered pairs of concepts, some heads at a time (``FACT_SCHEMA``).

        The work grows with the edges that are visited, not with the number of pairs. The result depends on the sets of
        concepts only, and is sorted by head, predicate, tail, hops, tier and pattern.

        Args:
            concepts: heads; also the tails where no targets are given.
            max_hops: longest path, 1 to 3.
            tiers: only patterns of these tiers; None means all.
            predicates: only these statement predicates (inverse names are predicates of their own); None means all.
            targets: the tails, where they differ from the heads.
            extended: also patterns that describe the tail by one more edge.
            ordered: also sort the facts of each head; they come head after head in any case, and in the same order
                for the same heads and tails.

        Raises:
            InputError: an unknown concept, predicate or tier, or a wrong number of hops.
        """
        heads = self.nodes(concepts)
        tails = heads if targets is None else self.nodes(targets)
        chosen = self._chosen(max_hops, tiers, predicates, extended)
        if not (heads.size and tails.size and chosen):
            return iter(())
        from kg.facts import FactSearch

        return FactSearch(self.arrays, self._numbers, tails, chosen, ordered).tables(heads)

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
        for tree in self._trees_of_path(pattern):
            for relation in self._paths(head, tail, tree, [("", pattern, "")], 1):
                return list(relation.path)
        return []

    # ---- hierarchy and kin

    def reach(
        self, begin: NDArray[np.int64], starts: NDArray[np.int32], steps: Sequence[str], max_depth: int | None = None
    ) -> NDArray[np.int32]:
        """Return what groups of concepts reach by any of some steps, with the least number of them.

        Args:
            begin: where the concepts of a group begin. Shape: (groups + 1,)
            starts: numbers of the concepts of groups (`numbers_of`).
            steps: names of predicates or of their inverses; those that the graph does not have lead nowhere.
            max_depth: most steps; all where left out.

        Returns:
            Rows (group, concept, steps), sorted by group; a group's own concepts are not among them. Shape: (n, 3)
        """
        from kg.search import levels

        known = self._vocabulary.step_names
        numbers = np.array([self._vocabulary.step_of(name) for name in steps if name in known], np.int64)
        reached: NDArray[np.int32] = levels(
            *self._graph, begin, starts, numbers, len(self) if max_depth is None else max_depth
        )
        return reached

    def cuis_of(self, numbers: NDArray[np.int32]) -> pa.Array:
        """Return the CUIs of numbers. Shape: (n,)"""
        distinct, place = np.unique(numbers, return_inverse=True)
        return pa.array(self._cuis[distinct].astype(str), pa.string()).take(pa.array(place))

    def _levels(self, cui: str, steps: Sequence[str], max_depth: int | None) -> dict[str, int]:
        reached = self.reach(np.array([0, 1]), np.array([self._node(cui)], np.int32), steps, max_depth)
        order = np.lexsort((reached[:, 1], reached[:, 2]))
        return {str(self._cuis[node], "ascii"): int(level) for _, node, level in reached[order]}

    def ancestors(self, cui: str, max_depth: int | None = None) -> dict[str, int]:
        """Return the concepts above by ``is_a`` or ``placed_under`` with their least distance, nearest first."""
        return self._levels(cui, ABOVE, max_depth)

    def descendants(self, cui: str, max_depth: int | None = None) -> dict[str, int]:
        """Return the concepts below by ``is_a`` or ``placed_under`` with their least distance, nearest first."""
        return self._levels(cui, BELOW, max_depth)

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
