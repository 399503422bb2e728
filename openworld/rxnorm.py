"""The world as an RxNorm release: RXNCONSO, RXNREL, RXNSAT, RXNSTY."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from openworld.atoms import Atom, concept_atoms
from openworld.products import Catalogue, catalogue, rxcui
from openworld.relations import rxnorm_relation_rows
from openworld.release import concept_types, semantic_types
from openworld.rrf import Row, layouts, open_rrf
from openworld.world import Knowledge

__all__ = ["write_rxnorm"]

RELEASE = "OPENWORLD"


def write_rxnorm(folder: Path, known: Knowledge) -> dict[str, int]:
    """Write RXNCONSO, RXNREL, RXNSAT, RXNSTY and RXNSAB, and return rows of each file."""
    folder.mkdir(parents=True, exist_ok=True)
    whole = catalogue(known)
    groups = [group for group in concept_atoms(known, whole) if group[0].sab == "RXNORM"]
    inside = {group[0].cui for group in groups}
    types = semantic_types()
    with ExitStack() as stack:
        files = {
            name: stack.enter_context(open_rrf(folder, layout))
            for name, layout in layouts().items()
            if name.startswith("RXN")
        }
        files["RXNCONSO.RRF"].write(_rxnorm_row(atom) for group in groups for atom in group)
        files["RXNREL.RRF"].write(rxnorm_relation_rows(known, whole, inside))
        files["RXNSAT.RRF"].write(_rxnorm_attributes(groups, whole))
        files["RXNSTY.RRF"].write(
            {"RXCUI": rxcui(cui), "TUI": tui} | types[tui]
            for cui, tuis in concept_types(known, whole)
            if cui in inside
            for tui in tuis
        )
        files["RXNSAB.RRF"].write([_source_row()])
    return {name: file.rows for name, file in files.items()}


def _source_row() -> Row:
    """Return the one source: its version is the release's name, which the licence of built datasets hangs on."""
    return {
        "VSAB": f"RXNORM_{RELEASE}",
        "RSAB": "RXNORM",
        "SON": "RxNorm-shaped open world",
        "SF": "RXNORM",
        "SVER": RELEASE,
        "LAT": "ENG",
        "CENC": "UTF-8",
        "CURVER": "Y",
        "SABIN": "Y",
    }


def _rxnorm_row(atom: Atom) -> Row:
    code = rxcui(atom.cui)
    ids = {"RXCUI": code, "RXAUI": atom.aui[1:], "SCUI": code, "CODE": code}
    return ids | {"LAT": "ENG", "SAB": "RXNORM", "TTY": atom.tty, "STR": atom.text, "SUPPRESS": "N"}


def _dashed(ndc: str) -> str:
    """Return the 5-4-2 form, as other sources than RXNORM write it."""
    return f"{ndc[:5]}-{ndc[5:9]}-{ndc[9:]}"


def _rxnorm_attributes(groups: list[list[Atom]], whole: Catalogue) -> Iterator[Row]:
    auis = {group[0].cui: group[0].aui[1:] for group in groups}
    for number, product in enumerate(whole.products):
        if product.known_ndc:
            code = rxcui(product.cui)
            ids = {"RXCUI": code, "RXAUI": auis[product.cui], "STYPE": "AUI", "CODE": code}
            dashed = {"SAB": "MTHSPL", "ATV": _dashed(product.ndc)}
            value = {"SAB": "RXNORM", "ATV": product.ndc} if number % 5 else dashed
            yield ids | value | {"ATN": "NDC", "SUPPRESS": "N"}
