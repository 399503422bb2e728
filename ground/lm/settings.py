"""Settings of the language-model layer: which model, how it is asked, what it costs, and what may leave the machine."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from ground.settings import Section

__all__ = ["LmSettings"]

NonNegative = Annotated[float, Field(ge=0)]


class LmSettings(Section):
    """One language model and how it is used."""

    kind: Literal["endpoint", "transformers"] = Field(
        default="endpoint", description="an OpenAI-compatible server, or a transformers model in this process"
    )
    endpoint: str = Field(
        default="http://127.0.0.1:8000/v1", description="base URL of the server, up to and with its /v1"
    )
    model: str = Field(min_length=1, description="the server's name of the model; a hub name or folder of a local one")
    api_key_env: str | None = Field(
        default=None, description="NAME of the environment variable that holds the key; never the key itself"
    )
    temperature: NonNegative | Literal["default"] = Field(
        default=0.0, description="0 is greedy; default sends none, for models that take no other than their own"
    )
    seed: int = Field(default=42, description="seed sent with each request; the sample's number is added")
    max_tokens: int = Field(default=512, ge=1, description="tokens of an answer, at most")
    token_limit_field: Literal["max_tokens", "max_completion_tokens"] = Field(
        default="max_tokens", description="what the server calls that limit"
    )
    extra_body: dict[str, Any] = Field(
        default={}, description="further fields of the request, such as chat_template_kwargs.enable_thinking = false"
    )
    structured: Literal["auto", "json_schema", "prompt"] = Field(
        default="auto",
        description="answers with a schema: through response_format, by instruction only, or the first where taken",
    )
    concurrency: int = Field(default=8, ge=1, description="requests under way at the same time")
    timeout_s: float = Field(default=120.0, gt=0, description="seconds without a byte after which a try is given up")
    max_retries: int = Field(
        default=5, ge=0, description="tries after a 429, 5xx, time-out or lost connection, with backoff or Retry-After"
    )
    answer_retries: int = Field(default=2, ge=0, description="further tries after an answer that does not parse")
    give_up_after: int = Field(default=20, ge=1, description="requests failing in a row after which the run stops")
    price_in: float | None = Field(default=None, ge=0, description="price of a million prompt tokens")
    price_out: float | None = Field(default=None, ge=0, description="price of a million answer tokens")
    cache_tag: str = Field(
        default="", description="change it where the same model name has come to stand for other weights"
    )
    allow_remote_credentialed: tuple[str, ...] = Field(
        default=(), description="hosts, named one by one, that credentialed text may be sent to"
    )
    allow_remote_reason: str = Field(
        default="", description="why they may have it, such as the agreement that covers them; kept in the manifest"
    )
    batch_size: int = Field(default=8, ge=1, description="local models: prompts in one forward pass")
    device: Literal["auto", "cpu", "cuda"] = Field(default="auto", description="local models: where they run")
