"""Any OpenAI-compatible server, through the ``openai`` client: many requests at a time, each retried with limits."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ground.errors import InputError, UsageError
from ground.lm.exchange import Exchange, RawAnswer
from ground.lm.privacy import Destination, cloud_model
from ground.lm.results import Failure, FailureReason, Result, Usage
from ground.lm.settings import LmSettings
from ground.lm.structured import response_format

if TYPE_CHECKING:
    from openai import APIError, AsyncOpenAI

__all__ = ["Endpoint"]

LIST_SECONDS = 5.0
NO_KEY = "none"  # the client wants one; a server on this machine asks for none
OF_THE_MOMENT = frozenset(
    {
        FailureReason.RATE_LIMITED,
        FailureReason.SERVER_ERROR,
        FailureReason.TIMED_OUT,
        FailureReason.UNREACHABLE,
        FailureReason.GARBLED,
    }
)
BAD_REQUEST = frozenset({400, 415, 422, 501})
WRONG_SETTINGS = frozenset({401, 403, 404})
# An error's code is a word, such as context_length_exceeded; its message may quote the prompt and is not repeated.
CODE = re.compile(r"\A[A-Za-z0-9_.-]{1,60}\Z")
TOO_LONG = re.compile(r"context.?(?:length|size|window)|too (?:long|many tokens)", re.IGNORECASE)


class Endpoint:
    """A server at one address; see `ground.lm.privacy` for which addresses may be used."""

    def __init__(self, settings: LmSettings, where: Destination) -> None:
        self._settings = settings
        self._where = where
        self._key = _api_key(settings)
        self._takes_schema = settings.structured != "prompt"
        self._schema_worked = False
        self._answered = False
        self._failed_in_a_row = 0

    def run(self, exchanges: Iterator[Exchange], finish: Callable[[Exchange, Result], None]) -> None:
        """Bring every exchange to its result; ``exchanges`` is read as places become free.

        Raises:
            InputError: the server does not know the key or the model, or many requests failed in a row.
        """
        if self._where.loopback and self._where.guarded:
            _require_own_model(self._where.base_url, self._settings)
        asyncio.run(self._run(exchanges, finish))

    async def _run(self, exchanges: Iterator[Exchange], finish: Callable[[Exchange, Result], None]) -> None:
        async def worker() -> None:
            for exchange in exchanges:
                result = await self._exchange(client, exchange)
                finish(exchange, result)
                self._watch(result)

        async with self._client() as client:
            workers = [asyncio.create_task(worker()) for _ in range(self._settings.concurrency)]
            try:
                await asyncio.gather(*workers)
            finally:
                for task in workers:
                    task.cancel()
                await asyncio.gather(*workers, return_exceptions=True)

    def _client(self) -> AsyncOpenAI:
        from openai import AsyncOpenAI, DefaultAsyncHttpxClient

        client = AsyncOpenAI(
            api_key=self._key,
            base_url=self._where.base_url,
            timeout=self._settings.timeout_s,
            max_retries=self._settings.max_retries,
            # A proxy from the environment, or a redirect, would send a request for this machine elsewhere.
            http_client=DefaultAsyncHttpxClient(
                trust_env=self._where.proxied, follow_redirects=False, timeout=self._settings.timeout_s
            ),
        )
        # The client fills these from the environment, where they belong to the user's account at another server.
        client.organization = None
        client.project = None
        return client

    async def _exchange(self, client: AsyncOpenAI, exchange: Exchange) -> Result:
        from openai import APIError

        while True:
            with_schema = self._takes_schema and exchange.request.schema is not None
            try:
                answer = await self._ask(client, exchange, with_schema)
            except APIError as error:
                if with_schema and self._falls_back(error):
                    self._takes_schema = False
                    continue
                exchange.attempts += 1
                return self._failure(exchange, error)
            if answer is None:
                exchange.attempts += 1
                if exchange.attempts <= self._settings.answer_retries:
                    continue
                return exchange.fail(FailureReason.GARBLED, "the server's answer is no chat completion")
            self._answered = True
            self._schema_worked |= with_schema
            result = exchange.take(answer)
            if result is not None:
                return result

    async def _ask(self, client: AsyncOpenAI, exchange: Exchange, with_schema: bool) -> RawAnswer | None:
        """Ask once (the client retries what is of the moment); None where the answer is no chat completion."""
        settings = self._settings
        body: dict[str, Any] = {
            "model": settings.model,
            "messages": exchange.messages(),
            "seed": exchange.seed,
            settings.token_limit_field: settings.max_tokens,
        }
        if exchange.temperature is not None:
            body["temperature"] = exchange.temperature
        if with_schema and exchange.request.schema is not None:
            body["response_format"] = response_format(exchange.request.schema)
        raw = await client.chat.completions.with_raw_response.create(**body, extra_body=settings.extra_body or None)
        try:
            return _answer(raw.parse())
        except (ValueError, TypeError, AttributeError, LookupError, RecursionError):
            return None

    def _falls_back(self, error: APIError) -> bool:
        """Say whether this error may mean that the server knows no ``response_format``."""
        status = getattr(error, "status_code", None)
        return self._settings.structured == "auto" and status in BAD_REQUEST and not self._schema_worked

    def _failure(self, exchange: Exchange, error: APIError) -> Failure:
        status = getattr(error, "status_code", None)
        code = error.code if isinstance(error.code, str) and CODE.match(error.code) else None
        # A server that finds a request too long knows the model: the request is wrong, not the settings.
        self._answered |= status in {*BAD_REQUEST, 413} and TOO_LONG.search(str(error)) is not None
        if status in WRONG_SETTINGS and not self._answered:
            raise InputError(
                f"the endpoint does not take the requests (HTTP {status})",
                found=f"{self._where.base_url}, model {self._settings.model}" + (f", {code}" if code else ""),
                expected="an OpenAI-compatible server that knows the model",
                do="check endpoint (does it end with /v1?), model, and api_key_env",
            )
        detail = f"HTTP {status}" if status else type(error).__name__
        return exchange.fail(_reason(error, status, code), f"{detail}, {code}" if code else detail)

    def _watch(self, result: Result) -> None:
        # A rejection counts until the server has answered once: `transformers serve` says 400 of a model that it does
        # not know; a later one is about its own request, such as one that is too long.
        counts = isinstance(result, Failure) and (
            result.reason in OF_THE_MOMENT or (result.reason is FailureReason.REJECTED and not self._answered)
        )
        self._failed_in_a_row = self._failed_in_a_row + 1 if counts else 0
        if isinstance(result, Failure) and self._failed_in_a_row >= self._settings.give_up_after:
            raise InputError(
                f"{self._failed_in_a_row} requests failed in a row",
                found=f"{result.reason} ({result.detail}) at {self._where.base_url}, model {self._settings.model}",
                expected="a server that answers, and knows the model",
                do="check the server and run it again: what was answered is kept; give_up_after sets this limit",
            )


def _require_own_model(base_url: str, settings: LmSettings) -> None:
    """Refuse a model that Ollama on this machine passes on to other servers, whatever it is called here.

    Its list names where such a model runs (``remote_host``, ``remote_model``); other servers have no such list.

    Raises:
        RefusedError: the model runs elsewhere, and the settings do not name the host.
    """
    import httpx

    url = httpx.URL(base_url)
    try:
        listed = httpx.get(url.copy_with(path="/api/tags"), trust_env=False, timeout=LIST_SECONDS).json()["models"]
        names = {name.removesuffix(":latest") for model in listed if _runs_elsewhere(model) for name in _names(model)}
    except (httpx.HTTPError, ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return
    if settings.model.removesuffix(":latest") in names and url.host not in settings.allow_remote_credentialed:
        raise cloud_model(settings.model, url.host)


def _runs_elsewhere(listed: dict[str, Any]) -> bool:
    return bool(listed.get("remote_host") or listed.get("remote_model"))


def _names(listed: dict[str, Any]) -> set[str]:
    return {listed["name"], listed.get("model", listed["name"])}


def _answer(completion: Any) -> RawAnswer:
    """Read a chat completion; servers differ in what they leave out, and an error may come as 200.

    Raises:
        AttributeError, LookupError, TypeError, ValueError: it is none.
    """
    choice = completion.choices[0]
    text = choice.message.content
    finished, model = (
        getattr(holder, name, None) for holder, name in ((choice, "finish_reason"), (completion, "model"))
    )
    for words in (text, finished, model):
        # JSON can hold half a surrogate pair, which UTF-8 cannot.
        str.encode(words or "")
    usage = getattr(completion, "usage", None)
    return RawAnswer(
        text=text,
        finish_reason=finished,
        model=model,
        usage=Usage(
            prompt_tokens=getattr(usage, "prompt_tokens", None),
            completion_tokens=getattr(usage, "completion_tokens", None),
        ),
        refused=bool(getattr(choice.message, "refusal", None)),
    )


def _reason(error: APIError, status: int | None, code: str | None) -> FailureReason:
    from openai import APITimeoutError

    if status is None:
        return FailureReason.TIMED_OUT if isinstance(error, APITimeoutError) else FailureReason.UNREACHABLE
    if code == "content_filter":
        return FailureReason.REFUSED
    if status == 429:
        return FailureReason.RATE_LIMITED
    if status == 408:
        return FailureReason.TIMED_OUT
    return FailureReason.SERVER_ERROR if status >= 500 else FailureReason.REJECTED


def _api_key(settings: LmSettings) -> str:
    if settings.api_key_env is None:
        return NO_KEY
    key = os.environ.get(settings.api_key_env, "")
    if not key:
        # The value is not repeated: it may be the key itself, put there by mistake.
        raise UsageError(
            "api_key_env names no environment variable that is set",
            expected="the NAME of a variable that holds the key, never the key itself",
            do="export the key under a name such as LM_API_KEY and set api_key_env to that name",
        )
    return key
