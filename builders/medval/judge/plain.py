"""Which words are everyday English and make no clinical claim, and what the elements of clinical words mean."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache, lru_cache

from builders.medval.judge.tables import DATA
from ground import ROOT
from ground.storage.tables import Row, read_table

__all__ = ["PlainWords", "elements_of", "forms_of"]

_ENGLISH = ROOT / "ehr" / "data" / "english_words.tsv"
# Decades by which a word may be more frequent in names of problems and procedures than in English.
_CLINICAL_FROM = 0.5
# Words that English uses so often (log10 in a billion) tell nothing of a patient; nouns name things more often.
_FREQUENT = {"noun": 5.4, "other": 4.9}
_ENDINGS = ("s", "es", "ies", "ed", "d", "ing", "ly", "er", "r", "ness", "ion")
_NO_ADJECTIVE = ("ed", "ing", "ly", "s", "er", "est")
_JOINTS = ("", "o", "i", "a", "e", "y", "u")
_TAILS = frozenset(
    [
        "al",
        "ally",
        "ar",
        "ary",
        "ic",
        "ical",
        "eal",
        "ial",
        "ous",
        "y",
        "ia",
        "is",
        "us",
        "um",
        "a",
        "on",
        "e",
        "ed",
        "s",
        "es",
        "ism",
        "ist",
        "ity",
        "atic",
        "itic",
        "oid",
        "tic",
        "tion",
        "ation",
        "ing",
    ]
)


class PlainWords:
    """Tells everyday words from clinical ones by their frequency in English and in the release's names."""

    def __init__(self, in_names: Mapping[str, int]) -> None:
        self._in_names = in_names
        self._all = max(1, sum(in_names.values()))

        self.frequent = frozenset(
            row["word"] for row in _rows() if float(row["zipf"]) >= _FREQUENT[row["use"]] and row["word"] in self
        )

    def is_english(self, word: str) -> bool:
        """Tell whether a word in lower case is English, everyday or not."""
        return not _english().keys().isdisjoint(forms_of(word))

    def qualifies(self, word: str) -> bool:
        """Tell whether a word in lower case is an adjective that tells something ("chronic", "sharp")."""
        return word in _adjectives() and word not in self.frequent

    def __contains__(self, word: str) -> bool:
        """Tell whether a word in lower case is everyday English."""
        forms = [form for form in forms_of(word) if form in _english()]
        return bool(forms) and all(self.lead(form) < _CLINICAL_FROM for form in {word, *forms})

    def lead(self, word: str) -> float:
        """Return by how many decades a word is more frequent in names than in English."""
        count = self._in_names.get(word, 0)
        return math.log10(1e9 * count / self._all) - _english().get(word, 2.0) if count else -math.inf


@cache
def _english() -> dict[str, float]:
    """Return log10 of the uses of each word in a billion."""
    return {row["word"]: float(row["zipf"]) for row in _rows()}


@cache
def _adjectives() -> frozenset[str]:
    return frozenset(
        row["word"] for row in _rows() if row["use"] == "other" and not row["word"].endswith(_NO_ADJECTIVE)
    )


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
    stems |= {stem[:-1] for stem in stems if len(stem) > 3 and stem[-1] == stem[-2]}
    return frozenset(
        {word, *stems, *(f"{stem}e" for stem in stems), *(f"{stem}y" for stem in stems if stem + "ies" == word)}
    )


@cache
def _elements() -> dict[str, str]:
    rows = read_table(DATA / "word_elements.tsv", ("element", "said", "source"))
    return {row["element"]: row["said"] for row in rows}


@lru_cache(maxsize=4096)
def elements_of(word: str) -> tuple[str, ...]:
    """Return what the elements of a clinical word are in everyday words (regex); nothing where it is not made of them.

    >>> elements_of("gastritis")
    ('stomach|belly|tummy', 'inflam|infect|irritat|swell|swoll|sore')
    """
    return next((tuple(said for said in parts if said) for parts in _parted(word)), ())


def _parted(word: str) -> list[list[str]]:
    found: list[list[str]] = []
    for end in range(len(word), 1, -1):
        said = _elements().get(word[:end])
        if said is None:
            continue
        rest = word[end:]
        if not rest or rest in _TAILS:
            found.append([said])
        found += [[said, *more] for joint in _JOINTS if rest.startswith(joint) for more in _parted(rest[len(joint) :])]
    return found
