"""Load files of ontologies into the warehouse: which reader reads which, and what is kept of each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import duckdb

from ground.errors import InputError
from ground.flow.fingerprints import code_digest
from ground.progress import progress
from ground.settings import LoadSettings, RemoteSettings
from ground.storage.loading import LoadedFile, LoadReport, SourceFile, finished_files, prepare, record
from ground.storage.remote import Place, Places, several
from ground.storage.scanning import scanning
from ground.storage.warehouse import add_rows, count_drop, reset_drops, transaction
from kg.ontology.content import Content, code_systems, make_tables, malformed
from kg.ontology.joining import join_release
from kg.ontology.obo import read_obo
from kg.ontology.tabular import read_icd_order, read_sssom
from kg.ontology.xmlfiles import read_medrt, read_mesh, root_of

__all__ = ["check_files", "load_ontology", "read_ontology"]

SOURCE = "ontology"
FORMATS = (
    "OBO (.obo), OBO graphs (.json), OWL (.owl), SKOS or RDF (.ttl, .nt, .rdf), SSSOM (.sssom.tsv), MED-RT or MeSH "
    "descriptors (.xml), icd10cm-order-YYYY.txt"
)
RELEASE = re.compile(r"^(?:.*/)?([^/]+)/releases?/([^/]+).*$")
"""How the OBO Foundry names a version: doid/releases/2026-07-31/subsets/a.obo, or the same as a part of an IRI."""
PREFIXES_NAMED = 5
"""Of vocabularies that are unknown, how many a load names."""


def load_ontology(
    connection: duckdb.DuckDBPyConnection,
    files: Places,
    settings: LoadSettings,
    remote: RemoteSettings = RemoteSettings(),  # noqa: B008
) -> LoadReport:
    """Load ontologies into the schema ``ontology``, instead of those that were loaded before, and join the release.

    Raises:
        InputError: a file is not there, cannot be read, has no class, or its is_a goes round in a circle.
    """
    prepare(connection)
    sources = [SourceFile(file.name, file) for file in check_files(several(files))]
    recipe = code_digest(("kg/ontology", "kg/data/code_systems.tsv"))
    loaded = finished_files(connection, SOURCE, "ontology.class", sources, recipe)
    notes: list[str] = []
    if loaded is None:
        loaded, notes = _load(connection, sources, settings, recipe)
    join_release(connection)
    return LoadReport(SOURCE, tuple(loaded), (), tuple(notes), "; ".join(file.name for file in sources))


def check_files(files: Sequence[Place]) -> list[Path]:
    """Return the files, which have to be there, on this machine, and of different names.

    Raises:
        InputError: they are not.
    """
    paths = []
    for file in files:
        if not isinstance(file, Path):
            raise InputError("ontologies are read from this machine's disk", file=file, do="download the file first")
        if not file.is_file():
            found, expected = "a folder" if file.is_dir() else None, "files of ontologies, each by name"
            raise InputError("there is no such file", file=file, found=found, expected=expected)
        paths.append(file)
    names = [path.name for path in paths]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError("two files have the same name", found=", ".join(twice), do="rename one of them")
    return paths


def _load(
    connection: duckdb.DuckDBPyConnection, sources: Sequence[SourceFile], settings: LoadSettings, recipe: str
) -> tuple[list[LoadedFile], list[str]]:
    notes: list[str] = []
    with scanning([source.path for source in sources]) as pending, transaction(connection):
        make_tables(connection)
        reset_drops(connection, f"load {SOURCE}")
        rows, releases = [], []
        with progress("load ontology", len(sources)) as advance:
            for source in sources:
                content = read_ontology(Path(str(source.path)), settings)
                content.check()
                for table, content_rows in content.tables():
                    add_rows(connection, f"ontology.{table}", content_rows)
                rows.append(len(content.columns["class"][0]) or len(content.columns["xref"][0]))
                releases.append((RELEASE.sub(r"\1 \2", content.release or content.name), source.name))
                notes += _notes(content)
                advance(1)
        notes += _unknown_vocabularies(connection)
        loaded = record(
            connection, SOURCE, "ontology.class", sources, pending.result(), rows, (), release=None, recipe=recipe
        )
        connection.executemany("update ground.load set release = ? where source = 'ontology' and file = ?", releases)
    return loaded, notes


def read_ontology(file: Path, settings: LoadSettings) -> Content:
    """Read a file of an ontology.

    Raises:
        InputError: its format is none that is known, or it cannot be read.
    """
    name = file.name.lower().removesuffix(".gz")
    if name.endswith((".obo", ".json", ".owl")):
        return read_obo(file)
    if name.endswith((".ttl", ".nt", ".rdf")):
        from kg.ontology.rdf import read_rdf

        return read_rdf(file, settings)
    if name.endswith(".tsv"):
        return read_sssom(file)
    if re.fullmatch(r"icd10cm[-_]?order.*\.txt", name):
        return read_icd_order(file)
    if name.endswith(".xml"):
        root = root_of(file)
        if reader := {"terminology": read_medrt, "DescriptorRecordSet": read_mesh}.get(root):
            return reader(file)
        raise malformed(file, f"XML that begins with <{root}>", FORMATS)
    raise malformed(file, "a name with none of these endings", FORMATS)


def _notes(content: Content) -> list[str]:
    """Return what a user should know of a file."""
    notes = [f"{content.file.name} imports {name}, which is not fetched: name its file too" for name in content.imports]
    if content.languages:
        left = ", ".join(f"{n} in {language}" for language, n in sorted(content.languages.items()))
        notes.append(f"{content.file.name}: names in other languages than load.languages are left out: {left}")
    return notes


def _unknown_vocabularies(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """Count cross-references to vocabularies that are neither known nor loaded, by prefix, as drops; say how many."""
    rows: list[tuple[str, int]] = connection.execute(
        "with target as (select coalesce(nullif(regexp_extract(target, '^https?://[^/]+'), ''), "
        "split_part(target, ':', 1)) as prefix from ontology.xref where not regexp_full_match(target, 'C[0-9]{7}')) "
        "select prefix, count(*) as n from target where not list_contains($known, prefix) "
        "and prefix not in (select split_part(id, ':', 1) from ontology.class) group by prefix order by n desc, prefix",
        {"known": [row["prefix"] for row in code_systems()]},
    ).fetchall()
    for prefix, n in rows:
        count_drop(connection, f"load {SOURCE}", f"cross-reference to an unknown vocabulary: {prefix}", n)
    named = ", ".join(f"{n:,} of {prefix}" for prefix, n in rows[:PREFIXES_NAMED])
    rest = f", and {len(rows) - PREFIXES_NAMED} prefixes more" if len(rows) > PREFIXES_NAMED else ""
    what = f"{sum(n for _, n in rows):,} cross-references name vocabularies that kg/data/code_systems.tsv lacks"
    return [f"{what}: {named}{rest}"] if rows else []
