"""Which ends of facts the records hold together: linked by notes, or more often than chance would."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import numpy.typing as npt

from builders.medieval.coding import Held, begins, read_held, shard_of
from builders.medieval.facts import run_steps
from builders.medieval.kernels import Meant, Terms, add_pairs, mark_lifted
from ground.compiled import read_only
from ground.flow.executor import Executor, nothing
from ground.storage.warehouse import arrow_of

__all__ = ["lifted_pairs", "linked_pairs"]

LINKED_SHARE = 20
"""Notes count as linking a pair if they do in one of so many admissions with both (docs/definitions.md#linked)."""

FEWEST_TOGETHER = 3
"""Fewer common admissions tell nothing."""

_Counts = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]


class _Counter:
    """Counts of numbers of pairs; what came since the last merge waits until it is as much as all before."""

    def __init__(self) -> None:
        self._number, self._n = np.empty(0, np.int64), np.empty(0, np.int64)
        self._waiting: list[_Counts] = []

    def add(self, counts: _Counts) -> None:
        """Take the counts of some pairs, sorted."""
        self._waiting.append(counts)
        if sum(one.size for one, _ in self._waiting) > self._number.size:
            self.merge()

    def merge(self) -> _Counts:
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
    connection: duckdb.DuckDBPyConnection, executor: Executor, folder: Path, shards: int, terms: Terms, meant: Meant
) -> tuple[npt.NDArray[np.int64], int]:
    """Write the shards of admissions, and return the pairs of ends that notes link often: ``one * concepts + other``.

    Linked in at least a twentieth of the admissions that mention both. Also counts the concepts of admissions that only
    the bare text leaves unclear.

    Args:
        connection: with the tables of the groups.
        executor: works on several shards at a time.
        folder: takes the shards.
        shards: number of shards.
        terms: of the cohort.
        meant: what the names in the text leave unclear.
    """
    counter, named, concepts = _Counter(), 0, terms.mask.size

    def write(_: None, held: Held) -> tuple[int, _Counts]:
        shard = shard_of(held, terms, meant)
        np.savez(folder / f"{held.number}.npz", **shard._asdict())
        np.save(folder / f"{held.number}-carried.npy", held.carried)
        number, n = np.unique(shard.link.astype(np.int64) * concepts + shard.linked, return_counts=True)
        return shard.named.size, (number, n.astype(np.int64))

    for n, links in executor.in_order(nothing, write, read_held(connection)):
        named += n
        counter.add(links)
    pairs, linked = counter.merge()
    return pairs[LINKED_SHARE * linked >= _together(executor, folder, shards, pairs, concepts)], named


def _together(
    executor: Executor, folder: Path, shards: int, pairs: npt.NDArray[np.int64], concepts: int
) -> npt.NDArray[np.int32]:
    """Return in how many admissions the notes mention both of each pair. Shape: (pairs,)"""
    one, other = np.divmod(pairs, max(1, concepts))
    begin, partner = begins(one, concepts), other.astype(np.int32)
    counts = [np.zeros(pairs.size, np.int32)]

    def counting() -> npt.NDArray[np.int32]:
        # Two workers that add to one number would lose a count.
        counts.append(np.zeros(pairs.size, np.int32))
        return counts[-1]

    def count(together: npt.NDArray[np.int32], number: int) -> None:
        owner, code = np.load(folder / f"{number}-carried.npy")
        if owner.size:
            its = begins(owner - owner[0], int(owner[-1] - owner[0]) + 1).astype(np.int64)
            add_pairs(its, read_only(code), begin, partner, together)

    for _ in executor.in_order(counting, count, range(shards)):
        pass
    return sum(counts[1:], start=counts[0])


def lifted_pairs(connection: duckdb.DuckDBPyConnection, ends: int, max_lift: float) -> npt.NDArray[np.uint8]:
    """Return which ends the records have together more often than chance would: a bit for each pair.

    lift = P(both) / (P(one) P(other)); all admissions with codes or notes count. Source: docs/definitions.md#lift

    Args:
        connection: with ``asked_concept``, the ends that are looked at.
        ends: number of ends.
        max_lift: the lift above which a pair is marked.

    Shape: (ends, ends / 8)
    """
    run_steps(connection, "groups", ["recorded"])
    held = arrow_of(connection, "select count(*) as n from recorded group by hadm_id order by hadm_id")
    code = arrow_of(connection, "select code from recorded order by hadm_id")["code"].to_numpy()
    begin = np.concatenate([[0], np.cumsum(held["n"].to_numpy())]).astype(np.int64)
    lifted = np.zeros((ends, (ends + 7) // 8), np.uint8)
    mark_lifted(begin, read_only(code), FEWEST_TOGETHER, max_lift, lifted)
    return lifted
