"""One pass over a source file beside DuckDB's own: its SHA-256, its size, its line ends, and whether it is whole."""

from __future__ import annotations

import gzip
import hashlib
import io
import threading
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from ground.errors import InputError
from ground.storage.remote import Place, RemotePath

__all__ = [
    "CHUNK_BYTES", "MAX_ROW_BYTES", "FileScan", "is_gzip", "lines_at", "open_bytes", "scan_file", "scanning",
    "whole_file",
]  # fmt: skip

CHUNK_BYTES = 1 << 20
MAX_ROW_BYTES = 10_000_000
"""The longest row that is read: a note is some 10,000 characters, this leaves room for a thousand times that."""


@dataclass(frozen=True)
class FileScan:
    """What one pass over a file tells.

    Attributes:
        size: bytes on disk.
        sha256: digest of the bytes on disk, 64 hexadecimal digits.
        text_bytes: bytes of the content, decompressed where the file is gzipped.
        lines: line ends in the content, and one more where the last line has none.
        ends_line: the content ends with a line end, or is empty.
        bars: characters ``|`` in the content: RRF ends every field with one.
        closed: lines that end with ``|``.
        endless: the first line of more than some ``MAX_ROW_BYTES``, 1-based; None where there is none.
    """

    size: int
    sha256: str
    text_bytes: int
    lines: int
    ends_line: bool
    bars: int
    closed: int
    endless: int | None = None


class _HashingReader(io.RawIOBase):
    """Bytes of a file, hashed while they pass."""

    def __init__(self, file: BinaryIO) -> None:
        self._file: Any = file
        self._digest = hashlib.sha256()
        self.size = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        size: int = self._file.readinto(buffer)
        self._digest.update(memoryview(buffer)[:size])
        self.size += size
        return size

    def hexdigest(self) -> str:
        return self._digest.hexdigest()


def is_gzip(path: Place) -> bool:
    """Tell whether a file's name says that it is gzipped."""
    return path.suffix.lower() == ".gz"


def open_bytes(path: Place) -> BinaryIO:
    """Open the content of a file, decompressed where it is gzipped."""
    if not is_gzip(path):
        return path.open("rb")
    return gzip.open(path if isinstance(path, Path) else path.open(), "rb")  # type: ignore[return-value]


@contextmanager
def whole_file(path: Place) -> Iterator[None]:
    """Turn the errors of a damaged gzip stream, met while the block reads a file, into one that names the file.

    Raises:
        InputError: the file is cut off or damaged, or cannot be read at all.
    """
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(
            "a gzipped file is cut off or damaged",
            file=path,
            found=str(error),
            expected="a whole gzip stream with a matching checksum",
            do="copy or download the file again; files that were loaded before stay loaded",
        ) from error
    except OSError as error:
        raise InputError("a file cannot be read", file=path, found=error.strerror or type(error).__name__) from error


def _chunks(path: Place, reader: _HashingReader, cancelled: threading.Event) -> Iterator[bytes]:
    buffered = io.BufferedReader(reader, CHUNK_BYTES)
    content = gzip.GzipFile(fileobj=buffered) if is_gzip(path) else buffered
    while not cancelled.is_set() and (chunk := content.read(CHUNK_BYTES)):
        yield chunk


def scan_file(path: Place, cancelled: threading.Event | None = None) -> FileScan:
    """Read a file once, from its first byte to its last.

    Raises:
        InputError: a gzipped file is cut off or damaged, or the file cannot be read.
    """
    import numpy as np

    text_bytes = line_ends = bars = closed = begun = 0
    endless: int | None = None
    last = b"\n"
    with whole_file(path), path.open("rb") as file:
        reader = _HashingReader(file)
        for chunk in _chunks(path, reader, cancelled or threading.Event()):
            text_bytes += len(chunk)
            begun = len(chunk) - chunk.rfind(b"\n") - 1 if b"\n" in chunk else begun + len(chunk)
            if endless is None and begun > MAX_ROW_BYTES:
                endless = line_ends + 1
            if b"|" in chunk:  # bytes.count is slow where matches are dense
                characters = np.frombuffer(chunk, dtype=np.uint8)
                is_end, is_bar = characters == ord("\n"), characters == ord("|")
                line_ends += int(np.count_nonzero(is_end))
                bars += int(np.count_nonzero(is_bar))
                closed += int(np.count_nonzero(is_end[1:] & is_bar[:-1]))
            else:
                line_ends += chunk.count(b"\n")
            closed += last == b"|" and chunk.startswith(b"\n")
            last = chunk[-1:]
    ends_line = last == b"\n"
    lines, closed = line_ends + (not ends_line), closed + (last == b"|")
    return FileScan(reader.size, reader.hexdigest(), text_bytes, lines, ends_line, bars, closed, endless)


@contextmanager
def scanning(paths: Sequence[Place]) -> Iterator[Future[list[FileScan]]]:
    """Scan files in a thread while the block runs; a block that fails or is interrupted does not wait for the rest.

    Of a store's files only these are kept on this machine from now on.
    """
    remote = [path for path in paths if isinstance(path, RemotePath)]
    for path in remote:
        path.files.forget_all_but([other.key for other in remote])
        path.copy()
    cancelled = threading.Event()
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="scan") as pool:
        try:
            yield pool.submit(lambda: [scan_file(path, cancelled) for path in paths])
        finally:
            cancelled.set()


def lines_at(path: Place, offsets: Sequence[int]) -> list[int]:
    """Return the 1-based physical lines that hold byte offsets of the content; offsets are in ascending order."""
    lines: list[int] = []
    start, line = 0, 1
    with open_bytes(path) as content:
        while len(lines) < len(offsets) and (chunk := content.read(CHUNK_BYTES)):
            within = 0
            while len(lines) < len(offsets) and offsets[len(lines)] < start + len(chunk):
                position = offsets[len(lines)] - start
                line += chunk.count(b"\n", within, position)
                within = position
                lines.append(line)
            line += chunk.count(b"\n", within)
            start += len(chunk)
    return lines + [line] * (len(offsets) - len(lines))
