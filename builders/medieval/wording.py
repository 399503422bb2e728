"""Sentences: the same templates and the same additions in every quadrant, so that wording gives nothing away."""

from __future__ import annotations

from collections.abc import Collection

__all__ = ["statement_of"]

EXTENSION = ", which {verb} a type of {broader}"
PLURAL_VERBS = {"is": "are", "has": "have"}


def _extended(name: str, broader: str | None, plural: bool) -> str:
    return name + (EXTENSION.format(verb="are" if plural else "is", broader=broader) if broader else "")


def _of_many(template: str) -> str:
    """Put the verb that follows the head into the plural; "may be treated by" stays."""
    start, verb, *rest = template.split(" ", 2)
    if start != "{head}":
        return template
    return " ".join([start, PLURAL_VERBS.get(verb, verb.removesuffix("s")), *rest])


def statement_of(
    template: str,
    head: str,
    tail: str,
    *,
    head_broader: str | None = None,
    tail_broader: str | None = None,
    plurals: Collection[str] = (),
) -> str:
    """Render one statement.

    Args:
        template: a sentence with ``{head}`` and ``{tail}``, as in ``kg.predicate``.
        head: name of the head concept.
        tail: name of the tail concept.
        head_broader: a class of the head, added as "which is a type of ..." (MediEval, figure 2).
        tail_broader: the same for the tail.
        plurals: names in the plural: the verb agrees with them.

    Returns:
        A sentence that starts with a capital and ends with a full stop.
    """
    template = _of_many(template) if head in plurals else template
    head_text = _extended(head, head_broader, head in plurals)
    tail_text = _extended(tail, tail_broader, tail in plurals)
    # An addition in mid-sentence is closed by a comma, one at the end by the full stop.
    if head_broader and not template.endswith("{head}"):
        head_text += ","
    if tail_broader and not template.endswith("{tail}"):
        tail_text += ","
    sentence = template.format(head=head_text, tail=tail_text)
    return sentence[0].upper() + sentence[1:].removesuffix(".") + "."
