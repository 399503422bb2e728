"""RRF releases in object storage give the tables that they give on disk: whole, in pieces, gzipped, malformed."""

from __future__ import annotations

import gzip
from pathlib import Path

import duckdb
import pytest

from ground.errors import RefusedError
from ground.settings import LoadSettings, RemoteSettings
from ground.storage.remote import place_of
from ground.storage.warehouse import connect
from kg.load import load_umls
from tests.kg.rrf_files import line, write_release
from tests.stores import Store

pytestmark = pytest.mark.xdist_group("object_storage")

TABLES = ("umls.mrconso", "umls.mrrel", "umls.mrsty", "ground.reject", "ground.drop")


def loaded(connection: duckdb.DuckDBPyConnection) -> list[list[tuple[object, ...]]]:
    rows = [connection.execute(f"from {table} order by all").fetchall() for table in TABLES]
    return [*rows, connection.execute("from ground.load select * exclude (finished_at) order by all").fetchall()]


def test_the_tables_are_those_of_the_same_release_on_disk(tmp_path: Path, store: Store) -> None:
    other = line("MRCONSO", CUI="C0000001", LAT="SPA", STR="nombre")
    meta = write_release(tmp_path / "2026AA" / "META", extra=[other, "too|few|fields|\n"])
    whole = (meta / "MRREL.RRF").read_bytes()
    (meta / "MRREL.RRF").unlink()
    # Pieces that cut a row, one of them gzipped.
    (meta / "MRREL.RRF.aa.gz").write_bytes(gzip.compress(whole[:1001]))
    (meta / "MRREL.RRF.ab.gz").write_bytes(gzip.compress(whole[1001:]))
    url = store.put(tmp_path / "2026AA", f"{store.bucket()}/umls/2026AA")
    here, there = connect(tmp_path / "here.duckdb"), connect(tmp_path / "there.duckdb")
    load_umls(here, tmp_path / "2026AA", LoadSettings())
    remote = RemoteSettings(allow_credentialed=(url,), allow_reason="our own bucket")
    report = load_umls(there, place_of(url), LoadSettings(), remote)
    assert loaded(there) == loaded(here)
    assert report.release == "2026AA"
    again = load_umls(there, place_of(url), LoadSettings(), remote)
    assert all(one.skipped_because_done for one in again.tables)


def test_a_release_is_not_read_from_a_store_that_is_not_named(
    tmp_path: Path, store: Store, warehouse: duckdb.DuckDBPyConnection
) -> None:
    url = store.put(write_release(tmp_path / "META"), store.bucket())
    with pytest.raises(RefusedError, match="do not name"):
        load_umls(warehouse, place_of(url), LoadSettings())
