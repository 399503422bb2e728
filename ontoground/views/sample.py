"""One group of four statements with the evidence of each: why it is true or false, supported or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb

from ground.storage.warehouse import run_sql

if TYPE_CHECKING:
    from rich.console import Console

    from ontoground.views.concepts import Phrases

__all__ = ["paint_group", "sample_group"]

NO_PATH = "no path within 3 hops relates the two, in either direction"
WHY_FALSE = {
    "recombined_no_path_within_3_hops": f"the ends come from different facts, and {NO_PATH}",
    "distant_no_path_within_3_hops": f"the new end is a distant concept, and {NO_PATH}",
}
MEANING = {
    "Q1": "true and supported",
    "Q2": "true, not supported",
    "Q3": "false, both ends in the note",
    "Q4": "false and not supported",
}


def sample_group(connection: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """Return the rows of one telling group of the built dataset; always the same for the same dataset."""
    cursor = run_sql(connection, "ontoground/sample_group")
    columns = [column[0] for column in cursor.description or []]
    return [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]


def paint_group(out: Console, rows: list[dict[str, Any]], phrases: Phrases) -> None:
    """Print the statements of a group, each with its reasons."""
    from ontoground.cli.render import indented, text

    for row in rows:
        out.print()
        out.print(text(f"{row['quadrant']}  {row['statement']}", "bold"))
        out.print(indented(MEANING[row["quadrant"]], 4))
        for reason in (*_truth(row, phrases), *_support(row, phrases)):
            out.print(indented(reason, 4))


def _truth(row: dict[str, Any], phrases: Phrases) -> list[str]:
    if row["why_false"]:
        return [f"false because {WHY_FALSE.get(row['why_false'], row['why_false'].replace('_', ' '))}"]
    lines = [f"true because ({row['tier']}):"]
    for edge in row["path"]:
        evidence = " ".join(part for part in (edge["sab"], edge["rela"], edge["rui"]) if part)
        lines.append(f"  {phrases.edge(edge['head_cui'], edge['predicate'], edge['tail_cui'])}  [{evidence}]")
    return lines


def _support(row: dict[str, Any], phrases: Phrases) -> list[str]:
    lines = []
    for span in row["support_spans"]:
        place = f"{span['section'].replace('_', ' ')}, {span['begin_offset']:,} to {span['end_offset']:,}"
        lines.append(f"the note says '{' '.join(span['text'].split())}' ({place}) for the {span['role']}")
    if row["replaced_end"] != "none" and row["replaced_cui"]:
        away = "out of reach in the hierarchy" if row["distance"] is None else f"{row['distance']} is_a steps away"
        replaced = f"{phrases.graph.name(row['replaced_cui'])} ({row['replaced_cui']})"
        lines.append(f"its {row['replaced_end']} takes the place of {replaced}, {away}")
    if row["quadrant"] in ("Q2", "Q4") and row["replaced_end"] != "none":
        lines.append(f"the note nowhere speaks of the {row['replaced_end']}")
    return lines
