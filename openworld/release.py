"""The world as a UMLS release: the files of META."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from ground.storage.tables import read_table
from openworld.atoms import Atom, concept_atoms, mapped_only, snomed_code
from openworld.filler import FillerPlan, filler_batches
from openworld.products import Catalogue, catalogue
from openworld.relations import rela_table, relation_rows
from openworld.rrf import Row, RrfFile, layouts, open_rrf, write_catalogue
from openworld.world import DATA, Knowledge

__all__ = ["concept_types", "semantic_types", "write_meta"]

RELEASE = "OPENWORLD"
RELEASE_DATE = "20260101"


def concept_types(known: Knowledge, whole: Catalogue) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield (CUI, semantic types) of every concept and product."""
    for concept in known.concepts.values():
        yield concept.cui, concept.types
    for product in whole.products:
        yield product.cui, ("T122",) if product.tty == "DF" else ("T200",)


def semantic_types() -> dict[str, Row]:
    """Return TUI -> its tree number and name, as columns of MRSTY."""
    rows = read_table(DATA / "semantic_types.tsv", ("tui", "stn", "name", "source"))
    return {row["tui"]: {"STN": row["stn"], "STY": row["name"]} for row in rows}


def _attributes(atoms: list[list[Atom]], whole: Catalogue) -> Iterator[Row]:
    of_cui = {group[0].cui: group[0] for group in atoms}
    coded = [product for product in whole.products if product.known_ndc]
    for number, product in enumerate(coded, 1):
        atom = of_cui[product.cui]
        ids = {"CUI": product.cui, "LUI": atom.lui, "SUI": atom.sui, "METAUI": atom.aui, "STYPE": "AUI"}
        value = {"ATN": "NDC", "SAB": "RXNORM", "ATV": product.ndc, "SUPPRESS": "N"}
        yield ids | value | {"CODE": atom.code, "ATUI": f"AT9{number:08d}"}


def _definitions(known: Knowledge, atoms: list[list[Atom]]) -> Iterator[Row]:
    first = [group[0] for group in atoms if group[0].text in known.concepts]
    for number, atom in enumerate((atom for atom in first if known.concepts[atom.text].parents), 1):
        concept = known.concepts[atom.text]
        kinds = " and of ".join(concept.parents)
        text = f"{concept.name[0].upper()}{concept.name[1:]}: in this world, a kind of {kinds}."
        ids = {"CUI": concept.cui, "AUI": atom.aui, "ATUI": f"AT8{number:08d}"}
        yield ids | {"SAB": atom.sab, "DEF": text, "SUPPRESS": "N"}


def _map_rows(known: Knowledge) -> Iterator[Row]:
    """Yield ICD-9 to SNOMED CT rows for codes without an atom, and SNOMED CT to ICD-10-CM rows."""
    codes = [(concept, sab, code) for concept in known.concepts.values() for sab, code in concept.codes]
    number = 0
    for concept, sab, code in codes:
        snomed = snomed_code(concept)
        forward = sab == "ICD9CM" and concept.kind != "procedure" and mapped_only(concept, code)
        if forward:
            ends = {"MAPSETCUI": "C9899998", "MAPSETSAB": "ICD9CM"} | _map_ends((code, "CODE"), (snomed, "SCUI"))
        elif sab == "ICD10CM":
            ends = {"MAPSETCUI": "C9899999", "MAPSETSAB": "SNOMEDCT_US"} | _map_ends((snomed, "SCUI"), (code, "CODE"))
        else:
            continue
        number += 1
        yield ends | {"MAPID": f"AT7{number:08d}", "REL": "RO", "RELA": "mapped_to"}


def _map_ends(begin: tuple[str, str], end: tuple[str, str]) -> Row:
    """Return both ends of a mapping, each a code and its type."""
    sides = (("FROM", *begin), ("TO", *end))
    return {
        f"{side}{column}": value
        for side, code, kind in sides
        for column, value in (("ID", code), ("EXPR", code), ("TYPE", kind))
    }


