"""The files that all readers of notes get: the names of one lexicon, and notes with their marked spans."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from ehr.abbreviations import read_terms
from ehr.lexicon import _release_names, build_lexicon
from ground.errors import InputError
from ground.storage.files import atomic_path, private_directory
from ground.storage.warehouse import open_database, run_sql
from openworld.filler import FillerPlan, filler_batches

__all__ = ["write_lexicon", "write_notes"]

NAMES_PER_FILLER = 4
SEED = 7
# A concept that the notes could name has a name all of whose words stand in them, in any form with the same stem.
THINNED = r"""
create temp table kept_concept as
with note_word as (
    select distinct regexp_replace(unnest(regexp_extract_all(lower(text), '[\p{L}\p{N}]+')), '[eisy]+$', '') as word
    from read_json($notes, columns = {text: 'varchar'}, maximum_object_size = 100000000)
),

name_word as (
    select
        cui,
        name,
        regexp_replace(unnest(regexp_extract_all(lower(name), '[\p{L}\p{N}]+')), '[eisy]+$', '') as word
    from spelled
),

named as (
    select distinct cui
    from (
        select name_word.cui
        from name_word
        left join note_word on name_word.word = note_word.word
        group by name_word.cui, name_word.name
        having count(*) = count(note_word.word)
    )
),

concept as (
    select
        spelled.cui,
        named.cui is not null as is_named,
        count(*) as n
    from spelled
    left join named on spelled.cui = named.cui
    group by all
),

ordered as (
    select
        cui,
        is_named,
        sum(n) over (order by is_named desc, md5($seed || cui), cui) as n
    from concept
)

select cui
from ordered
where is_named or n <= $names
"""
OWN = "own"
"""Stands for a concept of the project's own terms, which have several."""


def write_notes(csv: Path, gold: Path, out: Path, limit: int) -> int:
    """Write ``notes.jsonl``: the first notes of the gold that have a text, with their marks; return how many.

    Args:
        csv: discharge summaries with note_id and text, plain or gzip.
        gold: JSON lines, plain or gzip: note_id and mentions with start, end and assertion.
        out: folder.
        limit: notes at most.

    Raises:
        InputError: no note of the gold has a text.
    """
    opener: Any = gzip.open if gold.suffix == ".gz" else open
    with opener(gold, "rt", encoding="utf-8") as lines:
        marked = [json.loads(line) for _, line in zip(range(limit), lines, strict=False)]
    # Quotes are doubled in MIMIC's files, and a text holds line breaks.
    with open_database() as connection:
        connection.register("wanted", pa.table({"note_id": [note["note_id"] for note in marked]}))
        texts: dict[str, str] = dict(
            connection.execute(
                "select note_id, text from read_csv($csv, header = true, all_varchar = true, quote = '\"',"
                " escape = '\"', strict_mode = true, max_line_size = 10000000)"
                " where note_id in (select note_id from wanted)",
                {"csv": str(csv)},
            ).fetchall()
        )
    notes = [note for note in marked if texts.get(note["note_id"])]
    if not notes:
        raise InputError("no note of the gold has a text", file=csv, expected="the note_ids of the gold")
    with (out / "notes.jsonl").open("w", encoding="utf-8") as file:
        for note in notes:
            marks = [(mark["start"], mark["end"], mark["assertion"]) for mark in note["mentions"]]
            row = {"id": note["note_id"], "text": texts[note["note_id"]], "marks": marks}
            file.write(json.dumps(row) + "\n")
    return len(notes)


def write_lexicon(warehouse: Path, out: Path, names: int) -> int:
    """Write ``lexicon/`` (ours) and ``names.jsonl`` (text, CUI, whether preferred); return the number of names.

    A release with more names than that is thinned by concepts: those that the notes could name all stay, so that any
    reader of whole names finds what it finds with the full release; of the others, those of the lowest hashes.

    Args:
        warehouse: DuckDB file with ``kg.name``, ``kg.concept`` and ``kg.edge``; only read.
        out: folder; ``write_notes`` has written ``notes.jsonl`` to it.
        names: names that the lexicon should have, or a few more; filler concepts make up for what the release lacks.
    """
    with open_database(private_directory(out / "spill") / "names.duckdb") as connection:
        # 3 GB were too little for the words of a full release's names.
        connection.execute("set memory_limit = '8GB'")
        connection.execute("set preserve_insertion_order = false")
        connection.execute(f"attach '{warehouse}' as release (read_only)")
        connection.execute("create schema kg")
        for table, columns in (
            ("name", "*"),
            ("concept", "cui, types"),
            ("edge", "head_cui, tail_cui"),
        ):
            connection.execute(f"create table kg.{table} as select {columns} from release.kg.{table}")
        run_sql(connection, "ehr/concept_degree")
        spelled = _release_names(connection)
        if spelled.num_rows < names:
            _fill(connection, names - spelled.num_rows)
        elif spelled.num_rows > names:
            _thin(connection, spelled, names, out / "notes.jsonl")
        spelled = _release_names(connection)
        build_lexicon(connection).save(out / "lexicon")
    return _write_names(spelled, out / "names.jsonl")


def _thin(connection: duckdb.DuckDBPyConnection, spelled: pa.Table, names: int, notes: Path) -> None:
    """Remove concepts that the notes cannot name, until there are no more names than wanted."""
    connection.register("spelled", spelled.select(["cui", "name"]))
    connection.execute(THINNED, {"notes": str(notes), "names": names, "seed": SEED})
    connection.unregister("spelled")
    connection.execute("delete from kg.concept where cui not in (select cui from kept_concept)")


def _fill(connection: duckdb.DuckDBPyConnection, names: int) -> None:
    """Add filler concepts, with types that mentions have, after those that are there."""
    there = connection.execute("select count(*) from kg.concept where cui between 'C7' and 'C98'").fetchall()
    concepts = there[0][0] - (-names // NAMES_PER_FILLER)
    for file, frame in filler_batches(FillerPlan(concepts, NAMES_PER_FILLER, 0, SEED)):
        connection.register("filler", frame.to_arrow())
        if file == "MRCONSO.RRF":
            connection.execute(
                "insert into kg.name by name select cui, str as name, lower(str) as normalized, sab, tty, code,"
                " ts = 'P' as is_preferred, 0 as rank from filler where cui not in (select cui from kg.concept)"
            )
        elif file == "MRSTY.RRF":
            connection.execute(
                "insert into kg.concept by name select cui, [tui] as types from filler"
                " where cui not in (select cui from kg.concept)"
            )
        connection.unregister("filler")


def _write_names(spelled: pa.Table, path: Path) -> int:
    """Write the release's names, filler last, and the project's own terms that are mentions."""
    rows = zip(*(spelled.column(name).to_pylist() for name in ("name", "cui", "is_preferred")), strict=True)
    ordered = sorted(rows, key=lambda row: "C7" <= row[1] < "C98")
    own = [(term.text, OWN, False) for term in read_terms() if term.senses[0].kind != "none"]
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in (*own, *ordered))
    return len(own) + len(ordered)
