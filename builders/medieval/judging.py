"""Which replacements make a false statement and which a true one: the graph, the records and SQL are asked.

There can be a hundred million pairs of ends where notes are as diverse as a hospital's. A pair is a bit here; SQL says
what speaks against a falsehood of single ends, and facts go by as they are found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from builders.medieval.coding import begins, bits, bits_of
from builders.medieval.facts import cuis, find_true, run_steps
from builders.medieval.kernels import Terms, mark_related
from builders.medieval.records import lifted_pairs
from ground.settings import BuildSettings
from ground.storage.sqlfiles import sql_text
from ground.storage.warehouse import arrow_of, set_table
from kg.facts import FACT_SCHEMA
from kg.graph import ConceptGraph
from kg.predicates import TIERS

__all__ = ["judge_false", "judge_true", "related_ends"]

AT_ONCE = 1 << 24
"""Pairs, a byte each, that are looked through at once."""

RELATED = "a path within 3 hops relates the ends"
UNKNOWN = {slot: f"the graph knows no such relation of the {slot}" for slot in ("head", "tail")}
LINKED = "a note links the ends"
LIFTED = "the ends are over-represented together in the records"
REASONS = (
    RELATED,
    *UNKNOWN.values(),
    "the head has this relation to the same area",
    "the tail has this relation to the same class",
    "a use of the head is tied to the tail",
    "a known use of the substance or its group",
    "the class holds something with the same treatment",
    "the class overlaps with a class of the head",
    "the class is too general",
    LINKED,
    LIFTED,
    "the names share a word",
)
"""Why a statement must not be called false; the first that holds is counted. Source: docs/definitions.md#false"""

SLOTS = ("head", "tail")
Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]


def _count(matrix: Bytes) -> int:
    """Return how many bits are set."""
    return int.from_bytes(matrix.tobytes(), "little").bit_count()


class _Side(NamedTuple):
    """What is known of one end of statements, for one reason: concepts and their keys, by concept. Shapes: (n,)"""

    code: Ints
    key: Ints


def _sharing(kept: Ints, own: _Side, others: _Side, ends: int) -> Bytes:
    """Return which ends have a key in common with each of some concepts. Shape: (n, ends / 8)

    Args:
        kept: the concepts. Shape: (n,)
        own: of their side of a statement.
        others: of the other side.
        ends: number of ends.
    """
    sharing = bits(kept.size, ends)
    keys, row = np.unique(others.key, return_inverse=True)
    holding = bits_of(row, others.code, keys.size, ends)
    known = np.isin(own.key, keys)
    code, key = own.code[known], np.searchsorted(keys, own.key[known])
    begin = np.searchsorted(code, kept)
    n = np.searchsorted(code, kept, side="right") - begin
    for turn in range(int(n.max(initial=0))):
        # The next key of each concept that has one more.
        more = np.flatnonzero(n > turn)
        sharing[more] |= holding[key[begin[more] + turn]]
    return sharing


@dataclass(frozen=True)
class _Known:
    """What tells which replacements make no false statement, whatever the predicate. Shapes: (ends, ends / 8)

    Attributes:
        related: a path of any tier relates two ends, or their twins, either way.
        linked: notes link them.
        lifted: the records have them together more often than chance.
    """

    related: Bytes
    linked: Bytes
    lifted: Bytes


