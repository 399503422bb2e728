"""The warehouse: private, bounded, offline, and all or nothing."""

from __future__ import annotations

import stat
from pathlib import Path

import duckdb
import pytest

from ground.errors import InputError
from ground.settings import RunSettings
from ground.storage import warehouse as warehouse_module
from ground.storage.warehouse import (
    _not_opened,
    arrow_batches,
    arrow_of,
    connect,
    count_drop,
    open_database,
    reset_drops,
    table_exists,
    transaction,
)

CONTRACT = {
    "load": "source file bytes sha256 rows_read rows_rejected release finished_at",
    "reject": "source file line reason raw",
    "drop": "stage reason n",
}


def columns(connection: duckdb.DuckDBPyConnection, table: str) -> str:
    rows = connection.execute(
        "select column_name from information_schema.columns where table_schema = 'ground' and table_name = ? "
        "order by ordinal_position",
        [table],
    ).fetchall()
    return " ".join(row[0] for row in rows)


@pytest.mark.parametrize(("table", "expected"), CONTRACT.items())
def test_bookkeeping_tables_have_the_columns_of_the_contract(
    warehouse: duckdb.DuckDBPyConnection, table: str, expected: str
) -> None:
    assert columns(warehouse, table) == expected


def test_only_the_owner_reads_the_file(tmp_path: Path) -> None:
    connect(tmp_path / "w.duckdb").close()
    assert stat.S_IMODE((tmp_path / "w.duckdb").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "cache").stat().st_mode) == 0o700


def test_a_reader_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    connect(path).close()
    with connect(path, read_only=True) as connection, pytest.raises(duckdb.Error):
        connection.execute("create table ground.x (a int)")


def test_nothing_is_fetched_from_the_network(warehouse: duckdb.DuckDBPyConnection) -> None:
    for name in ("autoinstall_known_extensions", "autoload_known_extensions"):
        assert warehouse.execute(f"select current_setting('{name}')").fetchone() == (False,)


def test_memory_and_threads_are_those_of_the_settings(tmp_path: Path) -> None:
    with connect(tmp_path / "w.duckdb", RunSettings(threads=1, memory_limit="1GB")) as connection:
        row = connection.execute("select current_setting('threads'), current_setting('memory_limit')").fetchone()
    assert row is not None
    assert row[0] == 1
    assert row[1] in ("953.6 MiB", "953.7 MiB", "1.0 GB")


def test_duckdb_draws_no_progress_bar_of_its_own(tmp_path: Path) -> None:
    for connection in (open_database(), open_database(tmp_path / "x.duckdb"), connect(tmp_path / "w.duckdb")):
        with connection:
            assert connection.execute("select current_setting('enable_progress_bar')").fetchall() == [(False,)]


def test_batches_are_all_the_rows_in_order_and_the_connection_is_free_after_the_last(
    warehouse: duckdb.DuckDBPyConnection,
) -> None:
    query = "select range as n from range(5000) order by n"
    batches = list(arrow_batches(warehouse, query, 2048))
    assert [one for batch in batches for one in batch["n"].to_pylist()] == list(range(5000))
    assert len(batches) > 1
    some = arrow_batches(warehouse, query, 2048)
    next(some)
    some.close()
    assert list(arrow_batches(warehouse, "select 1 as n where false", 10)) == []
    with pytest.raises(duckdb.Error, match="no number"):
        list(arrow_batches(warehouse, "select error('no number') as n", 10))
    assert warehouse.execute("select 7").fetchall() == [(7,)]


@pytest.mark.parametrize("content", [b"not a database", b"\x00" * 4096])
def test_a_file_that_is_no_database_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "w.duckdb"
    path.write_bytes(content)
    with pytest.raises(InputError, match="cannot be opened") as caught:
        connect(path)
    assert caught.value.file == str(path)
    assert caught.value.do


@pytest.mark.parametrize("content", [b"", b"\x00" * 4096])
def test_who_is_stopped_while_the_warehouse_is_made_leaves_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    path = tmp_path / "w.duckdb"

    def stopped(place: Path, *_: object, **__: object) -> None:
        place.write_bytes(content)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(warehouse_module, "open_database", stopped)
        with pytest.raises(KeyboardInterrupt):
            connect(path)
    assert list(tmp_path.iterdir()) == []
    connect(path).close()


def test_a_warehouse_that_another_process_has_just_made_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "w.duckdb"

    def other_first(place: Path, config: warehouse_module.Config, **how: bool) -> duckdb.DuckDBPyConnection:
        monkeypatch.undo()
        with connect(path) as other:
            other.execute("create table made_there as select 1 as n")
        return open_database(place, config, **how)

    monkeypatch.setattr(warehouse_module, "open_database", other_first)
    with connect(path) as connection:
        assert table_exists(connection, "main.made_there")


def test_nobody_is_told_to_delete_a_warehouse_that_cannot_be_written(tmp_path: Path) -> None:
    connect(tmp_path / "w.duckdb").close()
    said = f"IO Error: Cannot open file {str(tmp_path)!r}: Read-only file system"
    for why in (said, said.replace("Read-only file system", "Permission denied")):
        error = _not_opened(tmp_path / "w.duckdb", why)
        assert error.what == "the warehouse cannot be written" and error.do is not None
        assert "delete" not in error.do


def test_a_failed_block_leaves_nothing(warehouse: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(KeyboardInterrupt), transaction(warehouse):
        warehouse.execute("create table ground.x (a int)")
        count_drop(warehouse, "x", "y", 1)
        raise KeyboardInterrupt
    assert not table_exists(warehouse, "ground.x")
    assert warehouse.execute("select count(*) from ground.drop").fetchone() == (0,)
    with transaction(warehouse):
        warehouse.execute("create table ground.x (a int)")
    assert table_exists(warehouse, "ground.x") and not table_exists(warehouse, "kg.x")


def test_drops_are_counted_by_stage_and_none_is_not_counted(warehouse: duckdb.DuckDBPyConnection) -> None:
    for stage, n in (("one", 2), ("two", 3), ("two", 0)):
        count_drop(warehouse, stage, f"reason {n}", n)
    assert warehouse.execute("select count(*) from ground.drop").fetchone() == (2,)
    reset_drops(warehouse, "one")
    assert warehouse.execute("select stage, n from ground.drop").fetchall() == [("two", 3)]


def test_arrow_comes_also_after_a_result_that_was_left_open(warehouse: duckdb.DuckDBPyConnection) -> None:
    warehouse.execute("select * from range(10)").fetchone()
    table = arrow_of(warehouse, "select range as n from range(3) order by n")
    assert table.to_pylist() == [{"n": 0}, {"n": 1}, {"n": 2}]


@pytest.mark.parametrize("read_only", [False, True])
def test_half_a_block_of_the_catalogue_is_an_input_error(tmp_path: Path, read_only: bool) -> None:
    path = tmp_path / "w.duckdb"
    with connect(path) as connection:
        connection.execute("create table mrrel as select range as n from range(1000)")
        connection.execute("checkpoint")
        found = connection.execute("select distinct block_id from pragma_metadata_info()").fetchall()
        size = connection.execute("select block_size from pragma_database_size()").fetchall()[0][0]
    headers = 3 * 4096
    with path.open("r+b") as file:
        for (block,) in found:
            file.seek(headers + block * size + size // 2)
            file.write(bytes(range(256)))
    with pytest.raises(InputError, match="cannot be opened") as caught:
        connect(path, read_only=read_only)
    assert caught.value.file == str(path)
    assert "load again" in str(caught.value.do)
