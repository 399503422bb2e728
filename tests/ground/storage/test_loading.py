"""What the loaders share: the scan beside DuckDB, line numbers of byte offsets, bookkeeping, resume after a kill."""

from __future__ import annotations

import gzip
import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ground.errors import InputError
from ground.settings import LoadSettings
from ground.storage.loading import (
    KEPT_REJECTS_OF_A_FAILED_FILE,
    LoadedFile,
    Reject,
    SourceFile,
    finished_files,
    forget_other_tables,
    prepare,
    record,
    too_many_rejects,
)
from ground.storage.scanning import CHUNK_BYTES, lines_at, scan_file, scanning
from ground.storage.sqlfiles import quoted
from ground.storage.warehouse import connect

Connection = duckdb.DuckDBPyConnection


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=300) | st.text("a|\n", max_size=300).map(str.encode), packed=st.booleans())
def test_a_scan_tells_what_is_in_the_file(tmp_path: Path, content: bytes, packed: bool) -> None:
    path = tmp_path / ("file.gz" if packed else "file")
    path.write_bytes(gzip.compress(content) if packed else content)
    scan = scan_file(path)
    assert scan.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (scan.size, scan.text_bytes) == (path.stat().st_size, len(content))
    assert scan.lines == len(content.split(b"\n")) - (content.endswith(b"\n") or not content)
    assert scan.ends_line == (content.endswith(b"\n") or not content)
    assert scan.bars == content.count(b"|")
    assert scan.closed == sum(line.endswith(b"|") for line in content.split(b"\n"))


def test_a_line_that_is_read_in_two_parts_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * (CHUNK_BYTES - 1) + b"|\n")
    assert (scan_file(path).lines, scan_file(path).closed) == (1, 1)


def test_a_file_that_cannot_be_read_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        scan_file(tmp_path / "nothing")


def test_a_gzip_of_several_members_is_one_content(tmp_path: Path) -> None:
    path = tmp_path / "file.gz"
    path.write_bytes(gzip.compress(b"a|\n") + gzip.compress(b"b|\n"))
    assert (scan_file(path).lines, scan_file(path).bars) == (2, 2)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.text("ab\n", min_size=1, max_size=200).map(str.encode), data=st.data())
def test_lines_at_counts_line_ends_before_an_offset(tmp_path: Path, content: bytes, data: st.DataObject) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    offsets = sorted(data.draw(st.lists(st.integers(0, len(content) - 1), max_size=10)))
    assert lines_at(path, offsets) == [content.count(b"\n", 0, offset) + 1 for offset in offsets]


def test_a_block_that_fails_does_not_wait_for_the_scan(tmp_path: Path) -> None:
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(4 << 30)  # sparse: 4 GB would take seconds to hash
    began = time.monotonic()
    with pytest.raises(ValueError, match="stop"), scanning([path]):
        raise ValueError("stop")
    assert time.monotonic() - began < 2


def test_an_error_of_the_scan_reaches_the_block(tmp_path: Path) -> None:
    path = tmp_path / "file.gz"
    path.write_bytes(gzip.compress(b"x" * 10_000)[:-3])
    with pytest.raises(InputError, match="cut off or damaged"), scanning([path]) as pending:
        pending.result()


@pytest.fixture
def book(warehouse: Connection, tmp_path: Path) -> tuple[Connection, SourceFile]:
    """A warehouse in which one file with one refused row is recorded."""
    path = tmp_path / "T.RRF"
    path.write_text("a|\n" * 9)
    file = SourceFile("T.RRF", path)
    prepare(warehouse)
    warehouse.execute("create table umls.t (a varchar)")
    rejects = [Reject("T.RRF", 3, "it's bad", "raw ' \" \n text")]
    loaded = record(
        warehouse, "umls", "umls.t", [file], [scan_file(path)], [9], rejects, release="2025AA", recipe="columns=a"
    )
    assert loaded == [LoadedFile("umls.t", "T.RRF", 9, 1, False)]
    return warehouse, file


def test_a_record_is_found_again(book: tuple[Connection, SourceFile]) -> None:
    connection, file = book
    done = finished_files(connection, "umls", "umls.t", [file], "columns=a")
    assert done == [LoadedFile("umls.t", "T.RRF", 9, 1, True)]
    assert connection.execute("select source, file, line, reason, raw from ground.reject").fetchall() == [
        ("umls", "T.RRF", 3, "it's bad", "raw ' \" \n text")
    ]


def test_what_makes_a_load_run_again(book: tuple[Connection, SourceFile], tmp_path: Path) -> None:
    connection, file = book
    path = tmp_path / file.name

    def done(file: SourceFile, source: str = "umls", recipe: str = "columns=a") -> bool:
        return finished_files(connection, source, "umls.t", [file], recipe) is not None

    assert done(file)
    assert not done(file, recipe="columns=b")
    assert not done(file, source="rxnorm")
    assert not done(SourceFile("T.RRF.aa", file.path))
    os.utime(path, ns=(1, 1))
    assert done(file), "touched, but the same content"
    assert connection.execute("select modified_ns from ground.load_origin").fetchall() == [(file.version,)]
    path.write_text("b|\n" * 9)
    assert not done(file), "another content of the same size"
    path.write_text("a|\n" * 9)
    assert done(file)
    connection.execute("drop table umls.t")
    assert not done(file)


