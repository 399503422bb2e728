"""Where a release or a dataset lies: a path of this machine, or a URL of object storage, and whether it may lie there.

Object storage is read through fsspec. Credentials and the endpoint come from the environment, as the store's own tools
find them (``AWS_PROFILE``, ``AWS_ENDPOINT_URL``, ...): they are never settings, and a URL that holds one is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, TypeAlias
from urllib.parse import unquote

from ground.errors import InputError, RefusedError, UsageError
from ground.settings import RemoteSettings
from ground.storage.remote_files import RemoteFiles
from ground.storage.scratch import scratch_folder

if TYPE_CHECKING:
    import duckdb

__all__ = [
    "RULE",
    "Place",
    "Places",
    "RemotePath",
    "below",
    "in_order",
    "local_copy",
    "place_of",
    "reading_from",
    "require_allowed",
    "several",
]

RULE = (
    "PhysioNet and NLM: credentialed data stay with those who signed; a store of others may hold them only under an "
    "agreement that covers it"
)
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")
PASSWORD = re.compile(r":[^/]*@")
# fsspec opens what follows :: as another place; an address of IPv6 is in brackets.
ADDRESS = re.compile(r"\[[^\[\]]*\]")
EXTRA = "pip install 'ontoground[object-storage]'"


class Status(NamedTuple):
    """Size of a file in bytes, named as in ``os.stat_result``."""

    st_size: int


@dataclass(frozen=True, order=True)
class RemotePath:
    """A file or folder of object storage, with as much of ``pathlib.Path`` as the loaders use.

    Attributes:
        key: its path within the store (``bucket/folder/file``).
        files: the store.
    """

    key: str
    files: RemoteFiles = field(compare=False, repr=False)

    def __str__(self) -> str:
        return self.files.url(self.key)

    def __truediv__(self, name: str) -> RemotePath:
        return RemotePath(f"{self.key.rstrip('/')}/{name}", self.files)

    @property
    def name(self) -> str:
        """Last part of the key."""
        return self.key.rstrip("/").rpartition("/")[2]

    @property
    def suffix(self) -> str:
        """Ending of the name from its last dot on."""
        return Path(self.name).suffix

    @property
    def parent(self) -> RemotePath:
        """The folder that holds it; for a bucket, the bucket itself."""
        above, _, _ = self.key.rstrip("/").rpartition("/")
        return RemotePath(above, self.files) if above else self

    @property
    def parents(self) -> list[RemotePath]:
        """The folders above it, the nearest first."""
        above = self.parent
        return [] if above == self else [above, *above.parents]

    def resolve(self) -> RemotePath:
        """Return itself: a store has no links."""
        return self

    def relative_to(self, folder: RemotePath) -> str:
        """Return the key below a folder."""
        return self.key.removeprefix(folder.key.rstrip("/") + "/")

    def is_dir(self) -> bool:
        """Tell whether anything lies below it; errors as in `kind`."""
        return self.kind() == "directory"

    def is_file(self) -> bool:
        """Tell whether it is a file; errors as in `kind`."""
        return self.kind() == "file"

    def kind(self) -> str:
        """Return ``file``, ``directory`` or, where there is nothing, ``nothing``.

        Raises:
            InputError: the store cannot be reached, or does not let us in.
        """
        try:
            return str(self.files.info(self.key)["type"])
        except FileNotFoundError:
            return "nothing"
        except OSError as error:
            do = "check the credentials and the endpoint with the store's own tools"
            raise InputError("a store cannot be read", file=str(self), found=error.strerror, do=do) from error

    def iterdir(self) -> Iterator[RemotePath]:
        """Yield what lies directly in a folder (some stores list the folder's own marker too: left out)."""
        for entry in self.files.names(self.key):
            path = RemotePath(entry.rstrip("/"), self.files)
            if path.key != self.key.rstrip("/"):
                yield path

    def glob(self, pattern: str) -> Iterator[RemotePath]:
        """Yield what matches a pattern; no part of it is ``**``."""
        first, _, rest = pattern.partition("/")
        for path in self.iterdir() if self.is_dir() else ():
            if fnmatchcase(path.name, first):
                yield from path.glob(rest) if rest else (path,)

    def stat(self) -> Status:
        """Return its size."""
        return Status(int(self.files.info(self.key)["size"]))

    def version(self) -> int:
        """Return a number that changes with the content, as the store tells without reading it (S3: the ETag)."""
        return self.files.version(self.key)

    def require_unchanged(self) -> None:
        """Make sure that the file has not been replaced since it was downloaded.

        Raises:
            InputError: it was replaced meanwhile.
        """
        if not self.files.unchanged(self.key):
            raise InputError("a file was replaced while it was read", file=str(self), do="load again")

    def open(self, mode: str = "rb") -> BinaryIO:
        """Open it for reading bytes."""
        assert mode == "rb", "sources are only read"
        stream: BinaryIO = self.files.open(self.key)
        return stream

    def copy(self) -> Path:
        """Return a copy on this machine, which lasts while the block of `reading_from` runs."""
        return self.files.copy(self.key)

    def read_text(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        """Return the whole text."""
        with self.open() as content:
            return content.read().decode(encoding, errors)


Place: TypeAlias = Path | RemotePath
Places: TypeAlias = "Place | tuple[Place, ...]"


def in_order(places: Iterable[Place]) -> list[Place]:
    """Return places in the order of their parts, as paths are sorted."""
    return sorted(places, key=lambda place: str(place).split("/"))


def below(place: Place, folder: Place) -> str:
    """Return the path of a place below a folder."""
    return str(place).removeprefix(str(folder).rstrip("/") + "/")


def at_most_one(places: Sequence[Place], folder: Place, problem: str) -> Place | None:
    """Return the one place that was found below a folder, or None.

    Raises:
        InputError: there are several, such as two releases side by side.
    """
    if len(places) > 1:
        raise InputError(
            problem,
            file=folder,
            found=", ".join(below(place, folder) for place in places),
            expected="one release",
            do="name the folder of the release that you mean",
        )
    return places[0] if places else None


def place_of(text: str) -> Place:
    """Return the place that a user names: a path, or a URL such as ``s3://bucket/folder``.

    Raises:
        UsageError: the URL holds a name or password, climbs up, chains filesystems, or names a store for which no
            package is installed.
    """
    before, separator, rest = text.partition("://")
    if not separator:
        return Path(text)
    # The message does not repeat the value, which may hold a password.
    if not SCHEME.fullmatch(before) or "?" in rest or PASSWORD.search(rest) or "::" in ADDRESS.sub("", rest):
        raise UsageError(
            "a URL that holds a password, a query or another URL is not taken",
            expected="such as s3://bucket/folder",
            do="give credentials where the store's own tools find them, such as AWS_PROFILE",
        )
    scheme = before.lower()
    if ".." in unquote(rest).split("/"):
        raise UsageError("a URL that climbs up is not taken", found="..", expected=f"{scheme}://STORE/FOLDER")
    if scheme in {"file", "local"}:
        return Path("/" + rest.lstrip("/"))
    return _remote(scheme, text)


def _remote(scheme: str, url: str) -> RemotePath:
    try:
        import fsspec

        store, key = fsspec.url_to_fs(url)
    except ImportError as error:
        raise UsageError(f"{scheme}:// needs a package that is not installed", found=str(error), do=EXTRA) from error
    except ValueError as error:
        raise UsageError(f"{scheme}:// is no store that fsspec knows", expected="such as s3://bucket") from error
    store.invalidate_cache()
    return RemotePath(key, RemoteFiles(store, url, key))


def several(places: Places) -> tuple[Place, ...]:
    """Return places as a tuple, where one may stand for itself."""
    return places if isinstance(places, tuple) else (places,)


@contextmanager
def reading_from(connection: duckdb.DuckDBPyConnection, folder: Place) -> Iterator[None]:
    """Let files of a remote folder be copied while the block runs; a path of this machine needs nothing.

    Copies lie beside DuckDB's own temporary files, inside the workspace, until they are loaded.
    """
    if isinstance(folder, Path):
        yield
        return
    row = connection.execute("select current_setting('temp_directory')").fetchone()
    with scratch_folder(Path(row[0] if row and row[0] else gettempdir()) / "downloads") as copies:
        folder.files.keep_in(copies)
        try:
            yield
        finally:
            folder.files.keep_in(None)


def local_copy(place: Place) -> Path:
    """Return where a file can be read on this machine: itself, or its copy inside the block of `reading_from`."""
    return place if isinstance(place, Path) else place.copy()


def require_allowed(place: Place, *, credentialed: bool, settings: RemoteSettings) -> None:
    """Let credentialed data be in object storage only where the settings name the store and say why.

    Raises:
        RefusedError: they do not.
    """
    if isinstance(place, Path) or not credentialed:
        return
    url = f"{str(place).rstrip('/')}/"
    store = next((name for name in settings.allow_credentialed if url.startswith(f"{name.rstrip('/')}/")), None)
    if store is None:
        raise RefusedError(
            "credentialed data are not read from or written to a store that the settings do not name",
            found=str(place),
            expected=f"a folder of this machine. {RULE}",
            do='copy the data here, or set remote.allow_credentialed = ["STORE"] and remote.allow_reason = "..."',
        )
    if not settings.allow_reason.strip():
        raise RefusedError(
            f"no reason is given why {store} may hold credentialed data",
            expected=RULE,
            do="set remote.allow_reason to the agreement or the local rule that covers it",
        )
