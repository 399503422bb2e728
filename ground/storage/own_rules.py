"""A user's own rules: files in ``rules/`` of a workspace, whose rows join tables of the package (docs/rules.md)."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ground.errors import InputError
from ground.storage.tables import Row, rows_of

__all__ = ["EXTENDABLE", "MAX_BYTES", "MAX_FIELD", "NO_RULES", "Extendable", "OwnRules"]


@dataclass(frozen=True)
class Extendable:
    """A table of the package that a workspace may add rows to; its own rows have the same columns.

    Attributes:
        file: of the package, below ``ROOT``.
        stage: the stage of the flow that reads it; those after it take its results.
        what: it holds, in words.
    """

    file: str
    stage: str
    what: str


EXTENDABLE = {
    "clinical_synonyms": Extendable("ehr/data/clinical_synonyms.tsv", "mentions", "other words for concepts"),
    "context_rules": Extendable("ehr/data/context_rules.tsv", "mentions", "words that say what is asserted"),
    "meds_codes": Extendable("ehr/data/meds_codes.tsv", "load meds", "what codes of a MEDS dataset mean"),
    "name_stops": Extendable("ehr/data/name_stops.tsv", "mentions", "names of the release that are not read"),
    "omop_note_kinds": Extendable("ehr/data/omop_note_kinds.tsv", "load omop", "what kind a note of OMOP is"),
    "omop_vocabularies": Extendable("ehr/data/omop_vocabularies.tsv", "load omop", "vocabularies of OMOP in UMLS"),
    "patterns": Extendable("kg/data/patterns.tsv", "graph", "paths that make a relation"),
    "sections": Extendable("ehr/data/sections.tsv", "sections", "headers and the sections that they open"),
}

BOM = "\ufeff"
"""Byte order mark, with which spreadsheets begin a text."""


@dataclass(frozen=True)
class OwnRules:
    """The files of own rules, as text: what is compiled from them is kept by it, and workers get it with their work.

    Attributes:
        texts: name and text of each file, by name.
        folder: where they lie.
    """

    texts: tuple[tuple[str, str], ...] = ()
    folder: Path = field(default=Path("rules"), compare=False)

    @classmethod
    def read(cls, folder: Path) -> OwnRules:
        """Read what a folder holds; without it there are no own rules. Hidden files and notes (``*.md``) are left out.

        Raises:
            InputError: the folder is a file, or a file has the name of no table, is no text in UTF-8 or is too large.
        """
        if not folder.is_dir():
            if os.path.lexists(folder):
                expected = "a folder with files of own rules"
                raise InputError("own rules are no folder", file=folder, expected=expected, do="remove or rename it")
            return cls(folder=folder)
        files = sorted(file for file in folder.iterdir() if file.name[0] != "." and file.suffix != ".md")
        return cls(tuple((file.stem, _text(file)) for file in files), folder)

    def rows(self, table: str, columns: tuple[str, ...]) -> list[Row]:
        """Return the own rows of a table.

        Raises:
            InputError: other columns than those of the table, another number of fields, or a field that is too long.
        """
        text = dict(self.texts).get(table)
        rows = [] if text is None else rows_of(text.removeprefix(BOM), self.folder / f"{table}.tsv", columns)
        for row in rows:
            if (longest := max(map(len, row.values()))) > MAX_FIELD:
                raise row.refused("a field is too long", f"{longest} characters", f"at most {MAX_FIELD}")
        return rows

    def only(self, *tables: str) -> OwnRules:
        """Return the files of some tables alone, so that what is compiled from these is shared where others differ."""
        return OwnRules(tuple(named for named in self.texts if named[0] in tables), self.folder)

    def digests(self, stage: str) -> dict[str, str]:
        """Return the SHA-256 of the files that a stage reads, for its fingerprint."""
        return {
            source["file"]: source["sha256"]
            for source in self.inputs()
            if EXTENDABLE[Path(source["file"]).stem].stage == stage
        }

    def inputs(self) -> list[dict[str, Any]]:
        """Return the files as a manifest lists what a dataset was made from."""
        return [
            {
                "source": "rules",
                "file": f"{name}.tsv",
                "bytes": len(text.encode()),
                "sha256": hashlib.sha256(text.encode()).hexdigest(),
            }
            for name, text in self.texts
        ]


MAX_BYTES = 1_000_000
MAX_FIELD = 1000
NO_RULES = OwnRules()
"""Only what ships with the package."""


def _text(file: Path) -> str:
    if file.suffix == ".tsv" and file.stem in EXTENDABLE and not file.is_file():
        raise InputError("own rules are no file", file=file, do="remove it, or put a file in its place")
    if file.suffix != ".tsv" or file.stem not in EXTENDABLE:
        known = [f"{name}.tsv" for name in EXTENDABLE]
        raise InputError(
            "no table is called so",
            file=file,
            found=file.name,
            expected=", ".join(get_close_matches(file.name, known, n=1) or known),
            do="`ontoground rules` lists the tables that a workspace can add to",
        )
    if (size := file.stat().st_size) > MAX_BYTES:
        raise InputError(
            "a file of own rules is too large", file=file, found=f"{size} bytes", expected=f"at most {MAX_BYTES}"
        )
    try:
        return file.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise InputError("a file of own rules is no text in UTF-8", file=file, found=f"byte {error.start}") from error
