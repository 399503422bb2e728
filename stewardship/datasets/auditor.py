"""Phase 1 of our own datasets: an auditor that derives each label again from the row's own evidence.

It is conservative: a row is Suspicious only where its evidence contradicts the label, and the verdict names the fault.
What the evidence does not hold is not held against it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import polars as pl

from ground.storage.warehouse import set_table
from stewardship.benchmark.folder import Benchmark
from stewardship.datasets.adopt import dataset_of
from stewardship.datasets.asking import opened, script
from stewardship.datasets.audit_text import medhal_faults, medval_faults
from stewardship.datasets.faults import AGGREGATION, EXTRACTION, NOT_ANSWERABLE, Fault
from stewardship.datasets.readings import reading_of
from stewardship.datasets.recompute import judged
from stewardship.datasets.rows import evidence_of, features_of

__all__ = ["audited"]

PASS, SUSPICIOUS = "Pass", "Suspicious"
SPACE = re.compile(r"\s+")


class Checked(NamedTuple):
    """A MediEval row with its label and evidence."""

    uid: str
    label: str | None
    context: str
    about: dict[str, Any]
    evidence: dict[str, Any]


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
            found = list(_medieval(connection, items, labels))
        elif kind == "medhal":
            found = list(medhal_faults(connection, items, labels))
        else:
            found = list(medval_faults(items, labels))
    return _verdicts([item["uid"] for item in items], found)


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
    rows = [
        Checked(item["uid"], labels.get(item["uid"]), item["context"] or "", features_of(item), evidence_of(item))
        for item in items
    ]
    for row in rows:
        yield from _consistent(row)
        yield from _composed(row)
    yield from _edges(connection, rows)
    yield from _patterns(connection, rows)
    facts = pl.DataFrame([{**row.about, "uid": row.uid, "context": row.context} for row in rows])
    said = {row["uid"]: row for row in judged(connection, facts).to_dicts()}
    for row in rows:
        yield from _graph(row, said[row.uid])
    yield from _spans(connection, rows, said)


def _consistent(row: Checked) -> Iterator[Fault]:
    """Check that label, quadrant, truth, support, tier and replaced end say one thing."""
    held = row.evidence
    quadrant = {(True, True): "Q1", (True, False): "Q2", (False, True): "Q3", (False, False): "Q4"}[
        held["is_true"], held["is_supported"]
    ]
    if row.label != quadrant:
        yield Fault(row.uid, AGGREGATION, f"the label is {row.label}, its truth and support say {quadrant}")
    if held["is_true"] != (held["tier"] is not None) or held["is_true"] != (held["why_false"] is None):
        yield Fault(row.uid, AGGREGATION, "a true statement has a tier, a false one a reason")
    replaced = held["replaced_end"]
    ends = {"head": row.about["head_cui"], "tail": row.about["tail_cui"]}
    if (quadrant == "Q1") != (replaced == "none"):
        yield Fault(row.uid, AGGREGATION, f"{quadrant} with replaced end: {replaced}")
    elif replaced != "none" and held["replaced_cui"] == ends[replaced]:
        yield Fault(row.uid, AGGREGATION, f"the {replaced} was replaced by itself")
    roles = sorted(span["role"] for span in held["support_spans"])
    wanted = ["head", "tail"] if held["is_supported"] else [end for end in ("head", "tail") if end != replaced]
    if roles != wanted:
        yield Fault(row.uid, NOT_ANSWERABLE, f"spans for {' '.join(roles) or 'no end'}, expected {' '.join(wanted)}")


def _composed(row: Checked) -> Iterator[Fault]:
    """Check that the path's edges meet and lead from head to tail."""
    path, held = row.evidence["path"], row.evidence
    if not held["is_true"]:
        if path:
            yield Fault(row.uid, AGGREGATION, "a false statement has a path")
        return
    if not path:
        yield Fault(row.uid, NOT_ANSWERABLE, "a true statement has no path")
        return
    if len(path) != held["hops"]:
        yield Fault(row.uid, AGGREGATION, f"{len(path)} edges, {held['hops']} hops")
    head, tail = row.about["head_cui"], row.about["tail_cui"]
    node = head
    for place, edge in enumerate(path, start=1):
        # The last edge may describe an end: "..., which is a type of ...".
        describes = place == len(path) and place > 1 and node == tail and edge["head_cui"] in (head, tail)
        if edge["head_cui"] != node and not describes:
            yield Fault(row.uid, AGGREGATION, f"a gap before edge {place} of the path")
            return
        node = tail if describes else edge["tail_cui"]
    if node != tail:
        yield Fault(row.uid, AGGREGATION, "the path does not end at the tail")


