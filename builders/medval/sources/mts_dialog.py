"""MTS-Dialog: short conversations with the section of a note that each one gives (Ben Abacha et al. 2023).

Layout: ``MTS-Dialog-{TrainingSet,ValidationSet,TestSet-*}.csv`` with ID, section_header, section_text, dialogue. Of
its 20 kinds of section only ASSESSMENT and PLAN are an answer to what `dialogue2note` asks; a DIAGNOSIS or DISPOSITION
there is often one word that the conversation does not support. Very short sections are left out, and so are
conversations in which no patient (or relative) speaks: the instruction is about a doctor and a patient.
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

__all__ = ["files", "read"]

COLUMNS = ("ID", "section_header", "section_text", "dialogue")
WANTED = frozenset({"ASSESSMENT", "PLAN"})
# A shorter section ("As tolerated.") keeps silent about most of its conversation (characters).
SHORTEST = 40
PATIENT = re.compile(r"^[ \t]*(?:Patient|Guest_family)[\w ]*:", re.MULTILINE)


def files(folder: Path) -> list[Path]:
    """Return the tables of the source."""
    return sorted(folder.glob("MTS-Dialog-*.csv"))


def read(folder: Path, source: TextSource, task: MedvalTask, tally: Tally) -> Iterator[Item]:
    """Yield the conversations whose section is an assessment or a plan.

    Raises:
        InputError: a table is not of the layout.
    """
    for path in files(folder):
        for _, row in csv_rows(path, COLUMNS):
            tally.read[source.source] += 1
            dialogue, section = text_of(row["dialogue"]), text_of(row["section_text"])
            if row["section_header"].strip().upper() not in WANTED:
                tally.drop(source.source, "other_section")
            elif not (dialogue and section):
                tally.drop(source.source, "empty_field")
            elif len(section) < SHORTEST:
                tally.drop(source.source, "short_section")
            elif not PATIENT.search(dialogue):
                tally.drop(source.source, "no_patient_speaks")
            else:
                inner_id = f"{path.stem.removeprefix('MTS-Dialog-')}/{text_of(row['ID'])}"
                yield Item(Origin(source.source, inner_id, inner_id, _split(path)), task, dialogue, section)


def _split(path: Path) -> SourceSplit:
    return "train" if "Training" in path.name else "validation" if "Validation" in path.name else "test"
