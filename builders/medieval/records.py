"""Which ends of facts the records hold together: linked by notes, or more often than chance would."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from builders.medieval.coding import begins, shard_of
from builders.medieval.kernels import Meant, Terms, add_pairs
from ground.storage.sqlfiles import sql_text
from ground.storage.warehouse import arrow_of

__all__ = ["lifted_pairs", "linked_pairs"]

LINKED_SHARE = 20
"""Notes count as linking a pair if they do in one of so many admissions with both (docs/definitions.md#linked)."""

FEWEST_TOGETHER = 3
"""Fewer common admissions tell nothing."""

BATCH_ROWS = 1_000_000


class _Wanted:
    """Ordered pairs of concepts that are counted: the numbers of both as one, sorted, and in how many admissions.

    Args:
        pairs: numbers of the pairs, ``one * concepts + other``, sorted. Shape: (pairs,)
        concepts: number of concepts.
    """

    def __init__(self, pairs: npt.NDArray[np.int64], concepts: int) -> None:
        self.one, self.other = np.divmod(pairs, max(1, concepts))
        self.together = np.zeros(pairs.size, np.int32)
        self._begin = begins(self.one, concepts)
        self._partner = self.other.astype(np.int32)

    def add(self, begin: npt.NDArray[Any], code: npt.NDArray[np.int32]) -> None:
        """Count the pairs of some admissions."""
        add_pairs(begin, code, self._begin, self._partner, self.together)

    def table(self, cui: pa.Array, which: npt.NDArray[np.bool_]) -> pa.Table:
        """Return (cui, other) of some of the pairs."""
        return pa.table({"cui": cui.take(pa.array(self.one[which])), "other": cui.take(pa.array(self.other[which]))})


class _Counter:
    """Counts of numbers of pairs; what came since the last merge waits until it is as much as all before."""

    def __init__(self) -> None:
        self._number, self._n = np.empty(0, np.int64), np.empty(0, np.int64)
        self._waiting: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]] = []

    def add(self, pairs: npt.NDArray[np.int64]) -> None:
        number, n = np.unique(pairs, return_counts=True)
        self._waiting.append((number, n.astype(np.int64)))
        if sum(one.size for one, _ in self._waiting) > self._number.size:
            self.merge()

    def merge(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the pairs, sorted, and how often each came. Shapes: (pairs,)"""
        parts = [(self._number, self._n), *self._waiting]
        self._waiting = []
        number = np.concatenate([one for one, _ in parts])
        n = np.concatenate([many for _, many in parts])
        order = np.argsort(number, kind="stable")
        number = number[order]
        starts = np.flatnonzero(np.diff(number, prepend=-1))
        self._number, self._n = number[starts], np.add.reduceat(n[order], starts) if starts.size else n
        return self._number, self._n


def linked_pairs(
    connection: duckdb.DuckDBPyConnection, folder: Path, shards: int, cui: pa.Array, terms: Terms, meant: Meant
) -> tuple[pa.Table, int]:
    """Write the shards of admissions, and return (cui, other) of ends that notes link often.

    Linked in at least a twentieth of the admissions that mention both. Also counts the concepts of admissions that only
    the bare text leaves unclear.

    Args:
        connection: with the tables of the groups.
        folder: takes the shards.
        shards: number of shards.
        cui: concepts by number.
        terms: of the cohort.
        meant: what the names in the text leave unclear.
    """
    counter, named = _Counter(), 0
    for number in range(shards):
        shard = shard_of(connection, number, terms, meant)
        named += shard.named.size
        np.savez(folder / f"{number}.npz", **shard._asdict())
        counter.add(shard.link.astype(np.int64) * len(cui) + shard.linked)
        carried = arrow_of(connection, sql_text("builders/medieval/groups/shard_carried"))
        np.save(folder / f"{number}-carried.npy", np.stack([carried[name].to_numpy() for name in ("number", "code")]))
    pairs, linked = counter.merge()
    wanted = _Wanted(pairs, len(cui))
    for number in range(shards):
        owner, code = np.load(folder / f"{number}-carried.npy")
        if owner.size:
            wanted.add(begins(owner - owner[0], int(owner[-1] - owner[0]) + 1), code)
    return wanted.table(cui, LINKED_SHARE * linked >= wanted.together), named


def _count_recorded(connection: duckdb.DuckDBPyConnection, wanted: _Wanted, alone: npt.NDArray[np.int64]) -> int:
    """Add up the admissions that hold one or two concepts, and return how many hold any."""
    connection.execute("select 1").fetchall()
    reader = connection.sql(sql_text("builders/medieval/groups/recorded")).to_arrow_reader(BATCH_ROWS)
    admissions = 0
    rest = pa.table({"hadm_id": pa.array([], pa.int64()), "code": pa.array([], pa.int32())})
    for batch in chain(reader, [None]):
        rows = rest if batch is None else pa.concat_tables([rest, pa.Table.from_batches([batch]).cast(rest.schema)])
        owner, code = rows["hadm_id"].to_numpy(), rows["code"].to_numpy()
        starts = np.flatnonzero(np.concatenate([[True], owner[1:] != owner[:-1]])) if owner.size else np.empty(0, int)
        # The last admission of a batch may go on in the next one.
        ends = starts if batch is not None else np.append(starts, owner.size)
        if ends.size > 1:
            wanted.add(ends.astype(np.int64), code)
            alone += np.bincount(code[: ends[-1]], minlength=alone.size)
            admissions += ends.size - 1
        rest = rows.slice(int(ends[-1])) if ends.size else rows
    return admissions


def lifted_pairs(connection: duckdb.DuckDBPyConnection, cui: pa.Array, max_lift: float) -> pa.Table:
    """Return (cui, other) of candidates for false statements that stand together more often than chance would.

    lift = P(both) / (P(one) P(other)) over all admissions with codes or notes. Source: docs/definitions.md#lift
    """
    asked = arrow_of(connection, sql_text("builders/medieval/groups/asked_pair"))
    one, other = (asked[name].to_numpy().astype(np.int64) for name in ("one", "other"))
    pairs = np.unique(np.concatenate([one * len(cui) + other, other * len(cui) + one]))
    wanted, alone = _Wanted(pairs, len(cui)), np.zeros(len(cui), np.int64)
    admissions = _count_recorded(connection, wanted, alone)
    together = wanted.together.astype(np.int64)
    often = together >= FEWEST_TOGETHER
    expected = np.where(often, alone[wanted.one] * alone[wanted.other], 1)
    return wanted.table(cui, often & (together * admissions / expected > max_lift))
