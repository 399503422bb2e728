"""What the validator knows beyond what is read: kin in the graph, and its tables by concept."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from builders.medval.judge import tables
from builders.medval.judge.plain import PlainWords
from builders.medval.reading import Concepts, Kept
from ehr.reading import ReadMention

__all__ = ["Knowledge"]

_USES = ("treats", "prevents")


@dataclass(frozen=True, slots=True)
class _Named:
    """Names of a table by the concepts that they mean and as they are written."""

    cuis: frozenset[str]
    names: frozenset[str]


class Knowledge(Concepts):
    """The graph, the reader and the tables, with what was looked up kept."""

    def __init__(self, kept: Kept, plain: PlainWords) -> None:
        super().__init__(kept)
        self.plain = plain
        self._kin: dict[str, frozenset[str]] = {}
        self._uses: dict[str, frozenset[str]] = {}
        self._lineage: dict[str, frozenset[str]] = {}

    def siblings(self, cui: str) -> frozenset[str]:
        """Return what the graph calls siblings of a concept."""
        if cui not in self._kin:
            self._kin[cui] = frozenset(self.graph.siblings(cui)) if cui in self.graph else frozenset()
        return self._kin[cui]

    def treated_by(self, drug: str) -> frozenset[str]:
        """Return what the graph says that a drug treats or prevents."""
        if drug not in self._uses:
            uses = _USES if drug in self.graph else ()
            self._uses[drug] = frozenset(edge.tail for use in uses for edge in self.graph.neighbours(drug, use))
        return self._uses[drug]

    def lineage(self, cuis: Iterable[str]) -> frozenset[str]:
        """Return concepts of the graph and all above them."""
        for cui in cuis:
            if cui not in self._lineage:
                self._lineage[cui] = frozenset({cui, *self.graph.ancestors(cui)} if cui in self.graph else ())
        return frozenset[str]().union(*(self._lineage[cui] for cui in cuis))

    # ---- tables by concept

    @cached_property
    def _critical(self) -> _Named:
        names = tables.critical_drugs()
        cuis = frozenset(cui for first in self.concepts_of(names) for cui in self.family_of(first[:1]))
        return _Named(cuis, frozenset(name.lower() for name in names))

    @cached_property
    def _serious(self) -> _Named:
        names = tables.serious_diagnoses()
        cuis = frozenset(cui for found in self.concepts_of(names) for cui in found[:1])
        return _Named(cuis, frozenset(name.lower() for name in names))

    def is_critical(self, mention: ReadMention) -> bool:
        """Tell whether a drug has a narrow margin or a vital effect."""
        named = self._critical
        return mention.text.lower() in named.names or bool(set(mention.cuis[:1]) & named.cuis)

    @property
    def serious(self) -> frozenset[str]:
        """Concepts of diagnoses and red flags that change what is done at once."""
        return self._serious.cuis

    def is_serious(self, mention: ReadMention, name: str = "") -> bool:
        """Tell whether a diagnosis or red flag, with the ``name`` around it, changes what is done at once."""
        text = (name or mention.text).lower()
        if text in self._serious.names:
            return True
        # A kind that is lesser by its name may be read as the grave problem itself.
        if set(re.split(r"[ -]", text)) & tables.words("lesser").keys():
            return False
        if any(self.above(cui) & self._serious.cuis for cui in mention.cuis[:1]):
            return True
        # "Ventilator associated pneumonia" is as grave as its last words.
        parts = text.split()
        return any(" ".join(parts[place:]) in self._serious.names for place in range(1, len(parts)))
