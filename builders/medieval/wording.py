"""Sentences: the same templates and the same additions in every quadrant, so that wording gives nothing away."""

from __future__ import annotations

import re

__all__ = ["is_plain_class_name", "statement_of"]

EXTENSION = ", which is a type of {broader}"

# Class names that do not read as a kind of thing: catch-alls, codes, lists.
AWKWARD = re.compile(
    r"\b(other|others|unspecified|nos|nec|miscellaneous|agents and|category|class)\b|[\d\[\]()/,;:]", re.I
)
LOWER_KEEPS = re.compile(r"[A-Z].*[A-Z]|\d")


def is_plain_class_name(name: str) -> bool:
    """Tell whether a class can be named in "which is a type of ...": no catch-all, no list, no code."""
    return not AWKWARD.search(name) and 3 < len(name) <= 60


def _in_sentence(name: str) -> str:
    """Write a name as inside a sentence: words in Title Case go lower, acronyms and mixed case stay."""
    words = name.split(" ")
    return " ".join(word if LOWER_KEEPS.search(word) else word.lower() for word in words)


def _extended(name: str, broader: str | None) -> str:
    return _in_sentence(name) + (EXTENSION.format(broader=_in_sentence(broader)) if broader else "")


def statement_of(
    template: str, head: str, tail: str, *, head_broader: str | None = None, tail_broader: str | None = None
) -> str:
    """Render one statement.

    Args:
        template: a sentence with ``{head}`` and ``{tail}``, as in ``kg.predicate``.
        head: name of the head concept.
        tail: name of the tail concept.
        head_broader: a class of the head, added as "which is a type of ..." (MediEval, figure 2).
        tail_broader: the same for the tail.

    Returns:
        A sentence that starts with a capital and ends with a full stop.
    """
    head_text, tail_text = _extended(head, head_broader), _extended(tail, tail_broader)
    # An addition in mid-sentence is closed by a comma, one at the end by the full stop.
    if head_broader and not template.endswith("{head}"):
        head_text += ","
    if tail_broader and not template.endswith("{tail}"):
        tail_text += ","
    sentence = template.format(head=head_text, tail=tail_text)
    return sentence[0].upper() + sentence[1:] + "."
