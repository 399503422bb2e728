"""The warehouse: one DuckDB file, its schemas, and the bookkeeping tables of ``ground``."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from ground.errors import InputError
from ground.settings import RunSettings
from ground.storage.files import atomic_path, private_directory
from ground.storage.sqlfiles import quoted, sql_text

if TYPE_CHECKING:
    # `status`, which takes half a second, needs no Arrow.
    import pyarrow as pa

__all__ = [
    "QUERY_ERRORS",
    "add_rows",
    "arrow_batches",
    "arrow_of",
    "connect",
    "count_drop",
    "database_config",
    "has_rows",
    "number_of",
    "one_thread",
    "open_database",
    "repair_of",
    "reset_drops",
    "run_sql",
    "set_table",
    "set_variables",
    "table_exists",
    "transaction",
]


# Errors whose message is about the query and the schema only; others may quote a patient's values.
QUERY_ERRORS = (
    duckdb.ParserException,
    duckdb.SyntaxException,
    duckdb.BinderException,
    duckdb.CatalogException,
    duckdb.PermissionException,
)


HELD_BY = re.compile(r"\(PID (\d+)\)")
DAMAGED = re.compile(r"not a valid DuckDB database|not read enough bytes|Corrupt database", re.IGNORECASE)
Config = dict[str, str | bool | int | float | list[str]]


def open_database(
    path: Path | None = None, config: Config | None = None, *, read_only: bool = False
) -> duckdb.DuckDBPyConnection:
    """Open a database, or one in memory.

    DuckDB draws no progress bar of its own: it would stand between the lines of an answer.
    """
    connection = duckdb.connect(str(path or ":memory:"), read_only=read_only, config=config or {})
    # In a notebook without ipywidgets `set enable_progress_bar = false` is an error.
    connection.execute("pragma disable_progress_bar")
    return connection


def database_config(settings: RunSettings, spill: Path) -> Config:
    """Return how every database is opened: in bounded memory; ``spill`` takes what does not fit into it."""
    config: Config = {
        "memory_limit": settings.memory_limit,
        "temp_directory": str(spill),
        "preserve_insertion_order": False,
        # Extensions that are not built in would be downloaded.
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        # With the compression of this version; the default is that of the first version.
        "storage_compatibility_version": "latest",
    }
    if settings.threads is not None:
        config["threads"] = settings.threads
    return config


def connect(path: Path, settings: RunSettings | None = None, *, read_only: bool = False) -> duckdb.DuckDBPyConnection:
    """Open the warehouse with bounded memory; a writer also makes sure that schemas and bookkeeping tables are there.

    Raises:
        InputError: the file is not a DuckDB database, or another process holds it.
    """
    if path.exists() and not path.is_file():
        raise InputError("the warehouse is no file", file=path, found="a folder, a pipe or a device")
    # Temporary files of a process in the workspace are deleted with it.
    spill = Path(tempfile.tempdir) if tempfile.tempdir else path.parent / "cache"
    config = database_config(settings or RunSettings(), spill / "duckdb")
    try:
        if not read_only and not path.exists():
            _create(path, config)
        connection = open_database(path, config, read_only=read_only)
    except duckdb.Error as error:
        raise _not_opened(path, str(error).splitlines()[0]) from error
    if not read_only:
        # DuckDB makes the last folder of its spill path only.
        for left in private_directory(path.parent / "cache").glob("tmp*"):
            # Only the writer of the warehouse works there, which is this process now.
            shutil.rmtree(left, ignore_errors=True)
        connection.execute(sql_text("ground/schemas"))
    return connection


def _create(path: Path, config: Config) -> None:
    # DuckDB writes the first blocks in place: a kill among them would leave a file that nothing opens.
    with suppress(FileExistsError), atomic_path(path) as new:
        open_database(new, config).close()
        if path.exists():
            raise FileExistsError  # Another process was faster: the file is its own.


def _not_opened(path: Path, why: str) -> InputError:
    if "lock on file" in why.lower():
        held = HELD_BY.search(why)
        found = f"process {held[1]}" if held else None
        do = "wait for it to finish, or stop it"
        return InputError("another program is using this workspace", file=path, found=found, do=do)
    if any(reason in why.lower() for reason in ("read-only file system", "permission denied")):
        do = "name a workspace of yours with --workspace, or look only: sql, status, validate"
        return InputError("the warehouse cannot be written", file=path, found=why.rpartition(": ")[2], do=do)
    if "different configuration" in why:
        do = "close this program's own connection to the warehouse, or ask through ontoground only"
        return InputError("this program has the warehouse open with other settings", file=path, do=do)
    return InputError("the warehouse cannot be opened", file=path, found=why, do=repair_of(why))


def repair_of(why: str) -> str | None:
    """Return what to do with a warehouse where DuckDB's message shows that the file is damaged, else None.

    A checkpoint writes blocks of DuckDB's own catalogue in place: a kill within this write leaves half a block.
    """
    if not DAMAGED.search(why):
        return None
    return "it is damaged: delete it and load again; it holds nothing that the sources and settings do not give"


def run_sql(connection: duckdb.DuckDBPyConnection, name: str) -> duckdb.DuckDBPyConnection:
    """Run one SQL file."""
    return connection.execute(sql_text(name))


def set_variables(connection: duckdb.DuckDBPyConnection, values: Mapping[str, object]) -> None:
    """Set what SQL files read with ``getvariable``."""
    for name, value in values.items():
        connection.execute(f"set variable {name} = $value", {"value": value})


@contextmanager
def transaction(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Commit when the block ends, roll back when it fails."""
    connection.execute("begin")
    try:
        yield
    except BaseException:
        # A connection that an interrupt has closed is rolled back already, and the first error is the one to tell.
        with suppress(duckdb.Error):
            connection.execute("rollback")
        raise
    connection.execute("commit")


