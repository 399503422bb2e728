"""An input and an output beside each other, as the validator reads them, and what it may find."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from rapidfuzz import process
from rapidfuzz.distance import OSA

from builders.medval.judge.severity import Severity
from builders.medval.judge.tables import words
from builders.medval.reading import LONG, Concepts, Seen, View
from builders.medval.word_frequencies import forms_of
from ground.contracts.rows_text import MedvalTask

__all__ = ["Comparison", "Finding", "quoted"]

# From so many letters on a word may be misspelt in two.
_LONG_NAME = 9
_SIGNS = re.compile(r"[\W_]+")
_LETTERS = re.compile(r"[A-Za-z][A-Za-z'-]+")


@dataclass(frozen=True, slots=True)
class Finding:
    """One error: the rule whose weight it has, what is wrong in words, and the words it is about."""

    rule: str
    text: str
    quote: str | None
    quoted_from: Literal["input", "output"] | None


@dataclass(frozen=True)
class Comparison:
    """An input and an output, both read."""

    task: MedvalTask
    input: str
    output: str
    concepts: Concepts
    severity: Severity

    @cached_property
    def input_view(self) -> View:
        """The input, with all that an unclear name of it may mean."""
        return self.concepts.view(self.task, self.input, given=True)

    @cached_property
    def output_view(self) -> View:
        """The output, each name with its likeliest meaning."""
        return self.concepts.view(self.task, self.output, given=False)

    @property
    def is_question(self) -> bool:
        """The input is a patient's own words, in which few things have their clinical names."""
        return self.task == "query2question"

    # ---- words

    def worded(self, text: str) -> bool:
        """Tell whether the input has the telling words of a phrase, in some form or spelling."""
        if self.has(text):
            return True
        long = [word.lower() for word in _LETTERS.findall(text) if len(word) >= LONG or word.isupper()]
        telling = [word for word in long if word not in words("general")] or long
        return bool(telling) and all(self._has_word(word) for word in telling)

    def has(self, text: str) -> bool:
        """Tell whether the input has a word or phrase as it stands, whatever signs part it: "x-ray" and "xray"."""
        letters = _SIGNS.sub("", text.lower())
        if not letters or letters not in self._letters:
            return False
        # "Gout" is not in "throughout".
        whole = r"[\W_]*".join(letters)
        return re.search(rf"\b{whole}(?:e?s)?\b", self.input_view.lower) is not None

    @cached_property
    def _letters(self) -> str:
        """The letters and digits of the input."""
        return _SIGNS.sub("", self.input_view.lower)

    def _has_word(self, word: str) -> bool:
        if forms_of(word) & self.input_view.forms:
            return True
        cutoff = 1 if len(word) < _LONG_NAME else 2
        near = process.extractOne(word, self._long_words, scorer=OSA.distance, score_cutoff=cutoff)
        # Names of opposites ("hyper-", "hypo-") differ as little as misspellings do, but early.
        return near is not None and sorted(near[0][:LONG]) == sorted(word[:LONG])

    @cached_property
    def _long_words(self) -> list[str]:
        return sorted(word for word in self.input_view.words if len(word) >= LONG)

    def abbreviated(self, text: str) -> bool:
        """Tell whether the input has the first letters of a phrase of several words."""
        letters = "".join(word[0] for word in re.split(r"[\s-]+", text) if word).upper()
        spelt = r"[. ]?".join(map(re.escape, letters))
        return len(letters) > 1 and re.search(rf"\b{spelt}\b", self.input) is not None

    # ---- concepts

    def more_exact(self, named: Seen) -> Seen | None:
        """Return what the input names more exactly; what is more general bears nothing out."""
        cuis, above = set(named.mention.cuis[:2]), self.concepts.above
        exact = (
            other for other in self.input_view.seen if any(not above(cui).isdisjoint(cuis) for cui in other.family)
        )
        return next(exact, None)

    def may_mean(self, named: Seen) -> bool:
        """Tell whether a message may mean a problem that it names by something more general only."""
        return self.is_question and self.concepts.akin(named.mention.cuis[:2], self.input_view.families)

    def supported(self, named: Seen) -> bool:
        """Tell whether the input names what a mention of the output names, by concept or by its words."""
        text, begin, end = named.mention.text, named.mention.begin, named.mention.end
        if named.family & self.input_view.families or self.has(text) or named.family & self.input_view.unclear:
            return True
        if "-" in (self.output[begin - 1 : begin], self.output[end : end + 1]):
            return True
        if named.mention.kind != "drug" and self.more_exact(named):
            return True
        return self.worded(text) or self.abbreviated(text)


def quoted(rule: str, text: str, comparison: Comparison, begin: int, end: int) -> Finding:
    """Return a finding about words of the output."""
    return Finding(rule, text, comparison.output[begin:end], "output")
