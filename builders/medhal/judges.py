"""The quality filter (MedHal, section 3.7): a pair is kept where a judge confirms both of its labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from builders.medhal.items import Claim, Pair
from builders.texts.origin import Refusal
from ground.contracts.answers import parse_medhal
from ground.contracts.prompts import medhal_prompt
from ground.lm.client import LanguageModel
from ground.lm.results import Failure, Message, Request, Result

__all__ = ["Check", "Judge", "LmJudge", "RulesJudge"]

Check = Callable[[Pair], "Refusal | None"]
"""Reads a pair as it stands and returns why its labels are not confirmed, None where they are."""

ANSWER = "### Answer\n"
GUIDANCE = "### Known to be right\n{guidance}\n\n" + ANSWER


class Judge(Protocol):
    """Confirms labels; it never changes them."""

    name: str

    def agree(self, pairs: Sequence[Pair]) -> list[Refusal | None]:
        """Return for each pair None where both labels are confirmed, else why not."""


class RulesJudge:
    """Reads every pair with a check of its own, which knows no rule by which the pair was made."""

    name = "rules"

    def __init__(self, check: Check) -> None:
        self._check = check

    def agree(self, pairs: Sequence[Pair]) -> list[Refusal | None]:
        """Return for each pair None where both labels are confirmed, else why not."""
        return [self._check(pair) for pair in pairs]


class LmJudge:
    """Asks a language model about each statement as a detector is asked.

    Where a pair has guidance (the right answer, the original sentence), the model sees it: the paper's judge did, for
    tasks whose nuances are subtle.
    """

    name = "lm"

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    def agree(self, pairs: Sequence[Pair]) -> list[Refusal | None]:
        """Return for each pair None where the model's answers to both statements are their labels, else why not."""
        requests = [_request(pair, claim) for pair in pairs for claim in (pair.factual, pair.wrong)]
        results = self._model.complete_all(requests)
        return [
            _verdict(factual, True) or _verdict(wrong, False)
            for factual, wrong in zip(results[::2], results[1::2], strict=True)
        ]


def _request(pair: Pair, claim: Claim) -> Request:
    prompt = medhal_prompt({"context": pair.context, "statement": claim.statement})
    if pair.guidance is not None:
        prompt = prompt.removesuffix(ANSWER) + GUIDANCE.format_map({"guidance": pair.guidance.strip()})
    return Request((Message(role="user", content=prompt),))


def _verdict(result: Result, label: bool) -> Refusal | None:
    if isinstance(result, Failure):
        return Refusal(f"judge_lm_{result.reason.value}")
    answer = parse_medhal(result.text)
    if answer.label is None:
        return Refusal(f"judge_unreadable_{answer.outcome}")
    if answer.label is not label:
        return Refusal("judge_calls_factual_wrong" if label else "judge_calls_wrong_factual")
    return None
