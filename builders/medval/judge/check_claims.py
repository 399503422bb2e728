"""Checks of what an output claims beyond problems and drugs, and of what in it was not read.

An output is closed: what it says of a patient, its input must say. A procedure, a finding, a name or a word of a plan
that the input lacks is an error; any other telling word that it lacks is not read, and an output with such a word is
never called borne out.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from builders.medval.judge.comparison import Comparison, Finding, quoted
from builders.medval.judge.tables import words
from builders.medval.reading import LONG, Seen

__all__ = ["claims", "is_read"]

_WORD = re.compile(r"(?<![\w'-])[A-Za-z][A-Za-z'-]*[A-Za-z](?![\w'])")
_LIST_MARK = re.compile(r"(?:^[ \t]*|[.;:]\s+|#\s?)(?P<number>\d{1,2})[.)](?!\d)", re.MULTILINE)


def claims(c: Comparison) -> list[Finding]:
    """Procedures, findings, names and words of a plan that the input does not have."""
    if c.is_question:
        return []
    findings = []
    for named in c.output_view.seen:
        wanted = named.polarity != "absent" if named.mention.kind == "procedure" else named.polarity == "present"
        if named.mention.kind in {"procedure", "finding"} and wanted and not _is_borne_out(c, named):
            text = f"the output names a {named.mention.kind} that the input does not name"
            findings.append(quoted("strange_claim", text, c, named.mention.begin, named.mention.end))
    for match in _strange_words(c):
        if kind := _kind(c, match):
            text = f"the output names a {kind} that the input does not name"
            findings.append(quoted("strange_claim", text, c, match.start(), match.end()))
    return findings


def _kind(c: Comparison, match: re.Match[str]) -> str | None:
    """Return what a strange word names; None where it may name nothing."""
    if _is_name(c.output, match):
        return "thing"
    return "plan or finding" if _is_in_plan(c, match.start()) else None


def is_read(c: Comparison) -> bool:
    """Tell whether each claim of the output was compared: its mentions and all other words and numbers that tell."""
    if not all(_is_borne_out(c, named) for named in c.output_view.seen) or _strange_words(c):
        return False
    passed = {match.start("number") for match in _LIST_MARK.finditer(c.output)}
    passed |= {at for named in c.output_view.seen for at in range(named.mention.begin, named.mention.end)}
    numbers = [number for number in c.output_view.numbers if number.begin not in passed and number.value != 1]
    if not c.is_question and not all(number.value in c.input_view.values for number in numbers):
        return False
    # Where no word tells anything, nothing was compared.
    return bool(c.output_view.seen) or any(_telling_words(c))


def _is_borne_out(c: Comparison, named: Seen) -> bool:
    """Tell whether the input names what a mention of the output names; a mention without a concept names nothing."""
    return not named.mention.cuis or c.supported(named)


@lru_cache(maxsize=2)
def _strange_words(c: Comparison) -> tuple[re.Match[str], ...]:
    """Return the words outside of mentions that say something, and that the input has in no form.

    A segment may say what its input says with one everyday word of its own.
    """
    mentions = (named.mention for named in c.output_view.seen if named.mention.cuis)
    inside = {at for mention in mentions for at in range(mention.begin, mention.end)}
    if c.is_question:
        # How often something is done is compared as such.
        inside |= {quantity.begin for quantity in c.output_view.quantities if quantity.base == "day"}
    strange: list[re.Match[str]] = []
    for telling in _telling_words(c):
        unknown = [match for match in telling if match.start() not in inside and not c.worded(match.group())]
        everyday = [match for match in unknown if _is_everyday(c, match)]
        own = everyday if len(everyday) == 1 and len(telling) > len(unknown) else []
        strange += [match for match in unknown if match not in own]
    return tuple(strange)


def _is_everyday(c: Comparison, match: re.Match[str]) -> bool:
    word = match.group().lower()
    ordinary = not match.group().isupper() and not _is_name(c.output, match)
    return ordinary and word in c.concepts.words and not _claims().match(word)


@lru_cache(maxsize=2)
def _telling_words(c: Comparison) -> list[list[re.Match[str]]]:
    """Return the words of each segment that say something of a patient."""
    segments = (_WORD.finditer(c.output, segment.begin, segment.end) for segment in c.output_view.segments)
    return [[match for match in matches if _tells(c, match.group())] for matches in segments]


def _tells(c: Comparison, word: str) -> bool:
    low = word.lower().removesuffix("'s")
    if low in words("neutral") or not (len(word) >= LONG or word.isupper()):
        return False
    return low not in c.concepts.words.frequent or _claims().match(low) is not None


@cache
def _claims() -> re.Pattern[str]:
    """Return the beginnings of everyday words that carry a claim all the same."""
    return re.compile("|".join(words("claim")))


def _is_name(text: str, match: re.Match[str]) -> bool:
    """Tell whether a word is a name: it has a capital where no sentence begins."""
    before = text[: match.start()].rstrip(" ")
    return match.group()[0].isupper() and match.group()[1:].islower() and before[-1:].isalpha()


def _is_in_plan(c: Comparison, place: int) -> bool:
    """Tell whether a word stands in a sentence that says what is done, or what the problem is."""
    begin, end = next(
        ((s.begin, s.end) for s in c.output_view.segments if s.begin <= place < s.end), (0, len(c.output))
    )
    return any(word.lower() in words("telling") for word in _WORD.findall(c.output[begin:end]))
