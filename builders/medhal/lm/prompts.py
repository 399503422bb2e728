"""Prompts of the language-model engine, one file each in ``builders/data/prompts``."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal, cast

from ground import ROOT
from ground.lm.results import Message

__all__ = ["messages"]

FOLDER = ROOT / "builders" / "data" / "prompts"
TURN = re.compile(r"^\[(system|user|assistant)\]\n", re.MULTILINE)

Prompt = Literal["medhal_answer", "medhal_extraction", "medhal_contradiction"]


@cache
def _turns(name: str) -> tuple[tuple[str, str], ...]:
    """Read a file: comments, then turns that begin with ``[system]``, ``[user]`` or ``[assistant]``."""
    parts = TURN.split((FOLDER / f"{name}.txt").read_text(encoding="utf-8"))
    return tuple((role, text.strip()) for role, text in zip(parts[1::2], parts[2::2], strict=True))


def messages(name: Prompt, **fields: str) -> tuple[Message, ...]:
    """Return a conversation: the instruction, one example, and the question, which the fields are put into."""
    *before, (role, asked) = _turns(name)
    turns = [*before, (role, asked.format_map(fields))]
    return tuple(
        Message(role=cast(Literal["system", "user", "assistant"], role), content=content) for role, content in turns
    )
