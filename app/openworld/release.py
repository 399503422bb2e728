"""The world as a UMLS release (META) and an RxNorm release (rrf)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from app.openworld.filler import FillerPlan, filler_batches
from app.openworld.products import Catalogue, Product, catalogue, rxcui
from app.openworld.rrf import RrfFile, layouts, open_rrf, write_catalogue
from app.openworld.world import CONTENT_SEED, DATA, Concept, Knowledge
from ontoground.stable import stable_unit
from ontoground.tables import read_table

__all__ = ["Atom", "RelaRow", "rela_table", "write_meta", "write_rxnorm"]

RELEASE = "OPENWORLD"
RELEASE_DATE = "20260101"
RXNORM_TTY = {"drug": "IN", "salt": "PIN", "brand": "BN", "combination": "MIN"}
MAPPED_ONLY = 0.1
"""Share of ICD-9 codes that no atom carries: a MRMAP row leads to them."""
HEADING_ONLY = 0.15
"""Share of ICD-10 codes whose atom stands on the three-character heading instead."""

Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RelaRow:
    """How a predicate is written in MRREL."""

    rela: str
    inverse_rela: str
    rel: str
    inverse_rel: str
    sab: str


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
        scui = self.code if self.sab in ("SNOMEDCT_US", "RXNORM", "MED-RT", "NCI") else ""
        return (
            *(self.cui, self.lat, self.ts, self.lui, self.stt, self.sui, self.ispref, self.aui, "", scui, ""),
            *(self.sab, self.tty, self.code, self.text, "0", self.suppress, ""),
        )


@lru_cache(maxsize=1)
def rela_table() -> dict[tuple[str, str], RelaRow]:
    """Return (predicate, kind of the head or *) -> how it is written."""
    names = ("rela", "inverse_rela", "rel", "inverse_rel", "sab")
    rows = read_table(DATA / "rela.tsv", ("predicate", "kind", *names, "source"))
    return {(row["predicate"], row["kind"]): RelaRow(*(row[name] for name in names)) for row in rows}


def mapped_only(concept: Concept, code: str) -> bool:
    """Return whether an ICD-9 code of a concept is reached through MRMAP only."""
    return stable_unit(CONTENT_SEED, concept.name, code, "mapped") <= MAPPED_ONLY


def _headings(known: Knowledge) -> frozenset[str]:
    """Three-character ICD-10 headings that belong to one concept only."""
    seen: dict[str, int] = {}
    for concept in known.concepts.values():
        for sab, code in concept.codes:
            if sab == "ICD10CM":
                seen[code[:3]] = seen.get(code[:3], 0) + 1
    return frozenset(heading for heading, count in seen.items() if count == 1)


def icd_atom_code(concept: Concept, sab: str, code: str, headings: frozenset[str]) -> str:
    """Return the code under which the release carries a concept's ICD code; empty where only MRMAP has it."""
    if sab == "ICD9CM" and concept.kind != "procedure" and mapped_only(concept, code):
        return ""
    on_heading = stable_unit(CONTENT_SEED, concept.name, code, "heading") <= HEADING_ONLY
    return code[:3] if sab == "ICD10CM" and code[:3] in headings and on_heading else code


def _clinical_atoms(concept: Concept, headings: frozenset[str]) -> Iterator[Atom]:
    source = "NCI" if concept.kind == "term" else "SNOMEDCT_US"
    code = f"99{concept.cui[3:]}000"
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
        seen_luis: set[str] = set()
        seen_suis: set[str] = set()
        for atom in atoms:
            self.auis += 1
            atom.aui = f"A9{self.auis:08d}"
            atom.lui = self.luis.setdefault(atom.text.lower(), f"L9{len(self.luis) + 1:08d}")
            atom.sui = self.suis.setdefault(atom.text, f"S9{len(self.suis) + 1:08d}")
            atom.ts = "P" if atom.lui == atoms[0].lui or (atom.lat != "ENG" and atom.lui not in seen_luis) else "S"
            first = atom.lui not in seen_luis
            atom.stt = "PF" if first or atom.sui == atoms[0].sui else "VO"
            atom.ispref = "N" if atom.sui in seen_suis else "Y"
            seen_luis.add(atom.lui)
            seen_suis.add(atom.sui)
        return atoms


