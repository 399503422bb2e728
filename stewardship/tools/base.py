"""What a tool is, and a store of what tools said: asked the same again, a tool is not run again."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, Field

from ground.lm.cache import content_key

__all__ = ["RESULT_CHARACTERS", "Arguments", "Tool", "ToolResult", "ToolUse", "Toolbox"]

RESULT_CHARACTERS = 4_000
"""Length to which a result is cut before the model sees it."""


class Arguments(BaseModel):
    """Base of a tool's arguments; every field must be given, so that strict structured output can be used."""

    model_config = ConfigDict(frozen=True, extra="forbid")


@dataclass(frozen=True)
class ToolResult:
    """What a tool said; ``ok`` is False where it failed, and the text then says why."""

    text: str
    ok: bool = True


class ToolUse(BaseModel):
    """One call of a tool: what was asked of it and what it said; ``ok`` is False where it failed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tool: str
    arguments: dict[str, Any] = Field(repr=False)
    result: str = Field(repr=False)
    ok: bool = True


class Tool(Protocol):
    """One tool. Its result depends on its arguments and on `describe` alone."""

    @property
    def name(self) -> str:
        """How the model calls it."""

    @property
    def arguments(self) -> type[Arguments]:
        """What it takes."""

    def describe(self) -> dict[str, Any]:
        """Return what decides the results besides the arguments."""

    def manual(self) -> str:
        """Return what the model is told of the tool: what it does, and its arguments."""

    def use(self, arguments: Any) -> ToolResult:
        """Do it; a failure that the model can mend is a result, not an error."""


class Toolbox:
    """The tools of one series, with a store of their results.

    The store makes a conversation that was killed go on as it was: its turns are found in the cache of the language
    model only where the tools say again what they said.
    """

    def __init__(self, tools: Sequence[Tool], file: Path | None = None) -> None:
        """Put tools into a box; results are kept in an SQLite file, or in memory where none is named."""
        self.tools = {tool.name: tool for tool in tools}
        self._described = {name: tool.describe() for name, tool in self.tools.items()}
        self._lock = threading.Lock()
        self._kept = sqlite3.connect(file or ":memory:", timeout=60, isolation_level=None, check_same_thread=False)
        self._kept.execute("create table if not exists result (key text primary key, text text, ok integer)")

    def describe(self) -> dict[str, Any]:
        """Return what decides the results, by tool."""
        return self._described

    def use(self, name: str, arguments: Arguments) -> ToolUse:
        """Call a tool; a result that is kept is given again."""
        given = arguments.model_dump(mode="json")
        key = content_key({"tool": name, "described": self._described[name], "arguments": given})
        with self._lock:
            kept = self._kept.execute("select text, ok from result where key = ?", (key,)).fetchone()
        if kept is None:
            result = self.tools[name].use(arguments)
            kept = (_cut(result.text), int(result.ok))
            with self._lock:
                self._kept.execute("insert or ignore into result values (?, ?, ?)", (key, *kept))
        return ToolUse(tool=name, arguments=given, result=kept[0], ok=bool(kept[1]))

    def close(self) -> None:
        """Close the store."""
        self._kept.close()


def _cut(text: str) -> str:
    text = text.encode("utf-8", "replace").decode()
    if len(text) <= RESULT_CHARACTERS:
        return text
    return f"{text[:RESULT_CHARACTERS]}\n[cut: {len(text) - RESULT_CHARACTERS:,} characters more]"
