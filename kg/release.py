"""What an RRF release is made of: its folder, its files (whole, in pieces or gzipped), their columns, its name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from ground import ROOT
from ground.errors import InputError
from ground.names import names_found
from ground.storage.loading import SourceFile
from ground.storage.remote import Place, at_most_one, in_order
from ground.storage.scanning import open_bytes, whole_file
from ground.storage.tables import read_table

__all__ = ["Kind", "Release", "RrfFile", "find_release"]

Kind = Literal["umls", "rxnorm"]

COLUMN_TABLE = ROOT / "kg" / "data" / "rrf_columns.tsv"
# Where a user may point: the folder of the files, or one above it.
FOLDERS: dict[Kind, tuple[str, ...]] = {
    "umls": ("META", "*/META", "*/*/META"),
    "rxnorm": ("rrf", "*/rrf", "*/*/rrf"),
}
# Pieces are named .aa, .ab, ... and any file may be gzipped (UMLS Reference Manual).
SUFFIX = re.compile(r"\.RRF(\.(?!gz)[a-z]{2})?(\.gz)?$", re.IGNORECASE)


@dataclass(frozen=True)
class Documented:
    """A line of ``rrf_columns.tsv``; ``whole``: a release without rows of it is a subset."""

    name: str
    required: bool
    whole: bool
    columns: tuple[str, ...]
    key: tuple[str, ...]


@dataclass(frozen=True)
class RrfFile(Documented):
    """An RRF file that is there, with the columns that MRFILES states: table, pieces in order, rows and bytes."""

    table: str
    pieces: tuple[SourceFile, ...]
    stated_rows: int | None
    stated_bytes: int | None


@dataclass(frozen=True)
class Release:
    """An RRF release; ``absent`` holds table and columns of each file that it lacks.

    ``lacking``: those of them without which it is a subset.
    """

    kind: Kind
    folder: Place
    name: str | None
    files: tuple[RrfFile, ...]
    absent: tuple[tuple[str, tuple[str, ...]], ...]
    lacking: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def missing_optional(self) -> tuple[str, ...]:
        """Names of the optional files that are not there."""
        return tuple(f"{table.split('.')[1].upper()}.RRF" for table, _ in self.absent)


@dataclass(frozen=True)
class Stated:
    """A row of MRFILES: a file's columns, rows and bytes."""

    columns: tuple[str, ...]
    rows: int | None
    bytes: int | None


@cache
def documented(kind: Kind) -> tuple[Documented, ...]:
    """Return the documented files of a kind of release, in the order of the table."""
    rows = read_table(COLUMN_TABLE, ("release", "file", "need", "columns", "key", "source"))
    return tuple(
        Documented(
            row["file"],
            row["need"] == "required",
            row["need"] in ("required", "whole"),
            tuple(row["columns"].split(",")),
            _key(row["key"]),
        )
        for row in rows
        if row["release"] == kind
    )


def _key(stated: str) -> tuple[str, ...]:
    return () if stated == "-" else tuple(stated.split(","))


def _pieces(folder: Place) -> dict[str, tuple[SourceFile, ...]]:
    """Return the files of a folder by stem (``MRREL``), pieces in order, of a plain and a gzipped copy the plain."""
    paths: dict[str, dict[str, Place]] = {}
    for path in in_order(folder.iterdir()):
        match = SUFFIX.search(path.name)
        if match:
            if not path.is_file():
                raise InputError(
                    "what has the name of a file of the release is not a file",
                    file=path,
                    found="a link to nothing, or a folder",
                )
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


def _lines(pieces: Sequence[SourceFile]) -> Iterable[list[str]]:
    for piece in pieces:
        with whole_file(piece.path), open_bytes(piece.path) as content:
            for line in content:
                yield line.decode("utf-8", errors="replace").rstrip("\r\n").split("|")


def _read_mrfiles(pieces: Sequence[SourceFile]) -> dict[str, Stated]:
    stated = {}
    for fields in _lines(pieces):
        if len(fields) == 7 and fields[0].upper().endswith(".RRF"):
            rows, size = (int(text) if text.isdigit() else None for text in fields[4:6])
            stated[fields[0].upper().removesuffix(".RRF")] = Stated(tuple(fields[2].split(",")), rows, size)
    return stated


