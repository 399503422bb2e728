"""MedicationQA: consumers' questions about medications with answers from trusted pages (Ben Abacha et al. 2019).

Layout: ``MedInfo2019-QA-Medications.xlsx``, one row for each question: Question, Focus (Drug), Question Type, Answer,
Section Title, URL. The source has no splits: its items count as train.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from builders.medval.items import Item
from builders.medval.sources.rows import sheet_rows, text_of
from builders.texts.origin import Origin, Tally
from builders.texts.sources import TextSource
from ground.contracts.rows_text import MedvalTask

__all__ = ["files", "read"]

COLUMNS = ("Question", "Answer")


def files(folder: Path) -> list[Path]:
    """Return the workbooks of the source."""
    return sorted(folder.glob("MedInfo2019-QA-Medications*.xlsx"))


def read(folder: Path, source: TextSource, task: MedvalTask, tally: Tally) -> Iterator[Item]:
    """Yield the questions; a row without an answer has no reference.

    Raises:
        InputError: a workbook is not of the layout.
    """
    for path in files(folder):
        for line, row in sheet_rows(path, COLUMNS):
            tally.read[source.source] += 1
            question, answer = text_of(row["Question"]), text_of(row["Answer"])
            if not question:
                tally.drop(source.source, "no_question")
                continue
            inner_id = f"row {line}"
            # The same question stands in several rows with other answers: they share a split.
            origin = Origin(source.source, inner_id, " ".join(question.lower().split()), "train")
            yield Item(origin, task, question, answer or None)
