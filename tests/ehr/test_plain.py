"""A plain table of notes and codes: names in any case, identifiers of any kind, and what is refused."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from ehr.sources.mimic import load_mimic
from ehr.sources.plain import load_table
from ground.errors import InputError
from ground.settings import LoadSettings
from tests.ehr.mimic_files import write_mimic

NOTES = "ID,Patient,TEXT,admission,kind\nn1,p1,Fever.,a1,Discharge summary\nn2,7,Cough.,8,\n"
CODES = "patient,admission,vocabulary,code,name\np1,a1,icd-10-cm,I10,\n7,,RxNorm,161,\n,a1,ndc,,Tylenol\n"
SETTINGS = LoadSettings()


def folder_of(path: Path, notes: str | bytes | None = NOTES, codes: str | None = CODES) -> Path:
    path.mkdir()
    if notes is not None:
        (path / "Notes.CSV").write_bytes(notes if isinstance(notes, bytes) else notes.encode())
    if codes is not None:
        (path / "codes.csv").write_text(codes)
    return path


def test_notes_and_codes_are_seen_through_the_contract(warehouse: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    report = load_table(warehouse, folder_of(tmp_path / "t"), SETTINGS)
    assert [(file.rows_read, file.rows_rejected) for file in report.tables] == [(2, 0), (3, 0)]
    notes = warehouse.execute("select note_id, subject_id, hadm_id, kind from ehr.note order by note_id").fetchall()
    assert notes[1] == ("n2", 7, 8, "discharge")
    assert notes[0][3] == "discharge" and notes[0][1] > 0 < notes[0][2]
    stay = notes[0][2]
    assert warehouse.execute("select hadm_id, vocabulary, code from ehr.diagnosis").fetchall() == [
        (stay, "ICD10CM", "I10")
    ]
    drugs = warehouse.execute("select hadm_id, vocabulary, code, name from ehr.drug order by vocabulary").fetchall()
    assert drugs[0] == (stay, "NDC", None, "Tylenol")
    assert drugs[1][1:] == ("RXNORM", "161", None)
    again = load_table(warehouse, tmp_path / "t", SETTINGS)
    assert all(file.skipped_because_done for file in again.tables)


def test_what_says_nothing_is_refused_and_what_nothing_reads_is_counted(
    warehouse: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    notes = NOTES + "n3,p1,,a1,\nn4,,Lost.,a1,\nn5,p1,Progress.,a1,Nursing\n"
    report = load_table(warehouse, folder_of(tmp_path / "t", notes, CODES + "p1,a1,ICD9CM,,\n,,ICD9CM,1,\n"), SETTINGS)
    assert [(file.rows_read, file.rows_rejected) for file in report.tables] == [(5, 2), (5, 2)]
    reasons = warehouse.execute("select reason, raw from ground.reject order by raw nulls last, reason").fetchall()
    assert reasons[:2] == [("it says nothing", "n3"), ("no patient is named", "n4")]
    assert any("1 notes of the kind nursing" in warning for warning in report.warnings)
    assert warehouse.execute("select count(*) from ehr.discharge_note").fetchall() == [(2,)]


@pytest.mark.parametrize(
    ("notes", "codes", "what"),
    [
        ("id,patient\n1,2\n", None, "lacks needed columns: text"),
        ("id;patient;text\n1;2;x\n", None, "lacks needed columns"),
        (NOTES + "n1,p1,Again.,a1,\n", None, "occurs twice: id"),
        (NOTES.encode("utf-16"), None, "not UTF-8"),
        ((NOTES * 1).encode() + "n3,p1,Fièvre.,a1,\n".encode("latin-1"), None, "malformed"),
        (NOTES + "n3,p2,Fever.,a1,\n", None, "identifiers are ambiguous"),
        (None, None, "neither notes nor codes"),
        (NOTES, "patient,code\n1,2\n", "lacks needed columns: vocabulary"),
        ("", None, "lacks needed columns"),
        ("id,patient,text,TEXT\n1,2,x,y\n", None, "no usable header line"),
        ("id,,text\n1,2,x\n", None, "lacks needed columns: patient"),
        (NOTES + 'n3,p1,"Open.', None, "malformed"),
        (NOTES + 'n3,p1,"' + ("x" * 999_999 + "\n") * 11 + '"\n', None, "more than 10,000,000 bytes"),
        (NOTES + "n3,p1," + "x" * 12_000_000, None, "more than 10,000,000 bytes"),
        (NOTES + "n3,p1" + ",x" * 2000 + "\n", None, "more than 1000 fields"),
        (NOTES + "n3,p1,Fever.,a1,,x\n", None, "malformed"),
        (NOTES.replace("kind", "time") + "n3,p1,Fever.,a1,yesterday\n", None, "malformed"),
        (NOTES.encode("utf-16-be"), None, "lacks needed columns|not UTF-8"),
        (NOTES, CODES.replace(",", ";"), "lacks needed columns"),
        (NOTES, CODES.replace("name", "time") + "p1,a1,ICD9CM,1,soon\n", "malformed"),
        (NOTES + ",p1,No name.,a1,\n", None, "key is empty"),
    ],
    ids=lambda value: "" if value is None or len(value) > 100 else None,
)
def test_a_table_that_cannot_be_read_is_refused(
    warehouse: duckdb.DuckDBPyConnection, tmp_path: Path, notes: str | bytes | None, codes: str | None, what: str
) -> None:
    with pytest.raises(InputError, match=what) as caught:
        load_table(warehouse, folder_of(tmp_path / "t", notes, codes), SETTINGS)
    assert caught.value.expected or caught.value.do


def test_a_workspace_holds_one_source(warehouse: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    load_table(warehouse, folder_of(tmp_path / "t"), SETTINGS)
    write_mimic(tmp_path / "mimic")
    with pytest.raises(InputError, match="records of one source") as caught:
        load_mimic(warehouse, tmp_path / "mimic", SETTINGS)
    assert "another workspace" in (caught.value.do or "")
