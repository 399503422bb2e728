"""Which words are everyday English and make no clinical claim, by their frequency in English and in names."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache, lru_cache

from ground import ROOT
from ground.storage.tables import Row, read_table

__all__ = ["WordFrequencies", "forms_of"]

_ENGLISH = ROOT / "ehr" / "data" / "english_words.tsv"
# Decades by which a word may be more frequent in names of problems and procedures than in English.
_CLINICAL_FROM = 0.5
# Words that English uses so often (log10 in a billion) tell nothing of a patient; nouns name things more often.
_FREQUENT = {"noun": 5.4, "other": 4.9}
# What English lacks counts as hardly used.
_RARE = 2.0
_ENDINGS = ("s", "es", "ies", "ed", "d", "ing", "ly", "er", "r", "ness", "ion")


class WordFrequencies:
    """Tells everyday words from clinical ones; ``in_names`` counts the words of the release's names."""

    def __init__(self, in_names: Mapping[str, int]) -> None:
        self._in_names = in_names
        self._all = max(1, sum(in_names.values()))
        self.frequent = frozenset(
            row["word"] for row in _rows() if float(row["zipf"]) >= _FREQUENT[row["use"]] and row["word"] in self
        )

    def __contains__(self, word: str) -> bool:
        """Tell whether a word in lower case is everyday English."""
        forms = [form for form in forms_of(word) if form in _english()]
        return bool(forms) and all(self._lead(form) < _CLINICAL_FROM for form in {word, *forms})

    def _lead(self, word: str) -> float:
        """Return by how many decades a word is more frequent in names than in English."""
        count = self._in_names.get(word, 0)
        return math.log10(1e9 * count / self._all) - _english().get(word, _RARE) if count else -math.inf


@cache
def _english() -> dict[str, float]:
    """Return log10 of the uses of each word in a billion."""
    return {row["word"]: float(row["zipf"]) for row in _rows()}


@cache
def _rows() -> list[Row]:
    return read_table(_ENGLISH, ("word", "use", "zipf", "source"))


@lru_cache(maxsize=65536)
def forms_of(word: str) -> frozenset[str]:
    """Return a word and what it may be a form of.

    >>> sorted(forms_of("scarring"))
    ['scar', 'scare', 'scarr', 'scarre', 'scarring']
    """
    stems = {word.removesuffix(end) for end in _ENDINGS if word.endswith(end) and len(word) - len(end) >= 3}
    stems |= {part[:-1] for part in stems if len(part) > 3 and part[-1] == part[-2]}
    return frozenset(
        {word, *stems, *(f"{part}e" for part in stems), *(f"{part}y" for part in stems if part + "ies" == word)}
    )
