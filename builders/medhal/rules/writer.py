"""The engine ``rules``: sentences by syntax, templates and edits, without a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from builders.medhal.rules.contradict import contradict
from builders.medhal.rules.extraction import sentence_of
from builders.medhal.rules.question import statement_of
from builders.medhal.writers import AnswerInWords, ExtractionInWords, SentenceToBreak, Written
from builders.texts.origin import Refusal

__all__ = ["RulesWriter"]


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
