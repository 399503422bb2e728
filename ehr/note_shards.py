"""Notes in shards, and tables that grow by a shard at a time and appear when all notes are read.

A stage that is stopped keeps the shards that are finished: the next run goes on after them, whatever its number of
workers or the size of its shards.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass

import duckdb
import pyarrow as pa

from ground.flow.fingerprints import mark_done, stage_fingerprint
from ground.progress import progress
from ground.storage.sqlfiles import sql_text
from ground.storage.warehouse import (
    add_rows,
    arrow_of,
    number_of,
    one_thread,
    run_sql,
    set_table,
    set_variables,
    table_exists,
    transaction,
)

__all__ = ["NoteTables", "ReadShard", "fill", "note_shards"]


@dataclass(frozen=True)
class ReadShard:
    """What was read in one shard: how many notes it has, and the new rows of each table, in the order of the notes."""

    notes: int
    rows: tuple[pa.Table, ...]


@dataclass(frozen=True)
class NoteTables:
    """The tables of one stage that reads notes.

    Attributes:
        stage: its name in ``ground.stage``.
        fingerprint: of all that decides the rows.
        schemas: of the tables, by name below ``ground``; they are filled shard by shard as ``ground.NAME_part``.
        closing: SQL files that look at all notes, once they are read.
    """

    stage: str
    fingerprint: str
    schemas: Mapping[str, pa.Schema]
    closing: tuple[str, ...] = ()


def note_shards(connection: duckdb.DuckDBPyConnection, size: int, after: int = 0) -> Iterator[pa.Table]:
    """Yield the notes in order as tables (note_id, hadm_id, text), without the first ``after`` ones.

    From the first to the last DuckDB works with one thread: with two, to read a shard takes twice the CPU time.
    """
    set_variables(connection, {"shard_notes": size, "notes_done": after})
    shards = run_sql(connection, "ehr/note_shard").fetchall()
    with one_thread(connection):
        for bounds in shards:
            set_variables(connection, dict(zip(("first_note_id", "last_note_id"), bounds, strict=True)))
            yield arrow_of(connection, sql_text("ehr/shard_text"))


def fill(
    connection: duckdb.DuckDBPyConnection,
    tables: NoteTables,
    read: Callable[[Iterator[pa.Table]], Generator[ReadShard]],
    size: int,
) -> None:
    """Read all notes into the tables of a stage, or those that an earlier run of the same stage did not come to.

    Args:
        connection: the warehouse, open for writing.
        tables: what is made; they replace the ones of an earlier run as a whole.
        read: reads shards, in order.
        size: notes in a shard.
    """
    done = _notes_done(connection, tables)
    for name, schema in tables.schemas.items() if not done else ():
        set_table(connection, f"ground.{name}_part", schema.empty_table(), kept=True)
    total = number_of(connection, "select count(*) from ehr.discharge_note")
    # Closed at once on an error, so that workers are not left waiting.
    with progress(tables.stage, total) as advance, closing(read(note_shards(connection, size, done))) as shards:
        advance(done)
        for shard in shards:
            done += shard.notes
            with one_thread(connection), transaction(connection):
                for name, rows in zip(tables.schemas, shard.rows, strict=True):
                    add_rows(connection, f"ground.{name}_part", rows)
                # Not the mark of a finished stage: its first notes are read.
                mark_done(connection, tables.stage, f"{tables.fingerprint}+{done}")
            advance(shard.notes)
    # Apart from the renames: DuckDB's log cannot be read again where one transaction updates a table and renames it.
    with transaction(connection):
        for name in tables.closing:
            run_sql(connection, name)
    with transaction(connection):
        for name in tables.schemas:
            connection.execute(f"drop table if exists ground.{name}")
            connection.execute(f"alter table ground.{name}_part rename to {name}")
        mark_done(connection, tables.stage, tables.fingerprint)


def _notes_done(connection: duckdb.DuckDBPyConnection, tables: NoteTables) -> int:
    """Return how many notes an earlier run of the very same stage has finished."""
    fingerprint, _, done = stage_fingerprint(connection, tables.stage).partition("+")
    there = all(table_exists(connection, f"ground.{name}_part") for name in tables.schemas)
    return int(done) if there and done and fingerprint == tables.fingerprint else 0
