"""One admission's notes as their owner sees them: text, sections, and the mentions in it."""

from __future__ import annotations

from typing import Any

import duckdb

from ground.errors import InputError
from ground.storage.warehouse import table_exists
from ontoground.flow.session import records, rows_about

__all__ = ["admission_notes"]


def admission_notes(connection: duckdb.DuckDBPyConnection, hadm: int, *, with_mentions: bool) -> list[dict[str, Any]]:
    """Return the notes of an admission with text and sections, and with mentions where they are asked for.

    Raises:
        InputError: the admission has no note, or the stage was not run.
    """
    parts = ["sections", "mentions"] if with_mentions else ["sections"]
    for part in parts:
        if not table_exists(connection, f"ground.{part.removesuffix('s')}"):
            raise InputError(f"there are no {part} yet", do=f"ontoground notes {part}")
    query = "select note_id, coalesce(text, '') as text from ehr.discharge_note where hadm_id = ? order by note_id"
    notes = records(connection.execute(query, [hadm]))
    if not notes:
        raise InputError(
            "this admission has no discharge summary",
            do='list some: ontoground sql -c "select hadm_id from ehr.discharge_note limit 5"',
        )
    for note in notes:
        note |= {part: records(rows_about(connection, f"ontoground/note_{part}", note["note_id"])) for part in parts}
    return notes
