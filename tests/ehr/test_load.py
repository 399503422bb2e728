"""Loading MIMIC-IV: formats, types, versions, notes character by character, bad rows, resume."""

from __future__ import annotations

import datetime
import gzip
import os
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ehr.sources.mimic import find_mimic, load_mimic
from ehr.sources.tables import documented
from ground.errors import InputError, UsageError
from ground.settings import LoadSettings
from ground.storage.sqlfiles import quoted_name
from ground.storage.warehouse import table_exists
from tests.ehr.mimic_files import NOTE_TEXT, TABLES, write_mimic, write_table

Connection = duckdb.DuckDBPyConnection
SETTINGS = LoadSettings()


def rows(connection: Connection, query: str) -> list[tuple[object, ...]]:
    return connection.execute(query).fetchall()


def as_parquet(folder: Path) -> Path:
    """Turn the CSV files of a folder into Parquet with the documented types."""
    known = {table.name: table.types for table in documented("mimic")}
    for path in list(folder.rglob("*.csv")):
        header = path.read_text().splitlines()[0].split(",")
        types = {name: known[path.stem][name] for name in header}
        duckdb.sql(
            f"copy (from read_csv('{path}', header = true, types = {types})) to '{path.with_suffix('.parquet')}'"
        )
        path.unlink()
    return folder


@pytest.mark.parametrize("form", [".csv", ".csv.gz", ".parquet"])
def test_every_format_gives_the_same_tables(warehouse: Connection, tmp_path: Path, form: str) -> None:
    folder = write_mimic(tmp_path / "mimic", ".csv" if form == ".parquet" else form)
    if form == ".parquet":
        as_parquet(folder)
    report = load_mimic(warehouse, folder, SETTINGS)
    assert [(t.table, t.rows_read, t.rows_rejected) for t in report.tables] == [
        ("mimiciv_hosp.patients", 1, 0),
        ("mimiciv_hosp.admissions", 2, 0),
        ("mimiciv_hosp.diagnoses_icd", 3, 0),
        ("mimiciv_hosp.procedures_icd", 1, 0),
        ("mimiciv_hosp.prescriptions", 1, 0),
        ("mimiciv_note.discharge", 1, 0),
    ]
    codes = rows(warehouse, "select icd_code, icd_version from mimiciv_hosp.diagnoses_icd order by hadm_id, seq_num")
    assert codes == [("0010", 9), ("01882", 9), ("I10", 10)]
    assert rows(warehouse, "select ndc, gsn, drug, prod_strength, starttime from mimiciv_hosp.prescriptions") == [
        ("00093111301", "000391", "Lisinopril, oral", '5"mg tab', datetime.datetime(2180, 5, 7))
    ]
    assert rows(warehouse, "select chartdate from mimiciv_hosp.procedures_icd") == [(datetime.date(2180, 5, 7),)]
    assert rows(warehouse, "select text from mimiciv_note.discharge") == [(NOTE_TEXT,)]


def test_documented_types_hold(warehouse: Connection, tmp_path: Path) -> None:
    load_mimic(warehouse, write_mimic(tmp_path), SETTINGS)
    for table in documented("mimic"):
        if table_exists(warehouse, table.qualified):
            for name, kind, *_ in rows(warehouse, f"describe {table.qualified}"):
                assert str(kind).lower() == table.types[str(name)]


def test_no_code_is_a_number() -> None:
    textual = {"icd_code", "ndc", "gsn", "drg_code", "hcpcs_cd", "code", "note_id", "text", "formulary_drug_cd"}
    for table in documented("mimic"):
        for name, kind in table.types.items():
            assert kind == "varchar" or name not in textual
            assert kind in {"bigint", "integer", "double", "varchar", "timestamp", "date"}
            if name in {"subject_id", "hadm_id", "stay_id"}:
                assert kind == "bigint"


def test_missing_optional_files_are_named_and_skipped(warehouse: Connection, tmp_path: Path) -> None:
    report = load_mimic(warehouse, write_mimic(tmp_path, notes=()), SETTINGS)
    assert {"hosp/labevents", "note/discharge", "icu/icustays"} <= set(report.missing_optional)
    assert not table_exists(warehouse, "mimiciv_note.discharge")


