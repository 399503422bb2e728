"""All edits of a sentence, in a fixed order or in that of stable hashes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from builders.texts.edits.model import RULES, EditRule, SentenceEdit
from builders.texts.edits.negation import negation_edits
from builders.texts.edits.numbers import number_edits
from builders.texts.edits.words import word_edits
from ground.stable import stable_hash

__all__ = ["DENIALS", "edits_of", "ordered_edits"]

DENIALS: frozenset[EditRule] = frozenset(("negation_removed", "negation_added"))
"""What shows in a sentence without its source: a denial that is put in or taken out."""


@lru_cache(maxsize=4096)
def _exchanges(sentence: str) -> tuple[SentenceEdit, ...]:
    """Return the edits that exchange what a sentence says; a sentence is asked for them more than once."""
    return (*number_edits(sentence), *word_edits(sentence))


def edits_of(sentence: str, rules: Sequence[EditRule] = RULES) -> list[SentenceEdit]:
    """Return every edit by some rules that can be done well, by rule (in the order of ``RULES``) and place."""
    edits = [*_exchanges(sentence), *(negation_edits(sentence) if DENIALS & set(rules) else ())]
    distinct = {edit.text: edit for edit in edits if edit.text != sentence}
    kept = (edit for edit in distinct.values() if edit.rule in rules)
    return sorted(kept, key=lambda edit: (RULES.index(edit.rule), edit.begin, edit.after))


def ordered_edits(seed: int, key: str, sentence: str, rules: Sequence[EditRule] = RULES) -> list[SentenceEdit]:
    """Return the edits of a sentence in the order in which they should be tried.

    Args:
        seed: seed of every choice.
        key: the sentence's name.
        sentence: what to change.
        rules: the rules that may be used.

    Returns:
        By stable hash of the rule, then of the edit: rules are equally likely to come first, however many edits each
        of them offers.
    """

    def place(edit: SentenceEdit) -> tuple[int, int]:
        rule = stable_hash(seed, "edit rule", key, edit.rule)
        return rule, stable_hash(seed, "edit", key, edit.before, edit.after, edit.begin)

    return sorted(edits_of(sentence, rules), key=place)
