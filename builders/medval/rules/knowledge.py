"""What the rules know: texts read once, concepts and their kin in the graph, and the tables looked up by concept."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from builders.medval.rules import tables
from ehr.reading import ReadMention, TextReader, TextReading
from kg.graph import ConceptGraph

__all__ = ["Knowledge"]

# Concepts above a problem by so many steps still name it in other words.
_ANCESTOR_STEPS = 3
# A class that lists so many drugs is no class.
_CANDIDATES = 3


@dataclass(frozen=True, slots=True)
class _Named:
    """Names of a table by the concepts that they mean and as they are written."""

    cuis: frozenset[str]
    names: frozenset[str]


class Knowledge:
    """The graph, the reader and the tables, with what was looked up kept."""

    def __init__(self, graph: ConceptGraph, reader: TextReader) -> None:
        self.graph = graph
        self.reader = reader
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

    def siblings(self, cui: str) -> frozenset[str]:
        """Return what the graph calls siblings of a concept."""
        if cui not in self._kin:
            self._kin[cui] = frozenset(self.graph.siblings(cui)) if cui in self.graph else frozenset()
        return self._kin[cui]

    def same_name(self, one: str, other: str) -> bool:
        """Tell whether the reader finds one concept in both wordings, or none in either."""
        left, right = self.concepts(one)[:_CANDIDATES], self.concepts(other)[:_CANDIDATES]
        return self.akin_names(left, right) if left or right else True

    def akin_names(self, left: Iterable[str], right: Iterable[str]) -> bool:
        """Tell whether two sets of candidates share a concept or names of one drug."""
        families = [frozenset[str]().union(*(self.family(cui) for cui in side)) for side in (left, right)]
        return bool(families[0] & families[1])

    # ---- tables by concept

    def _named(self, names: Iterable[str]) -> _Named:
        cuis: set[str] = set()
        written = list(names)
        for name in written:
            cuis.update(cui for first in self.concepts(name)[:1] for cui in self.family(first))
        return _Named(frozenset(cuis), frozenset(name.lower() for name in written))

    @cached_property
    def _critical(self) -> _Named:
        return self._named(tables.critical_drugs())

    @cached_property
    def _minor(self) -> _Named:
        return self._named(tables.minor_drugs())

    @cached_property
    def _serious(self) -> _Named:
        return _Named(
            frozenset(cui for name in tables.serious_diagnoses() for cui in self.concepts(name)[:1]),
            frozenset(name.lower() for name in tables.serious_diagnoses()),
        )

    def is_critical(self, mention: ReadMention) -> bool:
        """Tell whether a drug has a narrow margin or a vital effect."""
        return mention.text.lower() in self._critical.names or bool(set(mention.cuis[:1]) & self._critical.cuis)

    def is_minor(self, mention: ReadMention) -> bool:
        """Tell whether a drug is a supplement, a bowel regimen or a symptomatic drug."""
        if self.is_critical(mention):
            return False
        return mention.text.lower() in self._minor.names or bool(set(mention.cuis[:1]) & self._minor.cuis)

    def is_serious(self, mention: ReadMention) -> bool:
        """Tell whether a diagnosis or red flag changes what is done at once."""
        text = mention.text.lower()
        if text in self._serious.names or set(mention.cuis[:1]) & self._serious.cuis:
            return True
        # "Ventilator associated pneumonia" is as grave as its last words.
        parts = text.split()
        return any(" ".join(parts[place:]) in self._serious.names for place in range(1, len(parts)))

    @cached_property
    def forbidden(self) -> dict[str, dict[str, tuple[str, str, str]]]:
        """Drug, dose and reason by the concept of a problem and the drug's name: the tables' contraindications."""
        found: dict[str, dict[str, tuple[str, str, str]]] = {}
        for line in tables.contraindications():
            for cui in self.concepts(line.problem)[:1]:
                if self.concepts(line.drug):
                    found.setdefault(cui, {})[line.drug] = (line.drug, line.dose, line.why)
        return found

    def contraindicates(self, drug: ReadMention, problem: ReadMention) -> str | None:
        """Return why a drug must not be given in a problem; None where nothing says so.

        The tables name the problem itself; an edge of the graph counts where it leads from the drug's family to the
        problem itself.
        """
        family = self.family_of(drug)
        for cui in problem.cuis[:1]:
            for name, (_, _, why) in self.forbidden.get(cui, {}).items():
                if any(other in family for other in self.concepts(name)[:1]):
                    return why
            if cui in self._graph_forbids and self._graph_forbids[cui] & family:
                return "contraindicated_with"
        return None

    @cached_property
    def _graph_forbids(self) -> dict[str, frozenset[str]]:
        """Drugs that the graph forbids, by the serious diagnosis that an edge ``contraindicated_with`` names."""
        found: dict[str, frozenset[str]] = {}
        for cui in self._serious.cuis:
            if cui in self.graph:
                edges = self.graph.neighbours(cui, "has_contraindicated_drug")
                found[cui] = frozenset(edge.tail for edge in edges)
        return found
