"""The language model as callers see it: requests in, completions or typed failures out, in the same order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, cast

from ground.lm.cache import AnswerCache, content_key
from ground.lm.exchange import Exchange
from ground.lm.privacy import destination
from ground.lm.results import KEPT_FAILURES, Completion, Failure, FailureReason, Message, Request, Result, Usage
from ground.lm.settings import LmSettings
from ground.lm.structured import Schema, json_schema_of, parse_answer

__all__ = ["CACHE_FOLDER", "LanguageModel", "Totals"]

CACHE_FOLDER = "cache"
FORMAT = 1  # of the key; a change asks everything anew


class Backend(Protocol):
    """What answers: a server or a model in this process."""

    def run(self, exchanges: Iterator[Exchange], finish: Callable[[Exchange, Result], None]) -> None:
        """Bring every exchange to its result."""


@dataclass
class Totals:
    """What a language model was asked since it was opened; tokens and cost are of what was sent, not of the cache."""

    requests: int = 0
    cached: int = 0
    sent: int = 0
    interrupted: int = 0  # of those sent: under way, and never answered, when an earlier run was killed
    failures: Counter[str] = field(default_factory=Counter)
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the totals for a manifest or ``--json``."""
        return {
            "requests": self.requests,
            "cached": self.cached,
            "sent": self.sent,
            "interrupted": self.interrupted,
            "failures": dict(sorted(self.failures.items())),
            "prompt_tokens": self.usage.prompt_tokens,
            "completion_tokens": self.usage.completion_tokens,
            "cost": self.cost,
        }


class LanguageModel:
    """One model behind a cache; use it as a context manager.

    Raises:
        RefusedError: credentialed input and an endpoint off this machine that the settings do not name.
        UsageError: the endpoint or the key's variable is not usable.
    """

    def __init__(self, settings: LmSettings, workspace: Path, licence_tier: str) -> None:
        """Open a model for input of one licence tier (``open`` or ``credentialed``).

        Answers are kept in the workspace's ``cache/``: they may repeat the input, so they stay with it.
        """
        self.settings = settings
        self.totals = Totals()
        self._backend, self._identity = _open_backend(settings, licence_tier)
        self._cache = AnswerCache(workspace / CACHE_FOLDER)

    def __enter__(self) -> LanguageModel:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._cache.close()

    def complete(self, messages: Sequence[Message], schema: Schema | None = None) -> Result:
        """Answer one conversation; as `complete_all`."""
        return self.complete_all([Request(tuple(messages), schema)])[0]

    def complete_all(
        self, requests: Iterable[Request], advance: Callable[[int], None] = lambda _: None
    ) -> list[Result]:
        """Answer many conversations; results come in the order of the requests, however they were worked on.

        What the cache holds is not sent; equal requests are sent once. ``requests`` may be a generator: it is read as
        the work goes on. ``advance(1)`` is called for each request that has its result.

        Raises:
            InputError: the server does not take the requests at all, or fails many in a row; the local model cannot
                be loaded.
        """
        results: list[Result | None] = []
        waiting: dict[str, list[int]] = {}

        def settle(result: Result, places: list[int]) -> None:
            for place in places:
                results[place] = result
                self.totals.failures.update([result.reason.value] if isinstance(result, Failure) else [])
                advance(1)

        def missing() -> Iterator[Exchange]:
            for place, request in enumerate(requests):
                results.append(None)
                self.totals.requests += 1
                key = self.key(request)
                if key in waiting:
                    waiting[key].append(place)
                elif kept := self._kept(key, request):
                    self.totals.cached += 1
                    settle(kept, [place])
                else:
                    waiting[key] = [place]
                    self.totals.sent += 1
                    self.totals.interrupted += self._cache.note_sent(key)
                    yield Exchange(request, key, self.settings)

        def finish(exchange: Exchange, result: Result) -> None:
            settle(self._record(result), waiting.pop(exchange.key))

        self._backend.run(missing(), finish)
        return cast("list[Result]", results)

    def key(self, request: Request) -> str:
        """Return the SHA-256 of all that decides an answer: model, messages, schema and sampling, not the address."""
        return content_key(
            {
                **self.describe(),
                "messages": [message.model_dump() for message in request.messages],
                "schema": None if request.schema is None else json_schema_of(request.schema),
                "sample": request.sample,
            }
        )

    def describe(self) -> dict[str, Any]:
        """Return what decides the answers besides the requests, for a manifest."""
        settings = self.settings
        return {
            "format": FORMAT,
            "kind": settings.kind,
            "model": settings.model,
            "identity": self._identity,
            "temperature": settings.temperature,
            "seed": settings.seed,
            "max_tokens": settings.max_tokens,
            "extra_body": settings.extra_body,
            "structured": settings.structured,
            "cache_tag": settings.cache_tag,
        }

    def _kept(self, key: str, request: Request) -> Result | None:
        kept = self._cache.get(key)
        if isinstance(kept, Failure):
            # More tries are allowed now than it had.
            more = kept.reason is not FailureReason.REFUSED and kept.attempts <= self.settings.answer_retries
            return None if more and request.schema is not None else kept
        if kept is not None and request.schema is not None:
            return kept.model_copy(update={"parsed": parse_answer(kept.text, request.schema)})
        return kept

    def _record(self, result: Result) -> Result:
        """Keep a result and count its tokens."""
        if isinstance(result, Completion) or result.reason in KEPT_FAILURES:
            self._cache.put(result)
        else:
            self._cache.forget(result.key)
        cost = self._cost(result.usage)
        self.totals.usage = self.totals.usage.plus(result.usage)
        if cost is not None:
            self.totals.cost = (self.totals.cost or 0.0) + cost
        return result.model_copy(update={"cost": cost})

    def _cost(self, usage: Usage) -> float | None:
        prices = (self.settings.price_in, self.settings.price_out)
        tokens = (usage.prompt_tokens, usage.completion_tokens)
        if prices == (None, None) or tokens == (None, None):
            return None
        return sum((price or 0.0) * (count or 0) for price, count in zip(prices, tokens, strict=True)) / 1_000_000


def _open_backend(settings: LmSettings, licence_tier: str) -> tuple[Backend, str]:
    if settings.kind == "transformers":
        from ground.lm.local import LocalModel

        local = LocalModel(settings)
        return local, local.fingerprint
    from ground.lm.endpoint import Endpoint

    return Endpoint(settings, destination(settings, licence_tier)), ""
