"""Texts as they are read for whoever writes or judges outputs: mentions with their concepts and what is said of them.

Reading only: nothing here says what an edit is, what weighs how much, or what a quantity means.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import TypeVar, cast

from ehr.conversation import Polarity, polarities, turns_of
from ehr.reading import ReadMention, TextReader, TextReading
from ehr.spans import Segment
from ground.contracts.rows_text import MedvalTask
from kg.graph import ConceptGraph

__all__ = ["KEPT_VIEWS", "Concepts", "Kept", "Seen", "TextView"]

KEPT_VIEWS = 2048
"""Views that are kept at a time: some batches, whatever the size of a source."""
READINGS = 4096
"""Readings that are kept: generator and validator ask for the same texts, within some batches and for pools."""
# Concepts above a problem by so many steps still name it in other words.
_ANCESTOR_STEPS = 3
_WORDS = re.compile(r"[a-z][a-z'-]+")


@dataclass(frozen=True, slots=True)
class Seen:
    """A mention with its family of concepts and its polarity."""

    mention: ReadMention
    family: frozenset[str]
    polarity: Polarity


@dataclass(frozen=True)
class TextView:
    """One text that was read."""

    text: str
    seen: tuple[Seen, ...]
    segments: tuple[Segment, ...]
    unclear: frozenset[str]
    """Concepts that an ambiguous word may mean."""
    over_lines: bool = False
    """A conversation: what belongs to a drug may stand in the next line."""

    @cached_property
    def families(self) -> frozenset[str]:
        """All concepts that are named."""
        return frozenset[str]().union(*(one.family for one in self.seen))

    @cached_property
    def words(self) -> frozenset[str]:
        """The words in lower case."""
        return frozenset(_WORDS.findall(self.text.lower()))

    @cached_property
    def stems(self) -> frozenset[str]:
        """The beginnings of the words."""
        return frozenset(word[:5] for word in self.words)

    def drugs(self) -> list[Seen]:
        """Return the mentions of drugs."""
        return self._drugs

    def problems(self) -> list[Seen]:
        """Return the mentions of disorders and findings."""
        return self._problems

    @cached_property
    def _drugs(self) -> list[Seen]:
        return [one for one in self.seen if one.mention.kind == "drug"]

    @cached_property
    def _problems(self) -> list[Seen]:
        return [one for one in self.seen if one.mention.kind in {"disorder", "finding"}]

    @cached_property
    def _by_concept(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for number, one in enumerate(self.seen):
            for cui in one.family:
                found.setdefault(cui, []).append(number)
        return found

    def like(self, family: frozenset[str]) -> list[Seen]:
        """Return the mentions that share a concept with a family."""
        found = {number for cui in family for number in self._by_concept.get(cui, ())}
        return [self.seen[number] for number in sorted(found)]


V = TypeVar("V", bound=TextView)
_Key = tuple[bool, MedvalTask, str]
"""Whether a text is an input, its task, and the text."""


@dataclass(frozen=True)
class Kept:
    """A graph and a reader with what was looked up and read: who writes and who judges ask for the same."""

    graph: ConceptGraph
    reader: TextReader
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    families: dict[str, frozenset[str]] = field(default_factory=dict)
    joined: dict[tuple[str, ...], frozenset[str]] = field(default_factory=dict)
    above: dict[str, frozenset[str]] = field(default_factory=dict)
    _texts: dict[_Key, tuple[TextReading, list[Polarity], bool]] = field(default_factory=dict)

    def read(self, keys: Sequence[_Key]) -> list[tuple[TextReading, list[Polarity], bool]]:
        """Return each text as it was read, the polarity of its mentions, and whether it is a conversation."""
        new = [key for key in dict.fromkeys(keys) if key not in self._texts]
        for headers in (False, True):
            asked = [key for key in new if _has_headers(key) is headers]
            for key, reading in zip(
                asked, self.reader.read_all([key[2] for key in asked], headers=headers), strict=True
            ):
                turns = turns_of(key[2]) if key[:2] == (True, "dialogue2note") else []
                self._texts[key] = reading, polarities(key[2], reading.mentions, turns), len(turns) > 1
        found = [self._texts[key] for key in keys]
        for oldest in list(islice(self._texts, max(0, len(self._texts) - READINGS))):
            del self._texts[oldest]
        return found


def _has_headers(key: _Key) -> bool:
    given, task, _ = key
    return task == "course2diagnosis" if given else task != "query2question"


class Concepts:
    """The graph and the reader, with what was looked up and read kept."""

    def __init__(self, kept: Kept) -> None:
        self.graph = kept.graph
        self.kept = kept
        self._views: OrderedDict[_Key, TextView] = OrderedDict()

    def views(self, kind: type[V], task: MedvalTask, texts: Sequence[str], *, given: bool, candidates: int) -> list[V]:
        """Return the views of inputs (``given``) or outputs of a task, each mention with so many candidates.

        A text is read once, whoever asks, together with others: ``kind`` and ``candidates`` go with ``given``.
        """
        keys = [(given, task, text) for text in texts]
        new = [key for key in dict.fromkeys(keys) if key not in self._views]
        for key, (reading, said, over_lines) in zip(new, self.kept.read(new), strict=True):
            seen = tuple(
                Seen(mention, self.family_of(mention.cuis[:candidates]), polarity)
                for mention, polarity in zip(reading.mentions, said, strict=True)
            )
            unclear = frozenset(cui for mention in reading.unclear for cui in mention.cuis)
            self._views[key] = kind(key[2], seen, reading.segments, unclear, over_lines)
        found = [self._views[key] for key in keys]
        for key in keys:
            self._views.move_to_end(key)
        while len(self._views) > KEPT_VIEWS:
            self._views.popitem(last=False)
        return cast(list[V], found)

    def view(self, kind: type[V], task: MedvalTask, text: str, *, given: bool, candidates: int) -> V:
        """Return the view of one text."""
        return self.views(kind, task, [text], given=given, candidates=candidates)[0]

    def family(self, cui: str) -> frozenset[str]:
        """Return the concept and, of a drug, its other names and what it holds."""
        families = self.kept.families
        if cui not in families:
            kin: Iterable[str] = ()
            if cui in self.graph and "CHEM" in self.graph.groups(cui):
                kin = self.graph.ingredients(cui)
            families[cui] = frozenset((cui, *kin))
        return families[cui]

    def family_of(self, cuis: Iterable[str]) -> frozenset[str]:
        """Return the families of concepts."""
        key, joined = tuple(cuis), self.kept.joined
        if key not in joined:
            joined[key] = frozenset[str]().union(*map(self.family, key))
        return joined[key]

    def above(self, cui: str) -> frozenset[str]:
        """Return the concept and those above it by few steps."""
        above = self.kept.above
        if cui not in above:
            found = self.graph.ancestors(cui, _ANCESTOR_STEPS) if cui in self.graph else {}
            above[cui] = frozenset((cui, *found))
        return above[cui]

    def akin(self, one: Iterable[str], other: Iterable[str]) -> bool:
        """Tell whether a concept of one set is one of the other, or is above or below one."""
        left, right = set(one), set(other)
        return any(not self.above(cui).isdisjoint(right) for cui in left) or any(
            not self.above(cui).isdisjoint(left) for cui in right
        )

    def concepts(self, name: str) -> tuple[str, ...]:
        """Return the concepts of a name that is one mention as a whole, best first; none where it is not."""
        return self.concepts_of([name])[0]

    def concepts_of(self, names: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the same of each name; new names are read together."""
        known = self.kept.names
        new = [name for name in dict.fromkeys(names) if name not in known]
        for name, reading in zip(new, self.kept.reader.read_all(new, headers=False), strict=True):
            whole = [one for one in reading.mentions if one.end - one.begin == len(name)]
            known[name] = whole[0].cuis if whole else ()
        return [known[name] for name in names]
