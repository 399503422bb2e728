"""Tables in Markdown, for cards, reports and pages."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["markdown_table"]


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
    rule = ["---:" if one else "---" for one in aligned]
    lines = [[_cell(cell) for cell in head], rule, *([_cell(cell) for cell in row] for row in rows)]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def _cell(value: object) -> str:
    return "" if value is None else str(value).replace("|", "\\|").replace("\n", " ")
