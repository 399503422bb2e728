"""What the validator knows: texts read once, concepts and their kin in the graph, and its tables by concept."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from builders.medval.judge import tables
from builders.medval.judge.plain import PlainWords
from ehr.reading import ReadMention, TextReader, TextReading
from kg.graph import ConceptGraph

__all__ = ["Knowledge"]

# Concepts above a problem by so many steps still name it in other words.
_ANCESTOR_STEPS = 3
# A name that is not clear has so many meanings at most.
_CANDIDATES = 3


@dataclass(frozen=True, slots=True)
class _Named:
    """Names of a table by the concepts that they mean and as they are written."""

    cuis: frozenset[str]
    names: frozenset[str]


class Knowledge:
    """The graph, the reader and the tables, with what was looked up kept."""

    def __init__(self, graph: ConceptGraph, reader: TextReader, plain: PlainWords) -> None:
        self.graph = graph
        self.reader = reader
        self.plain = plain
        self._names: dict[str, tuple[str, ...]] = {}
        self._kin: dict[str, frozenset[str]] = {}
        self.views: OrderedDict[tuple[str, str, str], object] = OrderedDict()
        self._families: dict[str, frozenset[str]] = {}
        self._above: dict[str, frozenset[str]] = {}

    def read(self, text: str, *, headers: bool) -> TextReading:
        """Read a text; who reads it again keeps what is made of it in ``views``."""
        return self.reader.read(text, headers=headers)

    # ---- concepts

    def family(self, cui: str) -> frozenset[str]:
        """Return the concept and, of a drug, its other names and what it holds."""
        if cui not in self._families:
            kin: Iterable[str] = ()
            if cui in self.graph and "CHEM" in self.graph.groups(cui):
                kin = self.graph.ingredients(cui)
            self._families[cui] = frozenset((cui, *kin))
        return self._families[cui]

    def family_of(self, mention: ReadMention, *, given: bool) -> frozenset[str]:
        """Return the families of what a mention means: of an input all that it may mean, of an output the likeliest."""
        cuis = mention.cuis[: _CANDIDATES if given else 1]
        return frozenset[str]().union(*(self.family(cui) for cui in cuis))

    def above(self, cui: str) -> frozenset[str]:
        """Return the concept and those above it by few steps."""
        if cui not in self._above:
            found = self.graph.ancestors(cui, _ANCESTOR_STEPS) if cui in self.graph else {}
            self._above[cui] = frozenset((cui, *found))
        return self._above[cui]

    def akin(self, one: Iterable[str], other: Iterable[str]) -> bool:
        """Tell whether a concept of one set is one of the other, or is above or below one."""
        left, right = set(one), set(other)
        if left & right:
            return True
        return any(self.above(cui) & right for cui in left) or any(self.above(cui) & left for cui in right)

    def concepts(self, name: str) -> tuple[str, ...]:
        """Return the concepts of a name that is one mention as a whole, best first; none where it is not."""
        if name not in self._names:
            whole = [one for one in self.read(name, headers=False).mentions if one.end - one.begin == len(name)]
            self._names[name] = whole[0].cuis if whole else ()
        return self._names[name]

    def siblings(self, cui: str) -> frozenset[str]:
        """Return what the graph calls siblings of a concept."""
        if cui not in self._kin:
            self._kin[cui] = frozenset(self.graph.siblings(cui)) if cui in self.graph else frozenset()
        return self._kin[cui]

    # ---- tables by concept

    @cached_property
    def _critical(self) -> _Named:
        names = tables.critical_drugs()
        cuis = frozenset(cui for name in names for first in self.concepts(name)[:1] for cui in self.family(first))
        return _Named(cuis, frozenset(name.lower() for name in names))

    @cached_property
    def _serious(self) -> _Named:
        return _Named(
            frozenset(cui for name in tables.serious_diagnoses() for cui in self.concepts(name)[:1]),
            frozenset(name.lower() for name in tables.serious_diagnoses()),
        )

    def is_critical(self, mention: ReadMention) -> bool:
        """Tell whether a drug has a narrow margin or a vital effect."""
        named = self._critical
        return mention.text.lower() in named.names or bool(set(mention.cuis[:1]) & named.cuis)

    @property
    def serious(self) -> frozenset[str]:
        """Concepts of diagnoses and red flags that change what is done at once."""
        return self._serious.cuis

    def is_serious(self, mention: ReadMention) -> bool:
        """Tell whether a diagnosis or red flag changes what is done at once."""
        text = mention.text.lower()
        if text in self._serious.names or set(mention.cuis[:1]) & self._serious.cuis:
            return True
        # "Ventilator associated pneumonia" is as grave as its last words.
        parts = text.split()
        return any(" ".join(parts[place:]) in self._serious.names for place in range(1, len(parts)))