@pytest.mark.parametrize("place", ["a link to nothing", "a folder", "a pipe"])
def test_what_is_no_file_drops_no_notes_that_were_loaded(warehouse: Connection, tmp_path: Path, place: str) -> None:
    folder = write_mimic(tmp_path)
    load_mimic(warehouse, folder, SETTINGS)
    path = folder / "note" / "discharge.csv.gz"
    path.unlink()
    if place == "a folder":
        path.mkdir()
    elif place == "a pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("nowhere")
    with pytest.raises(InputError, match="what has the name of a file of the release is not a file") as caught:
        load_mimic(warehouse, folder, SETTINGS)
    assert caught.value.file == str(path)
    assert rows(warehouse, "select count(*) from mimiciv_note.discharge") == [(1,)]


def test_missing_required_files_are_one_error_that_lists_them(warehouse: Connection, tmp_path: Path) -> None:
    folder = write_mimic(tmp_path)
    (folder / "hosp" / "admissions.csv.gz").unlink()
    (folder / "hosp" / "diagnoses_icd.csv.gz").unlink()
    with pytest.raises(InputError) as caught:
        load_mimic(warehouse, folder, SETTINGS)
    assert "hosp/admissions, hosp/diagnoses_icd" in caught.value.what
    assert caught.value.expected is not None
    for name in ("hosp/patients", "hosp/admissions", "hosp/diagnoses_icd"):
        assert name in caught.value.expected
    assert rows(warehouse, "from ground.load") == []


def test_two_downloads_are_one_release(warehouse: Connection, tmp_path: Path) -> None:
    hosp, note = write_mimic(tmp_path / "mimiciv-3.1", notes=()), write_mimic(tmp_path / "all")
    apart = (hosp, tmp_path / "mimic-iv-note-2.2")
    apart[1].mkdir()
    (note / "note").rename(apart[1] / "note")
    report = load_mimic(warehouse, apart, SETTINGS)
    assert report.release == "3.1, note 2.2" and not any("no notes" in one for one in report.warnings)
    assert rows(warehouse, "select count(*) from mimiciv_note.discharge") == [(1,)]
    with pytest.raises(InputError, match="several folders could be the module hosp"):
        find_mimic(*apart, note)


def test_notes_alone_and_records_alone_are_called_so(tmp_path: Path) -> None:
    write_mimic(tmp_path / "all")
    (tmp_path / "texts").mkdir()
    (tmp_path / "all" / "note").rename(tmp_path / "texts" / "note")
    with pytest.raises(InputError, match="this is only MIMIC-IV-Note") as caught:
        find_mimic(tmp_path / "texts")
    assert "load mimic DIR NOTE_DIR" in (caught.value.do or "")
    (tmp_path / "all" / "notes.csv").write_text("text\n")
    assert any("no notes" in one and "notes.csv is not read" in one for one in find_mimic(tmp_path / "all").warnings)
    assert not any("no notes" in one for one in find_mimic(tmp_path / "all", tmp_path / "texts").warnings)


@pytest.mark.parametrize("place", ["", "3.1", "mimiciv/3.1", "files/mimiciv/3.1"])
def test_modules_are_found_below_the_folder(tmp_path: Path, place: str) -> None:
    write_mimic(tmp_path / place)
    assert {found.table.name for found in find_mimic(tmp_path).files} == {
        *(name.split("/")[1] for name in TABLES),
        "discharge",
    }
    assert len(find_mimic(tmp_path / place / "hosp").files) == 6


def test_note_may_be_a_release_of_its_own(warehouse: Connection, tmp_path: Path) -> None:
    write_mimic(tmp_path / "mimiciv" / "3.1", notes=())
    write_mimic(tmp_path / "other")
    (tmp_path / "mimic-iv-note").mkdir()
    (tmp_path / "mimic-iv-note" / "2.2").mkdir()
    (tmp_path / "other" / "note").rename(tmp_path / "mimic-iv-note" / "2.2" / "note")
    for path in (tmp_path / "other" / "hosp").iterdir():
        path.unlink()
    report = load_mimic(warehouse, tmp_path, SETTINGS)
    assert report.release == "3.1, note 2.2"
    releases = rows(warehouse, "select distinct split_part(file, '/', 1), release from ground.load order by 1")
    assert releases == [("hosp", "3.1"), ("note", "2.2")]
    assert "mimiciv_hosp.patients has 1 rows, published for release 3.1: 364627" in report.warnings
    assert "mimiciv_note.discharge has 1 rows, published for release 2.2: 331793 or 331794" in report.warnings


