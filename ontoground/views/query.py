"""Read-only SQL over a workspace: one select, no file, no network, its rows as a table or as a file.

Besides the warehouse's tables a query sees each built dataset as a view: ``medieval`` (all its rows) and
``medieval_statements`` (its second table).
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from ground.errors import InputError, UsageError
from ground.progress import warn
from ground.storage.files import atomic_path
from ground.storage.parquet import parquet_rows
from ground.storage.scratch import scratch_folder
from ground.storage.sqlfiles import quoted, quoted_files, quoted_list, quoted_name, sql_text
from ground.storage.warehouse import QUERY_ERRORS, arrow_of, database_config, open_database
from ground.storage.workspace import Workspace
from ontoground.flow.interrupts import interruptible, limited
from ontoground.flow.session import reading
from ontoground.flow.stages import STAGES
from ontoground.flow.status import VERBS, dataset_files
from ontoground.views.named import AREA, named_queries

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "COPY_OPTIONS",
    "Rows",
    "copy_rows",
    "exploring",
    "exploring_datasets",
    "fetch",
    "fetch_table",
    "query_text",
    "values_of",
    "write_rows",
    "write_whole",
]

VALUES = 10
"""Values of a column that are listed at most."""
NO_COLUMN = re.compile(r'Referenced column "([^"]+)" (?:was )?not found')
NO_TABLE = re.compile(r"Table with name (\w+) does not exist")
MADE_BY = {
    **{table: VERBS[stage.name] for stage in STAGES for table in stage.tables},
    **{name: f"ontoground build {name}" for name in ("medhal", "medval")},
}
"""The verb that makes each table that a query may ask for too early."""
FILE = re.compile(r"Table with name \S*[/\\]")
"""Where a table's name is the path of a file."""
NEAR = re.compile(r"Candidate bindings: (.+)")
COPY_OPTIONS = {"csv": "format csv, header true", "parquet": "format parquet", "json": "format json, array true"}


@dataclass(frozen=True)
class Rows:
    """The first rows of an answer, and whether there are more."""

    columns: list[str]
    rows: list[tuple[Any, ...]]
    more: bool


def query_text(name: str | None, command: str | None, filters: Sequence[str] = ()) -> str:
    """Return the SQL of a named query or of ``-c``, checked to be one statement that only reads.

    Args:
        name: of the query.
        command: a select of one's own.
        filters: ``COLUMN=VALUE``: of the answer's rows those with these values, compared as text.

    Raises:
        UsageError: both or neither is given, the name is unknown, or the SQL does more than read.
    """
    if (name is None) == (command is None):
        raise UsageError("give the name of a query or -c QUERY", expected="one of the two")
    known = dict(named_queries())
    if name is not None and name not in known:
        guess = "".join(f"did you mean {near}? known: " for near in get_close_matches(name, known, n=1))
        raise UsageError("there is no query of this name", found=name, expected=guess + ", ".join(known))
    text = sql_text(f"{AREA}/{name}") if name is not None else str(command)
    try:
        statements = duckdb.extract_statements(text)
    except duckdb.Error as error:
        raise UsageError("the query is not SQL that DuckDB understands", found=str(error)) from error
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise UsageError("only one statement that reads is allowed", expected="select, with, describe, summarize, show")
    text = text.strip().rstrip(";")
    if not filters:
        return text
    wanted = " and ".join(
        f"cast({quoted_name(column)} as varchar) = {quoted(value)}" for column, value in map(_parted, filters)
    )
    return f"with answer as (\n{text}\n)\nselect * from answer where {wanted}"


def _parted(filter_text: str) -> tuple[str, str]:
    column, equals, value = filter_text.partition("=")
    if not (equals and column.strip()):
        raise UsageError(
            "a filter cannot be read", found=filter_text, expected="COLUMN=VALUE, such as source=diagnoses_icd"
        )
    return column.strip(), value


def values_of(
    connection: duckdb.DuckDBPyConnection, name: str | None, command: str | None, filters: Sequence[str]
) -> list[str]:
    """Return in words what a column holds, ten values at most, for each filter whose value it never has."""
    base, remarks = query_text(name, command), []
    for column, value in map(_parted, filters):
        answer = (
            f"select distinct cast({quoted_name(column)} as varchar) from (\n{base}\n) order by all limit {VALUES + 1}"
        )
        values = [str(cell) for (cell,) in fetch(connection, answer, 0).rows if cell is not None]
        if value not in values:
            more = ", ..." if len(values) > VALUES else ""
            remarks.append(f"{column} is never {value}; it is {', '.join(values[:VALUES]) or 'always empty'}{more}")
    return remarks


