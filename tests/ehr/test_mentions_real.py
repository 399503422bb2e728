"""On written notes with gold annotations the mentions reach what the project asks of them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import duckdb
import pytest

from ehr.notes import find_mentions, split_notes
from ground.settings import Settings
from ground.storage.warehouse import connect

NAMES = """
create table kg.name as
select
    atom.column00 as cui, atom.column14 as name,
    trim(regexp_replace(lower(atom.column14), '[^\\p{L}\\p{N}]+', ' ', 'g')) as normalized,
    atom.column11 as sab, atom.column12 as tty, atom.column13 as code,
    atom.column02 = 'P' and atom.column04 = 'PF' and atom.column06 = 'Y' as is_preferred,
    0 as rank
from read_csv($path, delim = '|', quote = '', escape = '', header = false, all_varchar = true) as atom
where atom.column01 = 'ENG' and atom.column16 = 'N'
"""
TYPES = """
create table kg.concept as
select column0 as cui, '' as name, []::varchar[] as groups, list(column1 order by column1) as types
from read_csv($path, delim = '|', quote = '', escape = '', header = false, all_varchar = true)
group by column0
"""
TEXTS = """
create table mimiciv_note.discharge as
select note_id, hadm_id::bigint as hadm_id, text
from read_csv($path, header = true, all_varchar = true, quote = '"', escape = '"')
"""


def load(connection: duckdb.DuckDBPyConnection, real_data: Path) -> None:
    meta = real_data / "open_meta" / "META"
    connection.execute(NAMES, {"path": str(meta / "MRCONSO.RRF")})
    connection.execute(TYPES, {"path": str(meta / "MRSTY.RRF")})
    connection.execute(TEXTS, {"path": str(real_data / "mimic_iv_demo" / "note" / "discharge.csv.gz")})
    connection.execute("create table kg.edge (head_cui varchar, predicate varchar, tail_cui varchar)")


@pytest.mark.real
def test_mentions_of_written_notes_overlap_the_gold(real_data: Path, tmp_path: Path) -> None:
    connection = connect(tmp_path / "warehouse.duckdb")
    load(connection, real_data)
    split_notes(connection, Settings())
    find_mentions(connection, Settings())
    found: dict[str, list[tuple[int, int]]] = {}
    for note_id, begin, end in connection.execute(
        "select note_id, begin_offset, end_offset from ground.mention"
    ).fetchall():
        found.setdefault(note_id, []).append((begin, end))
    connection.close()
    with gzip.open(real_data / "mimic_iv_demo" / "note_gold.jsonl.gz", "rt") as file:
        gold = [json.loads(line) for line in file]
    hits = wanted = right = predicted = 0
    for note in gold:
        spans = found[note["note_id"]]
        marks = [(mark["start"], mark["end"]) for mark in note["mentions"]]
        wanted += len(marks)
        predicted += len(spans)
        hits += sum(any(begin < stop and end > start for begin, end in spans) for start, stop in marks)
        right += sum(any(begin < stop and end > start for start, stop in marks) for begin, end in spans)
    assert hits / wanted > 0.93
    assert right / predicted > 0.97
