"""SKOS, OWL and BioPortal's umls2rdf as RDF (Turtle, N-Triples, RDF/XML), by rdflib; nothing is fetched."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.parsers.expat import ParserCreate

from rdflib import OWL, RDF, RDFS, SKOS, Graph, Namespace, URIRef

from ground.settings import LoadSettings
from ground.storage.scanning import CHUNK_BYTES, open_bytes
from kg.ontology.content import Content, malformed

__all__ = ["read_rdf"]

IN_OWL = Namespace("http://www.geneontology.org/formats/oboInOwl#")
UMLS = Namespace("http://bioportal.bioontology.org/ontologies/umls/")
LABELS = (SKOS.prefLabel, RDFS.label)
NAMES = {
    SKOS.altLabel: "exact",
    SKOS.hiddenLabel: "related",
    IN_OWL.hasExactSynonym: "exact",
    IN_OWL.hasRelatedSynonym: "related",
    IN_OWL.hasBroadSynonym: "broad",
    IN_OWL.hasNarrowSynonym: "narrow",
}
XREFS = {
    IN_OWL.hasDbXref: "exact",
    SKOS.exactMatch: "exact",
    SKOS.closeMatch: "close",
    SKOS.broadMatch: "broad",
    SKOS.narrowMatch: "narrow",
    OWL.sameAs: "exact",
    IN_OWL.hasAlternativeId: "alternate",
}
FRAMES = (SKOS.inScheme, SKOS.topConceptOf, UMLS.hasSTY)
"""Links that say where a class is written down, not what it is."""
DEFINITIONS = (SKOS.definition, URIRef("http://purl.obolibrary.org/obo/IAO_0000115"))
NESTED = re.compile(rb"""<!ENTITY\s+\S+\s+(["'])(?:(?!\1).)*&\w""", re.S)
FORMATS = {"nt": "nt", "ttl": "turtle"}
LANGUAGES = {"ENG": "en", "SPA": "es", "FRE": "fr", "GER": "de", "POR": "pt", "ITA": "it", "DUT": "nl", "JPN": "ja"}
"""RDF's codes of UMLS' languages."""


def read_rdf(file: Path, settings: LoadSettings) -> Content:
    """Read an ontology. Classes are what is an owl:Class, an rdfs:Class or a skos:Concept and has a name.

    Raises:
        InputError: it cannot be read.
    """
    return _Reader(file, settings).content


class _Reader:
    def __init__(self, file: Path, settings: LoadSettings) -> None:
        self._graph = _graph(file)
        self._languages = {"", *(LANGUAGES.get(language, language.lower()) for language in settings.languages)}
        headers = self._graph.subjects(RDF.type, OWL.Ontology)
        versions = [
            str(value)
            for header in headers
            for word in (OWL.versionInfo, OWL.versionIRI)
            for value in self._graph.objects(header, word)
        ]
        imports = sorted(map(str, self._graph.objects(None, OWL.imports)))
        self.content = Content(file, file.name.split(".")[0], next(iter(versions), None), imports=imports)
        for kind in (OWL.Class, RDFS.Class, SKOS.Concept):
            for subject in sorted(self._graph.subjects(RDF.type, kind, unique=True)):
                if isinstance(subject, URIRef):
                    self._add(subject)

    def _texts(self, subject: URIRef, word: URIRef) -> list[str]:
        """Return the texts of a property in the languages that are kept, sorted; the others are counted."""
        kept = []
        for value in self._graph.objects(subject, word):
            language = (getattr(value, "language", None) or "").split("-")[0].lower()
            if language in self._languages:
                kept.append(str(value).strip())
            else:
                self.content.languages[language] = self.content.languages.get(language, 0) + 1
        return sorted(filter(None, kept))

    def _add(self, subject: URIRef) -> None:
        names = [name for word in LABELS for name in self._texts(subject, word)]
        if not names:
            return
        content, id = self.content, self.content.own(str(subject))
        definition = next((text for word in DEFINITIONS for text in self._texts(subject, word)), "")
        types = [text for text in self._texts(subject, UMLS.tui) if text.startswith("T")]
        obsolete = any(str(value).lower() == "true" for value in self._graph.objects(subject, OWL.deprecated))
        branch = " | ".join(f"STY:{tui}" for tui in types)
        content.add_class(id, names[0], definition=definition, obsolete=obsolete, branch=branch)
        for name in dict.fromkeys(names[1:]):
            if name != names[0]:
                content.add_synonym(id, name, "exact")
        for word, kind in NAMES.items():
            for name in self._texts(subject, word):
                content.add_synonym(id, name, kind)
        for cui in self._texts(subject, UMLS.cui):
            content.add_xref(id, f"UMLS:{cui}")
        for word, kind in XREFS.items():
            for target in sorted(map(str, self._graph.objects(subject, word))):
                content.add_xref(id, target, kind)
        for head, property, tail in sorted(set(self._relations(subject))):
            content.add_relation(content.own(head), property, content.own(tail))

    def _relations(self, subject: URIRef) -> Iterator[tuple[str, str, str]]:
        """Yield (head, property, tail) of a class: parents, existential restrictions, links to classes."""
        for word, value in self._graph.predicate_objects(subject):
            if word == RDFS.subClassOf and not isinstance(value, URIRef):
                for property in self._graph.objects(value, OWL.onProperty):
                    for filler in self._graph.objects(value, OWL.someValuesFrom):
                        if isinstance(filler, URIRef):
                            yield str(subject), self._word(property), str(filler)
            elif not isinstance(value, URIRef) or word in XREFS or word in FRAMES:
                continue
            elif word in (RDFS.subClassOf, SKOS.broader, SKOS.broaderTransitive):
                yield str(subject), "isa", str(value)
            elif word == SKOS.narrower:
                yield str(value), "isa", str(subject)
            elif value != OWL.Thing and any((value, label, None) in self._graph for label in LABELS):
                yield str(subject), self._word(word), str(value)

    def _word(self, property: URIRef) -> str:
        """Return a property's English name, else the last part of its IRI."""
        names = self._texts(property, RDFS.label)
        return names[0] if names else str(property).replace("#", "/").rstrip("/").rsplit("/", 1)[-1]


def _graph(file: Path) -> Any:
    with open_bytes(file) as content:
        if NESTED.search(content.read(CHUNK_BYTES)):  # expat refuses a flood of them, after rdflib has copied it all
            raise malformed(file, "an entity that holds another entity", "RDF/XML with entities that hold text alone")
    suffix = file.suffix.removeprefix(".").lower()
    logging.getLogger("rdflib").setLevel(logging.ERROR)  # it warns of each odd IRI, which stays as it is
    graph = Graph(bind_namespaces="none")
    try:
        if suffix not in FORMATS:
            # Expat refuses a flood of entities in a moment where nothing is done with what it reads, else in minutes.
            with file.open("rb") as content:
                ParserCreate().ParseFile(content)
        graph.parse(str(file), format=FORMATS.get(suffix, "xml"))
    except Exception as error:  # each of rdflib's parsers has errors of its own
        why = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        expected = "Turtle (.ttl), N-Triples (.nt), or RDF/XML (.rdf, .owl)"
        raise malformed(file, why, expected, getattr(error, "lines", None) or _line(error)) from error
    return graph


def _line(error: Exception) -> int | None:
    line = getattr(error, "getLineNumber", None)
    return line() if line else getattr(error, "lineno", None)
