"""Put a dataset into object storage: its manifest goes last, so that a folder that has one holds a whole dataset."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ground.errors import InputError, UsageError
from ground.flow.manifest import data_files, tier_in
from ground.json_record import JsonRecord
from ground.progress import progress
from ground.settings import RemoteSettings
from ground.storage.files import sha256_of
from ground.storage.remote import Place, RemotePath, require_allowed

__all__ = ["Published", "WholeDataset", "check_file", "publish", "whole_dataset"]

MANIFEST = "manifest.json"
PAGES = ("README.md", "croissant.json")
# Exists while a dataset is being sent, and lists the files of it and of the one before, which may be removed.
PENDING = "publishing.json"
# Stores in which a file appears when its upload is complete. Elsewhere it is written beside its place and moved.
WHOLE_FILES = {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl"}
PART = ".part"


@dataclass(frozen=True)
class Published(JsonRecord):
    """What was done: files sent, files that were there already, files of an earlier dataset that were removed."""

    url: str
    licence_tier: str
    sent: tuple[str, ...]
    kept: tuple[str, ...]
    removed: tuple[str, ...]
    bytes_sent: int


@dataclass(frozen=True)
class WholeDataset:
    """A dataset's folder; ``digests`` is the SHA-256 of each data file, ``names`` all files but the manifest."""

    folder: Path
    manifest: bytes
    tier: str
    digests: dict[str, str]
    names: tuple[str, ...]


@dataclass(frozen=True)
class _TargetState:
    """What lies at the target: all files, those of datasets that were put there, and whether this manifest is there."""

    there: frozenset[str]
    theirs: frozenset[str]
    same_manifest: bool


def publish(folder: Path, target: Place, settings: RemoteSettings, *, replace: bool = False) -> Published:
    """Send a built dataset to a folder of object storage; what was sent before a stop is not sent again.

    Each file appears whole or not at all, the manifest last. A dataset that is already there is replaced only where
    asked, and has no manifest meanwhile; files that are of no dataset are never touched.

    Raises:
        InputError: the folder is no whole dataset, the target holds something else, or the store fails.
        RefusedError: the dataset is credentialed and the settings do not name the store, or give no reason.
        UsageError: the target is no URL.
    """
    if isinstance(target, Path):
        raise UsageError("publishing needs a URL", found=str(target), expected="such as s3://bucket/medieval")
    dataset = whole_dataset(folder)
    require_allowed(target, credentialed=dataset.tier != "open", settings=settings)
    with _store_errors(target):
        state = _target_state(dataset, target, replace=replace)
        wanted = [name for name in dataset.names if name not in state.there or not _is_sent(dataset, target, name)]
        kept = tuple(name for name in dataset.names if name not in wanted)
        if state.same_manifest and not wanted:
            return Published(str(target), dataset.tier, (), (*kept, MANIFEST), (), 0)
        stale = _make_way(dataset, target, state)
        size = _send(dataset, target, wanted)
    return Published(str(target), dataset.tier, (*wanted, MANIFEST), kept, stale, size + len(dataset.manifest))


def whole_dataset(folder: Path) -> WholeDataset:
    """Read what a dataset's folder holds.

    Raises:
        InputError: it has no manifest, or lacks a file that the manifest lists.
    """
    path = folder / MANIFEST
    if not path.is_file():
        do = "build it first, for example `ontoground build medieval`"
        raise InputError("this is no whole dataset", file=folder, expected=f"a folder with {MANIFEST}", do=do)
    content = path.read_bytes()
    manifest = json.loads(content)
    digests = data_files(manifest)
    lacking = [name for name in digests if not (folder / name).is_file()]
    if lacking or not digests:
        raise InputError("data files that a manifest should list are not there", file=path, found=", ".join(lacking))
    names = (*digests, *(page for page in PAGES if (folder / page).is_file()))
    return WholeDataset(folder, content, tier_in(manifest), digests, names)


