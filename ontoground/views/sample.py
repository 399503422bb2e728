"""One group of four statements with the evidence of each: why it is true or false, supported or not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import duckdb

from ground.contracts.rows import WHY_FALSE
from ground.storage.warehouse import run_sql
from ontoground.flow.session import records
from ontoground.views.concepts import Phrases, evidence_of

__all__ = ["checks_of_false", "reasons", "sample_group"]

NAMED = 5
"""Concepts that a line names at most."""
MEANING = {
    "Q1": "true and supported",
    "Q2": "true, not supported",
    "Q3": "false, both ends in the note",
    "Q4": "false and not supported",
}


def sample_group(connection: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """Return the rows of one telling group of the built dataset; always the same for the same dataset."""
    return records(run_sql(connection, "ontoground/sample_group"))


def reasons(row: dict[str, Any], phrases: Phrases) -> list[str]:
    """Return in words what a statement's quadrant is, and why."""
    return [MEANING[row["quadrant"]], *_truth(row, phrases), *_support(row, phrases)]


def checks_of_false(row: Mapping[str, Any], phrases: Phrases) -> list[str]:
    """Return of a false statement what the graph says in its place, and what was asked before it was called false."""
    if not row["why_false"]:
        return []
    from builders.medieval.judging import REASONS

    asked_for = "asked before it was called false; none of these was found (docs/definitions.md#false):"
    return [*_known(row, phrases), asked_for, *(f"  {check}" for check in REASONS)]


def _truth(row: dict[str, Any], phrases: Phrases) -> list[str]:
    if row["why_false"]:
        return [f"false because {WHY_FALSE.get(row['why_false'], row['why_false'].replace('_', ' '))}"]
    edges = [f"  {phrases.edge(edge)}  [{evidence_of(edge)}]" for edge in row["path"]]
    return [f"true because ({row['tier']}):", *edges]


def _known(row: Mapping[str, Any], phrases: Phrases) -> list[str]:
    """Return what the graph's edges say of each end in place of a false statement."""
    line, backwards = phrases.vocabulary.line_of(row["predicate"])
    inverse = line.predicate if backwards else line.inverse
    lines = []
    for cui, predicate in ((row["head_cui"], row["predicate"]), (row["tail_cui"], inverse)):
        names = sorted({phrases.name(edge["tail_cui"]) for edge in phrases.graph.neighbours(cui, predicate)})
        if names:
            more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
            sentence = phrases.sentence(phrases.name(cui), predicate, ", ".join(names[:NAMED]))
            lines.append(f"the graph says that {sentence}{more}")
    return lines


def _support(row: dict[str, Any], phrases: Phrases) -> list[str]:
    lines = []
    for span in row["support_spans"]:
        evidence = f"the note says {_quoted(span)} for the {span['role']}"
        # The certainty is known where the warehouse was asked.
        read = f", read as {span['assertion']} ({span['certainty']})" if "certainty" in span else ""
        lines.append(f"supported because {evidence}{read}" if read and row["is_supported"] else f"{evidence}{read}")
    for span in row.get("denied_spans", ()):
        evidence = f"the note names the {span['role']}, {_quoted(span)}, and calls it {span['assertion']}"
        lines.append(f"{evidence}: not supported")
    if row["replaced_end"] == "none":
        return lines
    if row["replaced_cui"]:
        away = "out of reach in the hierarchy" if row["distance"] is None else f"{row['distance']} is_a steps away"
        replaced = f"{phrases.name(row['replaced_cui'])} ({row['replaced_cui']})"
        lines.append(f"its {row['replaced_end']} takes the place of {replaced}, {away}")
    if row["quadrant"] in ("Q2", "Q4"):
        lines.append(f"the note nowhere speaks of the {row['replaced_end']}")
    return lines


def _quoted(span: Mapping[str, Any]) -> str:
    place = f"{span['section'].replace('_', ' ')}, {span['begin_offset']:,} to {span['end_offset']:,}"
    return f"'{' '.join(span['text'].split())}' ({place})"
