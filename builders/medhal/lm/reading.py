"""Strict reading of what a model wrote: the sentence alone, or a typed refusal; nothing is repaired."""

from __future__ import annotations

import re

from builders.texts.origin import Refusal
from ground.lm.results import Failure, Result
from ground.lm.structured import without_thinking

__all__ = ["read_statement"]

QUOTES = {'"': '"', "“": "”", "'": "'"}
# Words with which models introduce an answer instead of giving it.
PREAMBLE = re.compile(
    r"(?:sure|certainly|of course|okay|ok|absolutely|here(?:'s| is| are)|i (?:can|will|would|cannot|can't|am|have)"
    r"|as an ai|sorry|note)\b"
    r"|(?:\w+ ){0,4}(?:statement|sentence|answer|output|question|explanation|concept|value)(?: \w+){0,3} ?:",
    re.IGNORECASE,
)
MARKUP = re.compile(r"[-*#>`|\[{<]|\d+[.)] |\*\*")
# A full stop behind a word of three letters or more, and a capital after it: no abbreviation and no initial.
NEXT_SENTENCE = re.compile(r"(?<=[a-z0-9)\]%]{3})[.!?] +(?=[A-Z])")


def read_statement(result: Result, *, one_sentence: bool = False) -> str | Refusal:
    """Return the statement of an answer: one line of plain words, without a preamble.

    Args:
        result: of the language model.
        one_sentence: refuse more than one sentence (a statement with its vignette may have several).
    """
    if isinstance(result, Failure):
        return Refusal(f"lm_{result.reason.value}")
    if result.finish_reason == "length":
        return Refusal("lm_truncated")
    text = _unquoted(without_thinking(result.text))
    if not re.search(r"[A-Za-z]{2}", text):
        return Refusal("lm_no_words")
    for reason, found in (
        ("lm_several_lines", "\n" in text),
        ("lm_preamble", PREAMBLE.match(text)),
        ("lm_markup", MARKUP.match(text)),
        ("lm_question", text.endswith("?")),
        ("lm_several_sentences", one_sentence and NEXT_SENTENCE.search(text)),
    ):
        if found:
            return Refusal(reason)
    return text


def _unquoted(text: str) -> str:
    if len(text) > 1 and QUOTES.get(text[0]) == text[-1] and text[0] not in text[1:-1]:
        return text[1:-1].strip()
    return text
