"""How serious the validator takes a drug or a diagnosis to be, by its own lists of names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from builders.medval.judge import tables
from builders.medval.reading import Concepts
from ehr.reading import ReadMention

__all__ = ["Severity"]


@dataclass(frozen=True, slots=True)
class _Named:
    """Names of a table by the concepts that they mean and as they are written."""

    cuis: frozenset[str]
    names: frozenset[str]


class Severity:
    """Drugs of narrow margin and grave diagnoses, by the concepts of a graph and by their names."""

    def __init__(self, concepts: Concepts) -> None:
        self._concepts = concepts

    def _named(self, names: Sequence[str]) -> _Named:
        cuis = (cui for first in self._concepts.concepts_of(names) for cui in self._concepts.family_of(first[:1]))
        return _Named(frozenset(cuis), frozenset(name.lower() for name in names))

    @cached_property
    def _critical(self) -> _Named:
        return self._named(tables.critical_drugs())

    @cached_property
    def _serious(self) -> _Named:
        return self._named(tables.serious_diagnoses())

    def is_critical(self, drug: ReadMention) -> bool:
        """Tell whether a drug has a narrow margin or a vital effect."""
        return drug.text.lower() in self._critical.names or not self._critical.cuis.isdisjoint(drug.cuis[:1])

    def is_serious(self, problem: ReadMention) -> bool:
        """Tell whether a diagnosis or red flag changes what is done at once."""
        text = problem.text.lower()
        if text in self._serious.names:
            return True
        # A kind that is lesser by its name may be read as the grave problem itself.
        if set(re.split(r"[ -]", text)) & tables.words("lesser").keys():
            return False
        if any(self._concepts.above(cui) & self._serious.cuis for cui in problem.cuis[:1]):
            return True
        # "Ventilator associated pneumonia" is as grave as its last words.
        parts = text.split()
        return any(" ".join(parts[place:]) in self._serious.names for place in range(1, len(parts)))
