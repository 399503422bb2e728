"""The engine ``lm``: a language model writes the sentences (MedHal, sections 3.2, 3.3 and 3.5).

Prompts are files of ``builders/data/prompts``. An answer is the sentence alone, or a typed refusal;
nothing is repaired.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Literal, cast

from builders.medhal.writers import AnswerInWords, ExtractionInWords, SentenceToBreak, Written
from builders.texts.origin import Refusal
from ground import ROOT
from ground.lm.client import LanguageModel
from ground.lm.results import Failure, Message, Request, Result
from ground.lm.structured import without_thinking

__all__ = ["LmWriter", "messages", "read_statement"]

RULE = "lm"
LONGEST = 3.0  # of a changed sentence, in lengths of the one it was made from
FOLDER = ROOT / "builders" / "data" / "prompts"
TURN = re.compile(r"^\[(system|user|assistant)\]\n", re.MULTILINE)

Prompt = Literal["medhal_answer", "medhal_extraction", "medhal_contradiction"]


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


class LmWriter:
    """Asks one language model for every sentence; what it did not write as asked is a refusal ``lm_...``."""

    name: Literal["rules", "lm"] = "lm"

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    def answers(self, asked: Sequence[AnswerInWords]) -> list[Written | Refusal]:
        """Turn questions and options into statements."""
        requests = [
            Request(messages("medhal_answer", question=request.question, option=request.option)) for request in asked
        ]
        return [_written(read_statement(result)) for result in self._model.complete_all(requests)]

    def extractions(self, asked: Sequence[ExtractionInWords]) -> list[Written | Refusal]:
        """Turn extracted values into sentences."""
        requests = [
            Request(
                messages(
                    "medhal_extraction",
                    category=request.category,
                    concept=request.concept,
                    value=request.value,
                    reference=request.reference or "None",
                )
            )
            for request in asked
        ]
        return [_written(read_statement(result, one_sentence=True)) for result in self._model.complete_all(requests)]

    def contradictions(self, asked: Sequence[SentenceToBreak]) -> list[Written | Refusal]:
        """Change sentences so that they no longer hold."""
        requests = [
            Request(messages("medhal_contradiction", text=request.text, sentence=request.sentence)) for request in asked
        ]
        results = self._model.complete_all(requests)
        return [
            _changed(request.sentence, read_statement(result, one_sentence=True))
            for request, result in zip(asked, results, strict=True)
        ]


def _written(text: str | Refusal) -> Written | Refusal:
    return text if isinstance(text, Refusal) else Written(text, RULE)


def _changed(sentence: str, text: str | Refusal) -> Written | Refusal:
    if isinstance(text, Refusal):
        return text
    if "".join(text.lower().split()) == "".join(sentence.lower().split()):
        return Refusal("lm_unchanged")
    if len(text) > LONGEST * len(sentence):
        return Refusal("lm_too_long")
    return Written(text, RULE)


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
    for reason, is_so in (
        ("lm_several_lines", "\n" in text),
        ("lm_preamble", PREAMBLE.match(text)),
        ("lm_markup", MARKUP.match(text)),
        ("lm_question", text.endswith("?")),
        ("lm_several_sentences", one_sentence and NEXT_SENTENCE.search(text)),
    ):
        if is_so:
            return Refusal(reason)
    return text


def _unquoted(text: str) -> str:
    if len(text) > 1 and QUOTES.get(text[0]) == text[-1] and text[0] not in text[1:-1]:
        return text[1:-1].strip()
    return text
