"""A MEDS dataset is loaded by patterns of its codes; what is malformed is refused with its place, or counted."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

from ehr.sources.meds import code_patterns, load_meds
from ground.errors import InputError
from ground.settings import LoadSettings
from ground.storage.loading import LoadReport
from ground.storage.own_rules import OwnRules
from ground.storage.warehouse import connect

Rows = Sequence[tuple[Any, ...]]
SCHEMA: dict[str, Any] = {
    "subject_id": pl.Int64,
    "time": pl.Datetime("us"),
    "code": pl.String,
    "text_value": pl.String,
    "hadm_id": pl.Int64,
}


def day(text: str) -> datetime:
    return datetime.fromisoformat(f"2180-{text}")


# Patient 1 has an admission with its number and one without; patient 2 has codes of OMOP, and no event of admission.
EVENTS: Rows = [
    (1, None, "GENDER//F", None, None),
    (1, day("01-01 10:00"), "HOSPITAL_ADMISSION//URGENT//UNK", None, 10),
    (1, day("01-01 09:00"), "MEDICATION//START//Early//UNK", None, None),
    (1, day("01-02"), "MEDICATION//START//Aspirin//00093111301", None, None),
    (1, day("01-03"), "MEDICATION//STOP//Aspirin//00093111301", None, None),
    (1, day("01-04 12:00"), "HOSPITAL_DISCHARGE//HOME", None, 10),
    (1, day("01-04 12:00"), "DIAGNOSIS//ICD//10//I10", None, 10),
    (1, day("01-04 12:00"), "PROCEDURE//ICD//9//0044", None, 10),
    (1, day("01-04"), "NOTE//DS", "Chief Complaint: cough", 10),
    (1, day("02-01"), "HOSPITAL_ADMISSION", None, None),
    (1, day("02-02"), "MEDICATION//START//UNK//UNK", None, None),
    (1, day("02-03"), "HOSPITAL_DISCHARGE", None, None),
    (2, day("03-01"), "ICD10CM/I10", None, 20),
    (2, day("03-02"), "LOINC/18748-4", "Chest film: clear", 20),
    (2, day("03-03"), "LAB//1", None, 20),
]
SPLITS: Rows = [(1, "train"), (2, "held_out")]


def write(folder: Path, events: Rows = EVENTS, splits: Rows = SPLITS, **more: Any) -> Path:
    """Write a dataset; ``more``: other types of columns, columns to leave out, and the version."""
    types = SCHEMA | more.get("types", {})
    (folder / "data" / "train").mkdir(parents=True)
    (folder / "metadata").mkdir()
    data = pl.DataFrame(events, schema=SCHEMA, orient="row").cast(types).drop(more.get("drop", []))
    data.write_parquet(folder / "data" / "train" / "0.parquet")
    codes = {"code": ["MEDICATION//START//UNK//UNK", "ICD10CM/I10"], "description": ["Saline", "Hypertension"]}
    pl.DataFrame(codes).write_parquet(folder / "metadata" / "codes.parquet")
    split_schema = {"subject_id": pl.Int64, "split": pl.String}
    pl.DataFrame(splits, schema=split_schema, orient="row").write_parquet(
        folder / "metadata" / "subject_splits.parquet"
    )
    about = {"dataset_name": "Tiny", "dataset_version": "1", "meds_version": more.get("version", "0.4.1")}
    (folder / "metadata" / "dataset.json").write_text(json.dumps(about))
    return folder


@pytest.fixture
def warehouse(tmp_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with connect(tmp_path / "warehouse.duckdb") as connection:
        yield connection


def load(connection: duckdb.DuckDBPyConnection, folder: Path, **settings: Any) -> LoadReport:
    return load_meds(connection, folder, LoadSettings(**settings))


def test_events_have_their_admission(warehouse: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    report = load(warehouse, write(tmp_path / "meds"))
    assert report.release == "Tiny 1"
    assert set(report.warnings) == {
        "2 events are not loaded: their 2 codes fit no pattern (meds.code)",
        "2 events are of the stay in which their time lies",
        "1 events are of no admission",
    }
    stays = warehouse.execute("from meds.admission order by subject_id, admittime").fetchall()
    derived = stays[1][1]
    assert stays == [
        (1, 10, day("01-01 10:00"), day("01-04 12:00")),
        (1, derived, day("02-01"), day("02-03")),
        (2, 20, day("03-01"), day("03-03")),
    ]
    drugs = "select hadm_id, name, code, time from ehr.drug order by time"
    assert warehouse.execute(drugs).fetchall() == [
        (None, "Early", None, day("01-01 09:00")),
        (10, "Aspirin", "00093111301", day("01-02")),
        (derived, "Saline", None, day("02-02")),
    ]
    codes = "select hadm_id, kind, vocabulary, code from ehr.event where kind <> 'drug'"
    assert warehouse.execute(f"{codes} order by all").fetchall() == [
        (10, "diagnosis", "ICD10CM", "I10"),
        (10, "procedure", "ICD9CM", "0044"),
        (20, "diagnosis", "ICD10CM", "I10"),
    ]
    assert warehouse.execute("select note_id, hadm_id, text from ehr.note order by all").fetchall() == [
        ("1-discharge-1", 10, "Chief Complaint: cough"),
        ("2-radiology-1", 20, "Chest film: clear"),
    ]
    assert all(file.skipped_because_done for file in load(warehouse, tmp_path / "meds").tables)


OTHER_SPLITS: Rows = [(1, "train"), (2, "Zurich")]
NAMELESS: Rows = [*EVENTS, (None, day("01-01"), "LAB//1", None, None), (1, day("01-04"), "NOTE//DS", " \n", 10)]
SHARED: Rows = [*EVENTS, (2, day("01-01 11:00"), "ICD10CM/I11", None, 10)]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"drop": ["code"]}, "code missing"),
        ({"types": {"subject_id": pl.String}}, "subject_id large_string"),
        ({"types": {"time": pl.String}}, "time large_string"),
        ({"types": {"time": pl.Datetime("us", "UTC")}}, "tz=UTC"),
        ({"version": "0.1.3"}, "meds_version 0.1.3"),
        ({"events": []}, "has no events"),
        ({"events": NAMELESS}, "2 of 17 rows or lines"),
        ({"splits": [*SPLITS, (1, "tuning")]}, "in two splits"),
    ],
)
def test_malformed_dataset_is_refused(
    warehouse: duckdb.DuckDBPyConnection, tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        load(warehouse, write(tmp_path / "meds", **changes))


@pytest.mark.parametrize(("where", "keep"), [("data/train/0.parquet", 0.5), ("metadata/codes.parquet", 0.5)])
def test_cut_file_is_named(warehouse: duckdb.DuckDBPyConnection, tmp_path: Path, where: str, keep: float) -> None:
    file = write(tmp_path / "meds") / where
    file.write_bytes(file.read_bytes()[: int(file.stat().st_size * keep)])
    with pytest.raises(InputError, match="cut off or damaged") as raised:
        load(warehouse, tmp_path / "meds")
    assert str(file) in str(raised.value)


@pytest.mark.parametrize(
    ("changes", "words", "refused"),
    [
        ({"events": NAMELESS}, "2 rows refused", ["a note without text", "no subject_id"]),
        ({"splits": OTHER_SPLITS}, "1 patients are in no split that is read: Zurich", []),
        ({"splits": SPLITS[:1]}, "1 patients are in no split that is read: none", []),
        ({"events": SHARED}, "6 events are of no admission", []),
        ({"events": [(1, None, "ICD10CM/I10", None, None)]}, "1 events are of no admission", []),
        ({"events": [(1, day("01-01"), "I10", None, 1)]}, "1 events are not loaded", []),
    ],
)
def test_odd_events_are_counted(
    warehouse: duckdb.DuckDBPyConnection, tmp_path: Path, changes: dict[str, Any], words: str, refused: list[str]
) -> None:
    report = load(warehouse, write(tmp_path / "meds", **changes), max_reject_share=0.2)
    assert any(warning.startswith(words) for warning in report.warnings)
    assert [row[0] for row in warehouse.execute("select reason from ground.reject order by 1").fetchall()] == refused


def test_missing_metadata_is_told(warehouse: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    for file in (write(tmp_path / "meds") / "metadata").iterdir():
        file.unlink()
    report = load(warehouse, tmp_path / "meds")
    assert report.missing_optional == ("codes.parquet", "subject_splits.parquet", "dataset.json")
    assert report.release is None


def test_own_patterns_come_first(warehouse: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    head = "pattern\tkind\tvocabulary\tsource\n"
    rows = "LAB//{code}\tprocedure\tLNC\tours\nNOTE//DS\tnone\t\tours\n"
    own = OwnRules((("meds_codes", head + rows),))
    folder = write(tmp_path / "meds")
    load(warehouse, folder)
    report = load_meds(warehouse, folder, LoadSettings(), own=own)
    assert not report.tables[0].skipped_because_done
    kinds = "select vocabulary, source_code from meds.code where kind = 'procedure' order by all"
    assert warehouse.execute(kinds).fetchall() == [("ICD9CM", "0044"), ("LNC", "1")]
    assert warehouse.execute("select count(*) from meds.note").fetchall() == [(1,)]


@pytest.mark.parametrize("row", ["A//{code}//{code}\tdrug", "A{b}\tdrug", "\tdrug", "A//{code}\tillness"])
def test_wrong_pattern_is_refused_with_its_line(row: str) -> None:
    own = OwnRules((("meds_codes", f"pattern\tkind\tvocabulary\tsource\n{row}\tNDC\tours\n"),))
    with pytest.raises(InputError, match="pattern of codes"):
        code_patterns(own)
