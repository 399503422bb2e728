"""Inputs of MedVAL from the workspace's own notes: hospital courses and radiology reports.

``course2diagnosis`` has a reference that the hospital course supports: of the note's own discharge diagnoses and
discharge medications only those that the course mentions (`builders.medval.course_lists`). The notes come one by one,
in the order of their ids.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import duckdb

from builders.medval.course_lists import Links, Mention, Part, reference_of
from builders.medval.items import Item
from builders.texts.origin import Origin, Tally
from builders.texts.sources import TextSource
from ground.contracts.rows_text import MedvalTask
from ground.storage.sqlfiles import sql_text
from ground.storage.warehouse import has_rows
from kg.graph import ConceptGraph

__all__ = ["findings_and_impression", "missing_tables", "read_records"]

COURSE, DIAGNOSES, MEDICATIONS = "brief_hospital_course", "discharge_diagnosis", "discharge_medications"
COURSE_TABLES = ("ehr.discharge_note", "ground.section")
NEEDED: Mapping[MedvalTask, tuple[str, ...]] = {
    "course2diagnosis": (*COURSE_TABLES, "ground.mention"),
    "bhc2spanish": COURSE_TABLES,
    "report2impression": ("ehr.radiology_note",),
    "impression2simplified": ("ehr.radiology_note",),
}
BATCH = 500
# Notes of a range: their sections and mentions are gathered at once, so that memory does not grow with the notes.
NOTES_AT_ONCE = 4_000
# A shorter course ("Please see the operative note") says too little to be summarised or listed.
SHORTEST_COURSE = 200
SHORTEST_FINDINGS, SHORTEST_IMPRESSION = 40, 8
TITLE = re.compile(r"\A\s*(?:brief\s+)?hospital\s+course[^\n:]{0,40}:?[ \t]*\n?", re.IGNORECASE)
# Headings of a radiology report: at the beginning of a line, in capitals, with a colon.
HEADING = re.compile(r"^[ \t]*([A-Z][A-Z &/()-]{3,40})[ \t]*:", re.MULTILINE)


def missing_tables(connection: duckdb.DuckDBPyConnection | None, task: MedvalTask) -> list[str]:
    """Return the tables that a task's inputs need and the workspace has no row of."""
    return [name for name in NEEDED[task] if connection is None or not has_rows(connection, name)]


def read_records(
    connection: duckdb.DuckDBPyConnection,
    graph: ConceptGraph | None,
    source: TextSource,
    task: MedvalTask,
    tally: Tally,
) -> Iterator[Item]:
    """Yield the inputs of a task from the notes; ``graph`` is needed for ``course2diagnosis`` only."""
    make: Callable[[Mapping[str, Any]], Item | str]
    # A cursor of its own: other queries on the connection would end this one.
    cursor = connection.cursor()
    if task == "course2diagnosis":
        assert graph is not None
        rows, make = _course_rows(cursor, "course"), partial(_course_item, links=Links(graph), source=source)
    elif task == "bhc2spanish":
        rows, make = _course_rows(cursor, "course_text"), partial(_bare_course_item, source=source)
    else:
        rows, make = _rows(cursor, "radiology"), partial(_radiology_item, source=source, task=task)
    for row in rows:
        tally.read[source.source] += 1
        item = make(row)
        if isinstance(item, Item):
            yield item
        else:
            tally.drop(source.source, item)


def _rows(cursor: duckdb.DuckDBPyConnection, name: str) -> Iterator[Mapping[str, Any]]:
    for batch in cursor.sql(sql_text(f"builders/medval/{name}")).to_arrow_reader(BATCH):
        yield from batch.to_pylist()


