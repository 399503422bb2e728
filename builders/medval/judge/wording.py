"""Which words of an output tell something of a patient, and which of them the input has in some form."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from builders.medval.judge.comparison import Comparison
from builders.medval.judge.tables import words
from builders.medval.reading import LONG, Seen

__all__ = ["LIST_MARK", "WORD", "borne_out", "claim_words", "is_name", "telling_words"]

WORD = re.compile(r"(?<![\w'-])[A-Za-z][A-Za-z'-]*[A-Za-z](?![\w'])")
LIST_MARK = re.compile(r"(?:^[ \t]*|[.;:]\s+|#\s?)(?P<number>\d{1,2})[.)](?!\d)", re.MULTILINE)


def borne_out(c: Comparison, named: Seen) -> bool:
    """Tell whether the input names what a mention of the output names; a mention without a concept names nothing."""
    return not named.mention.cuis or c.supported(named)


@lru_cache(maxsize=2)
def telling_words(c: Comparison) -> list[list[re.Match[str]]]:
    """Return the words of each segment that tell something."""
    segments = [WORD.finditer(c.output, segment.begin, segment.end) for segment in c.output_view.segments]
    return [[match for match in matches if _tells(c, match.group())] for matches in segments]


def _tells(c: Comparison, word: str) -> bool:
    return (len(word) >= LONG or word.isupper()) and not _is_empty(c, word.lower().removesuffix("'s"))


def _is_empty(c: Comparison, low: str) -> bool:
    """Tell whether a word in lower case says nothing of a patient."""
    return low in words("neutral") or (low in c.concepts.words.frequent and not claim_words().match(low))


@cache
def claim_words() -> re.Pattern[str]:
    """Return the beginnings of everyday words that carry a claim all the same."""
    return re.compile("|".join(words("claim")), re.IGNORECASE)


def is_name(text: str, match: re.Match[str]) -> bool:
    """Tell whether a word is a name: it has a capital where no sentence begins."""
    before = text[: match.start()].rstrip(" ")
    return match.group()[0].isupper() and match.group()[1:].islower() and before[-1:].isalpha()