def test_parts_of_a_table_as_bigquery_writes_them_are_named(tmp_path: Path) -> None:
    write_mimic(tmp_path)
    whole = next((tmp_path / "hosp").glob("diagnoses_icd.*"))
    whole.rename(whole.with_name(whole.name.replace("diagnoses_icd", "diagnoses_icd000000000000")))
    with pytest.raises(InputError, match="diagnoses_icd is in parts"):
        find_mimic(tmp_path)


def test_two_releases_side_by_side_are_not_guessed_at(tmp_path: Path) -> None:
    write_mimic(tmp_path / "2.2")
    write_mimic(tmp_path / "3.1")
    with pytest.raises(InputError, match="several folders"):
        find_mimic(tmp_path)


@pytest.mark.parametrize(
    ("place", "release"),
    [
        ("mimic-iv-clinical-database-demo-2.2", "demo 2.2"),
        ("mimic-iv-3.1", "3.1"),
        ("mimiciv/2.2", "2.2"),
        ("mimic-iv-demo/2.2", "demo 2.2"),
        ("some/folder", None),
    ],
)
def test_release_is_read_off_the_folder(tmp_path: Path, place: str, release: str | None) -> None:
    write_mimic(tmp_path / place, notes=())
    assert find_mimic(tmp_path / place).name == release


def test_release_is_read_off_the_change_log(tmp_path: Path) -> None:
    write_mimic(tmp_path / "data", notes=())
    (tmp_path / "data" / "CHANGELOG.txt").write_text("MIMIC-IV v3.1 released\nMIMIC-IV v3.0 released\n")
    assert find_mimic(tmp_path / "data").name == "3.1"


def test_a_column_that_is_not_documented_is_text_with_a_warning(warehouse: Connection, tmp_path: Path) -> None:
    folder = write_mimic(tmp_path)
    write_table(folder, "hosp/provider", "provider_id,Shoe_Size\nP1,0042\n")
    report = load_mimic(warehouse, folder, SETTINGS)
    assert rows(warehouse, "select shoe_size from mimiciv_hosp.provider") == [("0042",)]
    assert "hosp/provider.csv.gz: columns not documented, loaded as text: shoe_size" in report.warnings


@pytest.mark.parametrize(
    ("table", "content", "problem"),
    [
        ("hosp/diagnoses_icd", "subject_id,hadm_id,seq_num,code,icd_version\n", "lacks needed columns: icd_code"),
        ("hosp/provider", "P1\nP2\n", "no usable header"),
    ],
)
def test_a_file_without_its_columns_is_an_error(
    warehouse: Connection, tmp_path: Path, table: str, content: str, problem: str
) -> None:
    folder = write_mimic(tmp_path)
    write_table(folder, table, content)
    with pytest.raises(InputError, match=problem):
        load_mimic(warehouse, folder, SETTINGS)


def test_a_file_of_carriage_returns_is_named(warehouse: Connection, tmp_path: Path) -> None:
    folder = write_mimic(tmp_path, ".csv")
    path = folder / "hosp" / "patients.csv"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r"))
    with pytest.raises(InputError, match="no usable header line") as caught:
        load_mimic(warehouse, folder, SETTINGS)
    assert (caught.value.file, caught.value.line) == (str(path), 1)


def test_a_file_without_a_row_is_named(warehouse: Connection, tmp_path: Path) -> None:
    folder = write_mimic(tmp_path, ".csv")
    write_table(folder, "hosp/procedures_icd", TABLES["hosp/procedures_icd"][0] + "\n", ".csv")
    assert "hosp/procedures_icd.csv: not one row is loaded" in load_mimic(warehouse, folder, SETTINGS).warnings


def test_codes_stored_as_numbers_are_refused(warehouse: Connection, tmp_path: Path) -> None:
    folder = write_mimic(tmp_path)
    (folder / "hosp" / "diagnoses_icd.csv.gz").unlink()
    target = folder / "hosp" / "diagnoses_icd.parquet"
    duckdb.sql(f"copy (select 1 subject_id, 10 hadm_id, 1 seq_num, 10 icd_code, 9 icd_version) to '{target}'")
    with pytest.raises(InputError, match="column icd_code is stored as another type"):
        load_mimic(warehouse, folder, SETTINGS)