@contextmanager
def exploring(
    workspace: Workspace, *written: Path, seconds: float | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open the warehouse read-only with the datasets as views; all other files and the network are shut off.

    Args:
        workspace: where the warehouse and the datasets are.
        written: files that the answer is written to.
        seconds: time that the block has, at most.

    Raises:
        InputError: the time is over.
    """
    with reading(workspace) as connection:
        _shut_off(connection, workspace, [*_dataset_views(connection, workspace), *written])
        late = InputError("the query was stopped", found=f"it ran longer than {seconds or 0:g} s", do="--timeout")
        with limited(connection, seconds, late) if seconds else nullcontext():
            yield connection


@contextmanager
def exploring_datasets(workspace: Workspace) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open the datasets as views without the warehouse, which another program may hold; else as `exploring`."""
    config = database_config(workspace.settings.run, workspace.root / "cache" / "duckdb")
    with interruptible(open_database(config=config)) as connection:
        _shut_off(connection, workspace, _dataset_views(connection, workspace))
        yield connection


def _shut_off(connection: duckdb.DuckDBPyConnection, workspace: Workspace, files: Sequence[Path]) -> None:
    """Keep a connection to these files, off the network, and to half of what the disk has left for its spill."""
    spill = shutil.disk_usage(workspace.root).free // 2
    connection.execute(f"set max_temp_directory_size = '{spill}B'")
    connection.execute("set preserve_insertion_order = true")
    # DuckDB asks for a file by the name that a view gives it, and again by its own.
    names = [path.resolve() for path in files]
    connection.execute(f"set allowed_paths = {quoted_files(names)} || {quoted_list(names)}")
    connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")


def _dataset_views(connection: duckdb.DuckDBPyConnection, workspace: Workspace) -> list[Path]:
    """Make the views, and return their files; one that cannot be read is named and has no view."""
    seen: list[Path] = []
    for folder in sorted((workspace.root.resolve() / "datasets").glob("*")):
        statements = list(folder.glob("statements.parquet"))
        views = {folder.name: dataset_files(folder), f"{folder.name}_statements": statements}
        for configuration in ("contradicted", "contraindicated"):
            views[f"{folder.name}_{configuration}"] = sorted(folder.glob(f"{configuration}/*.parquet"))
        for view, files in views.items():
            readable = [file for file in files if _is_parquet(connection, file)]
            if readable:
                rows = f"read_parquet({quoted_files(readable)})"
                connection.execute(f"create or replace temp view {quoted_name(view)} as select * from {rows}")
            seen += readable
    return seen


def _is_parquet(connection: duckdb.DuckDBPyConnection, file: Path) -> bool:
    try:
        parquet_rows(connection, file)
    except InputError:
        warn(f"{file} cannot be read: its rows are left out")
        return False
    return True


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except QUERY_ERRORS as error:
        if column := NO_COLUMN.search(str(error)):
            near = NEAR.search(str(error))
            expected = near[1].replace('"', "") if near else None
            raise UsageError("there is no such column", found=column[1], expected=expected) from error
        if table := NO_TABLE.search(str(error)):
            for name, made_by in MADE_BY.items():
                # Its full name is a proposal where it is there.
                if name.rpartition(".")[2] == table[1] and f'"{name}"' not in str(error):
                    do = f"`{made_by}` makes it, after all that comes before it"
                    raise UsageError("the query asks for a table that is not made yet", found=name, do=do) from error
        advice = "`ontoground status` lists the tables; a table that is missing belongs to a stage not yet run"
        if isinstance(error, duckdb.PermissionException) or FILE.search(str(error)):
            advice = "name tables of the warehouse, or datasets: other files are shut off"
        raise UsageError("the query failed", found=str(error), do=advice) from error
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.IOException as error:
        # Of files, never of rows: a full disk below what is written, or below what a sort spills.
        raise InputError("a file cannot be written or read", found=str(error).splitlines()[0]) from error
    except duckdb.Error as error:
        raise InputError("the query failed on a row", found=type(error).__name__, do="check casts in it") from error


def fetch(connection: duckdb.DuckDBPyConnection, text: str, limit: int) -> Rows:
    """Return at most ``limit`` rows (0: all) of a query.

    Raises:
        UsageError: a table or column that it names is not there.
        InputError: it fails on a row.
    """
    with _explained():
        cursor = connection.execute(text)
        columns = [column[0] for column in cursor.description or []]
        rows = cursor.fetchmany(limit + 1) if limit else cursor.fetchall()
    more = bool(limit) and len(rows) > limit
    return Rows(columns, rows[:limit] if limit else rows, more)


def fetch_table(connection: duckdb.DuckDBPyConnection, text: str) -> pa.Table:
    """Return all rows of a query as an Arrow table; errors are those of `fetch`."""
    with _explained():
        return arrow_of(connection, text)


def write_rows(
    workspace: Workspace, text: str, file_format: str, output: Path | None, seconds: float | None = None
) -> None:
    """Write a query's rows as csv, parquet or json to a file (whole or not at all) or to standard output."""
    if output is not None:
        with atomic_path(output) as temporary, exploring(workspace, temporary, seconds=seconds) as connection:
            copy_rows(connection, text, file_format, temporary)
        return
    with scratch_folder(workspace.root / "cache" / "answers") as folder:
        temporary = folder / "answer"
        with exploring(workspace, temporary, seconds=seconds) as connection:
            copy_rows(connection, text, file_format, temporary)
        with temporary.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()


def write_whole(connection: duckdb.DuckDBPyConnection, text: str, file_format: str, output: Path) -> None:
    """Write a query's rows as csv, parquet or json to a file, whole or not at all."""
    with atomic_path(output) as temporary:
        copy_rows(connection, text, file_format, temporary)


def copy_rows(connection: duckdb.DuckDBPyConnection, text: str, file_format: str, path: Path) -> None:
    """Write a query's rows as csv, parquet or json to a file that the connection may write."""
    target = quoted(str(path.resolve()))
    with _explained():
        connection.execute(f"copy (\n{text}\n) to {target} ({COPY_OPTIONS[file_format]})")
