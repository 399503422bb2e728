"""A store behind fsspec, read-only: its answers, its errors by their kind, and copies of the files that are loaded."""

from __future__ import annotations

import errno
import io
import os
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple, TypeVar

from ground.errors import InputError

__all__ = ["RemoteFiles"]

Answer = TypeVar("Answer")


class _Copy(NamedTuple):
    """A downloaded file, and the version that the store gave for it before the download."""

    path: Path
    version: int


class _Stream(io.RawIOBase):
    """Bytes of a remote file from its beginning on."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        return _asked(lambda: int(self._file.readinto(buffer)))


class RemoteFiles:
    """The files of a store below a URL.

    Errors of the store's client become ``OSError`` without its text, which may hold signed URLs.

    Attributes:
        store: fsspec's filesystem.
    """

    def __init__(self, store: Any, url: str, key: str) -> None:
        """Open what the user named: ``url``, ``key`` within the store (which does not hold the host)."""
        self.store = store
        self._url, self._key = url.rstrip("/"), key.rstrip("/")
        self._folder: Path | None = None
        self._copies: dict[str, _Copy] = {}
        self._downloading = threading.Lock()

    def url(self, key: str) -> str:
        """Return the URL of a key, which begins as the user's did."""
        below = f"{key}/".startswith(f"{self._key}/")
        return self._url + key[len(self._key) :] if below else str(self.store.unstrip_protocol(key))

    def info(self, key: str) -> dict[str, Any]:
        """Return what the store says of a key: name, size in bytes, type."""
        return dict(_asked(lambda: self.store.info(key)))

    def names(self, key: str) -> list[str]:
        """Return the keys that lie directly in a folder."""
        return [str(name) for name in _asked(lambda: self.store.ls(key, detail=False))]

    def version(self, key: str) -> int:
        """Return a number of 63 bits that changes with the content."""
        return int(_asked(lambda: self.store.checksum(key))) % (1 << 63)

    def open(self, key: str) -> Any:
        """Open the copy of a file, or where there is none the file itself."""
        copy = self._copies.get(key)
        return copy.path.open("rb") if copy else io.BufferedReader(_Stream(_asked(lambda: self.store.open(key, "rb"))))

    def keep_in(self, folder: Path | None) -> None:
        """Keep copies in an empty folder from now on; with None, in none."""
        self._folder, self._copies = folder, {}

    def forget_all_but(self, keys: Iterable[str]) -> None:
        """Delete the copies of all other files, which nobody may be reading."""
        for key in set(self._copies) - set(keys):
            self._copies.pop(key).path.unlink(missing_ok=True)

    def copy(self, key: str) -> Path:
        """Return a copy of a file on this machine, downloaded when it is first asked for.

        Raises:
            InputError: the store fails, or sends another number of bytes than it states.
        """
        with self._downloading:
            if key not in self._copies:
                self._copies[key] = self._download(key)
            return self._copies[key].path

    def _download(self, key: str) -> _Copy:
        assert self._folder is not None, "copies are made inside `reading_from`"
        # The ending says how a file is read; two folders may hold files of one name.
        path = Path(mkdtemp(dir=self._folder), key.rpartition("/")[2])
        try:
            version, size = self.version(key), int(self.info(key)["size"])
            _asked(lambda: self.store.get_file(key, str(path)))
            if path.stat().st_size != size:
                raise OSError(errno.EIO, f"{path.stat().st_size} bytes came instead of {size}")
        except OSError as error:
            raise InputError("a file cannot be read", file=self.url(key), found=error.strerror) from error
        return _Copy(path, version)

    def unchanged(self, key: str) -> bool:
        """Tell whether a file is, as the store says now, the one that was downloaded."""
        copy = self._copies.get(key)
        if copy is None:
            return True
        self.store.invalidate_cache(self.store._parent(key))
        return self.version(key) == copy.version


def _asked(ask: Callable[[], Answer]) -> Answer:
    """Return what a store's client answers, its own errors as ``OSError`` by their kind."""
    try:
        return ask()
    except FileNotFoundError:
        raise
    except OSError as error:
        kind = os.strerror(error.errno) if error.errno else type(error).__name__
        raise OSError(error.errno or errno.EIO, f"the store refused or failed: {kind}") from None
    except Exception as error:
        raise OSError(errno.EIO, f"the store cannot be reached or read: {type(error).__name__}") from None