def test_a_second_record_replaces_the_first(book: tuple[Connection, SourceFile]) -> None:
    connection, file = book
    record(connection, "umls", "umls.t", [file], [scan_file(file.path)], [9], [], release=None, recipe="columns=a")
    for table, n in (("load", 1), ("load_origin", 1), ("reject", 0)):
        assert connection.execute(f"select count(*) from ground.{table}").fetchall() == [(n,)]


def test_tables_of_another_load_are_forgotten_in_their_schemas_only(book: tuple[Connection, SourceFile]) -> None:
    connection, _ = book
    assert forget_other_tables(connection, "umls", [], ["rxnorm"]) == []
    assert forget_other_tables(connection, "rxnorm", [], ["umls"]) == []
    assert forget_other_tables(connection, "umls", ["umls.t"], ["umls"]) == []
    assert forget_other_tables(connection, "umls", [], ["umls"]) == ["umls.t"]
    assert connection.execute("select count(*) from ground.load").fetchall() == [(0,)]


def test_a_file_that_is_given_up_keeps_its_first_rejects(warehouse: Connection, tmp_path: Path) -> None:
    file = SourceFile("T.RRF", tmp_path / "T.RRF")
    rejects = [Reject("T.RRF", n, "bad", "") for n in range(1, KEPT_REJECTS_OF_A_FAILED_FILE + 50)]
    for _ in range(2):
        error = too_many_rejects(warehouse, "umls", [file], rejects, (1049, 2000, 0.01), "better rows")
    assert warehouse.execute("select count(*), min(line) from ground.reject").fetchall() == [
        (KEPT_REJECTS_OF_A_FAILED_FILE, 1)
    ]
    assert (error.file, error.line, error.expected) == (str(file.path), 1, "better rows")


@pytest.mark.parametrize("text", ["", "'", "''", "a 'b' c", "\\'", '"', "\n", "β"])
def test_a_literal_is_read_back(warehouse: Connection, text: str) -> None:
    assert warehouse.execute(f"select {quoted(text)}").fetchall() == [(text,)]


LOADER = """
import sys
from pathlib import Path
from kg.load import load_umls
from ground.settings import LoadSettings
from ground.storage.warehouse import connect
load_umls(connect(Path(sys.argv[1])), Path(sys.argv[2]), LoadSettings(subset="a test"))
"""


# DuckDB writes blocks of its catalogue in place when it checkpoints, after the last row: no kill may fall there.
@pytest.mark.parametrize("bytes_written", [1, 2_500_000])
def test_a_killed_load_loses_no_finished_file(tmp_path: Path, bytes_written: int) -> None:
    folder = tmp_path / "META"
    folder.mkdir()
    conso = "".join(f"C{n:07d}|ENG||||||A{n}|||||||name {n}||N||\n" for n in range(60_000))
    (folder / "MRCONSO.RRF").write_text(conso)
    (folder / "MRREL.RRF").write_text("".join(f"C{n:07d}||||C{n + 1:07d}|||isa|R{n}||||||||\n" for n in range(200_000)))
    (folder / "MRSTY.RRF").write_text("C0000001|T047|||||\n")
    path = tmp_path / "warehouse.duckdb"
    process = subprocess.Popen([sys.executable, "-c", LOADER, path, folder])
    while process.poll() is None and not (path.exists() and path.stat().st_size > bytes_written):
        time.sleep(0.005)
    process.kill()
    process.wait()

    connection = connect(path)
    prepare(connection)
    finished = {row[0] for row in connection.execute("select table_name from ground.load_origin").fetchall()}
    tables = {
        f"umls.{row[0]}"
        for row in connection.execute(
            "select table_name from information_schema.tables where table_schema = 'umls'"
        ).fetchall()
    }
    assert finished <= tables
    from kg.load import load_umls

    report = load_umls(connection, folder, LoadSettings(subset="a test"))
    assert {t.table for t in report.tables if t.skipped_because_done} == finished
    for table, n in (("mrconso", 60_000), ("mrrel", 200_000), ("mrsty", 1)):
        assert connection.execute(f"select count(*) from umls.{table}").fetchall() == [(n,)]
    connection.close()


@pytest.mark.parametrize("how", ["longer", "same size and time", "another file"])
def test_a_file_that_changes_while_it_is_read_is_not_kept(warehouse: Connection, tmp_path: Path, how: str) -> None:
    path = tmp_path / "T.RRF"
    path.write_bytes(b"one|\n")
    prepare(warehouse)
    file = SourceFile("T.RRF", path)
    scan = scan_file(path)
    before = path.stat()
    if how == "another file":
        (tmp_path / "new").write_bytes(b"two|\n")
        (tmp_path / "new").replace(path)
    else:
        path.write_bytes(b"two|\n" if how == "same size and time" else b"one|\ntwo|\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(InputError, match="changed while it was read"):
        record(warehouse, "umls", "umls.t", [file], [scan], [1], [], release=None, recipe="r")
    assert warehouse.execute("select count(*) from ground.load").fetchall() == [(0,)]
    again = SourceFile("T.RRF", path)
    record(warehouse, "umls", "umls.t", [again], [scan_file(path)], [1], [], release=None, recipe="r")
    assert again.version > before.st_mtime_ns
