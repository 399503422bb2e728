"""Paths between concepts in columns, with rows that are made when they are looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, overload

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ground.contracts.rows import PathEdgeRow
from kg.arrays import GraphArrays

__all__ = ["PATH_SCHEMA", "PathReader", "Relation", "Relations", "Statement"]

PAIR, PLACE, FIRST, EXTENSION = 0, 1, 2, 5
ROWS_AT_ONCE = 256

Statement = tuple[str, str, str]
"""Predicate, name and tier of a pattern."""

_NAME = pa.dictionary(pa.int32(), pa.string())
PATH_SCHEMA = pa.schema(
    [
        pa.field("pair", pa.int64()),
        pa.field("predicate", _NAME),
        pa.field("pattern", _NAME),
        pa.field("tier", _NAME),
        pa.field("concepts", pa.list_(_NAME)),
    ]
)
"""One row for each path: number of the pair, what the path says, its CUIs from the head on (an extension's last)."""


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

    def paths(self, heads: NDArray[np.int64], entries: NDArray[np.int64]) -> list[tuple[PathEdgeRow, ...]]:
        """Return the edges of paths in order; paths that share an edge share its row.

        Args:
            heads: where the paths begin. Shape: (n,)
            entries: adjacency entries of each, -1 for none. Shape: (n, 4)
        """
        known, rows = self.described(entries), dict[int, Any]()
        paths = []
        for start, row in zip(self._arrays.cui[heads].tolist(), entries.tolist(), strict=True):
            source, path = start.decode(), []
            for entry in row:
                if entry >= 0:
                    if entry not in rows:
                        # An entry has one head.
                        rows[entry] = {"head_cui": source, **known[entry]}
                    path.append(rows[entry])
                    source = rows[entry]["tail_cui"]
            paths.append(tuple(path))
        return paths

    def concepts(self, heads: NDArray[np.int64], entries: NDArray[np.int64]) -> pa.ListArray:
        """Return the CUIs of paths from the head on, in lists; see ``paths``."""
        nodes = np.concatenate((heads[:, None], np.where(entries < 0, -1, self._arrays.neighbour[entries])), axis=1)
        there = nodes >= 0
        offsets = np.zeros(len(nodes) + 1, np.int32)
        np.cumsum(there.sum(axis=1), out=offsets[1:])
        used, codes = np.unique(nodes[there], return_inverse=True)
        cuis = pa.array(self._arrays.cui[used].tolist(), pa.binary()).cast(pa.string())
        return pa.ListArray.from_arrays(offsets, pa.DictionaryArray.from_arrays(codes.astype(np.int32), cuis))


class Relations(Sequence[Relation]):
    """The paths between the concepts of one or of many pairs, in columns; a ``Relation`` is made when it is read.

    Attributes:
        pair: number of each path's pair among those asked, sorted. Shape: (n,)
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self, reader: PathReader, statements: Sequence[Statement], heads: NDArray[np.int64], rows: NDArray[np.int64]
    ):
        self._reader, self._statements, self._heads, self._path_rows = reader, statements, heads, rows

    @property
    def pair(self) -> NDArray[np.int64]:
        """Number of each path's pair."""
        return self._path_rows[:, PAIR]

    def of_pair(self, number: int) -> Relations:
        """Return the paths of one pair."""
        begin, end = np.searchsorted(self.pair, (number, number + 1))
        return self[int(begin) : int(end)]

    def table(self) -> pa.Table:
        """Return all paths as one Arrow table of ``PATH_SCHEMA``; no Python object is made for a row."""
        rows = self._path_rows
        used, codes = np.unique(rows[:, PLACE], return_inverse=True)
        indices = pa.array(codes.astype(np.int32))
        names = [
            pa.DictionaryArray.from_arrays(
                indices, pa.array([self._statements[place][part] for place in used], pa.string())
            )
            for part in range(3)
        ]
        concepts = self._reader.concepts(self._heads[self.pair], rows[:, FIRST:])
        return pa.table([pa.array(self.pair), *names, concepts], schema=PATH_SCHEMA)

    def __len__(self) -> int:
        return len(self._path_rows)

    @overload
    def __getitem__(self, index: int) -> Relation: ...

    @overload
    def __getitem__(self, index: slice) -> Relations: ...

    def __getitem__(self, index: int | slice) -> Relation | Relations:
        if isinstance(index, slice):
            return Relations(self._reader, self._statements, self._heads, self._path_rows[index])
        place = range(len(self))[index]
        return self._rows(place, place + 1)[0]

    def __iter__(self) -> Iterator[Relation]:
        for begin in range(0, len(self), ROWS_AT_ONCE):
            yield from self._rows(begin, begin + ROWS_AT_ONCE)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def __repr__(self) -> str:
        return f"Relations({list(self)})"

    def _rows(self, begin: int, end: int) -> list[Relation]:
        rows = self._path_rows[begin:end]
        paths = self._reader.paths(self._heads[rows[:, PAIR]], rows[:, FIRST:])
        statements = (self._statements[place] for place in rows[:, PLACE].tolist())
        return [
            Relation(predicate, pattern, tier, path)
            for (predicate, pattern, tier), path in zip(statements, paths, strict=True)
        ]
