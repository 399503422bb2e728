"""The builder's tables as arrays of numbers: concepts and frames once, admissions in shards on disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from builders.medieval.kernels import Meant, Shard, Terms, named_only
from ground.compiled import read_only
from ground.storage.sqlfiles import sql_text
from ground.storage.warehouse import arrow_of, number_of, set_variables

__all__ = [
    "SHARD_SIZE",
    "Held",
    "admissions_at_once",
    "begins",
    "bits",
    "bits_of",
    "in_shards",
    "read_held",
    "read_shard",
    "read_terms",
    "runs",
    "shard_of",
]

Ints = npt.NDArray[np.int32]

SHARD_SIZE = 1_000
"""Admissions that are looked at together."""

SHARDS_AT_ONCE = 10
"""Shards that are read together: each reading goes through all facts, and a table of all would not fit in memory."""

READ = ("group", "mention", "link", "named", "carried")
"""What is read of admissions, each from a file of its own, by number of the admission."""


def begins(sorted_keys: npt.NDArray[Any], n: int) -> Ints:
    """Return where the rows of each key from 0 to n - 1 begin, and where the last ones end. Shape: (n + 1,)"""
    return np.searchsorted(sorted_keys, np.arange(n + 1)).astype(np.int32)


def runs(begin: npt.NDArray[Any], n: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return the places of some runs, one run after the other, given where each begins and how long it is."""
    first = np.cumsum(n, dtype=np.int64) - n
    places: npt.NDArray[np.int64] = np.repeat(begin - first, n) + np.arange(int(n.sum()))
    return places


