"""Which replacements make a false statement and which a true one: the graph, the records and SQL are asked.

There can be a hundred million pairs of ends where notes are as diverse as a hospital's. A pair is a bit here; SQL gets
some of them at a time, and facts go by as they are found.
"""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from builders.medieval.coding import begins
from builders.medieval.facts import cuis, run_steps, set_facts, set_table, statement_predicates
from builders.medieval.kernels import Terms, mark_related
from builders.medieval.records import Records
from ground.settings import BuildSettings
from ground.storage.sqlfiles import sql_text
from ground.storage.warehouse import arrow_of
from kg.facts import FACT_SCHEMA
from kg.graph import ConceptGraph
from kg.predicates import TIERS

__all__ = ["bits", "judge_false", "judge_true"]

AT_ONCE = 1 << 21
"""Pairs, asked for or not, that are looked through at once; some hundred thousand of them are judged together."""

Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]


def bits(rows: int, columns: int) -> Bytes:
    """Return a matrix of bits, none set. Shape: (rows, columns / 8)"""
    return np.zeros((rows, (columns + 7) // 8), np.uint8)


def _is_set(matrix: Bytes, row: Ints, column: Ints) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = (matrix[row, column >> 3] >> (column & 7).astype(np.uint8) & 1).astype(np.bool_)
    return found


def _set(matrix: Bytes, row: Ints, column: Ints) -> None:
    np.bitwise_or.at(matrix, (row, column >> 3), np.left_shift(1, column & 7).astype(np.uint8))


class _Pairs:
    """Places and kept ends by the number of their pair, and the other way round.

    Attributes:
        place, kept: of a pair. Shape: (pairs,)
        number: of the pair of a place and a kept end, -1 for none. Shape: (places, concepts)
        opposite: the place of the other end of the same predicate. Shape: (places,)
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, terms: Terms) -> None:
        pairs = int(terms.pair.max(initial=-1)) + 1
        self.place, self.kept = np.zeros(pairs, np.int64), np.zeros(pairs, np.int64)
        self.place[terms.pair], self.kept[terms.pair] = terms.place, terms.kept
        self.number = np.full((terms.taxonomic.size, terms.mask.size), -1, np.int32)
        self.number[self.place, self.kept] = np.arange(pairs)
        # Each predicate has both of its places.
        opposite = "select other.place from place inner join place as other on place.predicate = other.predicate "
        rows = arrow_of(connection, opposite + "and place.slot != other.slot order by place.place")
        self.opposite = rows["place"].to_numpy()


def _asked(pairs: _Pairs, terms: Terms, asked: Bytes) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Yield (pair, concept, pair that makes the same statement or -1) of what is asked for, each statement once."""
    ends = asked.shape[1] * 8
    order = np.argsort(pairs.kept, kind="stable")
    for begin in range(0, order.size, step := max(1, AT_ONCE // max(1, ends))):
        rows = order[begin : begin + step]
        row, code = np.nonzero(np.unpackbits(asked[rows], axis=1, bitorder="little"))
        pair = rows[row]
        same = pairs.number[pairs.opposite[pairs.place[pair]], code].astype(np.int64)
        same[~((same >= 0) & _is_set(asked, same, pairs.kept[pair]))] = -1
        first = (same < 0) | terms.of_head[pairs.place[pair]].astype(np.bool_)
        yield pair[first], code[first], same[first]


def _twins(connection: duckdb.DuckDBPyConnection, wanted: Ints) -> tuple[pa.Array, Places, Places]:
    """Return the twins of some concepts, sorted, and where the concepts of each begin."""
    set_table(connection, "asked_concept", pa.table({"code": wanted}))
    found = arrow_of(
        connection,
        "select twin.other, coded.code from asked_concept inner join coded on asked_concept.code = coded.code "
        "inner join twin on coded.cui = twin.cui order by twin.other, coded.code",
    )
    whole = found["other"].combine_chunks().dictionary_encode()
    number = whole.indices.to_numpy()
    return whole.dictionary, begins(number, len(whole.dictionary)), found["code"].to_numpy().astype(np.int32)


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


def _numbers(column: pa.DictionaryArray, values: pa.Array) -> Places:
    numbers: Places = pc.index_in(column.dictionary, values).to_numpy()
    return numbers


def _name(connection: duckdb.DuckDBPyConnection, table: str) -> None:
    """Make a table of the statements that ``asked_code`` stands for."""
    connection.execute(f"create or replace temp table {table} as {sql_text('builders/medieval/groups/replacement')}")


def judge_false(
    connection: duckdb.DuckDBPyConnection,
    graph: ConceptGraph,
    terms: Terms,
    asked: Bytes,
    linked: Ints,
    settings: BuildSettings,
) -> Bytes:
    """Return which of the replacements that are asked for make a false statement, and fill ``false_reason``.

    Args:
        connection: with the tables of the groups.
        graph: the concept graph.
        terms: of the cohort.
        asked: a bit for each (place, kept end) and end that stands in for the other one. Shape: (pairs, ends / 8)
        linked: pairs of concepts that notes link, as one number, sorted. Shape: (n,)
        settings: of the build.

    Returns:
        The same, set where the statement is false. Shape: (pairs, ends / 8)
    """
    pairs, concepts = _Pairs(connection, terms), terms.mask.size
    false = np.zeros_like(asked)
    replacing = np.flatnonzero(np.unpackbits(np.bitwise_or.reduce(asked, axis=0), bitorder="little"))
    wanted = np.union1d(replacing, pairs.kept[asked.any(axis=1)])
    related = _related(connection, graph, wanted, asked.shape[1] * 8)
    records = Records(connection, concepts)
    connection.execute("create or replace temp table false_reason (reason varchar, n bigint)")
    run_steps(connection, "groups", ["false_ground"])
    for pair, code, same in _asked(pairs, terms, asked):
        kept = pairs.kept[pair]
        table = pa.table(
            {
                "asked_no": np.arange(pair.size),
                "pair": pair,
                "code": code,
                "is_related": _is_set(related, kept, code),
                "is_linked": np.isin(kept * concepts + code, linked),
                "is_lifted": records.lifted(kept, code, settings.max_lift),
            }
        )
        set_table(connection, "asked_code", table)
        _name(connection, "false_pair")
        run_steps(connection, "groups", ["false_check"])
        found = arrow_of(connection, "select asked_no from false_check where reason is null")["asked_no"].to_numpy()
        _set(false, pair[found], code[found])
        found = found[same[found] >= 0]
        _set(false, same[found], kept[found])
    return false


def judge_true(
    connection: duckdb.DuckDBPyConnection,
    graph: ConceptGraph,
    terms: Terms,
    relatives: Bytes,
    settings: BuildSettings,
) -> Bytes:
    """Return which relatives that a frame asks about make a true statement, and make ``relative_fact``.

    Args:
        connection: with the tables of the groups.
        graph: the concept graph.
        terms: of the cohort.
        relatives: whether a frame asks about a relative of what it replaces. Shape: (frames' relatives,)
        settings: of the build.

    Returns:
        The same, set where the statement is true. Shape: (frames' relatives,)
    """
    concepts = max(1, terms.mask.size)
    where = np.flatnonzero(relatives)
    frame = np.searchsorted(terms.relative_begin, where, side="right") - 1
    code = terms.sibling[terms.sibling_begin[terms.original[frame]] + where - terms.relative_begin[frame]]
    close = terms.pair[frame].astype(np.int64) * concepts + code
    pair, code = np.divmod(np.unique(close), concepts)
    set_table(connection, "asked_code", pa.table({"pair": pair, "code": code}))
    _name(connection, "relative")
    tables = graph.fact_tables(
        cuis(connection, "select distinct head_cui from relative"),
        targets=cuis(connection, "select distinct tail_cui from relative"),
        max_hops=settings.max_hops,
        tiers=settings.truth_tiers,
        predicates=statement_predicates(connection, settings),
        ordered=False,
    )
    set_facts(connection, tables, among="relative")
    run_steps(connection, "truth", ["contraindicated", "area", "isolated", "kind_pair", "contested", "true_fact"])
    connection.execute("create or replace temp table relative_fact as select * from true_fact")
    found = arrow_of(
        connection,
        "select relative.pair, relative.code from relative inner join relative_fact using (predicate, head_cui, "
        "tail_cui)",
    )
    true = found["pair"].to_numpy().astype(np.int64) * concepts + found["code"].to_numpy()
    answer = np.zeros_like(relatives)
    answer[where[np.isin(close, true)]] = 1
    return answer
