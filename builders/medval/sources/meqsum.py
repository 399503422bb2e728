"""MeQSum: consumer health questions with the question an expert would ask (Ben Abacha and Demner-Fushman 2019).

Layout: one workbook, one row for each question: File, CHQ, Summary. Questions are kept as they are, with their SUBJECT
and MESSAGE marks; a summary is one line without double blanks. The source has no splits: its items count as train.
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

COLUMNS = ("File", "CHQ", "Summary")


def files(folder: Path) -> list[Path]:
    """Return the workbooks of the source."""
    return sorted(folder.glob("MeQSum*.xlsx"))


def read(folder: Path, source: TextSource, task: MedvalTask, tally: Tally) -> Iterator[Item]:
    """Yield the questions with their summaries.

    Raises:
        InputError: a workbook is not of the layout.
    """
    for path in files(folder):
        for _, row in sheet_rows(path, COLUMNS):
            tally.read[source.source] += 1
            question, summary = text_of(row["CHQ"]), " ".join(text_of(row["Summary"]).split())
            name = text_of(row["File"])
            if not (question and summary and name):
                tally.drop(source.source, "empty_field")
                continue
            yield Item(Origin(source.source, name, name, "train"), task, question, summary)
