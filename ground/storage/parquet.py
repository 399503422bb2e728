"""What a Parquet file says of itself; a damaged one is named."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from ground.errors import InputError
from ground.storage.remote import Place
from ground.storage.sqlfiles import quoted_files
from ground.storage.warehouse import number_of

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["damaged", "parquet_rows", "parquet_schema"]


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


def damaged(file: Place) -> InputError:
    """Return the error of a Parquet file that is cut off, or damaged within."""
    return InputError("a Parquet file is cut off or damaged", file=file, do="build or copy it again")