def bits(rows: int, columns: int) -> npt.NDArray[np.uint8]:
    """Return a matrix of bits, none set. Shape: (rows, columns / 8)"""
    return np.zeros((rows, (columns + 7) // 8), np.uint8)


def bits_of(row: npt.NDArray[np.int64], column: npt.NDArray[np.int64], rows: int, ends: int) -> npt.NDArray[np.uint8]:
    """Return a matrix of bits, of which some are set. Shape: (rows, ends / 8)"""
    matrix = bits(rows, ends)
    at = row * matrix.shape[1] + (column >> 3)
    np.bitwise_or.at(matrix.reshape(-1), at, np.left_shift(1, column & 7).astype(np.uint8))
    return matrix


def admissions_at_once(connection: duckdb.DuckDBPyConnection) -> Iterator[range]:
    """Go through the admissions, some shards at a time: sets the variables ``first_number`` and ``last_number``."""
    admissions = number_of(connection, "select count(*) from admission")
    step = SHARDS_AT_ONCE * SHARD_SIZE
    for first in range(0, admissions, step):
        some = range(first, min(first + step, admissions))
        set_variables(connection, {"first_number": some[0], "last_number": some[-1]})
        yield some


def in_shards(some: range, number: npt.NDArray[Any]) -> Iterator[slice]:
    """Yield which rows each shard has, given the sorted admissions of the rows."""
    bounds = np.searchsorted(number, [*some[::SHARD_SIZE], some.stop]).tolist()
    yield from map(slice, bounds, bounds[1:])


def _columns(connection: duckdb.DuckDBPyConnection, query: str) -> list[Ints]:
    return [column.to_numpy().astype(np.int32) for column in arrow_of(connection, query).columns]


def read_terms(connection: duckdb.DuckDBPyConnection) -> tuple[Terms, pa.Array]:
    """Return what holds whatever the admission, and the concepts by number."""
    nameable = arrow_of(connection, "select * from nameable order by code")
    concepts = nameable.num_rows
    original, kept, argument, pair = _columns(
        connection,
        "select original.code, kept.code, frame.argument, frame.pair from frame "
        "inner join nameable as original on frame.original_cui = original.cui "
        "inner join nameable as kept on frame.kept_cui = kept.cui order by frame.frame",
    )
    arguments = arrow_of(connection, sql_text("builders/medieval/groups/argument_flags"))
    first_bucket = np.concatenate([[0], np.cumsum(arguments["buckets"].to_numpy())]).astype(np.int32)
    bucket_argument, number, bucket = _columns(
        connection,
        "select argument, bucket, code from argument_concept inner join nameable using (cui) "
        "order by argument, bucket, code",
    )
    known = np.zeros((arguments.num_rows, concepts), np.uint8)
    known[tuple(_columns(connection, sql_text("builders/medieval/groups/known_argument")))] = 1
    sibling_of, sibling, of_grandparent = _columns(
        connection,
        "select own.code, other.code, of_grandparent from sibling inner join nameable as own on sibling.cui = own.cui "
        "inner join nameable as other on sibling.sibling = other.cui order by own.code, of_grandparent, other.cui",
    )
    covering, cover, by_code = _columns(connection, "select concept, code, by_code from cover order by concept, code")
    sibling_begin = begins(sibling_of, concepts)
    terms = Terms(
        original=original,
        kept=kept,
        argument=argument,
        pair=pair,
        first_bucket=first_bucket,
        bucket_begin=begins(first_bucket[bucket_argument] + number, int(first_bucket[-1])),
        bucket=bucket,
        known=known,
        taxonomic=_flags(arguments["taxonomic"]),
        of_head=_flags(arguments["of_head"]),
        # Of many rows it is a copy, which could be written.
        mask=read_only(nameable["mask"].to_numpy()),
        names_class=_flags(nameable["names_class"]),
        has_members=_flags(nameable["has_members"]),
        sibling_begin=sibling_begin,
        sibling=sibling,
        of_grandparent=of_grandparent.astype(np.uint8),
        frame_sibling_begin=np.concatenate([[0], np.cumsum(np.diff(sibling_begin)[original], dtype=np.int64)]),
        cover_begin=begins(covering, int(covering[-1]) + 1 if covering.size else 0),
        cover=cover,
        by_code=by_code.astype(np.uint8),
    )
    return terms, nameable["cui"].combine_chunks()


def _flags(column: pa.ChunkedArray) -> npt.NDArray[np.uint8]:
    return np.array(column.to_pylist(), np.uint8)


class Held(NamedTuple):
    """What the warehouse has of one shard of admissions, by admission where nothing else is said.

    Attributes:
        number: of the shard.
        admissions: how many it has.
        groups: admission, frame and bucket of each group. Shape: (3, groups)
        evidence: admission, concept, and whether a code says so. Shape: (3, n)
        links: admission and pair of concepts that its notes link. Shape: (3, n)
        names: admission and name in its text. Shape: (2, n)
        carried: admission and mentioned end. Shape: (2, n)
    """

    number: int
    admissions: int
    groups: list[Ints]
    evidence: list[Ints]
    links: list[Ints]
    names: list[Ints]
    carried: list[Ints]


def read_held(connection: duckdb.DuckDBPyConnection) -> Iterator[Held]:
    """Yield the shards of admissions, as the warehouse has them."""
    for some in admissions_at_once(connection):
        parts = list[list[list[Ints]]]()
        for name in READ:
            whole = _columns(connection, sql_text(f"builders/medieval/groups/shard_{name}"))
            parts.append([[column[rows] for column in whole] for rows in in_shards(some, whole[0])])
        for first, *shard in zip(some[::SHARD_SIZE], *parts, strict=True):
            yield Held(first // SHARD_SIZE, min(SHARD_SIZE, some.stop - first), *shard)


def shard_of(held: Held, terms: Terms, meant: Meant) -> Shard:
    """Return one shard of admissions as the groups look at it."""
    admissions, first = held.admissions, held.number * SHARD_SIZE
    owner, frame, bucket = held.groups
    holding, mention, from_code = held.evidence
    linking, link, linked = held.links
    none = np.zeros(0, np.int32)
    shard = Shard(
        begins(owner - first, admissions),
        frame,
        bucket,
        begins(holding - first, admissions),
        mention,
        from_code.astype(np.uint8),
        begins(linking - first, admissions),
        link,
        linked,
        begins(none, admissions),
        none,
    )
    holder, name = held.names
    named = named_only(terms, shard, begins(holder - first, admissions), name, meant)
    return shard._replace(named_begin=begins(named[:, 0], admissions), named=named[:, 1].copy())


def read_shard(file: Path) -> Shard:
    """Return a shard that was written with ``np.savez``."""
    with np.load(file) as arrays:
        return Shard(*(arrays[name] for name in Shard._fields))
