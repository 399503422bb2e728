"""What the generator takes to be grave: problems by their group, drugs by their class and by what they bear on."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from builders.medval.reading import Concepts
from builders.medval.rules.edit_tables import grave_roots

__all__ = ["Gravity"]

_FORBIDDEN = "contraindicated_with"
_USES = ("treats", "prevents")


class Gravity:
    """Gravity of concepts, kept for those that were asked for."""

    def __init__(self, concepts: Concepts) -> None:
        self._concepts = concepts
        self._grave: dict[str, bool] = {}
        self._bears_on: dict[str, frozenset[str]] = {}

    @cached_property
    def _roots(self) -> frozenset[str]:
        return frozenset(cui for first in self._concepts.concepts_of(grave_roots()) for cui in first[:1])

    def is_grave(self, cui: str) -> bool:
        """Tell whether a problem, or a drug or what it holds, is below one of the groups that are grave."""
        if cui not in self._grave:
            kin = self._concepts.family(cui)
            self._grave[cui] = any(self._concepts.above(other) & self._roots for other in kin)
        return self._grave[cui]

    def is_any_grave(self, cuis: Iterable[str]) -> bool:
        """Tell whether one of several concepts is grave."""
        return any(map(self.is_grave, cuis))

    def weighs(self, cuis: Iterable[str], given: frozenset[str]) -> bool:
        """Tell whether a problem is grave; or a drug, by its class or by what it bears on among ``given`` concepts."""
        return any(self.is_grave(cui) or bool(self._borne_on(cui) & given) for cui in cuis)

    def _borne_on(self, drug: str) -> frozenset[str]:
        """Return the grave problems that a drug treats or prevents, and all that it must not be given in."""
        if drug not in self._bears_on:
            graph = self._concepts.graph
            known = [cui for cui in self._concepts.family(drug) if cui in graph]
            forbidden = {edge["tail_cui"] for cui in known for edge in graph.neighbours(cui, _FORBIDDEN)}
            used = {edge["tail_cui"] for cui in known for use in _USES for edge in graph.neighbours(cui, use)}
            self._bears_on[drug] = frozenset(forbidden.union(filter(self.is_grave, used)))
        return self._bears_on[drug]