def _edges(connection: duckdb.DuckDBPyConnection, rows: Sequence[Checked]) -> Iterator[Fault]:
    names = ("head_cui", "predicate", "tail_cui", "rela", "sab", "rui")
    edges = [
        {"uid": row.uid, "place": place, **{name: edge[name] or "" for name in names}}
        for row in rows
        for place, edge in enumerate(row.evidence["path"], start=1)
    ]
    schema = {"uid": pl.String, "place": pl.Int64, **dict.fromkeys(names, pl.String)}
    set_table(connection, "steward_edge", pl.DataFrame(edges, schema=schema).to_arrow())
    script(connection, "lost_edge")
    for uid, place in connection.execute("from steward_lost_edge order by all").fetchall():
        yield Fault(uid, AGGREGATION, f"edge {place} of the path is not in kg.edge with its RELA, SAB and RUI")


def _patterns(connection: duckdb.DuckDBPyConnection, rows: Sequence[Checked]) -> Iterator[Fault]:
    """Check that the path's predicates are a pattern of the predicate and the tier."""
    known = connection.execute("select steps, extends, predicate, tier from kg.pattern").fetchall()
    patterns = {(*steps, *([extends] if extends else ()), predicate, tier) for steps, extends, predicate, tier in known}
    # "..., which is a type of ...": a class, or a pharmacologic class.
    describing = {"has_pharmacologic_class", *(extends for _, extends, _, _ in known if extends)}
    for row in rows:
        if not row.evidence["path"]:
            continue
        steps = [edge["predicate"] for edge in row.evidence["path"]]
        end = (row.about["predicate"], row.evidence["tier"])
        plain = (*steps, *end) in patterns
        described = steps[-1] in describing and (*steps[:-1], *end) in patterns
        if not plain and not described:
            yield Fault(row.uid, AGGREGATION, f"{' . '.join(steps)} is no {end[1]} pattern of {end[0]}")


def _spans(
    connection: duckdb.DuckDBPyConnection, rows: Sequence[Checked], said: Mapping[str, Mapping[str, Any]]
) -> Iterator[Fault]:
    """Check that each span is the text at its offsets, in its section, in the context, reads as present, means its end.

    How it reads and what it means is a matter of two readers: only where the second one finds no other mention that
    attests the end, the span's own is held against the row.
    """
    spans = [
        {"uid": row.uid, "hadm_id": row.about["hadm_id"], **span}
        for row in rows
        for span in row.evidence["support_spans"]
    ]
    schema = {
        **dict.fromkeys(("uid", "role", "cui", "text", "section"), pl.String),
        **dict.fromkeys(("hadm_id", "begin_offset", "end_offset"), pl.Int64),
    }
    frame = pl.DataFrame(spans, schema=schema)
    set_table(connection, "steward_span", frame.to_arrow())
    set_table(connection, "steward_end", frame.select("cui", name="text").unique("cui").to_arrow())
    script(connection, "span_text", "meaning", "span_meaning")
    found = {
        (uid, role): rest for uid, role, *rest in connection.execute("from steward_span_text order by all").fetchall()
    }
    other = set(connection.execute("from steward_other_meaning").fetchall())
    contexts = {row.uid: SPACE.sub(" ", row.context) for row in rows}
    for span in spans:
        uid, role = span["uid"], span["role"]
        at = f"{role} at {span['begin_offset']}"
        text, section, before, after = found.get((uid, role), (None, None, "", ""))
        if text != span["text"]:
            yield Fault(uid, EXTRACTION, f"the note has another text for the {at}")
            continue
        if section != span["section"]:
            yield Fault(uid, EXTRACTION, f"the {at} lies in {section}, not in {span['section']}")
        if SPACE.sub(" ", span["text"]) not in contexts[uid]:
            yield Fault(uid, EXTRACTION, f"the context does not hold the {at}")
        if said[uid][f"{role}_attested"]:
            continue
        if (reading := reading_of(before, after)) != "present":
            yield Fault(uid, EXTRACTION, f"the {at} reads as {reading}")
        if (uid, role) in other:
            yield Fault(uid, EXTRACTION, f"the words of the {at} name something else")


def _graph(row: Checked, said: Mapping[str, Any]) -> Iterator[Fault]:
    """Check the statement's relation in the graph, and that the context is silent about a replaced end."""
    held = row.evidence
    if said["is_true"] is not held["is_true"]:
        yield Fault(row.uid, AGGREGATION, f"called {'true' if held['is_true'] else 'false'}: {said['why_true']}")
    replaced = held["replaced_end"]
    if not held["is_supported"] and replaced != "none" and said[f"{replaced}_attested"]:
        yield Fault(row.uid, EXTRACTION, f"the replaced {replaced} is named as present in the context")
