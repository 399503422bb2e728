"""Every physical line of a CSV file is in a row that was kept or refused: what is in neither is found here.

DuckDB passes in silence over the lines that an unclosed quote swallows, so its own count of refused rows is not enough.
It notes every field too many, with its row: the time for a row grows with the square of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ground.storage.remote import Place
from ground.storage.scanning import MAX_ROW_BYTES, open_bytes, whole_file

__all__ = ["MAX_FIELDS", "Survey", "survey"]

# Some thirty times as many as the widest documented table has columns.
MAX_FIELDS = 1000
QUOTED = re.compile(rb'"[^"]*("|$)')


@dataclass(frozen=True)
class Survey:
    """What a line-by-line pass over a CSV file finds; lines are 1-based, None where there is none.

    Attributes:
        blank: blank lines between rows.
        unclosed: where the quote opens that is still open at the end.
        carriage_return: the first line with a carriage return outside of quotes that ends no line.
        crowded: the first line with more than ``MAX_FIELDS`` fields, and how many it has.
        endless: where a quote opens that is not closed within ``MAX_ROW_BYTES``; what follows is not looked at.
    """

    blank: int
    unclosed: int | None
    carriage_return: int | None
    crowded: tuple[int, int] | None
    endless: int | None = None


def survey(path: Place) -> Survey:
    """Look through a CSV file for what explains lines that are in no row; slow, for files that have such lines."""
    blank, opened, length = 0, 0, 0
    carriage_return: int | None = None
    crowded: tuple[int, int] | None = None
    inside = False
    with whole_file(path), open_bytes(path) as content:
        for number, line in enumerate(content, 1):
            body = line.rstrip(b"\r\n")
            if not inside and not body:
                blank += 1
            if carriage_return is None and not inside and b'"' not in body and b"\r" in body:
                carriage_return = number
            if crowded is None and body.count(b",") >= MAX_FIELDS:
                fields = QUOTED.sub(b"", b'"' + body if inside else body).count(b",") + 1
                crowded = (number, fields) if fields > MAX_FIELDS else None
            if body.count(b'"') % 2:
                opened = number if not inside else opened
                inside = not inside
            length = length + len(line) if inside else 0
            if length > MAX_ROW_BYTES:
                return Survey(blank, opened, carriage_return, crowded, endless=opened)
    return Survey(blank, opened if inside else None, carriage_return, crowded)
