"""What verbs print: for a person (lines, and tables that fit the terminal) and for a program (one JSON object).

A verb gives its answer as blocks in their order; `paint` prints them, and sets tables off by empty lines.
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

# Verbs import this module to be declared: rich is imported where something is printed.
if TYPE_CHECKING:
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

__all__ = [
    "Blocks",
    "Cell",
    "beginning",
    "console",
    "dataset_in_words",
    "emit",
    "indented",
    "listing",
    "names_rows",
    "note",
    "number",
    "paint",
    "percent",
    "relative",
    "table",
    "text",
    "unfolded",
]

Cell = str | int | float | bool | None
Blocks: TypeAlias = "Iterable[str | Table | Text | Padding | None]"
"""What a person is shown: lines, folded between words where the terminal is narrow, and tables; None is nothing."""
GAP = 2
# Wide enough for any table; whoever reads a pipe can fold it.
PIPED_WIDTH = 1000
# Characters that a terminal obeys, or that turn the direction of reading, and the signs that are shown for them.
SIGNS = {
    **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"},
    **dict.fromkeys((*range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)), 0xFFFD),
}


def console(*, stderr: bool = False) -> Console:
    """Return a console as wide as the terminal, without guessing at markup; what is piped is not cut to a width."""
    from rich.console import Console

    class PipeConsole(Console):
        def render_str(self, text: str, *given: Any, **named: Any) -> Text:
            return super().render_str(_harmless(text), *given, **named)

        # It leaves a closed pipe (`| head`) to the command line: rich would end the process with code 1.
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    out = PipeConsole(stderr=stderr, markup=False, highlight=False, emoji=False)
    if not stderr and not out.is_terminal and "COLUMNS" not in os.environ:
        out.width = PIPED_WIDTH
    return out


def emit(payload: dict[str, Any], paint: Callable[[Console], None], *, as_json: bool) -> None:
    """Print a verb's result: one JSON object, or what ``paint`` shows to a person."""
    if as_json:
        try:
            line = json.dumps(payload, ensure_ascii=False, default=_of_json, allow_nan=False)
        except ValueError:
            line = json.dumps(_finite(payload), ensure_ascii=False, default=_of_json)
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
    else:
        paint(console())


def _of_json(value: object) -> object:
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    return sorted(value) if isinstance(value, (set, frozenset)) else str(value)


def _finite(value: Any) -> Any:
    """Return a payload whose numbers are all numbers of JSON, which has no infinity: others are their names."""
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _harmless(content: str) -> str:
    """Return text that a terminal shows and does not obey, a character for a character."""
    return content.translate(SIGNS)


def note(message: str) -> None:
    """Write a message for a person to standard error."""
    console(stderr=True).print(message, soft_wrap=True)


