"""SKOS, OWL and BioPortal's umls2rdf as RDF (Turtle, N-Triples, RDF/XML), by rdflib; nothing is fetched."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.parsers.expat import ParserCreate

from ground.settings import LoadSettings
from ground.storage.scanning import CHUNK_BYTES, open_bytes
from kg.ontology.content import Content, malformed

__all__ = ["read_rdf"]

OBO = "http://purl.obolibrary.org/obo/"
IN_OWL = "http://www.geneontology.org/formats/oboInOwl#"
UMLS = "http://bioportal.bioontology.org/ontologies/umls/"
SKOS = "http://www.w3.org/2004/02/skos/core#"
NAMES = {
    f"{SKOS}altLabel": "exact",
    f"{SKOS}hiddenLabel": "related",
    f"{IN_OWL}hasExactSynonym": "exact",
    f"{IN_OWL}hasRelatedSynonym": "related",
    f"{IN_OWL}hasBroadSynonym": "broad",
    f"{IN_OWL}hasNarrowSynonym": "narrow",
}
XREFS = {
    f"{IN_OWL}hasDbXref": "exact",
    f"{SKOS}exactMatch": "exact",
    f"{SKOS}closeMatch": "close",
    f"{SKOS}broadMatch": "broad",
    f"{SKOS}narrowMatch": "narrow",
    "http://www.w3.org/2002/07/owl#sameAs": "exact",
    f"{IN_OWL}hasAlternativeId": "alternate",
}
FRAMES = (f"{SKOS}inScheme", f"{SKOS}topConceptOf", f"{UMLS}hasSTY")
"""Links that say where a class is written down, not what it is."""
DEFINITIONS = (f"{SKOS}definition", f"{OBO}IAO_0000115")
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
        from rdflib import OWL, RDF, RDFS, URIRef
        from rdflib.namespace import SKOS as CORE

        self._graph = _graph(file)
        self._languages = {"", *(LANGUAGES.get(language, language.lower()) for language in settings.languages)}
        self._own_words = (RDFS.subClassOf, CORE.broader, CORE.broaderTransitive, CORE.narrower)
        self._ref: Any = URIRef
        self._owl: Any = OWL
        self._labels = (CORE.prefLabel, RDFS.label)
        imports = sorted(map(str, self._graph.objects(None, OWL.imports)))
        self.content = Content(file, file.name.split(".")[0], self._version(), imports=imports)
        for kind in (OWL.Class, RDFS.Class, CORE.Concept):
            for subject in sorted(self._graph.subjects(RDF.type, kind, unique=True)):
                if isinstance(subject, URIRef):
                    self._add(subject)

    def _version(self) -> str | None:
        for header in self._graph.subjects(
            self._ref("http://www.w3.org/1999/02/22-rdf-syntax-ns#type"), self._owl.Ontology
        ):
            for word in (self._owl.versionInfo, self._owl.versionIRI):
                for value in self._graph.objects(header, word):
                    return str(value)
        return None

    def _texts(self, subject: Any, word: Any) -> list[str]:
        """Return the texts of a property in the languages that are kept, sorted; the others are counted."""
        kept = []
        for value in self._graph.objects(subject, word):
            language = (getattr(value, "language", None) or "").split("-")[0].lower()
            if language in self._languages:
                kept.append(str(value).strip())
            else:
                self.content.languages[language] = self.content.languages.get(language, 0) + 1
        return sorted(filter(None, kept))

    def _add(self, subject: Any) -> None:
        names = [name for word in self._labels for name in self._texts(subject, word)]
        if not names:
            return
        content, id = self.content, self.content.own(str(subject))
        definition = next((text for word in DEFINITIONS for text in self._texts(subject, self._ref(word))), "")
        types = [text for text in self._texts(subject, self._ref(f"{UMLS}tui")) if text.startswith("T")]
        obsolete = any(str(value).lower() == "true" for value in self._graph.objects(subject, self._owl.deprecated))
        content.add_class(
            id, names[0], definition=definition, obsolete=obsolete, branch=" | ".join(f"STY:{tui}" for tui in types)
        )
        for name in dict.fromkeys(names[1:]):
            if name != names[0]:
                content.add_synonym(id, name, "exact")
        for word, kind in NAMES.items():
            for name in self._texts(subject, self._ref(word)):
                content.add_synonym(id, name, kind)
        for cui in self._texts(subject, self._ref(f"{UMLS}cui")):
            content.add_xref(id, f"UMLS:{cui}")
        for word, kind in XREFS.items():
            for target in sorted(map(str, self._graph.objects(subject, self._ref(word)))):
                content.add_xref(id, target, kind)
        for head, word, tail in sorted(set(self._relations(subject))):
            content.add_relation(content.own(head), word, content.own(tail))

    def _relations(self, subject: Any) -> Iterator[tuple[str, str, str]]:
        """Yield (head, property, tail) of a class: parents, existential restrictions, links to classes."""
        below, broader, transitive, narrower = self._own_words
        known = {self._ref(word) for word in (*XREFS, *FRAMES)}
        for word, value in self._graph.predicate_objects(subject):
            if word == below and not isinstance(value, self._ref):
                for property in self._graph.objects(value, self._owl.onProperty):
                    for filler in self._graph.objects(value, self._owl.someValuesFrom):
                        if isinstance(filler, self._ref):
                            yield str(subject), self._word(property), str(filler)
            elif not isinstance(value, self._ref) or word in known:
                continue
            elif word in (below, broader, transitive):
                yield str(subject), "isa", str(value)
            elif word == narrower:
                yield str(value), "isa", str(subject)
            elif self._is_class(value):
                yield str(subject), self._word(word), str(value)

    def _is_class(self, value: Any) -> bool:
        return value != self._owl.Thing and any((value, word, None) in self._graph for word in self._labels)

    def _word(self, property: Any) -> str:
        """Return a property's English name, else the last part of its IRI."""
        names = self._texts(property, self._labels[1])
        return names[0] if names else str(property).replace("#", "/").rstrip("/").rsplit("/", 1)[-1]


def _graph(file: Path) -> Any:
    import rdflib

    with open_bytes(file) as content:
        if NESTED.search(content.read(CHUNK_BYTES)):  # expat refuses a flood of them, after rdflib has copied it all
            raise malformed(file, "an entity that holds another entity", "RDF/XML with entities that hold text alone")
    suffix = file.suffix.removeprefix(".").lower()
    logging.getLogger("rdflib").setLevel(logging.ERROR)  # it warns of each odd IRI, which stays as it is
    graph = rdflib.Graph(bind_namespaces="none")
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
