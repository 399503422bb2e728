"""Filled sheets as rows of text cells, each with its row number in the spreadsheet."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ground.spreadsheet import read_sheet
from stewardship.sheets.excel import ANSWERS

__all__ = ["FilledRow", "FilledSheet", "read_filled"]

NEEDED = ("item", "answer", "comment")
PROBLEM = "problem"
CONTEXT = r"context(?: \d+)?"
COLUMN = rf"item|question|answer|comment|{CONTEXT}"
HEAD = "put the head of the sheet back as it was written; published labels are taken up with `ontoground steward adopt`"


@dataclass(frozen=True)
class FilledRow:
    """One row of a filled sheet.

    Attributes:
        line: its number in the spreadsheet; the head is row 1.
        item, answer, comment: its cells, trimmed.
        question: the question's cell; None where the sheet has no such column.
        context: the context's cells; None where the sheet has none.
    """

    line: int
    item: str
    answer: str
    comment: str
    question: str | None
    context: tuple[str, ...] | None


@dataclass(frozen=True)
class FilledSheet:
    """A filled sheet.

    Attributes:
        file: it.
        rows: those that are not empty.
        corrections: whether it is a table of refused cells that was written for correction.
    """

    file: Path
    rows: tuple[FilledRow, ...]
    corrections: bool


def read_filled(file: Path) -> FilledSheet:
    """Read a filled sheet (`ground.spreadsheet.read_sheet`).

    Raises:
        UsageError: its name ends in neither .xlsx nor .csv.
        InputError: it cannot be read, or is no sheet: a page or column is missing, or a column is there twice.
    """
    names, lines = read_sheet(file, ANSWERS, NEEDED, COLUMN, HEAD)
    contexts = [name for name in names if re.fullmatch(CONTEXT, name)]
    # Columns may have been moved; the pieces of a context keep their order by name.
    contexts.sort(key=lambda name: int(name.removeprefix("context") or 1))
    rows = [
        FilledRow(
            line=line,
            item=own["item"],
            answer=own["answer"],
            comment=own["comment"],
            question=own.get("question"),
            context=tuple(own[name] for name in contexts) if contexts else None,
        )
        for line, own in lines
    ]
    return FilledSheet(file, tuple(rows), corrections=PROBLEM in names)
