"""Filled sheets as rows of text cells, each with its row number in the spreadsheet."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ground.errors import InputError
from ground.spreadsheet import read_cells
from stewardship.sheets.excel import ANSWERS

__all__ = ["FilledRow", "FilledSheet", "read_filled"]

NEEDED = ("item", "answer", "comment")
PROBLEM = "problem"
COLUMN = re.compile(r"item|question|answer|comment|context(?: \d+)?")
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
    """Read a filled sheet (`ground.spreadsheet.read_cells`).

    Raises:
        UsageError: its name ends in neither .xlsx nor .csv.
        InputError: it cannot be read, or is no sheet: a page or column is missing, or a column is there twice.
    """
    cells = read_cells(file, ANSWERS)
    names = [cell.strip() for cell in cells[0]]
    _check_head(names, file)
    places = {name: names.index(name) for name in names if name}
    contexts = [name for name in names if name == "context" or name.startswith("context ")]
    # Columns may have been moved; the pieces of a context keep their order by name.
    contexts.sort(key=lambda name: int(name.removeprefix("context").strip() or 1))
    rows = []
    for line, row in enumerate(cells[1:], start=2):
        if not any(cell.strip() for cell in row):
            continue
        own = {name: row[place].strip() if place < len(row) else "" for name, place in places.items()}
        rows.append(
            FilledRow(
                line=line,
                item=own["item"],
                answer=own["answer"],
                comment=own["comment"],
                question=own.get("question"),
                context=tuple(own[name] for name in contexts) if contexts else None,
            )
        )
    return FilledSheet(file, tuple(rows), corrections=PROBLEM in places)


def _check_head(names: Sequence[str], file: Path) -> None:
    twice = sorted(name for name, count in Counter(names).items() if COLUMN.fullmatch(name) and count > 1)
    lacking = [name for name in NEEDED if name not in names]
    if twice or lacking:
        raise InputError(
            "a column is there twice" if twice else "a column is missing",
            file=file,
            line=1,
            found=_own_columns(twice or names),
            expected=f"{', '.join(NEEDED)}, question and context, each once",
            do=HEAD,
        )


def _own_columns(names: Sequence[str]) -> str | None:
    """Return the columns of sheets among some names.

    A sheet without its head has an expert's words and a patient's note there: what is no such column is counted only.
    """
    own = [name for name in names if COLUMN.fullmatch(name)]
    others = sum(bool(name) for name in names) - len(own)
    return ", ".join([*own, *([f"{others} other{'s' if others > 1 else ''}"] if others else [])]) or None
