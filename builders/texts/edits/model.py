"""One edit of one sentence, and how it is put in place."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

__all__ = ["RULES", "EditRule", "SentenceEdit", "article_of", "edit_at", "like", "with_article"]

EditRule = Literal[
    "number",
    "antonym",
    "negation_removed",
    "negation_added",
    "laterality",
    "comparison",
    "intensity",
]
"""What an edit changes."""

_SPELLS_A_WORD = re.compile(r"[A-Z][AEIOU][B-DF-HJ-NP-TV-Z][A-Z\d]")
_CONSONANT_FIRST = re.compile(
    r"(?!hour|hon(?:est|or|our)|heir|8|1[18](?!\d))[^aeiou]|e[uw]|one(?!r)|u(?:-|ni(?!n|m)|s[aeu]|r[aeio](?!n?g)|t[ei])",
    re.IGNORECASE,
)

RULES: tuple[EditRule, ...] = get_args(EditRule)


@dataclass(frozen=True, slots=True)
class SentenceEdit:
    """A sentence with one change.

    Attributes:
        text: the whole changed sentence.
        rule: what was changed.
        before: the words of the original that were replaced.
        after: the words that stand there now; empty where words were left out.
        begin: where ``before`` begins in the original, in code points.
    """

    text: str
    rule: EditRule
    before: str
    after: str
    begin: int


def edit_at(sentence: str, begin: int, end: int, after: str, rule: EditRule) -> SentenceEdit:
    """Return ``sentence`` with ``sentence[begin:end]`` replaced, and an article before it that suits the new word."""
    begin, after = with_article(sentence, begin, after)
    before = sentence[begin:end]
    return SentenceEdit(sentence[:begin] + after + sentence[end:], rule, before, after, begin)


def like(model: str, word: str) -> str:
    """Return ``word`` in the case of ``model``: capitals, a capital first, or as it is."""
    if len(model) > 1 and model.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if model[:1].isupper() else word


def article_of(word: str) -> str:
    """Return ``a`` or ``an``, by how a word is spoken; letters are named where they spell no word.

    >>> [article_of(word) for word in ("NSAID", "H2 blocker", "FAST exam", "ulcer", "urinalysis", "hour")]
    ['an', 'an', 'a', 'an', 'a', 'an']
    """
    if re.match(r"[A-Z](?:[A-Z-]|\d)|[a-z][A-Z]{2}", word):
        return "an" if word[0] in "AEFHILMNORSXm" and not _SPELLS_A_WORD.match(word) else "a"
    return "a" if _CONSONANT_FIRST.match(word) else "an"


def with_article(sentence: str, begin: int, after: str) -> tuple[int, str]:
    """Widen a change to the article before it where another is needed; return where it begins and what comes."""
    for article in ("a", "an"):
        opened = begin - len(article) - 1
        stands = sentence[max(0, opened) : begin].lower() == f"{article} "
        if opened >= 0 and after and stands and (opened == 0 or not sentence[opened - 1].isalnum()):
            right = article_of(after)
            if right != article:
                return opened, like(sentence[opened:begin].strip(), right) + " " + after
    return begin, after
