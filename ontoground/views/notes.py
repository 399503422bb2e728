"""One admission's notes as their owner sees them: sections, and mentions marked in the text.

This is the one place that prints note text, to the user's own terminal and only when asked for one admission.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb

from ground.errors import InputError
from ground.storage.warehouse import table_exists
from ontoground.flow.session import asked

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

__all__ = ["admission_notes", "paint_mentions", "paint_sections"]

STYLES = {
    "present": "bold green",
    "absent": "red",
    "possible": "yellow",
    "family": "magenta",
    "historical": "cyan",
    "hypothetical": "blue",
    "allergy": "bold magenta",
    "discontinued": "bright_red",
    "planned": "bright_blue",
}


def admission_notes(connection: duckdb.DuckDBPyConnection, hadm: int, *, with_mentions: bool) -> list[dict[str, Any]]:
    """Return the notes of an admission with text and sections, and with mentions where they are asked for.

    Raises:
        InputError: the admission has no note, or the stage was not run.
    """
    for table, verb in (("ground.section", "sections"), ("ground.mention", "mentions")):
        if not table_exists(connection, table) and (with_mentions or verb == "sections"):
            raise InputError(f"there are no {verb} yet", do=f"ontoground notes {verb}")
    notes = connection.execute(
        "select note_id, coalesce(text, '') from mimiciv_note.discharge where hadm_id = ? order by note_id", [hadm]
    ).fetchall()
    if not notes:
        raise InputError(
            "this admission has no discharge summary",
            do='list some: ontoground sql -c "select hadm_id from mimiciv_note.discharge limit 5"',
        )
    return [_note(connection, note_id, text, with_mentions) for note_id, text in notes]


def _note(connection: duckdb.DuckDBPyConnection, note_id: str, text: str, with_mentions: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"note_id": note_id, "text": text}
    found["sections"] = _rows(connection, "ontoground/note_sections", note_id)
    if with_mentions:
        found["mentions"] = _rows(connection, "ontoground/note_mentions", note_id)
    return found


def _rows(connection: duckdb.DuckDBPyConnection, name: str, note_id: str) -> list[dict[str, Any]]:
    cursor = asked(connection, name, note_id)
    columns = [column[0] for column in cursor.description or []]
    return [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]


def paint_sections(out: Console, note: dict[str, Any]) -> None:
    """Print where each section begins and ends."""
    from ontoground.cli.render import table

    columns = ("section", "header", "begin_offset", "end_offset")
    out.print(
        table(
            ("section", "header", "begin", "end"),
            [[one[column] for column in columns] for one in note["sections"]],
            title=note["note_id"],
        )
    )


def paint_mentions(out: Console, note: dict[str, Any]) -> None:
    """Print each section with its mentions marked, then the mentions as a table."""
    from ontoground.cli.render import table
    from ontoground.cli.render import text as styled

    out.print(styled(note["note_id"], "bold"))
    for section in note["sections"]:
        begin, end = section["begin_offset"], section["end_offset"]
        out.print(styled(f"[{section['section']}]", "bold dim"))
        out.print(_marked(note["text"], note["mentions"], begin, end))
    columns = ("begin_offset", "end_offset", "text", "concepts", "assertion", "section")
    rows = [[one[column] for column in columns] for one in note["mentions"]]
    out.print(table(("begin", "end", *columns[2:]), rows))
    out.print(styled("marked: ").append_text(_legend()))


def _marked(text: str, mentions: list[dict[str, Any]], begin: int, end: int) -> Text:
    from ontoground.cli.render import text as styled

    marked = styled(text[begin:end].rstrip("\n"))
    for one in mentions:
        if begin <= one["begin_offset"] < end:
            marked.stylize(STYLES[one["assertion"]], one["begin_offset"] - begin, one["end_offset"] - begin)
    return marked


def _legend() -> Text:
    from ontoground.cli.render import text as styled

    legend = styled("")
    for assertion, style in STYLES.items():
        legend.append(assertion, style).append(" ")
    return legend
