"""An independent reading of a pair made from a summary: do both labels hold as the statements stand?

The check sees the pair and nothing of how it was made. It finds the change by comparing the statements, and asks: is it
small, does the context count as the sentence does, and does it say the changed sentence nowhere?
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from builders.medhal.extraction import word_table
from builders.medhal.items import Pair
from builders.texts.origin import Refusal

__all__ = ["check_summary", "unshared"]

TOKEN = re.compile(r"<\w+>|\d+(?:[.,]\d+)*|\w+(?:[-'’]\w+)*|[^\w\s]")
LONGEST_CHANGE = 6
"""Words of a change, at most, on either side."""


def check_summary(pair: Pair) -> Refusal | None:
    """Return None where both labels of a pair are confirmed, else why not."""
    sentence, changed, context = pair.factual.statement, pair.wrong.statement, pair.context or ""
    if pair.guidance != sentence:
        return Refusal("judge_original_not_in_summary")
    change = unshared(TOKEN.findall(sentence.lower()), TOKEN.findall(changed.lower()))
    if not any(change) or max(map(len, change)) > LONGEST_CHANGE:
        return Refusal("judge_change_is_too_large")
    if not _counts_as(sentence, context):
        return Refusal("judge_number_not_in_context")
    if _stands_in(changed, context):
        return Refusal("judge_changed_sentence_is_stated")
    if _spaced(sentence)[1:] not in _spaced(pair.wrong.explanation or ""):
        return Refusal("judge_explanation_lacks_original")
    return None


def _counts_as(statement: str, context: str) -> bool:
    """Tell whether the numbers that a statement writes out stand in its context, in words or in digits."""
    numbers, lowered = word_table("number"), context.lower()
    return all(
        re.search(rf"(?<![a-z]){word}(?![a-z])|(?<!\d){numbers[word]}(?!\d)", lowered) is not None
        for word in set(re.findall(r"[a-z]+", statement.lower())) & numbers.keys()
    )


def _stands_in(sentence: str, text: str) -> bool:
    """Tell whether a text holds a sentence, however it is spaced; a text without its longest word is not read."""
    longest = max(sentence.lower().split(), key=len)
    return longest in text.lower() and _spaced(sentence) in _spaced(text)


def _spaced(text: str) -> str:
    return " ".join(text.casefold().split())


def unshared(old: Sequence[str], new: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return two sequences without what they share at their beginnings and ends."""
    begin, end, least = 0, 0, min(len(old), len(new))
    while begin < least and old[begin] == new[begin]:
        begin += 1
    while end < least - begin and old[-1 - end] == new[-1 - end]:
        end += 1
    return tuple(old[begin : len(old) - end]), tuple(new[begin : len(new) - end])
