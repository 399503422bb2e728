"""What a Parquet file says of itself; a damaged one is named."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from ground.errors import InputError
from ground.storage.sqlfiles import quoted_files
from ground.storage.warehouse import number_of, open_database

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["parquet_rows", "parquet_schema"]


def parquet_rows(file: Path, connection: duckdb.DuckDBPyConnection | None = None) -> int:
    """Return how many rows a Parquet file has; PyArrow, which takes longer to import than this to ask, is not needed.

    Args:
        file: the file.
        connection: is asked where there is one: to open one takes longer than to ask.

    Raises:
        InputError: it is cut off, damaged, or no Parquet file.
    """
    try:
        with nullcontext(connection) if connection else open_database() as asked:
            return number_of(asked, f"select num_rows from parquet_file_metadata({quoted_files([file])})")
    except duckdb.Error as error:
        raise _damaged(file) from error


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
        raise _damaged(file) from error


def _damaged(file: Path) -> InputError:
    return InputError("a Parquet file is cut off or damaged", file=file, do="build or copy it again")