def concept_atoms(known: Knowledge, whole: Catalogue) -> list[list[Atom]]:
    """Return the atoms of every concept, with identifiers: shape (concepts, names)."""
    identifiers = _Identifiers()
    headings = _headings(known)
    found = []
    for concept in known.concepts.values():
        clinical = concept.kind in ("disorder", "finding", "procedure", "term")
        atoms = list(_clinical_atoms(concept, headings) if clinical else _drug_atoms(concept))
        found.append(identifiers.name(atoms))
    found += [identifiers.name([_product_atom(product)]) for product in whole.products]
    return found


def _types(known: Knowledge, whole: Catalogue) -> Iterator[tuple[str, tuple[str, ...]]]:
    for concept in known.concepts.values():
        yield concept.cui, concept.types
    for product in whole.products:
        yield product.cui, ("T122",) if product.tty == "DF" else ("T200",)


def _semantic_types() -> dict[str, tuple[str, str]]:
    rows = read_table(DATA / "semantic_types.tsv", ("tui", "stn", "name", "source"))
    return {row["tui"]: (row["stn"], row["name"]) for row in rows}


def _edges(known: Knowledge, whole: Catalogue) -> Iterator[tuple[str, str, str, RelaRow]]:
    """Yield (head CUI, predicate, tail CUI, writing) of all stated facts and product relations."""
    table = rela_table()
    cuis = {product.name: product.cui for product in whole.products}
    cuis.update({name: concept.cui for name, concept in known.concepts.items()})
    for fact in known.facts:
        if fact.stated:
            kind = known.concepts[fact.head].kind
            writing = table.get((fact.predicate, kind)) or table[fact.predicate, "*"]
            yield cuis[fact.head], fact.predicate, cuis[fact.tail], writing
            if fact.predicate == "is_a" and kind == "class":
                yield cuis[fact.head], "is_a", cuis[fact.tail], RelaRow("", "", "CHD", "PAR", "USPMG")
    for head, predicate, tail in whole.relations:
        yield cuis[head], predicate, cuis[tail], table[predicate, "*"]


def _relation_rows(known: Knowledge, whole: Catalogue) -> Iterator[tuple[Row, str]]:
    """Yield both rows of every relation: CUI2 RELA CUI1."""
    number = 0
    for head, _, tail, writing in _edges(known, whole):
        directions = [(tail, head, writing.rel, writing.rela), (head, tail, writing.inverse_rel, writing.inverse_rela)]
        for first, second, rel, rela in directions:
            number += 1
            rui = f"R9{number:08d}"
            fields = (
                first,
                "",
                "CUI",
                rel,
                second,
                "",
                "CUI",
                rela,
                rui,
                "",
                writing.sab,
                writing.sab,
                "",
                "",
                "N",
                "",
            )
            yield fields, writing.sab


def _attributes(atoms: list[list[Atom]], whole: Catalogue) -> Iterator[Row]:
    auis = {group[0].cui: group[0] for group in atoms}
    number = 0
    for product in whole.products:
        if product.known_ndc:
            atom = auis[product.cui]
            number += 1
            atui = f"AT9{number:08d}"
            yield (
                product.cui,
                atom.lui,
                atom.sui,
                atom.aui,
                "AUI",
                atom.code,
                atui,
                "",
                "NDC",
                "RXNORM",
                product.ndc,
                "N",
                "",
            )


def _definitions(known: Knowledge, atoms: list[list[Atom]]) -> Iterator[Row]:
    number = 0
    for group in atoms:
        concept = known.concepts.get(group[0].text)
        if concept is not None and concept.parents:
            number += 1
            kinds = " and of ".join(concept.parents)
            text = f"{concept.name[0].upper()}{concept.name[1:]}: in this world, a kind of {kinds}."
            yield concept.cui, group[0].aui, f"AT8{number:08d}", "", group[0].sab, text, "N", ""


