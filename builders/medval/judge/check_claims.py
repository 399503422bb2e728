"""Checks of what an output claims beyond problems and drugs, and of what in it was not read.

An output is closed: what it says of a patient, its input must say. A claim that names a procedure, an organism or, by
the end of its word, a disorder or a drug is compared as it stands; any other telling word that the input lacks is not
read, and an output with such a word is never called borne out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from builders.medval.judge.alignment import Alignment
from builders.medval.judge.check_details import slightly_off
from builders.medval.judge.check_drugs import stops_unheard
from builders.medval.judge.check_whole import is_of_its_own
from builders.medval.judge.comparison import Comparison, Finding, quoted
from builders.medval.judge.degrees import denies
from builders.medval.judge.tables import words
from builders.medval.judge.wording import (
    LIST_MARK,
    WORD,
    borne_out,
    claim_words,
    is_name,
    is_sure,
    known,
    stands_alone,
    telling_words,
)
from builders.medval.reading import Seen

__all__ = ["claims", "is_read", "stopped_treatment"]

# Words of its own that a segment may have for each of its telling words; of a note on a conversation, more.
_OWNWORDS = {False: 1 / 3, True: 1}
# Everyday words of its own that a note may have beyond, for each word that its conversation says.
_EVERYDAY = 1 / 4
# What a note on a conversation pays for a word of its own that is clinical or carries a claim.
_CLINICAL = 3
_BINOMIAL = re.compile(r"\b[A-Z][a-z]{4,} [a-z]{3,}(?:ae|us|is|i|a|um|ens|ans|ile|es)\b")
_STOPS_ALL = re.compile(
    r"\b(?:stop|discontinue|hold|withhold|cease|quit)\w* (?:all|any|every|each|the rest) (?:\w+ ){0,3}"
    r"(?:medications?|medicines?|drugs?|treatments?|therap(?:y|ies))\b",
    re.IGNORECASE,
)


def claims(c: Comparison) -> list[Finding]:
    """Procedures, organisms, and disorders and drugs that no release names, which the input does not name."""
    if c.task == "query2question":
        return []
    if c.is_note:
        return [*_procedures(c), *_organisms(c)]
    found = []
    for one in c.made.seen:
        wanted = one.polarity != "absent" if one.mention.kind == "procedure" else one.polarity == "present"
        if one.mention.kind in {"procedure", "finding"} and wanted and not borne_out(c, one):
            text = f"the output names a {one.mention.kind} that the input does not name"
            found.append(quoted("strange_claim", text, c, one.mention.begin, one.mention.end))
    for match in _strange_words(c):
        kind = _kind_by_ending(match.group())
        if kind is None and is_name(c.output, match):
            kind = "thing"
        if kind is None and _is_told(c, match.start()):
            kind = "plan or finding"
        if kind is not None:
            text = f"the output names a {kind} that the input does not name"
            found.append(quoted("strange_claim", text, c, match.start(), match.end()))
    return found


def _procedures(c: Comparison) -> Iterator[Finding]:
    """Yield procedures of a note, by their concept or the end of their name, that its conversation does not mean."""
    text = "the output names a procedure that the input does not name"
    for one in c.made.seen:
        if one.mention.kind == "procedure" and one.polarity != "absent" and not borne_out(c, one) and not c.hinted(one):
            yield quoted("strange_claim", text, c, one.mention.begin, one.mention.end, "procedure, unheard")
    named = {at for one in c.made.seen if one.mention.cuis for at in range(one.mention.begin, one.mention.end)}
    for segment, telling in zip(c.made.segments, telling_words(c), strict=True):
        for match in telling:
            word = match.group()
            if _kind_by_ending(word) != "procedure" or match.start() in named or known(c, word) or c.half_said(word):
                continue
            if not denies(c.output, segment.begin, segment.end):
                how = "alone" if stands_alone(c, segment) else "beside"
                yield quoted("strange_claim", text, c, *match.span(), f"procedure by its name, unheard, {how}")


def _organisms(c: Comparison) -> Iterator[Finding]:
    """Yield genus and species of a note, neither of which its conversation says."""
    named = {one.mention.begin for one in c.made.seen}
    for match in _BINOMIAL.finditer(c.output):
        names = match.group().split()
        if match.end() - len(names[1]) not in named and not any(
            c.knowledge.plain.is_english(name.lower()) or known(c, name) for name in names
        ):
            text = "the output names an organism that the input does not name"
            yield quoted("strange_claim", text, c, *match.span(), "organism, unheard")


def stopped_treatment(c: Comparison) -> list[Finding]:
    """All treatment stopped where the input stops no such thing."""
    stops = list(_STOPS_ALL.finditer(c.output))
    if not stops or _STOPS_ALL.search(c.input):
        return []
    text = "the output stops all treatment, which the input does not"
    return [quoted("critical_action", text, c, stop.start(), stop.end(), "treatment, stopped") for stop in stops]


def is_read(c: Comparison) -> bool:
    """Tell whether each claim of the output was compared: its mentions and all other words and numbers that tell."""
    if any(not _is_said(c, one) for one in c.made.seen) or _strange_words(c) or stops_unheard(c):
        return False
    passed = {match.start("number") for match in LIST_MARK.finditer(c.output)}
    passed |= {at for one in c.made.seen for at in range(one.mention.begin, one.mention.end)}
    numbers = [one for one in c.made.numbers if one.begin not in passed and one.values != {1.0}]
    if c.task != "query2question" and not all(one.values & c.given.values or slightly_off(c, one) for one in numbers):
        return False
    if c.task != "query2question" and c.spoken and not Alignment(c).is_borne_out():
        return False
    # Where no word tells anything, nothing was compared.
    return (
        is_of_its_own(c, len({one.values for one in numbers}))
        if c.is_note
        else bool(c.made.seen) or any(telling_words(c))
    )


def _is_said(c: Comparison, one: Seen) -> bool:
    """Tell whether the input names what a mention names, or hints at what a note neither states nor denies."""
    return borne_out(c, one) or (c.is_note and one.polarity == "unknown" and c.hinted(one))


@lru_cache(maxsize=2)
def _strange_words(c: Comparison) -> tuple[re.Match[str], ...]:
    """Return the words outside of mentions that say something, and that the input has in no form.

    A segment may say what its input says with some words of its own.
    """
    named = {at for one in c.made.seen if one.mention.cuis for at in range(one.mention.begin, one.mention.end)}
    # How often something is done is compared as such.
    named |= {one.begin for one in c.made.measures if c.spoken and one.base == "day"}
    found: list[re.Match[str]] = []
    for telling in telling_words(c):
        unknown = [m for m in telling if m.start() not in named and not known(c, m.group())]
        costs = {match: cost for match in unknown if (cost := _cost(c, match))}
        if sum(costs.values()) > max(1, _OWNWORDS[c.spoken] * len(telling)) or len(unknown) == len(telling):
            costs = {}
        found += [match for match in unknown if match not in costs]
    everyday = [match for match in found if _cost(c, match) == 1] if c.is_note else []
    said = sum(known(c, match.group()) for telling in telling_words(c) for match in telling)
    return tuple(found) if len(everyday) > _EVERYDAY * said else tuple(one for one in found if one not in everyday)


def _cost(c: Comparison, match: re.Match[str]) -> int:
    """Return how much of what a segment may say in words of its own a word takes; 0: it is never one of these."""
    word = match.group()
    if word.isupper() or is_name(c.output, match) or (is_sure(c, word) and not c.half_said(word)):
        return 0
    if word.lower() in c.knowledge.plain and not claim_words().match(word):
        return 1
    if not c.spoken or _kind_by_ending(word):
        return 0
    return _CLINICAL


def _kind_by_ending(word: str) -> str | None:
    low = word.lower()
    if not low.endswith(_endings()):
        return None
    return next((kind for end, kind in words("ending").items() if low.endswith(end) and low != end), None)


@cache
def _endings() -> tuple[str, ...]:
    return tuple(words("ending"))


def _is_told(c: Comparison, place: int) -> bool:
    """Tell whether a word stands in a sentence that says what is done, or what the problem is."""
    begin, end = next(((s.begin, s.end) for s in c.made.segments if s.begin <= place < s.end), (0, len(c.output)))
    return any(word.lower() in words("telling") for word in WORD.findall(c.output[begin:end]))