def _target_state(dataset: WholeDataset, target: RemotePath, *, replace: bool) -> _TargetState:
    """Look at the target.

    Raises:
        InputError: another dataset is there and may not be replaced, or files of something else are.
    """
    there = _names_below(target)
    theirs: set[str] = set()
    if PENDING in there:
        theirs |= {PENDING, *json.loads(_content(target / PENDING))["files"]}
    same = False
    if MANIFEST in there:
        earlier = _content(target / MANIFEST)
        same = earlier == dataset.manifest
        if not (same or replace):
            do = "name another URL, or replace it with --replace"
            raise InputError("another dataset, or another version, is there", file=target, do=do)
        theirs |= {MANIFEST, *PAGES, *data_files(json.loads(earlier))}
    foreign = {name.removesuffix(PART) for name in there} - theirs - {*dataset.names, MANIFEST, PENDING}
    if foreign:
        found = f"{len(foreign)} other files, such as {min(foreign)}"
        raise InputError("the folder holds something else", file=target, found=found, expected="an empty folder")
    return _TargetState(frozenset(there), frozenset(theirs), same)


def _names_below(target: RemotePath) -> set[str]:
    store = target.files.store
    store.invalidate_cache()
    # Some stores list a folder's own marker as a file.
    keys = [RemotePath(key, target.files) for key in store.find(target.key) if not key.endswith("/")]
    return {key.relative_to(target) for key in keys if key != target}


def _is_sent(dataset: WholeDataset, target: RemotePath, name: str) -> bool:
    """Tell whether a file is there with our content: on S3 the ETag of a file sent in one piece is its MD5."""
    info = target.files.store.info((target / name).key)
    path = dataset.folder / name
    if info["size"] != path.stat().st_size or "ETag" not in info:
        return False
    with path.open("rb") as file:
        md5 = hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False))
    return str(info["ETag"]).strip('"') == md5.hexdigest()


def _make_way(dataset: WholeDataset, target: RemotePath, state: _TargetState) -> tuple[str, ...]:
    """Record what is being sent, then remove the earlier manifest and the files that are not of this dataset."""
    ours = {*dataset.names, MANIFEST}
    names = sorted((state.theirs | ours) - {PENDING})
    _write(target / PENDING, json.dumps({"files": names}).encode())
    stale = sorted((state.theirs & state.there) - ours - {PENDING})
    for name in ([MANIFEST] if MANIFEST in state.there else []) + stale:
        _remove(target / name)
    return tuple(stale)


def _send(dataset: WholeDataset, target: RemotePath, names: Iterable[str]) -> int:
    """Send files, then the manifest; return the bytes of the files.

    Raises:
        InputError: a file is not the one that the manifest lists, or did not arrive whole.
    """
    wanted, size = list(names), 0
    with progress("publish", len(wanted)) as advance:
        for name in wanted:
            path = dataset.folder / name
            check_file(path, dataset.digests.get(name))
            _write(target / name, path)
            size += path.stat().st_size
            advance(1)
    _write(target / MANIFEST, dataset.manifest)
    _remove(target / PENDING)
    return size


def check_file(path: Path, digest: str | None) -> None:
    """Check a data file against the SHA-256 that the manifest lists, if it lists one.

    Raises:
        InputError: it is another file.
    """
    if digest is not None and (actual := sha256_of(path)) != digest:
        raise InputError(
            "a data file is not the one that was built",
            file=path,
            found=f"SHA-256 {actual}",
            expected=f"SHA-256 {digest}, as {MANIFEST} lists",
            do="build the dataset again",
        )


def _write(place: RemotePath, content: Path | bytes) -> None:
    """Write a file, whole or not at all."""
    store = place.files.store
    protocols = [store.protocol] if isinstance(store.protocol, str) else store.protocol
    whole = not WHOLE_FILES.isdisjoint(protocols)
    key = place.key if whole else place.key + PART
    if isinstance(content, Path):
        store.put_file(str(content), key)
        size = content.stat().st_size
    else:
        store.pipe_file(key, content)
        size = len(content)
    if not whole:
        store.mv(key, place.key)
    store.invalidate_cache()
    if place.stat().st_size != size:
        raise InputError("a file did not arrive whole", file=place, do="publish again")


def _content(place: RemotePath) -> bytes:
    content: bytes = place.files.store.cat_file(place.key)
    return content


def _remove(place: RemotePath) -> None:
    place.files.store.rm_file(place.key)


@contextmanager
def _store_errors(target: RemotePath) -> Iterator[None]:
    """Turn what a store's client raises into one error; its text may hold signed URLs and is not shown."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        kind = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
        do = "check credentials, endpoint and rights with the store's own tools; publish again to go on"
        raise InputError("the store refused or failed", file=target, found=kind, do=do) from error
