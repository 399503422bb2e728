"""Checks of problems: which ones, whether they are there, how certain and how strong."""

from __future__ import annotations

import re

from builders.medval.judge.comparison import Comparison, Finding, quoted
from builders.medval.judge.tables import words
from builders.medval.reading import Seen, View

__all__ = ["certainties", "gradings", "polarities", "problems"]

# Of the ranks of a grade, what is neither mild nor severe.
_MIDDLE = 2
_BEFORE, _AFTER = 8, 16
_GRADE = re.compile(r"([A-Za-z-]+)[ ]+$")
_DOUBTS = re.compile(
    r"\b(?:possibl\w+|suspect\w*|question\w*|likely|probabl\w+|may|might|maybe|could|concern\w*|think|rule|versus|vs|presumed|seems?|"
    r"evaluate|assess|guess|if)\b|\?",
    re.IGNORECASE,
)
_DOUBT = re.compile(r"\b(?:possible|possibly|suspected|questionable|presumed)\s+$", re.IGNORECASE)
_DOUBT_REACH = 16


def problems(c: Comparison) -> list[Finding]:
    """Problems of a text or a list that the input does not hold."""
    if c.is_question:
        return []
    findings = []
    for problem in c.output_view.problems:
        mention = problem.mention
        if problem.polarity == "absent" or mention.kind != "disorder" or not mention.cuis:
            continue
        if c.supported(problem):
            continue
        serious = c.severity.is_serious(mention)
        rule = "invented_diagnosis" if serious else "fabricated"
        what = "grave diagnosis that the input does not hold" if serious else "problem that the input does not name"
        findings.append(quoted(rule, f"the output names a {what}", c, mention.begin, mention.end))
    return findings


def polarities(c: Comparison) -> list[Finding]:
    """Problems that one text says are there and the other says are not."""
    findings: list[Finding] = []
    for problem in c.output_view.problems if not c.is_question else ():
        begin, end = problem.mention.begin, problem.mention.end
        theirs = {other.polarity for other in c.input_view.like(problem.family)}
        if c.output[:begin].endswith(" for ") or problem.polarity in {"unknown", *theirs}:
            continue
        # The same words say the same, however the rest of their sentence was read.
        same = c.output[max(0, begin - _BEFORE) : end + _AFTER].lower() in c.input_view.lower
        if not theirs or "unknown" in theirs or same:
            continue
        text = (
            "the output denies a problem that the input says is there"
            if problem.polarity == "absent"
            else "the output says that a problem is there which the input denies"
        )
        rule = "negation" if c.severity.is_serious(problem.mention) else "symptom_negation"
        findings.append(quoted(rule, text, c, begin, end))
    return findings


def gradings(c: Comparison) -> list[Finding]:
    """Problems that the output calls stronger or milder than the input, or grades where the input has no such word."""
    findings = []
    for problem in c.output_view.problems:
        grade = _word_before(c.output_view, problem)
        rank = _rank_of(grade)
        theirs = c.input_view.like(problem.family)
        if grade is None or not rank or not theirs or problem.polarity == "absent":
            continue
        ranks = {_rank_of(_word_before(c.input_view, other)) for other in theirs} - {0}
        # A grade that does not stand right before the problem may be anywhere.
        if rank in (ranks or {_rank_of((word, 0)) for word in c.input_view.words}):
            continue
        rule = "overstate_slightly" if rank > max(ranks, default=_MIDDLE - 1) else "understate_slightly"
        text = f"the output calls {grade[0]} what the input does not call so"
        findings.append(quoted(rule, text, c, grade[1], problem.mention.end))
    return findings


def _rank_of(grade: tuple[str, int] | None) -> int:
    """Return the rank of a word of grade with its place; 0 where it is none."""
    return int(words("grade").get(grade[0].removesuffix("ly"), 0)) if grade else 0


def certainties(c: Comparison) -> list[Finding]:
    """Doubt of the output where the input has none."""
    findings = []
    text = "the output doubts what the input states"
    for problem in c.output_view.problems:
        begin, end = problem.mention.begin, problem.mention.end
        doubt = _DOUBT.search(c.output, max(0, begin - _DOUBT_REACH), begin)
        theirs = c.input_view.like(problem.family)
        if doubt is None or not theirs or any(_is_doubted(c.input_view, other) for other in theirs):
            continue
        findings.append(quoted("understate_certainty", text, c, doubt.start(), end))
    return findings


def _word_before(view: View, problem: Seen) -> tuple[str, int] | None:
    """Return the word right before a mention in lower case, and where it begins."""
    match = _GRADE.search(view.text, max(0, problem.mention.begin - 40), problem.mention.begin)
    return (match.group(1).lower(), match.start(1)) if match else None


def _is_doubted(view: View, problem: Seen) -> bool:
    """Tell whether a text speaks of a problem without certainty."""
    around = view.text[max(0, problem.mention.begin - 80) : problem.mention.end + 40]
    return problem.polarity != "present" or _DOUBTS.search(around) is not None
