"""Repairs one-letter misspellings of long names, carefully: a wrong repair is worse than a missed one."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["SHORTEST", "Speller"]

# Shorter words have too many neighbours one letter away that are words of their own.
SHORTEST = 8
# The edit must leave the end of the word alone: another ending is another form of the word, not a slip.
_KEPT_END = 2
# English words with these endings are as near to names as misspellings are ("blotting", "bloating").
_ENGLISH_ENDINGS = ("ing", "tion", "ed", "ly", "ness", "line", "ment", "ity", "able")


class Speller:
    """Finds the one known word that a word is a misspelling of.

    Known words are names of one word. A repair is one letter added, left out, replaced or swapped with its neighbour;
    it keeps the first letter and the last two, and must be the only one.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._known: dict[tuple[str, int], list[str]] = {}
        for word in sorted(set(words)):
            if len(word) >= SHORTEST:
                self._known.setdefault((word[0], len(word)), []).append(word)
        self._repaired: dict[str, str | None] = {}

    def repair(self, word: str) -> str | None:
        """Return the known word that ``word`` (lower case, not known itself) misspells, if there is exactly one."""
        if word not in self._repaired:
            self._repaired[word] = self._find(word)
        return self._repaired[word]

    def _find(self, word: str) -> str | None:
        from rapidfuzz.distance import OSA

        if len(word) < SHORTEST or not word.isalpha() or word.endswith(_ENGLISH_ENDINGS):
            return None
        found = [
            known
            for length in (len(word) - 1, len(word), len(word) + 1)
            for known in self._known.get((word[0], length), ())
            if known.endswith(word[-_KEPT_END:]) and OSA.distance(word, known, score_cutoff=1) == 1
        ]
        return found[0] if len(found) == 1 else None
