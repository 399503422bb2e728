"""Checks of what an output claims beyond problems and drugs, and of what in it was not read.

An output is closed: what it says of a patient, its input must say. A claim that names a procedure, an organism or, by
the end of its word, a disorder or a drug is compared as it stands; any other telling word that the input lacks is not
read, and an output with such a word is never called borne out.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from builders.medval.judge.check_details import slightly_off
from builders.medval.judge.check_drugs import stops_unheard
from builders.medval.judge.comparison import Comparison, Finding, quoted
from builders.medval.judge.degrees import denies
from builders.medval.judge.tables import words
from builders.medval.judge.view import american
from builders.medval.reading import Seen

__all__ = ["claims", "is_read", "stopped_treatment"]

_WORD = re.compile(r"(?<![\w'-])[A-Za-z][A-Za-z'-]*[A-Za-z](?![\w'])")
_SHORTEST = 4
# Words of its own that a segment may have for each of its telling words; of a note on a conversation, more.
_OWN_WORDS = {False: 1 / 3, True: 1}
# What a note on a conversation pays for a word of its own that is clinical or carries a claim.
_CLINICAL = 3
# Decades by which a word that is clinical for sure is more frequent in names than in English.
_FOR_SURE = 2.4
# So many words that nobody said are a claim, whatever they are.
_SEVERAL = 3
_LIST_MARK = re.compile(r"(?:^[ \t]*|[.;:]\s+|#\s?)(?P<number>\d{1,2})[.)](?!\d)", re.MULTILINE)
_PERSON = re.compile(r"\b(?:Mr|Mrs|Ms|Miss|Dr)\.? (?:[A-Z][a-z]+ )?$")
# A person is who has an age: whatever the name, it says nothing of the illness.
_AGED = re.compile(r"(?:[ ][A-Z][a-z]+)?,? (?:is|was) (?:an? )?(?:pleasant |\d+[- ]year)")
_STOPS_ALL = re.compile(
    r"\b(?:stop|discontinue|hold|withhold|cease|quit)\w* (?:all|any|every|each|the rest) (?:\w+ ){0,3}"
    r"(?:medications?|medicines?|drugs?|treatments?|therap(?:y|ies))\b",
    re.IGNORECASE,
)


def claims(c: Comparison) -> list[Finding]:
    """Procedures, organisms, and disorders and drugs that no release names, which the input does not name."""
    if c.task == "query2question":
        return []
    found = []
    if c.spoken:
        return _foreign(c)
    for one in c.made.seen:
        wanted = one.polarity != "absent" if one.mention.kind == "procedure" else one.polarity == "present"
        if one.mention.kind in {"procedure", "finding"} and wanted and not _borne_out(c, one):
            text = f"the output names a {one.mention.kind} that the input does not name"
            found.append(quoted("strange_claim", text, c, one.mention.begin, one.mention.end))
    for match in _strange_words(c):
        kind = _kind_by_ending(match.group())
        if kind is None and _is_name(c.output, match):
            kind = "thing"
        if kind is None and _is_told(c, match.start()):
            kind = "plan or finding"
        if kind is not None:
            text = f"the output names a {kind} that the input does not name"
            found.append(quoted("strange_claim", text, c, match.start(), match.end()))
    return found


def _foreign(c: Comparison) -> list[Finding]:
    """Return sentences of a note that make a claim, and of which the conversation says nothing, in any words.

    A single word that it does not have may be the clinical one for what was said; a whole sentence of such is not. What
    a note denies nobody need have asked for.
    """
    found = []
    for segment, telling in zip(c.made.segments, _telling(c), strict=True):
        if denies(c.output, segment.begin, segment.end):
            continue
        named = [one for one in c.made.seen if segment.begin <= one.mention.begin < segment.end and one.mention.cuis]
        # Disorders and drugs that a release names have checks of their own.
        if any(one.mention.kind in {"disorder", "drug"} or _borne_out(c, one) for one in named):
            continue
        if _is_evident(c, telling) and not any(_known(c, m.group()) or c.half_said(m.group()) for m in telling):
            text = "the output says something of which the input says nothing"
            found.append(quoted("strange_claim", text, c, telling[0].start(), telling[-1].end()))
    return found


def _is_evident(c: Comparison, telling: list[re.Match[str]]) -> bool:
    """Tell whether words that nobody said make a claim: several, or one that is clinical for sure."""
    return len(telling) >= _SEVERAL or any(_is_sure(c, match.group()) for match in telling)


def _is_sure(c: Comparison, word: str) -> bool:
    return c.knowledge.plain.lead(word.lower()) >= _FOR_SURE


def stopped_treatment(c: Comparison) -> list[Finding]:
    """All treatment stopped where the input stops no such thing."""
    stops = list(_STOPS_ALL.finditer(c.output))
    if not stops or _STOPS_ALL.search(c.input):
        return []
    text = "the output stops all treatment, which the input does not"
    return [quoted("critical_action", text, c, stop.start(), stop.end()) for stop in stops]


def is_read(c: Comparison) -> bool:
    """Tell whether each claim of the output was compared: its mentions and all other words and numbers that tell."""
    if any(not _borne_out(c, one) for one in c.made.seen) or _strange_words(c) or stops_unheard(c):
        return False
    passed = {match.start("number") for match in _LIST_MARK.finditer(c.output)}
    passed |= {at for one in c.made.seen for at in range(one.mention.begin, one.mention.end)}
    numbers = [one for one in c.made.numbers if one.begin not in passed and one.values != {1.0}]
    if c.task != "query2question" and not all(one.values & c.given.values or slightly_off(c, one) for one in numbers):
        return False
    # Where no word tells anything, nothing was compared.
    return bool(c.made.seen) or any(_tells(c, match) for match in _WORD.finditer(c.output))


def _borne_out(c: Comparison, one: Seen) -> bool:
    return not one.mention.cuis or c.supported(one) or c.in_lay_words(one)


@lru_cache(maxsize=2)
def _strange_words(c: Comparison) -> tuple[re.Match[str], ...]:
    """Return the words outside of mentions that say something, and that the input has in no form.

    A segment may say what its input says with some words of its own.
    """
    named = {at for one in c.made.seen if one.mention.cuis for at in range(one.mention.begin, one.mention.end)}
    found: list[re.Match[str]] = []
    for telling in _telling(c):
        unknown = [m for m in telling if m.start() not in named and not _known(c, m.group())]
        costs = {match: cost for match in unknown if (cost := _cost(c, match))}
        if sum(costs.values()) > max(1, _OWN_WORDS[c.spoken] * len(telling)) or len(unknown) == len(telling):
            costs = {}
        found += [match for match in unknown if match not in costs]
    return tuple(found)


@lru_cache(maxsize=2)
def _telling(c: Comparison) -> list[list[re.Match[str]]]:
    """Return the words of each segment that tell something."""
    return [
        [match for match in _WORD.finditer(c.output, segment.begin, segment.end) if _tells(c, match)]
        for segment in c.made.segments
    ]


def _tells(c: Comparison, match: re.Match[str]) -> bool:
    word = match.group()
    low = word.lower().removesuffix("'s")
    if (len(word) < _SHORTEST and not word.isupper()) or _is_empty(c, low):
        return False
    if _PERSON.search(c.output, max(0, match.start() - 24), match.start()):
        return False
    return not (word.istitle() and _AGED.match(c.output, match.end()))


def _cost(c: Comparison, match: re.Match[str]) -> int:
    """Return how much of what a segment may say in words of its own a word takes; 0: it is never one of these."""
    word = match.group()
    if word.isupper() or _is_name(c.output, match) or (_is_sure(c, word) and not c.half_said(word)):
        return 0
    if word.lower() in c.knowledge.plain and not _claims().match(word):
        return 1
    if not c.spoken or _kind_by_ending(word):
        return 0
    return _CLINICAL


def _known(c: Comparison, word: str) -> bool:
    known = c.given.known
    if word not in known:
        known[word] = _is_known(c, word)
    return known[word]


def _is_known(c: Comparison, word: str) -> bool:
    low = word.lower().removesuffix("'s")
    if c.worded(word) or american(low) in c.given.american or (c.spoken and c.spelt_out(word)):
        return True
    if any(low.startswith(begin) and pattern.search(c.input) for begin, pattern in _same()):
        return True
    parts = low.split("-")
    return len(parts) > 1 and all(len(part) < _SHORTEST or _is_empty(c, part) or _known(c, part) for part in parts)


def _is_empty(c: Comparison, low: str) -> bool:
    """Tell whether a word in lower case says nothing of a patient."""
    return low in words("neutral") or (low in c.knowledge.plain.frequent and not _claims().match(low))


@cache
def _same() -> tuple[tuple[str, re.Pattern[str]], ...]:
    pairs = words("same").items()
    return tuple((begin, re.compile(rf"(?:\b|(?<= ))(?:{said})", re.IGNORECASE)) for begin, said in pairs)


@cache
def _claims() -> re.Pattern[str]:
    return re.compile("|".join(words("claim")), re.IGNORECASE)


def _kind_by_ending(word: str) -> str | None:
    low = word.lower()
    return next((kind for end, kind in words("ending").items() if low.endswith(end) and low != end), None)


def _is_told(c: Comparison, place: int) -> bool:
    """Tell whether a word stands in a sentence that says what is done, or what the problem is."""
    begin, end = next(((s.begin, s.end) for s in c.made.segments if s.begin <= place < s.end), (0, len(c.output)))
    return any(word.lower() in words("telling") for word in _WORD.findall(c.output[begin:end]))


def _is_name(text: str, match: re.Match[str]) -> bool:
    """Tell whether a word is a name: it has a capital where no sentence begins."""
    before = text[: match.start()].rstrip(" ")
    return match.group()[0].isupper() and match.group()[1:].islower() and before[-1:].isalpha()
