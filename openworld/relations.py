"""Relations of the world as rows of MRREL and RXNREL: both directions, CUI2 RELA CUI1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from ground.storage.tables import read_table
from openworld.products import Catalogue, rxcui
from openworld.rrf import Row
from openworld.world import DATA, Knowledge

__all__ = ["RelaRow", "rela_table", "relation_rows", "rxnorm_relation_rows"]


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


def relation_rows(known: Knowledge, whole: Catalogue) -> Iterator[Row]:
    """Yield both rows of MRREL of every relation: CUI2 RELA CUI1."""
    number = 0
    for head, _, tail, writing in _edges(known, whole):
        sources = {"SAB": writing.sab, "SL": writing.sab}
        directions = [(tail, head, writing.rel, writing.rela), (head, tail, writing.inverse_rel, writing.inverse_rela)]
        for first, second, rel, rela in directions:
            number += 1
            ends = {"CUI1": first, "STYPE1": "CUI", "CUI2": second, "STYPE2": "CUI"}
            yield ends | sources | {"REL": rel, "RELA": rela, "RUI": f"R9{number:08d}", "SUPPRESS": "N"}


def rxnorm_relation_rows(known: Knowledge, whole: Catalogue, inside: set[str]) -> Iterator[Row]:
    """Yield the rows of RXNREL: relations of RXNORM between concepts that are ``inside`` it."""
    for row in relation_rows(known, whole):
        if row["SAB"] == "RXNORM" and row["CUI1"] in inside and row["CUI2"] in inside:
            ends = {"RXCUI1": rxcui(row.pop("CUI1")), "RXCUI2": rxcui(row.pop("CUI2"))}
            yield row | ends | {"RUI": row["RUI"][1:]}
