"""Sentences: the same templates and the same additions in every quadrant, so that wording gives nothing away."""

from __future__ import annotations

__all__ = ["statement_of"]

EXTENSION = ", which is a type of {broader}"


def _extended(name: str, broader: str | None) -> str:
    return name + (EXTENSION.format(broader=broader) if broader else "")


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
    return sentence[0].upper() + sentence[1:].removesuffix(".") + "."
