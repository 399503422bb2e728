"""The typed search for paths written with other means, as yardsticks of ``ConceptGraph.relations``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kg.arrays import GraphArrays
from kg.numbers import NumberedPattern, VocabularyNumbers, pattern_name

if TYPE_CHECKING:
    import duckdb
    import networkx

__all__ = ["NetworkxSearch", "SqlSearch", "Walk"]

Walk = tuple[str, str, tuple[int, ...]]
"""A path as all searches give it: predicate, pattern, concepts as numbers."""

RECURSIVE = """
with recursive walk (place, node, one, two, three) as (
    select 0, $head::integer, $head::integer, null::integer, null::integer
    union all
    select trie.child, edge.tail, walk.one, coalesce(walk.two, edge.tail),
        case when walk.two is null then null else coalesce(walk.three, edge.tail) end
    from walk
    inner join trie on walk.place = trie.place
    inner join edge on walk.node = edge.head and trie.step = edge.step and edge.fan <= trie.max_fan
    where edge.tail <> walk.one and (walk.two is null or edge.tail <> walk.two)
        and (walk.node <> $tail)
)
select finish.pattern, walk.one, walk.two, walk.three, walk.node
from walk inner join finish on walk.place = finish.place
where walk.node = $tail
    and (finish.heads = -1 or finish.heads & $head_mask <> 0)
    and (finish.tails = -1 or finish.tails & $tail_mask <> 0)
    and (not finish.same or $head_mask & $tail_mask <> 0)
