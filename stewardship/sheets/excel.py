"""The Excel file of a sheet: a page to fill in and a page that says how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ground.spreadsheet import fill_in, guide, workbook
from stewardship.sheets.batch import AnswerKind, BatchKind
from stewardship.sheets.cells import VERDICTS
from stewardship.sheets.guidance import HINTS, guidance
from stewardship.sheets.layout import FILLED, Layout, lines_of

__all__ = ["ANSWERS", "write_excel"]

ANSWERS = "Answers"
POINTS_A_LINE = 13.5
MOST_POINTS = 409.0
LEAST_LINES = 5


def write_excel(
    path: Path,
    layout: Layout,
    rows: Sequence[Mapping[str, str]],
    expects: Sequence[AnswerKind],
    kind: BatchKind,
    *,
    blind: bool,
    names: Sequence[str],
) -> None:
    """Write one rater's sheet.

    Args:
        path: the file; readable by its owner only.
        layout: its columns.
        rows: cells by column.
        expects: what belongs into the answer cell of each row.
        kind: of the batch.
        blind: whether the sheet is blind.
        names: names that labels can be.
    """
    from xlsxwriter.utility import xl_range  # type: ignore[import-untyped]

    widths = {name: layout.width(name) for name in layout.columns}
    with workbook(path) as book:
        page = fill_in(book, ANSWERS, rows, widths, FILLED)
        for number, row in enumerate(rows, start=1):
            lines = max((lines_of(text, widths[name]) for name, text in row.items()), default=1)
            page.set_row(number, min(MOST_POINTS, POINTS_A_LINE * max(lines, LEAST_LINES) + 4))
        page.freeze_panes(1, len(layout.left))
        answer = layout.columns.index("answer")
        # Numbers are text here on purpose; no green corner shall say that this is an error.
        page.ignore_errors({"number_stored_as_text": xl_range(1, answer, max(1, len(rows)), answer)})
        for number, expected in enumerate(expects, start=1):
            _validate(page, number, answer, expected, names)
        paragraphs, table = guidance(kind, blind=blind, expects=expects, categories=names)
        head = ("Answer", "Means" if names or kind == "spot_check" else "Is written")
        guide(book, book.add_worksheet("How to answer"), "How to answer", paragraphs, [(head, table)])


def _validate(page: Any, row: int, column: int, expected: AnswerKind, names: Sequence[str]) -> None:
    hint = {"input_title": "Answer", "input_message": f"{HINTS[expected]} Empty: not reviewed."}
    if expected in ("category", "verdict"):
        source = [*names, "N/A"] if expected == "category" else list(VERDICTS)
        refusal = {"error_title": "Answer", "error_message": f"One of {', '.join(source)}"[:255]}
        page.data_validation(row, column, row, column, {"validate": "list", "source": source, **hint, **refusal})
    else:
        page.data_validation(row, column, row, column, {"validate": "any", **hint})