def _map_rows(known: Knowledge) -> Iterator[Row]:
    """Yield ICD-9 to SNOMED CT rows for codes without an atom, and SNOMED CT to ICD-10-CM rows."""
    number = 0
    for concept in known.concepts.values():
        snomed = f"99{concept.cui[3:]}000"
        for sab, code in concept.codes:
            forward = sab == "ICD9CM" and concept.kind != "procedure" and mapped_only(concept, code)
            if not forward and sab != "ICD10CM":
                continue
            number += 1
            ends = (code, "CODE", snomed, "SCUI") if forward else (snomed, "SCUI", code, "CODE")
            mapset = ("C9899998", "ICD9CM") if forward else ("C9899999", "SNOMEDCT_US")
            yield (
                *(*mapset, "", "", f"AT7{number:08d}", "", ends[0], "", ends[0], ends[1], "", "", "RO", "mapped_to"),
                *(ends[2], "", ends[2], ends[3], "", "", "", "", "", "", "", ""),
            )


def _sources(atoms: list[list[Atom]], relation_sabs: set[str]) -> dict[str, list[str]]:
    found: dict[str, set[str]] = {sab: set() for sab in relation_sabs}
    for group in atoms:
        for atom in group:
            found.setdefault(atom.sab, set()).add(atom.tty)
    return {sab: sorted(ttys) for sab, ttys in sorted(found.items())}


def _source_rows(sources: dict[str, list[str]]) -> Iterator[Row]:
    for number, (sab, ttys) in enumerate(sources.items(), 1):
        name = f"{sab}, as rendered by the open world: the name of the source only, none of its content"
        latin = "SPA" if sab == "MSHSPA" else "ENG"
        yield (
            *(f"C98998{number:02d}", f"C98999{number:02d}", f"{sab}_{RELEASE}", sab, name, sab, RELEASE_DATE, "", ""),
            *("2026AA", "", "", "", "0", "", "", "", ",".join(ttys), "NDC" if sab == "RXNORM" else "", latin),
            *("UTF-8", "Y", "Y", sab, name),
        )


TOP_RANKS = (
    ("MTH", "PN"),
    ("SNOMEDCT_US", "PT"),
    ("RXNORM", "IN"),
    ("RXNORM", "MIN"),
    ("RXNORM", "PIN"),
    ("RXNORM", "BN"),
)


def _rank_rows(sources: dict[str, list[str]]) -> Iterator[Row]:
    pairs = [(sab, tty) for sab, ttys in sources.items() for tty in ttys]
    top = [pair for pair in TOP_RANKS if pair in pairs]
    ordered = [*top, *(pair for pair in pairs if pair not in top)]
    for number, (sab, tty) in enumerate(ordered):
        yield f"{len(ordered) - number:04d}", sab, tty, "N"


def _documentation() -> list[Row]:
    rows: set[Row] = set()
    for writing in rela_table().values():
        for name, other in ((writing.rela, writing.inverse_rela), (writing.inverse_rela, writing.rela)):
            rows |= {("RELA", name, "rela_inverse", other), ("RELA", name, "expanded_form", name.replace("_", " "))}
    for name, other in (("CHD", "PAR"), ("PAR", "CHD"), ("RO", "RO"), ("RN", "RB"), ("RB", "RN")):
        rows.add(("REL", name, "rel_inverse", other))
    rows |= {("ATN", "NDC", "expanded_form", "National drug code"), ("RELEASE", RELEASE, "release_info", RELEASE_DATE)}
    rows |= {("RELA", "", "rela_inverse", ""), ("RELA", "mapped_to", "expanded_form", "mapped to")}
    return sorted(rows)


