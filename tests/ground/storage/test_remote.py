"""Places: paths of this machine and of object storage behave alike, bytes come once, the gate holds."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from ground.errors import InputError, OntogroundError, RefusedError, UsageError
from ground.settings import RemoteSettings
from ground.storage.remote import RemotePath, place_of, reading_from, require_allowed
from ground.storage.scanning import lines_at, scan_file, scanning
from ground.storage.sqlfiles import quoted_files
from tests.stores import Store

pytestmark = pytest.mark.xdist_group("object_storage")


def remote(url: str) -> RemotePath:
    place = place_of(url)
    assert isinstance(place, RemotePath)
    return place


@pytest.mark.parametrize("text", ["/data/mimiciv", "data", "C:data", "file:///data/mimiciv"])
def test_what_is_no_url_of_a_store_is_a_path(text: str) -> None:
    assert place_of(text) == Path(text.removeprefix("file://"))


@pytest.mark.parametrize(
    "text",
    [
        "s3://key:secret@bucket/mimic",
        "s3://bucket/mimic?versionId=1",
        "simplecache::s3://bucket/mimic",
        "zip://x::file:///etc/passwd",
        "s3://bucket/a::file:///etc",
        "s3://bucket/open/../closed",
        "https://host/open/%2e%2e/closed",
        "nosuchstore://bucket/mimic",
    ],
)
def test_a_url_that_hides_something_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(UsageError) as error:
        place_of(text)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("url", ["memory://mimic/3.1", "memory:///mimic/3.1/", "s3://bucket/mimic"])
def test_a_place_keeps_the_name_that_it_was_given(store: Store, url: str) -> None:
    assert store.files is not None
    place = remote(url)
    file = place / "hosp" / "a.csv"
    assert (str(place), str(file)) == (url.rstrip("/"), f"{url.rstrip('/')}/hosp/a.csv")


def test_folders_of_a_store_are_listed_as_folders_on_disk(tmp_path: Path, store: Store) -> None:
    names = ["a.txt", "x/hosp/patients.csv", "x/3.1/hosp/[odd] name*.csv", "x/3.1/note/discharge.csv.gz"]
    for name in names:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name, encoding="utf-8")
    folder = remote(store.put(tmp_path, store.bucket()))
    for pattern in ("*", "a*", "*/hosp", "*/*/hosp", "*/*/*/*.csv", "nothing/*", "a.txt/*"):
        on_disk = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.glob(pattern))
        assert sorted(path.relative_to(folder) for path in folder.glob(pattern)) == on_disk, pattern
    below = folder / "x" / "3.1"
    here = tmp_path / "x" / "3.1"
    assert sorted(path.name for path in below.iterdir()) == sorted(path.name for path in here.iterdir())
    assert (below.is_dir(), below.is_file(), (below / "none").is_dir()) == (True, False, False)
    assert [path.name for path in (below / "hosp").parents[:2]] == ["3.1", "x"]
    file = folder / "x" / "hosp" / "patients.csv"
    assert (file.is_file(), file.stat().st_size, file.suffix) == (True, len(names[1]), ".csv")
    assert file.read_text() == names[1]
    assert str(file) == f"{folder}/x/hosp/patients.csv"


def test_all_who_read_a_file_share_one_download(
    tmp_path: Path, store: Store, warehouse: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = b"".join(b"%d|%d|\n" % (number, number % 7) for number in range(20_000))
    (tmp_path / "up").mkdir()
    (tmp_path / "up" / "rows").write_bytes(lines)
    folder = remote(store.put(tmp_path / "up", store.bucket()))
    fetched: list[str] = []
    fetch = folder.files.store.get_file

    def spied(key: str, copy: str) -> None:
        fetched.append(key)
        fetch(key, copy)

    monkeypatch.setattr(folder.files.store, "get_file", spied)
    path = folder / "rows"
    with reading_from(warehouse, folder), scanning([path]) as scans:
        query = f"select count(*), sum(column0) from read_csv({quoted_files([path])}, delim = '|', header = false)"
        assert warehouse.execute(query).fetchone() == (20_000, sum(range(20_000)))
        assert scans.result() == [scan_file(tmp_path / "up" / "rows")]
        assert lines_at(path, [len(lines) - 1]) == [20_000]
        copy = path.copy()
        assert copy.read_bytes() == lines
    assert fetched == [path.key]
    assert not copy.exists()


def test_a_file_that_is_replaced_while_it_is_read_is_an_error(
    tmp_path: Path, store: Store, warehouse: duckdb.DuckDBPyConnection
) -> None:
    (tmp_path / "rows").write_text("a\n")
    folder = remote(store.put(tmp_path, store.bucket()))
    with reading_from(warehouse, folder):
        (folder / "rows").copy()
        (folder / "rows").require_unchanged()
        store.files.pipe_file(f"{folder}/rows", b"b\n")
        with pytest.raises(InputError, match="replaced"):
            (folder / "rows").require_unchanged()


def test_a_file_that_vanishes_is_an_input_error_for_whoever_reads_it(store: Store) -> None:
    folder = remote(store.bucket())
    with pytest.raises(InputError, match="cannot be read"):
        scan_file(folder / "nothing")


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        (RemoteSettings(), RefusedError),
        (RemoteSettings(allow_credentialed=("s3://bucket/mim",), allow_reason="ours"), RefusedError),
        (RemoteSettings(allow_credentialed=("s3://bucket/mimic",)), RefusedError),
        (RemoteSettings(allow_credentialed=("s3://bucket/mimic",), allow_reason="ours"), None),
        (RemoteSettings(allow_credentialed=("s3://other", "s3://bucket/"), allow_reason="ours"), None),
    ],
)
def test_credentialed_data_need_a_named_store_and_a_reason(
    store: Store, settings: RemoteSettings, error: type[OntogroundError] | None
) -> None:
    assert store.files is not None
    place = place_of("s3://bucket/mimic")
    require_allowed(place, credentialed=False, settings=settings)
    require_allowed(Path("/data/mimic"), credentialed=True, settings=settings)
    if error is None:
        require_allowed(place, credentialed=True, settings=settings)
    else:
        with pytest.raises(error):
            require_allowed(place, credentialed=True, settings=settings)
