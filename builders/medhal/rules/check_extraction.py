"""The rules judge of information extraction: reads each pair with its own words and no template.

The two statements must differ in one stretch, the value. The right one must stand in the context as it is written
there, or nearly so; the wrong one must not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from builders.medhal.extraction import word_table
from builders.medhal.items import Pair
from builders.texts.origin import Refusal

__all__ = ["check_extraction"]

WORD = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+")
PLURAL = re.compile(r"(?<=[^\Wsui\d_])s$")
SMALL = {"of", "in", "on", "and", "with", "for", "to", "by"}
SEXES = {"male", "female"}
CONTEXTS_AT_ONCE = 64


def check_extraction(pair: Pair) -> Refusal | None:
    """Return None where both labels are confirmed, else why not.

    Reasons: ``judge_more_than_the_value_differs``, ``judge_value_not_in_context``, ``judge_wrong_value_in_context``.
    """
    wrong_value = _wrong_value(pair.factual.statement, pair.guidance, pair.wrong.statement)
    if pair.guidance is None or wrong_value is None:
        return Refusal("judge_more_than_the_value_differs")
    context = _context(pair.context or "")
    if {pair.guidance, wrong_value} == SEXES:
        named = (word_table("sex")[word] for word in context.split() if word in word_table("sex"))
        return None if next(named, None) == pair.guidance else Refusal("judge_value_not_in_context")
    if f" {' '.join(_words(pair.guidance))} " not in context:
        return Refusal("judge_value_not_in_context")
    return None if _adds(_words(wrong_value), context) else Refusal("judge_wrong_value_in_context")


def _wrong_value(factual: str, value: str | None, wrong: str) -> str | None:
    """Return what stands in the second statement where the value stands in the first, None where more differs."""
    begin = factual.rfind(value) if value else -1
    if begin < 0 or not value:
        return None
    before, after = factual[:begin], factual[begin + len(value) :]
    other = wrong[len(before) : len(wrong) - len(after)]
    return other if other and other != value and f"{before}{other}{after}" == wrong else None


@lru_cache(maxsize=CONTEXTS_AT_ONCE)
def _context(text: str) -> str:
    return f" {' '.join(_words(text))} "


def _words(text: str) -> Sequence[str]:
    """Return the words of a text in lower case, numbers in digits, plurals and articles taken off."""
    numbers = word_table("number")
    words = (numbers.get(word, PLURAL.sub("", word)) for word in WORD.findall(text.lower()))
    return [word for word in words if word not in ("a", "an", "the")]


def _adds(value: Sequence[str], context: str) -> bool:
    """Tell whether a value holds a word, or a number with its unit, that the context does not."""
    telling = [word for word in value if word not in SMALL]
    amounts = [f"{word} {behind}" for word, behind in pairwise(telling) if word[0].isdigit()]
    return any(f" {words} " not in context for words in (*telling, *amounts))
