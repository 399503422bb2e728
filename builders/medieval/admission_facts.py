"""Which true facts an admission holds: both ends attested in its context, by different mentions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from builders.medieval.coding import admissions_at_once, begins, in_shards
from builders.medieval.draws import mixed
from ground.flow.executor import Executor, nothing
from ground.stable import stable_hash
from ground.storage.sqlfiles import sql_text
from ground.storage.warehouse import add_rows, arrow_of, number_of, run_sql

__all__ = ["find_admission_facts"]


ENDED = ("number", "side", "closeness", "mention")


class _Facts(NamedTuple):
    """Usable facts as numbers, by head.

    Attributes:
        begin: where the facts of a head begin. Shape: (sides + 1,)
        tail: the other end. Shape: (facts,)
        loose: whether it may be a class that nothing else mentions. Shape: (facts,)
        form: which facts are one in another form or direction. Shape: (facts,)
        wording: which facts are said by the same names, in either direction. Shape: (facts,)
        fact: number of a fact. Shape: (facts,)
        hash: stable hash of a fact. Shape: (facts,)
    """

    begin: npt.NDArray[np.int32]
    tail: npt.NDArray[np.int32]
    loose: npt.NDArray[np.uint8]
    form: npt.NDArray[np.int64]
    wording: npt.NDArray[np.int64]
    fact: npt.NDArray[np.int64]
    hash: npt.NDArray[np.uint64]


def _read_facts(connection: duckdb.DuckDBPyConnection) -> _Facts:
    run_sql(connection, "builders/medieval/truth/fact_side")
    table = arrow_of(connection, sql_text("builders/medieval/truth/fact_form"))
    sides = number_of(connection, "select count(*) from fact_side")
    return _Facts(
        begins(table["head"].to_numpy(), sides),
        table["tail"].to_numpy().astype(np.int32),
        np.array(table["loose"].to_pylist(), np.uint8),
        table["form"].to_numpy(),
        table["wording"].to_numpy(),
        table["fact"].to_numpy(),
        table["hash"].to_numpy(),
    )


class _Held(NamedTuple):
    """One shard: its admissions (number, hadm_id), and the ends that they attest, columns ``ENDED``."""

    admissions: pa.Table
    ends: pa.Table


def _shards(connection: duckdb.DuckDBPyConnection) -> Iterator[_Held]:
    for some in admissions_at_once(connection):
        query = f"select number, hadm_id from admission where number between {some[0]} and {some[-1]} order by number"
        admissions, ends = (
            arrow_of(connection, text) for text in (query, sql_text("builders/medieval/truth/shard_end"))
        )
        its = (in_shards(some, table["number"].to_numpy()) for table in (admissions, ends))
        for own, ended in zip(*its, strict=True):
            yield _Held(admissions[own], ends[ended])


def _pairs(facts: _Facts, held: _Held) -> Any:
    """Return (fact, admission, closeness) of the facts whose two ends a shard's admissions attest. Shape: (n, 3)"""
    from builders.medieval.kernels import facts_of

    first = held.admissions["number"][0].as_py()
    number, side, closeness, mention = (held.ends[name].to_numpy().astype(np.int64) for name in ENDED)
    # Sorted as one number, the rows of one end of one admission follow one another, their mentions in order.
    sides = facts.begin.size
    row = np.unique(((number - first) * sides + side) << 34 | closeness << 32 | mention)
    starts = np.flatnonzero(np.diff(row >> 34, prepend=-1))
    number, side = np.divmod(row[starts] >> 34, sides)
    return facts_of(
        begins(number, held.admissions.num_rows),
        side.astype(np.int32),
        (row[starts] >> 32 & 3).astype(np.int32),
        np.append(starts, row.size).astype(np.int32),
        (row & 0xFFFFFFFF).astype(np.int32),
        facts.begin,
        facts.tail,
        facts.loose,
    )


def _first_of(form: Any, hashes: Any, closeness: Any, admission: Any) -> Any:
    """Return the rows of one of each form in each admission: the closest, then the one of the lowest hash."""
    order = np.lexsort((hashes, closeness, form, admission))
    first = np.ones(order.size, np.bool_)
    first[1:] = (np.diff(form[order]) != 0) | (np.diff(admission[order]) != 0)
    return order[first]


def _chosen(facts: _Facts, seed: int, held: _Held) -> pa.Table:
    """Return (hadm_id, number, fact) of one shard."""
    first, hadm = held.admissions["number"][0].as_py(), held.admissions["hadm_id"].to_numpy()
    fact, admission, closeness = _pairs(facts, held).T
    of_admission = np.array([stable_hash(seed, "form", hadm_id) for hadm_id in hadm.tolist()], np.uint64)
    hashes = mixed(of_admission[admission], facts.hash[fact])
    chosen = _first_of(facts.form[fact], hashes, closeness, admission)
    chosen = chosen[_first_of(facts.wording[fact[chosen]], hashes[chosen], closeness[chosen], admission[chosen])]
    its = admission[chosen]
    return pa.table({"hadm_id": hadm[its], "number": its.astype(np.int64) + first, "fact": facts.fact[fact[chosen]]})


def find_admission_facts(connection: duckdb.DuckDBPyConnection, seed: int, executor: Executor) -> None:
    """Fill ``admission_fact``: of each pair of bases and relation, the form and direction that a stable hash picks.

    Only the forms that are closest to what is mentioned. Source: MediEval, section 3.1, steps 3 and 4;
    docs/definitions.md#fact

    Args:
        connection: with what is attested and what is true.
        seed: of the choice.
        executor: of workers that share this process's memory.
    """
    facts = _read_facts(connection)
    tables = executor.in_order(nothing, lambda _, held: _chosen(facts, seed, held), _shards(connection))
    for table in tables:
        add_rows(connection, "admission_fact", table)
