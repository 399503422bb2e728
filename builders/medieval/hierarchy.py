"""Distances in the hierarchy, from one concept to all at once: a few concepts are compared with very many."""

from __future__ import annotations

import duckdb
import numpy as np
import numpy.typing as npt

from builders.medieval.coding import begins
from ground.storage.sqlfiles import sql_text
from ground.storage.warehouse import arrow_of

__all__ = ["Hierarchy"]


class Hierarchy:
    """What is_a and the step from a drug to its class connect, walked up and down, as `ConceptGraph.distance` does."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        edges = arrow_of(connection, sql_text("builders/medieval/groups/hierarchy"))
        head, tail = edges["head_cui"].to_numpy(), edges["tail_cui"].to_numpy()
        self._cui, number = np.unique(np.concatenate([head, tail]).astype(str), return_inverse=True)
        one, other = number[: head.size], number[head.size :]
        source, goal = np.concatenate([one, other]), np.concatenate([other, one])
        order = np.lexsort((goal, source))
        self._begin = begins(source[order], self._cui.size)
        self._neighbour = goal[order].astype(np.int32)
        self._level = np.full(self._cui.size, -1, np.int32)
        self._reached = np.empty(self._cui.size, np.int32)

    def numbers(self, cuis: list[str]) -> npt.NDArray[np.int32]:
        """Return the numbers of concepts, -1 for those that nothing is said of. Shape: (n,)"""
        wanted = np.array(cuis, dtype=str)
        if not self._cui.size or not wanted.size:
            return np.full(wanted.size, -1, np.int32)
        place = np.minimum(np.searchsorted(self._cui, wanted), self._cui.size - 1)
        return np.where(self._cui[place] == wanted, place, -1).astype(np.int32)

    def distances(self, start: int, goals: npt.NDArray[np.int32], limit: int) -> npt.NDArray[np.int32]:
        """Return the steps from one concept to others, by number; -1 beyond the limit. Shape: (n,)"""
        from builders.medieval.kernels import walk

        if start < 0:
            return np.full(goals.size, -1, np.int32)
        n = walk(self._begin, self._neighbour, start, limit, self._level, self._reached)
        found = np.where(goals >= 0, self._level[goals], -1).astype(np.int32)
        self._level[self._reached[:n]] = -1
        return found