BAD_ROWS = {
    "a field too few": (b"1,10,3,0011\n", "too few fields"),
    "a field too many": (b"1,10,3,0011,9,x\n", "too many fields"),
    "not a number": (b"Smith,10,3,0011,9\n", "column subject_id is not of type bigint"),
    "latin-1": (b"1,10,3,\xe90011,9\n", "not UTF-8"),
    "a quote not doubled": (b'1,10,3,"00"11",9\n', "a quote inside a field"),
}


@pytest.mark.parametrize("kind", list(BAD_ROWS))
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_a_bad_row_is_kept_with_its_physical_line(
    warehouse: Connection, tmp_path: Path, kind: str, suffix: str
) -> None:
    folder = write_mimic(tmp_path, suffix)
    raw, reason = BAD_ROWS[kind]
    # A value of two lines, so that rows and lines differ.
    good = [b'1,10,%d,"00\n10",9\n' % (10 + n) for n in range(5)]
    content = b"".join([b"subject_id,hadm_id,seq_num,icd_code,icd_version\n", *good[:3], raw, *good[3:]])
    write_table(folder, "hosp/diagnoses_icd", content, suffix)
    report = load_mimic(warehouse, folder, LoadSettings(max_reject_share=0.5))
    loaded = {t.table: t for t in report.tables}["mimiciv_hosp.diagnoses_icd"]
    assert (loaded.rows_read, loaded.rows_rejected) == (6, 1)
    kept = rows(warehouse, "select source, file, line, reason from ground.reject")
    assert [row[:3] for row in kept] == [("mimic", f"hosp/diagnoses_icd{suffix}", 8)]
    assert str(kept[0][3]).startswith(reason)


def test_above_the_limit_the_error_tells_no_value(warehouse: Connection, tmp_path: Path) -> None:
    folder = write_mimic(tmp_path)
    header = "subject_id,hadm_id,seq_num,icd_code,icd_version\n"
    write_table(folder, "hosp/diagnoses_icd", header + "1,10,1,0010,9\n" + "Smith,10,1,0010,9\n" * 2)
    with pytest.raises(InputError) as caught:
        load_mimic(warehouse, folder, SETTINGS)
    assert caught.value.line == 3
    assert "subject_id is not of type bigint" in str(caught.value)
    assert "Smith" not in str(caught.value)
    assert rows(warehouse, "select file from ground.load order by finished_at") == [
        ("hosp/patients.csv.gz",),
        ("hosp/admissions.csv.gz",),
    ]
    assert rows(warehouse, "select line, raw from ground.reject order by line") == [
        (3, "Smith,10,1,0010,9"),
        (4, "Smith,10,1,0010,9"),
    ]
    # The next file is not blamed for what was refused here.
    write_table(folder, "hosp/diagnoses_icd", header + "1,10,1,0010,9\n")
    assert sum(t.rows_rejected for t in load_mimic(warehouse, folder, SETTINGS).tables) == 0
    assert rows(warehouse, "from ground.reject") == []


@pytest.mark.parametrize("quoted", [False, True])
def test_a_row_of_very_many_fields_is_refused_with_its_line(
    warehouse: Connection, tmp_path: Path, quoted: bool
) -> None:
    folder = write_mimic(tmp_path)
    header, good = TABLES["hosp/prescriptions"]
    first = '"a drug,\nof two lines",' if quoted else ""
    write_table(folder, "hosp/prescriptions", "\n".join([header, *good, first + "zebra," * 40_000, *good]) + "\n")
    with pytest.raises(InputError) as caught:
        load_mimic(warehouse, folder, LoadSettings(max_reject_share=0.9))
    said = caught.value
    assert (said.line, said.found) == ((4, "40002 fields") if quoted else (3, "40001 fields"))
    assert str(said.file).endswith("prescriptions.csv.gz") and said.expected and "zebra" not in str(said)


def test_a_truncated_gzip_fails_alone_and_tells_no_note(warehouse: Connection, tmp_path: Path) -> None:
    folder = write_mimic(tmp_path, notes=[NOTE_TEXT * 50] * 20)
    path = folder / "note" / "discharge.csv.gz"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError) as caught:
        load_mimic(warehouse, folder, SETTINGS)
    assert caught.value.file == str(path)
    assert "Allergies" not in str(caught.value)
    assert rows(warehouse, "select count(*) from ground.load") == [(5,)]
    assert not table_exists(warehouse, "mimiciv_note.discharge")


