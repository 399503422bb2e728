"""From chosen statements to dataset rows: sentences, paths, spans, splits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import duckdb
import pyarrow as pa

from builders.medieval.wording import statement_of
from ontoground.rows import MEDIEVAL_SCHEMA, STATEMENT_SCHEMA, PathEdgeRow
from ontoground.sqlfiles import sql_text
from ontoground.warehouse import arrow_of

__all__ = ["PathSource", "medieval_table", "statement_table"]

# Why a statement is false, by quadrant: the same checks hold for both (sql/builders/why_not_false.sql).
WHY_FALSE = {"Q3": "recombined_no_path_within_3_hops", "Q4": "distant_no_path_within_3_hops"}


class PathSource(Protocol):
    """What is needed of the graph here."""

    def path(self, head: str, tail: str, pattern: str) -> list[PathEdgeRow]:
        """Return the first path of a pattern, in stable order, with its evidence."""
        ...

    def distance(self, one: str, other: str) -> int | None:
        """Return the is_a distance, None beyond the limit."""
        ...


def _records(connection: duckdb.DuckDBPyConnection, query: str) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = arrow_of(connection, query).to_pylist()
    return records


def _spans(connection: duckdb.DuckDBPyConnection) -> Mapping[tuple[str, str], list[dict[str, Any]]]:
    spans: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in _records(connection, "select * from support_span order by group_id, quadrant, role"):
        spans.setdefault((row["group_id"], row["quadrant"]), []).append(row)
    return spans


def _support_level(quadrant: str, spans: list[dict[str, Any]]) -> str:
    if quadrant in ("Q2", "Q4"):
        return "none"
    return "stated" if all(span["linked"] for span in spans) else "co_mentioned"


def _sentence(row: Mapping[str, Any], template: str) -> str:
    kept_is_head = row["slot"] == "tail"
    return statement_of(
        template,
        row["head_name"],
        row["tail_name"],
        head_broader=row["broader_name"] if kept_is_head else None,
        tail_broader=None if kept_is_head else row["broader_name"],
    )


def _path(row: Mapping[str, Any], graph: PathSource) -> list[PathEdgeRow]:
    """Return the evidence of a true statement, the edge of a descriptive addition last."""
    if row["pattern"] is None:
        return []
    path = list(graph.path(row["head_cui"], row["tail_cui"], row["pattern"]))
    if row["broader_cui"]:
        path += graph.path(row["kept_cui"], row["broader_cui"], row["broader_predicate"])
    return path


def _row(
    row: Mapping[str, Any], template: str, graph: PathSource, spans: list[dict[str, Any]], context: str
) -> dict[str, Any]:
    quadrant = row["quadrant"]
    replaced = quadrant != "Q1"
    return {
        "id": f"{row['group_id']}-{quadrant}",
        "group_id": row["group_id"],
        "subject_id": row["subject_id"],
        "hadm_id": row["hadm_id"],
        "context": context,
        "statement": _sentence(row, template),
        "quadrant": quadrant,
        "is_true": quadrant in ("Q1", "Q2"),
        "is_supported": quadrant in ("Q1", "Q3"),
        "predicate": row["predicate"],
        "head_cui": row["head_cui"],
        "head_name": row["head_name"],
        "tail_cui": row["tail_cui"],
        "tail_name": row["tail_name"],
        "hops": row["hops"] + bool(row["broader_cui"]),
        "tier": row["tier"],
        "support_level": _support_level(quadrant, spans),
        "path": _path(row, graph),
        "support_spans": [{name: span[name] for name in ("role", "cui", *SPAN_COLUMNS)} for span in spans],
        "replaced_end": row["slot"] if replaced else "none",
        "replaced_cui": row["original_cui"] if replaced else None,
        "distance": graph.distance(row["original_base"], row["candidate_base"]) if replaced else None,
        "why_false": WHY_FALSE.get(quadrant),
        "split": row["split"],
        "fact_split": row["fact_split"],
    }


SPAN_COLUMNS = ("begin_offset", "end_offset", "text", "section")


def medieval_table(connection: duckdb.DuckDBPyConnection, graph: PathSource) -> pa.Table:
    """Return all rows of the dataset, in the order of patient, group and quadrant; schema ``MEDIEVAL_SCHEMA``."""
    connection.execute(sql_text("builders/fact_split"))
    templates = dict(connection.execute(sql_text("builders/template")).fetchall())
    contexts = dict(connection.execute("select hadm_id, context from context").fetchall())
    spans = _spans(connection)
    rows = [
        _row(
            row,
            templates[row["predicate"]],
            graph,
            spans.get((row["group_id"], row["quadrant"]), []),
            contexts[row["hadm_id"]],
        )
        for row in _records(connection, "select * from fact_split order by subject_id, group_id, quadrant")
    ]
    return pa.Table.from_pylist(rows, schema=MEDIEVAL_SCHEMA)


def statement_table(connection: duckdb.DuckDBPyConnection, rows: pa.Table) -> pa.Table:
    """Return each distinct statement once, with how many samples use it; schema ``STATEMENT_SCHEMA``."""
    connection.register("medieval_rows", rows.drop_columns(["context"]))
    try:
        return arrow_of(connection, sql_text("builders/distinct_statement")).cast(STATEMENT_SCHEMA)
    finally:
        connection.unregister("medieval_rows")
