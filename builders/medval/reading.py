"""Texts as they are read for whoever writes or judges outputs: mentions, what is asserted of them, numbers and doses.

Reading only: nothing here says what an edit is, or what weighs how much.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from builders.medval.quantities import Number, Quantity, Side, numbers_of, quantities_of, sides_of
from builders.medval.word_frequencies import WordFrequencies, forms_of
from ehr.reading import ReadMention, TextReader, TextReading
from ehr.spans import Assertion, Segment
from ground.contracts.rows_text import MedvalTask
from kg.graph import ConceptGraph

__all__ = ["KEPT_VIEWS", "LONG", "Concepts", "Dose", "Polarity", "Seen", "View"]

Polarity = Literal["present", "absent", "unknown"]
KEPT_VIEWS = 4096
"""Views that are kept at a time: some batches, whatever the size of a source."""
LONG = 4
"""Letters from which on a word tells something."""
# Meanings at most of a name that is not clear: of an input any of them, of an output the likeliest.
_CANDIDATES = {True: 3, False: 1}
# Concepts above a problem by so many steps still name it in other words.
_ANCESTOR_STEPS = 3
# A dose or frequency stands within so many characters after its drug.
_REACH = 90
_STEM = 5
_WORD = re.compile(r"[a-z][a-z'-]+")
_END = re.compile(r"\n|[.;] ")
_STATED = frozenset({Assertion.PRESENT, Assertion.HISTORICAL})


@dataclass(frozen=True, slots=True)
class Seen:
    """A mention with the family of the concepts that it may mean."""

    mention: ReadMention
    family: frozenset[str]

    @property
    def polarity(self) -> Polarity:
        """Whether the text says that it is there."""
        if self.mention.assertion is Assertion.ABSENT:
            return "absent"
        return "present" if self.mention.assertion in _STATED else "unknown"


@dataclass(frozen=True, slots=True)
class Dose:
    """How much of a drug, or how often."""

    drug: Seen
    quantity: Quantity


@dataclass(frozen=True)
class View:
    """One text that was read; what few rules need is looked for when it is asked for."""

    text: str
    seen: tuple[Seen, ...]
    segments: tuple[Segment, ...]
    unclear: frozenset[str]
    """Concepts that an ambiguous word may mean."""
    everyday: frozenset[str]
    """Words that name no part of the body."""

    @cached_property
    def lower(self) -> str:
        """The text in lower case."""
        return self.text.lower()

    @cached_property
    def families(self) -> frozenset[str]:
        """All concepts that are named."""
        return frozenset[str]().union(*(named.family for named in self.seen))

    @cached_property
    def words(self) -> frozenset[str]:
        """The words in lower case."""
        return frozenset(_WORD.findall(self.lower))

    @cached_property
    def stems(self) -> frozenset[str]:
        """The beginnings of the words."""
        return frozenset(word[:_STEM] for word in self.words)

    @cached_property
    def forms(self) -> frozenset[str]:
        """The words and what they may be forms of."""
        return frozenset[str]().union(*map(forms_of, self.words))

    @cached_property
    def drugs(self) -> list[Seen]:
        """The mentions of drugs."""
        return [named for named in self.seen if named.mention.kind == "drug"]

    @cached_property
    def problems(self) -> list[Seen]:
        """The mentions of disorders and findings."""
        return [named for named in self.seen if named.mention.kind in {"disorder", "finding"}]

    @cached_property
    def numbers(self) -> list[Number]:
        """The numbers, in digits or words."""
        return numbers_of(self.text)

    @cached_property
    def values(self) -> frozenset[float]:
        """The values of the numbers."""
        return frozenset(number.value for number in self.numbers)

    @cached_property
    def quantities(self) -> list[Quantity]:
        """The numbers with a unit, and how often something is done."""
        return quantities_of(self.text, self.numbers)

    @cached_property
    def sides(self) -> list[Side]:
        """Where a side of the body is named."""
        return sides_of(self.text, self.everyday)

    @cached_property
    def doses(self) -> list[Dose]:
        """Each quantity with the nearest drug before it, in the same line and sentence."""
        doses = []
        for quantity in self.quantities if self.drugs else ():
            before = [drug for drug in self.drugs if drug.mention.end <= quantity.begin]
            drug = max(before, key=lambda named: named.mention.end, default=None)
            if drug is not None and self._is_near(drug.mention.end, quantity.begin):
                doses.append(Dose(drug, quantity))
        return doses

    def amounts_of(self, dose: Dose) -> set[float]:
        """Return how much, or how often, this text has of the drug of a dose, in the same base unit."""
        return {
            other.quantity.value
            for other in self.doses
            if other.quantity.base == dose.quantity.base and other.drug.family & dose.drug.family
        }

    def _is_near(self, begin: int, end: int) -> bool:
        return end - begin < _REACH and _END.search(self.text, begin, end) is None

    @cached_property
    def _by_concept(self) -> dict[str, list[int]]:
        numbers: dict[str, list[int]] = {}
        for number, named in enumerate(self.seen):
            for cui in named.family:
                numbers.setdefault(cui, []).append(number)
        return numbers

    def like(self, family: frozenset[str]) -> list[Seen]:
        """Return the mentions that share a concept with a family."""
        numbers = {number for cui in family for number in self._by_concept.get(cui, ())}
        return [self.seen[number] for number in sorted(numbers)]


class Concepts:
    """A graph, a reader and the words of a release, with what was looked up and read kept."""

    def __init__(self, graph: ConceptGraph, reader: TextReader, words: WordFrequencies) -> None:
        self.graph, self.reader, self.words = graph, reader, words
        self._views: OrderedDict[tuple[bool, bool, str], View] = OrderedDict()
        self._names: dict[str, tuple[str, ...]] = {}
        self._families: dict[str, frozenset[str]] = {}
        self._above: dict[str, frozenset[str]] = {}

    # ---- texts

    def views(self, task: MedvalTask, texts: Sequence[str], *, given: bool) -> list[View]:
        """Return inputs (``given``) or outputs of a task as they are read, new ones together."""
        headers = task == "course2diagnosis" if given else task != "query2question"
        keys = [(given, headers, text) for text in texts]
        new = [key for key in dict.fromkeys(keys) if key not in self._views]
        readings = self.reader.read_all([text for *_, text in new], headers=headers)
        for key, reading in zip(new, readings, strict=True):
            self._views[key] = self._view(key[2], reading, _CANDIDATES[given])
        views = [self._views[key] for key in keys]
        for key in keys:
            self._views.move_to_end(key)
        while len(self._views) > KEPT_VIEWS:
            self._views.popitem(last=False)
        return views

    def view(self, task: MedvalTask, text: str, *, given: bool) -> View:
        """Return the view of one text."""
        return self.views(task, [text], given=given)[0]

    def _view(self, text: str, reading: TextReading, candidates: int) -> View:
        seen = tuple(Seen(mention, self.family_of(mention.cuis[:candidates])) for mention in reading.mentions)
        unclear = frozenset(cui for mention in reading.unclear for cui in mention.cuis)
        return View(text, seen, reading.segments, unclear, self.words.frequent)

    # ---- concepts

    def family(self, cui: str) -> frozenset[str]:
        """Return the concept and, of a drug, its other names and what it holds."""
        if cui not in self._families:
            kin: Iterable[str] = ()
            if cui in self.graph and "CHEM" in self.graph.groups(cui):
                kin = self.graph.ingredients(cui)
            self._families[cui] = frozenset((cui, *kin))
        return self._families[cui]

    def family_of(self, cuis: Iterable[str]) -> frozenset[str]:
        """Return the families of concepts."""
        return frozenset[str]().union(*map(self.family, cuis))

    def above(self, cui: str) -> frozenset[str]:
        """Return the concept and those above it by few steps."""
        if cui not in self._above:
            ancestors = self.graph.ancestors(cui, _ANCESTOR_STEPS) if cui in self.graph else {}
            self._above[cui] = frozenset((cui, *ancestors))
        return self._above[cui]

    def akin(self, left: Iterable[str], right: Iterable[str]) -> bool:
        """Tell whether a concept of one set is one of the other, or is above or below one."""
        ours, theirs = set(left), set(right)
        return any(not self.above(cui).isdisjoint(theirs) for cui in ours) or any(
            not self.above(cui).isdisjoint(ours) for cui in theirs
        )

    def concepts(self, name: str) -> tuple[str, ...]:
        """Return the concepts of a name that is one mention as a whole, best first; none where it is not."""
        return self.concepts_of([name])[0]

    def concepts_of(self, names: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the same of each name; new names are read together."""
        known = self._names
        new = [name for name in dict.fromkeys(names) if name not in known]
        for name, reading in zip(new, self.reader.read_all(new, headers=False), strict=True):
            whole = [mention for mention in reading.mentions if mention.end - mention.begin == len(name)]
            known[name] = whole[0].cuis if whole else ()
        return [known[name] for name in names]
