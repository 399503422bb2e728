"""One request on its way to a result: the messages to send, and what follows from an answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ground.lm.results import Completion, Failure, FailureReason, Message, Request, Result, Usage
from ground.lm.settings import LmSettings
from ground.lm.structured import AnswerError, instruction, parse_answer

__all__ = ["Exchange", "RawAnswer"]

# Reasons to finish, by OpenAI's names; others are passed on unchanged.
CUT_AT_LIMIT = "length"
FILTERED = "content_filter"


@dataclass(frozen=True)
class RawAnswer:
    """The answer of a backend to one try."""

    text: str | None = field(repr=False)
    finish_reason: str | None = None
    model: str | None = None
    usage: Usage = field(default_factory=Usage)
    refused: bool = False


@dataclass
class Exchange:
    """A request, its key, and the state of its tries."""

    request: Request
    key: str
    settings: LmSettings
    attempts: int = 0
    usage: Usage = field(default_factory=Usage)
    _replies: list[Message] = field(default_factory=list, repr=False)

    @property
    def seed(self) -> int:
        """The seed of this request: the settings' plus the sample's number."""
        return self.settings.seed + self.request.sample

    @property
    def temperature(self) -> float | None:
        """The temperature that is sent; None leaves it to the model."""
        return None if self.settings.temperature == "default" else self.settings.temperature

    def messages(self) -> list[dict[str, str]]:
        """Return what is sent now: the conversation, the wanted shape, and what was wrong with the last answer."""
        messages = [message.model_dump() for message in self.request.messages]
        if self.request.schema is not None:
            messages[-1]["content"] += f"\n\n{instruction(self.request.schema)}"
        return messages + [message.model_dump() for message in self._replies]

    def take(self, answer: RawAnswer) -> Result | None:
        """Judge an answer; None means that the model is to be asked again."""
        self.attempts += 1
        self.usage = self.usage.plus(answer.usage)
        if answer.refused or answer.finish_reason == FILTERED:
            return self.fail(FailureReason.REFUSED, "the model or its content filter declined", answer)
        text = answer.text or ""
        if self.request.schema is None:
            if not text.strip():
                return self.fail(FailureReason.EMPTY, "the answer has no text", answer)
            return self._completion(text, None, answer)
        try:
            return self._completion(text, parse_answer(text, self.request.schema), answer)
        except AnswerError as error:
            return self._ask_again(answer, error)

    def _ask_again(self, answer: RawAnswer, error: AnswerError) -> Failure | None:
        cut = answer.finish_reason == CUT_AT_LIMIT
        text = answer.text or ""
        if self.attempts <= self.settings.answer_retries:
            advice = "it was cut off at the limit of its length; answer more briefly" if cut else error.advice
            # Only the last wrong answer is shown: the conversation does not grow with the tries.
            self._replies = [
                *([Message(role="assistant", content=text)] if text.strip() else []),
                Message(
                    role="user", content=f"Your answer was not valid: {advice}. Answer again, with the JSON alone."
                ),
            ]
            return None
        if not text.strip():
            return self.fail(FailureReason.EMPTY, "the answer has no text", answer)
        return self.fail(FailureReason.TRUNCATED if cut else FailureReason.MALFORMED, str(error), answer)

    def _completion(self, text: str, parsed: object, answer: RawAnswer) -> Completion:
        return Completion(**self._outcome(answer), text=text, parsed=parsed)

    def fail(self, reason: FailureReason, detail: str, answer: RawAnswer | None = None) -> Failure:
        """Return the failure of this request."""
        answer = answer or RawAnswer(None)
        return Failure(**self._outcome(answer), reason=reason, detail=detail, text=answer.text)

    def _outcome(self, answer: RawAnswer) -> dict[str, Any]:
        return {
            "key": self.key,
            "model": answer.model or self.settings.model,
            "usage": self.usage,
            "attempts": self.attempts,
            "temperature": self.temperature,
            "seed": self.seed,
            "finish_reason": answer.finish_reason,
        }
