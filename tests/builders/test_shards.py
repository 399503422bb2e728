"""Shards: rows keep their order within a split, and how they arrive changes no byte."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.shards import SPLITS, ShardWriter

SCHEMA = pa.schema([("n", pa.int64()), ("split", pa.string())])


def rows(n: int) -> pa.Table:
    return pa.table({"n": range(n), "split": [SPLITS[k % 7 % 3] for k in range(n)]}, schema=SCHEMA)


def written(folder: Path, table: pa.Table, cuts: list[int], rows_per_shard: int) -> dict[str, bytes]:
    with ShardWriter(folder, SCHEMA, rows_per_shard) as writer:
        for begin, end in zip([0, *cuts], [*cuts, table.num_rows], strict=True):
            writer.write(table.slice(begin, end - begin))
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@settings(max_examples=15, deadline=None)
@given(cuts=st.lists(st.integers(0, 9_000), max_size=6).map(sorted))
def test_how_rows_arrive_changes_no_byte(tmp_path_factory: pytest.TempPathFactory, cuts: list[int]) -> None:
    table = rows(9_000)
    one = written(tmp_path_factory.mktemp("one"), table, [], 3_000)
    assert written(tmp_path_factory.mktemp("cut"), table, cuts, 3_000) == one


def test_rows_keep_their_order_and_files_say_how_many_they_are(tmp_path: Path) -> None:
    table = rows(9_000)
    files = written(tmp_path / "data", table, [1, 4_000], 3_000)
    for split in SPLITS:
        names = sorted(name for name in files if name.startswith(split))
        assert names == [f"{split}-{k:05d}-of-{len(names):05d}.parquet" for k in range(len(names))]
        found = pa.concat_tables(pq.read_table(tmp_path / "data" / name) for name in names)
        assert found["n"].to_pylist() == [n for n in range(9_000) if SPLITS[n % 7 % 3] == split]
    assert len([name for name in files if name.startswith("train")]) == 2


def test_nothing_is_written_for_a_split_without_rows(tmp_path: Path) -> None:
    table = pa.table({"n": [1], "split": ["test"]}, schema=SCHEMA)
    assert list(written(tmp_path / "data", table, [], 10)) == ["test-00000-of-00001.parquet"]
    assert written(tmp_path / "none", table.slice(0, 0), [], 10) == {}


def test_a_failure_leaves_no_file_of_a_finished_name(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), ShardWriter(tmp_path / "data", SCHEMA) as writer:
        writer.write(rows(5_000))
        raise RuntimeError
    assert not list((tmp_path / "data").glob("*.parquet"))
