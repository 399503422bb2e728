"""Publishing: whole datasets only, the manifest last, nothing of others touched, what was sent is not sent again."""

from __future__ import annotations

from pathlib import Path

import pytest

from ground.errors import InputError, RefusedError, UsageError
from ground.flow.manifest import LicenceTier
from ground.settings import RemoteSettings
from ground.storage.publishing import publish
from ground.storage.remote import place_of
from tests.manifests import write_manifest
from tests.stores import Store

pytestmark = pytest.mark.xdist_group("object_storage")

NOTHING_ALLOWED = RemoteSettings()


def dataset(folder: Path, shards: dict[str, bytes], tier: LicenceTier = "open") -> Path:
    """Write a dataset's folder: shards below ``data/``, a card and the manifest that lists them."""
    (folder / "data").mkdir(parents=True)
    for name, content in shards.items():
        (folder / "data" / name).write_bytes(content)
    (folder / "README.md").write_text("card")
    write_manifest(folder, "medieval", tier)
    return folder


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_published_dataset_is_the_folder_and_is_sent_once(tmp_path: Path, store: Store) -> None:
    folder = dataset(tmp_path / "set", {"train-0.parquet": b"x" * 1000, "test-0.parquet": b"y"})
    url = f"{store.bucket()}/sets/medieval"
    done = publish(folder, place_of(url), NOTHING_ALLOWED)
    assert store.content(url) == files_of(folder)
    assert (sorted(done.sent), done.kept, done.removed) == (sorted(files_of(folder)), (), ())
    assert done.bytes_sent == sum(map(len, files_of(folder).values()))
    again = publish(folder, place_of(url), NOTHING_ALLOWED)
    assert (again.sent, sorted(again.kept), again.bytes_sent) == ((), sorted(files_of(folder)), 0)


def test_a_store_that_shows_unfinished_files_gets_them_by_another_name_first(tmp_path: Path) -> None:
    place = place_of(f"memory://{tmp_path.name}/medieval")
    folder = dataset(tmp_path / "set", {"train-0.parquet": b"x"})
    publish(folder, place, NOTHING_ALLOWED)
    publish(folder, place, NOTHING_ALLOWED)
    files = place.files.store  # type: ignore[union-attr]
    root = f"/{tmp_path.name}/medieval/"
    assert {key.removeprefix(root): files.cat_file(key) for key in files.find(root)} == files_of(folder)


def test_what_breaks_off_leaves_no_manifest_and_goes_on_where_it_was(tmp_path: Path, store: Store) -> None:
    folder = dataset(tmp_path / "set", {"a.parquet": b"first", "b.parquet": b"second"})
    (folder / "data" / "b.parquet").write_bytes(b"damage")
    url = store.bucket()
    with pytest.raises(InputError, match="not the one that was built"):
        publish(folder, place_of(url), NOTHING_ALLOWED)
    assert "manifest.json" not in store.content(url)
    (folder / "data" / "b.parquet").write_bytes(b"second")
    done = publish(folder, place_of(url), NOTHING_ALLOWED)
    assert done.kept == ("data/a.parquet",)
    assert store.content(url) == files_of(folder)


def test_another_version_is_replaced_only_where_asked_and_leaves_no_old_shard(tmp_path: Path, store: Store) -> None:
    url = store.bucket()
    shards = {"train-0-of-2.parquet": b"old", "train-1-of-2.parquet": b"old", "test-0.parquet": b"same"}
    old = dataset(tmp_path / "old", shards)
    new = dataset(tmp_path / "new", {"train-0-of-1.parquet": b"new", "test-0.parquet": b"same"})
    publish(old, place_of(url), NOTHING_ALLOWED)
    with pytest.raises(InputError, match="another version"):
        publish(new, place_of(url), NOTHING_ALLOWED)
    assert store.content(url) == files_of(old)
    done = publish(new, place_of(url), NOTHING_ALLOWED, replace=True)
    assert store.content(url) == files_of(new)
    assert done.removed == ("data/train-0-of-2.parquet", "data/train-1-of-2.parquet")
    assert "data/test-0.parquet" in done.kept


def test_a_version_that_broke_off_makes_way_for_the_next(tmp_path: Path, store: Store) -> None:
    url = store.bucket()
    old = dataset(tmp_path / "old", {"a.parquet": b"old", "b.parquet": b"old"})
    (old / "data" / "b.parquet").write_bytes(b"damage")
    with pytest.raises(InputError):
        publish(old, place_of(url), NOTHING_ALLOWED)
    new = dataset(tmp_path / "new", {"c.parquet": b"new"})
    assert publish(new, place_of(url), NOTHING_ALLOWED).removed == ("data/a.parquet",)
    assert store.content(url) == files_of(new)


def test_files_of_something_else_are_never_touched(tmp_path: Path, store: Store) -> None:
    folder = dataset(tmp_path / "set", {"a.parquet": b"a"})
    url = store.bucket()
    store.files.pipe_file(f"{url}/thesis.tex", b"mine")
    with pytest.raises(InputError, match="something else"):
        publish(folder, place_of(url), NOTHING_ALLOWED, replace=True)
    assert store.content(url) == {"thesis.tex": b"mine"}


def test_a_credentialed_dataset_needs_a_named_store(tmp_path: Path, store: Store) -> None:
    folder = dataset(tmp_path / "set", {"a.parquet": b"a"}, tier="credentialed")
    url = store.bucket()
    with pytest.raises(RefusedError):
        publish(folder, place_of(url), NOTHING_ALLOWED)
    assert store.content(url) == {}
    publish(folder, place_of(url), RemoteSettings(allow_credentialed=(url,), allow_reason="our own bucket"))
    assert store.content(url) == files_of(folder)


def test_what_is_no_whole_dataset_is_not_published(tmp_path: Path, store: Store) -> None:
    url = place_of(store.bucket())
    with pytest.raises(InputError, match="no whole dataset"):
        publish(tmp_path, url, NOTHING_ALLOWED)
    folder = dataset(tmp_path / "set", {"a.parquet": b"a"})
    (folder / "data" / "a.parquet").unlink()
    with pytest.raises(InputError, match="not there"):
        publish(folder, url, NOTHING_ALLOWED)
    with pytest.raises(UsageError, match="needs a URL"):
        publish(folder, tmp_path / "elsewhere", NOTHING_ALLOWED)


def test_a_store_that_does_not_let_us_in_is_an_input_error(tmp_path: Path, store: Store) -> None:
    assert store.files is not None
    folder = dataset(tmp_path / "set", {"a.parquet": b"a"})
    with pytest.raises(InputError, match="the store refused or failed"):
        publish(folder, place_of("s3://no-such-bucket-anywhere/set"), NOTHING_ALLOWED)
