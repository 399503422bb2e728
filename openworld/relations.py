"""Relations of the world as rows of MRREL and RXNREL: both directions, CUI2 RELA CUI1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from ground.storage.tables import read_table
from openworld.products import Catalogue, rxcui
from openworld.world import DATA, Knowledge

__all__ = ["RelaRow", "rela_table", "relation_rows", "rxnorm_relation_rows"]

Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RelaRow:
    """How a predicate is written in MRREL."""

    rela: str
    inverse_rela: str
    rel: str
    inverse_rel: str
    sab: str


@lru_cache(maxsize=1)
def rela_table() -> dict[tuple[str, str], RelaRow]:
    """Return (predicate, kind of the head or *) -> how it is written."""
    names = ("rela", "inverse_rela", "rel", "inverse_rel", "sab")
    rows = read_table(DATA / "rela.tsv", ("predicate", "kind", *names, "source"))
    return {(row["predicate"], row["kind"]): RelaRow(*(row[name] for name in names)) for row in rows}


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


def relation_rows(known: Knowledge, whole: Catalogue) -> Iterator[tuple[Row, str]]:
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


def rxnorm_relation_rows(known: Knowledge, whole: Catalogue, inside: set[str]) -> Iterator[Row]:
    """Yield the rows of RXNREL: relations of RXNORM between concepts that are ``inside`` it."""
    for row, sab in relation_rows(known, whole):
        if sab == "RXNORM" and row[0] in inside and row[4] in inside:
            first, second, rel, rela, rui = rxcui(row[0]), rxcui(row[4]), row[3], row[7], row[8][1:]
            yield first, "", "CUI", rel, second, "", "CUI", rela, rui, "", "RXNORM", "RXNORM", "", "", "N", ""
