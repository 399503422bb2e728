"""An independent reading of a pair made from a summary: do both labels hold as the statements stand?

The check sees the pair and nothing of how it was made. It finds the change by comparing the statements, and asks: is it
small, in one sentence, of a kind that turns a sentence's meaning, and is the changed sentence nowhere in the context?
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from builders.medhal.extraction import word_table
from builders.medhal.items import Pair
from builders.texts.edits.tables import cue, read_edit_table
from builders.texts.edits.words import opposites
from builders.texts.origin import Refusal

__all__ = ["check_summary", "unshared"]

TOKEN = re.compile(r"<\w+>|\d+(?:[.,]\d+)*|\w+(?:[-'’]\w+)*|[^\w\s]")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
LONGEST_CHANGE = 6
"""Words of a change, at most, on either side."""


@dataclass(frozen=True)
class _Change:
    before: tuple[str, ...]
    after: tuple[str, ...]
    sentence: str
    changed: str


def check_summary(pair: Pair) -> Refusal | None:
    """Return None where both labels of a pair are confirmed, else why not."""
    original = pair.guidance or ""
    if not original or pair.factual.statement.count(original) != 1:
        return Refusal("judge_original_not_in_summary")
    found = _change(pair.factual.statement, pair.wrong.statement, original)
    if isinstance(found, Refusal):
        return found
    if not _turns_meaning(found):
        return Refusal("judge_change_is_unclear")
    return _read_in_context(pair, found)


def _read_in_context(pair: Pair, found: _Change) -> Refusal | None:
    """Ask whether the context counts as the summary does, and says the changed sentence nowhere."""
    statement, context, original = pair.factual.statement, pair.context or "", pair.guidance or ""
    if not _counts_as(statement, context):
        return Refusal("judge_number_not_in_context")
    if any(_stands_in(found.changed, text) for text in (context, statement.replace(original, " "))):
        return Refusal("judge_changed_sentence_is_stated")
    explanation = pair.wrong.explanation or ""
    if _spaced(original)[1:] not in _spaced(explanation):
        return Refusal("judge_explanation_lacks_original")
    return None


def _counts_as(statement: str, context: str) -> bool:
    """Tell whether the numbers that a statement writes out stand in its context, in words or in digits."""
    numbers = word_table("number")
    said = set(re.findall(r"[a-z]+", statement.lower())) & numbers.keys()
    shown = context.lower() if said else ""
    return all(
        re.search(rf"(?<![a-z]){word}(?![a-z])|(?<!\d){numbers[word]}(?!\d)", shown) is not None
        for word in sorted(said)
    )


def _stands_in(sentence: str, text: str) -> bool:
    """Tell whether a text holds a sentence, however it is spaced; a text without its longest word is not read."""
    longest = max(sentence.lower().split(), key=len)
    return longest in text.lower() and _spaced(sentence) in _spaced(text)


def _spaced(text: str) -> str:
    return " ".join(text.casefold().split())


def _change(factual: str, wrong: str, original: str) -> _Change | Refusal:
    """Find the changed sentence by what stands before and after the original one."""
    begin = factual.index(original)
    head, tail = factual[:begin], factual[begin + len(original) :]
    if factual == wrong or not wrong.startswith(head) or not wrong.endswith(tail):
        return Refusal("judge_change_is_elsewhere")
    changed = wrong[len(head) : len(wrong) - len(tail)]
    before, after = unshared(TOKEN.findall(original.lower()), TOKEN.findall(changed.lower()))
    if not before + after or max(len(before), len(after)) > LONGEST_CHANGE:
        return Refusal("judge_change_is_too_large")
    return _Change(before, after, original, changed)


def _turns_meaning(change: _Change) -> bool:
    """Tell whether the change is a number, a negation, or a word and its opposite."""
    before, after = " ".join(change.before), " ".join(change.after)
    numbers = NUMBER.fullmatch(before), NUMBER.fullmatch(after)
    if all(numbers):
        one, other = (float(text.replace(",", "")) for text in (before, after))
        return abs(one - other) > 0.3 * max(abs(one), abs(other))
    denials = [len(cue("negative").findall(text)) for text in (change.sentence, change.changed)]
    if denials[0] + denials[1] == 1:
        return True
    return _opposite(change)


def _opposite(change: _Change) -> bool:
    """Tell whether one word or phrase became its opposite, or another number in words."""
    before, after = _without_article(change.before), _without_article(change.after)
    if len(before) == len(after) == 1:
        before, after = _ends(before[0], after[0])
    return (before, after) in _known()


def _ends(before: str, after: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the last parts of two compounds that share their first part: ``ca2-dependent``, ``ca2-independent``."""
    first, hyphen, last = before.rpartition("-")
    other_first, _, other_last = after.rpartition("-")
    return ((last,), (other_last,)) if hyphen and first == other_first else ((before,), (after,))


def _without_article(words: tuple[str, ...]) -> tuple[str, ...]:
    return words[1:] if words and words[0] in ("a", "an") else words


@cache
def _known() -> frozenset[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return the pairs of words that the tables call opposites, without what both sides share."""
    pairs = set(opposites())
    counts = read_edit_table("edit_counts", ("kind", "word", "other", "source"))
    in_words = [(row["word"], row["other"]) for row in counts if row["kind"] == "word"]
    pairs |= {pair for one in in_words for pair in (one, one[::-1])}
    known = set()
    for before, after in pairs:
        old, new = unshared(TOKEN.findall(before), TOKEN.findall(after))
        known.add((_without_article(old), _without_article(new)))
        if len(old) == len(new) == 1:
            known.add(_ends(old[0], new[0]))
    return frozenset(known)


def unshared(old: Sequence[str], new: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return two sequences without what they share at their beginnings and ends."""
    begin, end, least = 0, 0, min(len(old), len(new))
    while begin < least and old[begin] == new[begin]:
        begin += 1
    while end < least - begin and old[-1 - end] == new[-1 - end]:
        end += 1
    return tuple(old[begin : len(old) - end]), tuple(new[begin : len(new) - end])