def _check_columns(mrfiles: Place, file: Documented, stated: Stated) -> None:
    """Refuse columns that the flow cannot work with: one that is documented is missing, or one is named twice."""
    lacking = [column for column in file.columns if column not in stated.columns]
    if lacking or len(set(stated.columns)) != len(stated.columns):
        raise InputError(
            f"MRFILES states other columns for {file.name}",
            file=mrfiles,
            found=names_found(stated.columns),
            expected=",".join(file.columns),
        )


def _rrf_file(
    kind: Kind, file: Documented, pieces: dict[str, tuple[SourceFile, ...]], mrfiles: dict[str, Stated]
) -> RrfFile:
    stated = mrfiles.get(file.name)
    if stated is not None:
        _check_columns(pieces["MRFILES"][0].path, file, stated)
    else:
        stated = Stated(file.columns, None, None)
    there = {"table": f"{kind}.{file.name.lower()}", "pieces": pieces[file.name], "columns": stated.columns}
    return RrfFile(**{**vars(file), **there}, stated_rows=stated.rows, stated_bytes=stated.bytes)


def _column_warnings(kind: Kind, files: Sequence[RrfFile], has: dict[str, tuple[SourceFile, ...]]) -> list[str]:
    if kind != "umls":
        return []
    if "MRFILES" not in has:
        return ["the release has no MRFILES.RRF: the documented columns are used, rows and bytes cannot be checked"]
    described = {"MRFILES", "MRCOLS"}
    unnamed = [file.name for file in files if file.stated_rows is None and file.name not in described]
    return [f"MRFILES does not list {name}: its documented columns are used" for name in unnamed]


def _require(kind: Kind, folder: Place, pieces: dict[str, tuple[SourceFile, ...]]) -> None:
    lacking = [file.name for file in documented(kind) if file.required and file.name not in pieces]
    if lacking:
        raise InputError(
            "required files of the release are missing: " + ", ".join(f"{name}.RRF" for name in lacking),
            file=folder,
            found=", ".join(sorted(pieces)) or "no RRF file",
            expected=", ".join(f"{file.name}.RRF" for file in documented(kind) if file.required),
        )


def _release_dat(folder: Place) -> str | None:
    for path in (folder / "release.dat", folder.parent / "release.dat"):
        if path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            match = re.search(r"^\s*umls\.release\.name\s*=\s*(\S.*?)\s*$", text, re.MULTILINE)
            if match:
                return match.group(1)
    return None


def _current_version(pieces: Sequence[SourceFile], vcui_sab: str) -> str | None:
    """Return SVER of one source in MRSAB or RXNSAB (columns RSAB and SVER are the 4th and the 7th)."""
    for fields in _lines(pieces):
        if len(fields) > 6 and fields[3] == vcui_sab and fields[6]:
            return fields[6]
    return None


def _release_name(kind: Kind, folder: Place, pieces: dict[str, tuple[SourceFile, ...]]) -> str | None:
    """Return the release's own name: of release.dat, else of the source table (MTH, RXNORM), else of the folder."""
    if kind == "umls":
        name = _release_dat(folder) or (_current_version(pieces["MRSAB"], "MTH") if "MRSAB" in pieces else None)
        pattern = r"(20\d\d[A-B][A-B])"
    else:
        name = _current_version(pieces["RXNSAB"], "RXNORM") if "RXNSAB" in pieces else None
        pattern = r"(\d{8})$"
    if name:
        return name
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
    pieces = _pieces(place)
    _require(kind, place, pieces)
    mrfiles = _read_mrfiles(pieces["MRFILES"]) if kind == "umls" and "MRFILES" in pieces else {}
    files = [_rrf_file(kind, file, pieces, mrfiles) for file in documented(kind) if file.name in pieces]
    absent = [(f"{kind}.{file.name.lower()}", file.columns) for file in documented(kind) if file.name not in pieces]
    lacking = [file.name for file in documented(kind) if file.whole and file.name not in pieces]
    warnings = _column_warnings(kind, files, pieces)
    name = _release_name(kind, place, pieces)
    return Release(kind, place, name, tuple(files), tuple(absent), tuple(lacking), tuple(warnings))
