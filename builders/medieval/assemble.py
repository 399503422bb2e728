"""What the dataset says of its distinct statements: sentences, paths, distances."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from builders.medieval.facts import run_steps
from builders.medieval.hierarchy import distances
from builders.medieval.wording import statement_of
from ground.contracts.rows import PATH_EDGE
from ground.storage.sqlfiles import sql_text
from ground.storage.warehouse import add_rows, arrow_of, number_of, set_table
from kg.graph import ConceptGraph

__all__ = ["say_statements"]

JUDGED_AT_ONCE = 50_000
"""Distinct statements, paths or pairs that are worked out together."""

FARTHEST = 6
"""Steps up to which the distance of a replacement is told (the limit of `ConceptGraph.distance`)."""

PLURALS = (
    "select name from statement_name where one != name and "
    "cui in (select head_cui from proposition union select tail_cui from proposition)"
)
TEXTS = ("predicate", "head_name", "tail_name", "slot", "broader_name")
PATHS = ("head_cui", "tail_cui", "pattern")
BROADER_PATHS = ("kept_cui", "broader_cui", "broader_predicate")


def _sentence(
    templates: dict[str, str],
    plurals: Collection[str],
    predicate: str,
    head: str,
    tail: str,
    slot: str,
    broader: str | None,
) -> str:
    kept_is_head = slot == "tail"
    return statement_of(
        templates[predicate],
        head,
        tail,
        head_broader=broader if kept_is_head else None,
        tail_broader=None if kept_is_head else broader,
        plurals=plurals,
    )


def _work_out(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    columns: tuple[str, ...],
    kind: pa.DataType,
    answer: Callable[..., Any],
    where: str = "true",
) -> None:
    """Make a table of what is asked of each distinct set of values in columns of ``proposition``, and ``answer``."""
    asked = f"select distinct {', '.join(columns)} from proposition where {where}"
    schema = pa.schema([*((column, pa.string()) for column in columns), ("answer", kind)])
    set_table(connection, name, schema.empty_table())
    connection.execute(f"create or replace temp table asked as {asked} order by all")
    for begin in range(0, number_of(connection, "select count(*) from asked"), JUDGED_AT_ONCE):
        part = arrow_of(connection, f"select * from asked where rowid >= {begin} and rowid < {begin + JUDGED_AT_ONCE}")
        values = [part[column].to_pylist() for column in columns]
        answers = pa.array([answer(*values_of_row) for values_of_row in zip(*values, strict=True)], kind)
        add_rows(connection, name, part.append_column("answer", answers).cast(schema))


def _measure(connection: duckdb.DuckDBPyConnection, graph: ConceptGraph) -> None:
    """Make ``base_distance``: steps between a replaced end and what replaces it, null beyond the limit."""
    query = (
        "select distinct original_base, candidate_base from proposition where candidate_cui is not null order by all"
    )
    asked = arrow_of(connection, query)
    originals, candidates = (graph.numbers_of(asked[column].to_pylist()) for column in asked.column_names)
    steps = distances(graph, originals, candidates, FARTHEST)
    steps[pc.equal(asked["original_base"], asked["candidate_base"]).to_numpy()] = 0
    set_table(connection, "base_distance", asked.append_column("answer", pa.array(steps, mask=steps < 0)))


def say_statements(connection: duckdb.DuckDBPyConnection, graph: ConceptGraph) -> None:
    """Make ``proposition_row``: all columns of rows that the statement decides, whatever the admission."""
    templates = dict(connection.execute(sql_text("builders/medieval/truth/template")).fetchall())
    plurals = frozenset(row[0] for row in connection.execute(PLURALS).fetchall())
    _work_out(connection, "sentence", TEXTS, pa.string(), lambda *texts: _sentence(templates, plurals, *texts))
    _work_out(connection, "pattern_path", PATHS, pa.list_(PATH_EDGE), graph.path, "pattern is not null")
    described = "pattern is not null and broader_name is not null"
    _work_out(connection, "broader_path", BROADER_PATHS, pa.list_(PATH_EDGE), graph.path, described)
    _measure(connection, graph)
    run_steps(connection, "rows", ["proposition_row"])
