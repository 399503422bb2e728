"""An input and an output beside each other, as the validator reads them, and what it may find."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from posixpath import commonprefix
from typing import Literal

from rapidfuzz import process
from rapidfuzz.distance import OSA

from builders.medval.judge.knowledge import Knowledge
from builders.medval.judge.lay import said_for
from builders.medval.judge.plain import elements_of, forms_of
from builders.medval.judge.tables import words
from builders.medval.judge.view import LONG, View, stem
from builders.medval.reading import Seen
from ehr.spans import Segment
from ground.contracts.rows_text import MedvalTask

__all__ = ["Comparison", "Finding", "quoted", "read_ahead"]

# A name that is not clear has so many meanings at most.
_CANDIDATES = 3
# What the elements of one word mean stands within so many characters.
_CLOSE = 160
_SPELT = 9
# One letter in so many may be heard as another.
_MISHEARD = 3
# Letters of an abbreviation at most, and of each word that it stands for at least.
_ABBREVIATION, _SPOKEN = 5, 2
_ENDING = 3
# Letters of the beginning of a name by which people call it ("oxy").
_SHORT, _STEM = 3, 6
# Of the words of another name, so many must be said at least.
_HALF = 1 / 2
_LETTERS = re.compile(r"[A-Za-z][A-Za-z'-]+")


@dataclass(frozen=True, slots=True)
class Finding:
    """One error: the rule whose weight it has, what is wrong in words, and the words it is about."""

    rule: str
    text: str
    quote: str | None
    quoted_from: Literal["input", "output"] | None
    evidence: str = ""
    """The kind of evidence in a note on a conversation, whose strength `evidence` knows."""


@dataclass(frozen=True)
class Comparison:
    """An input and an output, both read."""

    task: MedvalTask
    input: str
    output: str
    knowledge: Knowledge

    @cached_property
    def given(self) -> View:
        """The input, with all that an unclear name of it may mean."""
        return self.knowledge.view(View, self.task, self.input, given=True, candidates=_CANDIDATES)

    @cached_property
    def made(self) -> View:
        """The output, each name with its likeliest meaning."""
        return self.knowledge.view(View, self.task, self.output, given=False, candidates=1)

    @cached_property
    def given_families(self) -> frozenset[str]:
        """All concepts of the input."""
        return self.given.families

    @cached_property
    def made_families(self) -> frozenset[str]:
        """All concepts of the output."""
        return self.made.families

    def segment(self, one: Seen) -> Segment:
        """Return the sentence of the output in which a mention begins."""
        return next(part for part in self.made.segments if part.begin <= one.mention.begin < part.end)

    def worded(self, text: str) -> bool:
        """Tell whether the input has the telling words of a phrase, in some form or spelling."""
        if self.has(text) or self.lay_places(text):
            return True
        long = [word.lower() for word in _LETTERS.findall(text) if len(word) >= LONG or word.isupper()]
        telling = [word for word in long if word not in words("general")] or long
        return bool(telling) and all(self._has_word(word) for word in telling)

    def has(self, text: str) -> bool:
        """Tell whether the input has a word or phrase as it stands, whatever signs part it: "x-ray" and "xray"."""
        letters = re.sub(r"\W", "", text.lower())
        # "Gout" is not in "throughout".
        return bool(letters) and self.given.has_whole(letters)

    @cached_property
    def spoken(self) -> bool:
        """The input is somebody's own words, in which few things have their clinical names."""
        return self.task == "query2question" or self.given.over_lines

    @cached_property
    def is_note(self) -> bool:
        """The output is a note on a conversation, whose words are seldom those of the note."""
        return self.task == "dialogue2note" and self.given.over_lines

    def _has_word(self, word: str) -> bool:
        if forms_of(word) & self.given.forms or any(
            _forms_of_one(word, other) for other in self.given.by_stem.get(stem(word), ())
        ):
            return True
        cutoff = 1 if len(word) < _SPELT else 2
        near = process.extractOne(word, self.given.vocabulary, scorer=OSA.distance, score_cutoff=cutoff)
        # Names of opposites ("hyper-", "hypo-") differ as little as misspellings do, but early.
        alike = near is not None and sorted(near[0][:LONG]) == sorted(word[:LONG])
        return alike or bool(self.lay_places(word)) or self._said_in_parts(word) or self._misheard(word)

    def _said_in_parts(self, word: str) -> bool:
        """Tell whether a conversation says close together what the elements of a word mean."""
        parts = elements_of(word) if self.spoken else ()
        return bool(parts) and any(
            all(_beginning(part).search(self.given.lower, max(0, at - _CLOSE), at + _CLOSE) for part in parts[1:])
            for at in (match.start() for match in _beginning(parts[0]).finditer(self.given.lower))
        )

    def half_said(self, text: str, share: float = 0) -> bool:
        """Tell whether a conversation says parts of a name: if it means the whole, is not read.

        A part is a telling word or another that begins as it does ("appendix", "appendectomy"), or what an element of a
        word means. There is one, and at least this ``share`` of the words has one.
        """
        if not self.spoken:
            return False
        telling = [word for word in _LETTERS.findall(text.lower()) if len(word) > LONG and word not in words("general")]
        said = sum(map(self._partly_said, telling))
        return said > 0 and said >= share * len(telling)

    def begun(self, name: str) -> bool:
        """Tell whether a conversation says a part of a name, or a word with which a word of it begins ("oxy")."""
        frequent = self.knowledge.plain.frequent
        said = [word for word in _LETTERS.findall(name.lower()) if len(word) > LONG and word not in frequent]
        return any(
            self.given.by_stem.get(stem(word)) or any(map(word.startswith, self._short_words)) for word in said
        ) or self.half_said(name)

    @cached_property
    def _short_words(self) -> list[str]:
        return [word for word in self.given.words - self.knowledge.plain.frequent if _SHORT <= len(word) < _STEM]

    def _partly_said(self, word: str) -> bool:
        plain = self.knowledge.plain
        if word not in plain and self.given.by_stem.get(stem(word)):
            return True
        return any(
            match.group() not in plain.frequent
            for part in elements_of(word)
            for match in _beginning(part).finditer(self.given.lower)
        )

    def hinted(self, one: Seen) -> bool:
        """Tell whether somebody's own words may mean a problem that they do not name.

        They have other everyday words for it if its name is one of these, a part of the name, half of another name, a
        drug for it, or what people call it.
        """
        if not self.spoken:
            return False
        name, graph = one.mention.text.lower(), self.knowledge.graph
        if all(word in self.knowledge.plain for word in _LETTERS.findall(name)) or self.half_said(name):
            return True
        others = (other for cui in one.mention.cuis[:1] if cui in graph for other in graph.names(cui))
        return self.treated(one) or self.called(one) or any(self.half_said(other, _HALF) for other in others)

    def abbreviated(self, text: str) -> bool:
        """Tell whether the input has the first letters of a phrase of several words."""
        letters = "".join(word[0] for word in re.split(r"[\s-]+", text) if word).upper()
        spelt = r"[. ]?".join(map(re.escape, letters))
        if len(letters) > 1 and re.search(rf"\b{spelt}\b", self.input):
            return True
        # A conversation may be written in small letters throughout.
        low = letters.lower()
        return len(low) > _SPOKEN and low in self.given.words and not self.knowledge.plain.is_english(low)

    def spelt_out(self, word: str) -> bool:
        """Tell whether words of the input that stand together begin with the letters of an abbreviation."""
        if not word.isupper() or not 1 < len(word) <= _ABBREVIATION:
            return False
        # Two letters are found anywhere, unless both words tell something.
        told = (match.group().split() for match in _beginnings(word.lower()).finditer(self.given.spaced))
        return any(len(word) > 2 or self.knowledge.plain.frequent.isdisjoint(said) for said in told)

    @cached_property
    def _treated(self) -> frozenset[str]:
        drugs = frozenset[str]().union(*(one.family for one in self.given.drugs()))
        return frozenset[str]().union(*map(self.knowledge.treated_by, drugs))

    def _misheard(self, word: str) -> bool:
        """Tell whether somebody's own words have one that is none, and sounds or looks like this."""
        if not self.spoken:
            return False
        said, most = self.given.vocabulary, len(word) // _MISHEARD
        alike = said[bisect_left(said, word[0]) : bisect_left(said, chr(ord(word[0]) + 1))]
        return any(OSA.distance(other, word) <= most and self._is_no_word(other) for other in alike)

    def _is_no_word(self, word: str) -> bool:
        """Tell whether a word of the input is neither English nor read as a name."""
        return word not in self._read and not self.knowledge.plain.is_english(word)

    @cached_property
    def _read(self) -> frozenset[str]:
        return frozenset(word for one in self.given.seen for word in one.mention.text.lower().split())

    def treated(self, one: Seen) -> bool:
        """Tell whether a conversation names a drug that treats a problem: whether it is there, is not read."""
        return self.spoken and any(self.knowledge.above(cui) & self._treated for cui in one.mention.cuis[:1])

    def lay_places(self, text: str) -> list[int]:
        """Return where somebody's own words say a clinical word or name in everyday words ("your sugars")."""
        said = said_for(text) if self.spoken else ()
        return sorted({at for one in said for at in self.given.places_of(one)})

    def called(self, one: Seen) -> bool:
        """Tell whether a conversation has a word by which people mean a drug or a habit ("blood thinner")."""
        graph = self.knowledge.graph
        above = frozenset[str]().union(*map(self.knowledge.above, one.family)) | one.family
        names = {one.mention.text.lower(), *(graph.name(cui).lower() for cui in above if cui in graph)}
        return any(
            any(map(_beginning(named).search, names)) and _beginning(lay).search(self.given.lower)
            for named, lay in words("called").items()
        )

    def more_exact(self, one: Seen) -> Seen | None:
        """Return what the input names more exactly; what is more general bears nothing out."""
        cuis, above = set(one.mention.cuis[:2]), self.knowledge.above
        if self._above.isdisjoint(cuis):
            return None
        return next((o for o in self.given.seen if any(not above(cui).isdisjoint(cuis) for cui in o.family)), None)

    @cached_property
    def _above(self) -> frozenset[str]:
        """The concepts of the input and those above them by few steps."""
        return frozenset[str]().union(*map(self.knowledge.above, self.given_families))

    def specified(self, one: Seen) -> bool:
        """Tell whether the input names something below a problem, however far, or below what ends with its name.

        So an insulinoma, an islet cell tumor, is a tumor, even in a release that does not link the two.
        """
        above, names = self._lineage
        return not above.isdisjoint(one.mention.cuis[:2]) or f" {one.mention.text.lower()}\n" in names

    @cached_property
    def _lineage(self) -> tuple[frozenset[str], str]:
        """The concepts of the input and all above them, and their names in lower case, one a line after a space."""
        above = self.knowledge.lineage(self.given_families)
        return above, "".join(f" {self.knowledge.graph.name(cui).lower()}\n" for cui in above)

    def may_mean(self, one: Seen) -> bool:
        """Tell whether somebody's own words may mean a problem that they name by something more general only."""
        return self.spoken and self.knowledge.akin(one.mention.cuis[:2], self.given_families)

    def supported(self, one: Seen) -> bool:
        """Tell whether the input names what a mention of the output names, by concept or by its words."""
        text = one.mention.text
        if one.family & self.given_families or self.has(text) or one.family & self.given.unclear:
            return True
        if "-" in (
            self.output[one.mention.begin - 1 : one.mention.begin],
            self.output[one.mention.end : one.mention.end + 1],
        ):
            return True
        if one.mention.kind != "drug" and self.more_exact(one):
            return True
        return self.worded(text) or self.abbreviated(text)


