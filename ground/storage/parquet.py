"""What a Parquet file says of itself; a damaged one is named."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ground.errors import InputError

__all__ = ["parquet_metadata"]


def parquet_metadata(file: Path) -> pq.FileMetaData:
    """Return the metadata of a Parquet file, with its schema.

    Raises:
        InputError: it is cut off, damaged, or no Parquet file.
    """
    try:
        return pq.read_metadata(file)
    except (pa.ArrowException, OSError) as error:
        raise InputError("a Parquet file is cut off or damaged", file=file, do="build or copy it again") from error
