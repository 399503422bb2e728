"""Which ends of facts the records hold together: linked by notes, or more often than chance would."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from builders.medieval.coding import begins, shard_of
from builders.medieval.kernels import add_pairs
from ontoground.sqlfiles import sql_text
from ontoground.warehouse import arrow_of

__all__ = ["lifted_pairs", "linked_pairs"]

LINKED_SHARE = 20
"""Pairs that notes link in one of so many admissions that mention both are called linked (DESIGN section 4)."""

FEWEST_TOGETHER = 3
"""Fewer common admissions tell nothing."""

BATCH_ROWS = 1_000_000

Counts = npt.NDArray[np.int32]


def _pair_table(cui: pa.Array, one: npt.NDArray[np.intp], other: npt.NDArray[np.intp]) -> pa.Table:
    return pa.table({"cui": cui.take(pa.array(one)), "other": cui.take(pa.array(other))})


def linked_pairs(connection: duckdb.DuckDBPyConnection, folder: Path, shards: int, cui: pa.Array) -> pa.Table:
    """Write the shards of admissions, and return (cui, other) of ends that notes link often.

    Linked in at least a twentieth of the admissions that mention both.

    Args:
        connection: with the tables of the groups.
        folder: takes the shards.
        shards: number of shards.
        cui: concepts by number.
    """
    linked, together = (np.zeros((len(cui), len(cui)), np.int32) for _ in range(2))
    for number in range(shards):
        shard = shard_of(connection, number)
        np.savez(folder / f"{number}.npz", **shard._asdict())
        np.add.at(linked, (shard.link, shard.linked), 1)
        carried = arrow_of(connection, sql_text("builders/shard_carried"))
        owner = carried["number"].to_numpy()
        first = int(owner[0]) if owner.size else 0
        last = int(owner[-1]) + 1 if owner.size else 0
        add_pairs(begins(owner - first, last - first), carried["code"].to_numpy(), together)
    return _pair_table(cui, *np.nonzero((linked > 0) & (LINKED_SHARE * linked.astype(np.int64) >= together)))


def _count_together(connection: duckdb.DuckDBPyConnection, together: Counts) -> int:
    """Add up the admissions that hold two concepts, and return how many hold any."""
    connection.execute("select 1").fetchall()
    reader = connection.sql(sql_text("builders/recorded")).to_arrow_reader(BATCH_ROWS)
    admissions = 0
    rest = pa.table({"hadm_id": pa.array([], pa.int64()), "code": pa.array([], pa.int32())})
    for batch in chain(reader, [None]):
        rows = rest if batch is None else pa.concat_tables([rest, pa.Table.from_batches([batch]).cast(rest.schema)])
        owner, code = rows["hadm_id"].to_numpy(), rows["code"].to_numpy()
        starts = np.flatnonzero(np.concatenate([[True], owner[1:] != owner[:-1]])) if owner.size else np.empty(0, int)
        # The last admission of a batch may go on in the next one.
        ends = starts if batch is not None else np.append(starts, owner.size)
        if ends.size > 1:
            add_pairs(ends.astype(np.int64), code, together)
            admissions += ends.size - 1
        rest = rows.slice(int(ends[-1])) if ends.size else rows
    return admissions


def lifted_pairs(connection: duckdb.DuckDBPyConnection, cui: pa.Array, max_lift: float) -> pa.Table:
    """Return (cui, other) of candidates for false statements that stand together more often than chance would.

    lift = P(both) / (P(one) P(other)) over all admissions with codes or notes. Source: DESIGN section 4 (False)
    """
    together = np.zeros((len(cui), len(cui)), np.int32)
    admissions = _count_together(connection, together)
    one, other = np.nonzero(together >= FEWEST_TOGETHER)
    alone = np.diagonal(together).astype(np.int64)
    lift = (together[one, other].astype(np.int64) * admissions) / (alone[one] * alone[other])
    above = lift > max_lift
    return _pair_table(cui, one[above], other[above])
