"""Texts as normal words: "Sixteen-year-old" and "16 years old" are the same, and a phrase is found in a note."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

from builders.medhal.rules.extraction_tables import word_sets, word_tables

__all__ = ["STOP", "canonical", "features_of", "mark", "normal_words", "places_of", "spoken"]

STOP = "."
"""The token that ends a sentence or a line."""

TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[a-zà-öø-ÿµμ]+|[.;!?\n]")
ARTICLES = {"a", "an", "the"}
LONGEST_PHRASE = 6
STEM = 6
DENIED_BEFORE = 6
DENIED_AFTER = 5
AFTER_CHARS = 120
FORMER = (["non"], ["ex"], ["former"])
CACHED_WORDS = 200_000


def normal_words(text: str) -> list[str]:
    """Return a text's words in lower case and singular, numbers in digits, units short, articles left out.

    ``STOP`` stands where a sentence ends.
    """
    numbers, units = word_tables()["number"], word_tables()["unit"]
    words: list[str] = []
    for found in TOKEN.finditer(text.lower().replace("'s", "")):
        token = found.group()
        if token in ".;!?\n":
            token = STOP
        elif token in ARTICLES:
            continue
        elif token[0].isdigit():
            token = token.replace(",", "")
        else:
            token = numbers.get(token) or _singular(token)
        if words and words[-1][0].isdigit():
            token = units.get(token, token)
            if found.group() in numbers and _is_tens(words[-1]) and int(token) < 10:
                words[-1] = str(int(words[-1]) + int(token))
                continue
        words.append(token)
    return words


def _is_tens(word: str) -> bool:
    """Tell whether a word may be followed by ones that are written apart: twenty five."""
    return word.isdigit() and 20 <= int(word) < 100 and int(word) % 10 == 0


@lru_cache(maxsize=CACHED_WORDS)
def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def spoken(words: Sequence[str]) -> str:
    """Return words as one text between spaces, in which phrases can be found."""
    return f" {' '.join(words)} "


def places_of(phrase: Sequence[str], text: str) -> list[int]:
    """Return the places, in words, at which a text (`spoken`) says a phrase and neither denies nor doubts it."""
    wanted, places, begin = spoken(phrase), [], 0
    while phrase and (found := text.find(wanted, begin)) >= 0:
        before, after = text[:found].split(), text[found + len(wanted) : found + len(wanted) + AFTER_CHARS].split()
        if _is_affirmed(before[-DENIED_BEFORE:], after[:DENIED_AFTER]):
            places.append(len(before))
        begin = found + 1
    return places


def _is_affirmed(before: list[str], after: list[str]) -> bool:
    """Tell whether the words of the same sentence around a phrase leave it standing."""
    sets = word_sets()
    if STOP in before:
        before = before[len(before) - before[::-1].index(STOP) :]
    if STOP in after:
        after = after[: after.index(STOP)]
    doubts = sets["negation"] | sets["hedge"]
    return not (doubts.intersection(before) or sets["undone"].intersection(after)) and before[-1:] not in FORMER


@cache
def _phrases() -> dict[tuple[str, ...], tuple[str, ...]]:
    """Return phrases that mean the same as other words, or that stand for a level or a frequency."""
    tables = word_tables()
    found: dict[tuple[str, ...], tuple[str, ...]] = {}
    for word, means in tables["synonym"].items():
        found[tuple(normal_words(word))] = tuple(normal_words(means))
    for kind in ("level", "frequency"):
        for word, means in tables[kind].items():
            found[tuple(normal_words(word))] = (f"{kind}={means}",)
    return found


def canonical(words: Sequence[str]) -> Iterator[str]:
    """Yield words with what means the same said in the same way; ``level=3`` and ``frequency=2`` stand for such."""
    phrases, place = _phrases(), 0
    while place < len(words):
        for size in range(min(LONGEST_PHRASE, len(words) - place), 0, -1):
            if (said := phrases.get(tuple(words[place : place + size]))) is not None:
                yield from said
                place += size
                break
        else:
            yield words[place]
            place += 1


@lru_cache(maxsize=CACHED_WORDS)
def mark(word: str) -> int:
    """Return 32 bits for a word's stem; two words may share them, which costs a swap and never makes a wrong one."""
    stem = word if "=" in word or word[0].isdigit() else word[:STEM]
    return zlib.crc32(stem.encode())


def features_of(words: Sequence[str]) -> list[int]:
    """Return the marks of a text, sorted: of its words, numbers among them, and of what means the same."""
    return sorted({mark(word) for word in words} | {mark(word) for word in canonical(words)})
