"""The rules judge of information extraction: reads each pair with its own words and no template.

The two statements must differ in one stretch, the value. The right one must stand in the context as it is written
there, or nearly so; the wrong one must not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from builders.medhal.items import Pair
from builders.medhal.rules.extraction_tables import word_tables
from builders.texts.origin import Refusal

__all__ = ["check_extraction"]

WORD = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+")
PLURAL = re.compile(r"(?<=[^\Wsui\d_])s$")
SMALL = {"a", "an", "the", "of", "in", "on", "and", "with", "for", "to", "by"}
CONTEXTS_AT_ONCE = 64
# Values of these attributes are not repeated in the words of the note.
CLOSED = {"male", "female", "a smoker", "a non-smoker"}


def check_extraction(pair: Pair) -> Refusal | None:
    """Return None where both labels are confirmed, else why not.

    Reasons: ``judge_more_than_the_value_differs``, ``judge_value_not_in_context``, ``judge_wrong_value_in_context``.
    """
    wrong_value = _wrong_value(pair.factual.statement, pair.guidance, pair.wrong.statement)
    if pair.guidance is None or wrong_value is None:
        return Refusal("judge_more_than_the_value_differs")
    context = _context(pair.context or "")
    if pair.guidance in CLOSED:
        return _closed(pair.guidance, wrong_value, context)
    if not _stands(_words(pair.guidance), context):
        return Refusal("judge_value_not_in_context")
    if _stands(_words(wrong_value), context) or not _adds(_words(wrong_value), context):
        return Refusal("judge_wrong_value_in_context")
    return None


def _wrong_value(factual: str, value: str | None, wrong: str) -> str | None:
    """Return what stands in the second statement where the value stands in the first, None where more differs."""
    begin = factual.rfind(value) if value else -1
    if begin < 0 or not value:
        return None
    before, after = factual[:begin], factual[begin + len(value) :]
    found = wrong[len(before) : len(wrong) - len(after)]
    return found if found and found != value and f"{before}{found}{after}" == wrong else None


@lru_cache(maxsize=CONTEXTS_AT_ONCE)
def _context(text: str) -> str:
    return f" {' '.join(_words(text))} "


def _words(text: str) -> Sequence[str]:
    """Return the words of a text in lower case, numbers in digits, plurals and articles taken off."""
    numbers = word_tables()["number"]
    words = [numbers.get(word, PLURAL.sub("", word)) for word in WORD.findall(text.lower())]
    units = word_tables()["unit"]
    words = [
        units.get(word, word) if place and words[place - 1][0].isdigit() else word for place, word in enumerate(words)
    ]
    return [word for word in words if word not in ("a", "an", "the")]


def _stands(value: Sequence[str], context: str) -> bool:
    return f" {' '.join(value)} " in context


def _adds(value: Sequence[str], context: str) -> bool:
    """Tell whether a value holds a word, or a number with its unit, that the context does not."""
    said = [word for word in value if word not in SMALL]
    numbers = [f"{one} {next_one}" for one, next_one in pairwise(said) if one[0].isdigit()]
    return any(f" {word} " not in context for word in (*said, *numbers))


def _closed(right: str, wrong: str, context: str) -> Refusal | None:
    """Judge an attribute that has two values by the first word of the context that tells it."""
    if wrong not in CLOSED or wrong == right:
        return Refusal("judge_more_than_the_value_differs")
    if right in ("male", "female"):
        table = word_tables()["sex"]
        said = next((table[word] for word in context.split() if word in table), None)
        return None if said == right else Refusal("judge_value_not_in_context")
    denied = re.search(r" (?:non smoker|nonsmoker|never smoke\w*) ", context) is not None
    affirmed = re.search(r"(?<! non)(?<! ex)(?<! former) smoker ", context) is not None
    if denied == affirmed:
        return Refusal("judge_value_not_in_context")
    return None if denied == (right == "a non-smoker") else Refusal("judge_value_not_in_context")
