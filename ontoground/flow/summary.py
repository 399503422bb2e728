"""The figures of a run, read back from the warehouse: what was loaded, mapped, found, stated and left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb

from ground.storage.sqlfiles import sql_text
from ground.storage.warehouse import run_sql, table_exists
from ontoground.flow.status import row_counts

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "edge_table",
    "mapped_shares",
    "paint_mapped",
    "paint_quadrants",
    "paint_summary",
    "quadrant_table",
    "summary_of",
]

QUADRANTS = ("Q1", "Q2", "Q3", "Q4")
MEANING = ("Q1 true, supported", "Q2 true, unsupported", "Q3 false, supported", "Q4 false, unsupported")
# Reasons of the graph that are identifiers, in words.
DROPPED = {
    "relation_self_loop": "relation of a concept to itself",
    "relation_not_a_class": "relation to something that is no class",
    "relation_suppressed": "relation that the release suppresses",
    "relation_unknown_concept": "relation of a concept without a name that is kept",
    "relation_uncovered": "relation whose kind no predicate covers",
    "relation_head_group": "relation whose head is of another kind than its predicate asks for",
    "relation_tail_group": "relation whose tail is of another kind than its predicate asks for",
    "relation_other_group": "relation between two kinds where its predicate asks for one",
}
LOADED = ("mimiciv_hosp.", "mimiciv_note.", "mimiciv_icu.", "umls.", "rxnorm.")


def quadrant_table(connection: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """Return statements of each predicate by quadrant, the most frequent predicate first."""
    if not table_exists(connection, "ground.medieval"):
        return []
    rows = run_sql(connection, "ontoground/quadrants").fetchall()
    return [dict(zip(("predicate", *QUADRANTS), row, strict=True)) for row in rows]


def summary_of(connection: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    """Return the figures of a workspace; see docs/schemas/run.json."""
    tables = row_counts(connection)
    counted = {one["table"]: one["rows"] for one in tables}
    return {
        "loaded": [one for one in tables if one["table"].startswith(LOADED)],
        "concepts": counted.get("kg.concept", 0),
        "edges": _one(connection, "kg.edge", "select count(distinct (head_cui, predicate, tail_cui)) from kg.edge"),
        "mapped": mapped_shares(connection),
        "mentions": counted.get("ground.mention", 0),
        "quadrants": quadrant_table(connection),
        "dropped": _dropped(connection),
    }


def edge_table(connection: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """Return edges of each predicate, the most frequent first, with the vocabularies that state them."""
    rows = run_sql(connection, "ontoground/edges").fetchall()
    return [dict(zip(("predicate", "edges", "vocabularies"), row, strict=True)) for row in rows]


def _one(connection: duckdb.DuckDBPyConnection, table: str, query: str) -> int:
    row = connection.execute(query).fetchone() if table_exists(connection, table) else None
    return int(row[0]) if row else 0


def mapped_shares(connection: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """Return the share of each source table's rows that have a concept."""
    if not table_exists(connection, "ground.code_map"):
        return []
    rows = connection.execute(sql_text("ontoground/queries/coverage_by_volume")).fetchall()
    return [
        {"table": table, "rows": total, "mapped_rows": mapped, "share": round(mapped / total, 4) if total else None}
        for table, total, mapped, *_ in rows
    ]


def _dropped(connection: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    rows = connection.execute("select stage, reason, sum(n)::bigint from ground.drop group by 1, 2 order by 1, 2")
    return [dict(zip(("stage", "reason", "n"), row, strict=True)) for row in rows.fetchall()]


def paint_quadrants(out: Console, quadrants: list[dict[str, Any]]) -> None:
    """Print statements by predicate and quadrant, with their total."""
    from ontoground.cli.render import table

    rows: list[list[Any]] = [[one["predicate"], *(one[q] for q in QUADRANTS)] for one in quadrants]
    rows.append(["all", *(sum(one[q] for one in quadrants) for q in QUADRANTS)])
    out.print(table(("predicate", *QUADRANTS), rows, title="Statements by predicate and quadrant"))
    out.print("; ".join(MEANING))


def paint_mapped(out: Console, mapped: list[dict[str, Any]]) -> None:
    """Print the share of rows that have a concept."""
    from ontoground.cli.render import table

    shares = [(one["table"], one["rows"], one["mapped_rows"], _percent(one["share"])) for one in mapped]
    out.print()
    out.print(table(("codes to concepts", "rows", "mapped", "share"), shares))


def paint_summary(out: Console, summary: dict[str, Any], stages: list[dict[str, Any]]) -> None:
    """Print the figures of a run as tables."""
    from ontoground.cli.render import table

    out.print(
        table(("loaded table", "rows"), [(one["table"], one["rows"]) for one in summary["loaded"] if one["rows"]])
    )
    paint_mapped(out, summary["mapped"])
    totals = [(name, summary[name]) for name in ("concepts", "edges", "mentions")]
    out.print()
    out.print(table(("in the warehouse", "n"), totals))
    if summary["dropped"]:
        drops = [(one["stage"], DROPPED.get(one["reason"], one["reason"]), one["n"]) for one in summary["dropped"]]
        out.print()
        out.print(table(("stage", "left out because", "n"), drops))
    if summary["quadrants"]:
        out.print("")
        paint_quadrants(out, summary["quadrants"])
    times = [(one["stage"], one["state"], f"{one['seconds']:.1f}") for one in stages]
    out.print()
    out.print(table(("stage", "", "seconds"), times))


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f}%"
