"""What an RRF release is made of: its folder, its files (whole, in pieces or gzipped), their columns, its name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from ground import ROOT
from ground.errors import InputError
from ground.names import names_found
from ground.storage.loading import SourceFile
from ground.storage.remote import Place, at_most_one, in_order
from ground.storage.scanning import open_bytes, whole_file
from ground.storage.tables import read_table

__all__ = ["Kind", "Release", "RrfFile", "documented", "find_release"]

Kind = Literal["umls", "rxnorm"]
Pieces = tuple[SourceFile, ...]

COLUMN_TABLE = ROOT / "kg" / "data" / "rrf_columns.tsv"
# Where a user may point: the folder of the files, or one above it.
FOLDERS: dict[Kind, tuple[str, ...]] = {
    "umls": ("META", "*/META", "*/*/META"),
    "rxnorm": ("rrf", "*/rrf", "*/*/rrf"),
}
# Pieces are named .aa, .ab, ... and any file may be gzipped (UMLS Reference Manual).
SUFFIX = re.compile(r"\.RRF(\.(?!gz)[a-z]{2})?(\.gz)?$", re.IGNORECASE)

IDENTIFIER = {"CUI": "C[A-Z]?[0-9]+", "CUI1": "C[A-Z]?[0-9]+", "RXCUI": "[0-9]+", "RXCUI1": "[0-9]+"}
"""What the first column of a file that every release has may hold; a header line does not."""


@dataclass(frozen=True)
class RrfFile:
    """A line of ``rrf_columns.tsv``, and what a release has of it: pieces in order, what MRFILES states.

    ``whole``: a release without rows of it is a subset.
    """

    kind: Kind
    name: str
    required: bool
    whole: bool
    columns: tuple[str, ...]
    key: tuple[str, ...]
    pieces: Pieces = ()
    stated_rows: int | None = None
    stated_bytes: int | None = None

    @property
    def table(self) -> str:
        """Name in the warehouse."""
        return f"{self.kind}.{self.name.lower()}"

    @property
    def identifier(self) -> str | None:
        """What the first column holds, as a pattern, where that is known."""
        return IDENTIFIER.get(self.columns[0]) if self.whole else None


@dataclass(frozen=True)
class Release:
    """An RRF release: the files that are there, and the documented ones that are absent."""

    kind: Kind
    folder: Place
    name: str | None
    files: tuple[RrfFile, ...]
    absent: tuple[RrfFile, ...]
    warnings: tuple[str, ...]


@cache
def documented(kind: Kind) -> tuple[RrfFile, ...]:
    """Return the documented files of a kind of release, in the order of the table."""
    rows = read_table(COLUMN_TABLE, ("release", "file", "need", "columns", "key", "source"))
    return tuple(
        RrfFile(
            kind,
            row["file"],
            row["need"] == "required",
            row["need"] in ("required", "whole"),
            tuple(row["columns"].split(",")),
            () if row["key"] == "-" else tuple(row["key"].split(",")),
        )
        for row in rows
        if row["release"] == kind
    )


def _pieces(folder: Place) -> dict[str, Pieces]:
    """Return the files of a folder by stem (``MRREL``), pieces in order, of a plain and a gzipped copy the plain."""
    paths: dict[str, dict[str, Place]] = {}
    for path in in_order(folder.iterdir()):
        if match := SUFFIX.search(path.name):
            if not path.is_file():
                problem = "what has the name of a file of the release is not a file"
                raise InputError(problem, file=path, found="a link to nothing, or a folder")
            part = (match.group(1) or "").lower()
            paths.setdefault(path.name[: match.start()].upper(), {}).setdefault(part, path)
    pieces = {}
    for stem, parts in paths.items():
        chosen = [""] if "" in parts else sorted(parts)
        expected = [f".{chr(97 + place // 26)}{chr(97 + place % 26)}" for place in range(len(chosen))]
        if chosen not in ([""], expected):
            raise InputError(
                "a piece of a file is missing", file=folder, found=", ".join(chosen), expected=", ".join(expected)
            )
        pieces[stem] = tuple(SourceFile(parts[part].name, parts[part]) for part in chosen)
    return pieces


def _find_folder(kind: Kind, folder: Place) -> Place:
    wanted = next(file.name for file in documented(kind) if file.required)
    levels = [[folder]] + [in_order(folder.glob(pattern)) for pattern in FOLDERS[kind]]
    for candidates in levels:
        folders = [path for path in candidates if path.is_dir() and wanted in _pieces(path)]
        if nearest := at_most_one(folders, folder, "several releases are here"):
            return nearest
    raise InputError(
        f"no {'UMLS' if kind == 'umls' else 'RxNorm'} release is here",
        file=folder,
        found="no such folder" if not folder.is_dir() else f"no {wanted}.RRF",
        expected=f"a folder with {wanted}.RRF (or .RRF.gz, or pieces .RRF.aa, .RRF.ab), or the folder above it",
    )


def _lines(pieces: Iterable[SourceFile]) -> Iterable[list[str]]:
    for piece in pieces:
        with whole_file(piece.path), open_bytes(piece.path) as content:
            for line in content:
                yield line.decode("utf-8", errors="replace").rstrip("\r\n").split("|")


def _stated(kind: Kind, there: Mapping[str, Pieces]) -> dict[str, tuple[tuple[str, ...], int | None, int | None]]:
    """Return columns, rows and bytes of files as MRFILES states them."""
    stated = {}
    for fields in _lines(there.get("MRFILES", ()) if kind == "umls" else ()):
        if len(fields) == 7 and fields[0].upper().endswith(".RRF"):
            rows, size = (int(text) if text.isdigit() else None for text in fields[4:6])
            stated[fields[0].upper().removesuffix(".RRF")] = (tuple(fields[2].split(",")), rows, size)
    return stated


def _files(kind: Kind, there: Mapping[str, Pieces]) -> list[RrfFile]:
    """Return the files that are there; MRFILES may state columns more, none less, and none twice."""
    stated, files = _stated(kind, there), []
    for file in documented(kind):
        if file.name not in there:
            continue
        columns, rows, size = stated.get(file.name, (file.columns, None, None))
        if not set(file.columns) <= set(columns) or len(set(columns)) != len(columns):
            raise InputError(
                f"MRFILES states other columns for {file.name}",
                file=there["MRFILES"][0].path,
                found=names_found(columns),
                expected=",".join(file.columns),
            )
        files.append(replace(file, pieces=there[file.name], columns=columns, stated_rows=rows, stated_bytes=size))
    return files


def _column_warnings(kind: Kind, files: Sequence[RrfFile], there: Mapping[str, Pieces]) -> list[str]:
    if kind != "umls":
        return []
    if "MRFILES" not in there:
        return ["the release has no MRFILES.RRF: the documented columns are used, rows and bytes cannot be checked"]
    described = {"MRFILES", "MRCOLS"}
    unnamed = [file.name for file in files if file.stated_rows is None and file.name not in described]
    return [f"MRFILES does not list {name}: its documented columns are used" for name in unnamed]


def _release_dat(folder: Place) -> str | None:
    for path in (folder / "release.dat", folder.parent / "release.dat"):
        if path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            if match := re.search(r"^\s*umls\.release\.name\s*=\s*(\S.*?)\s*$", text, re.MULTILINE):
                return match.group(1)
    return None


def _release_name(kind: Kind, folder: Place, there: Mapping[str, Pieces]) -> str | None:
    """Return the release's own name: of release.dat, else of the source table (MTH, RXNORM), else of the folder."""
    table, source, pattern = {
        "umls": ("MRSAB", "MTH", r"(20\d\d[A-B][A-B])"),
        "rxnorm": ("RXNSAB", "RXNORM", r"(\d{8})$"),
    }[kind]
    if kind == "umls" and (name := _release_dat(folder)):
        return name
    # Columns RSAB and SVER are the 4th and the 7th.
    for fields in _lines(there.get(table, ())):
        if len(fields) > 6 and fields[3] == source and fields[6]:
            return fields[6]
    for part in (folder, *folder.parents[:3]):
        if match := re.search(pattern, part.name):
            return match.group(1)
    return None


def find_release(kind: Kind, folder: Place) -> Release:
    """Find an RRF release in a folder or below it.

    Raises:
        InputError: there is none, a required file is missing, or MRFILES states columns that cannot be right.
    """
    place = _find_folder(kind, folder)
    there = _pieces(place)
    required = [file.name for file in documented(kind) if file.required]
    if lacking := [name for name in required if name not in there]:
        raise InputError(
            "required files of the release are missing: " + ", ".join(f"{name}.RRF" for name in lacking),
            file=place,
            found=", ".join(sorted(there)) or "no RRF file",
            expected=", ".join(f"{name}.RRF" for name in required),
        )
    files = _files(kind, there)
    absent = tuple(file for file in documented(kind) if file.name not in there)
    warnings = _column_warnings(kind, files, there)
    return Release(kind, place, _release_name(kind, place, there), tuple(files), absent, tuple(warnings))
