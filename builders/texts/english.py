"""Slips that no reader forgives: what an edit or a template left broken, or a source wrote so or lost."""

from __future__ import annotations

import re
from collections.abc import Callable, Set
from functools import cache, lru_cache

from rapidfuzz import process
from rapidfuzz.distance import OSA

from builders.texts.any_of import any_of
from ehr.misspellings import english_words
from ground import ROOT
from ground.storage.tables import read_table

__all__ = ["is_broken", "is_damaged", "is_misspelt", "lost_capitals", "unknown_words"]

_ENDS = re.compile(r"[.!?][\"'”’)\]]*$")
_WORD = re.compile(r"[a-z]{4,}")
# Shorter words, and words with capitals or hyphens, are too often names or abbreviations.
_WHOLE = re.compile(r"(?<![\w'’/.-])[a-z]{7,}(?![\w'’/-])")
_SHORT = re.compile(r"(?<![\w'’.-])[a-z]{3,6}(?![\w'’-])")
_BRITISH = re.compile(r"(?:is(?:e[sd]?|ing|ations?)|ll(?:ed|ing)|our(?:s|ed|ing|able|ite)?)$|[ao]e[a-z]")
_BEGINNING = 5
_ENDING = re.compile(r"(?:s|es|d|ed|ing|ly|al|ally|ion|ions|or|ors|ity|ies|ive)$")
_CARDINAL = re.compile(
    r"(?:four|six|seven|eigh|nine|thir|fif|twen|for)t?(?:een|y)|three|four|five|seven|eight|nine|eleven|twelve"
    r"|hundred|thousand|million"
)
"""The word list has no words for numbers."""
_BRACKETS = ("()", "[]", "“”")


@cache
def _slips(*kinds: str) -> Callable[[str], bool]:
    rows = read_table(ROOT / "builders" / "data" / "slips.tsv", ("kind", "pattern", "source"))
    return any_of(row["pattern"] for row in rows if row["kind"] in kinds)


def is_broken(text: str) -> bool:
    """Tell whether a text has a slip of English.

    >>> [is_broken(text) for text in ("What is the the cause?", "Where can i ask?", "It is cause by gout.", "An ulcer")]
    [True, True, True, False]
    """
    return _slips("slip")(text)


def is_damaged(sentence: str) -> bool:
    """Tell whether a statement has a slip, or has lost a number, a name, a bracket or its end.

    Slips of number, article and small words count here, which would be too many to refuse a whole text for.

    >>> [is_damaged(text) for text in ("It fell at % of sites.", "In <dig> men it fell.", "It fell")]
    [True, True, True]
    >>> [is_damaged(text) for text in ("It is fast growing.", "An evidence.", "It is a fast growing sector.")]
    [False, True, True]
    >>> is_damaged("Doses of 5 mg or more (in adults) were given to 12% of them.")
    False
    """
    uneven = any(sentence.count(pair[0]) != sentence.count(pair[1]) for pair in _BRACKETS) or sentence.count('"') % 2
    return bool(uneven) or _ENDS.search(sentence) is None or _slips("slip", "damage")(sentence)


def lost_capitals(text: str, document: str) -> frozenset[str]:
    """Return words in lower case that a text's document knows as abbreviations only.

    >>> lost_capitals("The gbs rates and the rna rise.", "GBS was common. The rna (RNA) of GBS.")
    frozenset({'gbs'})
    """
    words = {word for word in _SHORT.findall(text) if word.upper() in document} - english_words()
    return frozenset(words - {*_SHORT.findall(document)} if words else words)


@lru_cache(maxsize=4)
def _lowered(document: str) -> str:
    """Return a document in lower case: it is asked for each of its sentences."""
    return document.lower()


def _has_form(document: str, word: str) -> bool:
    """Tell whether a document has a word that begins as this one does."""
    lowered, beginning = _lowered(document), word[: max(_BEGINNING, len(word) - 3)]
    at = lowered.find(beginning)
    while at >= 0 and "a" <= lowered[at - 1 : at] <= "z":
        at = lowered.find(beginning, at + 1)
    return at >= 0


def unknown_words(sentence: str, document: str) -> int:
    """Count words that neither ordinary English nor the sentence's document has in any form: many are misspelt.

    >>> unknown_words("Cold tress tolerance of mulberries was prevailant.", "The mulberry tolerates stress and cold.")
    2
    """
    words = {word for word in _WORD.findall(sentence.lower()) if not _CARDINAL.fullmatch(word)} - english_words()
    return sum(not _has_form(document, word) and not _formed(word, english_words()) for word in words)


@lru_cache(maxsize=2)
def _known(names: frozenset[str]) -> dict[str, frozenset[str]]:
    """Return the known words by their first and last letter; all of them stand under the empty string."""
    known = english_words() | names
    alike: dict[str, set[str]] = {}
    for word in known:
        alike.setdefault(f"{word[:1]}{word[-1:]}", set()).add(word)
    return {"": known} | {ends: frozenset(words) for ends, words in alike.items()}


def is_misspelt(text: str, document: str, names: frozenset[str]) -> bool:
    """Tell whether a text has a word that English, words of names and its document lack, one letter off a known word.

    The first and the last letter must agree: another ending is another form of a word, not a slip.

    >>> names = frozenset({"ulcerative"})
    >>> [is_misspelt(f"He has {word} colitis.", "", names) for word in ("ulceratice", "ulcerative", "ulceration")]
    [True, False, False]
    """
    alike = _known(names)
    known = alike[""]
    words = {*_WHOLE.findall(text)} - known
    words = {word for word in words if not _CARDINAL.fullmatch(word) and not _BRITISH.search(word)}
    theirs = _WORD.findall(document.lower()) if words else []
    strange = [word for word in words.difference(theirs) if not _formed(word, known)]
    near = (alike.get(f"{word[0]}{word[-1]}", frozenset()) for word in strange)
    return any(
        process.extractOne(word, ours, scorer=OSA.distance, score_cutoff=1)
        for word, ours in zip(strange, near, strict=True)
    )


def _formed(word: str, known: Set[str]) -> bool:
    """Tell whether a word is a known one with an ending."""
    stems = {word[: ending.start()] for at in range(len(word)) if (ending := _ENDING.match(word, at))}
    return bool({*stems, *(f"{stem}{last}" for stem in stems for last in ("e", "y"))} & known)