"""
NO_LIMIT = 1 << 30


class _Patterns:
    """All patterns without extension as a tree of steps: rows (place, step, largest fan, child) and where they end."""

    def __init__(self, arrays: GraphArrays) -> None:
        numbers = VocabularyNumbers(arrays.vocabulary, arrays.group_names)
        self.rows: dict[tuple[int, int, int], int] = {}
        self.ends: dict[int, list[tuple[int, NumberedPattern]]] = {}
        self.names = [(line.predicate, pattern_name(line)) for line in arrays.vocabulary.patterns]
        for number, pattern in enumerate(numbers.patterns):
            if pattern.extends >= 0:
                continue
            place = 0
            for step in pattern.steps:
                place = self.rows.setdefault((place, step, pattern.max_fan or NO_LIMIT), len(self.rows) + 1)
            self.ends.setdefault(place, []).append((number, pattern))


def _allowed(pattern: NumberedPattern, head: int, tail: int) -> bool:
    """Tell whether the groups of two concepts are those of a pattern."""
    return (
        (pattern.heads == -1 or pattern.heads & head != 0)
        and (pattern.tails == -1 or pattern.tails & tail != 0)
        and (not pattern.same or head & tail != 0)
    )


class NetworkxSearch:
    """Depth first over a ``networkx.MultiDiGraph`` of the neighbourhood of some concepts, by the tree of patterns."""

    def __init__(self, arrays: GraphArrays) -> None:
        self._arrays, self._patterns = arrays, _Patterns(arrays)
        self._tree: dict[int, dict[int, list[tuple[int, int]]]] = {}
        for (place, step, max_fan), child in self._patterns.rows.items():
            self._tree.setdefault(place, {}).setdefault(step, []).append((max_fan, child))

    def neighbourhood(self, concepts: Sequence[int]) -> networkx.MultiDiGraph:
        """Return some concepts, those beside them and all edges between these, keyed by step with their fan.

        No path of three edges between two of the concepts leaves it.
        """
        import networkx

        arrays, found = self._arrays, networkx.MultiDiGraph()
        beside = [arrays.neighbour[arrays.indptr[node] : arrays.indptr[node + 1]] for node in concepts]
        nodes = np.unique(np.concatenate([*beside, concepts]))
        inside = np.zeros(len(arrays.cui), bool)
        inside[nodes] = True
        for node in nodes.tolist():
            begin, end = arrays.indptr[node : node + 2]
            others, steps = arrays.neighbour[begin:end], arrays.step[begin:end]
            fans, kept = np.bincount(steps).tolist(), inside[others]
            found.add_edges_from(
                (node, other, step, {"fan": fans[step]})
                for other, step in zip(others[kept].tolist(), steps[kept].tolist(), strict=True)
            )
        return found

    def search(self, graph: networkx.MultiDiGraph, head: int, tail: int) -> list[Walk]:
        """Return the paths between two concepts of the graph."""
        if head not in graph:
            return []
        masks = int(self._arrays.groups[head]), int(self._arrays.groups[tail])
        return list(self._walk(graph, 0, (head,), tail, masks))

    def _walk(
        self, graph: networkx.MultiDiGraph, place: int, path: tuple[int, ...], tail: int, masks: tuple[int, int]
    ) -> Iterator[Walk]:
        tree = self._tree.get(place)
        if tree is None:
            return
        beside = graph.adj[path[-1]]
        # The last edge of a walk is looked up; what is farther away than three edges is not looked for.
        for other in [tail] if len(path) == 3 and tail in beside else beside if len(path) < 3 else ():
            if other in path:
                continue
            for step, edge in beside[other].items():
                for max_fan, child in tree.get(step, ()):
                    if edge["fan"] > max_fan:
                        continue
                    if other == tail:
                        for number, pattern in self._patterns.ends.get(child, ()):
                            if _allowed(pattern, *masks):
                                yield (*self._patterns.names[number], (*path, other))
                    else:
                        yield from self._walk(graph, child, (*path, other), tail, masks)


class SqlSearch:
    """One recursive query over a table of all edges, both directions, in the order of their heads."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, arrays: GraphArrays) -> None:
        import pyarrow as pa

        self._connection, self._arrays, self._patterns = connection, arrays, _Patterns(arrays)
        counts = np.diff(arrays.indptr)
        heads = np.repeat(np.arange(counts.size, dtype=np.int32), counts)
        starts = np.flatnonzero(np.diff(heads * np.int64(256) + arrays.step, prepend=-1))
        sizes = np.diff(np.append(starts, heads.size))
        ends = [(place, *row) for place, rows in self._patterns.ends.items() for row in rows]
        tables: dict[str, dict[str, Any]] = {
            "edge": {
                "head": heads,
                "step": np.asarray(arrays.step),
                "tail": np.asarray(arrays.neighbour),
                "fan": np.repeat(sizes, sizes).astype(np.int32),
            },
            "trie": dict(
                zip(
                    ("place", "step", "max_fan", "child"),
                    zip(*((*key, child) for key, child in self._patterns.rows.items()), strict=True),
                    strict=True,
                )
            ),
            "finish": {
                "place": [place for place, _, _ in ends],
                "pattern": [number for _, number, _ in ends],
                "heads": [pattern.heads for _, _, pattern in ends],
                "tails": [pattern.tails for _, _, pattern in ends],
                "same": [pattern.same for _, _, pattern in ends],
            },
        }
        for name, columns in tables.items():
            connection.register("arrow_input", pa.table({key: pa.array(value) for key, value in columns.items()}))
            connection.execute(f"create table {name} as select * from arrow_input")
            connection.unregister("arrow_input")

    def search(self, head: int, tail: int) -> list[tuple[Any, ...]]:
        """Return the rows of the query: pattern, concepts of the path."""
        masks = {"head_mask": int(self._arrays.groups[head]), "tail_mask": int(self._arrays.groups[tail])}
        return self._connection.execute(RECURSIVE, {"head": head, "tail": tail, **masks}).fetchall()

    def walks(self, rows: list[tuple[Any, ...]]) -> list[Walk]:
        """Return the rows of the query as paths."""
        found = []
        for number, *nodes, last in rows:
            path = tuple(node for node in nodes if node is not None)
            found.append((*self._patterns.names[number], path if path[-1] == last else (*path, last)))
        return found
