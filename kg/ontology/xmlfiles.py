"""MED-RT's Core file and MeSH's descriptors, element by element: memory does not grow with the file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from ground.storage.scanning import open_bytes
from kg.ontology.content import Content, malformed

__all__ = ["read_medrt", "read_mesh", "root_of"]

NAMESPACES = {"MED-RT": "MED-RT", "RxNorm": "RXNORM", "MeSH": "MSH", "SNOMED CT US Edition": "SNOMEDCT_US"}
"""MED-RT's names of vocabularies."""
DISEASE = {"may_treat", "may_prevent", "may_diagnose", "induces", "CI_with"}
"""Associations from a drug to a disease."""


def root_of(file: Path) -> str:
    """Return the name of the first element, without its namespace.

    Raises:
        InputError: it is no XML.
    """
    for element in _elements(file, ("start",)):
        return str(element.tag).rpartition("}")[2]
    return ""


def _elements(file: Path, events: tuple[Literal["start", "end"], ...] = ("end",)) -> Iterator[Element]:
    """Yield elements as they end (or begin). Entities are expanded by expat, which refuses a flood of them."""
    try:
        with open_bytes(file) as content:
            for _, element in ElementTree.iterparse(content, events):
                yield element
    except ElementTree.ParseError as error:
        raise malformed(file, str(error), "XML", error.position[0]) from error


def _text(element: Element, path: str) -> str:
    return (element.findtext(path) or "").strip()


def read_mesh(file: Path) -> Content:
    """Read MeSH's descriptors (descYYYY.xml): names, entry terms, tree numbers; pharmacological actions as classes.

    Raises:
        InputError: it is no XML.
    """
    content = Content(file, "MSH", (re.findall(r"\d{4}", file.name) or [None])[0])
    trees: dict[str, str] = {}
    for element in _elements(file):
        if element.tag != "DescriptorRecord":
            continue
        id, numbers = f"MSH:{_text(element, 'DescriptorUI')}", [node.text or "" for node in element.iter("TreeNumber")]
        name = _text(element, "DescriptorName/String")
        branch = " | ".join(f"tree:{number}" for number in numbers)
        content.add_class(id, name, definition=_text(element, "ConceptList/Concept/ScopeNote"), branch=branch)
        trees.update(dict.fromkeys(numbers, id))
        for concept in element.iter("Concept"):
            kind = "exact" if concept.get("PreferredConceptYN") == "Y" else "related"
            for term in concept.iter("Term"):
                if (text := _text(term, "String")) != name:
                    content.add_synonym(id, text, kind)
        for action in element.iter("PharmacologicalAction"):
            content.add_relation(id, "isa", f"MSH:{_text(action, 'DescriptorReferredTo/DescriptorUI')}")
        element.clear()
    pairs = {(id, trees.get(number.rpartition(".")[0], id)) for number, id in trees.items()}
    for head, tail in sorted(pair for pair in pairs if pair[0] != pair[1]):
        content.add_relation(head, "", tail)
    return content


def read_medrt(file: Path) -> Content:
    """Read MED-RT's Core file in its published layout: concepts, synonyms, associations, names of their ends.

    Raises:
        InputError: it is no XML, or an association names no code or a vocabulary that MED-RT does not refer to.
    """
    content = Content(file, "MED-RT")
    parents: list[tuple[str, str]] = []
    ends: dict[str, tuple[str, str]] = {}
    for element in _elements(file):
        if element.tag == "namespace" and element.find("version") is not None and _text(element, "name") == "MED-RT":
            content.release = _text(element, "version")
        elif element.tag == "concept":
            _add_concept(content, element)
            element.clear()
        elif element.tag == "association":
            word, (one, other) = _text(element, "name"), _ends(file, element)
            if word == "Parent Of":
                parents.append((one, other))
            else:
                content.add_relation(one, word, other, content.name)
            kinds = ("drug", "disease") if word in DISEASE else ("drug", "drug")
            for id, side, kind in zip((one, other), ("from", "to"), kinds, strict=True):
                ends.setdefault(id, (_text(element, f"{side}_name"), kind))
            element.clear()
    for child, parent in _children(parents):
        content.add_relation(child, "isa", parent, content.name)
    own = set(content.columns["class"][0])
    for id, (name, kind) in sorted(ends.items()):
        if id not in own and name:
            content.add_class(id, name, stub=True, branch=f"{kind} of MED-RT:{id}")
    return content


def _add_concept(content: Content, element: Element) -> None:
    if _text(element, "namespace") not in ("MED-RT", ""):
        return
    id, name = f"MED-RT:{_text(element, 'code')}", _text(element, "name")
    kind = next((_text(part, "value") for part in element.iter("property") if _text(part, "name") == "CTY"), "")
    bare = name.removesuffix(f"[{kind}]").strip()
    content.add_class(id, bare, obsolete=_text(element, "status") in ("I", "D"), branch=f"MED-RT:{kind}")
    for synonym in element.iter("synonym"):
        if (text := _text(synonym, "to_name")) not in (name, bare, ""):
            content.add_synonym(id, text, "exact")


def _ends(file: Path, element: Element) -> tuple[str, str]:
    ids = []
    for side in ("from", "to"):
        namespace = _text(element, f"{side}_namespace")
        if namespace not in NAMESPACES:
            raise malformed(file, f"namespace {namespace}", f"one of {', '.join(NAMESPACES)}")
        if not (code := _text(element, f"{side}_code")):
            raise malformed(file, f"an association without {side}_code", "MED-RT Core in its published layout")
        ids.append(f"{NAMESPACES[namespace]}:{code}")
    return ids[0], ids[1]


def _children(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return (child, parent) of the associations called Parent Of, of which the layout does not say which end is above.

    Drugs are below classes; without drugs, the side with fewer ends that are nowhere on the other is above.
    """
    drugs = Counter(
        side for pair in pairs for side, id in zip(("from", "to"), pair, strict=True) if id.startswith("RXNORM")
    )
    one, other = {pair[0] for pair in pairs}, {pair[1] for pair in pairs}
    from_above = drugs["to"] > drugs["from"] if drugs else len(one - other) <= len(other - one)
    return [(second, first) if from_above else (first, second) for first, second in pairs]