class _Judge:
    """Clears the bits of replacements that must not be called false, argument by argument, and counts the reasons.

    Args:
        connection: with the tables of ``false_ground.sql``.
        terms: of the cohort.
        asked: a bit for each (argument, kept end) and end that stands in for the other one. Shape: (pairs, ends / 8)
        known: of the ends.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, terms: Terms, asked: Bytes, known: _Known) -> None:
        self._grounds = _grounds(connection)
        self._terms, self._asked, self._known = terms, asked, known
        self._ends = known.related.shape[0]
        pairs = asked.shape[0]
        self._argument, self._kept = np.zeros(pairs, np.int64), np.zeros(pairs, np.int64)
        self._argument[terms.pair], self._kept[terms.pair] = terms.argument, terms.kept
        self.counts = dict.fromkeys(REASONS, 0)

    def judge(self, predicate: str, arguments: Mapping[str, int]) -> None:
        """Judge the replacements of both ends of the statements of a predicate, given the arguments of both."""
        rows = {slot: np.flatnonzero(self._argument == argument) for slot, argument in arguments.items()}
        repeated = {"head": bits(rows["head"].size, self._ends), "tail": self._repeated(rows["head"], rows["tail"])}
        for slot, other in zip(SLOTS, SLOTS[::-1], strict=True):
            kept, open_ = self._kept[rows[slot]], self._asked[rows[slot]]
            for reason in REASONS:
                ground = self._grounds.get((predicate, reason), {})
                if len(ground) == len(SLOTS):
                    held = _sharing(kept, ground[other], ground[slot], self._ends)
                else:
                    held = self._held(reason, kept, slot, arguments)
                held = held & open_
                self.counts[reason] += _count(held) - _count(held & repeated[slot])
                open_ &= ~held
            self._asked[rows[slot]] = open_

    def _held(self, reason: str, kept: Ints, slot: str, arguments: Mapping[str, int]) -> Bytes:
        """Return which replacements a reason speaks against that is no ground. Shape: (kept, ends / 8)"""
        alone = {RELATED: self._known.related, LINKED: self._known.linked, LIFTED: self._known.lifted}
        if reason in alone:
            return alone[reason][kept]
        unknown = self._terms.known == 0
        for side in SLOTS:
            if reason == UNKNOWN[side] and side == slot:
                return np.tile(np.packbits(unknown[arguments[side], : self._ends], bitorder="little"), (kept.size, 1))
            if reason == UNKNOWN[side]:
                return np.where(unknown[arguments[side], kept, None], np.uint8(0xFF), np.uint8(0))
        return bits(kept.size, self._ends)

    def _repeated(self, heads: Ints, tails: Ints) -> Bytes:
        """Return which replacements of tails make a statement that one of a head makes too. Shape: (tails, ends / 8)"""
        repeated = bits(tails.size, self._ends)
        for begin in range(0, tails.size, step := max(1, AT_ONCE // max(1, self._ends))):
            kept = self._kept[tails[begin : begin + step]]
            same = np.zeros((kept.size, self._ends), np.uint8)
            same[:, self._kept[heads]] = (self._asked[heads][:, kept >> 3] >> (kept & 7).astype(np.uint8) & 1).T
            repeated[begin : begin + step] = np.packbits(same, axis=1, bitorder="little")
        return repeated


def _grounds(connection: duckdb.DuckDBPyConnection) -> dict[tuple[str, str], dict[str, _Side]]:
    """Return (predicate, reason) -> side -> what is known of it."""
    rows = arrow_of(connection, "select code, key from ground order by reason, scope, side, code, key")
    code, key = (rows[name].to_numpy().astype(np.int64) for name in ("code", "key"))
    grounds: dict[tuple[str, str], dict[str, _Side]] = {}
    begin, sides = 0, dict[tuple[str, str], dict[str, _Side]]()
    for reason, scope, side, n in connection.execute(
        "select reason, scope, side, count(*) from ground group by all order by reason, scope, side"
    ).fetchall():
        sides.setdefault((reason, scope), {})[side] = _Side(code[begin : begin + n], key[begin : begin + n])
        begin += n
    for predicate, scope in connection.execute("select predicate, scope from scope").fetchall():
        for (reason, its), of_side in sides.items():
            if its == scope:
                grounds.setdefault((predicate, reason), {}).update(of_side)
    return grounds


def _twins(connection: duckdb.DuckDBPyConnection, wanted: Ints) -> tuple[pa.Array, Places, Places]:
    """Return the twins of some concepts, sorted, and where the concepts of each begin."""
    set_table(connection, "asked_concept", pa.table({"code": wanted}))
    table = arrow_of(
        connection,
        "select twin.other, nameable.code from asked_concept inner join nameable on asked_concept.code = nameable.code "
        "inner join twin on nameable.cui = twin.cui order by twin.other, nameable.code",
    )
    whole = table["other"].combine_chunks().dictionary_encode()
    number = whole.indices.to_numpy()
    return whole.dictionary, begins(number, len(whole.dictionary)), table["code"].to_numpy().astype(np.int32)


def _related(connection: duckdb.DuckDBPyConnection, graph: ConceptGraph, wanted: Ints, ends: int) -> Bytes:
    """Return which concepts, or their twins, a path of any tier relates, either way. Shape: (ends, ends / 8)"""
    related = bits(ends, ends)
    twins, begin, twin = _twins(connection, wanted)
    number: dict[str, Places] = {}
    for table in graph.fact_tables(twins.to_pylist(), max_hops=3, tiers=TIERS, ordered=False):
        head, tail = (table[name].chunk(0) for name in FACT_SCHEMA.names[:3:2])
        if not number:
            # The dictionaries are those of the whole search.
            number = {"head": _numbers(head, twins), "tail": _numbers(tail, twins)}
        mark_related(number["head"][head.indices], number["tail"][tail.indices], begin, twin, related)
    return related


def related_ends(connection: duckdb.DuckDBPyConnection, graph: ConceptGraph, ends: Sequence[str]) -> pa.Table:
    """Return (head_cui, tail_cui) of a few ends that a path of any tier relates, or their twins."""
    set_table(connection, "asked_end_cui", pa.table({"cui": pa.array(ends, pa.string())}))
    query = "select other, cui from twin semi join asked_end_cui using (cui)"
    own = arrow_of(connection, query)
    twins = sorted(set(own["other"].to_pylist()))
    facts = pa.concat_tables(
        [FACT_SCHEMA.empty_table(), *graph.fact_tables(twins, max_hops=3, tiers=TIERS, ordered=False)]
    )
    set_table(connection, "twin_fact", facts)
    return arrow_of(
        connection,
        "select distinct head.cui as head_cui, tail.cui as tail_cui from twin_fact "
        "inner join twin as head on twin_fact.head_cui = head.other inner join twin as tail "
        "on twin_fact.tail_cui = tail.other",
    )


def _numbers(column: pa.DictionaryArray, values: pa.Array) -> Places:
    numbers: Places = pc.index_in(column.dictionary, values).to_numpy()
    return numbers


def judge_false(
    connection: duckdb.DuckDBPyConnection,
    graph: ConceptGraph,
    terms: Terms,
    asked: Bytes,
    linked: Ints,
    settings: BuildSettings,
) -> None:
    """Leave of the replacements that are asked for those that make a false statement, and fill ``false_reason``.

    What speaks against it is worked out for concepts, and meets pairs as bits: a whole row of them at a time.

    Args:
        connection: with the tables of the groups.
        graph: the concept graph.
        terms: of the cohort.
        asked: a bit for each (argument, kept end) and end that stands in for the other one. Shape: (pairs, ends / 8)
        linked: pairs of concepts that notes link, as one number, sorted. Shape: (n,)
        settings: of the build.
    """
    ends = asked.shape[1] * 8
    kept = np.zeros(asked.shape[0], np.int64)
    kept[terms.pair] = terms.kept
    replacing = np.flatnonzero(np.unpackbits(np.bitwise_or.reduce(asked, axis=0), bitorder="little"))
    wanted = np.union1d(replacing, kept[asked.any(axis=1)])
    known = _Known(
        _related(connection, graph, wanted, ends),
        bits_of(*np.divmod(linked, max(1, terms.mask.size)), ends, ends),
        lifted_pairs(connection, ends, settings.max_lift),
    )
    run_steps(connection, "groups", ["false_ground"])
    judge = _Judge(connection, terms, asked, known)
    for predicate, head, tail in connection.execute(sql_text("builders/medieval/groups/both_arguments")).fetchall():
        judge.judge(predicate, {"head": head, "tail": tail})
    set_table(connection, "false_reason", pa.table({"reason": list(judge.counts), "n": list(judge.counts.values())}))


def judge_true(
    connection: duckdb.DuckDBPyConnection,
    graph: ConceptGraph,
    terms: Terms,
    siblings: Bytes,
    settings: BuildSettings,
) -> Bytes:
    """Return which sibling candidates make a true statement, and make ``sibling_fact``.

    Args:
        connection: with the tables of the groups.
        graph: the concept graph.
        terms: of the cohort.
        siblings: whether a sibling is a candidate of a frame. Shape: (frames' siblings,)
        settings: of the build.

    Returns:
        The same, set where the statement is true. Shape: (frames' siblings,)
    """
    concepts = max(1, terms.mask.size)
    where = np.flatnonzero(siblings)
    frame = np.searchsorted(terms.frame_sibling_begin, where, side="right") - 1
    code = terms.sibling[terms.sibling_begin[terms.original[frame]] + where - terms.frame_sibling_begin[frame]]
    statement = terms.pair[frame].astype(np.int64) * concepts + code
    pair, code = np.divmod(np.unique(statement), concepts)
    set_table(connection, "asked_code", pa.table({"pair": pair, "code": code}))
    connection.execute(
        f"create or replace temp table replacement as {sql_text('builders/medieval/groups/replacement')}"
    )
    heads, tails = (cuis(connection, f"select distinct {end}_cui from replacement") for end in SLOTS)
    find_true(connection, graph, settings, heads, tails, among="replacement")
    connection.execute("create or replace temp table sibling_fact as select * from true_fact")
    table = arrow_of(
        connection,
        "select pair, code from replacement semi join sibling_fact using (predicate, head_cui, tail_cui)",
    )
    true = table["pair"].to_numpy().astype(np.int64) * concepts + table["code"].to_numpy()
    answer = np.zeros_like(siblings)
    answer[where[np.isin(statement, true)]] = 1
    return answer
