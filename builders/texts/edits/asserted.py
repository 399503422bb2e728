"""Tells whether an edit contradicts its sentence: an opposite does so only where the sentence asserts the word."""

from __future__ import annotations

from builders.texts.edits.model import EditRule, SentenceEdit
from builders.texts.edits.tables import cue

__all__ = ["contradicts"]

ASSERTED: frozenset[EditRule] = frozenset({"antonym", "comparison", "laterality", "intensity"})
"""Rules that replace a word somewhere in the sentence; the others turn its main assertion or a stated amount."""


def contradicts(sentence: str, edit: SentenceEdit) -> bool:
    """Tell whether a sentence and its edit cannot both hold.

    "Not lower" does not contradict "not higher", "may fall" not "may rise", and "whether it falls" nothing at all. A
    changed certainty ("possible" becomes "definite") says more, but does not contradict.
    """
    if edit.rule not in ASSERTED:
        return edit.rule != "certainty"
    reserved = cue("open").search(sentence) or cue("weak").search(sentence)
    return not (reserved or cue("negative").search(sentence[: edit.begin]))
