"""An open warehouse for the length of one verb, which a signal can interrupt."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ehr.sources.contract import make_views
from ground.errors import InputError
from ground.storage.sqlfiles import quoted
from ground.storage.warehouse import connect, run_sql
from ground.storage.workspace import Workspace
from ontoground.flow.interrupts import interruptible

if TYPE_CHECKING:
    import duckdb

__all__ = ["is_held", "reading", "records", "rows_about", "writing"]

WAIT_SECONDS = 10.0
AGAIN_SECONDS = 0.1
_ONE_READER = threading.RLock()
"""Connections of a process to one file share their settings: what shuts one off from other files holds for all."""


@contextmanager
def writing(workspace: Workspace) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open the workspace's warehouse for writing; it is made where it is not there.

    Any reader keeps a writer out, and pages read for a moment only: it is asked again for some seconds.

    Raises:
        InputError: another program goes on using it.
    """
    with interruptible(_free(workspace)) as connection:
        make_views(connection)
        yield connection


def _free(workspace: Workspace) -> duckdb.DuckDBPyConnection:
    from ontoground.cli.render import note

    until, is_told = time.monotonic() + WAIT_SECONDS, False
    while True:
        try:
            return connect(workspace.warehouse, workspace.settings.run)
        except InputError as error:
            if not is_held(error) or time.monotonic() > until:
                raise
        if not is_told:
            note("another program reads this workspace: waiting for it")
            is_told = True
        time.sleep(AGAIN_SECONDS)


def is_held(error: Exception) -> bool:
    """Tell whether an error says that another program has the warehouse open."""
    return isinstance(error, InputError) and error.what == "another program is using this workspace"


@contextmanager
def reading(workspace: Workspace) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open the workspace's warehouse so that nothing in it can be changed; one thread of a process at a time."""
    with _ONE_READER, interruptible(connect(workspace.warehouse, workspace.settings.run, read_only=True)) as connection:
        yield connection


def rows_about(connection: duckdb.DuckDBPyConnection, name: str, wanted: str) -> duckdb.DuckDBPyConnection:
    """Run a SQL file about one thing: the file reads it as ``getvariable('wanted')``."""
    connection.execute(f"set variable wanted = {quoted(wanted)}")
    return run_sql(connection, name)


def records(answer: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """Return the rows of an answer by the names of its columns."""
    names = [column[0] for column in answer.description or []]
    return [dict(zip(names, row, strict=True)) for row in answer.fetchall()]
