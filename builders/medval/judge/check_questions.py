"""Checks of questions that were made of a patient's message: what they are about, and what they ask."""

from __future__ import annotations

import re
from functools import cache

from builders.medval.judge.check_problems import rank_of
from builders.medval.judge.comparison import Comparison, Finding, quoted
from builders.medval.judge.degrees import qualifier_after, word_before
from builders.medval.judge.tables import words
from builders.medval.reading import LONG, Seen, stem

__all__ = ["aspects", "groups", "parts", "qualifiers", "strange_subject", "subjects"]

# Where a question names no concept, so many of its telling words must stand in the input.
_MOST = 2 / 3
_ASKED = re.compile(
    r"(?:What (?:(?:is|are) the )?|How can (?:I|one) )(treatments?|causes?|symptoms?|prognosis|prevent|treat)\b"
)
_INFORMATION = re.compile(r"(?:Where|How) can (?:I|one) (?:find|get|learn) ", re.IGNORECASE)
# "What are the causes and treatments for X", "What causes X, and what are the symptoms?"
_PARTS = re.compile(
    r"^What (?:is|are) the (?P<parts>\w+(?:, \w+)*,? and \w+) (?:for|of)\b"
    r"|,? and what (?:is|are) the (?P<more>\w+)(?=\?$)"
)
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
        if c.supported(problem) or c.may_mean(problem) or c.specified(problem):
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
    """A question that asks something else than the input does; a message may leave open what it asks for."""
    asked = _ASKED.match(c.output) if c.is_question else None
    if not asked:
        return []
    # A question may go on to ask for more.
    ours = {aspect for aspect, cue in _cues().items() if cue.search(c.output, asked.start(1))}
    sentences = re.split(r"(?<=[.?!])", c.input)
    theirs = [{aspect for aspect, cue in _cues().items() if cue.search(part)} for part in sentences if part[-1:] == "?"]
    if not ours or not theirs or not all(theirs) or ours & set[str]().union(*theirs):
        return []
    text = "the output asks something else about the problem than the input"
    return [quoted("other_question", text, c, *asked.span())]


@cache
def _cues() -> dict[str, re.Pattern[str]]:
    return {aspect: re.compile(rf"\b(?:{cue})\b", re.IGNORECASE) for aspect, cue in words("aspect").items()}


def parts(c: Comparison) -> list[Finding]:
    """Things that a question asks about the problem of its message and the message does not, or the reverse."""
    about = (*c.output_view.problems, *c.output_view.drugs)
    if not c.is_question or not all(c.supported(named) for named in about):
        return []
    return [*_extra_parts(c), *_lost_parts(c)]


def _extra_parts(c: Comparison) -> list[Finding]:
    findings = []
    text = "the output asks for more about the problem than the input"
    for listed in _PARTS.finditer(c.output):
        group = "parts" if listed["parts"] else "more"
        asked = [part for part in re.finditer(r"\w+", listed[group]) if part.group() != "and"]
        # Who tells of a problem wants help with it, in whatever words.
        strange = [part for part in asked if not part.group().startswith("treat") and not _asks(c.input, part.group())]
        # Where no part of several is asked for in known words, one of them may be meant.
        for part in strange if len(strange) < len(asked) or group == "more" else ():
            begin = listed.start(group) + part.start()
            findings.append(quoted("extra_question", text, c, begin, begin + len(part.group())))
    return findings


def _lost_parts(c: Comparison) -> list[Finding]:
    if _INFORMATION.match(c.output):
        return []
    findings = []
    text = "the output does not ask for all that the input asks for"
    asking = [part for part in _SENTENCE_ENDS.split(c.input) if part.endswith("?")]
    for asked, meant in words("asked").items():
        match = next((match for part in asking if (match := _find(asked, part))), None)
        if match and not _find(meant, c.output):
            findings.append(Finding("lost_question", text, match.group(), "input"))
    return findings


def _find(pattern: str, text: str) -> re.Match[str] | None:
    return re.search(rf"\b(?:{pattern})\b", text, re.IGNORECASE)


def _asks(message: str, part: str) -> bool:
    """Tell whether a message asks in some words for what a question asks for, or nothing is known of that."""
    meant = [other for asked, other in words("asked").items() if re.fullmatch(asked, part)]
    return not meant or any(_find(other, message) for other in meant)


def groups(c: Comparison) -> list[Finding]:
    """Groups of people of whom a question is asked, and of whom its message does not speak."""
    findings = []
    text = "the output asks of a group of people of whom the input does not speak"
    for match in _OF_WHOM.finditer(c.output) if c.is_question else ():
        cues = [cue for group, cue in words("group").items() if re.fullmatch(group, match["group"], re.IGNORECASE)]
        if cues and not re.search(rf"\b(?:{cues[0]})", c.input, re.IGNORECASE):
            findings.append(quoted("strange_group", text, c, match.start() + 1, match.end()))
    return findings


def qualifiers(c: Comparison) -> list[Finding]:
    """Words that qualify a problem wherever its message names it, and that the question leaves out."""
    findings = []
    for problem in c.output_view.problems if c.is_question else ():
        theirs = c.input_view.like(problem.family)
        if problem.polarity == "absent":
            continue
        if not theirs and problem.mention.cuis and (exact := c.more_exact(problem)):
            text = "the output names the problem less exactly than the input"
            findings.append(Finding("omit_modifier", text, exact.mention.text, "input"))
        findings += [*_lost_after(c, theirs), *_lost_before(c, theirs)]
    return findings


def _lost_before(c: Comparison, theirs: list[Seen]) -> list[Finding]:
    before = [word_before(c.input_view, other) for other in theirs]
    first = before[0] if before else None
    if first is None or any(word is None or word[0] != first[0] for word in before):
        return []
    if rank_of(first) or not c.concepts.words.qualifies(first[0]) or stem(first[0]) in c.output_view.stems:
        return []
    text = "the output leaves out a word that qualifies the problem in the input"
    return [Finding("omit_modifier", text, c.input[first[1] : theirs[0].mention.end], "input")]


def _lost_after(c: Comparison, theirs: list[Seen]) -> list[Finding]:
    after = [qualifier_after(c.input_view, other) for other in theirs]
    stems = [{stem(word) for word in phrase.split()[1:] if len(word) >= LONG} for phrase in after]
    if not stems or not set.intersection(*stems) - c.output_view.stems:
        return []
    text = "the output leaves out words that qualify the problem in the input"
    end = theirs[0].mention.end + len(after[0])
    return [Finding("omit_modifier", text, c.input[theirs[0].mention.begin : end], "input")]
