"""OBO, OBO graphs (JSON) and OWL as OBO ontologies write it (RDF/XML), by pronto: imports are never fetched.

pronto's own views of a term refuse synonym types that are not declared and links to terms that a slim left out, as the
Disease Ontology's have them; what it keeps of each term is read instead (its version is bound in pyproject.toml).
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

from ground.storage.scanning import CHUNK_BYTES, open_bytes
from kg.ontology.content import Content, malformed

__all__ = ["read_obo"]

ABBREVIATIONS = ("OMO:0003000", "OMO:0003012", "abbreviation", "acronym")
GRAPHS = re.compile(rb'"graphs"\s*:\s*\[\s*[^\s\]]')
KINDS = {"exactMatch": "exact", "closeMatch": "close", "broadMatch": "broad", "narrowMatch": "narrow"}


def read_obo(file: Path) -> Content:
    """Read an ontology.

    Raises:
        InputError: it cannot be read, has no class, or is_a goes round in a circle.
    """
    ontology = _ontology(file)
    metadata = ontology.metadata
    if not (metadata.format_version or "1").startswith("1"):
        raise malformed(file, f"format-version {metadata.format_version}", "OBO 1.2 or 1.4")
    # The last part of the ontology's name, without an ending.
    name = (metadata.ontology or file.name).rstrip("/").rsplit("/", 1)[-1].split(".")[0]
    content = Content(file, name, metadata.data_version, imports=sorted(metadata.imports))
    terms, properties = ontology._terms, ontology._relationships.entities
    names = {property: properties[property].name for property in properties}
    for id, term in terms.entities.items():
        if term.name:
            _add(content, term, names)
            for parent in sorted(terms.lineage[id].sup if id in terms.lineage else ()):
                content.add_relation(content.own(id), "isa", content.own(parent))
    return content


def _ontology(file: Path) -> Any:
    from pronto.ontology import Ontology

    if ".json" in file.name:
        with open_bytes(file) as content:
            if not GRAPHS.search(content.read(CHUNK_BYTES)):  # over this the parser panics, and prints a trace
                raise malformed(file, 'JSON without "graphs"', "OBO graphs (JSON)")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Ontology(str(file), import_depth=0, threads=1)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # the parsers below it have errors of many kinds, of which a panic is no Exception
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        why = "none of these formats" if why.startswith("could not find a parser") else why
        raise malformed(
            file, why, "OBO 1.2 or 1.4, OBO graphs (JSON), or OWL in RDF/XML", getattr(error, "lineno", None)
        ) from error


def _add(content: Content, term: Any, properties: dict[str, str | None]) -> None:
    id, obsolete = content.own(term.id), bool(term.obsolete)
    content.add_class(id, term.name, definition=str(term.definition or ""), obsolete=obsolete)
    for other in sorted(term.alternate_ids):
        content.add_xref(id, content.own(other), "alternate")
    for other in sorted(term.replaced_by):
        content.add_xref(content.own(other), id, "alternate")
    for target in sorted({xref.id for xref in term.xrefs}):
        content.add_xref(id, target)
    for note in sorted(term.annotations):
        kind = KINDS.get(re.split("[:#/]", note.property)[-1])
        if kind:
            content.add_xref(id, getattr(note, "resource", None) or getattr(note, "literal", None) or "", kind)
    for name, kind in sorted({(synonym.description, _kind(synonym)) for synonym in term.synonyms}):
        content.add_synonym(id, name, kind)
    for property, tails in sorted(term.relationships.items()):
        for tail in sorted(tails):
            content.add_relation(id, properties.get(property) or property, content.own(tail))


def _kind(synonym: Any) -> str:
    return "abbreviation" if synonym.type in ABBREVIATIONS else str(synonym.scope or "related").lower()
