"""Tables in Markdown, for cards, reports and pages."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ground.errors import escaped

__all__ = ["harmless", "markdown_table"]

# Words of a file or a rater may be shown on a page: without HTML, and without links that run something.
TAG = re.compile(r"<(?=[A-Za-z/!?])")
LINK = re.compile(r"\]\((?=\s*<?\s*(?!https?:)[A-Za-z][A-Za-z0-9+.-]*:)", re.IGNORECASE)

REFERENCE = re.compile(r"^(\s*)\[(?=[^\]]*\]:)", re.MULTILINE)


def harmless(page: str) -> str:
    """Return a page of Markdown in which nothing is HTML, runs when it is clicked, or writes to a terminal."""
    return escaped(REFERENCE.sub(r"\1\\[", LINK.sub(r"]\\(", TAG.sub("&lt;", page))))


def markdown_table(
    head: Sequence[str], rows: Sequence[Sequence[object]], left: int = 1, *, right: Sequence[bool] | None = None
) -> str:
    """Return a Markdown table, its last line ended; bars in cells are escaped, line breaks become blanks.

    Args:
        head: names of the columns.
        rows: cells, shown by ``str``; None is empty.
        left: columns that are aligned left, counted from the first; the rest is aligned right.
        right: in place of ``left``, whether each column is aligned right.
    """
    aligned = right if right is not None else [at >= left for at in range(len(head))]
    rule = ["---:" if is_right else "---" for is_right in aligned]
    lines = [[_cell(cell) for cell in head], rule, *([_cell(cell) for cell in row] for row in rows)]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def _cell(value: object) -> str:
    return "" if value is None else str(value).replace("|", "\\|").replace("\n", " ")
