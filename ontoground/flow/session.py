"""An open warehouse for the length of one verb, which a signal can interrupt."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ground.storage.warehouse import connect, run_sql
from ground.storage.workspace import Workspace
from ontoground.flow.interrupts import interruptible

if TYPE_CHECKING:
    import duckdb

__all__ = ["asked", "reading", "records", "writing"]


@contextmanager
def writing(workspace: Workspace) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open the workspace's warehouse for writing; it is made where it is not there."""
    with interruptible(connect(workspace.warehouse, workspace.settings.run)) as connection:
        yield connection


@contextmanager
def reading(workspace: Workspace) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open the workspace's warehouse so that nothing in it can be changed."""
    with interruptible(connect(workspace.warehouse, workspace.settings.run, read_only=True)) as connection:
        yield connection


def asked(connection: duckdb.DuckDBPyConnection, name: str, wanted: str) -> duckdb.DuckDBPyConnection:
    """Run a SQL file about one thing: the file reads it as ``getvariable('wanted')``."""
    connection.execute("set variable wanted = $value", {"value": wanted})
    return run_sql(connection, name)


def records(answer: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """Return the rows of an answer by the names of its columns."""
    names = [column[0] for column in answer.description or []]
    return [dict(zip(names, row, strict=True)) for row in answer.fetchall()]
