"""What is different between two builds of a dataset: rows by identifier, columns, and what the manifests say of why."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq

from ground.errors import InputError, UsageError
from ground.flow.manifest import read_manifest
from ground.settings import RunSettings
from ground.storage.files import atomic_path
from ground.storage.sqlfiles import quoted_list, sql_text
from ground.storage.warehouse import database_config, open_database
from ontoground.flow.status import dataset_files
from ontoground.views.query import COPY_OPTIONS, copy_rows

__all__ = ["DatasetDiff", "compared", "file_format"]

NEEDED = ("id", "split")
SAID = ("dataset", "inputs", "settings", "seed", "licence_tier", "ontoground", "software")
"""Parts of a manifest that say what a build was made of."""


@dataclass(frozen=True)
class DatasetDiff:
    """The differences between two builds of a dataset.

    Attributes:
        rows_before: rows of the first.
        rows_after: rows of the second.
        same: rows of both that are equal in all columns that both have.
        changed: rows of both that are not.
        added: rows of the second only, by identifier.
        removed: rows of the first only.
        by_split: same, changed, added and removed of each split; a changed row counts where it is now.
        by_column: changed rows that differ in a column, the column that changed most first.
        columns_added: columns of the second only.
        columns_removed: columns of the first only.
        manifest: what the manifests say differently: key, before, after; null where a side does not say it.
    """

    rows_before: int
    rows_after: int
    same: int
    changed: int
    added: int
    removed: int
    by_split: list[dict[str, Any]]
    by_column: dict[str, int]
    columns_added: list[str]
    columns_removed: list[str]
    manifest: list[dict[str, Any]]

    def as_dict(self) -> dict[str, Any]:
        """Return the differences for ``--json`` output."""
        return asdict(self)


def file_format(output: Path) -> str:
    """Return the format that a file's name asks for.

    Raises:
        UsageError: it ends with none that can be written.
    """
    wanted = output.suffix.removeprefix(".")
    if wanted not in COPY_OPTIONS:
        raise UsageError(
            "the file's name does not tell its format",
            found=output.name,
            expected=f"a name that ends with {', '.join('.' + one for one in COPY_OPTIONS)}",
        )
    return wanted


def compared(before: Path, after: Path, run_settings: RunSettings, output: Path | None = None) -> DatasetDiff:
    """Compare two builds of a dataset row by row, and list what is not the same in ``output``.

    Args:
        before: a folder that ``ontoground build`` wrote.
        after: another one, of the same dataset.
        run_settings: memory and threads.
        output: file to list all rows that are not the same in (CSV, JSON or Parquet, by its name), whole or not at all.

    Raises:
        InputError: a folder is no dataset, or an identifier stands for two rows.
        UsageError: they are builds of two different datasets, or ``output`` is of no format that can be written.
    """
    wanted = file_format(output) if output else None
    manifests = [read_manifest(folder) for folder in (before, after)]
    kinds = [manifest.get("dataset") for manifest in manifests]
    if None not in kinds and kinds[0] != kinds[1]:
        raise UsageError("these are two different datasets", found=f"{kinds[0]} and {kinds[1]}", expected="two of one")
    columns = [_columns(folder) for folder in (before, after)]
    shared = [name for name in columns[1] if name in columns[0]]
    with (
        tempfile.TemporaryDirectory() as spill,
        closing(open_database(config=database_config(run_settings, Path(spill)))) as connection,
    ):
        for name, folder in (("before_row", before), ("after_row", after)):
            _view(connection, name, folder, shared)
        for step in ("changed_row", "changed_cell"):
            connection.execute(sql_text(f"ontoground/diff/{step}"))
        if output and wanted:
            _list(connection, output, wanted)
        return _diff(connection, columns, list(_said_differently(*manifests)))


def _columns(folder: Path) -> list[str]:
    """Return the names of a dataset's columns."""
    files = dataset_files(folder)
    expected = "a folder that `ontoground build` wrote"
    if not files:
        raise InputError("this is no dataset", file=folder, found="no data/*.parquet", expected=expected)
    names = [str(name) for name in pq.read_schema(files[0]).names]
    if missing := [name for name in NEEDED if name not in names]:
        raise InputError("this is no dataset", file=files[0], found=f"no column {missing[0]}", expected=expected)
    return names


def _view(connection: duckdb.DuckDBPyConnection, name: str, folder: Path, columns: list[str]) -> None:
    """Make a view of some columns of a dataset, in their order; each row must have an identifier of its own."""
    listed = ", ".join(f'"{column}"' for column in columns)
    files = quoted_list(dataset_files(folder))
    connection.execute(f"create temp view {name} as select {listed} from read_parquet({files})")
    row = connection.execute(f"select count(*) - count(distinct id) from {name}").fetchone()
    if row and row[0]:
        raise InputError("identifiers stand for more than one row", file=folder, found=f"{row[0]:,} rows too many")


def _list(connection: duckdb.DuckDBPyConnection, output: Path, wanted: str) -> None:
    if not output.parent.is_dir():
        raise InputError("there is no such folder", file=output.parent)
    with atomic_path(output) as temporary:
        copy_rows(connection, sql_text("ontoground/diff/listed"), wanted, temporary)


def _diff(
    connection: duckdb.DuckDBPyConnection, columns: list[list[str]], manifest: list[dict[str, Any]]
) -> DatasetDiff:
    splits = [
        dict(zip(("split", "same", "changed", "added", "removed"), row, strict=True))
        for row in connection.execute(sql_text("ontoground/diff/by_split")).fetchall()
    ]
    total = {name: sum(one[name] for one in splits) for name in ("same", "changed", "added", "removed")}
    return DatasetDiff(
        rows_before=total["same"] + total["changed"] + total["removed"],
        rows_after=total["same"] + total["changed"] + total["added"],
        **total,
        by_split=splits,
        by_column=dict(connection.execute(sql_text("ontoground/diff/by_column")).fetchall()),
        columns_added=[name for name in columns[1] if name not in columns[0]],
        columns_removed=[name for name in columns[0] if name not in columns[1]],
        manifest=manifest,
    )


def _said_differently(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    sides = [dict(_flat("", {part: side.get(part) for part in SAID})) for side in (before, after)]
    for key in sorted(sides[0].keys() | sides[1].keys()):
        values = [side.get(key) for side in sides]
        if values[0] != values[1]:
            yield {"key": key, "before": values[0], "after": values[1]}


def _flat(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the leaves of a manifest by dotted key; files of the inputs go by source and name."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _flat(f"{key}.{name}" if key else str(name), inner)
    elif isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        for one in value:
            name = "/".join(str(one[part]) for part in ("source", "file") if part in one)
            yield from _flat(f"{key}.{name}", {k: v for k, v in one.items() if k not in ("source", "file")})
    else:
        yield key, value
