"""What a type would round or cut, and a row that stands twice, is refused with its place; nothing is changed."""

from __future__ import annotations

import datetime
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ehr.sources.mimic import load_mimic
from ehr.sources.tables import SOURCES, documented, keys
from ground.errors import InputError
from ground.settings import LoadSettings
from tests.ehr.mimic_files import TABLES, write_mimic, write_table

Connection = duckdb.DuckDBPyConnection
SETTINGS = LoadSettings()
NOTES = "note_id,subject_id,hadm_id,note_type,note_seq,charttime,storetime,text"
ADMISSIONS, ADMITTED = TABLES["hosp/admissions"][0], TABLES["hosp/admissions"][1][0]

CHANGED = {
    "an admission between two": ("1,95000001.5,2180-05-06 22:23:00,2180-05-07 17:15:00,,URGENT,0", "hadm_id"),
    "an admission beyond what a double holds": (ADMITTED.replace("10", "9007199254740993", 1), "hadm_id"),
    "a flag of one and a half": (f"{ADMITTED[:-1]}1.5", "hospital_expire_flag"),
    "a time without end": (ADMITTED.replace("2180-05-06 22:23:00", "infinity"), "admittime"),
}


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
@pytest.mark.parametrize("kind", list(CHANGED))
def test_a_value_that_would_be_changed_is_refused_with_its_line(
    warehouse: Connection, tmp_path: Path, kind: str, suffix: str
) -> None:
    folder = write_mimic(tmp_path, suffix)
    row, column = CHANGED[kind]
    write_table(folder, "hosp/admissions", f'{ADMISSIONS}\n1,11,,,,"two\nlines",0\n\n{row}\n', suffix)
    with pytest.raises(InputError, match=f"column {column} does not fit its type") as caught:
        load_mimic(warehouse, folder, SETTINGS)
    assert (caught.value.file, caught.value.line) == (str(folder / f"hosp/admissions{suffix}"), 5)
    assert "95000001" not in str(caught.value)
    assert warehouse.execute("select file from ground.load").fetchall() == [(f"hosp/patients{suffix}",)]


def test_a_date_with_a_time_is_refused_and_whole_numbers_in_other_words_are_not(
    warehouse: Connection, tmp_path: Path
) -> None:
    folder = write_mimic(tmp_path, ".csv")
    write_table(folder, "hosp/patients", "subject_id,gender,anchor_age,anchor_year,dod\n1.0,F,60,2180,\n", ".csv")
    load_mimic(warehouse, folder, SETTINGS)
    assert warehouse.execute("select subject_id from mimiciv_hosp.patients").fetchall() == [(1,)]
    procedures = TABLES["hosp/procedures_icd"][0]
    write_table(folder, "hosp/procedures_icd", f"{procedures}\n1,10,1,2180-05-07 22:00:00,0044,9\n", ".csv")
    with pytest.raises(InputError, match="column chartdate does not fit its type") as caught:
        load_mimic(warehouse, folder, SETTINGS)
    assert caught.value.line == 2


def _parquet(folder: Path, name: str, **columns: pa.Array) -> Path:
    (folder / f"{name}.csv").unlink()
    path = folder / f"{name}.parquet"
    pq.write_table(pa.table(columns), path)
    return path


def _notes(text: pa.Array, hadm_id: pa.Array | None = None) -> dict[str, pa.Array]:
    n = len(text)
    return {
        "note_id": pa.array([f"1-DS-{at}" for at in range(n)]),
        "subject_id": pa.array([1] * n),
        "hadm_id": pa.array([10] * n) if hadm_id is None else hadm_id,
        "text": text,
    }


def test_text_as_bytes_is_read_as_the_text_that_it_is(warehouse: Connection, tmp_path: Path) -> None:
    folder = write_mimic(tmp_path, ".csv")
    said = "Line\nβ-blocker\\x41"
    _parquet(folder, "note/discharge", **_notes(pa.array([said.encode()], pa.binary())))
    load_mimic(warehouse, folder, SETTINGS)
    assert warehouse.execute("select text from mimiciv_note.discharge").fetchall() == [(said,)]


STORED = {
    "a list": {"text": pa.array([["a", "b"]])},
    "a number": {"text": pa.array([1.5])},
    "bytes that are no text": {"text": pa.array([b"\xff\xfe"], pa.binary())},
    "an id as a float of 32 bits": {"hadm_id": pa.array([95000000.0], pa.float32())},
    "an id between two": {"hadm_id": pa.array([95000001.5])},
    "an id in words": {"hadm_id": pa.array(["ten"])},
    "a time of a zone": {"charttime": pa.array([datetime.datetime(2180, 5, 7)], pa.timestamp("us", "UTC"))},
}


