"""Rows of a dataset folder, written as they come: shards of each split, in bounded memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Literal, get_args

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

__all__ = [
    "ROWS_PER_SHARD",
    "ROW_GROUP",
    "SPLITS",
    "GroupWriter",
    "ShardWriter",
    "Split",
    "parquet_bytes",
    "shard_name",
]

Split = Literal["train", "validation", "test"]
SPLITS: tuple[Split, ...] = get_args(Split)
ROW_GROUP = 2_000
ROWS_PER_SHARD = 200_000


def shard_name(split: str, number: int, shards: int) -> str:
    """Return the name of one of the files of a split."""
    return f"{split}-{number:05d}-of-{shards:05d}.parquet"


def _writer(sink: Path | pa.NativeFile, schema: pa.Schema) -> pq.ParquetWriter:
    return pq.ParquetWriter(sink, schema, compression="zstd", store_schema=True)


def parquet_bytes(schema: pa.Schema, row_groups: Iterable[pa.Table]) -> pa.Buffer:
    """Return a file as `ShardWriter` writes it, made in memory; each table becomes one row group."""
    sink = pa.BufferOutputStream()
    with _writer(sink, schema) as writer:
        for table in row_groups:
            writer.write_table(table.cast(schema).combine_chunks(), row_group_size=table.num_rows)
    return sink.getvalue()


def _with_dictionaries(schema: pa.Schema, given: pa.Schema) -> pa.Schema:
    """Return a schema with the columns as dictionaries that are given so: long texts that many rows share."""
    return pa.schema(
        [
            field.with_type(given.field(field.name).type)
            if pa.types.is_dictionary(given.field(field.name).type)
            else field
            for field in schema
        ]
    )


class GroupWriter:
    """Writes one Parquet file in row groups of one size, however its rows come; use it as a context manager.

    A column may be given as a dictionary; it becomes text when its rows are written.

    Args:
        path: of the file.
        schema: of the rows.
        row_group: rows that are held before they are written.
    """

    def __init__(self, path: Path, schema: pa.Schema, row_group: int = ROW_GROUP) -> None:
        self.rows = 0
        self._schema, self._row_group = schema, row_group
        self._waiting: pa.Table | None = None
        self._file = _writer(path, schema)

    def __enter__(self) -> GroupWriter:
        return self

    def write(self, table: pa.Table) -> None:
        """Append rows."""
        self.rows += table.num_rows
        table = table.cast(_with_dictionaries(self._schema, table.schema))
        waiting = table if self._waiting is None else pa.concat_tables([self._waiting, table])
        while waiting.num_rows >= self._row_group:
            self._write_group(waiting.slice(0, self._row_group))
            waiting = waiting.slice(self._row_group)
        self._waiting = waiting

    def _write_group(self, group: pa.Table) -> None:
        self._file.write_table(group.cast(self._schema).combine_chunks(), row_group_size=self._row_group)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None and self._waiting is not None and self._waiting.num_rows:
            self._write_group(self._waiting)
        self._file.close()


class ShardWriter:
    """Writes ``{split}-NNNNN-of-NNNNN.parquet`` below a folder; use it as a context manager.

    Rows keep their order within a split. How they are cut into tables changes no byte of the files.

    Args:
        folder: where the files go; it must lie in a folder that is still being made (`ground.storage.files`).
        schema: of the rows; it has a column ``split``.
        rows_per_shard: rows of a file, at most.
        row_group: rows that are held of each split before they are written; fewer where rows hold whole articles.
    """

    def __init__(
        self, folder: Path, schema: pa.Schema, rows_per_shard: int = ROWS_PER_SHARD, row_group: int = ROW_GROUP
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.rows: Counter[str] = Counter()
        self._folder, self._schema = folder, schema
        self._rows_per_shard, self._row_group = rows_per_shard, row_group
        self._open: dict[str, GroupWriter] = {}
        self._shards: Counter[str] = Counter()

    def __enter__(self) -> ShardWriter:
        return self

    def write(self, table: pa.Table) -> None:
        """Append rows of any splits."""
        for split in SPLITS:
            part = table.filter(pc.equal(table["split"], split)).select(self._schema.names)
            while part.num_rows:
                room = self._rows_per_shard - self.rows[split] % self._rows_per_shard
                if room == self._rows_per_shard:
                    self._next_shard(split)
                self._open[split].write(part.slice(0, room))
                self.rows[split] += min(room, part.num_rows)
                part = part.slice(room)

    def _next_shard(self, split: str) -> None:
        if split in self._open:
            self._open[split].__exit__(None, None, None)
        self._open[split] = GroupWriter(self._part(split, self._shards[split]), self._schema, self._row_group)
        self._shards[split] += 1

    def _part(self, split: str, number: int) -> Path:
        return self._folder / f"{split}-{number:05d}.part"

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for writer in self._open.values():
            writer.__exit__(kind, error, trace)
        if error is None:
            for name, shards in self._shards.items():
                for number in range(shards):
                    self._part(name, number).rename(self._folder / shard_name(name, number, shards))
