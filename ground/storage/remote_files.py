"""Remote files, downloaded once for all who read them: DuckDB, the scan beside it, and whoever looks again.

fsspec's own block cache fetches one block at a time, is not made for several threads, and leaves its files behind.
"""

from __future__ import annotations

import errno
import io
import os
import tempfile
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fsspec import AbstractFileSystem

__all__ = ["RemoteFiles"]

# Requests of this size, several at once, come near the speed of a store; a header costs one of them.
BLOCK_BYTES = 8 << 20
AHEAD = 4


class _Download:
    """One remote file, fetched by blocks into a file without a name: it is gone when it is closed, or after a kill."""

    def __init__(
        self, fetch: Callable[[int, int], bytes], size: int, version: int, folder: Path, pool: ThreadPoolExecutor
    ) -> None:
        self.version = version
        self.size = size
        self._fetch = fetch
        self._pool = pool
        self._copy = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        self._lock = threading.Lock()
        self._blocks: dict[int, Future[None]] = {}

    def read_into(self, buffer: memoryview, begin: int) -> int:
        """Fill a buffer from an offset on, as far as the file goes; return the number of bytes."""
        count = min(len(buffer), self.size - begin)
        if count <= 0:
            return 0
        first, last = begin // BLOCK_BYTES, (begin + count - 1) // BLOCK_BYTES
        for block in self._wanted(first, last):
            block.result()
        done = 0
        while done < count:
            done += os.preadv(self._copy.fileno(), [buffer[done:count]], begin + done)
        return done

    def _wanted(self, first: int, last: int) -> list[Future[None]]:
        """Ask for blocks, and for some beyond them where the file is read on."""
        ahead = last + AHEAD if last else last
        with self._lock:
            for number in range(first, min(ahead, (self.size - 1) // BLOCK_BYTES) + 1):
                earlier = self._blocks.get(number)
                if earlier is None or (earlier.done() and earlier.exception() is not None):
                    self._blocks[number] = self._pool.submit(self._get, number * BLOCK_BYTES)
            return [self._blocks[number] for number in range(first, last + 1)]

    def _get(self, begin: int) -> None:
        end = min(begin + BLOCK_BYTES, self.size)
        data = self._fetch(begin, end)
        if len(data) != end - begin:
            raise OSError(errno.EIO, f"{len(data)} bytes came instead of {end - begin}")
        os.pwrite(self._copy.fileno(), data, begin)

    def close(self) -> None:
        """Give the disk space back, once no block is under way."""
        for block in self._blocks.values():
            block.cancel()
        for block in self._blocks.values():
            if not block.cancelled():
                block.exception()
        self._copy.close()


class _Reader(io.RawIOBase):
    """A reading position in a download."""

    def __init__(self, download: _Download) -> None:
        self._download = download
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._download.size}[whence]
        self._position = base + offset
        return self._position

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        count = self._download.read_into(memoryview(buffer).cast("B"), self._position)
        self._position += count
        return count


class RemoteFiles(AbstractFileSystem):  # type: ignore[misc]
    """A store, read-only, for DuckDB and for us. While there is a folder to keep downloads in, each byte comes once.

    Errors of the store's client become ``OSError`` without its text, which may hold signed URLs.

    Args:
        store: the filesystem.
        url: what the user named; files below keep it as their beginning, hosts too, which keys do not hold.
        key: the same within the store.
    """

    cachable = False

    def __init__(self, store: AbstractFileSystem, url: str, key: str) -> None:
        super().__init__()
        self.store = store
        self._root = (url.rstrip("/"), key.rstrip("/"))
        protocol = store.protocol
        self.protocol = (protocol,) if isinstance(protocol, str) else tuple(protocol)
        self._folder: Path | None = None
        self._pool: ThreadPoolExecutor | None = None
        self._downloads: dict[str, _Download] = {}
        self._opening = threading.Lock()

    def keep_in(self, folder: Path | None) -> None:
        """Keep downloads in a folder from now on; with None, forget them all and read straight from the store."""
        self.forget_all_but(())
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        self._folder = folder
        self._pool = ThreadPoolExecutor(AHEAD, thread_name_prefix="download") if folder else None

    def forget_all_but(self, keys: Iterable[str]) -> None:
        """Drop the downloads of all other files, which nobody may be reading."""
        for key in set(self._downloads) - set(keys):
            self._downloads.pop(key).close()

    def version(self, path: str) -> int:
        """Return a number of 63 bits that changes with the content."""
        return int(_said(lambda: self.store.checksum(self._strip_protocol(path)))) % (1 << 63)

    def unchanged(self, path: str) -> bool:
        """Tell whether a file is, as the store says now, the one that is being downloaded."""
        key = self._strip_protocol(path)
        download = self._downloads.get(key)
        if download is None:
            return True
        self.store.invalidate_cache(self.store._parent(key))
        return self.version(key) == download.version

    def _strip_protocol(self, path: str) -> str:
        url, key = self._root
        if f"{path}/".startswith(f"{url}/"):
            return key + path[len(url) :]
        return str(self.store._strip_protocol(path))

    def unstrip_protocol(self, name: str) -> str:
        """Return the URL of a key."""
        url, key = self._root
        return url + name[len(key) :] if f"{name}/".startswith(f"{key}/") else str(self.store.unstrip_protocol(name))

    def glob(self, path: str, **_options: Any) -> list[str]:
        """Return the one file of that name: DuckDB asks, but is never given a pattern."""
        return [self._strip_protocol(path)]

    def info(self, path: str, **_options: Any) -> dict[str, Any]:
        """Return what the store says of a path: name, size in bytes, type."""
        found: dict[str, Any] = _said(lambda: self.store.info(self._strip_protocol(path)))
        return found

    def ls(self, path: str, detail: bool = True, **_options: Any) -> list[Any]:
        """List a folder."""
        found: list[Any] = _said(lambda: self.store.ls(self._strip_protocol(path), detail=detail))
        return found

    def modified(self, path: str) -> datetime:
        """Return when a file changed; a store that does not say has a fixed time, since DuckDB asks."""
        try:
            changed: datetime = self.store.modified(self._strip_protocol(path))
        except (NotImplementedError, KeyError):
            changed = datetime(1970, 1, 1, tzinfo=UTC)
        return changed

    def open(self, path: str, mode: str = "rb", **_options: Any) -> Any:
        """Open a file for reading."""
        if mode not in {"rb", "r"}:
            raise OSError(errno.EROFS, "sources are only read")
        key = self._strip_protocol(path)
        if self._folder is None or self._pool is None:
            return _said(lambda: self.store.open(key, "rb"))
        with self._opening:
            if key not in self._downloads:
                self._downloads[key] = self._download(key, self._folder, self._pool)
            return _Reader(self._downloads[key])

    def _download(self, key: str, folder: Path, pool: ThreadPoolExecutor) -> _Download:
        def fetch(begin: int, end: int) -> bytes:
            data: bytes = _said(lambda: self.store.cat_file(key, start=begin, end=end))
            return data

        return _Download(fetch, int(self.info(key)["size"]), self.version(key), folder, pool)


def _said(ask: Callable[[], Any]) -> Any:
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