def test_an_unchanged_folder_is_skipped_and_a_changed_file_replaced(warehouse: Connection, tmp_path: Path) -> None:
    folder = write_mimic(tmp_path, ".csv")
    load_mimic(warehouse, folder, SETTINGS)
    assert all(t.skipped_because_done for t in load_mimic(warehouse, folder, SETTINGS).tables)
    path = folder / "hosp" / "diagnoses_icd.csv"
    path.write_text(path.read_text().replace("I10", "I11"))
    os.utime(path, ns=(0, 0))
    report = load_mimic(warehouse, folder, SETTINGS)
    assert [t.table for t in report.tables if not t.skipped_because_done] == ["mimiciv_hosp.diagnoses_icd"]
    assert rows(warehouse, "select icd_code from mimiciv_hosp.diagnoses_icd where icd_version = 10") == [("I11",)]


def test_orphans_are_counted(warehouse: Connection, tmp_path: Path) -> None:
    folder = write_mimic(tmp_path)
    header = "subject_id,hadm_id,seq_num,icd_code,icd_version\n"
    write_table(folder, "hosp/diagnoses_icd", header + "1,10,1,0010,9\n1,99,1,0010,9\n1,98,1,0010,9\n")
    report = load_mimic(warehouse, folder, SETTINGS)
    assert [w for w in report.warnings if "rows of admissions" in w] == [
        "mimiciv_hosp.diagnoses_icd: 2 rows of admissions that mimiciv_hosp.admissions lacks"
    ]


def test_what_cannot_be_of_its_admission_is_refused_and_counted(warehouse: Connection, tmp_path: Path) -> None:
    folder = write_mimic(tmp_path, ".csv", notes=())
    admissions = folder / "hosp" / "admissions.csv"
    admissions.write_text(admissions.read_text() + "1,12,2182-05-06 22:23:00,2182-05-05 17:15:00,,URGENT,0\n")
    header = "note_id,subject_id,hadm_id,note_type,note_seq,charttime,storetime,text\n"
    lines = ["1-DS-1,1,10", "2-DS-2,2,10", "1-DS-3,1,99", "1-DS-4,1,12"]
    notes = "".join(f"{line},DS,{n},2180-05-07 00:00:00,,its text\n" for n, line in enumerate(lines))
    write_table(folder, "note/discharge", header + notes, ".csv")
    write_table(folder, "note/radiology", header + notes.replace("-DS-", "-RR-") + "1-RR-5,1,,RR,9,,,text\n", ".csv")
    report = load_mimic(warehouse, folder, SETTINGS)
    refused = {table.table: table.rows_rejected for table in report.tables if table.rows_rejected}
    assert refused == {"mimiciv_hosp.admissions": 1, "mimiciv_note.discharge": 3, "mimiciv_note.radiology": 3}
    kept = "select note_id from mimiciv_note.discharge union all select note_id from mimiciv_note.radiology order by 1"
    assert rows(warehouse, kept) == [("1-DS-1",), ("1-RR-1",), ("1-RR-5",)]
    reasons = rows(warehouse, "select raw, reason from ground.reject where file = 'note/discharge.csv' order by raw")
    assert reasons == [
        ("1-DS-3", "there is no such admission"),
        ("1-DS-4", "there is no such admission"),
        ("2-DS-2", "the admission is another patient's"),
    ]
    again = load_mimic(warehouse, folder, SETTINGS)
    assert {table.table: table.rows_rejected for table in again.tables if table.rows_rejected} == refused
    assert all(table.skipped_because_done for table in again.tables)

    admissions.write_text(admissions.read_text() + "1,99,2183-05-06 22:23:00,2183-05-07 17:15:00,,URGENT,0\n")
    load_mimic(warehouse, folder, SETTINGS)
    assert ("1-DS-3",) in rows(warehouse, "select note_id from mimiciv_note.discharge")


@pytest.mark.parametrize(("cell", "name"), [("", "unnamed_1"), ('"an odd ""name"", quoted"', 'an odd "name", quoted')])
def test_a_column_without_a_documented_name_is_kept(
    warehouse: Connection, tmp_path: Path, cell: str, name: str
) -> None:
    folder = write_mimic(tmp_path, ".csv")
    file = folder / "hosp" / "patients.csv"
    header, *lines = file.read_text().splitlines()
    file.write_text("".join(f"{line}\n" for line in (f"{cell},{header}", *(f",{line}" for line in lines))))
    report = load_mimic(warehouse, folder, SETTINGS)
    assert f"hosp/patients.csv: columns not documented, loaded as text: {name}" in report.warnings
    assert rows(warehouse, f"select {quoted_name(name)}, subject_id from mimiciv_hosp.patients") == [(None, 1)]


