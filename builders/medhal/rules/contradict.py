"""One edit of known kind that makes a sentence contradict its source (MedHal, section 3.5; engine ``rules``)."""

from __future__ import annotations

import re

from builders.medhal.writers import SentenceToBreak, Written
from builders.texts.edits import DENIALS, RULES, SentenceEdit, ordered_edits
from builders.texts.edits.asserted import contradicts
from builders.texts.edits.elsewhere import stated_elsewhere
from builders.texts.origin import Refusal

__all__ = ["contradict"]

NEXT_WORD = re.compile(r" ([A-Za-z]{3,})")
NAMED = 5
"""Times that a text says two words together, from which on they are a name."""
NO_PROSE = re.compile(r"https?:|www\.|[©=|]|\bkeywords\b")


def contradict(asked: SentenceToBreak, seed: int) -> Written | Refusal:
    """Change one thing in a sentence so that it no longer holds, or refuse.

    Refused: a sentence that is no prose or asserts nothing, one without an edit that can be done well, one whose change
    would say what the text or what it summarises says elsewhere, and one that would change a word of a name.
    """
    sentence = asked.sentence
    if not sentence.endswith(".") or NO_PROSE.search(sentence):
        return Refusal("no_prose")
    rules = RULES if asked.denials else tuple(rule for rule in RULES if rule not in DENIALS)
    edits = ordered_edits(seed, asked.key, sentence, rules)
    if not edits:
        return Refusal("no_edit")
    asserting = [edit for edit in edits if contradicts(sentence, edit)]
    if not asserting:
        return Refusal("asserts_nothing")
    others = asked.text.replace(sentence, " ")
    for edit in asserting:
        if (
            not _in_name(edit, sentence, asked.context)
            and not _stated(edit, others)
            and not _stated(edit, asked.context)
        ):
            return Written(edit.text, edit.rule)
    return Refusal("stated_elsewhere")


def _in_name(edit: SentenceEdit, sentence: str, context: str) -> bool:
    """Tell whether a word that is replaced makes a name with the next one ("common bean").

    A text says a name again and again and never says the same noun with the opposite.
    """
    behind = NEXT_WORD.match(sentence, edit.begin + len(edit.before))
    if behind is None or not edit.after:
        return False
    # An article may be replaced with its word.
    before, after = (f"{words.lower().split()[-1]} {behind[1].lower()}" for words in (edit.before, edit.after))
    lowered = context.lower()
    return lowered.count(before) >= NAMED and after not in lowered


def _stated(edit: SentenceEdit, text: str) -> bool:
    return edit.text in text or stated_elsewhere(text, edit.text, edit.before, edit.after, edit.begin)
