"""Strict reading of a model's answers: what cannot be read is a counted outcome and never becomes a class."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from ground.contracts.taxonomy import category_of

__all__ = ["MedhalAnswer", "MedvalAnswer", "Outcome", "parse_medhal", "parse_medval", "parse_quadrant"]

Outcome = Literal[
    "parsed",
    "no_explanation",
    "no_label",
    "two_labels",
    "wrong_form",
    "no_risk_level",
    "unknown_category",
    "prompt_too_long",
]
"""``parsed`` and ``no_explanation`` (MedHal: a label alone) carry a label; every other outcome carries none."""

# Qwen3 and others may put their thoughts before the answer.
THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
# Models like to set a field's name, or the whole of its line, as a heading or in bold.
EMPHASIS = re.compile(
    r"^[ \t]*(?:#+[ \t]*)?(?P<mark>\*\*|__)?[ \t]*(?P<name>Factual|Explanation|Reasoning|Errors|Risk level)"
    r"(?(mark)(?:[ \t]*:[ \t]*(?P=mark)|(?P=mark)[ \t]*:|[ \t]*:(?P<value>[^\n]*)(?P=mark)[ \t]*$)|[ \t]*:)",
    re.IGNORECASE | re.MULTILINE,
)
FACTUAL = re.compile(r"^[ \t]*Factual[ \t]*:", re.IGNORECASE | re.MULTILINE)
MEDHAL = re.compile(
    r"\A\s*Factual[ \t]*:[ \t]*(?P<bold>\*\*|__)?(?P<label>YES|NO)(?(bold)(?P=bold))[ \t]*\.?[ \t]*"
    r"(?:\n\s*(?:Explanation[ \t]*:(?P<explanation>.*))?)?\Z",
    re.IGNORECASE | re.DOTALL,
)
QUADRANT = re.compile(r"\bQ[1-4]\b", re.IGNORECASE)
FIELD = re.compile(r"^[ \t]*(Reasoning|Errors|Risk level)[ \t]*:", re.IGNORECASE | re.MULTILINE)
LEVEL = re.compile(r"\s*(\*\*|__)?(?:Level[ \t]*)?(?P<level>[1-4])(?(1)\1)[ \t]*\.?\s*", re.IGNORECASE)
ERROR = re.compile(r"(?:Error[ \t]*)?(?P<number>\d+)[.):][ \t]*(?P<category>[^:]+):[ \t]*(?P<text>\S.*)", re.IGNORECASE)
NO_ERROR = re.compile(r"none\.?", re.IGNORECASE)


@dataclass(frozen=True)
class MedhalAnswer:
    """A MedHal answer: the label (None where it could not be read) and the explanation."""

    outcome: Outcome
    label: bool | None = None
    explanation: str | None = None


@dataclass(frozen=True)
class MedvalAnswer:
    """A MedVAL answer: risk level (None where it could not be read), reasoning and (category, text) of each error."""

    outcome: Outcome
    label: int | None = None
    explanation: str | None = None
    errors: tuple[tuple[str, str], ...] = ()


def _without_emphasis(text: str) -> str:
    return EMPHASIS.sub(lambda field: f"{field['name']}:{field['value'] or ''}", text)


def parse_medhal(text: str) -> MedhalAnswer:
    """Read ``Factual: YES|NO`` and ``Explanation: ...``.

    A label without an explanation is kept, as in the paper's Table 6, which counts the explanations found. Anything
    before the label, after the label's word, or a second label makes the answer unreadable.
    """
    text = _without_emphasis(THOUGHT.sub("", text))
    if len(FACTUAL.findall(text)) > 1:
        return MedhalAnswer("two_labels")
    match = MEDHAL.match(text)
    if match is None:
        return MedhalAnswer("no_label")
    label = match["label"].upper() == "YES"
    explanation = (match["explanation"] or "").strip()
    return MedhalAnswer("parsed" if explanation else "no_explanation", label, explanation or None)


def parse_quadrant(text: str) -> Literal["Q1", "Q2", "Q3", "Q4"] | None:
    """Return the one quadrant that an answer names; None where it names none, or several.

    Reasoning between ``<think>`` marks is not read. ``Q2``, ``**q2**`` and ``Label: Q2 (True, unsupported)`` are Q2;
    "Q2, not Q1" and "true but unsupported" are no label.
    """
    labels = {label.upper() for label in QUADRANT.findall(THOUGHT.sub("", text))}
    quadrants: tuple[Literal["Q1", "Q2", "Q3", "Q4"], ...] = ("Q1", "Q2", "Q3", "Q4")
    return next((quadrant for quadrant in quadrants if labels == {quadrant}), None)


def _errors(text: str) -> tuple[tuple[str, str], ...] | Literal["wrong_form", "unknown_category"]:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) == 1 and NO_ERROR.fullmatch(lines[0]):
        return ()
    errors = []
    for number, line in enumerate(lines, 1):
        match = ERROR.fullmatch(line)
        if match is None or int(match["number"]) != number:
            return "wrong_form"
        category = category_of(match["category"].strip(" *_"))
        if category is None:
            return "unknown_category"
        errors.append((category, match["text"].strip()))
    return tuple(errors) or "wrong_form"


def parse_medval(text: str) -> MedvalAnswer:
    """Read reasoning, errors (``None`` or numbered lines with a category of the taxonomy) and the risk level.

    Each of the three fields must stand once, in that order, with nothing before or after.
    """
    text = _without_emphasis(THOUGHT.sub("", text))
    fields = list(FIELD.finditer(text))
    if [field[1].lower() for field in fields] != ["reasoning", "errors", "risk level"]:
        return MedvalAnswer("wrong_form")
    if text[: fields[0].start()].strip():
        return MedvalAnswer("wrong_form")
    level = LEVEL.fullmatch(text, fields[2].end())
    if level is None:
        return MedvalAnswer("no_risk_level")
    errors = _errors(text[fields[1].end() : fields[2].start()])
    if isinstance(errors, str):
        return MedvalAnswer(errors)
    reasoning = text[fields[0].end() : fields[1].start()].strip()
    return MedvalAnswer("parsed", int(level["level"]), reasoning or None, errors)
