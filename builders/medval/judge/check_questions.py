"""Checks of questions that were made of a patient's message: what they are about, and what they ask."""

from __future__ import annotations

import re

from builders.medval.judge.comparison import Comparison, Finding, quoted
from builders.medval.judge.tables import words
from builders.medval.reading import LONG

__all__ = ["aspects", "groups", "strange_subject", "subjects"]

# Where a question names no concept, so many of its telling words must stand in the input.
_MOST = 2 / 3
_OF_WHOM = re.compile(r" in (?P<group>\w+(?: \w+)?)(?=[?,])")
_SENTENCE_ENDS = re.compile(r"(?<=[.?!])\s+|\n")


# ---- what they are about


def subjects(c: Comparison) -> list[Finding]:
    """Problems of a question that its message does not hold."""
    findings = []
    for problem in c.output_view.problems if c.is_question else ():
        mention = problem.mention
        if problem.polarity == "absent" or not mention.cuis:
            continue
        # Without a disorder of its own the message may mean what the question is about in its words.
        if c.supported(problem) or c.may_mean(problem):
            continue
        begin, end = mention.begin, mention.end
        serious, lost = c.severity.is_serious(mention), _lost_subject(c)
        if serious and (mention.kind == "disorder" or _replaces(c)):
            text = "the output asks about a grave problem that the input does not name"
            findings.append(quoted("wrong_subject", text, c, begin, end))
        elif _replaces(c):
            instead = f", not about {lost}" if lost else ""
            text = f"the output asks about a problem that the input does not name{instead}"
            findings.append(quoted("lost_subject" if lost else "fabricated", text, c, begin, end))
    return findings


def _replaces(c: Comparison) -> bool:
    """Tell whether the message names a disorder that its question does not."""
    disorders = (other for other in c.input_view.problems if other.mention.kind == "disorder" and other.mention.cuis)
    return any(not other.family & c.output_view.families for other in disorders)


def _lost_subject(c: Comparison) -> str | None:
    """Return the grave problem of a message whose question names none of the message's disorders."""
    theirs = [other for other in c.input_view.problems if other.mention.cuis and other.polarity != "absent"]
    if any(other.family & c.output_view.families for other in theirs if other.mention.kind == "disorder"):
        return None
    return next((other.mention.text for other in theirs if c.severity.is_serious(other.mention)), None)


def strange_subject(c: Comparison, findings: list[Finding]) -> bool:
    """Tell whether a question is about something that the input holds by no concept and no word, and no error says so.

    What the two are to each other (another name, or another thing) is more than rules can tell.
    """
    if not c.is_question:
        return False
    about = (*c.output_view.problems, *c.output_view.drugs)
    if not about and not findings:
        empty = c.concepts.words.frequent | words("neutral").keys()
        telling = [word for word in c.output_view.words - empty if len(word) >= LONG]
        return sum(c.worded(word) for word in telling) < _MOST * len(telling)
    quotes = [finding.quote or "" for finding in findings if finding.quoted_from == "output"]
    return any(not c.supported(named) and not any(named.mention.text in quote for quote in quotes) for named in about)


# ---- what they ask


def aspects(c: Comparison) -> list[Finding]:
    """What a question asks about a problem and its message does not ask in any words; a message may leave that open."""
    asked = [(match, meant) for aspect, meant in words("asked").items() if (match := _find(aspect, c.output))]
    strange = [match for match, meant in asked if not _find(meant, c.input)]
    if not c.is_question or not strange:
        return []
    if len(strange) == len(asked):
        if not any(_find(aspect, part) for aspect in words("asked") for part in _questions(c.input)):
            return []
        text = "the output asks something else about the problem than the input"
        return [quoted("other_question", text, c, *match.span()) for match in strange]
    text = "the output asks for more about the problem than the input"
    # Who tells of a problem wants help with it, in whatever words.
    more = [match for match in strange if not match.group().startswith("treat")]
    return [quoted("extra_question", text, c, *match.span()) for match in more]


def _questions(message: str) -> list[str]:
    return [part for part in _SENTENCE_ENDS.split(message) if part.endswith("?")]


def _find(pattern: str, text: str) -> re.Match[str] | None:
    return re.search(rf"\b(?:{pattern})\b", text, re.IGNORECASE)


def groups(c: Comparison) -> list[Finding]:
    """Groups of people of whom a question is asked, and of whom its message does not speak."""
    findings = []
    text = "the output asks of a group of people of whom the input does not speak"
    for match in _OF_WHOM.finditer(c.output) if c.is_question else ():
        cues = [cue for group, cue in words("group").items() if re.fullmatch(group, match["group"], re.IGNORECASE)]
        if cues and not re.search(rf"\b(?:{cues[0]})", c.input, re.IGNORECASE):
            findings.append(quoted("strange_group", text, c, match.start() + 1, match.end()))
    return findings
