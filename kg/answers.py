"""Paths between concepts, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ground.contracts.rows import PathEdgeRow
from kg.arrays import GraphArrays

__all__ = ["PathReader", "Relation", "Statement"]

Statement = tuple[str, str, str]
"""Predicate, name and tier of a pattern."""


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


class PathReader:
    """What stands at adjacency entries, in words."""

    def __init__(self, arrays: GraphArrays, step_names: Sequence[str]) -> None:
        self._arrays, self._step_names = arrays, step_names

    def described(self, entries: NDArray[np.int64]) -> dict[int, dict[str, str]]:
        """Return adjacency entries as edges without their heads, each with its first evidence; -1 stands for none."""
        arrays, names = self._arrays, self._step_names
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

    def paths(self, head: int, entries: NDArray[np.int64]) -> list[tuple[PathEdgeRow, ...]]:
        """Return the edges of paths in order; paths that share an edge share its row.

        Args:
            head: where the paths begin.
            entries: adjacency entries of each, -1 for none. Shape: (n, 4)
        """
        known, rows = self.described(entries), dict[int, Any]()
        paths = []
        for row in entries.tolist():
            source, path = self._arrays.cui[head].decode(), []
            for entry in row:
                if entry >= 0:
                    if entry not in rows:
                        # An entry has one head.
                        rows[entry] = {"head_cui": source, **known[entry]}
                    path.append(rows[entry])
                    source = rows[entry]["tail_cui"]
            paths.append(tuple(path))
        return paths
