"""The yardstick of loads: DuckDB reads the same files into tables, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import duckdb

from benchmarks.measuring import Done, stopwatch
from ground.settings import RunSettings
from ground.storage.warehouse import connect
from openworld.rrf import layouts

__all__ = ["bare_csv", "bare_rrf"]

# A note is longer than DuckDB's limit of a line.
LONGEST_LINE = 64 * 2**20


def _read(file: Path, connection: duckdb.DuckDBPyConnection, table: str, options: str) -> int:
    text = f"create table {table} as select * from read_csv('{str(file).replace(chr(39), chr(39) * 2)}', {options})"
    row = connection.execute(text).fetchone()
    return int(row[0]) if row else 0


def bare_csv(files: Sequence[Path], target: Path, run: RunSettings) -> Done:
    """Read CSV files with DuckDB's own guess of their columns."""
    options = f"header = true, max_line_size = {LONGEST_LINE}"
    with stopwatch() as watch, connect(target, run) as connection:
        tables = enumerate(files)
        rows = sum(_read(file, connection, f"table_{number}", options) for number, file in tables)
    return Done(rows, "rows", watch, [target])


def bare_rrf(files: Sequence[Path], target: Path, run: RunSettings) -> Done:
    """Read RRF files, whose columns are text; the last one is empty."""
    with stopwatch() as watch, connect(target, run) as connection:
        rows = 0
        for file in files:
            names = [*layouts()[file.name].columns, "empty"]
            columns = ", ".join(f"'{name}': 'VARCHAR'" for name in names)
            options = f"delim = '|', quote = '', escape = '', header = false, columns = {{{columns}}}"
            rows += _read(file, connection, file.stem.lower(), options)
    return Done(rows, "rows", watch, [target])
