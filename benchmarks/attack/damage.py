"""Ways in which a file of rows can be damaged: bytes in, bytes out, or another thing in the file's place."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import random
import zlib
from collections.abc import Callable
from pathlib import Path

from benchmarks.attack.target import SECRET

__all__ = ["BYTES", "PLACES", "ROWS", "Content"]

Content = Callable[[bytes], bytes]


def _lines(change: Callable[[list[bytes]], list[bytes]]) -> Content:
    return lambda content: b"".join(change(content.splitlines(keepends=True)))


def _flipped(content: bytes) -> bytes:
    dice, damaged = random.Random(4), bytearray(content)
    for _ in range(8):
        damaged[dice.randrange(len(damaged))] ^= 1 << dice.randrange(8)
    return bytes(damaged)


def _fields(at: int, value: bytes, mark: bytes) -> Content:
    """Return a damage that puts a value into one field of the last row."""

    def change(content: bytes) -> bytes:
        head, _, row = content.rstrip(b"\r\n").rpartition(b"\n")
        fields = row.split(mark)
        fields[min(at, len(fields) - 1)] = value
        return head + b"\n" + mark.join(fields) + b"\n"

    return change


WORD = SECRET.encode()
# Of the content, before it is packed; {mark} parts fields.
ROWS: dict[str, Callable[[bytes], Content]] = {
    "nothing at all": lambda _: lambda _: b"",
    "the first line only": lambda _: _lines(lambda lines: lines[:1]),
    "no first line": lambda _: _lines(lambda lines: lines[1:]),
    "the first line twice": lambda _: _lines(lambda lines: lines[:1] + lines),
    "the last row twice": lambda _: _lines(lambda lines: lines + lines[-1:]),
    "a line of another file": lambda _: _lines(lambda lines: [*lines, WORD + b"\n"]),
    "half a row at the end": lambda _: lambda content: content[: -len(content.splitlines()[-1]) // 2],
    "a field too many": lambda mark: lambda content: content + content.splitlines()[-1] + mark + WORD + mark + b"\n",
    "line ends of old Macs": lambda _: lambda content: content.replace(b"\n", b"\r"),
    "line ends of Windows": lambda _: lambda content: content.replace(b"\n", b"\r\n"),
    "a line end in the middle of a row": lambda mark: lambda content: content.replace(mark, mark + b"\r", 40),
    "zero bytes": lambda _: lambda content: content + b"\0" * 4096,
    "a zero byte in a field": lambda mark: _fields(3, b"\0" + WORD, mark),
    "UTF-16": lambda _: lambda content: content.decode(errors="replace").encode("utf-16"),
    "a byte order mark": lambda _: lambda content: b"\xef\xbb\xbf" + content,
    "latin-1 in a row": lambda mark: _fields(3, b"\xe9\xe8" + WORD, mark),
    "a quote that is not closed": lambda mark: _fields(2, b'"' + WORD, mark),
    "an identifier of a half": lambda mark: _fields(1, b"95000001.5", mark),
    "an identifier of nothing": lambda mark: _fields(1, b"", mark),
    "an identifier of words": lambda mark: _fields(1, WORD, mark),
    "an identifier too large": lambda mark: _fields(1, b"9" * 30, mark),
    "semicolons for marks": lambda mark: lambda content: content.replace(mark, b";"),
    "a field of 11 MB": lambda mark: _fields(3, b"x" * 11_000_000, mark),
    "400 fields": lambda mark: lambda content: content + mark.join([WORD] * 400) + b"\n",
    "40,000 fields": lambda mark: lambda content: content + mark.join([WORD] * 40_000) + b"\n",
    "a page of HTML": lambda _: lambda _: b"<!DOCTYPE html><html><body>Sign in</body></html>\n" * 5,
    "random bytes": lambda _: lambda content: random.Random(1).randbytes(len(content)),
}
# Of the file as it lies there, packed or not.
BYTES: dict[str, Content] = {
    "cut in the middle": lambda packed: packed[: len(packed) // 2],
    "cut by a few bytes": lambda packed: packed[:-5],
    "some bits flipped": _flipped,
    "plain text called gzip, or gzip called text": lambda packed: (
        gzip.decompress(packed) if packed[:2] == b"\x1f\x8b" else gzip.compress(packed)
    ),
    "packed twice": gzip.compress,
    "packed by xz": lzma.compress,
    "packed by bzip2": bz2.compress,
    "packed by zlib": zlib.compress,
    "followed by rubbish": lambda packed: packed + WORD * 9,
}


# What stands in the file's place.
PLACES: dict[str, Callable[[Path], object]] = {
    "nothing": lambda path: None,
    "a folder": lambda path: path.mkdir(),
    "a link to nothing": lambda path: path.symlink_to("nowhere"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a pipe": os.mkfifo,
    "a device": lambda path: path.symlink_to("/dev/zero"),
}
