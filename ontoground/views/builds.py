"""What is different between two builds of a dataset: rows by identifier, columns, and what the manifests say of why."""

from __future__ import annotations

import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb

from ground.errors import InputError, UsageError
from ground.flow.manifest import differences, read_manifest
from ground.settings import RunSettings
from ground.storage.parquet import parquet_schema
from ground.storage.sqlfiles import quoted_files, sql_text
from ground.storage.warehouse import database_config, open_database, run_sql
from ontoground.flow.session import records
from ontoground.flow.status import dataset_files
from ontoground.views.query import COPY_OPTIONS, write_whole

__all__ = ["compared"]

NEEDED = ("id", "split")


def compared(before: Path, after: Path, run_settings: RunSettings, output: Path | None = None) -> dict[str, Any]:
    """Compare two builds of a dataset row by row, and list what is not the same in ``output``.

    Args:
        before: a folder that ``ontoground build`` wrote.
        after: another one, of the same dataset.
        run_settings: memory and threads.
        output: file to list all rows that are not the same in (CSV, JSON or Parquet, by its name), whole or not at all.

    Returns:
        The differences; see docs/schemas/diff.json.

    Raises:
        InputError: a folder is no dataset, or an identifier stands for two rows.
        UsageError: they are builds of two different datasets, or ``output`` is of no format that can be written.
    """
    if output is not None:
        _format_of(output)
    manifests = [read_manifest(folder) for folder in (before, after)]
    kinds = [manifest.get("dataset") for manifest in manifests]
    if None not in kinds and kinds[0] != kinds[1]:
        raise UsageError("these are two different datasets", found=f"{kinds[0]} and {kinds[1]}", expected="two of one")
    old, new = (_columns(folder) for folder in (before, after))
    with (
        tempfile.TemporaryDirectory() as spill,
        closing(open_database(config=database_config(run_settings, Path(spill)))) as connection,
    ):
        for name, folder in (("before_row", before), ("after_row", after)):
            _view(connection, name, folder, [column for column in new if column in old])
        for step in ("changed_row", "changed_cell"):
            run_sql(connection, f"ontoground/diff/{step}")
        if output is not None:
            write_whole(connection, sql_text("ontoground/diff/listed"), _format_of(output), output)
        splits = records(run_sql(connection, "ontoground/diff/by_split"))
        by_column = dict(run_sql(connection, "ontoground/diff/by_column").fetchall())
    total = {change: sum(split[change] for split in splits) for change in ("same", "changed", "added", "removed")}
    return {
        "rows_before": total["same"] + total["changed"] + total["removed"],
        "rows_after": total["same"] + total["changed"] + total["added"],
        **total,
        "by_split": splits,
        "by_column": by_column,
        "columns_added": [name for name in new if name not in old],
        "columns_removed": [name for name in old if name not in new],
        "manifest": differences(manifests[0], manifests[1]),
    }


def _format_of(output: Path) -> str:
    wanted = output.suffix.removeprefix(".")
    if wanted not in COPY_OPTIONS:
        raise UsageError(
            "the file's name does not tell its format",
            found=output.name,
            expected=f"a name that ends with {', '.join('.' + suffix for suffix in COPY_OPTIONS)}",
        )
    return wanted


def _columns(folder: Path) -> list[str]:
    """Return the names of a dataset's columns."""
    files = dataset_files(folder)
    expected = "a folder that `ontoground build` wrote"
    if not files:
        raise InputError("this is no dataset", file=folder, found="no data/*.parquet", expected=expected)
    names = [str(name) for name in parquet_schema(files[0]).names]
    if missing := [name for name in NEEDED if name not in names]:
        raise InputError("this is no dataset", file=files[0], found=f"no column {missing[0]}", expected=expected)
    return names


def _view(connection: duckdb.DuckDBPyConnection, name: str, folder: Path, columns: list[str]) -> None:
    """Make a view of some columns of a dataset, in their order; each row must have an identifier of its own."""
    listed = ", ".join(f'"{column}"' for column in columns)
    files = quoted_files(dataset_files(folder))
    connection.execute(f"create temp view {name} as select {listed} from read_parquet({files})")
    query = f"select count(*) - count(distinct id) from {name}"
    ((too_many,),) = connection.execute(query).fetchall()
    if too_many:
        raise InputError("several rows have the same identifier", file=folder, found=f"{too_many:,} rows too many")