@pytest.mark.parametrize("kind", list(STORED))
def test_a_stored_type_that_would_change_a_value_is_refused(warehouse: Connection, tmp_path: Path, kind: str) -> None:
    folder = write_mimic(tmp_path, ".csv")
    path = _parquet(folder, "note/discharge", **(_notes(pa.array(["x"])) | STORED[kind]))
    with pytest.raises(InputError) as caught:
        load_mimic(warehouse, folder, SETTINGS)
    assert caught.value.file == str(path)
    assert next(iter(STORED[kind])) in caught.value.what or kind == "bytes that are no text"
    assert caught.value.found != "row 1" or kind in ("an id between two", "an id in words")


def test_a_column_of_nothing_may_be_of_any_type(warehouse: Connection, tmp_path: Path) -> None:
    folder = write_mimic(tmp_path, ".csv")
    _parquet(folder, "note/discharge", **_notes(pa.array(["x"])), storetime=pa.nulls(1), note_type=pa.nulls(1))
    load_mimic(warehouse, folder, SETTINGS)
    assert warehouse.execute("select note_type, storetime from mimiciv_note.discharge").fetchall() == [(None, None)]


def test_whole_numbers_as_doubles_are_whole_numbers(warehouse: Connection, tmp_path: Path) -> None:
    folder = write_mimic(tmp_path, ".csv")
    _parquet(folder, "note/discharge", **_notes(pa.array(["x", "y"]), pa.array([10.0, None])))
    load_mimic(warehouse, folder, SETTINGS)
    assert warehouse.execute("select hadm_id from mimiciv_note.discharge order by 1").fetchall() == [(10,), (None,)]


@pytest.mark.parametrize(
    "second", ['1-DS-0,1,10,DS,1,2180-05-07 00:00:00,,"a\nb"', ",1,10,DS,2,2180-05-07 00:00:00,,c"]
)
def test_a_key_twice_and_a_key_of_nothing_are_refused_with_their_line(
    warehouse: Connection, tmp_path: Path, second: str
) -> None:
    folder = write_mimic(tmp_path)
    first = '1-DS-0,1,10,DS,1,2180-05-07 00:00:00,,"a\nb"'
    write_table(folder, "note/discharge", f"{NOTES}\n{first}\n{second}\n")
    with pytest.raises(InputError, match="a key is empty or occurs twice: note_id") as caught:
        load_mimic(warehouse, folder, SETTINGS)
    assert caught.value.line == 4
    assert "1-DS" not in str(caught.value)


def test_a_row_twice_in_parquet_is_refused_with_its_rows(warehouse: Connection, tmp_path: Path) -> None:
    folder = write_mimic(tmp_path, ".csv")
    notes = pa.table(_notes(pa.array(["x", "y"])))
    (folder / "note/discharge.csv").unlink()
    pq.write_table(pa.concat_tables([notes, notes.slice(1)]), folder / "note/discharge.parquet")
    with pytest.raises(InputError) as caught:
        load_mimic(warehouse, folder, SETTINGS)
    assert caught.value.found == "the same, or nothing, in rows 2 and 3"


def test_an_order_twice_is_refused_unless_the_file_has_no_numbers_of_orders(
    warehouse: Connection, tmp_path: Path
) -> None:
    folder = write_mimic(tmp_path)
    header, (order,) = TABLES["hosp/prescriptions"]
    write_table(folder, "hosp/prescriptions", f"{header}\n{order}\n{order}\n")
    with pytest.raises(InputError, match="occurs twice: pharmacy_id, drug_type, drug") as caught:
        load_mimic(warehouse, folder, SETTINGS)
    assert caught.value.line == 3
    unnumbered = order.replace(",5,", ",", 1)
    write_table(folder, "hosp/prescriptions", f"{header.replace('pharmacy_id,', '')}\n{unnumbered}\n{unnumbered}\n")
    assert [one.rows_read for one in load_mimic(warehouse, folder, SETTINGS).tables if "prescr" in one.table] == [2]


def test_keys_are_documented_columns() -> None:
    tables = {table.qualified: table.types for source in SOURCES for table in documented(source)}
    assert {"mimiciv_hosp.patients", "mimiciv_hosp.admissions", "mimiciv_note.discharge"} <= set(keys())
    assert all(name in tables[table] for table, columns in keys().items() for name in columns)