def write_meta(folder: Path, known: Knowledge, plan: FillerPlan) -> dict[str, int]:
    """Write META and return rows of each file; filler concepts follow the world's own in every file."""
    folder.mkdir(parents=True, exist_ok=True)
    whole = catalogue(known)
    atoms = concept_atoms(known, whole)
    relations = list(_relation_rows(known, whole))
    sources = _sources(atoms, {sab for _, sab in relations})
    types = _semantic_types()
    with ExitStack() as stack:
        files = {
            name: stack.enter_context(open_rrf(folder, layout))
            for name, layout in layouts().items()
            if name.startswith("MR") and name not in ("MRFILES.RRF", "MRCOLS.RRF", "MRHIER.RRF")
        }
        files["MRCONSO.RRF"].write(atom.row() for group in atoms for atom in group)
        files["MRREL.RRF"].write(row for row, _ in relations)
        files["MRSTY.RRF"].write(
            (cui, tui, *types[tui], f"AT6{number:08d}", "")
            for number, (cui, tui) in enumerate(((c, t) for c, tuis in _types(known, whole) for t in tuis), 1)
        )
        files["MRSAT.RRF"].write(_attributes(atoms, whole))
        files["MRDEF.RRF"].write(_definitions(known, atoms))
        files["MRMAP.RRF"].write(_map_rows(known))
        files["MRSAB.RRF"].write(_source_rows(sources))
        files["MRRANK.RRF"].write(_rank_rows(sources))
        files["MRDOC.RRF"].write(_documentation())
        for name, frame in filler_batches(plan):
            files[name].write_frame(frame)
    return _finish(folder, list(files.values()))


def _finish(folder: Path, files: list[RrfFile]) -> dict[str, int]:
    write_catalogue(folder, files)
    text = f"umls.release.name={RELEASE}\numls.release.date={RELEASE_DATE}\n"
    note = "umls.release.description=An invented release for demonstration and tests; not a UMLS release\n"
    (folder / "release.dat").write_text(text + note, encoding="utf-8")
    return {file.layout.file: file.rows for file in files}


def write_rxnorm(folder: Path, known: Knowledge) -> dict[str, int]:
    """Write RXNCONSO, RXNREL, RXNSAT and RXNSTY, and return rows of each file."""
    folder.mkdir(parents=True, exist_ok=True)
    whole = catalogue(known)
    groups = [group for group in concept_atoms(known, whole) if group[0].sab == "RXNORM"]
    inside = {group[0].cui for group in groups}
    types = _semantic_types()
    with ExitStack() as stack:
        files = {
            name: stack.enter_context(open_rrf(folder, layout))
            for name, layout in layouts().items()
            if name.startswith("RXN")
        }
        files["RXNCONSO.RRF"].write(_rxnorm_row(atom) for group in groups for atom in group)
        files["RXNREL.RRF"].write(_rxnorm_relations(known, whole, inside))
        files["RXNSAT.RRF"].write(_rxnorm_attributes(groups, whole))
        files["RXNSTY.RRF"].write(
            (rxcui(cui), tui, *types[tui], "", "")
            for cui, tuis in _types(known, whole)
            if cui in inside
            for tui in tuis
        )
    return {name: file.rows for name, file in files.items()}


def _rxnorm_row(atom: Atom) -> Row:
    code = rxcui(atom.cui)
    return (
        code,
        "ENG",
        "",
        "",
        "",
        "",
        "",
        atom.aui[1:],
        "",
        code,
        "",
        "RXNORM",
        atom.tty,
        code,
        atom.text,
        "",
        "N",
        "",
    )


def _rxnorm_relations(known: Knowledge, whole: Catalogue, inside: set[str]) -> Iterator[Row]:
    for row, sab in _relation_rows(known, whole):
        if sab == "RXNORM" and row[0] in inside and row[4] in inside:
            first, second, rel, rela, rui = rxcui(row[0]), rxcui(row[4]), row[3], row[7], row[8][1:]
            yield first, "", "CUI", rel, second, "", "CUI", rela, rui, "", "RXNORM", "RXNORM", "", "", "N", ""


def _dashed(ndc: str) -> str:
    """Return the 5-4-2 form, as other sources than RXNORM write it."""
    return f"{ndc[:5]}-{ndc[5:9]}-{ndc[9:]}"


def _rxnorm_attributes(groups: list[list[Atom]], whole: Catalogue) -> Iterator[Row]:
    auis = {group[0].cui: group[0].aui[1:] for group in groups}
    for number, product in enumerate(whole.products):
        if product.known_ndc:
            dashed = number % 5 == 0
            code, sab = rxcui(product.cui), "MTHSPL" if dashed else "RXNORM"
            value = _dashed(product.ndc) if dashed else product.ndc
            yield code, "", "", auis[product.cui], "AUI", code, "", "", "NDC", sab, value, "N", ""
