"""Support by the first reader: the mentions and codes that the warehouse stores; silence also in the notes' words."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import duckdb
import polars as pl

from ground.storage.sqlfiles import sql_text
from ground.storage.warehouse import run_sql, set_table, set_variables
from stewardship.second_road.words import find_names, spellings, unglued, words

__all__ = ["CHECKS", "ENDED", "end_spellings", "hold_records", "read_texts"]

SQL = "stewardship/second_road/mentions"
CHECKS: Mapping[str, tuple[str, ...]] = {"labelled": (f"{SQL}/support",), "denying": (f"{SQL}/contradicted",)}
"""Checks of some patients' rows, by the rows that they read."""
ENDED = f"{SQL}/ended"
"""Makes the table of what a note may stop by a word; after the cover of the ends."""
REPORTS = (
    "ehr.radiology_note where subject_id between getvariable('first_patient') and getvariable('last_patient') "
    "and hadm_id in (select hadm_id from silent_end)"
)


def end_spellings(connection: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """Return (cui, name): names from four letters on that an end is not to have in a note, singular and plural."""
    named = connection.execute(sql_text(f"{SQL}/end_name")).pl().with_columns(words("name"))
    return spellings(named.filter(pl.col("name").str.len_chars() >= 4, pl.col("name").str.contains("[a-z]{2}")))


def hold_records(cursor: duckdb.DuckDBPyConnection, patients: tuple[int, int], rows: Collection[str]) -> None:
    """Make tables of what the records hold of some patients' admissions.

    Args:
        cursor: with the patients' rows.
        patients: the first and the last.
        rows: names of the tables of rows: ``labelled``, and ``denying`` where there are contradicted rows.
    """
    admissions = " union ".join(f"select hadm_id from {name}" for name in rows)
    cursor.execute(f"create or replace temp table part_admission as {admissions}")
    notes = cursor.execute(
        "select min(note_id), max(note_id) from ehr.discharge_note semi join part_admission using (hadm_id)"
    ).fetchall()
    bounds = zip(("first_patient", "last_patient", "first_note", "last_note"), (*patients, *notes[0]), strict=True)
    set_variables(cursor, dict(bounds))
    for table in ("record", "span", "silent_end", *(["denial"] if "denying" in rows else [])):
        run_sql(cursor, f"{SQL}/{table}")


def read_texts(cursor: duckdb.DuckDBPyConnection, *, radiology: bool, denials: bool) -> None:
    """Make ``named_end``, and of denials, mentions that deny and their notes what they say in words.

    Args:
        cursor: with what `hold_records` makes.
        radiology: read reports as well.
        denials: there are contradicted rows.
    """
    notes = _texts(cursor, "part_note")
    # Of these patients only: the time to search for names grows with all of them.
    names = cursor.execute("from silent_name").pl()["name"]
    # A figure by itself between both, so that no name goes over it.
    all_words = pl.format("{}0{}", "text", "glued")
    for texts in (notes, *([_texts(cursor, REPORTS)] if radiology else [])):
        named = find_names(texts.select("hadm_id", text=all_words), names)
        set_table(cursor, "text_name", named.select("hadm_id", "name").unique().to_arrow())
        run_sql(cursor, f"{SQL}/named_end")
    if denials:
        denied = _texts(cursor, "denial", "id, ").drop("glued").unique()
        set_table(cursor, "denial_word", denied.to_arrow())
        set_table(cursor, "denied_word", _texts(cursor, "denied_mention").drop("glued").to_arrow())
        set_table(cursor, "note_word", notes.drop("glued").join(denied, on="hadm_id", how="semi").to_arrow())


def _texts(cursor: duckdb.DuckDBPyConnection, source: str, columns: str = "") -> pl.DataFrame:
    """Return texts as words with a blank before and after each: *columns* hadm_id, text, glued (`unglued` words)."""
    rows = cursor.execute(f"select {columns}hadm_id, strip_accents(text) as text from {source}").pl()
    small = rows.with_columns(pl.col("text").str.to_lowercase(), glued=unglued("text").str.to_lowercase())
    return small.with_columns(pl.format(" {} ", words(column)).alias(column) for column in ("text", "glued"))
