"""One text as the judge sees it: what was read, with its numbers and the doses that stand with drugs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from builders.medval.judge.plain import forms_of
from builders.medval.judge.quantities import Measure, Number, implied_in, measures_of, numbers_of
from builders.medval.reading import Seen, TextView
from ehr.characters import codes_of

__all__ = ["LONG", "Dose", "View", "american", "stem"]

# A dose stands within so many characters after its drug.
_REACH = 90
_THOUSAND = 1000
LONG = 4
"""Letters from which on a word tells something."""
_STEM = 5
_PLURAL = re.compile(r"(?:e?s)?\b(?!\w)")
_WORD = re.compile(r"[a-z][a-z'-]{3,}")
_LETTER = re.compile(r"\w")
_END = re.compile(r"\n|[.;] ")


@dataclass(frozen=True, slots=True)
class Dose:
    """How much of a drug, or how often."""

    drug: Seen
    measure: Measure


@dataclass(frozen=True)
class View(TextView):
    """One text; what few comparisons need is looked for when it is asked for."""

    @cached_property
    def lower(self) -> str:
        """The text in lower case."""
        return self.text.lower()

    @cached_property
    def _letters(self) -> tuple[str, NDArray[np.intp]]:
        """Its letters and digits in lower case, and where each stands."""
        codes = codes_of(self.lower)
        is_letter = np.zeros(codes.max(initial=0) + 1, np.bool_)
        is_letter[[ord(sign) for sign in set(self.lower) if _LETTER.match(sign)]] = True
        places = np.flatnonzero(is_letter[codes])
        return codes[places].tobytes().decode("utf-32-le", "surrogatepass"), places

    def has_whole(self, letters: str) -> bool:
        """Tell whether letters are whole words but for the end of a plural, whatever signs part them."""
        said, places = self._letters
        at = said.find(letters)
        while at >= 0:
            begin, end = int(places[at]), int(places[at + len(letters) - 1]) + 1
            if not self.lower[max(0, begin - 1) : begin].isalnum() and _PLURAL.match(self.lower, end):
                return True
            at = said.find(letters, at + 1)
        return False

    @cached_property
    def spaced(self) -> str:
        """The same with one space for each hyphen and each white space."""
        return " ".join(re.split(r"[\s-]+", self.lower))

    @cached_property
    def vocabulary(self) -> list[str]:
        """The longer words, sorted."""
        return sorted(word for word in self.words if len(word) >= LONG)

    @cached_property
    def american(self) -> frozenset[str]:
        """The words in one spelling."""
        return frozenset(map(american, self.words))

    @cached_property
    def forms(self) -> frozenset[str]:
        """The words and what they may be forms of."""
        return frozenset[str]().union(*map(forms_of, self.words))

    @cached_property
    def by_stem(self) -> dict[str, list[str]]:
        """The words by how they begin."""
        found: dict[str, list[str]] = {}
        for word in sorted(self.words):
            found.setdefault(word[:_STEM], []).append(word)
        return found

    @cached_property
    def said(self) -> dict[str, list[int]]:
        """Where words that begin alike stand."""
        found: dict[str, list[int]] = {}
        for match in _WORD.finditer(self.lower):
            found.setdefault(match.group()[:_STEM], []).append(match.start())
        return found

    def places_of(self, said: str) -> list[int]:
        """Return where words begin that a pattern (regex) names."""
        if said not in self._places_of:
            self._places_of[said] = [match.start() for match in re.finditer(rf"\b(?:{said})", self.lower)]
        return self._places_of[said]

    @cached_property
    def _places_of(self) -> dict[str, list[int]]:
        return {}

    @cached_property
    def numbers(self) -> list[Number]:
        """The numbers, in digits or words."""
        return numbers_of(self.text)

    @cached_property
    def values(self) -> frozenset[float]:
        """What the numbers may mean: a count of "twenty-two hundred" is written 2.2, in thousands."""
        said = frozenset(value for number in self.told_numbers for value in number.values)
        return said | {value / _THOUSAND for value in said if value >= _THOUSAND}

    @cached_property
    def told_numbers(self) -> list[Number]:
        """The numbers, and those that words imply."""
        return [*self.numbers, *implied_in(self.text, self.numbers)]

    @cached_property
    def measures(self) -> list[Measure]:
        """The quantities with a unit, and how often something is done."""
        return measures_of(self.text, self.numbers)

    @cached_property
    def known(self) -> dict[str, bool]:
        """Which words it has in some form, as far as they were looked for: outputs of one input ask for the same."""
        return {}

    @cached_property
    def doses(self) -> list[Dose]:
        """Each quantity with the nearest drug before it."""
        drugs = self.drugs()
        found = []
        for measure in self.measures if drugs else ():
            drug = max((one for one in drugs if one.mention.end <= measure.begin), key=_end, default=None)
            if drug is not None and self._near(drug.mention.end, measure.begin):
                found.append(Dose(drug, measure))
        return found

    def _near(self, begin: int, end: int) -> bool:
        return end - begin < _REACH and (self.over_lines or _END.search(self.text, begin, end) is None)


def _end(one: Seen) -> int:
    return one.mention.end


def stem(word: str) -> str:
    """Return the beginning of a word by which its forms are told to be one."""
    return word.lower()[:_STEM]


@lru_cache(maxsize=65536)
def american(word: str) -> str:
    """Return a word with what British spelling adds taken away: "oedema", "tumour", "hospitalised".

    >>> [american(word) for word in ("oedema", "edema", "tumour", "catheterised")]
    ['edema', 'edema', 'tumor', 'catheterized']
    """
    word = re.sub(r"[ao]e(?=[a-z])", "e", word)
    return re.sub(r"our(?=$|s$|ed$)", "or", re.sub(r"is(?=(?:e|es|ed|ing|ation)$)", "iz", word))