def number(value: object) -> str:
    """Return a number with thousands separators, the parts of a list, anything else as text."""
    if isinstance(value, bool) or value is None:
        return "" if value is None else ("yes" if value else "no")
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.1f}"
    return _harmless("; ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value))


def names_rows(column: str) -> bool:
    """Say whether numbers of a column are names: of an admission, a patient, a version; they have no commas."""
    return bool(re.search(r"(^|[_ .])id$|^(code_version|fold|release|year|seed)$", column.lower()))


def percent(share: float | None) -> str:
    """Return a share of one in percent; nothing where there is none."""
    return "" if share is None else f"{100 * share:.1f}%"


def dataset_in_words(dataset: dict[str, Any]) -> str:
    """Return how many rows a dataset has, by split, where it lies, and which split it has none for."""
    splits = ", ".join(f"{split} {number(rows)}" for split, rows in dataset["splits"].items())
    empty = " and ".join(split for split, rows in dataset["splits"].items() if not rows)
    remark = f"; no rows for {empty}" if empty else ""
    return f"{number(dataset['rows'])} rows ({splits}) in {dataset['folder']}{remark}"


def listing(rows: Sequence[Mapping[str, Any]], columns: str, *, title: str | None = None) -> Table:
    """Return a table of some keys of each row, given as ``file, rows_read: rows``; a header follows a colon."""
    keys = [column.partition(": ")[0] for column in columns.split(", ")]
    headers = [column.partition(": ")[2] or column for column in columns.split(", ")]
    return table(headers, [[row[key] for key in keys] for row in rows], title=title)


def paint(out: Console, blocks: Blocks) -> None:
    """Print blocks one after another, an empty line before and after each table."""
    from rich.table import Table

    before: object = None
    for block in blocks:
        if block is None:
            continue
        apart = isinstance(before, Table) or isinstance(block, Table)
        if before is not None and apart and not str(block).startswith("\n"):
            out.print()
        if isinstance(block, Table) and block.title:
            # A table folds its title to its own width.
            out.print(block.title, style=block.title_style)
            block.title = None
        if isinstance(block, Unfolded):
            out.file.write(f"{block}\n")
        else:
            out.print(block)
        before = block
    out.file.flush()


def beginning(
    columns: Sequence[str], rows: Sequence[Sequence[Cell]], most: int = 20, *, title: str | None = None
) -> Blocks:
    """Yield a table of the first rows, and how many more there are; nothing where there is no row."""
    if rows:
        yield table(columns, rows[:most], title=title)
    if len(rows) > most:
        yield f"and {number(len(rows) - most)} more; --json lists all"


def table(columns: Sequence[str], rows: Sequence[Sequence[Cell]], *, title: str | None = None) -> Table:
    """Return a table: numbers to the right, long text wrapped inside its column."""
    from rich.table import Table
    from rich.text import Text

    box = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, header_style="bold")
    columns = [_harmless(column) for column in columns]
    named = [names_rows(column) for column in columns]
    rows = [
        [str(cell) if name and isinstance(cell, int) else cell for name, cell in zip(named, row, strict=True)]
        for row in rows
    ]
    widths = _widths(columns, rows, console().width)
    for index, column in enumerate(columns):
        numeric = bool(rows) and all(isinstance(row[index], (int, float)) or row[index] is None for row in rows)
        width = widths[index] if widths else None
        header = _folded(column, width) if width else column
        box.add_column(header, justify="right" if numeric else "left", overflow="fold", width=width)
    for row in rows:
        box.add_row(*(Text(number(cell)) for cell in row))
    return box


def _widths(columns: Sequence[str], rows: Sequence[Sequence[Cell]], available: int) -> list[int] | None:
    """Return widths to which headers are folded where cells and words of headers fit whole, and whole headers do not.

    Where cells do not fit either, the table wraps the longest texts itself.
    """
    from rich.cells import cell_len

    cells = [max((cell_len(number(row[index])) for row in rows), default=1) for index in range(len(columns))]
    room = available - GAP * (len(columns) - 1)
    widths = [max(width, *map(len, _words(column))) for width, column in zip(cells, columns, strict=True)]
    unfolded = [max(width, len(column)) for width, column in zip(cells, columns, strict=True)]
    return widths if sum(widths) <= room < sum(unfolded) else None


def _words(header: str) -> list[str]:
    """Return the parts of a header between which it may be folded: behind a blank or an underscore."""
    return [part for part in re.split(r"(?<=[ _])", header) if part] or [""]


def _folded(header: str, width: int) -> str:
    lines = [""]
    for word in _words(header):
        if lines[-1] and len(lines[-1]) + len(word.rstrip()) > width:
            lines.append("")
        lines[-1] += word
    return "\n".join(line.rstrip() for line in lines)


def text(content: str, style: str = "") -> Text:
    """Return plain text in one style; brackets in it are not markup."""
    from rich.text import Text

    return Text(_harmless(content), style=style)


class Unfolded(str):
    """A line that stays one, however narrow the terminal: a path or a command to be copied."""

    __slots__ = ()


def unfolded(content: object) -> Unfolded:
    """Return a line that is printed as it is, tabs too."""
    return Unfolded(_harmless(str(content)))


def indented(content: str, columns: int) -> Padding:
    """Return wrapped text behind some blank columns."""
    from rich.padding import Padding

    return Padding(text(content), (0, 0, 0, columns), expand=False)


def relative(path: Path) -> str:
    """Return a path from the current folder where it lies below it, else as it is."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)
