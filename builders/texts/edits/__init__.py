"""Edits of one sentence that change what it says: numbers, units, antonyms, negation, sides, comparisons.

Each edit is refused where it cannot be done well, so that a changed sentence is grammatical and says something else.
"""

from builders.texts.edits.choose import DENIALS, edits_of, ordered_edits
from builders.texts.edits.model import RULES, EditRule, SentenceEdit

__all__ = ["DENIALS", "RULES", "EditRule", "SentenceEdit", "edits_of", "ordered_edits"]
