"""The rules engine's sentence for an extracted value: templates by category, concept and shape (MedHal, figure 3)."""

from __future__ import annotations

from builders.medhal.rules.extraction_tables import templates
from builders.medhal.rules.reading import normal_words
from builders.medhal.rules.values import OTHER, is_plain, read_value
from builders.medhal.writers import ExtractionInWords, Written
from builders.texts.origin import Refusal

__all__ = ["sentence_of"]

LONGEST_REFERENCE = 6


def sentence_of(asked: ExtractionInWords) -> Written | Refusal:
    """Say a value in one sentence in the present tense.

    Values that differ get sentences that differ in the value only, where they have the same shape.

    Returns:
        The sentence, or a refusal: ``value_too_free`` (several sentences, a clause, something denied or doubtful),
        ``no_template``, ``no_reference`` or ``reference_too_free``.
    """
    value = read_value(asked.category, asked.concept, asked.value)
    if value.shape == OTHER:
        return Refusal("value_too_free")
    template = templates().get((asked.category, asked.concept, value.shape))
    if template is None:
        return Refusal("no_template")
    reference = asked.reference
    if "{reference}" in template.text:
        if reference is None:
            return Refusal("no_reference")
        if not _can_refer(reference, follows_the="The {reference}" in template.text):
            return Refusal("reference_too_free")
    return Written(template.text.format(value=value.said, reference=reference), template.rule)


def _can_refer(reference: str, *, follows_the: bool) -> bool:
    """Tell whether a reference is a plain noun phrase; one that is the subject must be singular."""
    words = reference.split()
    if len(words) > LONGEST_REFERENCE or not is_plain(reference, tuple(normal_words(reference))):
        return False
    head = words[words.index("of") - 1 if "of" in words[1:] else -1].lower()
    return not (follows_the and ((head.endswith("s") and not head.endswith(("ss", "us", "is"))) or "and" in words))
