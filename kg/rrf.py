"""Reading RRF: one DuckDB pass over a clean file, an exact pass over lines where a file is not clean.

RRF is UTF-8, one row a line, every field followed by ``|`` (UMLS Reference Manual). It has no quoting and no escaping,
a quote is a character: both are off, and a dummy last column takes what follows the last ``|``. An empty field becomes
NULL.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import IO

from ground.errors import InputError
from ground.storage.loading import Reject, SourceFile
from ground.storage.remote import Place
from ground.storage.scanning import open_bytes
from ground.storage.sqlfiles import quoted, quoted_files
from kg.release import RrfFile

__all__ = ["copy_good_rows", "places_of", "read_rrf"]

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


def _lines(files: Sequence[SourceFile]) -> Iterator[tuple[int, int, bytes]]:
    """Yield the lines that are not blank, each with the place of its file and its 1-based number, without the line end.

    A row that a piece's end cuts is joined, and counts as a row of the piece in which it begins.
    """
    rest, place, begun = b"", 0, 0
    for piece, file in enumerate(files):
        with open_bytes(file.path) as content:
            for number, line in enumerate(iter(lambda: content.readline(ENDLESS_BYTES), b""), 1):
                place, begun = (place, begun) if rest else (piece, number)
                rest += line
                if len(rest) >= ENDLESS_BYTES:
                    raise InputError(
                        "this is not a text file with lines",
                        file=file.path,
                        found=f"{len(rest)} bytes without a line end",
                        expected="RRF: UTF-8 text, one row a line",
                    )
                if rest.endswith(b"\n"):
                    if text := rest[:-1].removesuffix(b"\r"):
                        yield place, begun, text
                    rest = b""
    if text := rest.removesuffix(b"\r"):
        yield place, begun, text


def _fault(line: bytes, file: RrfFile) -> str:
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
    wanted, is_closed = len(file.columns), line.endswith(b"|")
    if (fields := line.count(b"|") + (not is_closed)) != wanted:
        return f"{fields} fields instead of {wanted}"
    if not is_closed:
        return "no | after the last field"
    first = line[: line.index(b"|")].decode()
    is_other = first and file.identifier and not re.fullmatch(file.identifier, first)
    return f"{file.columns[0]} is none" if is_other else ""


def copy_good_rows(file: RrfFile, target: IO[bytes], most_rejects: int) -> tuple[list[int], list[Reject]]:
    """Copy the well-formed rows of an RRF file, in pieces or whole, with line ends made ``\\n``.

    Blank lines are no rows and are left out. The exact way: physical line numbers, a reason for each refused row.
    It stops where more than ``most_rejects`` rows were refused.

    Returns:
        The rows of each piece (refused ones too), and the refused rows.

    Raises:
        InputError: the content has no lines.
    """
    rows, rejects = [0] * len(file.pieces), list[Reject]()
    for place, number, line in _lines(file.pieces):
        rows[place] += 1
        if not (fault := _fault(line, file)):
            target.write(line + b"\n")
            continue
        raw = line.decode("utf-8", errors="backslashreplace")
        rejects.append(Reject(file.pieces[place].name, number, fault, raw))
        if len(rejects) > most_rejects:
            break
    return rows, rejects


def places_of(file: RrfFile, key: Mapping[str, object]) -> Iterator[tuple[SourceFile, int]]:
    """Yield file and line of each row that has some values in some columns; slow."""
    wanted = {file.columns.index(name): value or "" for name, value in key.items()}
    for place, number, line in _lines(file.pieces):
        fields = line.decode(errors="replace").split("|")
        if all(at < len(fields) and fields[at] == text for at, text in wanted.items()):
            yield file.pieces[place], number
