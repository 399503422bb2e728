"""The validator that asks a language model, with the prompt that validators are trained on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, cast

from builders.medval.items import Item, Judgement
from builders.medval.rows import instruction_of
from builders.texts.origin import Refusal
from ground.contracts.answers import MedvalAnswer, parse_medval
from ground.contracts.prompts import medval_prompt
from ground.contracts.rows_text import ErrorCategory, MedvalErrorRow, RiskLevel
from ground.lm.client import LanguageModel
from ground.lm.results import Failure, Message, Request, Result

__all__ = ["LmValidator"]

QUOTED = re.compile(r'"([^"\n]{2,})"|“([^”\n]{2,})”')


class LmValidator:
    """Asks one language model; an answer that cannot be read is a refusal ``lm_...`` and never a risk level."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    def judge(self, items: Sequence[Item], outputs: Sequence[str]) -> list[Judgement | Refusal]:
        """Return the model's judgement of each output; it is shown the instruction, the input and the output."""
        requests = (
            Request((Message(role="user", content=_question(item, output)),))
            for item, output in zip(items, outputs, strict=True)
        )
        results = self._model.complete_all(requests)
        return [_judgement(result, item, output) for result, item, output in zip(results, items, outputs, strict=True)]


def _question(item: Item, output: str) -> str:
    return medval_prompt({"instruction": instruction_of(item.task), "input": item.input, "output": output})


def _judgement(result: Result, item: Item, output: str) -> Judgement | Refusal:
    if isinstance(result, Failure):
        return Refusal(f"lm_{result.reason.value}")
    answer: MedvalAnswer = parse_medval(result.text)
    if answer.label is None:
        return Refusal(f"lm_{answer.outcome}")
    errors = tuple(_error(category, text, item.input, output) for category, text in answer.errors)
    return Judgement(answer.explanation or "", errors, cast(RiskLevel, answer.label))


def _error(category: str, text: str, given: str, output: str) -> MedvalErrorRow:
    """Return an error with the first words in quotation marks that stand in the output, or else in the input."""
    quotes = [first or second for first, second in QUOTED.findall(text)]
    quoted = next(
        (
            (quote, where)
            for where, whole in (("output", output), ("input", given))
            for quote in quotes
            if quote in whole
        ),
        (None, None),
    )
    return MedvalErrorRow(
        category=cast(ErrorCategory, category),
        text=text,
        quote=quoted[0],
        quoted_from=cast('Literal["input", "output"] | None', quoted[1]),
    )
