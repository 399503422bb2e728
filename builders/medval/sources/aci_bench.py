"""ACI-Bench: conversations of doctor and patient with the note of the visit (Yim et al. 2023).

Layout: ``challenge_data/*.csv`` (train, valid, and three test files) with dataset, encounter_id, dialogue, note. The
reference is the part of the note that holds assessment and plan: it begins at the heading ASSESSMENT AND PLAN,
ASSESSMENT, IMPRESSION or PLAN and ends before the next heading of another kind (INSTRUCTIONS, ORDERS).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from builders.medval.items import Item
from builders.medval.sources.rows import csv_rows, text_of
from builders.texts.origin import Origin, SourceSplit, Tally
from builders.texts.sources import TextSource
from ground.contracts.rows_text import MedvalTask

__all__ = ["assessment_and_plan", "files", "read"]

COLUMNS = ("encounter_id", "dialogue", "note")
# A line of its own in capitals.
HEADING = re.compile(r"^[ \t]*([A-Z][A-Z ,/&-]{2,})[ \t]*:?[ \t]*$", re.MULTILINE)
WANTED = frozenset({"ASSESSMENT AND PLAN", "ASSESSMENT & PLAN", "ASSESSMENT/PLAN", "ASSESSMENT", "IMPRESSION", "PLAN"})


def files(folder: Path) -> list[Path]:
    """Return the tables of encounters, without those of metadata."""
    return sorted(path for path in folder.rglob("*.csv") if "metadata" not in path.name)


def read(folder: Path, source: TextSource, task: MedvalTask, tally: Tally) -> Iterator[Item]:
    """Yield the conversations with the assessment and plan of their notes.

    Raises:
        InputError: a table is not of the layout.
    """
    for path in files(folder):
        for _, row in csv_rows(path, COLUMNS):
            tally.read[source.source] += 1
            dialogue, reference = text_of(row["dialogue"]), assessment_and_plan(text_of(row["note"]))
            inner_id = text_of(row["encounter_id"])
            if not (dialogue and inner_id):
                tally.drop(source.source, "empty_field")
            elif reference is None:
                tally.drop(source.source, "no_assessment_and_plan")
            else:
                yield Item(Origin(source.source, inner_id, inner_id, _split(path)), task, dialogue, reference)


def _split(path: Path) -> SourceSplit:
    return "train" if path.stem == "train" else "validation" if path.stem == "valid" else "test"


def assessment_and_plan(note: str) -> str | None:
    """Return the part of a note with assessment and plan, its headings kept; None where there is no such part.

    A note with a plan alone, or an assessment alone, is no reference for both.
    """
    headings = [*HEADING.finditer(note)]
    ends = [*(heading.start() for heading in headings[1:]), len(note)]
    parts = {
        heading[1].strip(): note[heading.start() : end].strip()
        for heading, end in zip(headings, ends, strict=True)
        if heading[1].strip() in WANTED and note[heading.end() : end].strip()
    }
    both = any("PLAN" in name for name in parts) and any(name != "PLAN" for name in parts)
    return "\n\n".join(parts.values()) if both else None
