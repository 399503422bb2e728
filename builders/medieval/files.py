"""The files of the dataset: each is a shard that a worker puts together, from numbers and what they stand for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from builders.shards import ROW_GROUP, ROWS_PER_SHARD, SPLITS, parquet_bytes, shard_name
from ground.contracts.rows import MEDIEVAL_SCHEMA, SUPPORT_SPAN
from ground.storage.sqlfiles import sql_text
from ground.storage.warehouse import arrow_of, set_table, set_variables

__all__ = ["MEASURED", "FileContent", "FileShard", "contexts_of", "file_of", "file_shards"]

MEASURED = ("subject_id", "context", "statement", "is_true", "is_supported", "split", "fact_split")
"""Columns that baselines look at."""

ENDS = ("head", "tail")

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class FileShard:
    """What one file is made of.

    Attributes:
        name: of the file.
        rows: one for each row of the file, in their order: ids, and the numbers of statement and spans.
        propositions: what the statements say, by ``proposition``.
        spans: mentions, numbered without gaps from the first ``span``.
        contexts: texts by ``subject_id``.
    """

    name: str
    rows: pa.Table
    propositions: pa.Table
    spans: pa.Table
    contexts: pa.Table


@dataclass(frozen=True)
class FileContent:
    """A file as bytes, and those of its rows that baselines look at (columns ``MEASURED``)."""

    name: str
    content: pa.Buffer
    measured: pa.Table


def file_shards(connection: duckdb.DuckDBPyConnection) -> Iterator[FileShard]:
    """Yield what each file of the dataset is made of, read from ``placed_row`` and what belongs to it."""
    counts = dict(connection.execute("select split, count(*) from placed_row group by split").fetchall())
    for split in SPLITS:
        files = -(-counts.get(split, 0) // ROWS_PER_SHARD)
        for number in range(files):
            yield _shard(connection, split, number, shard_name(split, number, files))


def _shard(connection: duckdb.DuckDBPyConnection, split: str, number: int, name: str) -> FileShard:
    first = number * ROWS_PER_SHARD
    values = {"split": split, "first_row": first, "last_row": first + ROWS_PER_SHARD - 1}
    set_variables(connection, values)
    rows = arrow_of(connection, sql_text("builders/medieval/rows/file_row"))
    # First: it says which patients the spans are of.
    contexts = contexts_of(connection, rows["subject_id"])
    parts = [arrow_of(connection, sql_text(f"builders/medieval/rows/file_{part}")) for part in ("proposition", "span")]
    return FileShard(name, rows, *(part.combine_chunks() for part in (*parts, contexts)))


def contexts_of(connection: duckdb.DuckDBPyConnection, patients: pa.ChunkedArray) -> pa.Table:
    """Return (subject_id, context) of some patients, in their order, once each.

    Args:
        connection: with ``context_piece``; gets the variables ``first_patient`` and ``last_patient``.
        patients: sorted. Shape: (rows,)
    """
    set_variables(connection, {"first_patient": patients[0].as_py(), "last_patient": patients[-1].as_py()})
    set_table(connection, "file_patient", pa.table({"subject_id": patients}))
    return arrow_of(connection, sql_text("builders/medieval/rows/file_context"))


def _places(keys: pa.ChunkedArray, wanted: pa.ChunkedArray) -> Indices:
    """Return where each wanted key stands among the sorted keys. Shape: (wanted,)"""
    places: Indices = np.searchsorted(keys.to_numpy(), wanted.to_numpy()).astype(np.int64)
    return places


def _spans(shard: FileShard, part: pa.Table) -> pa.ListArray:
    """Return the spans of each row, head before tail."""
    spans = np.stack([pc.fill_null(part[f"{end}_span"], -1).to_numpy() for end in ENDS], axis=1)
    held = spans >= 0
    row, end = np.nonzero(held)
    first = shard.spans["span"][0].as_py() if shard.spans.num_rows else 0
    mention = shard.spans.take(spans[held] - first)
    cuis = pa.chunked_array([part[f"{end}_cui"].combine_chunks() for end in ENDS], pa.string()).combine_chunks()
    columns = [
        pa.array(np.array(ENDS, dtype=object)[end], pa.string()),
        cuis.take(row + end * part.num_rows),
        *(mention[field.name].combine_chunks() for field in SUPPORT_SPAN if field.name not in ("role", "cui")),
    ]
    offsets = np.concatenate([[0], np.cumsum(held.sum(axis=1))]).astype(np.int32)
    return pa.ListArray.from_arrays(offsets, pa.StructArray.from_arrays(columns, fields=list(SUPPORT_SPAN)))


def _given(shard: FileShard, part: pa.Table) -> pa.Array:
    """Return which ends of each row rest on a drug that was given and is over."""
    first = shard.spans["span"][0].as_py() if shard.spans.num_rows else 0
    head, tail = (
        pc.fill_null(shard.spans["given"].combine_chunks().take(pc.subtract(part[f"{end}_span"], first)), False)
        for end in ENDS
    )
    return pc.if_else(head, pc.if_else(tail, "both", "head"), pc.if_else(tail, "tail", "none"))


def _context(shard: FileShard, places: Indices) -> pa.DictionaryArray:
    """Return the contexts of some rows as a dictionary: as text, each would lie there once for every row."""
    held, index = np.unique(places, return_inverse=True)
    return pa.DictionaryArray.from_arrays(index.astype(np.int32), shard.contexts["context"].take(held).combine_chunks())


def _table(shard: FileShard, part: pa.Table, proposition: Indices, context: Indices) -> pa.Table:
    """Return the rows of ``MEDIEVAL_SCHEMA``, the context as a dictionary."""
    propositions = shard.propositions.take(proposition)
    for name in propositions.column_names:
        if name != "proposition":
            part = part.append_column(name, propositions[name])
    level = pc.if_else(part["is_supported"], pc.if_else(part["linked"], "stated", "co_mentioned"), "silent")
    own = {
        "id": pc.binary_join_element_wise(part["group_id"], part["quadrant"], "-"),
        "context": _context(shard, context),
        "support_level": level,
        "support_spans": _spans(shard, part),
        "given": _given(shard, part),
    }
    columns = [own[field.name] if field.name in own else part[field.name] for field in MEDIEVAL_SCHEMA]
    return pa.table(columns, names=MEDIEVAL_SCHEMA.names)


def _tables(shard: FileShard) -> Iterator[pa.Table]:
    proposition = _places(shard.propositions["proposition"], shard.rows["proposition"])
    context = _places(shard.contexts["subject_id"], shard.rows["subject_id"])
    for begin in range(0, shard.rows.num_rows, ROW_GROUP):
        part = shard.rows.slice(begin, ROW_GROUP).combine_chunks()
        some = slice(begin, begin + part.num_rows)
        yield _table(shard, part, proposition[some], context[some])


def file_of(patients: pa.Array, shard: FileShard) -> FileContent:
    """Make one file.

    Args:
        patients: whose rows baselines look at.
        shard: what the file is made of.
    """
    measured = []

    def tables() -> Iterator[pa.Table]:
        for table in _tables(shard):
            measured.append(table.select(MEASURED).filter(pc.is_in(table["subject_id"], patients)))
            yield table

    content = parquet_bytes(MEDIEVAL_SCHEMA, tables())
    return FileContent(shard.name, content, pa.concat_tables(measured))
