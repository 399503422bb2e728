"""The engine ``lm``: a language model writes the sentences (MedHal, sections 3.2, 3.3 and 3.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from builders.medhal.lm.prompts import messages
from builders.medhal.lm.reading import read_statement
from builders.medhal.writers import AnswerInWords, ExtractionInWords, SentenceToBreak, Written
from builders.texts.origin import Refusal
from ground.lm.client import LanguageModel
from ground.lm.results import Request

__all__ = ["LmWriter"]

RULE = "lm"
LONGEST = 3.0  # of a changed sentence, in lengths of the one it was made from


class LmWriter:
    """Asks one language model for every sentence; what it did not write as asked is a refusal ``lm_...``."""

    name: Literal["rules", "lm"] = "lm"

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    def answers(self, asked: Sequence[AnswerInWords]) -> list[Written | Refusal]:
        """Turn questions and options into statements."""
        requests = [Request(messages("medhal_answer", question=one.question, option=one.option)) for one in asked]
        return [_written(read_statement(result)) for result in self._model.complete_all(requests)]

    def extractions(self, asked: Sequence[ExtractionInWords]) -> list[Written | Refusal]:
        """Turn extracted values into sentences."""
        requests = [
            Request(
                messages(
                    "medhal_extraction",
                    category=one.category,
                    concept=one.concept,
                    value=one.value,
                    reference=one.reference or "None",
                )
            )
            for one in asked
        ]
        return [_written(read_statement(result, one_sentence=True)) for result in self._model.complete_all(requests)]

    def contradictions(self, asked: Sequence[SentenceToBreak]) -> list[Written | Refusal]:
        """Change sentences so that they no longer hold."""
        requests = [Request(messages("medhal_contradiction", text=one.text, sentence=one.sentence)) for one in asked]
        results = self._model.complete_all(requests)
        return [
            _changed(one.sentence, read_statement(result, one_sentence=True))
            for one, result in zip(asked, results, strict=True)
        ]


def _written(text: str | Refusal) -> Written | Refusal:
    return text if isinstance(text, Refusal) else Written(text, RULE)


def _changed(sentence: str, text: str | Refusal) -> Written | Refusal:
    if isinstance(text, Refusal):
        return text
    if "".join(text.lower().split()) == "".join(sentence.lower().split()):
        return Refusal("lm_unchanged")
    if len(text) > LONGEST * len(sentence):
        return Refusal("lm_too_long")
    return Written(text, RULE)