@contextmanager
def one_thread(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Let DuckDB work with one thread: rows stay in their order, and short statements take half the CPU time."""
    threads = number_of(connection, "select current_setting('threads')")
    connection.execute("set threads = 1")
    try:
        yield
    finally:
        # An interrupt closes the connection.
        with suppress(duckdb.Error):
            connection.execute(f"set threads = {threads}")


def arrow_of(connection: duckdb.DuckDBPyConnection, query: str) -> pa.Table:
    """Return what a query selects as an Arrow table, without a copy of the rows."""
    # A result that an earlier statement left open would forbid a relation on the same connection.
    connection.execute("select 1").fetchall()
    return connection.sql(query).to_arrow_table()


def set_table(connection: duckdb.DuckDBPyConnection, name: str, table: pa.Table, *, kept: bool = False) -> None:
    """Make a table of an Arrow table, in place of one of that name: temporary, or ``kept`` in the warehouse."""
    connection.register("arrow_input", table)
    connection.execute(f"create or replace {'table' if kept else 'temp table'} {name} as select * from arrow_input")
    connection.unregister("arrow_input")


def add_rows(connection: duckdb.DuckDBPyConnection, name: str, table: pa.Table) -> None:
    """Add the rows of an Arrow table to a table with the same columns."""
    connection.register("arrow_input", table)
    connection.execute(f"insert into {name} select * from arrow_input")
    connection.unregister("arrow_input")


def arrow_batches(connection: duckdb.DuckDBPyConnection, query: str, rows: int) -> Generator[pa.RecordBatch]:
    """Yield what a query selects in batches of so many rows; the next is made in a thread while one is looked at.

    A result that is not held in memory is made by the thread that asks for it, and by no other.
    """
    reader = connection.sql(query).to_arrow_reader(rows)
    with ThreadPoolExecutor(max_workers=1) as ahead:
        following = ahead.submit(next, reader, None)
        while (batch := following.result()) is not None:
            following = ahead.submit(next, reader, None)
            yield batch


def number_of(connection: duckdb.DuckDBPyConnection, statement: str) -> int:
    """Return the one number that a statement gives, such as a count; nothing and null are 0."""
    rows = connection.execute(statement).fetchall()
    return int(rows[0][0] or 0) if rows else 0


def table_exists(connection: duckdb.DuckDBPyConnection, table: str) -> bool:
    """Tell whether ``schema.table`` is there, as table or view."""
    # With its first bound value DuckDB imports pandas, which takes longer than all that `status` asks.
    schema, name = map(quoted, table.split("."))
    query = f"select 1 from information_schema.tables where table_schema = {schema} and table_name = {name}"
    return connection.execute(query).fetchone() is not None


def has_rows(connection: duckdb.DuckDBPyConnection, table: str) -> bool:
    """Tell whether ``schema.table`` is there, as table or view, and has a row."""
    if not table_exists(connection, table):
        return False
    return connection.execute(f"select 1 from {table} limit 1").fetchone() is not None


def reset_drops(connection: duckdb.DuckDBPyConnection, stage: str) -> None:
    """Forget what an earlier run of a stage left out."""
    connection.execute("delete from ground.drop where stage = ?", [stage])


def count_drop(connection: duckdb.DuckDBPyConnection, stage: str, reason: str, n: int) -> None:
    """Record that a stage left out ``n`` items for one reason; nothing is recorded for none."""
    if n:
        connection.execute("insert into ground.drop values (?, ?, ?)", [stage, reason, n])