@pytest.mark.parametrize(
    ("change", "found", "do"),
    [
        (lambda raw: raw.replace(b",", b";"), "1 columns, of them documented: -", "save it with commas, not ';'"),
        (lambda raw: raw.decode().encode("utf-16"), "UTF-16", "save it as UTF-8"),
    ],
)
def test_a_header_in_another_form_says_how_to_save_it(
    warehouse: Connection, tmp_path: Path, change: Callable[[bytes], bytes], found: str, do: str
) -> None:
    folder = write_mimic(tmp_path, ".csv")
    file = folder / "hosp" / "patients.csv"
    file.write_bytes(change(file.read_bytes()))
    with pytest.raises(InputError) as caught:
        load_mimic(warehouse, folder, SETTINGS)
    assert (caught.value.file, caught.value.found) == (str(file), found)
    assert str(caught.value.do).startswith(do)


def test_names_in_capitals_and_the_layout_before_2_0_and_a_whole_download_are_read(
    warehouse: Connection, tmp_path: Path
) -> None:
    folder = write_mimic(tmp_path / "physionet.org" / "files" / "mimiciv" / "1.0", ".csv.gz")
    (folder / "core").mkdir()
    for name in ("patients", "admissions"):
        (folder / "hosp" / f"{name}.csv.gz").rename(folder / "core" / f"{name.upper()}.CSV.GZ")
    report = load_mimic(warehouse, tmp_path, SETTINGS)
    assert report.release == "1.0"
    assert {table.table: table.rows_read for table in report.tables if table.file.endswith("CSV.GZ")} == {
        "mimiciv_hosp.patients": 1,
        "mimiciv_hosp.admissions": 2,
    }


def test_icu_is_loaded_unless_left_out(warehouse: Connection, tmp_path: Path) -> None:
    folder = write_mimic(tmp_path)
    write_table(folder, "icu/caregiver", "caregiver_id\n10\n20\n")
    load_mimic(warehouse, folder, LoadSettings(icu=False))
    assert not table_exists(warehouse, "mimiciv_icu.caregiver")
    load_mimic(warehouse, folder, SETTINGS)
    assert rows(warehouse, "select count(*) from mimiciv_icu.caregiver") == [(2,)]
    report = load_mimic(warehouse, folder, LoadSettings(skip_tables=("caregiver",)))
    assert "icu/caregiver.csv.gz is left out by load.skip_tables" in report.warnings
    assert not table_exists(warehouse, "mimiciv_icu.caregiver")
    with pytest.raises(UsageError):
        load_mimic(warehouse, folder, LoadSettings(skip_tables=("patients",)))


def test_unknown_files_and_second_copies_are_named(warehouse: Connection, tmp_path: Path) -> None:
    folder = write_mimic(tmp_path)
    write_mimic(folder, ".csv", notes=())
    write_table(folder, "hosp/shoes", "a\n1\n")
    (folder / "hosp" / "index.html").write_text("")
    report = load_mimic(warehouse, folder, SETTINGS)
    assert "hosp/shoes.csv.gz is not a documented table and is skipped" in report.warnings
    assert "hosp/patients.csv is skipped: patients.csv.gz is taken for the same table" in report.warnings
    assert len(report.tables) == 6


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=60)
        | st.sampled_from(['"', '""', "\n", "\r\n", ",", '",\n"', "a\rb", " \n ", "'", "\\", '\\"']),
        min_size=1,
        max_size=20,
    )
)
def test_every_note_comes_back_character_by_character(warehouse: Connection, tmp_path: Path, texts: list[str]) -> None:
    load_mimic(warehouse, write_mimic(tmp_path / "mimic", notes=texts), SETTINGS)
    assert rows(warehouse, "select text from mimiciv_note.discharge order by note_seq") == [(text,) for text in texts]


