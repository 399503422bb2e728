"""What goes into a language model and what comes out: requests, completions, and failures with their reason."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

__all__ = ["KEPT_FAILURES", "RESULT", "Completion", "Failure", "FailureReason", "Message", "Request", "Result", "Usage"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Message(_Frozen):
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    # Prompts hold note text: no repr shows them, so no log and no traceback does.
    content: str = Field(repr=False)


@dataclass(frozen=True)
class Request:
    """A conversation to be continued.

    ``schema`` is the type of the wanted answer: a pydantic model, a JSON schema, or None for free text. ``sample``
    tells apart several answers to the same conversation.
    """

    messages: tuple[Message, ...] = field(repr=False)
    schema: type[BaseModel] | dict[str, Any] | None = None
    sample: int = 0


class FailureReason(StrEnum):
    """Why there is no answer."""

    RATE_LIMITED = "rate_limited"  # 429 until the tries were used up
    SERVER_ERROR = "server_error"  # 5xx
    TIMED_OUT = "timed_out"
    UNREACHABLE = "unreachable"  # no connection, or one that broke before the whole answer was there
    GARBLED = "garbled"  # an answer that is no chat completion
    REJECTED = "rejected"  # the server, or the local model, does not take this request (a 4xx; too many tokens)
    REFUSED = "refused"  # the model, or a content filter, declined
    EMPTY = "empty"
    TRUNCATED = "truncated"  # cut at the token limit before it parsed
    MALFORMED = "malformed"  # does not parse, or does not fit the schema


# Failures of the model, which are kept in the cache; the others may pass and are tried again.
KEPT_FAILURES = frozenset(
    {FailureReason.REFUSED, FailureReason.EMPTY, FailureReason.TRUNCATED, FailureReason.MALFORMED}
)


class Usage(_Frozen):
    """Tokens of all tries of one request; None where the server does not say."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None

    def plus(self, other: Usage) -> Usage:
        """Add the tokens of another try."""
        return Usage(
            prompt_tokens=_sum(self.prompt_tokens, other.prompt_tokens),
            completion_tokens=_sum(self.completion_tokens, other.completion_tokens),
        )


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None and second is None else (first or 0) + (second or 0)


class _Outcome(_Frozen):
    key: str  # SHA-256 of all that decides the answer
    model: str  # as the server names itself, else as it was asked for
    usage: Usage = Usage()
    cost: float | None = None  # in the currency of the settings' prices
    attempts: int = 1  # answers that were asked for, each retried on its own below the surface
    temperature: float | None = None
    seed: int | None = None
    finish_reason: str | None = None
    cached: bool = False


class Completion(_Outcome):
    """An answer; ``parsed`` is an instance of the schema's model, or the checked JSON value, or None for free text."""

    outcome: Literal["completion"] = "completion"
    text: str = Field(repr=False)
    parsed: Any = Field(default=None, repr=False, exclude=True)


class Failure(_Outcome):
    """No answer, and why; ``detail`` never quotes a prompt or an answer, ``text`` is the last answer where one came."""

    outcome: Literal["failure"] = "failure"
    reason: FailureReason
    detail: str
    text: str | None = Field(default=None, repr=False)


Result = Completion | Failure
RESULT: TypeAdapter[Result] = TypeAdapter(Annotated[Result, Field(discriminator="outcome")])
