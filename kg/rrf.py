"""Reading RRF: one DuckDB pass over a clean file, an exact pass over lines where a file is not clean.

RRF is UTF-8, one row a line, every field followed by ``|`` (UMLS Reference Manual). It has no quoting and no escaping,
a quote is a character: both are off, and a dummy last column takes what follows the last ``|``. An empty field becomes
NULL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO

import numpy as np
import numpy.typing as npt

from ground.errors import InputError
from ground.storage.loading import Reject, SourceFile
from ground.storage.remote import Place
from ground.storage.scanning import open_bytes
from ground.storage.sqlfiles import quoted, quoted_files

__all__ = ["Copied", "copy_good_rows", "read_rrf", "rows_where"]

DUMMY = "after_last_field"
BLOCK_BYTES = 16 << 20
# DuckDB's own limit of a line, stated so that both ways of reading refuse the same rows.
MAX_LINE_BYTES = 2_000_000

Positions = npt.NDArray[np.int64]


def read_rrf(paths: Sequence[Place], columns: Sequence[str]) -> str:
    """Return a FROM item over RRF files; all columns are text, and a further one takes what follows the last ``|``."""
    names = ", ".join(f"{quoted(column)}: 'varchar'" for column in (*columns, DUMMY))
    return (
        f"read_csv({quoted_files(paths)}, columns = {{{names}}}, delim = '|', quote = '', escape = '', header = false, "
        f"auto_detect = false, max_line_size = {MAX_LINE_BYTES})"
    )


def _blocks(files: Sequence[SourceFile]) -> Iterator[tuple[str, int, bytes]]:
    """Yield (file, line number of the block's first line, whole lines).

    A row that a piece's end cuts is joined, and counts as a row of the piece in which it begins.
    """
    rest, begun = b"", ("", 1)
    for file in files:
        line = 1
        with open_bytes(file.path) as content:
            while chunk := content.read(BLOCK_BYTES):
                first = chunk.find(b"\n") + 1
                if not first:
                    begun = begun if rest else (file.name, line)
                    rest = _grown(file, rest + chunk)
                    continue
                if rest:
                    yield *begun, rest + chunk[:first]
                    line += 1
                    chunk = chunk[first:]
                cut = chunk.rfind(b"\n") + 1
                if cut:
                    yield file.name, line, chunk[:cut]
                line += chunk.count(b"\n")
                rest, begun = chunk[cut:], (file.name, line)
    if rest:
        yield *begun, rest + b"\n"


def _grown(file: SourceFile, rest: bytes) -> bytes:
    if len(rest) > 4 * BLOCK_BYTES:
        raise InputError(
            "this is not a text file with lines",
            file=file.path,
            found=f"{len(rest)} bytes without a line end",
            expected="RRF: UTF-8 text, one row a line",
        )
    return rest


def _line_bounds(block: bytes) -> tuple[Positions, Positions, npt.NDArray[np.uint8]]:
    characters = np.frombuffer(block, dtype=np.uint8)
    ends = np.flatnonzero(characters == ord("\n"))
    starts = np.concatenate([[0], ends[:-1] + 1]).astype(np.int64)
    return starts, ends.astype(np.int64), characters


def _misencoded(block: bytes, starts: Positions) -> set[int]:
    """Return the lines of a block that are not UTF-8."""
    bad: set[int] = set()
    begin = 0
    while begin < len(block):
        try:
            block[begin:].decode("utf-8")
            break
        except UnicodeDecodeError as error:
            line = int(np.searchsorted(starts, begin + error.start, side="right")) - 1
            bad.add(line)
            begin = int(starts[line + 1]) if line + 1 < len(starts) else len(block)
    return bad


def _suspects(block: bytes, starts: Positions, ends: Positions, characters: npt.NDArray[np.uint8], n: int) -> Positions:
    """Return the lines of a block (line ends are ``\\n`` alone) that are not rows of n fields."""
    bars = np.flatnonzero(characters == ord("|"))
    fields = np.searchsorted(bars, ends) - np.searchsorted(bars, starts)
    closed = characters[np.maximum(ends - 1, 0)] == ord("|")
    bad = (fields != n) | ~closed | (ends - starts > MAX_LINE_BYTES)
    if b"\r" in block:
        returns = np.flatnonzero(characters == ord("\r"))
        bad[np.searchsorted(starts, returns, side="right") - 1] = True
    for line in _misencoded(block, starts):
        bad[line] = True
    return np.flatnonzero(bad).astype(np.int64)


def _reason(line: bytes, n: int) -> str:
    if b"\r" in line:
        return "a carriage return inside the line"
    if len(line) > MAX_LINE_BYTES:
        return f"{len(line)} bytes in one line, at most {MAX_LINE_BYTES} are read"
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"byte 0x{line[error.start]:02x} at position {error.start + 1} of the line is not UTF-8"
    fields = line.count(b"|") + (not line.endswith(b"|"))
    if fields == n:
        return "no | after the last field"
    return f"{fields} fields instead of {n}"


@dataclass(frozen=True)
class Copied:
    """What an exact pass found: rows by file (refused ones too, blank lines not), and the refused rows."""

    rows: dict[str, int]
    rejects: list[Reject]


def copy_good_rows(files: Sequence[SourceFile], n_fields: int, target: IO[bytes], most_rejects: int) -> Copied:
    """Copy the well-formed rows of RRF files, in pieces or whole, with line ends made ``\\n``; report the others.

    Blank lines are no rows and are left out. The exact way: physical line numbers, a reason for each refused row.
    It stops where more than ``most_rejects`` rows were refused.

    Raises:
        InputError: the content has no lines.
    """
    copied = Copied({file.name: 0 for file in files}, [])
    for name, first_line, raw in _blocks(files):
        block = raw.replace(b"\r\n", b"\n")
        starts, ends, characters = _line_bounds(block)
        copied.rows[name] += len(ends)
        begin = 0
        for line in _suspects(block, starts, ends, characters, n_fields).tolist():
            start, end = int(starts[line]), int(ends[line])
            target.write(block[begin:start])
            begin = end + 1
            text = block[start:end]
            if not text:
                copied.rows[name] -= 1
                continue
            readable = text.decode("utf-8", errors="backslashreplace")
            copied.rejects.append(Reject(name, first_line + line, _reason(text, n_fields), readable))
        target.write(block[begin:])
        if len(copied.rejects) > most_rejects:
            break
    return copied


def rows_where(
    files: Sequence[SourceFile], test: Callable[[Sequence[str]], bool]
) -> Iterator[tuple[SourceFile, int, list[str]]]:
    """Yield file, line and fields of each row whose fields pass a test; slow."""
    named = {file.name: file for file in files}
    for name, first_line, block in _blocks(files):
        for line, text in enumerate(block.decode(errors="replace").split("\n"), first_line):
            fields = text.rstrip("\r").split("|")
            if test(fields):
                yield named[name], line, fields
