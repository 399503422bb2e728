"""Filled sheets read back: what was answered, and a message for every cell that cannot be taken.

Nothing is guessed and nothing is lost: a cell is wholly an answer, or it is refused with what to do, and refused cells
can be written to a table, corrected there, and read again.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ground.contracts.labels import LabelKind, LabelValue
from ground.errors import InputError
from ground.spreadsheet import guarded, read_sheet, text_mark, write_cells
from stewardship.sheets.batch import Item, SheetBatch
from stewardship.sheets.cells import expected_of, read_answer
from stewardship.sheets.spans import Span
from stewardship.sheets.writing import ANSWERS

__all__ = ["FilledRow", "Rating", "Refusal", "SheetsRead", "read_filled", "read_sheets", "write_refused"]

REFUSED = ".refused.csv"
NEEDED = ("item", "answer", "comment")
PROBLEM = "problem"
CONTEXT = r"context(?: \d+)?"
COLUMN = rf"item|question|answer|comment|{CONTEXT}"
HEAD = "put the head of the sheet back as it was written; published labels are taken up with `ontoground steward adopt`"
LONGEST_QUOTE = 60
DECIMAL_COMMA = "a comma that can be a decimal point"


@dataclass(frozen=True)
class Rating:
    """One answer of one rater.

    Attributes:
        value: the label, or for a spot check the verdict.
        reason: in a word or two, where it was asked apart from the comment.
        spans: the right words of the context, where they were chosen on a page.
    """

    uid: str
    rater: str
    batch: str
    item: str
    value: LabelValue
    written: str
    comment: str
    file: str
    line: int
    reason: str = ""
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True)
class Refusal:
    """One cell that was not taken.

    Attributes:
        uid: the row; None where no key has the item.
        found: the cell's text, of answer cells only: never a context.
        do: what to do.
    """

    file: str
    line: int
    column: str
    item: str
    uid: str | None
    problem: str
    found: str | None
    expected: str
    do: str


@dataclass(frozen=True)
class SheetsRead:
    """What sheets hold.

    Attributes:
        notes: what a person should know of cells that were taken, by file and row.
        empty: by rater the rows of his sheets without an answer: not reviewed.
        missing: by rater the rows of his sheets that no file has.
        given: by rater the rows that his sheets were written with.
    """

    ratings: tuple[Rating, ...]
    refused: tuple[Refusal, ...]
    notes: tuple[str, ...]
    empty: Mapping[str, int]
    missing: Mapping[str, int]
    given: Mapping[str, int]


@dataclass(frozen=True)
class FilledRow:
    """One row of a filled sheet.

    Attributes:
        file: the sheet.
        line: its number in the spreadsheet; the head is row 1.
        item, answer, comment: its cells, trimmed.
        question: the question's cell; None where the sheet has no such column.
        context: the context's cells; None where the sheet has none.
        correction: the sheet is a table of refused cells that was written for correction.
    """

    file: Path
    line: int
    item: str
    answer: str
    comment: str
    question: str | None
    context: tuple[str, ...] | None
    correction: bool

    @property
    def place(self) -> str:
        """File and row, for a message."""
        return f"{self.file.name} row {self.line}"


class KeyedRow(NamedTuple):
    """One row of a filled sheet with what its key says."""

    row: FilledRow
    item: Item
    batch: SheetBatch


def read_filled(file: Path) -> list[FilledRow]:
    """Read the rows of a filled sheet that are not empty (`ground.spreadsheet.read_sheet`).

    Raises:
        UsageError: its name ends in neither .xlsx nor .csv.
        InputError: it cannot be read, or is no sheet: a page or column is missing, or a column is there twice.
    """
    names, lines = read_sheet(file, ANSWERS, NEEDED, COLUMN, HEAD)
    contexts = [name for name in names if re.fullmatch(CONTEXT, name)]
    # Columns may have been moved; the pieces of a context keep their order by name.
    contexts.sort(key=lambda name: int(name.removeprefix("context") or 1))
    return [
        FilledRow(
            file,
            line,
            item=cells["item"],
            answer=cells["answer"],
            comment=cells["comment"],
            question=cells.get("question"),
            context=tuple(cells[name] for name in contexts) if contexts else None,
            correction=PROBLEM in names,
        )
        for line, cells in lines
    ]


def read_sheets(
    files: Sequence[Path],
    batches: Sequence[SheetBatch],
    questions: Mapping[str, str],
    *,
    categories: Sequence[str] = (),
) -> SheetsRead:
    """Read filled sheets of any batches and raters; an item says whose it is, the file's name does not count.

    Args:
        files: filled sheets, Excel or CSV, or tables of refused cells that were corrected.

    Raises:
        UsageError, InputError: a file is no sheet, or none of its items is in a key.
    """
    known = {item.item: (item, batch) for batch in batches for item in batch.items}
    rows: list[KeyedRow] = []
    refused: list[Refusal] = []
    for file in files:
        filled = read_filled(file)
        if filled and not any(row.item in known for row in filled):
            raise InputError(
                "no item of this sheet is in a key of the benchmark",
                file=file,
                expected=f"a sheet of {', '.join(batch.name for batch in batches) or 'a batch: none was written yet'}",
                do="name the benchmark that it was written for: --benchmark NAME",
            )
        for row in filled:
            if key := known.get(row.item):
                rows.append(KeyedRow(row, *key))
            else:
                refused.append(_refusal(row, None, "item", "an item that no key has"))
    ratings: list[Rating] = []
    notes: list[str] = []
    empty: dict[str, set[str]] = defaultdict(set)
    for item, copies in _by_item(rows).items():
        entry, slips = _settled(copies)
        refused += slips
        if entry is None:
            continue
        slips, rating, note = _judged(entry, questions, categories)
        refused += slips
        if rating is not None and rating.value.kind is not LabelKind.MISSING:
            ratings.append(rating)
        elif not slips and not entry.row.correction:
            empty[entry.item.rater].add(item)
        if note:
            notes.append(f"{entry.row.place}: {note}")
    ratings, more = _without_thousands(ratings, refused)
    refused = sorted([*refused, *more], key=lambda entry: (entry.file, entry.line))
    given, missing = _coverage(rows, batches)
    return SheetsRead(
        tuple(ratings),
        tuple(refused),
        tuple(notes),
        {rater: len(items) for rater, items in sorted(empty.items())},
        missing,
        given,
    )


def write_refused(read: SheetsRead, files: Sequence[Path], questions: Mapping[str, str]) -> list[Path]:
    """Write the refused cells of each file to a table beside it, to be corrected there and read again.

    It has the columns of a sheet without the context, what was found, and what is wrong. The answers are empty: what
    is not corrected counts as not reviewed, whatever a spreadsheet makes of 4,4 when it opens the table.

    Returns:
        The tables, ``{sheet}.refused.csv``; a sheet without a refused cell has none, and one of an earlier reading is
        left as it is.
    """
    written = []
    columns = ("item", "question", "answer", "comment", "found", PROBLEM, "expected", "do", "file", "row")
    for file in files:
        own = {item.line: item for item in read.refused if item.file == file.name}
        if not own:
            continue
        rows = {row.line: row for row in read_filled(file)}
        stem = file.name.removesuffix(REFUSED) if file.name.endswith(REFUSED) else file.stem
        table = file.with_name(stem + REFUSED)
        lines = []
        for line, item in sorted(own.items()):
            cells = (item.item, questions.get(item.uid or "", ""), "", rows[line].comment, rows[line].answer)
            about = (item.problem, item.expected, item.do, item.file, str(line))
            lines.append(dict(zip(columns, map(guarded, (*cells, *about)), strict=True)))
        write_cells(table, columns, lines)
        written.append(table)
    return written


def _by_item(rows: Sequence[KeyedRow]) -> dict[str, list[KeyedRow]]:
    results: dict[str, list[KeyedRow]] = defaultdict(list)
    for row in rows:
        results[row.item.item].append(row)
    return results


def _settled(copies: Sequence[KeyedRow]) -> tuple[KeyedRow | None, list[Refusal]]:
    """Return the one row of an item that counts: copies that say the same, or nothing, are no harm."""
    filled = [copy for copy in copies if copy.row.answer or copy.row.comment] or [copies[0]]
    if len({(item.row.answer, item.row.comment) for item in filled}) == 1:
        return filled[0], []
    places = " and ".join(item.row.place for item in filled)
    do = f"keep one of {places}, and empty the answer and comment of the other"
    return None, [
        _refusal(item.row, item.item, "item", "an item that is there twice, with unlike answers", do=do)
        for item in filled
    ]


def _judged(
    keyed: KeyedRow, questions: Mapping[str, str], categories: Sequence[str]
) -> tuple[list[Refusal], Rating | None, str]:
    row, item = keyed.row, keyed.item
    if slips := _changed(keyed):
        return slips, None, ""
    expected = expected_of(item.expects, categories)
    answer = read_answer(
        _unguarded(row.answer), item.expects, question=questions.get(item.uid, ""), categories=categories
    )
    if answer.value is None:
        return [_refusal(row, item, "answer", answer.problem, expected=expected, do=answer.do)], None, ""
    comment = _unguarded(row.comment)
    note = f"{_quoted(row.answer)} is {answer.note}" if answer.note else ""
    if answer.value.kind is LabelKind.MISSING and row.correction:
        note = "not corrected yet"
    elif answer.value.kind is LabelKind.MISSING and comment:
        note = "a comment without an answer: not reviewed, the comment is not kept"
    rating = Rating(
        item.uid, item.rater, keyed.batch.name, item.item, answer.value, row.answer, comment, row.file.name, row.line
    )
    return [], rating, note


def _changed(keyed: KeyedRow) -> list[Refusal]:
    """Return the columns whose text is not the item's: another row's, where columns were sorted apart."""
    row, item = keyed.row, keyed.item
    pairs = (
        ("question", None if row.question is None else (row.question,), item.question),
        ("context", row.context, item.context),
    )
    results = []
    for column, text, mark in pairs:
        # A table of corrections has no context; a sheet without one was changed.
        if text is None and row.correction:
            continue
        if text is None or text_mark(text) != mark:
            problem = f"the {column} is not the item's"
            do = "copy item, question and context anew from the sheet as it was given, and check the answer"
            results.append(_refusal(row, item, column, problem, expected="the text as it was given", do=do))
    return results


def _without_thousands(ratings: Sequence[Rating], refused: Sequence[Refusal]) -> tuple[list[Rating], list[Refusal]]:
    """Refuse 1,434 of a rater who writes 4,4 elsewhere: there the comma may be his decimal point."""
    by_file = {item.file for item in refused if item.problem.startswith(DECIMAL_COMMA)}
    kept, slips = [], []
    for rating in ratings:
        if (
            rating.file in by_file
            and rating.value.kind is LabelKind.NUMBER
            and "," in rating.written
            and not rating.value.weeks_days
        ):
            slip = Refusal(
                rating.file,
                rating.line,
                "answer",
                rating.item,
                rating.uid,
                "a comma that can be a decimal point: other cells of this sheet have one",
                rating.written,
                expected_of("number"),
                f"write {rating.value.text()}, or a decimal point",
            )
            slips.append(slip)
        else:
            kept.append(rating)
    return kept, slips


def _coverage(rows: Sequence[KeyedRow], batches: Sequence[SheetBatch]) -> tuple[dict[str, int], dict[str, int]]:
    """Return by rater the rows that the sheets in hand were written with, and those that they lack."""
    # A table of corrections is part of a sheet by its nature.
    sheets = {(row.batch.name, row.item.rater) for row in rows if not row.row.correction}
    there = {row.item.item for row in rows}
    given: dict[str, int] = defaultdict(int)
    missing: dict[str, int] = defaultdict(int)
    for batch in batches:
        for item in batch.items:
            if (batch.name, item.rater) in sheets:
                given[item.rater] += 1
                missing[item.rater] += item.item not in there
    return dict(sorted(given.items())), {rater: count for rater, count in sorted(missing.items()) if count}


def _unguarded(text: str) -> str:
    """Take away the apostrophe that guards a cell of a CSV file, also one that Excel shows after it was typed."""
    return text[1:] if text.startswith("'") and guarded(text[1:]) != text[1:] else text


def _quoted(text: str) -> str:
    """Return a cell for a message; of one that is too long for a label, a note pasted perhaps, the length alone."""
    return text if len(text) <= LONGEST_QUOTE else f"(text of {len(text):,} characters)"


def _refusal(
    row: FilledRow,
    item: Item | None,
    column: str,
    problem: str,
    *,
    expected: str = "an item as it was given",
    do: str = "take the row out, or put its item back as it was",
) -> Refusal:
    quoted = _quoted(row.answer) if column == "answer" else (_quoted(row.item) if item is None else None)
    uid = None if item is None else item.uid
    return Refusal(row.file.name, row.line, column, row.item, uid, problem, quoted, expected, do)
