"""The engine ``rules``: sentences by frames and edits, without a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from builders.medhal.extraction import layout, read_value
from builders.medhal.rules.contradict import contradict
from builders.medhal.rules.question import statement_of
from builders.medhal.writers import AnswerInWords, ExtractionInWords, SentenceToBreak, Written
from builders.texts.origin import Refusal

__all__ = ["RulesWriter", "sentence_of"]


class RulesWriter:
    """Writes each sentence by itself, so that nothing depends on what else is asked.

    Args:
        seed: of choices among edits of a sentence.
    """

    name: Literal["rules", "lm"] = "rules"

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def answers(self, asked: Sequence[AnswerInWords]) -> list[Written | Refusal]:
        """Turn questions and options into statements."""
        return [statement_of(request.question, request.option) for request in asked]

    def extractions(self, asked: Sequence[ExtractionInWords]) -> list[Written | Refusal]:
        """Turn extracted values into sentences."""
        return [sentence_of(request) for request in asked]

    def contradictions(self, asked: Sequence[SentenceToBreak]) -> list[Written | Refusal]:
        """Change sentences so that they no longer hold."""
        return [contradict(request, self._seed) for request in asked]


def sentence_of(asked: ExtractionInWords) -> Written | Refusal:
    """Say an extracted value in the sentence of its slot; values that differ get sentences that differ in it only.

    Returns:
        The sentence, or a refusal: ``value_too_free`` or ``no_reference``.
    """
    slot = layout().get((asked.category, asked.concept))
    value = read_value(asked.category, asked.concept, asked.value)
    if slot is None or slot.sentence is None or value.kind is None:
        return Refusal("value_too_free")
    if "{reference}" in slot.sentence and (asked.reference is None or '"' in asked.reference):
        return Refusal("no_reference")
    text = slot.sentence.format(value=value.text, reference=asked.reference)
    return Written(text, f"{asked.category} {asked.concept}".replace(" ", "_"))
