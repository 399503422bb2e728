"""Reading RRF: one DuckDB pass over a clean file, an exact pass over lines where a file is not clean.

RRF is UTF-8, one row a line, every field followed by ``|`` (UMLS Reference Manual). It has no quoting and no escaping,
a quote is a character: both are off, and a dummy last column takes what follows the last ``|``. An empty field becomes
NULL.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO

from ground.errors import InputError
from ground.storage.loading import Reject, SourceFile
from ground.storage.remote import Place
from ground.storage.scanning import open_bytes
from ground.storage.sqlfiles import quoted, quoted_files

__all__ = ["Copied", "Layout", "copy_good_rows", "read_rrf", "rows_where"]

DUMMY = "after_last_field"
# DuckDB's own limit of a line, stated so that both ways of reading refuse the same rows.
MAX_LINE_BYTES = 2_000_000
# What is no text file is not read into memory whole.
ENDLESS_BYTES = 64 << 20


def read_rrf(paths: Sequence[Place], columns: Sequence[str]) -> str:
    """Return a FROM item over RRF files; all columns are text, and a further one takes what follows the last ``|``."""
    names = ", ".join(f"{quoted(column)}: 'varchar'" for column in (*columns, DUMMY))
    return (
        f"read_csv({quoted_files(paths)}, columns = {{{names}}}, delim = '|', quote = '', escape = '', header = false, "
        f"auto_detect = false, max_line_size = {MAX_LINE_BYTES})"
    )


def _lines(files: Sequence[SourceFile]) -> Iterator[tuple[SourceFile, int, bytes]]:
    """Yield the lines that are not blank, each with its file and its 1-based number, without the line end.

    A row that a piece's end cuts is joined, and counts as a row of the piece in which it begins.
    """
    rest, begun = b"", 0
    begun_in: SourceFile | None = None
    for file in files:
        with open_bytes(file.path) as content:
            for number, line in enumerate(iter(lambda: content.readline(ENDLESS_BYTES), b""), 1):
                begun_in, begun = (begun_in, begun) if rest else (file, number)
                row = rest + line
                if len(row) >= ENDLESS_BYTES:
                    raise InputError(
                        "this is not a text file with lines",
                        file=file.path,
                        found=f"{len(row)} bytes without a line end",
                        expected="RRF: UTF-8 text, one row a line",
                    )
                rest = b"" if row.endswith(b"\n") else row
                if begun_in and not rest and (text := row[:-1].removesuffix(b"\r")):
                    yield begun_in, begun, text
    if begun_in and (text := rest.removesuffix(b"\r")):
        yield begun_in, begun, text


@dataclass(frozen=True)
class Layout:
    """What a row has: so many fields, of which the first one is an identifier where a pattern is given."""

    n_fields: int
    first: str = "the first field"
    pattern: re.Pattern[bytes] | None = None

    def fault(self, line: bytes) -> str:
        """Return what is wrong with a line; nothing where it is a row."""
        if b"\r" in line:
            return "a carriage return inside the line"
        if len(line) > MAX_LINE_BYTES:
            return f"{len(line)} bytes in one line, at most {MAX_LINE_BYTES} are read"
        if not line.isascii():
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                return f"byte 0x{line[error.start]:02x} at position {error.start + 1} of the line is not UTF-8"
        bars, is_closed = line.count(b"|"), line.endswith(b"|")
        if bars != self.n_fields or not is_closed:
            fields = bars + (not is_closed)
            none_last = "no | after the last field"
            return none_last if fields == self.n_fields else f"{fields} fields instead of {self.n_fields}"
        first = line[: line.index(b"|")]
        return f"{self.first} is none" if self.pattern and first and not self.pattern.fullmatch(first) else ""


@dataclass(frozen=True)
class Copied:
    """What an exact pass found: rows by file (refused ones too, blank lines not), and the refused rows."""

    rows: dict[str, int]
    rejects: list[Reject]


def copy_good_rows(files: Sequence[SourceFile], layout: Layout, target: IO[bytes], most_rejects: int) -> Copied:
    """Copy the well-formed rows of RRF files, in pieces or whole, with line ends made ``\\n``; report the others.

    Blank lines are no rows and are left out. The exact way: physical line numbers, a reason for each refused row.
    It stops where more than ``most_rejects`` rows were refused.

    Raises:
        InputError: the content has no lines.
    """
    copied = Copied({file.name: 0 for file in files}, [])
    for file, number, line in _lines(files):
        copied.rows[file.name] += 1
        if not (fault := layout.fault(line)):
            target.write(line + b"\n")
            continue
        copied.rejects.append(Reject(file.name, number, fault, line.decode("utf-8", errors="backslashreplace")))
        if len(copied.rejects) > most_rejects:
            break
    return copied


def rows_where(
    files: Sequence[SourceFile], test: Callable[[Sequence[str]], bool]
) -> Iterator[tuple[SourceFile, int, list[str]]]:
    """Yield file, line and fields of each row whose fields pass a test; slow."""
    for file, number, line in _lines(files):
        fields = line.decode(errors="replace").split("|")
        if test(fields):
            yield file, number, fields
