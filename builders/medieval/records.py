"""Which ends of facts the records hold together: linked by notes, or more often than chance would."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from builders.medieval.coding import Held, bits_of, read_held, shard_of
from builders.medieval.facts import run_steps
from builders.medieval.kernels import Meant, Terms
from ground.flow.executor import Executor, nothing
from ground.storage.warehouse import arrow_of

__all__ = ["FEWEST_TOGETHER", "LINKED_SHARE", "lifted", "lifted_pairs", "linked_pairs", "together"]

LINKED_SHARE = 20
"""Notes count as linking a pair if they do in one of so many admissions with both (docs/definitions.md#linked)."""

FEWEST_TOGETHER = 3
"""Fewer common patients tell nothing."""

CONCEPTS_AT_ONCE = 64
"""Concepts whose common admissions with all others are counted together."""

_Numbers = npt.NDArray[np.int64]
_Counts = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]


class _Counter:
    """Counts of numbers of pairs; what came since the last merge waits until it is as much as all before."""

    def __init__(self) -> None:
        self._number, self._n = np.empty(0, np.int64), np.empty(0, np.int64)
        self._waiting: list[_Counts] = []

    def add(self, counts: _Counts) -> None:
        """Take the counts of some pairs, sorted."""
        self._waiting.append(counts)
        if sum(number.size for number, _ in self._waiting) > self._number.size:
            self.merge()

    def merge(self) -> _Counts:
        """Return the pairs, sorted, and how often each came. Shapes: (pairs,)"""
        parts = [(self._number, self._n), *self._waiting]
        self._waiting = []
        number = np.concatenate([numbers for numbers, _ in parts])
        n = np.concatenate([many for _, many in parts])
        order = np.argsort(number, kind="stable")
        number = number[order]
        starts = np.flatnonzero(np.diff(number, prepend=-1))
        self._number, self._n = number[starts], np.add.reduceat(n[order], starts) if starts.size else n
        return self._number, self._n


def linked_pairs(
    connection: duckdb.DuckDBPyConnection, executor: Executor, folder: Path, shards: int, terms: Terms, meant: Meant
) -> tuple[npt.NDArray[np.int64], int]:
    """Write the shards of admissions, and return the pairs of ends that notes link often: ``left * concepts + right``.

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


def _matrix(row: npt.NDArray[np.int64], code: npt.NDArray[np.int32], rows: int, concepts: int) -> csr_array:
    """Return which rows hold which concepts, given once for each. Shape: (rows, concepts)"""
    return csr_array((np.ones(code.size, np.int8), (row, code)), shape=(rows, concepts))


def _pairs(left: csr_array, right: csr_array) -> tuple[_Numbers, _Numbers, _Numbers]:
    """Return rows of one matrix and columns of another that meet, and how often. Shapes: (n,)"""
    both = (left.astype(np.int32) @ right).tocoo()
    return both.row.astype(np.int64), both.col.astype(np.int64), both.data.astype(np.int64)


def together(admission: _Numbers, code: npt.NDArray[np.int32], pairs: _Numbers, concepts: int) -> _Counts:
    """Return which of some pairs, ``left * concepts + right`` and sorted, admissions hold, and how many hold each.

    Args:
        admission, code: what admissions hold, each concept once. Shape: (n,)
        pairs: the pairs. Shape: (pairs,)
        concepts: number of all concepts.
    """
    held = _matrix(admission, code, int(admission.max(initial=-1)) + 1, concepts)
    left, right, n = _pairs(held.T, held)
    place = np.searchsorted(pairs, left * concepts + right)
    wanted = np.append(pairs, -1)[place] == left * concepts + right
    return place[wanted], n[wanted]


def lifted(patient: _Numbers, code: npt.NDArray[np.int32], ends: int, max_lift: float) -> npt.NDArray[np.uint8]:
    """Return which ends stand together in at least `FEWEST_TOGETHER` patients' records, more often than chance would.

    Args:
        patient, code: what their records hold, each concept once; patients from 0. Shape: (n,)
        ends: number of ends.
        max_lift: lift above which a pair is marked.

    Returns:
        A bit for each pair. Shape: (ends, ends / 8)
    """
    patients = int(patient.max(initial=-1)) + 1
    held = _matrix(patient, code, patients, ends)
    holders = held.T.tocsr()
    alone = np.diff(holders.indptr).astype(np.int64)
    pairs = [np.empty((2, 0), np.int64)]
    for first in range(0, ends, CONCEPTS_AT_ONCE):
        left, right, n = _pairs(holders[first : first + CONCEPTS_AT_ONCE], held)
        left += first
        often = (n >= FEWEST_TOGETHER) & (n * patients / (alone[left] * alone[right]) > max_lift)
        pairs.append(np.stack((left[often], right[often])))
    marked = np.concatenate(pairs, axis=1)
    return bits_of(marked[0], marked[1], ends, ends)


def _together(executor: Executor, folder: Path, shards: int, pairs: _Numbers, concepts: int) -> _Numbers:
    """Return in how many admissions the notes mention both of each pair. Shape: (pairs,)"""

    def count(_: None, number: int) -> _Counts:
        owner, code = np.load(folder / f"{number}-carried.npy")
        return together(np.unique(owner, return_inverse=True)[1], code, pairs, concepts)

    total = np.zeros(pairs.size, np.int64)
    for place, n in executor.in_order(nothing, count, range(shards)):
        total[place] += n
    return total


def lifted_pairs(connection: duckdb.DuckDBPyConnection, ends: int, max_lift: float) -> npt.NDArray[np.uint8]:
    """Return which ends the records have together more often than chance would: a bit for each pair.

    lift = P(both) / (P(first) P(second)); all patients with codes or notes count. Source: docs/definitions.md#lift

    Args:
        connection: with ``asked_concept``, the ends that are looked at.
        ends: number of ends.
        max_lift: the lift above which a pair is marked.

    Shape: (ends, ends / 8)
    """
    run_steps(connection, "groups", ["recorded"])
    query = "select dense_rank() over (order by subject_id) - 1 as patient, code from recorded"
    table = arrow_of(connection, query)
    return lifted(table["patient"].to_numpy(), table["code"].to_numpy(), ends, max_lift)