@pytest.mark.real
def test_the_demo_loads_row_for_row(warehouse: Connection, real_data: Path) -> None:
    report = load_mimic(warehouse, real_data / "mimic_iv_demo", SETTINGS)
    assert report.release == "demo 2.2"
    assert report.warnings == ()
    counts = {t.table: t.rows_read for t in report.tables}
    assert counts["mimiciv_hosp.admissions"] == 275
    assert counts["mimiciv_hosp.diagnoses_icd"] == 4506
    assert counts["mimiciv_note.discharge"] == 40
    assert sum(t.rows_rejected for t in report.tables) == 0
    one_line = [t for t in report.tables if not t.table.endswith(("discharge", "microbiologyevents"))]
    for loaded in one_line:
        with gzip.open(real_data / "mimic_iv_demo" / loaded.file, "rb") as file:
            assert file.read().count(b"\n") - 1 == loaded.rows_read, loaded.file


HEADER = "subject_id,hadm_id,seq_num,icd_code,icd_version\n"


@pytest.mark.parametrize(
    ("suffix", "module", "after"),
    [(".csv", "hosp", 1), (".csv.gz", "note", 1), (".csv", "note", 400_000), (".csv.gz", "hosp", 400_000)],
)
def test_an_unclosed_quote_never_swallows_rows_in_silence(
    warehouse: Connection, tmp_path: Path, suffix: str, module: str, after: int
) -> None:
    folder = write_mimic(tmp_path, suffix)
    if module == "hosp":
        name, header, row, broken = "diagnoses_icd", HEADER, "1,10,1,0010,9\n", '1,10,1,"0010,9\n'
    else:
        name, header, row = (
            "discharge_detail",
            "note_id,subject_id,field_name,field_value,field_ordinal\n",
            "a,1,x,y,1\n",
        )
        broken = 'a,1,x,"y,1\n'
    write_table(folder, f"{module}/{name}", header + row * 5 + broken + row * after, suffix)
    with pytest.raises(InputError) as caught:
        load_mimic(warehouse, folder, SETTINGS)
    assert (caught.value.file, caught.value.line) == (str(folder / module / f"{name}{suffix}"), 7)
    assert "quote" in str(caught.value.found)


def test_a_few_lines_swallowed_at_the_end_are_counted(warehouse: Connection, tmp_path: Path) -> None:
    folder = write_mimic(tmp_path)
    row = "a,1,x,y,1\n"
    text = "note_id,subject_id,field_name,field_value,field_ordinal\n" + row * 999 + 'a,1,x,"y,1\n' + row * 3
    write_table(folder, "note/discharge_detail", text)
    report = load_mimic(warehouse, folder, SETTINGS)
    loaded = {t.table: t for t in report.tables}["mimiciv_note.discharge_detail"]
    assert (loaded.rows_read, loaded.rows_rejected) == (1000, 1)
    kept = rows(warehouse, "select line, reason from ground.reject")
    assert [line for line, _ in kept] == [1001]
    assert "quote" in str(kept[0][1])


def test_blank_lines_between_rows_are_no_errors(warehouse: Connection, tmp_path: Path) -> None:
    folder = write_mimic(tmp_path)
    write_table(folder, "hosp/diagnoses_icd", HEADER + "\n1,10,1,0010,9\n\n\n1,10,2,0010,9\n\n")
    report = load_mimic(warehouse, folder, SETTINGS)
    assert [(t.rows_read, t.rows_rejected) for t in report.tables][2] == (2, 0)


def test_a_stray_carriage_return_is_named_by_line(warehouse: Connection, tmp_path: Path) -> None:
    folder = write_mimic(tmp_path)
    write_table(folder, "hosp/diagnoses_icd", HEADER + "1,10,1,0010,9\n" * 3 + "1,10,2,0\r010,9\n" + "1,10,1,0010,9\n")
    with pytest.raises(InputError) as caught:
        load_mimic(warehouse, folder, SETTINGS)
    assert caught.value.line == 5


@pytest.mark.parametrize("form", [".csv", ".csv.gz", ".parquet"])
def test_a_folder_whose_name_reads_as_a_pattern_is_itself(warehouse: Connection, tmp_path: Path, form: str) -> None:
    for name, gender in (("mimic[2]", "F"), ("mimic2", "M")):
        suffix = ".csv" if form == ".parquet" else form
        folder = write_mimic(tmp_path / name, suffix)
        header, _ = TABLES["hosp/patients"]
        write_table(folder, "hosp/patients", f"{header}\n1,{gender},60,2180,2011 - 2013,\n", suffix)
        if form == ".parquet":
            as_parquet(folder)
    load_mimic(warehouse, tmp_path / "mimic[2]", SETTINGS)
    assert rows(warehouse, "select gender from mimiciv_hosp.patients") == [("F",)]
