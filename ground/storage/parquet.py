"""What a Parquet file says of itself; a damaged one is named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from ground.errors import InputError
from ground.storage.remote import Place
from ground.storage.sqlfiles import quoted_files
from ground.storage.warehouse import number_of

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

__all__ = ["check_columns", "damaged", "parquet_rows", "parquet_schema"]


def parquet_rows(connection: duckdb.DuckDBPyConnection, file: Path) -> int:
    """Return how many rows a Parquet file has; PyArrow, which takes longer to import than this to ask, is not needed.

    Args:
        connection: any; to open one takes much longer than to ask.
        file: the file.

    Raises:
        InputError: it is cut off, damaged, or no Parquet file.
    """
    try:
        return number_of(connection, f"select num_rows from parquet_file_metadata({quoted_files([file])})")
    except (duckdb.InterruptException, duckdb.ConnectionException, duckdb.OutOfMemoryException):
        # A stop in the middle says nothing of the file.
        raise
    except duckdb.Error as error:
        raise damaged(file) from error


def parquet_schema(file: Path) -> pa.Schema:
    """Return the columns of a Parquet file.

    Raises:
        InputError: it is cut off, damaged, or no Parquet file.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_metadata(file).schema.to_arrow_schema()
    except (pa.ArrowException, OSError) as error:
        raise damaged(file) from error


def check_columns(files: Iterable[Path], schema: pa.Schema) -> None:
    """Refuse files that another version of a builder wrote, or another program in other types.

    Raises:
        InputError: a column of the schema is missing, or of another kind; writers differ in widths (int8 or int64).
    """
    expected = _types(schema)
    for file in files:
        actual = _types(parquet_schema(file))
        if missing := [name for name in expected if name not in actual]:
            do = "build it again: `ontoground build`"
            raise InputError("columns are missing", file=file, found=f"no {', '.join(missing)}", do=do)
        for name, kind in expected.items():
            if not _alike(actual[name], kind):
                what = f"the column {name} has another type"
                raise InputError(what, file=file, found=str(actual[name]), expected=str(kind))


def _types(schema: pa.Schema) -> Mapping[str, pl.DataType]:
    import polars as pl

    return pl.DataFrame(schema.empty_table()).schema


def _alike(actual: pl.DataType, expected: pl.DataType) -> bool:
    import polars as pl

    if isinstance(actual, pl.List) and isinstance(expected, pl.List):
        return _alike(actual.inner, expected.inner)  # type: ignore[arg-type]
    if isinstance(actual, pl.Struct) and isinstance(expected, pl.Struct):
        return set(expected.to_schema()) <= set(actual.to_schema())
    numbers = (actual.is_integer() and expected.is_integer()) or (actual.is_float() and expected.is_float())
    return numbers or actual in (expected, pl.Null)


def damaged(file: Place) -> InputError:
    """Return the error of a Parquet file that is cut off, or damaged within."""
    return InputError("a Parquet file is cut off or damaged", file=file, do="build or copy it again")
