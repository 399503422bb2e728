"""Phase 1 of our own datasets: an auditor that derives each label again from the row's own evidence.

It is conservative: a row is Suspicious only where its evidence contradicts the label, and the verdict names the fault.
What the evidence does not hold is not held against it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa

from ground.contracts.rows import MEDIEVAL_SCHEMA
from ground.storage.warehouse import set_table
from stewardship.benchmark.folder import Benchmark
from stewardship.datasets.adopt import dataset_of
from stewardship.datasets.audit_text import (
    AGGREGATION,
    EXTRACTION,
    NOT_ANSWERABLE,
    Fault,
    medhal_faults,
    medval_faults,
)
from stewardship.datasets.recompute import judged
from stewardship.datasets.rows import evidence_of, features_of
from stewardship.second_road.graph import opened
from stewardship.second_road.rows import row_disagreements, span_texts

__all__ = ["audited"]

PASS, SUSPICIOUS = "Pass", "Suspicious"
NO_SPAN = "a statement has a span for each end that it is supported by"
"""The check of rows that finds evidence missing; what the others find is evidence that the label does not follow."""


def audited(workspace: Path, benchmark: Benchmark, *, uids: Collection[str] | None = None) -> pl.DataFrame:
    """Audit the labels of a benchmark of ours by their evidence.

    Args:
        workspace: with the warehouse that the dataset was built from.
        benchmark: taken up by `stewardship.datasets.adopt.adopt_dataset`.
        uids: rows; all where left out.

    Returns:
        *columns*: uid, verdict (``Suspicious`` or ``Pass``), failure_mode (of the first fault: ``feature_extraction``,
        ``aggregation_logic``, ``not_answerable``), remark (all faults in words; names and offsets, no text of a note).

    Raises:
        InputError: the workspace has no warehouse, or the benchmark is none of our datasets.
    """
    kind = dataset_of(benchmark)
    labels = {uid: event.value for uid, event in benchmark.history.latest("original").items()}
    wanted = benchmark.items if uids is None else benchmark.items.filter(pl.col("uid").is_in(list(uids)))
    items = wanted.to_dicts()
    with opened(workspace) as connection:
        if kind == "medieval":
            faults = list(_medieval(connection, items, labels))
        elif kind == "medhal":
            faults = list(medhal_faults(connection, items, labels))
        else:
            faults = list(medval_faults(items, labels))
    return _verdicts([item["uid"] for item in items], faults)


def _verdicts(uids: Sequence[str], faults: Sequence[Fault]) -> pl.DataFrame:
    by_row: dict[str, list[Fault]] = {uid: [] for uid in uids}
    for fault in faults:
        by_row[fault.uid].append(fault)
    rows = [
        (uid, SUSPICIOUS if here else PASS, here[0].mode if here else None, "; ".join(f.words for f in here) or None)
        for uid, here in by_row.items()
    ]
    schema = dict.fromkeys(("uid", "verdict", "failure_mode", "remark"), pl.String)
    return pl.DataFrame(rows, schema=schema, orient="row").sort("uid")


def _medieval(
    connection: duckdb.DuckDBPyConnection, items: Sequence[Mapping[str, Any]], labels: Mapping[str, str | None]
) -> Iterator[Fault]:
    """Hold MediEval rows against themselves, the graph, the notes' text, and the second reading of their context."""
    rows = [
        {
            **features_of(item),
            **evidence_of(item),
            "id": item["uid"],
            "context": item["context"] or "",
            "quadrant": labels.get(item["uid"]),
        }
        for item in items
    ]
    readings = {row["uid"]: row for row in judged(connection, pl.DataFrame(_facts(rows))).to_dicts()}
    fields = [field for field in MEDIEVAL_SCHEMA if not rows or field.name in rows[0]]
    set_table(connection, "labelled", pa.Table.from_pylist(rows, pa.schema(fields)))
    for check, uid, found, expected in row_disagreements(connection):
        mode = NOT_ANSWERABLE if check == NO_SPAN else AGGREGATION
        yield Fault(uid, mode, f"not so: {check} (here {found or 'nothing'}, expected {expected})")
    for row in rows:
        yield from _relation(row, readings[row["id"]])
    yield from _spans(connection, readings)


def _facts(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    names = ("hadm_id", "context", "predicate", "head_cui", "head_name", "tail_cui", "tail_name")
    return [{"uid": row["id"], **{name: row[name] for name in names}} for row in rows]


def _relation(row: Mapping[str, Any], reading: Mapping[str, Any]) -> Iterator[Fault]:
    """Check the statement's relation in the graph, and that the context is silent about a replaced end."""
    if reading["is_true"] is not row["is_true"]:
        yield Fault(row["id"], AGGREGATION, f"called {'true' if row['is_true'] else 'false'}: {reading['why_true']}")
    replaced = row["replaced_end"]
    if not row["is_supported"] and replaced != "none" and reading[f"{replaced}_attested"]:
        yield Fault(row["id"], EXTRACTION, f"the replaced {replaced} is named as present in the context")


def _spans(connection: duckdb.DuckDBPyConnection, readings: Mapping[str, Mapping[str, Any]]) -> Iterator[Fault]:
    """Check that each span is the text at its offsets, in its section, in the context, reads as present, means its end.

    How it reads and what it means is a matter of two readers: only where the second one finds no other mention that
    attests the end, the span's own is held against the row.
    """
    for span in span_texts(connection).iter_rows(named=True):
        uid, at = span["id"], f"{span['role']} at {span['begin_offset']}"
        if span["text"] != span["shown"]:
            yield Fault(uid, EXTRACTION, f"the note has another text for the {at}")
            continue
        if span["lies_in"] != span["section"]:
            yield Fault(uid, EXTRACTION, f"the {at} lies in {span['lies_in']}, not in {span['section']}")
        if not span["in_context"]:
            yield Fault(uid, EXTRACTION, f"the context does not hold the {at}")
        if readings[uid][f"{span['role']}_attested"]:
            continue
        if span["reading"] != "present":
            yield Fault(uid, EXTRACTION, f"the {at} reads as {span['reading']}")
        if span["other_sense"]:
            yield Fault(uid, EXTRACTION, f"the words of the {at} name something else")