def _course_rows(cursor: duckdb.DuckDBPyConnection, name: str) -> Iterator[Mapping[str, Any]]:
    cursor.execute("set variable notes = $notes", {"notes": NOTES_AT_ONCE})
    for low, high in cursor.execute(sql_text("builders/medval/course_range")).fetchall():
        for bound, note_id in (("low", low), ("high", high)):
            cursor.execute(f"set variable {bound} = $note_id", {"note_id": note_id})
        yield from _rows(cursor, name)


def _origin(row: Mapping[str, Any], source: TextSource) -> Origin:
    # MIMIC has no splits of its own.
    return Origin(source.source, row["note_id"], row["note_id"], "train", row["subject_id"])


def _part(row: Mapping[str, Any], section: str) -> Part:
    """Return the text of a section with its mentions, wherever in the note its pieces stand."""
    texts: list[str] = []
    mentions: list[Mention] = []
    length = 0
    for piece in row["parts"]:
        if piece["section"] != section:
            continue
        begin, end = piece["begin_offset"], piece["end_offset"]
        texts.append(row["text"][begin:end])
        for mention in row.get("mentions", ()):
            if begin <= mention["begin_offset"] and mention["end_offset"] <= end:
                shift = length - begin
                place = mention["begin_offset"] + shift, mention["end_offset"] + shift
                mentions.append(Mention(*place, tuple(mention["cuis"]), mention["assertion"]))
        length += end - begin
    return Part("".join(texts), tuple(mentions))


def _course(row: Mapping[str, Any]) -> Part:
    """Return the hospital course without its title and the white space around it."""
    part = _part(row, COURSE)
    title = TITLE.match(part.text)
    return part.cut(title.end() if title else 0)


def _course_item(row: Mapping[str, Any], links: Links, source: TextSource) -> Item | str:
    course = _course(row)
    if len(course.text) < SHORTEST_COURSE:
        return "short_course"
    diagnoses, medications = _part(row, DIAGNOSES), _part(row, MEDICATIONS)
    if not diagnoses.text:
        return "no_discharge_diagnosis"
    reference = reference_of(course, diagnoses, medications, links)
    return "diagnoses_not_in_course" if reference is None else _item(row, source, "course2diagnosis", course, reference)


def _bare_course_item(row: Mapping[str, Any], source: TextSource) -> Item | str:
    course = _course(row)
    if len(course.text) < SHORTEST_COURSE:
        return "short_course"
    return _item(row, source, "bhc2spanish", course, None)


def _item(row: Mapping[str, Any], source: TextSource, task: MedvalTask, course: Part, reference: str | None) -> Item:
    return Item(_origin(row, source), task, course.text, reference)


def _radiology_item(row: Mapping[str, Any], source: TextSource, task: MedvalTask) -> Item | str:
    parts = findings_and_impression(row["text"])
    if isinstance(parts, str):
        return parts
    findings, impression = parts
    if task == "report2impression":
        return Item(_origin(row, source), task, findings, impression)
    return Item(_origin(row, source), task, impression, None)


def findings_and_impression(text: str) -> tuple[str, str] | str:
    """Return findings and impression of a report, or the reason why it has not one of each.

    A report with several (of several examinations, or with an addendum) is left out: which impression belongs to
    which findings is not certain.
    """
    headings = [*HEADING.finditer(text)]
    ends: Sequence[int] = [*(heading.start() for heading in headings[1:]), len(text)]
    sections: dict[str, list[str]] = {"FINDINGS": [], "IMPRESSION": []}
    for heading, end in zip(headings, ends, strict=True):
        name = heading[1].strip()
        if "ADDENDUM" in name:
            return "addendum"
        if name in sections:
            sections[name].append(text[heading.end() : end].strip())
    if any(len(pieces) > 1 for pieces in sections.values()):
        return "several_examinations"
    findings, impression = ("".join(sections[name]) for name in ("FINDINGS", "IMPRESSION"))
    if len(findings) < SHORTEST_FINDINGS:
        return "no_findings"
    return (findings, impression) if len(impression) >= SHORTEST_IMPRESSION else "no_impression"