def _sources(atoms: list[list[Atom]], relation_sabs: set[str]) -> dict[str, list[str]]:
    ttys_of: dict[str, set[str]] = {sab: set() for sab in relation_sabs}
    for group in atoms:
        for atom in group:
            ttys_of.setdefault(atom.sab, set()).add(atom.tty)
    return {sab: sorted(ttys) for sab, ttys in sorted(ttys_of.items())}


def _source_rows(sources: dict[str, list[str]]) -> Iterator[Row]:
    for number, (sab, ttys) in enumerate(sources.items(), 1):
        name = f"{sab}, as rendered by the open world: the name of the source only, none of its content"
        latin = "SPA" if sab == "MSHSPA" else "ENG"
        names = {"VSAB": f"{sab}_{RELEASE}", "RSAB": sab, "SON": name, "SF": sab, "SSN": sab, "SCIT": name}
        ids = {"VCUI": f"C98998{number:02d}", "RCUI": f"C98999{number:02d}", "SVER": RELEASE_DATE, "IMETA": "2026AA"}
        kinds = {"TTYL": ",".join(ttys), "ATNL": "NDC" if sab == "RXNORM" else ""}
        yield names | ids | kinds | {"SRL": "0", "LAT": latin, "CENC": "UTF-8", "CURVER": "Y", "SABIN": "Y"}


TOP_RANKS = (("MTH", "PN"), ("SNOMEDCT_US", "PT"), *(("RXNORM", tty) for tty in ("IN", "MIN", "PIN", "BN")))


def _rank_rows(sources: dict[str, list[str]]) -> Iterator[Row]:
    pairs = [(sab, tty) for sab, ttys in sources.items() for tty in ttys]
    top = [pair for pair in TOP_RANKS if pair in pairs]
    ordered = [*top, *(pair for pair in pairs if pair not in top)]
    for number, (sab, tty) in enumerate(ordered):
        yield {"RANK": f"{len(ordered) - number:04d}", "SAB": sab, "TTY": tty, "SUPPRESS": "N"}


def _documentation() -> list[Row]:
    rows: set[tuple[str, str, str, str]] = set()
    for writing in rela_table().values():
        for name, other in ((writing.rela, writing.inverse_rela), (writing.inverse_rela, writing.rela)):
            rows |= {("RELA", name, "rela_inverse", other), ("RELA", name, "expanded_form", name.replace("_", " "))}
    for name, other in (("CHD", "PAR"), ("PAR", "CHD"), ("RO", "RO"), ("RN", "RB"), ("RB", "RN")):
        rows.add(("REL", name, "rel_inverse", other))
    rows |= {("ATN", "NDC", "expanded_form", "National drug code"), ("RELEASE", RELEASE, "release_info", RELEASE_DATE)}
    rows |= {("RELA", "", "rela_inverse", ""), ("RELA", "mapped_to", "expanded_form", "mapped to")}
    return [dict(zip(("DOCKEY", "VALUE", "TYPE", "EXPL"), row, strict=True)) for row in sorted(rows)]


def write_meta(folder: Path, known: Knowledge, plan: FillerPlan) -> dict[str, int]:
    """Write META and return rows of each file; filler concepts follow the world's own in every file."""
    folder.mkdir(parents=True, exist_ok=True)
    whole = catalogue(known)
    atoms = concept_atoms(known, whole)
    relations = list(relation_rows(known, whole))
    sources = _sources(atoms, {row["SAB"] for row in relations})
    types = semantic_types()
    with ExitStack() as stack:
        files = {
            name: stack.enter_context(open_rrf(folder, layout))
            for name, layout in layouts().items()
            if name.startswith("MR")
            and name not in ("MRFILES.RRF", "MRCOLS.RRF", *(() if plan.whole else ("MRHIER.RRF",)))
        }
        files["MRCONSO.RRF"].write(atom.row() for group in atoms for atom in group)
        files["MRREL.RRF"].write(relations)
        files["MRSTY.RRF"].write(
            {"CUI": cui, "TUI": tui, "ATUI": f"AT6{number:08d}"} | types[tui]
            for number, (cui, tui) in enumerate(((c, t) for c, tuis in concept_types(known, whole) for t in tuis), 1)
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
