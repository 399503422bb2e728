"""Runs from a language model: one request a run, or a conversation in turns where it has tools.

The turns are plain messages with an answer by JSON schema (a call of a tool, or the last answer), so that any server
that the language-model layer knows can do it. Each turn is kept in the layer's cache by its content and each tool's
result in the toolbox: a run that was killed in the middle goes on without a repeated call.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Annotated, Any, Literal, Union

from pydantic import BaseModel, ConfigDict, Field, create_model

from ground.lm.client import LanguageModel
from ground.lm.results import KEPT_FAILURES, Failure, Message, Request, Result, Usage
from ground.lm.settings import LmSettings
from ground.lm.structured import without_thinking
from ground.machine import own_cores
from stewardship.runs.engines import Answer, Ask, Engine
from stewardship.runs.prompts import AuditAnswer, Extracted, Script
from stewardship.tools.base import Arguments, Toolbox, ToolUse

__all__ = ["ModelEngine", "RunsModelSettings"]

LAST = "You have no turn left to call a tool: give your answer now."


class RunsModelSettings(LmSettings):
    """A language model for runs that are to be independent (paper 2.3: temperature 1)."""

    temperature: Annotated[float, Field(ge=0)] | Literal["default"] = Field(
        default=1.0, description="0 is greedy, and makes all runs alike; default sends none"
    )
    max_tokens: int = Field(default=4096, ge=1, description="tokens of an answer, at most")


class _Closed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


@dataclass
class _Talk:
    """A run under way."""

    ask: Ask
    first: tuple[Message, ...]
    messages: list[Message]
    tools: list[ToolUse] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)

    @property
    def turn(self) -> int:
        return len(self.keys) + 1


class ModelEngine(Engine):
    """Asks a language model.

    Many runs are under way at a time; each round sends the next turn of all of them. Their number bounds the memory.
    """

    def __init__(self, model: LanguageModel, script: Script, *, toolbox: Toolbox | None = None, turns: int = 8) -> None:
        """Bind a model to what it is asked.

        Args:
            model: open, with the benchmark's licence tier.
            toolbox: its tools; None or empty: one request a run.
            turns: of a run with tools, at most; the last one must be the answer.
        """
        self.name = model.settings.model.rstrip("/").rpartition("/")[2]
        self._model = model
        self._script = script
        self._tools = toolbox if toolbox is not None and toolbox.tools else None
        self._turns = turns if self._tools else 1
        self._window = 4 * max(model.settings.concurrency, model.settings.batch_size)

    def describe(self) -> dict[str, Any]:
        """Return model, sampling, words and tools."""
        tools = self._tools.describe() if self._tools else {}
        asked = {"prompt": self._script.describe()["prompt"], "turns": self._turns, "tools": tools}
        return {"engine": "lm", **self._model.describe(), **asked}

    def answers(self, asks: Iterator[Ask]) -> Iterator[Sequence[Answer]]:
        """Ask; yields the runs that each round has finished.

        Raises:
            InputError: the server does not take the requests, or fails many in a row.
        """
        under_way: list[_Talk] = []
        with ThreadPoolExecutor(own_cores()) as pool:
            while True:
                under_way += map(self._begin, islice(asks, self._window - len(under_way)))
                if not under_way:
                    return
                results = self._model.complete_all(map(self._request, under_way))
                ended = list(pool.map(self._step, under_way, results))
                yield [answer for answer in ended if answer is not None]
                under_way = [talk for talk, answer in zip(under_way, ended, strict=True) if answer is None]

    def _begin(self, ask: Ask) -> _Talk:
        assert not isinstance(ask.item, Extracted)
        first = self._script.messages(ask.item)
        return _Talk(ask, first, list(first))

    def _request(self, talk: _Talk) -> Request:
        if self._tools is None:
            return Request(tuple(talk.messages), self._script.answer, sample=talk.ask.run)
        last = talk.turn >= self._turns
        return Request(tuple(talk.messages), self._last_turn if last else self._any_turn, sample=talk.ask.run)

    def _step(self, talk: _Talk, result: Result) -> Answer | None:
        """Take up one turn's result: the run's answer, or None where a tool was called and another turn follows."""
        talk.keys.append(result.key)
        talk.usage = talk.usage.plus(result.usage)
        if isinstance(result, Failure):
            passing = result.reason not in KEPT_FAILURES
            return self._answer(talk, result, reason=str(result.reason), raw=result.text, passing=passing)
        if self._tools is None:
            return self._finished(talk, result, result.parsed if self._script.answer else result.text, result.text)
        step = result.parsed.step
        if not hasattr(step, "tool"):
            return self._finished(talk, result, step.answer, result.text)
        used = self._tools.use(step.tool, step.arguments)
        talk.tools.append(used)
        heading = f"Result of {used.tool}" if used.ok else f"{used.tool} failed"
        left = LAST if talk.turn >= self._turns else f"Turns left: {self._turns - talk.turn + 1}."
        talk.messages += [
            Message(role="assistant", content=without_thinking(result.text)),
            Message(role="user", content=f"{heading}:\n{used.result}\n\n{left}"),
        ]
        return None

    def _finished(self, talk: _Talk, result: Result, final: AuditAnswer | str, raw: str) -> Answer:
        if isinstance(final, AuditAnswer):
            mode = final.failure_mode if final.verdict == "Suspicious" else None
            return self._answer(talk, result, final=final.verdict, raw=raw, failure_mode=mode, remark=final.critique)
        return self._answer(talk, result, final=without_thinking(final), raw=raw)

    def _answer(self, talk: _Talk, result: Result, **answer: Any) -> Answer:
        return Answer(
            talk.ask,
            result.model,
            messages=talk.first,
            seed=result.seed,
            temperature=result.temperature,
            tools=tuple(talk.tools),
            prompt_tokens=talk.usage.prompt_tokens,
            completion_tokens=talk.usage.completion_tokens,
            keys=tuple(talk.keys),
            **answer,
        )

    @cached_property
    def _any_turn(self) -> type[BaseModel]:
        assert self._tools is not None
        calls = [_call(name, tool.arguments) for name, tool in self._tools.tools.items()]
        return _turn("Turn", Union[(*calls, self._final)])

    @cached_property
    def _last_turn(self) -> type[BaseModel]:
        return _turn("LastTurn", self._final)

    @cached_property
    def _final(self) -> type[BaseModel]:
        # No description beside a reference to a model: OpenAI's strict mode refuses that.
        shape: Any = (self._script.answer, ...) if self._script.answer else (str, Field(description="as asked for"))
        return create_model("Final", __base__=_Closed, answer=shape)


def _call(name: str, arguments: type[Arguments]) -> type[BaseModel]:
    tool: Any = Literal[name]
    return create_model(f"{name.capitalize()}Call", __base__=_Closed, tool=(tool, ...), arguments=(arguments, ...))


def _turn(title: str, step: Any) -> type[BaseModel]:
    thought = Field(description="your reasoning, briefly")
    return create_model(title, __base__=_Closed, thought=(str, thought), step=(step, ...))
