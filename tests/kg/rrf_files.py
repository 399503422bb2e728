"""Tiny RRF releases for the tests of the loader."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from kg.release import Kind, documented

__all__ = ["columns_of", "line", "write_release"]


def columns_of(name: str) -> tuple[str, ...]:
    """Documented columns of a file."""
    kinds: tuple[Kind, ...] = ("umls", "rxnorm")
    return next(file.columns for kind in kinds for file in documented(kind) if file.name == name)


def line(name: str, **values: str) -> str:
    """One RRF row with some fields filled in."""
    return "".join(f"{values.get(column, '')}|" for column in columns_of(name)) + "\n"


def write_release(folder: Path, *, concepts: int = 200, extra: Sequence[str] = ()) -> Path:
    """Write a META folder with MRCONSO, MRREL and MRSTY of some concepts."""
    folder.mkdir(parents=True, exist_ok=True)
    cuis = [f"C{number:07d}" for number in range(concepts)]
    atoms = [
        line("MRCONSO", CUI=cui, LAT="ENG", AUI=f"A{cui[1:]}", SAB="MSH", STR=f"name of {cui}", SUPPRESS="N")
        for cui in cuis
    ]
    (folder / "MRCONSO.RRF").write_text("".join([*atoms, *extra]), encoding="utf-8", newline="")
    pairs = [line("MRREL", CUI1=head, REL="CHD", CUI2=tail, RELA="isa", SAB="MSH") for head, tail in pairwise(cuis)]
    (folder / "MRREL.RRF").write_text("".join(pairs), encoding="utf-8", newline="")
    types = [line("MRSTY", CUI=cui, TUI="T047", STY="Disease or Syndrome") for cui in cuis]
    (folder / "MRSTY.RRF").write_text("".join(types), encoding="utf-8", newline="")
    return folder
