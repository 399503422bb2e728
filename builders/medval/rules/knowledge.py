"""What the generator knows: texts read once, concepts and their kin in the graph, and what is grave."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable
from functools import cached_property

from builders.medval.rules.edit_tables import grave_roots, minor_drugs
from ehr.reading import ReadMention, TextReader, TextReading
from kg.graph import ConceptGraph

__all__ = ["Knowledge"]

# Concepts above a problem by so many steps still name it in other words.
_ANCESTOR_STEPS = 3
# A class that lists so many drugs is no class.
_CANDIDATES = 3
_PLAIN = re.compile(r"[A-Za-z][a-z]+(?:[ -][a-z]+){0,3}")
_USES = frozenset({"treats", "prevents"})
_FORBIDDEN = "contraindicated_with"


class Knowledge:
    """The graph and the reader, with what was looked up kept."""

    def __init__(self, graph: ConceptGraph, reader: TextReader) -> None:
        self.graph = graph
        self.reader = reader
        self._names: dict[str, tuple[str, ...]] = {}
        self.views: OrderedDict[tuple[str, str, str], object] = OrderedDict()
        self._families: dict[str, frozenset[str]] = {}
        self._above: dict[str, frozenset[str]] = {}
        self._bears_on: dict[str, frozenset[str]] = {}

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

    def family_of(self, mention: ReadMention) -> frozenset[str]:
        """Return the families of the first candidates of a mention."""
        return frozenset[str]().union(*(self.family(cui) for cui in mention.cuis[:_CANDIDATES]))

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

    def same_name(self, one: str, other: str) -> bool:
        """Tell whether the reader finds one concept in both wordings, or none in either."""
        left, right = self.concepts(one)[:_CANDIDATES], self.concepts(other)[:_CANDIDATES]
        return self.akin_names(left, right) if left or right else True

    def akin_names(self, left: Iterable[str], right: Iterable[str]) -> bool:
        """Tell whether two sets of candidates share a concept or names of one drug."""
        families = [frozenset[str]().union(*(self.family(cui) for cui in side)) for side in (left, right)]
        return bool(families[0] & families[1])

    def plain_names(self, cui: str) -> list[str]:
        """Return the graph's name of a concept, and of what a brand holds, if they read like words of a text."""
        kin = sorted(self.family(cui) - {cui})[:1] if cui in self.graph and self.graph.ingredients(cui) else []
        names = [self.graph.name(one) for one in (cui, *kin) if one in self.graph]
        return [name for name in names if _PLAIN.fullmatch(name) and self.family_of_name(name) & self.family(cui)]

    def family_of_name(self, name: str) -> frozenset[str]:
        """Return the families of the concepts of a name."""
        return frozenset[str]().union(*(self.family(cui) for cui in self.concepts(name)[:1]))

    # ---- what is grave

    @cached_property
    def _roots(self) -> frozenset[str]:
        return frozenset(cui for name in grave_roots() for cui in self.concepts(name)[:1])

    def is_grave(self, cui: str) -> bool:
        """Tell whether a problem, or a drug or what it holds, is below one of the groups that are grave."""
        return any(self.above(one) & self._roots for one in self.family(cui))

    def bears_on(self, drug: str) -> frozenset[str]:
        """Return the grave problems that a drug treats or prevents, and all that it must not be given in."""
        if drug not in self._bears_on:
            edges = [edge for one in self.family(drug) if one in self.graph for edge in self.graph.neighbours(one)]
            grave = {edge.tail for edge in edges if edge.predicate in _USES and self.is_grave(edge.tail)}
            self._bears_on[drug] = frozenset(grave | {edge.tail for edge in edges if edge.predicate == _FORBIDDEN})
        return self._bears_on[drug]

    def is_minor(self, mention: ReadMention) -> bool:
        """Tell whether a drug is one of ``minor_drugs.tsv``, by its name or its concept."""
        return mention.text.lower() in minor_drugs() or bool(set(mention.cuis[:1]) & self._minor)

    @cached_property
    def _minor(self) -> frozenset[str]:
        return frozenset(cui for name in minor_drugs() for one in self.concepts(name)[:1] for cui in self.family(one))
