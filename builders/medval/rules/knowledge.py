"""What the generator knows beyond what is read: which names are one, and what is grave."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from builders.medval.reading import Concepts, Kept
from builders.medval.rules.edit_tables import grave_roots, minor_drugs
from ehr.reading import ReadMention

__all__ = ["CANDIDATES", "Knowledge"]

# A name that is not clear has so many meanings at most.
CANDIDATES = 3
_PLAIN = re.compile(r"[A-Za-z][a-z]+(?:[ -][a-z]+){0,3}")
_FORBIDDEN = "contraindicated_with"
_BEARS_ON = ("treats", "prevents", _FORBIDDEN)


class Knowledge(Concepts):
    """The graph and the reader, with what was looked up kept."""

    def __init__(self, kept: Kept, in_names: frozenset[str]) -> None:
        """Take what texts are read with, and the words that names of the release are made of."""
        super().__init__(kept)
        self.in_names = in_names
        self._grave: dict[str, bool] = {}
        self._bears_on: dict[str, frozenset[str]] = {}

    def same_name(self, one: str, other: str) -> bool:
        """Tell whether the reader finds one concept in both wordings, or none in either."""
        left, right = self.concepts(one)[:CANDIDATES], self.concepts(other)[:CANDIDATES]
        return self.akin_names(left, right) if left or right else True

    def akin_names(self, left: Iterable[str], right: Iterable[str]) -> bool:
        """Tell whether two sets of candidates share a concept or names of one drug."""
        return bool(self.family_of(left) & self.family_of(right))

    def plain_names(self, cui: str) -> list[str]:
        """Return the graph's name of a concept, and of what a brand holds, if they read like words of a text."""
        kin = sorted(self.family(cui) - {cui})[:1] if cui in self.graph and self.graph.ingredients(cui) else []
        names = [name for one in (cui, *kin) if one in self.graph and _PLAIN.fullmatch(name := self.graph.name(one))]
        read = zip(names, self.concepts_of(names), strict=True)
        return [name for name, found in read if self.family_of(found[:1]) & self.family(cui)]

    # ---- what is grave

    @cached_property
    def _roots(self) -> frozenset[str]:
        return frozenset(cui for found in self.concepts_of(grave_roots()) for cui in found[:1])

    def is_grave(self, cui: str) -> bool:
        """Tell whether a problem, or a drug or what it holds, is below one of the groups that are grave."""
        if cui not in self._grave:
            self._grave[cui] = any(self.above(one) & self._roots for one in self.family(cui))
        return self._grave[cui]

    def bears_on(self, drug: str) -> frozenset[str]:
        """Return the grave problems that a drug treats or prevents, and all that it must not be given in."""
        if drug not in self._bears_on:
            known = [one for one in self.family(drug) if one in self.graph]
            edges = {use: [edge for one in known for edge in self.graph.neighbours(one, use)] for use in _BEARS_ON}
            forbidden = {edge.tail for edge in edges.pop(_FORBIDDEN)}
            used = {edge.tail for found in edges.values() for edge in found}
            self._bears_on[drug] = frozenset(forbidden.union(filter(self.is_grave, used)))
        return self._bears_on[drug]

    def is_minor(self, mention: ReadMention) -> bool:
        """Tell whether a drug is one of ``minor_drugs.tsv``, by its name or its concept."""
        return mention.text.lower() in minor_drugs() or bool(set(mention.cuis[:1]) & self._minor)

    @cached_property
    def _minor(self) -> frozenset[str]:
        return frozenset(cui for one in self.concepts_of(minor_drugs()) for cui in self.family_of(one[:1]))
