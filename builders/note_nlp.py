"""``ontoground export omop``: mentions as rows of OMOP's table NOTE_NLP, which other tools of OHDSI read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import duckdb

from ground import ROOT, __version__
from ground.errors import InputError, UsageError
from ground.json_record import JsonRecord
from ground.storage.files import atomic_path
from ground.storage.sqlfiles import quoted, sql_text
from ground.storage.tables import read_table
from ground.storage.warehouse import number_of, run_sql, set_table, set_variables, table_exists

__all__ = ["FORMATS", "NoteNlp", "export_note_nlp"]

DATA = ROOT / "builders" / "data"
TABLES = {
    "note_nlp_assertion": ("note_nlp_assertions", ("assertion", "term_exists", "term_temporal", "modifiers", "source")),
    "note_nlp_section": ("note_nlp_sections", ("section", "loinc", "source")),
}
FORMATS = {".csv": "format csv, header true", ".parquet": "format parquet, compression zstd"}
"""How a file is written, by its suffix."""


@dataclass(frozen=True)
class NoteNlp(JsonRecord):
    """What was written.

    Attributes:
        file: where.
        rows: of NOTE_NLP, one for each mention.
        with_concept: rows that have a standard concept of OMOP's vocabulary.
    """

    file: str
    rows: int
    with_concept: int


def export_note_nlp(connection: duckdb.DuckDBPyConnection, file: Path) -> NoteNlp:
    """Write ``ground.mention`` as NOTE_NLP (CDM 5.3 and 5.4), whole or not at all; same bytes for the same mentions.

    ``note_nlp_concept_id`` is a standard concept of the mention's CUI where the records are OMOP and their CONCEPT
    has one, else 0. Of other records ``note_id`` is text, as they have it.

    Args:
        connection: the warehouse; tables of the session are made in it.
        file: a name that ends in ``.csv`` or ``.parquet``.

    Raises:
        UsageError: another suffix.
        InputError: there are no mentions yet, or the folder is not there.
    """
    if file.suffix.lower() not in FORMATS:
        raise UsageError("NOTE_NLP has no such format", file=file, expected=" or ".join(FORMATS))
    if not table_exists(connection, "ground.mention"):
        raise InputError("there are no mentions to export", do="run `ontoground notes mentions` first")
    _prepare(connection)
    rows = f"select * {_numbers(connection)} from ({sql_text('builders/note_nlp/rows')})"
    with atomic_path(file) as temporary:
        connection.execute("set preserve_insertion_order = true")
        connection.execute(f"copy ({rows}) to {quoted(str(temporary))} ({FORMATS[file.suffix.lower()]})")
        reader = "read_csv" if file.suffix.lower() == ".csv" else "read_parquet"
        written = f"select count(*) from {reader}({quoted(str(temporary))})"
        total = number_of(connection, written)
        return NoteNlp(str(file), total, number_of(connection, f"{written} where note_nlp_concept_id != 0"))


def _prepare(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the tables of the session and set the variables that the rows are made from."""
    import pyarrow as pa

    for table, (name, columns) in TABLES.items():
        set_table(connection, table, pa.Table.from_pylist(read_table(DATA / f"{name}.tsv", columns)))
    connection.execute("alter table note_nlp_section add column concept_id bigint")
    connection.execute("create or replace temp table note_nlp_concept (cui varchar, concept_id bigint)")
    if table_exists(connection, "omop.concept"):
        run_sql(connection, "builders/note_nlp/concept")
        run_sql(connection, "builders/note_nlp/section")
    finished = connection.execute("select max(finished_at) from ground.stage where stage = 'mentions'").fetchall()
    set_variables(connection, {"nlp_system": f"ontoground {__version__}", "nlp_time": finished[0][0]})


def _numbers(connection: duckdb.DuckDBPyConnection) -> str:
    """Return what makes identifiers of notes the numbers that they are in OMOP."""
    return "replace (note_id::bigint as note_id)" if table_exists(connection, "omop.note") else ""
