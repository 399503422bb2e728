"""Whether a text says that a mentioned concept is present; in a conversation the answer decides for its question."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from ehr.reading import ReadMention
from ehr.spans import Assertion

__all__ = ["Polarity", "polarities", "turns_of"]

Polarity = Literal["present", "absent", "unknown"]

_TURN = re.compile(
    r"^[ \t]*\[?(doctor|patient|guest_\w+|nurse|family\w*|clinician)\]?[ \t]*:?", re.IGNORECASE | re.MULTILINE
)
_NO = re.compile(
    r"^[\s,.\-]*(?:(?:um|uh|well|oh|hm+|doctor|ah)[\s,.]*)*(?:no\b|nope|nah|none|nothing|never|negative"
    r"|not (?:really|at all|that)|i don't|i do not|i haven't|i have not|he doesn't|she doesn't|he hasn't|she hasn't"
    r"|i didn't|i deny|uh-uh)",
    re.IGNORECASE,
)
_YES = re.compile(
    r"^[\s,.\-]*(?:(?:um|uh|well|oh|hm+|doctor|ah)[\s,.]*)*(?:yes|yeah|yep|yup|correct|i do\b|i have\b|i did\b"
    r"|sure|right|exactly|mm-hmm|absolutely|definitely|he does|she does|that's (?:right|correct))",
    re.IGNORECASE,
)
_STOP = re.compile(r"[.?!](?!\d)")
# A question by its form, with or without a mark: an auxiliary before its subject, or a word that asks.
_AUXILIARY = r"(?:do|did|does|have|has|had|are|is|was|were|can|could|would|will|should)(?: ?n't| not)?"
_FORM = re.compile(
    r"\b(?=[acdhisw])(?<!to )(?<!gonna )(?<!gon na )(?<!let )(?<!let's )(?<!'ll )"
    rf"(?:{_AUXILIARY} (?:you|he|she|they|there)|(?:how|what) about(?! (?:your|his|her|the|that|this)))\b"
)
_OPENS = re.compile(
    r"\W*(?:(?:and|so|but|okay|ok|now|um|uh|well|alright|all right|then|great|good|any other)\b\W*)*"
    rf"(?:{_AUXILIARY} (?:it|that|this|the|your|his|her|any)|any|ever)\b",
    re.IGNORECASE,
)
# "How would you rate it", "is your pain worse", "anything for pain": what is asked about is there, whatever the answer.
_PRESUPPOSES = re.compile(r"\b(?:what|which|when|where|why|how)(?: [\w']+){0,3} $", re.IGNORECASE)
_DEFINITE = re.compile(r"\b(?:for|the|your|that|this|these|those|his|her) (?:[\w-]+ )?$", re.IGNORECASE)
# A speaker's statement after a question without a question mark.
_TELLS = re.compile(r"[.!]\s|\b(?:i|i'm|i've|we|we'll|okay|because|so|told|said|heard)\b", re.IGNORECASE)
# Something of so few letters to which the answer is no was asked by who asks; news are answered by "oh no".
_SHORT = 60
_BARE_NO = re.compile(r"\W*(?:no\b|nope|none\b|nothing\b|not (?:really|at all|that))", re.IGNORECASE)
_ASKERS = frozenset({"doctor", "nurse", "clinician"})
_OR = re.compile(r"\bor\b")
_SPOKEN_NOT = re.compile(r"n't\b|\b(?:not|no|never|without|if|could|might|maybe|worried|risk)\b", re.IGNORECASE)
_YET = re.compile(r"\b(?:but|except|just|only|some|sometimes|little|bit)\b", re.IGNORECASE)
_RELATIVE = re.compile(
    r"\b(?=[abcdfgimpsu])"
    r"(?:(?:grand|step)?(?:mother|father|parents?)|mom|dad|brothers?|sisters?|siblings?|aunts?|uncles?|cousins?|"
    r"(?:in|of) (?:my|her|his|the) family)\b"
)
_PRESENT = frozenset({Assertion.PRESENT, Assertion.HISTORICAL})


def turns_of(text: str) -> list[int]:
    """Return where speakers begin to speak; less than two where a text is no conversation."""
    return [match.start() for match in _TURN.finditer(text)]


def polarities(text: str, mentions: Sequence[ReadMention], turns: Sequence[int] = ()) -> list[Polarity]:
    """Return the polarity of each mention of a text; ``turns`` are those of a conversation."""
    if len(turns) < 2:
        return [_stated(mention) for mention in mentions]
    return [_in_conversation(text, turns, mention) for mention in mentions]


def _stated(mention: ReadMention) -> Polarity:
    if mention.assertion is Assertion.ABSENT:
        return "absent"
    return "present" if mention.assertion in _PRESENT else "unknown"


@lru_cache(maxsize=1024)
def _places(pattern: re.Pattern[str], text: str) -> tuple[tuple[int, int], ...]:
    """Return where a text has a pattern of small letters; who writes and who judges ask for the same texts."""
    return tuple(match.span() for match in pattern.finditer(text.lower()))


def _last(pattern: re.Pattern[str], text: str, begin: int, end: int) -> tuple[int, int] | None:
    """Return where a part of a text has a pattern last."""
    places = _places(pattern, text)
    last = bisect_right(places, (end, 0)) - 1
    return places[last] if last >= 0 and places[last][0] >= begin and places[last][1] <= end else None


def _in_conversation(text: str, turns: Sequence[int], mention: ReadMention) -> Polarity:
    """A question leaves open what it names; a short answer that begins with yes or no decides it."""
    following = bisect_right(turns, mention.begin)
    begin = turns[following - 1] if following else 0
    end = turns[following] if following < len(turns) else len(text)
    answer = _answer(text, turns, following)
    asked = _asked(text, begin, mention, end, answer)
    if asked is None:
        return _of_statement(text, begin, end, mention)
    if asked == "open":
        return "unknown"
    if _NO.match(answer) and not _YET.search(answer):
        return "absent"
    # "Yes" to a list of things leaves open to which.
    question = text[begin:end]
    listed = "," in question or " or " in question
    return "present" if _YES.match(answer) and not listed else "unknown"


def _answer(text: str, turns: Sequence[int], following: int) -> str:
    """Return the text of a turn; empty where there is none."""
    if following >= len(turns):
        return ""
    opening = _TURN.match(text, turns[following])
    after = turns[following + 1] if following + 1 < len(turns) else len(text)
    return text[opening.end() if opening else turns[following] : after].replace(" n't", "n't")


def _asked(text: str, begin: int, mention: ReadMention, end: int, answer: str) -> Literal["closed", "open"] | None:
    """Tell how a turn asks for what it names, by its mark, its form, or in so few words that are answered by no.

    A closed question asks whether it is there, an open one takes it for granted; None where nothing is asked.
    """
    opening = _TURN.match(text, begin)
    first = opening.end() if opening else begin
    sentence = max(first, *(text.rfind(stop, first, mention.begin) + 1 for stop in (". ", "? ", "! ")))
    opens = _OPENS.match(text, sentence, mention.begin)
    form = _last(_FORM, text, sentence, mention.begin) or (opens.span() if opens else None)
    stop = _STOP.search(text, mention.end, end)
    marked = stop is not None and stop.group() == "?"
    if marked or (form and _TELLS.search(text, form[1], mention.begin) is None):
        granted = form is not None and _PRESUPPOSES.search(text[sentence : form[0]])
        return "open" if granted or _DEFINITE.search(text[sentence : mention.begin]) else "closed"
    rest = text[sentence:end].strip()
    short = len(rest) < _SHORT and not _STOP.search(rest[:-1]) and _BARE_NO.match(answer) is not None
    return "closed" if short and opening and opening[1].lower() in _ASKERS else None


def _of_statement(text: str, begin: int, end: int, mention: ReadMention) -> Polarity:
    """Return the polarity of a mention in a statement."""
    # A question is often repeated in an answer that is not a whole sentence.
    before = text[max(text.rfind("\n", 0, mention.begin) + 1, mention.begin - 70) : mention.begin]
    # The patient need not have what a relative has.
    if _last(_RELATIVE, text, begin, mention.begin):
        return "unknown"
    # Spoken negations ("it does n't look like") are often not what the reader's rules know.
    if mention.assertion is not Assertion.ABSENT and _SPOKEN_NOT.search(before.rsplit(" . ", 1)[-1]):
        return "unknown"
    return "unknown" if mention.assertion is Assertion.ABSENT and _OR.search(text, begin, end) else _stated(mention)
