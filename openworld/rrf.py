"""RRF files, written in batches: rows, bytes and column widths are counted on the way, for MRFILES and MRCOLS."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import polars as pl

from ground.storage.tables import read_table
from openworld.world import DATA

__all__ = ["Layout", "Row", "RrfFile", "Widths", "layouts", "open_rrf", "write_catalogue"]

Row = dict[str, str]
"""The fields of a row by column, without the empty ones."""
CATALOGUE = ("MRFILES.RRF", "MRCOLS.RRF")
FIXED_POINT_ROUNDS = 30


@dataclass(frozen=True, slots=True)
class Layout:
    """Name, description and columns of one RRF file."""

    file: str
    description: str
    columns: tuple[str, ...]


@dataclass(slots=True)
class Widths:
    """Characters of one column over all rows."""

    shortest: int
    longest: int
    total: int


def layouts() -> dict[str, Layout]:
    """Return file name -> layout."""
    rows = read_table(DATA / "rrf_files.tsv", ("file", "description", "columns", "source"))
    return {row["file"]: Layout(row["file"], row["description"], tuple(row["columns"].split(","))) for row in rows}


class RrfFile:
    """One file that is being written; ``rows``, ``size`` (bytes) and ``widths`` describe what was written so far."""

    def __init__(self, layout: Layout, stream: BinaryIO) -> None:
        self.layout = layout
        self.rows = 0
        self.size = 0
        self.widths: list[Widths] | None = None
        self._stream = stream

    def write(self, rows: Iterable[Row]) -> None:
        """Write rows; a column that a row lacks is empty."""
        self.write_frame(pl.DataFrame(list(rows), schema=dict.fromkeys(self.layout.columns, pl.String)))

    def write_frame(self, frame: pl.DataFrame) -> None:
        """Write a batch of text; a column that it lacks is empty."""
        if frame.is_empty():
            return
        lacking = [pl.lit("").alias(name) for name in self.layout.columns if name not in frame.columns]
        frame = frame.with_columns(lacking).select(self.layout.columns).fill_null("")
        lengths = frame.select(pl.all().str.len_chars().cast(pl.Int64))
        measured = zip(lengths.min().row(0), lengths.max().row(0), lengths.sum().row(0), strict=True)
        self._widen([Widths(*each) for each in measured])
        buffer = BytesIO()
        ended = frame.with_columns(pl.lit("").alias(""))
        ended.write_csv(buffer, include_header=False, separator="|", quote_style="never")
        data = buffer.getvalue()
        self.rows += len(frame)
        self.size += len(data)
        self._stream.write(data)

    def _widen(self, new: list[Widths]) -> None:
        if self.widths is None:
            self.widths = new
            return
        for old, each in zip(self.widths, new, strict=True):
            old.shortest = min(old.shortest, each.shortest)
            old.longest = max(old.longest, each.longest)
            old.total += each.total


@contextmanager
def open_rrf(folder: Path, layout: Layout) -> Iterator[RrfFile]:
    """Open a file of a release for writing."""
    with (folder / layout.file).open("wb") as stream:
        yield RrfFile(layout, stream)


def _file_row(file: RrfFile) -> Row:
    layout, counts = file.layout, {"CLS": len(file.layout.columns), "RWS": file.rows, "BTS": file.size}
    row = {"FIL": layout.file, "DES": layout.description, "FMT": ",".join(layout.columns)}
    return row | {name: str(count) for name, count in counts.items()}


def _column_rows(file: RrfFile) -> Iterator[Row]:
    widths = file.widths or [Widths(0, 0, 0) for _ in file.layout.columns]
    for column, width in zip(file.layout.columns, widths, strict=True):
        mean = width.total / file.rows if file.rows else 0.0
        yield {
            "COL": column,
            "DES": f"{column} of {file.layout.file.removesuffix('.RRF')}",
            "MIN": str(width.shortest),
            "AV": f"{mean:.2f}",
            "MAX": str(width.longest),
            "FIL": file.layout.file,
            "DTY": f"varchar({max(width.longest, 1)})",
        }


def _catalogue(known: list[RrfFile], own: list[RrfFile]) -> tuple[list[RrfFile], list[bytes]]:
    """Write both files once, given what the round before said about themselves."""
    every = sorted([*known, *own], key=lambda file: file.layout.file)
    rows = {
        "MRFILES.RRF": [_file_row(file) for file in every],
        "MRCOLS.RRF": sorted((row for file in every for row in _column_rows(file)), key=lambda row: [*row.values()]),
    }
    written, data = [], []
    for file in own:
        buffer = BytesIO()
        again = RrfFile(file.layout, buffer)
        again.write(rows[file.layout.file])
        written.append(again)
        data.append(buffer.getvalue())
    return written, data


def write_catalogue(folder: Path, known: list[RrfFile]) -> None:
    """Write MRFILES and MRCOLS, which describe themselves too: repeated until what they say is what they are."""
    own = [RrfFile(layouts()[name], BytesIO()) for name in CATALOGUE]
    before: list[bytes] = []
    for _ in range(FIXED_POINT_ROUNDS):
        own, data = _catalogue(known, own)
        if data == before:
            break
        before = data
    for name, content in zip(CATALOGUE, before, strict=True):
        (folder / name).write_bytes(content)
