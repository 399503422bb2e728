"""Tells whether an edit contradicts its sentence: an opposite does so only where the sentence asserts the word."""

from __future__ import annotations

from builders.texts.edits.model import EditRule, SentenceEdit
from builders.texts.edits.numbers import counted
from builders.texts.edits.tables import cue

__all__ = ["contradicts"]

OPPOSITES: frozenset[EditRule] = frozenset({"antonym", "comparison", "laterality", "intensity"})
"""Rules that replace a word somewhere in the sentence."""


def contradicts(sentence: str, edit: SentenceEdit) -> bool:
    """Tell whether a sentence and its edit cannot both hold.

    "Not lower" does not contradict "not higher", "may fall" not "may rise", "some fell" not "some rose", and "whether
    it falls" nothing at all. Other rules turn the main assertion itself.
    """
    if edit.rule in OPPOSITES or edit.before.lower().startswith(("without", "fail")):
        reserved = cue("open").search(sentence) or cue("weak").search(sentence)
        return not (reserved or _denied(sentence, edit) or _of_some(sentence[: edit.begin]))
    if edit.rule == "number":
        return not (cue("hedge").search(sentence) or _denied(sentence, edit))
    return True


def _denied(sentence: str, edit: SentenceEdit) -> bool:
    return cue("negative").search(sentence[: edit.begin]) is not None


def _of_some(earlier: str) -> bool:
    """Tell whether what stands before a word speaks of some, or of a number that others of the same kind may share."""
    return bool(cue("vague").search(earlier) or counted().search(earlier))
