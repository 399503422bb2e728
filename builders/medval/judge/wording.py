"""Which words of an output tell something of a patient, and which of them the input says in some form."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from builders.medval.judge.comparison import Comparison
from builders.medval.judge.denials import Denials
from builders.medval.judge.tables import words
from builders.medval.judge.view import american, stem
from builders.medval.reading import Seen
from ehr.spans import Segment

__all__ = [
    "LIST_MARK",
    "WORD",
    "borne_out",
    "claim_words",
    "is_name",
    "is_sure",
    "known",
    "stands_alone",
    "telling_words",
    "words_of",
]

WORD = re.compile(r"(?<![\w'-])[A-Za-z][A-Za-z'-]*[A-Za-z](?![\w'])")
_SHORTEST = 4
# "Nonsmoker" denies what follows.
_NON = "non"
LIST_MARK = re.compile(r"(?:^[ \t]*|[.;:]\s+|#\s?)(?P<number>\d{1,2})[.)](?!\d)", re.MULTILINE)
# Decades by which a word that is clinical for sure is more frequent in names than in English.
_FOR_SURE = 2.4
_PERSON = re.compile(r"\b(?:Mr|Mrs|Ms|Miss|Dr)\.? (?:[A-Z][a-z]+ )?$")
# "REVIEW OF SYSTEMS" alone; "- Ears, Nose and Throat:" where a line begins, "NEUROLOGIC:" where a sentence does.
_LABEL = re.compile(
    r"^[A-Z][A-Z &/,-]+(?=:?[ \t]*$)"
    r"|^[^\w\n]{0,8}[A-Z][\w-]*(?:(?:, ?(?:and )?| ?[/&] ?| and | of | )[A-Z][\w-]*){0,4}(?=:)"
    r"|(?<=[.] )[ ]?[A-Z]{2}[A-Z ]+(?=:)",
    re.MULTILINE,
)
# A person is who has an age: whatever the name, it says nothing of the illness.
_AGED = re.compile(r"(?:[ ][A-Z][a-z]+)?,? (?:is|was) (?:an? )?(?:pleasant |\d+[- ]year)")


def borne_out(c: Comparison, one: Seen) -> bool:
    """Tell whether the input names what a mention of the output names; a mention without a concept names nothing."""
    return not one.mention.cuis or c.supported(one)


def stands_alone(c: Comparison, segment: Segment) -> bool:
    """Tell whether a conversation says nothing of what a sentence of a note names, by concept or clinical word.

    A strange name among others that are borne out may be the clinical one for what was said; one that stands alone has
    nothing that speaks for it.
    """
    named = [one for one in c.made.seen if segment.begin <= one.mention.begin < segment.end and one.mention.cuis]
    if any(borne_out(c, one) or c.hinted(one) for one in named):
        return False
    inside = {at for one in named for at in range(one.mention.begin, one.mention.end)}
    telling = (match.group() for match in words_of(c, segment) if match.start() not in inside)
    clinical = [word for word in telling if word.lower() not in c.knowledge.plain]
    return not any(known(c, word) or c.half_said(word) for word in clinical)


@lru_cache(maxsize=2)
def telling_words(c: Comparison) -> list[list[re.Match[str]]]:
    """Return the words of each segment that tell something."""
    return [words_of(c, segment) for segment in c.made.segments]


def words_of(c: Comparison, segment: Segment) -> list[re.Match[str]]:
    """Return the words of a segment that tell something."""
    labels = _labels(c.output)
    found = WORD.finditer(c.output, segment.begin, segment.end)
    return [match for match in found if match.start() not in labels and _tells(c, match)]


@lru_cache(maxsize=2)
def _labels(text: str) -> frozenset[int]:
    """Return the places of a note's headings, whose words say of what the text below is, not what is so."""
    return frozenset(at for match in _LABEL.finditer(text) for at in range(*match.span()))


def _tells(c: Comparison, match: re.Match[str]) -> bool:
    word = match.group()
    low = word.lower().removesuffix("'s")
    if (len(word) < _SHORTEST and not word.isupper()) or _is_empty(c, low):
        return False
    if _PERSON.search(c.output, max(0, match.start() - 24), match.start()):
        return False
    return not (word.istitle() and _AGED.match(c.output, match.end()))


def known(c: Comparison, word: str) -> bool:
    """Tell whether the input has a word in some form."""
    known = c.given.known
    if word not in known:
        known[word] = _is_known(c, word)
    return known[word]


def _is_known(c: Comparison, word: str) -> bool:
    low = word.lower().removesuffix("'s")
    if c.worded(word) or american(low) in c.given.american or (c.spoken and c.spelt_out(word)):
        return True
    if low.startswith(_NON):
        rest = low.removeprefix(_NON).lstrip("-")
        places = c.given.said.get(stem(rest), []) or c.lay_places(rest)
        return bool(places) and not Denials(c).differ(places, ours=True)
    parts = [part for part in low.split("-") if len(part) >= _SHORTEST]
    return "-" in low and bool(parts) and all(_is_empty(c, part) or known(c, part) for part in parts)


def _is_empty(c: Comparison, low: str) -> bool:
    """Tell whether a word in lower case says nothing of a patient."""
    return low in words("neutral") or (low in c.knowledge.plain.frequent and not claim_words().match(low))


@cache
def claim_words() -> re.Pattern[str]:
    """Return the beginnings of everyday words that carry a claim all the same."""
    return re.compile("|".join(words("claim")), re.IGNORECASE)


def is_sure(c: Comparison, word: str) -> bool:
    """Tell whether a word is clinical for sure."""
    return c.knowledge.plain.lead(word.lower()) >= _FOR_SURE


def is_name(text: str, match: re.Match[str]) -> bool:
    """Tell whether a word is a name: it has a capital where no sentence begins."""
    before = text[: match.start()].rstrip(" ")
    return match.group()[0].isupper() and match.group()[1:].islower() and before[-1:].isalpha()
