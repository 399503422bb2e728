"""Columns of Parquet files that other programs wrote, against a schema."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ground.errors import InputError
from ground.storage.parquet import check_columns

EDGE = pa.struct([("cui", pa.string()), ("hops", pa.int32())])
SCHEMA = pa.schema([("id", pa.string()), ("n", pa.int64()), ("path", pa.list_(EDGE))])


def written(folder: Path, **columns: pa.Array) -> Path:
    """Write a file with some columns in the place of those of the schema."""
    pq.write_table(pa.table({**{field.name: pa.nulls(1, field.type) for field in SCHEMA}, **columns}), folder / "a")
    return folder / "a"


@pytest.mark.parametrize(
    "columns",
    [
        {},
        {"id": pa.array(["a"]).dictionary_encode()},
        {"id": pa.array(["a"], pa.large_string()), "n": pa.array([1], pa.int8())},
        {"path": pa.nulls(1)},
        {"path": pa.array([None], pa.large_list(pa.struct([("hops", pa.int64()), ("cui", pa.string())])))},
        {"other": pa.array([None], pa.map_(pa.string(), EDGE))},
    ],
)
def test_writers_differ_in_widths_and_in_what_else_they_write(tmp_path: Path, columns: dict[str, pa.Array]) -> None:
    check_columns([written(tmp_path, **columns)], SCHEMA)


@pytest.mark.parametrize(
    "columns",
    [
        {"id": pa.array([1])},
        {"n": pa.array([1.0])},
        {"path": pa.array(["a"])},
        {"path": pa.array([None], pa.list_(pa.struct([("cui", pa.string())])))},
        {"path": pa.array([None], pa.list_(pa.struct([("cui", pa.string()), ("hops", pa.string())])))},
    ],
)
def test_another_type_is_refused_by_name(tmp_path: Path, columns: dict[str, pa.Array]) -> None:
    file = written(tmp_path, **columns)
    with pytest.raises(InputError, match=f"the column {next(iter(columns))} has another type"):
        check_columns([file], SCHEMA)
