"""Repairs one-letter misspellings of long names; a mention whose name was repaired is never certain by that alone."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ehr.characters import FNV_OFFSET, CodeArray, HashArray, IndexArray, IntArray, codes_of, hash_on, word_hash
from ground import ROOT
from ground.compiled import kernel
from ground.storage.tables import read_table

__all__ = ["ENGLISH_WORDS", "SHORTEST", "Speller", "english_words"]

ENGLISH_WORDS = ROOT / "ehr" / "data" / "english_words.tsv"

# Shorter words have too many neighbours one letter away that are words of their own.
SHORTEST = 7

# Words whose repair, or that they need none, is kept.
_KEPT_WORDS = 1 << 17


@cache
def english_words() -> frozenset[str]:
    """Return common English words, in small letters."""
    return frozenset(row["word"] for row in read_table(ENGLISH_WORDS, ("word", "use", "zipf", "source")))


@kernel
def _shortened(codes: CodeArray, ends: IntArray) -> Any:
    """Return the hashes of each word as it is and with one letter left out, and the number of the word.

    The first letter is never left out, since edits leave it alone. Two words that are one edit apart have a hash in
    common.

    Args:
        codes: the words, one after another.
        ends: where each ends.
    """
    room = codes.size + ends.size
    hashes = np.empty(room, np.uint64)
    words = np.empty(room, np.int32)
    count = begin = 0
    for word in range(ends.size):
        hashes[count], words[count] = word_hash(codes, begin, ends[word]), word
        count += 1
        for left_out in range(begin + 1, ends[word]):
            value = hash_on(FNV_OFFSET, codes, begin, left_out)
            hashes[count], words[count] = hash_on(value, codes, left_out + 1, ends[word]), word
            count += 1
        begin = ends[word]
    return hashes[:count], words[:count]


class Speller:
    """Finds the one known word that a word is a misspelling of.

    Known words are names of one word. A repair is one letter added, left out, replaced or swapped with its neighbour;
    it keeps the first letter and must be the only one, and English words are none. Words are found by what is left of
    them without one letter (the method of SymSpell), so that the number of known words hardly matters.
    """

    def __init__(self, words: npt.NDArray[np.str_], hashes: HashArray, owners: IntArray) -> None:
        self.arrays = {"words": words, "hashes": hashes, "owners": owners}
        self._words, self._hashes, self._owners = words, hashes, owners
        self._kept = lru_cache(_KEPT_WORDS)(self.repair)
        self._longest = words.itemsize // np.dtype("U1").itemsize + 1

    def repairs(self, text: str, begin: IntArray, end: IntArray) -> tuple[IndexArray, list[str]]:
        """Return which words of a text are to be repaired, and their repairs."""
        places = zip(begin.tolist(), end.tolist(), strict=True)
        repairs = [self._kept(text[first:last].lower()) for first, last in places]
        which = np.flatnonzero(np.array([word is not None for word in repairs], dtype=np.bool_))
        return which, [word for word in repairs if word is not None]

    @classmethod
    def of(cls, words: Iterable[str]) -> Speller:
        """Return what knows these words."""
        known = sorted({word for word in words if len(word) >= SHORTEST})
        hashes, owners = _shortened(codes_of("".join(known)), np.cumsum([len(word) for word in known], dtype=np.int32))
        order = np.argsort(hashes)
        return cls(np.array(known, dtype=np.str_), hashes[order], owners[order])

    def repair(self, word: str) -> str | None:
        """Return the known word that ``word`` (lower case, not known itself) misspells, if there is exactly one."""
        from rapidfuzz.distance import OSA

        # What is left of a word without one letter takes time by the square of its length.
        if not SHORTEST <= len(word) <= self._longest or not word.isalpha():
            return None
        repairs = [
            known
            for known in self._near(word)
            if known[0] == word[0] and OSA.distance(word, known, score_cutoff=1) == 1
        ]
        # The English words come last: to read them takes longer than all else, and few words are near to a name.
        is_english = len(repairs) == 1 and any(word + ending in english_words() for ending in ("", "al", "ly"))
        return repairs[0] if len(repairs) == 1 and not is_english else None

    def _near(self, word: str) -> list[str]:
        """Return the known words that have a hash in common with ``word``."""
        hashes, _ = _shortened(codes_of(word), np.array([len(word)], dtype=np.int32))
        begins = np.searchsorted(self._hashes, hashes, side="left").tolist()
        ends = np.searchsorted(self._hashes, hashes, side="right").tolist()
        owners = {owner for begin, end in zip(begins, ends, strict=True) for owner in self._owners[begin:end].tolist()}
        return [str(self._words[owner]) for owner in owners]
