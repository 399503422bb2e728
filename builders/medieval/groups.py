"""Groups of four statements: candidates for Q2, Q3 and Q4 of each fact are judged, and one of each is drawn.

Whether a pair is true or false does not depend on the admission. So a first pass over the admissions marks the pairs
that some group needs, SQL and the graph judge each of them once, and further passes use the verdicts. Admissions are
arrays (builders/medieval/kernels.py), which workers read a shard at a time. Workers share memory that they only read,
except bytes that all of them would set to the same value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from builders.medieval import kernels
from builders.medieval.balance import REPLACED, draw_statements
from builders.medieval.bare_text import find_names
from builders.medieval.coding import (
    SHARD_SIZE,
    admissions_at_once,
    begins,
    bits,
    in_shards,
    read_shard,
    read_terms,
    runs,
)
from builders.medieval.draws import exponential, mixed
from builders.medieval.facts import run_steps
from builders.medieval.hierarchy import reached
from builders.medieval.judging import judge_false, judge_true
from builders.medieval.pool import Candidates, Pool
from builders.medieval.records import linked_pairs
from ground.flow.executor import Executor, nothing
from ground.settings import BuildSettings
from ground.storage.sqlfiles import sql_text
from ground.storage.warehouse import add_rows, arrow_of, number_of, set_variables
from kg.graph import ConceptGraph

__all__ = ["make_groups"]

BUCKET_SIZE = 256
"""Distractors in a bucket, about; a group looks at one bucket."""

ALIKE = 4
"""How often the chance of a candidate is doubled for the same semantic types, and for a common broad area."""

REGIONS = 62
"""Broad areas of medicine that are looked at (sql/builders/medieval/groups/trait.sql)."""

BANDS = 3
"""Difference in frequency, in powers of two, from which on two concepts are not alike."""

WEIGHT_FLOOR = 0.02
"""Weight of a concept that no supported statement has; one that a single fact has weighs 1."""

TYING = (
    "causes",
    "manifestation_of",
    "sign_or_symptom_of",
    "defining_characteristic_of",
    "associated_with",
    "co-occurs_with",
)
"""Predicates between a disorder and its causes, complications and symptoms."""

Bytes = npt.NDArray[np.uint8]
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class _Traits:
    """What makes a candidate like the end that it replaces (docs/definitions.md#alike). Shapes: (concepts,)

    Attributes:
        kind: a number for the same semantic types.
        regions: broad areas, a bit each.
        band: power of two of the admissions that attest a concept.
        name_no: a number for the same name.
    """

    kind: npt.NDArray[np.int32]
    regions: npt.NDArray[np.int64]
    band: npt.NDArray[np.int8]
    name_no: npt.NDArray[np.int32]

    def wanted(self, terms: kernels.Terms) -> npt.NDArray[np.int64]:
        """Return the areas that go with the kept end of each frame: a candidate there is not false by its area alone.

        They are the areas of the ends that facts of the argument have beside ends of the kept end's areas.

        Shape: (frames,)
        """
        own, kept = self.regions[terms.original], self.regions[terms.kept]
        wanted = np.zeros(own.size, np.int64)
        for bit in range(REGIONS):
            beside = np.zeros(terms.taxonomic.size, np.int64)
            holds = (kept >> bit & 1) == 1
            np.bitwise_or.at(beside, terms.argument[holds], own[holds])
            wanted[holds] |= beside[terms.argument[holds]]
        return wanted

    def preference(
        self, original: npt.NDArray[np.int32], wanted: npt.NDArray[np.int64], code: npt.NDArray[np.int32]
    ) -> Bytes:
        """Return how often the chance of each candidate is doubled; none is excluded: no fact loses its last one.

        Args:
            original: the replaced end. Shape: (n,)
            wanted: areas that go with the kept end, a bit each. Shape: (n,)
            code: the candidate. Shape: (n,)
        """
        preference: Bytes = ALIKE * (self.kind[original] == self.kind[code]).astype(np.uint8)
        preference += ALIKE * ((wanted & self.regions[code]) != 0).astype(np.uint8)
        preference += ((self.regions[original] & self.regions[code]) != 0).astype(np.uint8)
        apart = np.abs(self.band[original] - self.band[code])
        preference += np.maximum(0, BANDS - apart).astype(np.uint8)
        return preference


@dataclass
class _Groups:
    """What the passes over the admissions share.

    Attributes:
        executor: works on several shards at a time.
        terms: what holds of concepts and frames.
        hashes: stable hash of each concept. Shape: (concepts,)
        verdicts: of candidates.
        never_false: whether no statement of the predicate of a frame is called false. Shape: (frames,)
        shards: number of shards of admissions.
        folder: where the shards lie.
        without: facts that have no candidate for Q2, Q3 and Q4. Shape: (3,)
    """

    executor: Executor
    terms: kernels.Terms
    hashes: npt.NDArray[np.uint64]
    verdicts: kernels.Verdicts
    never_false: npt.NDArray[np.bool_]
    shards: int
    folder: Path
    without: npt.NDArray[np.int64]

    def shard(self, number: int) -> kernels.Shard:
        return read_shard(self.folder / f"{number}.npz")

    def each(self, work: Callable[[int], Answer]) -> Iterator[Answer]:
        """Yield what is made of each shard, given its number, in order."""
        return self.executor.in_order(nothing, lambda _, number: work(number), range(self.shards))

    def candidates(
        self, shard: kernels.Shard, wanted: npt.NDArray[np.bool_], *, every: bool
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Return candidates of some groups, and how many each of all has for Q2, Q3 and Q4 (groups, 3).

        All of them, or only the first for each.
        """
        counts = np.zeros((shard.frame.size, 3), np.int32)
        return kernels.candidates_of(self.terms, shard, self.verdicts, wanted, every, counts), counts


def _asked(executor: Executor, terms: kernels.Terms, folder: Path, shards: int, ends: int) -> tuple[Bytes, Bytes]:
    """Return the ends and the siblings that are candidates of some group. Shapes: (pairs, ends / 8), (siblings,)

    Each worker has tables of its own: of two bits that two workers set in one byte, one would be lost.
    """
    buckets = int(np.diff(terms.first_bucket).max(initial=1))
    of_workers = list[tuple[Bytes, Bytes]]()

    def tables() -> tuple[Bytes, Bytes, Bytes]:
        own = bits(int(terms.pair.max(initial=-1)) + 1, ends), np.zeros(int(terms.frame_sibling_begin[-1]), np.uint8)
        of_workers.append(own)
        return *own, np.zeros((terms.original.size, buckets), np.uint8)

    def mark(own: tuple[Bytes, Bytes, Bytes], number: int) -> None:
        kernels.mark_asked(terms, read_shard(folder / f"{number}.npz"), *own)

    for _ in executor.in_order(tables, mark, range(shards)):
        pass
    if not of_workers:  # no shard, no worker
        tables()
    asked, siblings = (
        reduce(partial(np.bitwise_or, out=all_of[0]), all_of) for all_of in zip(*of_workers, strict=True)
    )
    return asked, siblings


def _near(
    connection: duckdb.DuckDBPyConnection, graph: ConceptGraph, cui: pa.Array, ends: int, least: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Return the ends that are too close to each end to be its distractors; all forms of a drug are one.

    Shapes: (ends + 1,), (n,)
    """
    base = dict(connection.execute("select cui, base_cui from linked_base").fetchall())
    bases, own = np.unique(
        graph.numbers_of([base.get(name, name) for name in cui.slice(0, ends).to_pylist()]), return_inverse=True
    )
    end = np.argsort(own, kind="stable").astype(np.int32)
    held = begins(own[end], bases.size)
    base_of = np.full(len(graph), -1)
    base_of[bases] = np.arange(bases.size)
    near = [np.tile(np.arange(bases.size), (2, 1))]
    # What is nearer than the limit is found within limit - 1 steps.
    for start, node, _ in reached(graph, bases, least - 1):
        close = base_of[node]
        near.append(np.stack([start, close])[:, close >= 0])
    start, close = np.concatenate(near, axis=1)
    order = np.lexsort((close, start))
    start, close = start[order], close[order]
    n = np.diff(held)[close]
    near_end, near_begin = end[runs(held[close], n)], np.concatenate([[0], np.cumsum(n)])[begins(start, bases.size)]
    sizes = np.diff(near_begin)[own]
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]), near_end[runs(near_begin[own], sizes)]


def _count_near(connection: duckdb.DuckDBPyConnection, groups: _Groups) -> None:
    """Count the distractors that make a false statement but are too close to the end that they would replace."""
    terms, met = groups.terms, np.zeros(groups.verdicts.near.size, np.uint8)
    argument = np.repeat(np.arange(terms.first_bucket.size - 1), np.diff(terms.bucket_begin[terms.first_bucket]))
    bucket = np.repeat(np.arange(terms.bucket_begin.size - 1), np.diff(terms.bucket_begin))
    bucket_of = np.full((terms.taxonomic.size, terms.mask.size), -1, np.int32)
    bucket_of[argument, terms.bucket] = bucket - terms.first_bucket[argument]
    for _ in groups.each(lambda n: kernels.mark_near(terms, groups.shard(n), groups.verdicts, bucket_of, met)):
        pass
    set_variables(connection, {"near_pairs": int(met.sum())})


def _complete(groups: _Groups, number: int) -> tuple[npt.NDArray[np.int64], pa.Table]:
    """Return the numbers of facts of one shard without a candidate for Q2, Q3 and Q4 (3,), and the complete groups."""
    shard = groups.shard(number)
    _, counts = groups.candidates(shard, np.ones(shard.frame.size, np.bool_), every=False)
    # The two arguments of a fact follow one another.
    without = (counts[0::2] == 0) & (counts[1::2] == 0)
    # Of these no false statement was asked for.
    without[groups.never_false[shard.frame[0::2]], 1:] = False
    complete = np.flatnonzero((counts > 0).all(axis=1))
    admission = np.repeat(np.arange(shard.group_begin.size - 1, dtype=np.int32), np.diff(shard.group_begin))
    return without.sum(axis=0), pa.table(
        {"number": admission[complete] + number * SHARD_SIZE, "frame": shard.frame[complete]}
    )


def _find_complete(connection: duckdb.DuckDBPyConnection, groups: _Groups) -> None:
    """Make ``completed_group``: one group for each fact with a candidate for every quadrant."""
    connection.execute("create or replace temp table complete (number integer, frame integer)")
    connection.execute("create or replace temp table completed_group (number integer, frame integer, draw double)")
    for without, table in groups.each(partial(_complete, groups)):
        groups.without += without
        add_rows(connection, "complete", table)
    for _ in admissions_at_once(connection):
        run_steps(connection, "groups", ["completed_group"])
    connection.execute("drop table complete")


def _never_false(connection: duckdb.DuckDBPyConnection, terms: kernels.Terms) -> npt.NDArray[np.bool_]:
    """Return which frames have a predicate of which no statement is called false. Shape: (frames,)"""
    query = "select argument from argument inner join kg.predicate as line using (predicate) where statement = 'true'"
    return np.isin(terms.argument, arrow_of(connection, query)["argument"].to_numpy())


def _true_candidates(groups: _Groups, number: int) -> pa.Table:
    """Return the siblings that replace an end of one shard's facts of which none is false: (number, frame, code)."""
    shard = groups.shard(number)
    wanted = groups.never_false[shard.frame]
    code, counts = groups.candidates(shard, wanted, every=True)
    at = np.repeat(np.arange(wanted.size), np.where(wanted, counts[:, 0], 0))
    admission = np.repeat(np.arange(shard.group_begin.size - 1, dtype=np.int32), np.diff(shard.group_begin))
    return pa.table({"number": admission[at] + number * SHARD_SIZE, "frame": shard.frame[at], "code": code})


def _find_true_only(connection: duckdb.DuckDBPyConnection, groups: _Groups) -> None:
    """Make ``true_candidate``: what makes a true statement that is not supported, of facts of which none is false."""
    connection.execute("create or replace temp table true_candidate (number integer, frame integer, code integer)")
    if groups.never_false.any():
        for table in groups.each(partial(_true_candidates, groups)):
            add_rows(connection, "true_candidate", table)


def _limit(connection: duckdb.DuckDBPyConnection, settings: BuildSettings) -> None:
    """Apply the limits, in whole groups, until they hold: fewer groups make the share of a pair or predicate larger."""
    connection.execute("create or replace temp table limited_group as select * from completed_group")
    before, groups = -1, number_of(connection, "select count(*) from limited_group")
    predicates = number_of(
        connection, "select count(distinct frame.predicate) from frame semi join limited_group using (frame)"
    )
    # Shares of one or two predicates cannot all be below the limit.
    share = max(settings.max_predicate_share, 1 / max(1, predicates))
    while groups != before:
        before = groups
        most = {"max_pairs": settings.max_pair_share, "max_of_predicate": share}
        set_variables(connection, {name: math.ceil(share_of * groups) for name, share_of in most.items()})
        run_steps(connection, "groups", ["group_limit"])
        groups = number_of(connection, "select count(*) from limited_group")
    run_steps(connection, "groups", ["fact_group"])


def _read_traits(connection: duckdb.DuckDBPyConnection) -> _Traits:
    run_steps(connection, "groups", ["trait"])
    table = arrow_of(connection, "select kind, regions, band, name_no from trait order by code")
    kind, regions, band, name_no = (table[name].to_numpy() for name in table.column_names)
    return _Traits(kind.astype(np.int32), regions, band.astype(np.int8), name_no.astype(np.int32))


def _by_shard(connection: duckdb.DuckDBPyConnection) -> Iterator[tuple[int, pa.Table, pa.ChunkedArray]]:
    """Yield each shard's number, its drawn groups, and the hash of each with each quadrant."""
    for some in admissions_at_once(connection):
        between = f"where number between {some[0]} and {some[-1]} order by group_no"
        group = arrow_of(connection, f"select group_no, number, frame, precedence from fact_group {between}")
        keys = arrow_of(connection, sql_text("builders/medieval/groups/group_hash"))["hash"]
        for first, its in zip(some[::SHARD_SIZE], in_shards(some, group["number"].to_numpy()), strict=True):
            yield first // SHARD_SIZE, group[its], keys[len(REPLACED) * its.start : len(REPLACED) * its.stop]


def _concept_hashes(connection: duckdb.DuckDBPyConnection) -> npt.NDArray[np.uint64]:
    """Return the stable hash of each concept, by number. Shape: (concepts,)"""
    hashes: npt.NDArray[np.uint64] = arrow_of(
        connection, "select md5_number_upper(cui) as hash from nameable order by code"
    )["hash"].to_numpy()
    return hashes


def _list_candidates(
    groups: _Groups,
    traits: _Traits,
    wanted: npt.NDArray[np.int64],
    of_shard: tuple[int, pa.Table, pa.ChunkedArray],
) -> Candidates:
    """Return the candidates of the groups of one shard that are drawn, with their draws."""
    number, group, keys = of_shard
    shard = groups.shard(number)
    admission = np.repeat(np.arange(shard.group_begin.size - 1, dtype=np.int64), np.diff(shard.group_begin))
    frames = groups.terms.original.size
    held = group["frame"].to_numpy().astype(np.int64)
    its = group["number"].to_numpy().astype(np.int64) - number * SHARD_SIZE
    chosen = np.isin(admission * frames + shard.frame, its * frames + held)
    code, counts = groups.candidates(shard, chosen, every=True)
    counts = counts[chosen].reshape(-1)
    begin = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    hashes = mixed(np.repeat(keys.to_numpy(), counts), groups.hashes[code])
    original, each = groups.terms.original[shard.frame[chosen]], np.diff(begin[::3])
    return Candidates(
        np.searchsorted(its, np.arange(shard.group_begin.size)),
        groups.terms.kept[shard.frame[chosen]],
        original,
        group["precedence"].to_numpy(),
        begin,
        code,
        traits.preference(np.repeat(original, each), np.repeat(wanted[shard.frame[chosen]], each), code),
        exponential(hashes),
    )


def make_groups(
    connection: duckdb.DuckDBPyConnection,
    graph: ConceptGraph,
    settings: BuildSettings,
    executor: Executor,
    scratch: Path,
) -> None:
    """Make ``fact_group``, ``choice``, ``sibling_fact`` and ``extension``: complete groups and their statements.

    Args:
        connection: with what is true and what is attested.
        graph: the concept graph.
        settings: of the build.
        executor: of workers that share this process's memory.
        scratch: a folder for the shards while the groups are made.
    """
    values = {
        "bucket_size": BUCKET_SIZE,
        "family_size": settings.family_size,
        "extended_share": settings.extended_share,
        "max_groups": settings.max_groups_per_admission,
        "tying": list(TYING),
    }
    set_variables(connection, values)
    run_steps(connection, "groups", ["frame", "nameable", "cover", "evidence", "near_end"])
    terms, cui = read_terms(connection)
    meant = find_names(connection, graph, executor, radiology=settings.radiology)
    shards = -(-number_of(connection, "select count(*) from admission") // SHARD_SIZE)
    ends = number_of(connection, "select count(*) from nameable where is_end")
    with TemporaryDirectory(dir=scratch) as folder:
        shards_at = Path(folder)
        linked, named = linked_pairs(connection, executor, shards_at, shards, terms, meant)
        asked, siblings = _asked(executor, terms, shards_at, shards, ends)
        never_false = _never_false(connection, terms)
        asked[terms.pair[never_false]] = 0
        # Falsehood comes first: it uses the tables of areas that judging truth replaces.
        judge_false(connection, graph, terms, asked, linked, settings)
        true = judge_true(connection, graph, terms, siblings, settings)
        near = _near(connection, graph, cui, ends, settings.min_distractor_distance)
        groups = _Groups(
            executor,
            terms,
            _concept_hashes(connection),
            kernels.Verdicts(asked, true, *near),
            never_false,
            shards,
            shards_at,
            np.zeros(3, np.int64),
        )
        _count_near(connection, groups)
        _find_complete(connection, groups)
        _find_true_only(connection, groups)
        _limit(connection, settings)
        count = number_of(connection, "select count(*) from fact_group")
        traits = _read_traits(connection)
        wanted = traits.wanted(terms)
        pool = Pool(executor, groups.folder, traits.name_no, WEIGHT_FLOOR, np.full((count, 3), -1, np.int32))
        listed = partial(_list_candidates, groups, traits, wanted)
        for candidates in executor.in_order(nothing, lambda _, of_shard: listed(of_shard), _by_shard(connection)):
            pool.add(candidates)
        draw_statements(connection, pool, settings)
    set_variables(connection, {"named_only": named, "facts_without": groups.without.tolist()})
    run_steps(connection, "groups", ["extension_kind"])
    run_steps(connection, "truth", ["contested"])
    run_steps(connection, "groups", ["extension"])
