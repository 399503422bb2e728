"""MIMIC-IV in object storage gives the tables that it gives on disk, and waits behind the privacy gate."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from ehr.sources.mimic import load_mimic
from ground.errors import InputError, RefusedError
from ground.settings import LoadSettings, RemoteSettings
from ground.storage.remote import place_of
from ground.storage.warehouse import connect
from tests.ehr.mimic_files import write_mimic, write_table
from tests.stores import Store

pytestmark = pytest.mark.xdist_group("object_storage")

LENIENT = LoadSettings(max_reject_share=0.9)


def allowed(url: str) -> RemoteSettings:
    return RemoteSettings(allow_credentialed=(url,), allow_reason="our own bucket")


def loaded(connection: duckdb.DuckDBPyConnection) -> dict[str, list[tuple[object, ...]]]:
    """Return all loaded tables, and the bookkeeping without places and times."""
    names = connection.execute(
        "select table_schema || '.' || table_name from information_schema.tables where table_schema like 'mimiciv%'"
    ).fetchall()
    tables = {name: sorted(connection.execute(f"from {name}").fetchall(), key=repr) for (name,) in names}
    kept = "from ground.load select * exclude (finished_at) order by all"
    return (
        tables
        | {"load": connection.execute(kept).fetchall()}
        | {"reject": connection.execute("from ground.reject order by all").fetchall()}
    )


def test_the_tables_are_those_of_the_same_files_on_disk(tmp_path: Path, store: Store) -> None:
    folder = write_mimic(tmp_path / "mimic")
    codes = "subject_id,hadm_id,seq_num,icd_code,icd_version\n1,10,1,0010,9\n1,10,no number,I10,10\n"
    (folder / "hosp" / "diagnoses_icd.csv.gz").unlink()
    write_table(folder, "hosp/diagnoses_icd", codes, ".csv")
    # Of Parquet, DuckDB reads parts of a file, the end first.
    (folder / "hosp" / "procedures_icd.csv.gz").unlink()
    columns = "1 as subject_id, 10 as hadm_id, 1 as seq_num, date '2180-05-07' as chartdate, '0044' as icd_code"
    target = folder / "hosp" / "procedures_icd.parquet"
    duckdb.sql(f"copy (select {columns}, 9 as icd_version) to '{target}'")
    url = store.put(folder, f"{store.bucket()}/files/mimiciv")
    here, there = connect(tmp_path / "here.duckdb"), connect(tmp_path / "there.duckdb")
    load_mimic(here, folder, LENIENT)
    report = load_mimic(there, place_of(url.rpartition("/")[0]), LENIENT, allowed(url.rpartition("/")[0]))
    assert loaded(there) == loaded(here)
    assert len(loaded(there)["reject"]) == 1
    assert not any(one.skipped_because_done for one in report.tables)


def test_what_did_not_change_in_the_store_is_skipped(
    tmp_path: Path, store: Store, warehouse: duckdb.DuckDBPyConnection
) -> None:
    folder = write_mimic(tmp_path / "mimic")
    url = store.put(folder, store.bucket())
    load_mimic(warehouse, place_of(url), LENIENT, allowed(url))
    again = load_mimic(warehouse, place_of(url), LENIENT, allowed(url))
    assert all(one.skipped_because_done for one in again.tables)
    changed = write_table(
        folder, "hosp/diagnoses_icd", "subject_id,hadm_id,seq_num,icd_code,icd_version\n1,10,1,J1,9\n"
    )
    store.files.put_file(str(changed), f"{url}/hosp/{changed.name}")
    report = load_mimic(warehouse, place_of(url), LENIENT, allowed(url))
    assert [one.table for one in report.tables if not one.skipped_because_done] == ["mimiciv_hosp.diagnoses_icd"]
    assert warehouse.execute("select icd_code from mimiciv_hosp.diagnoses_icd").fetchall() == [("J1",)]


def test_a_damaged_file_of_a_store_is_named_by_its_url(
    tmp_path: Path, store: Store, warehouse: duckdb.DuckDBPyConnection
) -> None:
    folder = write_mimic(tmp_path / "mimic")
    notes = folder / "note" / "discharge.csv.gz"
    notes.write_bytes(notes.read_bytes()[:-9])
    url = store.put(folder, store.bucket())
    with pytest.raises(InputError) as error:
        load_mimic(warehouse, place_of(url), LENIENT, allowed(url))
    assert error.value.file == f"{url}/note/discharge.csv.gz"
    assert warehouse.execute("select count(*) from ground.load").fetchone() == (5,)


def test_credentialed_records_are_not_read_from_a_store_that_is_not_named(
    tmp_path: Path, store: Store, warehouse: duckdb.DuckDBPyConnection
) -> None:
    folder = write_mimic(tmp_path / "mimic")
    url = store.put(folder, store.bucket())
    with pytest.raises(RefusedError, match="do not name"):
        load_mimic(warehouse, place_of(url), LENIENT)
    assert warehouse.execute("select count(*) from ground.load").fetchone() == (0,)
    (folder / "README.txt").write_text("Release: OPENWORLD\n")
    store.put(folder, url)
    assert load_mimic(warehouse, place_of(url), LENIENT).release == "OPENWORLD"
