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
from openworld.rrf import RrfFile, layouts, open_rrf, write_catalogue
from openworld.world import DATA, Knowledge

__all__ = ["concept_types", "semantic_types", "write_meta"]

RELEASE = "OPENWORLD"
RELEASE_DATE = "20260101"

Row = tuple[str, ...]


def concept_types(known: Knowledge, whole: Catalogue) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield (CUI, semantic types) of every concept and product."""
    for concept in known.concepts.values():
        yield concept.cui, concept.types
    for product in whole.products:
        yield product.cui, ("T122",) if product.tty == "DF" else ("T200",)


def semantic_types() -> dict[str, tuple[str, str]]:
    """Return TUI -> (tree number, name)."""
    rows = read_table(DATA / "semantic_types.tsv", ("tui", "stn", "name", "source"))
    return {row["tui"]: (row["stn"], row["name"]) for row in rows}


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
        snomed = snomed_code(concept)
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
    relations = list(relation_rows(known, whole))
    sources = _sources(atoms, {sab for _, sab in relations})
    types = semantic_types()
    with ExitStack() as stack:
        files = {
            name: stack.enter_context(open_rrf(folder, layout))
            for name, layout in layouts().items()
            if name.startswith("MR")
            and name not in ("MRFILES.RRF", "MRCOLS.RRF", *(() if plan.whole else ("MRHIER.RRF",)))
        }
        files["MRCONSO.RRF"].write(atom.row() for group in atoms for atom in group)
        files["MRREL.RRF"].write(row for row, _ in relations)
        files["MRSTY.RRF"].write(
            (cui, tui, *types[tui], f"AT6{number:08d}", "")
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
