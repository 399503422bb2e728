"""The columns of a sheet, and texts cut into cells that can be read as a whole.

A row of a spreadsheet is at most 409 points high and a cell holds at most 32,767 characters: a longer text would be
cut from view, or lost. So it goes on in further columns, whose pieces make up the whole text again.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ground.spreadsheet import MOST_CHARACTERS
from stewardship.sheets.batch import BatchKind
from stewardship.sheets.display import Display

__all__ = ["FILLED", "MOST_LINES", "Layout", "holds", "layout_of", "lines_of"]

TOKEN = re.compile(r"\n|[^\S\n]+|\S+")
MOST_LINES = 28
"""Lines that a row can show: 409 points, at 13.5 points a line, and one to spare."""
FILLED = ("answer", "comment")
WIDTHS = {"item": 14, "question": 34, "label": 12, "critique": 50, "answer": 16, "comment": 28, "context": 92}
WIDER = {"question": 70}
"""Widths where a text would not fit otherwise."""
LEFT: dict[BatchKind, tuple[str, ...]] = {
    "blind": ("item", "question", "answer", "comment"),
    "sample": ("item", "question", "answer", "comment"),
    "adjudication": ("item", "question", "answer", "comment"),
    "spot_check": ("item", "question", "label", "critique", "answer", "comment"),
}
"""Columns that stay in view beside the context."""


@dataclass(frozen=True)
class Layout:
    """The columns of a sheet."""

    left: tuple[str, ...]
    widths: Mapping[str, int]
    contexts: int

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns, from the left."""
        return (*self.left, *("context" if at == 0 else f"context {at + 1}" for at in range(self.contexts)))

    def width(self, column: str) -> int:
        """Return a column's width in characters."""
        return self.widths["context" if column.startswith("context") else column]

    def row(self, item: str, display: Display) -> dict[str, str]:
        """Return a row's cells by column; those that are to be filled in are left out."""
        cells = {"item": item, "question": display.question, "label": display.label, "critique": display.critique}
        cells = {name: text for name, text in cells.items() if name in self.left}
        pieces = _pieces(display.context, self.widths["context"])
        return cells | dict(zip(self.columns[len(self.left) :], pieces, strict=False))

    def pieces(self, text: str, column: str) -> int:
        """Return in how many cells of a column a text stands."""
        return len(_pieces(text, self.widths[column]))


def holds(display: Display) -> bool:
    """Whether the texts that stand in one cell each fit there."""
    return max(len(display.question), len(display.label), len(display.critique)) < MOST_CHARACTERS


def layout_of(displays: Sequence[Display], kind: BatchKind) -> Layout:
    """Return the columns that rows need."""
    widths = dict(WIDTHS)
    if any(lines_of(item.question, widths["question"]) > MOST_LINES for item in displays):
        widths |= WIDER
    contexts = max((len(_pieces(item.context, widths["context"])) for item in displays), default=1)
    return Layout(LEFT[kind], widths, contexts)


def lines_of(text: str, width: int) -> int:
    """Return how many lines a text needs in a column, at least one."""
    return _walked(text, width, len(text) + 1)[0]


@functools.lru_cache(maxsize=4096)
def _pieces(text: str, width: int) -> tuple[str, ...]:
    """Cut a text into pieces that a row can show, behind a paragraph, a line, a sentence or a word."""
    pieces = []
    while (room := min(_walked(text, width, MOST_LINES)[1], MOST_CHARACTERS - 2)) < len(text):
        # A better place not far in front of what would fit; one column more is dearer than a sentence that goes on.
        cuts = [_behind(text[:room], mark) for mark in ("\n\n", "\n", ". ")]
        cut = next((cut for cut in cuts if cut >= room * 3 // 4), 0) or _behind(text[:room], " ") or room
        pieces.append(text[:cut])
        text = text[cut:]
    return (*pieces, text)


def _walked(text: str, width: int, most: int) -> tuple[int, int]:
    """Wrap a text as a spreadsheet does, and return its lines and how many characters stand on the first ``most``."""
    line, column = 1, 0
    for match in TOKEN.finditer(text):
        token = match[0]
        if token == "\n":
            line, column = line + 1, 0
        elif token.isspace() or column + len(token) <= width:
            column += len(token)
        else:
            line += column > 0
            full, column = divmod(len(token) - 1, width)
            if line + full > most:
                return most, match.start() + max(0, most - line + 1) * width
            line, column = line + full, column + 1
        if line > most:
            return most, match.start()
    return line, len(text)


def _behind(text: str, mark: str) -> int:
    place = text.rfind(mark)
    return place + len(mark) if place >= 0 else 0
