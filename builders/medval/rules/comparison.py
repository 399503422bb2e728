"""An input and an output beside each other, as the validator reads them, and what it may find."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from rapidfuzz import process
from rapidfuzz.distance import OSA

from builders.medval.rules.knowledge import Knowledge
from builders.medval.rules.tables import words
from builders.medval.rules.view import Seen, View, input_view, output_view, stem
from ground.contracts.rows_text import MedvalTask

__all__ = ["Comparison", "Finding", "quoted"]

_LONG = 4
_SPELT = 7
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
    knowledge: Knowledge

    @cached_property
    def given(self) -> View:
        """The input."""
        return input_view(self.knowledge, self.task, self.input)

    @cached_property
    def made(self) -> View:
        """The output."""
        return output_view(self.knowledge, self.task, self.output)

    @cached_property
    def given_families(self) -> frozenset[str]:
        """All concepts of the input."""
        return self.given.families

    @cached_property
    def made_families(self) -> frozenset[str]:
        """All concepts of the output."""
        return self.made.families

    @cached_property
    def lower(self) -> str:
        """The input in lower case."""
        return self.input.lower()

    @cached_property
    def vocabulary(self) -> list[str]:
        """The longer words of the input, sorted."""
        return sorted(word for word in self.given.words if len(word) >= _LONG)

    def worded(self, text: str) -> bool:
        """Tell whether the input has the telling words of a phrase, in some form or spelling."""
        if re.sub(r"\W", "", text.lower()) in self.squeezed:
            return True
        long = [word.lower() for word in _LETTERS.findall(text) if len(word) >= _LONG or word.isupper()]
        telling = [word for word in long if word not in words("general")] or long
        return bool(telling) and all(self._has_word(word) for word in telling)

    @cached_property
    def squeezed(self) -> str:
        """The input in lower case without anything but letters and digits."""
        return re.sub(r"\W", "", self.lower)

    def _has_word(self, word: str) -> bool:
        if stem(word) in self.given.stems:
            return True
        cutoff = 1 if len(word) < _SPELT else 2
        return process.extractOne(word, self.vocabulary, scorer=OSA.distance, score_cutoff=cutoff) is not None

    def abbreviated(self, text: str) -> bool:
        """Tell whether the input has the first letters of a phrase of several words."""
        letters = "".join(word[0] for word in re.split(r"[\s-]+", text) if word).upper()
        return len(letters) > 1 and re.search(rf"\b{re.escape(letters)}\b", self.input) is not None

    def in_lay_words(self, one: Seen) -> bool:
        """Tell whether the input speaks of a problem in words that name no concept ("your sugars")."""
        name = one.mention.text.lower()
        for words_of, lay in words("lay").items():
            if re.search(rf"\b(?:{words_of})", name) and re.search(rf"\b(?:{lay})", self.lower):
                return True
        return False

    def supported(self, one: Seen) -> bool:
        """Tell whether the input names what a mention of the output names, by concept or by its words."""
        text = one.mention.text
        if one.family & self.given_families or text.lower() in self.lower or one.family & self.given.unclear:
            return True
        if "-" in (
            self.output[one.mention.begin - 1 : one.mention.begin],
            self.output[one.mention.end : one.mention.end + 1],
        ):
            return True
        if one.mention.kind != "drug" and self.knowledge.akin(one.mention.cuis[:2], self.given_families):
            return True
        return self.worded(text) or self.abbreviated(text)


def quoted(rule: str, text: str, comparison: Comparison, begin: int, end: int) -> Finding:
    """Return a finding about words of the output."""
    return Finding(rule, text, comparison.output[begin:end], "output")
