"""What every reader of an ontology gives: classes, names, cross-references and relations, as columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from textwrap import shorten
from urllib.parse import quote

import duckdb
import pyarrow as pa

from ground import ROOT
from ground.errors import InputError
from ground.storage.tables import Row, read_table

__all__ = ["TABLES", "Content", "code_systems", "identifier", "make_tables", "malformed"]

TABLES = {
    "class": ("id", "name", "sab", "definition", "obsolete", "stub", "branch"),
    "synonym": ("id", "name", "kind"),
    "xref": ("id", "target", "kind"),
    "relation": ("head", "property", "tail", "sab"),
}
"""Tables of the schema ``ontology``: a row for each class (a stub is known by its name alone; branch: where it stands,
as its reader says), name, code that a class is, and edge. Each has the column ``file`` besides."""

FLAGS = ("obsolete", "stub")
SYSTEMS = ROOT / "kg" / "data" / "code_systems.tsv"
CUI = re.compile(r"C\d{7}")
IRI = re.compile(r"https?://\S+")
OBO_IRI = re.compile(r"https?://purl\.obolibrary\.org/obo/(?:[a-z]+#)?([A-Za-z][A-Za-z0-9]*)_(\S+)")
EDITION = re.compile(r"_\d{4}(_\d\d_\d\d)?$")
"""A vocabulary's edition, as in SNOMEDCT_US_2025_09_01."""


def make_tables(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the tables of the schema ``ontology``, empty."""
    for table, names in TABLES.items():
        columns = [f"{name} {'boolean' if name in FLAGS else 'varchar'} not null" for name in (*names, "file")]
        connection.execute(f"create or replace table ontology.{table} ({', '.join(columns)})")


@cache
def code_systems() -> list[Row]:
    """Return the vocabularies whose codes are known, in the order in which they name a concept."""
    return read_table(SYSTEMS, ("prefix", "names", "sab", "code", "joins", "iri", "source"))


@cache
def _known(column: str, value: str = "prefix") -> dict[str, str]:
    """Return the prefix of a vocabulary, or its source, by each of its ``names`` or by what its IRIs begin with."""
    return {name: row[value] for row in code_systems() for name in row[column].split(",")}


def identifier(text: str) -> str:
    """Return a class or code as ``PREFIX:code``, a CUI as it is, and an IRI of no known vocabulary as an ASCII IRI.

    Empty where it is none, such as ``UMLS:`` before what is no CUI.
    """
    if IRI.fullmatch(text):
        text = _short(text)
    prefix, colon, code = text.strip().partition(":")
    known = _known("names").get(EDITION.sub("", prefix).lower()) if colon else None
    if known is None or code.startswith("//"):
        if CUI.fullmatch(text.strip()):
            return text.strip()
        return quote(text.strip(), safe=":/#?&=%~@!$'()*+,;[]")
    code = code.strip()
    if known == "UMLS":
        return code if CUI.fullmatch(code) else ""
    return f"{known}:{quote(code.upper() if known.startswith('ICD') else code, safe=':/-._')}" if code else ""


def _short(iri: str) -> str:
    for start, prefix in _known("iri").items():
        if iri.startswith(start):
            return f"{prefix}:{iri.removeprefix(start)}"
    match = OBO_IRI.fullmatch(iri)
    return f"{match[1]}:{match[2]}" if match else iri


def malformed(file: Path, why: str, expected: str, line: int | None = None) -> InputError:
    """Return the error of a file that cannot be read as what it seems to be."""
    return InputError("an ontology cannot be read", file=file, line=line, found=shorten(why, 200), expected=expected)


@dataclass
class Content:
    """What a file gives.

    Attributes:
        file: where it lies.
        name: the ontology's own name, which stands before identifiers that have no prefix.
        release: its version, in its own words.
        columns: by table of `TABLES`, the values of each column.
        imports: ontologies that it names and that are not read.
        languages: names that are left out, by language.
    """

    file: Path
    name: str
    release: str | None = None
    columns: dict[str, list[list[str | bool]]] = field(
        default_factory=lambda: {table: [[] for _ in names] for table, names in TABLES.items()}
    )
    imports: list[str] = field(default_factory=list)
    languages: dict[str, int] = field(default_factory=dict)

    def own(self, text: str) -> str:
        """Return the identifier of a class; one without a prefix gets the ontology's name, so that it is no CUI."""
        known = identifier(text)
        return known if ":" in known or (known and ":" in text) else f"{self.name}:{known or text}"

    def add_class(
        self, id: str, name: str, *, definition: str = "", obsolete: bool = False, stub: bool = False, branch: str = ""
    ) -> None:
        """Add a class. A ``stub`` is one of another vocabulary, known by its name alone."""
        self._add("class", id, name, _sab(id, self.name), definition, obsolete, stub, branch)

    def add_synonym(self, id: str, name: str, kind: str) -> None:
        """Add a name of a kind: exact, narrow, broad, related or abbreviation."""
        self._add("synonym", id, name, kind)

    def add_xref(self, id: str, target: str, kind: str = "exact") -> None:
        """Add what a class is in another vocabulary: exact, close, broad, narrow, or alternate (older)."""
        target = identifier(target)
        if target and target != id:
            self._add("xref", id, target, kind)

    def add_relation(self, head: str, property: str, tail: str, sab: str = "") -> None:
        """Add a relation; its property is ``isa``, empty (below in a tree), or words, which underscores join."""
        words = re.sub(r"[^a-z0-9]+", "_", property.lower()).strip("_")
        self._add("relation", head, words, tail, sab or _sab(head, self.name))

    def _add(self, table: str, *values: str | bool) -> None:
        for column, value in zip(self.columns[table], values, strict=True):
            column.append(value)

    def tables(self) -> Iterator[tuple[str, pa.Table]]:
        """Yield each table with the name of the file."""
        for table, names in TABLES.items():
            columns = [*self.columns[table], [self.file.name] * len(self.columns[table][0])]
            kinds = [(name, pa.bool_() if name in FLAGS else pa.string()) for name in (*names, "file")]
            yield table, pa.table(columns, schema=pa.schema(kinds))

    def check(self) -> None:
        """Make sure that there are classes, and that none is its own ancestor.

        Raises:
            InputError: there is none, or is_a goes round in a circle.
        """
        if not self.columns["class"][0] and not self.columns["xref"][0]:
            raise malformed(self.file, "no class with a name", "classes, concepts or mappings")
        heads, words, tails, _ = self.columns["relation"]
        pairs = ((head, tail) for head, word, tail in zip(heads, words, tails, strict=True) if word == "isa")
        if circle := _circle(pairs):
            raise malformed(self.file, f"is_a goes round: {' is_a '.join(circle[:6])}", "a hierarchy without circles")


def _sab(id: str, name: str) -> str:
    """Return the source of a class: UMLS' abbreviation where its vocabulary is known, else its prefix."""
    prefix = id.partition(":")[0]
    return name if IRI.match(id) or CUI.match(id) else _known("prefix", "sab").get(prefix, prefix)


def _circle(pairs: Iterable[tuple[str | bool, str | bool]]) -> list[str]:
    """Return classes that are each above the one before, the last being the first again; empty where there are none."""
    from graphlib import CycleError, TopologicalSorter

    sorter: TopologicalSorter[str | bool] = TopologicalSorter()
    for head, tail in pairs:
        if head != tail:
            sorter.add(head, tail)
    try:
        sorter.prepare()
    except CycleError as error:
        return [str(id) for id in reversed(error.args[1])]
    return []
