"""The two fine-tuning tasks behind one shape: how a row is asked, answered and read back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.text.dataset import Kind
from ground.contracts.answers import MedhalAnswer, MedvalAnswer, parse_medhal, parse_medval
from ground.contracts.prompts import Answer, medhal_answer, medhal_prompt, medval_answer, medval_prompt

__all__ = ["TASKS", "SftTask"]


@dataclass(frozen=True)
class SftTask:
    """Prompt, answer and reader of one kind of row."""

    kind: Kind
    prompt: Callable[[Mapping[str, Any]], str]
    answer: Callable[[Mapping[str, Any]], Answer]
    parse: Callable[[str], MedhalAnswer | MedvalAnswer]


TASKS: dict[Kind, SftTask] = {
    "medhal": SftTask("medhal", medhal_prompt, medhal_answer, parse_medhal),
    "medval": SftTask("medval", medval_prompt, medval_answer, parse_medval),
}