def read_ahead(task: MedvalTask, pairs: Sequence[tuple[str, str]], knowledge: Knowledge) -> None:
    """Read inputs and outputs together, before they are compared."""
    knowledge.views(View, task, [given for given, _ in pairs], given=True, candidates=_CANDIDATES)
    knowledge.views(View, task, [made for _, made in pairs], given=False, candidates=1)


@lru_cache(maxsize=4096)
def _beginnings(letters: str) -> re.Pattern[str]:
    words = (rf"{letter}[a-z]{{{_SPOKEN - 1},}}" for letter in letters)
    return re.compile(r"\b" + r" (?:(?:and|of|or|the|with) )?".join(words) + r"\b")


@cache
def _beginning(said: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{said})")


def _forms_of_one(one: str, other: str) -> bool:
    """Tell whether two words that begin alike are forms of one: "infected" and "infection", not "otosclerosis"."""
    same = len(commonprefix((one, other)))
    ends = len(one) - same, len(other) - same
    return max(ends) <= _ENDING or (min(ends) == 0 and max(ends) <= _SPELT)


def quoted(rule: str, text: str, comparison: Comparison, begin: int, end: int, evidence: str = "") -> Finding:
    """Return a finding about words of the output."""
    return Finding(rule, text, comparison.output[begin:end], "output", evidence)
