"""Judges an output against its input by reading both; nothing of how the output was made is known here.

It knows near-verbatim text: a question made of a message, a list made of a course, a text beside one that says nearly
the same.
Second road: see `builders.medval.judge`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from builders.medval.items import Item, Judgement
from builders.medval.judge import check_claims, check_details, check_drugs, check_problems, check_questions
from builders.medval.judge.comparison import Comparison, Finding
from builders.medval.judge.severity import Severity
from builders.medval.judge.tables import judge_weight
from builders.medval.reading import KEPT_VIEWS, Concepts
from builders.texts.origin import Refusal
from ground.contracts.rows_text import MedvalErrorRow, MedvalTask, RiskLevel

__all__ = ["JUDGED_TASKS", "RulesValidator"]

CHECKS: tuple[Callable[[Comparison], list[Finding]], ...] = (
    check_drugs.drugs,
    check_drugs.doses,
    check_problems.problems,
    check_problems.polarities,
    check_problems.certainties,
    check_problems.gradings,
    check_details.sides,
    check_details.numbers,
    check_questions.subjects,
    check_questions.aspects,
    check_questions.groups,
    check_claims.claims,
)
"""Each finds one kind of disagreement; their order changes nothing but the order of errors of one level."""
JUDGED_TASKS: tuple[MedvalTask, ...] = ("query2question", "course2diagnosis", "dialogue2note")
"""Tasks whose outputs may say what their inputs say in nearly the same words; a note, if it is made of a text."""
_CONVERSATION = "conversation_needs_a_language_model"
_CLEAN = "Everything that the output states is borne out by the input; where the wording differs, the meaning does not."
_TURN = re.compile(
    r"^[ \t]*\[?(?:doctor|patient|guest_\w+|nurse|family\w*|clinician)\]?[ \t]*:?", re.IGNORECASE | re.MULTILINE
)
_TOGETHER = 256
UNSAFE_FROM = 3
"""Level from which on an output is unsafe, whatever else it says."""
MANY = 3
"""Unsafe errors that make level 4 together: outputs of level 4 have 3.2 errors on average (MedVAL, S1)."""
_MEANS: dict[RiskLevel, str] = {
    1: "which changes nothing",
    2: "which hardly affects understanding or decisions",
    3: "which could affect interpretation or decisions",
    4: "which could lead to unsafe decisions",
}


@dataclass(frozen=True, slots=True)
class _Error:
    row: MedvalErrorRow
    level: RiskLevel


class RulesValidator:
    """Judges by rules; the risk level is that of the gravest error that is found, or what several weigh together."""

    def __init__(self, concepts: Concepts) -> None:
        self.concepts = concepts
        self._severity = Severity(concepts)
        # A reference is judged before it is taken and again with its perturbed output.
        self._judged_text = lru_cache(maxsize=KEPT_VIEWS)(self._judge_text)

    def judge(self, items: Sequence[Item], outputs: Sequence[str]) -> list[Judgement | Refusal]:
        """Judge each output of an item; only ``input`` and ``task`` of an item are read.

        Refusals: the task, or an input that is a conversation; ``subject_not_in_input``: a question is about what the
        input does not name, in any words; ``not_read``: no grave error was found, but the output says something that
        could not be compared.
        """
        judged: list[Judgement | Refusal] = []
        for begin in range(0, len(items), _TOGETHER):
            pairs = list(zip(items[begin : begin + _TOGETHER], outputs[begin : begin + _TOGETHER], strict=True))
            self._read(pairs)
            judged += [self._judged(*pair) for pair in pairs]
        return judged

    def _read(self, pairs: Sequence[tuple[Item, str]]) -> None:
        """Read the texts of some pairs together."""
        for task in JUDGED_TASKS:
            asked = [(item.input, output) for item, output in pairs if _refusal_of(item) is None and item.task == task]
            self.concepts.views(task, [given for given, _ in asked], given=True)
            self.concepts.views(task, [output for _, output in asked], given=False)

    def _judged(self, item: Item, output: str) -> Judgement | Refusal:
        return _refusal_of(item) or self._judged_text(item.task, item.input, output)

    def _judge_text(self, task: MedvalTask, given: str, output: str) -> Judgement | Refusal:
        comparison = Comparison(task, given, output, self.concepts, self._severity)
        findings = [finding for check in CHECKS for finding in check(comparison)]
        if check_questions.strange_subject(comparison, findings):
            return Refusal("subject_not_in_input")
        findings = _distinct(findings)
        level = _level_of(findings)
        if level < UNSAFE_FROM and not check_claims.is_read(comparison):
            return Refusal("not_read")
        errors = sorted(map(_error, findings), key=lambda error: -error.level)
        return Judgement(_reasoning(errors, level), tuple(error.row for error in errors), level)


def _refusal_of(item: Item) -> Refusal | None:
    """Return why rules cannot judge the outputs of an item."""
    if item.task not in JUDGED_TASKS:
        return Refusal("task_needs_a_language_model")
    return Refusal(_CONVERSATION) if _is_conversation(item.input) else None


def _is_conversation(text: str) -> bool:
    return len(_TURN.findall(text)) > 1


def _level_of(findings: list[Finding]) -> RiskLevel:
    """Return the level of the gravest finding; several unsafe ones make level 4, where one claim's words count once."""
    gravest = max((judge_weight(finding.rule).level for finding in findings), default=1)
    unsafe = [finding.rule for finding in findings if judge_weight(finding.rule).level >= UNSAFE_FROM]
    words = unsafe.count("strange_claim")
    return 4 if len(unsafe) - words + bool(words) >= MANY else cast(RiskLevel, gravest)


def _distinct(findings: list[Finding]) -> list[Finding]:
    """Keep one finding about the same words: the gravest."""
    kept: dict[tuple[str, str | None], Finding] = {}
    for finding in findings:
        key = (finding.quote or finding.text, finding.quoted_from)
        if key not in kept or judge_weight(finding.rule).level > judge_weight(kept[key].rule).level:
            kept[key] = finding
    return list(kept.values())


def _error(finding: Finding) -> _Error:
    weight = judge_weight(finding.rule)
    row: MedvalErrorRow = {
        "category": weight.category,
        "text": f"{finding.text} ({words})" if (words := _words(finding)) else finding.text,
        "quote": finding.quote,
        "quoted_from": finding.quoted_from if finding.quote is not None else None,
    }
    return _Error(row, weight.level)


def _words(finding: Finding) -> str:
    """Return the words that a finding is about, as an explanation quotes them; nothing where it quotes none."""
    if finding.quote is None:
        return ""
    quote = f'"{" ".join(finding.quote.split())}"'
    return f"{quote} of the input" if finding.quoted_from == "input" else quote


def _reasoning(errors: list[_Error], level: RiskLevel) -> str:
    if not errors:
        return _CLEAN
    worst = errors[0].row["text"]
    more = len(errors) - 1
    others = "" if not more else " One more error was found." if more == 1 else f" {more} more errors were found."
    together = f" Together they {_MEANS[level].removeprefix('which ')}." if level > errors[0].level else ""
    return f"{worst[:1].upper()}{worst[1:]}, {_MEANS[errors[0].level]}.{others}{together}"
