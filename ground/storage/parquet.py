"""What a Parquet file says of itself; a damaged one is named."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from ground.errors import InputError
from ground.storage.remote import Place
from ground.storage.sqlfiles import quoted_files
from ground.storage.warehouse import number_of

if TYPE_CHECKING:
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
    for file in files:
        actual = parquet_schema(file)
        if missing := [name for name in schema.names if name not in actual.names]:
            do = "build it again: `ontoground build`"
            raise InputError("columns are missing", file=file, found=f"no {', '.join(missing)}", do=do)
        for name, kind in zip(schema.names, schema.types, strict=True):
            if not _alike(actual.field(name).type, kind):
                what = f"the column {name} has another type"
                raise InputError(what, file=file, found=str(actual.field(name).type), expected=str(kind))


def _alike(actual: pa.DataType, expected: pa.DataType) -> bool:
    """Tell whether values of one type serve as those of another; a dictionary is what it holds."""
    from pyarrow import types

    if types.is_dictionary(actual) or types.is_dictionary(expected):
        return _alike(getattr(actual, "value_type", actual), getattr(expected, "value_type", expected))
    if types.is_struct(actual) and types.is_struct(expected):
        inner = {field.name: field.type for field in actual}
        return all(field.name in inner and _alike(inner[field.name], field.type) for field in expected)
    if types.is_nested(actual) and types.is_nested(expected):
        lists = hasattr(actual, "value_type") and hasattr(expected, "value_type")
        return lists and _alike(actual.value_type, expected.value_type)
    kinds = (types.is_integer, types.is_floating, lambda kind: types.is_string(kind) or types.is_large_string(kind))
    return types.is_null(actual) or actual == expected or any(kind(actual) and kind(expected) for kind in kinds)


def damaged(file: Place) -> InputError:
    """Return the error of a Parquet file that is cut off, or damaged within."""
    return InputError("a Parquet file is cut off or damaged", file=file, do="build or copy it again")
