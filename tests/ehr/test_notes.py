"""The two stages: tables, repeated runs, shards and workers, odd notes."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import ehr.notes
from ehr.note_shards import ReadShard, note_shards
from ehr.notes import find_mentions, split_notes
from ehr.reading import TextReader
from ehr.sources.contract import make_views
from ground import ROOT
from ground.errors import InputError
from ground.settings import Settings
from ground.storage.own_rules import EXTENDABLE, OwnRules
from tests.ehr.test_lexicon import fill

NOTES = [
    ("10-DS-1", 1, "Chief Complaint:\nPneumonia\n \nPast Medical History:\nHTN, no COPD\n"),
    ("11-DS-1", 2, ""),
    ("12-DS-1", 3, "no headers here, but warfarin"),
    ("13-DS-1", None, "Allergies: metoprolol\n"),
    ("14-DS-1", 4, None),
]


@pytest.fixture
def notes(warehouse: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    fill(warehouse)
    warehouse.execute("create table mimiciv_note.discharge (note_id varchar, hadm_id bigint, text varchar)")
    warehouse.executemany("insert into mimiciv_note.discharge values (?, ?, ?)", NOTES)
    return warehouse


def rows(connection: duckdb.DuckDBPyConnection, table: str) -> list[tuple[object, ...]]:
    return connection.execute(f"select * from ground.{table}").fetchall()


def settings(**run: int) -> Settings:
    return Settings.model_validate({"run": run})


def test_sections_of_every_note_tile_it(notes: duckdb.DuckDBPyConnection) -> None:
    report = split_notes(notes, Settings())
    assert (report.notes, report.empty_notes, report.without_sections) == (5, 2, 1)
    joined = notes.execute(
        """
        select bool_and(text = joined) from (
            select n.text, string_agg(
                substr(n.text, s.begin_offset + 1, s.end_offset - s.begin_offset), '' order by s.begin_offset
            ) as joined
            from ground.section s join mimiciv_note.discharge n using (note_id) group by all
        )
        """
    ).fetchone()
    assert joined == (True,)


def test_mentions_stand_in_the_note_with_the_columns_of_the_contract(notes: duckdb.DuckDBPyConnection) -> None:
    split_notes(notes, Settings())
    report = find_mentions(notes, Settings())
    described = notes.execute("describe ground.mention").fetchall()
    assert [(name, kind) for name, kind, *_ in described] == [
        ("note_id", "VARCHAR"),
        ("hadm_id", "BIGINT"),
        ("begin_offset", "INTEGER"),
        ("end_offset", "INTEGER"),
        ("text", "VARCHAR"),
        ("cuis", "VARCHAR[]"),
        ("assertion", "VARCHAR"),
        ("section", "VARCHAR"),
        ("certainty", "VARCHAR"),
        ("reasons", "VARCHAR[]"),
    ]
    found = rows(notes, "mention")
    assert [(row[0], row[1], row[4], row[5], row[7]) for row in found] == [
        ("10-DS-1", 1, "Pneumonia", ["C2", "C10"], "chief_complaint"),
        ("10-DS-1", 1, "HTN", ["C1"], "past_medical_history"),
        ("10-DS-1", 1, "COPD", ["C8"], "past_medical_history"),
        ("12-DS-1", 3, "warfarin", ["C3"], "unknown"),
        ("13-DS-1", None, "metoprolol", ["C9"], "allergies"),
    ]
    assert [row[6] for row in found] == ["present", "present", "absent", "present", "allergy"]
    assert report.mentions == 5
    texts = {note_id: text for note_id, _, text in NOTES}
    for note_id, _, begin, end, text, *_ in found:
        assert isinstance(begin, int)
        assert isinstance(end, int)
        assert (texts[str(note_id)] or "")[begin:end] == text


def test_a_second_run_is_skipped_and_a_changed_setting_runs_again(notes: duckdb.DuckDBPyConnection) -> None:
    split_notes(notes, Settings())
    find_mentions(notes, Settings())
    before = rows(notes, "mention")
    assert split_notes(notes, Settings()).skipped
    assert find_mentions(notes, Settings()).skipped
    again = find_mentions(notes, Settings.model_validate({"notes": {"fuzzy": False}}))
    assert not again.skipped
    assert rows(notes, "mention") == before


def test_the_size_of_shards_changes_nothing(notes: duckdb.DuckDBPyConnection) -> None:
    split_notes(notes, settings(shard_notes=1))
    find_mentions(notes, settings(shard_notes=1))
    tables = [rows(notes, table) for table in ("section", "segment", "mention", "unclear_mention")]
    notes.execute("delete from ground.stage")
    split_notes(notes, settings(shard_notes=100))
    find_mentions(notes, settings(shard_notes=100))
    assert [rows(notes, table) for table in ("section", "segment", "mention", "unclear_mention")] == tables


OWN = {
    "sections": "food_list\tallergies\t\tfirm\tours",
    "context_rules": "but\tfamily\tforward\tlist\t9\t*\t*\tours",
}


def test_workers_in_processes_and_on_ray_write_the_same_rows(
    notes: duckdb.DuckDBPyConnection, tmp_path: Path, cluster: str
) -> None:
    folder = tmp_path / "rules"
    folder.mkdir()
    for name, row in OWN.items():
        columns = (ROOT / EXTENDABLE[name].file).read_text().partition("source\n")[0].splitlines()[-1]
        (folder / f"{name}.tsv").write_text(f"{columns}source\n{row}\n")
    own = OwnRules.read(folder)
    split_notes(notes, Settings(), own)
    find_mentions(notes, Settings(), own)
    tables = ("section", "segment", "mention", "unclear_mention")
    expected = [rows(notes, table) for table in tables]
    assert {"food_list", "family"} <= {cell for row in expected[2] for cell in row if isinstance(cell, str)}
    notes.execute("delete from ground.stage")
    split_notes(notes, settings(shard_notes=1, workers=2), own)
    ray = {"shard_notes": 2, "workers": 1, "executor": "ray", "address": cluster}
    find_mentions(notes, Settings.model_validate({"run": ray}), own)
    assert [rows(notes, table) for table in tables] == expected


def test_a_stage_that_was_stopped_goes_on_after_its_finished_shards(
    notes: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    split_notes(notes, Settings())
    find_mentions(notes, Settings())
    expected = rows(notes, "mention"), rows(notes, "unclear_mention")
    notes.execute("delete from ground.stage where stage = 'mentions'")
    read: list[list[str]] = []
    whole = ehr.notes._mention_shard

    def stopped(reader: TextReader, shard: tuple[pa.Table, ...]) -> ReadShard:
        read.append(shard[0]["note_id"].to_pylist())
        if len(read) == 3:
            raise KeyboardInterrupt
        return whole(reader, shard)

    monkeypatch.setattr(ehr.notes, "_mention_shard", stopped)
    with pytest.raises(KeyboardInterrupt):
        find_mentions(notes, settings(shard_notes=1))
    # What was there before stays until the new tables are whole.
    assert (rows(notes, "mention"), rows(notes, "unclear_mention")) == expected
    report = find_mentions(notes, settings(shard_notes=2))
    assert read == [["10-DS-1"], ["11-DS-1"], ["12-DS-1"], ["12-DS-1", "13-DS-1"], ["14-DS-1"]]
    assert not report.skipped
    assert (rows(notes, "mention"), rows(notes, "unclear_mention")) == expected
    assert find_mentions(notes, Settings()).skipped
    tables = notes.execute("select table_name from duckdb_tables() where schema_name = 'ground'").fetchall()
    assert not [name for (name,) in tables if name.endswith("_part")]


def test_a_stage_that_was_stopped_begins_again_where_its_settings_changed(
    notes: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    split_notes(notes, Settings())
    find_mentions(notes, Settings())
    expected = rows(notes, "mention")
    notes.execute("delete from ground.stage where stage = 'mentions'")
    whole = ehr.notes._mention_shard

    def stopped(reader: TextReader, shard: tuple[pa.Table, ...]) -> ReadShard:
        if shard[0]["note_id"][0].as_py() == "12-DS-1":
            raise KeyboardInterrupt
        return whole(reader, shard)

    with monkeypatch.context() as patched:
        patched.setattr(ehr.notes, "_mention_shard", stopped)
        with pytest.raises(KeyboardInterrupt):
            find_mentions(notes, settings(shard_notes=1))
    find_mentions(notes, Settings.model_validate({"notes": {"fuzzy": False}}))
    assert rows(notes, "mention") == expected


def test_shards_go_on_after_the_notes_that_are_done(notes: duckdb.DuckDBPyConnection) -> None:
    notes.execute("insert into mimiciv_note.discharge values ('10-DS-2', 9, 'HTN'), ('100-DS-1', 8, 'HTN')")
    make_views(notes)
    ids = ["10-DS-1", "10-DS-2", "100-DS-1", "11-DS-1", "12-DS-1", "13-DS-1", "14-DS-1"]
    assert [shard["note_id"].to_pylist() for shard in note_shards(notes, 1)] == [[name] for name in ids]
    assert [shard["note_id"].to_pylist() for shard in note_shards(notes, 4, after=3)] == [ids[3:4], ids[4:]]


def test_a_warehouse_without_notes_or_names_is_an_error(warehouse: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(InputError, match="no notes"):
        split_notes(warehouse, Settings())
    warehouse.execute("create table mimiciv_note.discharge (note_id varchar, hadm_id bigint, text varchar)")
    warehouse.execute("insert into mimiciv_note.discharge values ('10-DS-1', 9, 'HTN')")
    with pytest.raises(InputError, match="names are not in the warehouse"):
        find_mentions(warehouse, Settings())


def test_the_log_of_a_finished_stage_can_be_read_again(notes: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    """A kill before the next checkpoint leaves the log: DuckDB must be able to replay what the stage did."""
    notes.execute("create table ground.admission_concept (hadm_id bigint, cui varchar, kind varchar)")
    notes.execute("insert into ground.admission_concept values (3, 'C3', 'drug')")
    notes.execute("alter table kg.concept add column if not exists groups varchar[]")
    notes.execute("checkpoint")
    split_notes(notes, Settings())
    find_mentions(notes, Settings())
    copy = tmp_path / "killed"
    copy.mkdir()
    for suffix in ("", ".wal"):
        file = tmp_path / f"warehouse.duckdb{suffix}"
        if file.exists():
            shutil.copy(file, copy)
    with duckdb.connect(copy / "warehouse.duckdb") as again:
        assert again.execute("select count(*) from ground.mention").fetchall() == [(5,)]
