"""Rows of MediEval held against themselves and against the graph, whoever reads their notes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import duckdb
import polars as pl

from ground.storage.sqlfiles import sql_text
from ground.storage.warehouse import run_sql
from stewardship.second_road.readings import with_readings

__all__ = ["Disagreement", "disagreements", "row_disagreements", "span_texts"]

ROWS = "stewardship/second_road/rows"
GRAPH = "stewardship/second_road/graph"

Disagreement = tuple[Any, ...]
"""Check, id of the row (or of what rows have in common), what was found, what was expected."""


def disagreements(connection: duckdb.DuckDBPyConnection, checks: Iterable[str]) -> list[Disagreement]:
    """Return what checks find, by their SQL files."""
    return [line for check in checks for line in connection.execute(sql_text(check)).fetchall()]


def row_disagreements(connection: duckdb.DuckDBPyConnection) -> list[Disagreement]:
    """Hold the rows of a table ``labelled``, each alone, against themselves and the graph.

    Needs the paths between their ends, which `stewardship.second_road.graph.find_paths` finds.
    """
    run_sql(connection, f"{GRAPH}/claim")
    return disagreements(connection, (f"{ROWS}/row", f"{GRAPH}/statement"))


def span_texts(connection: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """Return what the notes hold where the rows of ``labelled`` show a span (``span_text.sql``), and its *reading*.

    Needs ``meaning``, which `stewardship.second_road.bare_text.supports` makes of the rows' ends.
    """
    run_sql(connection, f"{ROWS}/span_text")
    return with_readings(connection.sql("from span_text order by id, role").pl())
