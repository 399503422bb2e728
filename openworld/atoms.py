"""Names of the world's concepts as atoms of MRCONSO: sources, term types, identifiers, preferences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

from ground.stable import stable_unit
from openworld.products import Catalogue, Product, rxcui
from openworld.rrf import Row
from openworld.world import CONTENT_SEED, Concept, Knowledge

__all__ = ["Atom", "concept_atoms", "mapped_only", "snomed_code"]

RXNORM_TTY = {"drug": "IN", "salt": "PIN", "brand": "BN", "combination": "MIN"}
MAPPED_ONLY = 0.1
"""Share of ICD-9 codes that no atom carries: a MRMAP row leads to them."""
HEADING_ONLY = 0.15
"""Share of ICD-10 codes whose atom stands on the three-character heading instead."""


@dataclass(slots=True)
class Atom:
    """One row of MRCONSO; identifiers are filled when the concept's atoms are together."""

    cui: str
    sab: str
    tty: str
    code: str
    text: str
    lat: str = "ENG"
    suppress: str = "N"
    aui: str = ""
    lui: str = ""
    sui: str = ""
    ts: str = "S"
    stt: str = "VO"
    ispref: str = "N"

    def row(self) -> Row:
        """Return the row of MRCONSO."""
        scui = {"SCUI": self.code} if self.sab in ("SNOMEDCT_US", "RXNORM", "MED-RT", "NCI") else {}
        named = {name.upper(): value for name, value in asdict(self).items() if name != "text"}
        return named | scui | {"STR": self.text, "SRL": "0"}


def snomed_code(concept: Concept) -> str:
    """Return the code of a clinical concept under SNOMEDCT_US: invented, from its CUI."""
    return f"99{concept.cui[3:]}000"


def mapped_only(concept: Concept, code: str) -> bool:
    """Return whether an ICD-9 code of a concept is reached through MRMAP only."""
    return stable_unit(CONTENT_SEED, concept.name, code, "mapped") <= MAPPED_ONLY


def _headings(known: Knowledge) -> frozenset[str]:
    """Three-character ICD-10 headings that belong to one concept only."""
    counts: dict[str, int] = {}
    for concept in known.concepts.values():
        for sab, code in concept.codes:
            if sab == "ICD10CM":
                counts[code[:3]] = counts.get(code[:3], 0) + 1
    return frozenset(heading for heading, count in counts.items() if count == 1)


def icd_atom_code(concept: Concept, sab: str, code: str, headings: frozenset[str]) -> str:
    """Return the code under which the release carries a concept's ICD code; empty where only MRMAP has it."""
    if sab == "ICD9CM" and concept.kind != "procedure" and mapped_only(concept, code):
        return ""
    on_heading = stable_unit(CONTENT_SEED, concept.name, code, "heading") <= HEADING_ONLY
    return code[:3] if sab == "ICD10CM" and code[:3] in headings and on_heading else code


def _clinical_atoms(concept: Concept, headings: frozenset[str]) -> Iterator[Atom]:
    source = "NCI" if concept.kind == "term" else "SNOMEDCT_US"
    code = snomed_code(concept)
    yield Atom(concept.cui, "MTH", "PN", "NOCODE", concept.name)
    yield Atom(concept.cui, source, "PT", code, concept.name)
    for synonym in concept.synonyms:
        yield Atom(concept.cui, source, "SY", code, synonym)
    for abbreviation in concept.abbreviations:
        yield Atom(concept.cui, "NCI", "AB", f"N{concept.cui}", abbreviation)
    for sab, public in concept.codes:
        carried = icd_atom_code(concept, sab, public, headings)
        if carried:
            title = concept.name[0].upper() + concept.name[1:]
            yield Atom(concept.cui, sab, "HT" if carried != public else "PT", carried, title)
    if concept.kind == "disorder":
        yield Atom(concept.cui, "MSHSPA", "MH", f"D{concept.cui[1:]}", f"trastorno {concept.cui[3:]}", lat="SPA")
        if stable_unit(CONTENT_SEED, concept.name, "obsolete") < 0.1:
            old = f"{concept.name}, not otherwise specified"
            yield Atom(concept.cui, "SNOMEDCT_US", "OAP", code, old, suppress="O")


def _drug_atoms(concept: Concept) -> Iterator[Atom]:
    if concept.kind == "class":
        code = f"N{concept.cui}"
        yield Atom(concept.cui, "MED-RT", "PT", code, concept.name)
        for synonym in concept.synonyms:
            yield Atom(concept.cui, "MED-RT", "SY", code, synonym)
        return
    code = rxcui(concept.cui)
    yield Atom(concept.cui, "RXNORM", RXNORM_TTY[concept.kind], code, concept.name)
    for synonym in concept.synonyms:
        yield Atom(concept.cui, "RXNORM", "SY", code, synonym)


def _product_atom(product: Product) -> Atom:
    return Atom(product.cui, "RXNORM", product.tty, rxcui(product.cui), product.name)


class _Identifiers:
    """AUIs in order, LUIs by lower-case name, SUIs by exact name."""

    def __init__(self) -> None:
        self.auis = 0
        self.luis: dict[str, str] = {}
        self.suis: dict[str, str] = {}

    def name(self, atoms: list[Atom]) -> list[Atom]:
        """Give the atoms of one concept identifiers and preferences; the first atom is the preferred name."""
        earlier_luis: set[str] = set()
        earlier_suis: set[str] = set()
        for atom in atoms:
            self.auis += 1
            atom.aui = f"A9{self.auis:08d}"
            atom.lui = self.luis.setdefault(atom.text.lower(), f"L9{len(self.luis) + 1:08d}")
            atom.sui = self.suis.setdefault(atom.text, f"S9{len(self.suis) + 1:08d}")
            atom.ts = "P" if atom.lui == atoms[0].lui or (atom.lat != "ENG" and atom.lui not in earlier_luis) else "S"
            first = atom.lui not in earlier_luis
            atom.stt = "PF" if first or atom.sui == atoms[0].sui else "VO"
            atom.ispref = "N" if atom.sui in earlier_suis else "Y"
            earlier_luis.add(atom.lui)
            earlier_suis.add(atom.sui)
        return atoms


def concept_atoms(known: Knowledge, whole: Catalogue) -> list[list[Atom]]:
    """Return the atoms of every concept, with identifiers: shape (concepts, names)."""
    identifiers = _Identifiers()
    headings = _headings(known)
    groups = []
    for concept in known.concepts.values():
        clinical = concept.kind in ("disorder", "finding", "procedure", "term")
        atoms = list(_clinical_atoms(concept, headings) if clinical else _drug_atoms(concept))
        groups.append(identifiers.name(atoms))
    groups += [identifiers.name([_product_atom(product)]) for product in whole.products]
    return groups
