"""Edits that take the denial of a sentence away: "did not show" becomes "showed", "no difference" a difference."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from builders.texts.edits.model import SentenceEdit, article_of, edit_at, like
from builders.texts.edits.negation_added import CONCLUSION
from builders.texts.edits.tables import alternatives, cue
from builders.texts.edits.verbs import nouns, verbs

__all__ = ["removed_negations"]

NOT = re.compile(
    r"\b(?P<verb>is|are|was|were|could|can|did|does|do|has|have|had|will)(?P<not>\s+not|n't|not)(?=\s)", re.IGNORECASE
)
BASE = re.compile(r"\s+(?P<adverb>[a-z]+ly\s+)?(?P<base>[a-z]+)\b", re.IGNORECASE)
CANNOT = re.compile(r"\bcannot\b", re.IGNORECASE)
CONDITION = re.compile(
    r"\b(?:where|when|if|whether|whose|in\s+which|because|since|although|though|while)\b", re.IGNORECASE
)
LIST = re.compile(
    r"\s+(?:of|in|or|and|nor)?\s*(?:or|nor)\b|\s*,\s*(?:[a-z-]+\s+){0,3}(?:,|or\b|nor\b|and\b)", re.IGNORECASE
)
OTHER_NO = re.compile(r"\b(?:of|in|to|for|and|or|longer|more|less|other|such|known|a)\b", re.IGNORECASE)


def removed_negations(sentence: str) -> Iterator[SentenceEdit]:
    """Yield the sentence without its denial, where there is only one and no word depends on it."""
    denials = list(cue("negative").finditer(sentence))
    if len(denials) != 1 or cue("polarity").search(sentence):
        return
    if CONDITION.search(sentence[: denials[0].start()]) or CONCLUSION.search(sentence[denials[0].end() :]):
        return
    clause = re.split(r"[,;:]|\bthat\b", sentence[: denials[0].start()])[-1]
    if cue("quantifier").search(clause) or re.search(r"<dig>|\d", clause):
        return
    yield from _without_not(sentence)
    yield from _without_no(sentence)


def _without_not(sentence: str) -> Iterator[SentenceEdit]:
    for found in CANNOT.finditer(sentence):
        yield edit_at(sentence, found.start(), found.end(), like(found.group(), "can"), "negation_removed")
    for found in NOT.finditer(sentence):
        verb = found.group("verb")
        if verb.lower() not in ("did", "does", "do"):
            yield edit_at(sentence, found.start(), found.end(), verb, "negation_removed")
            continue
        if re.search(r"\bor\b", sentence[found.end() :]):
            continue
        following = BASE.match(sentence, found.end())
        known = verbs().get(following.group("base").lower()) if following else None
        if following and known:
            form = {"did": known.past, "does": known.third, "do": known.base}[verb.lower()]
            after = (following.group("adverb") or "") + form
            yield edit_at(sentence, found.start(), following.end(), like(verb, after), "negation_removed")


def _without_no(sentence: str) -> Iterator[SentenceEdit]:
    """``no significant difference`` -> ``a significant difference``."""
    for found in _no().finditer(sentence):
        words, noun = found.group("words"), found.group("noun")
        if OTHER_NO.search(words) or LIST.match(sentence, found.end()):
            continue
        first = (words or noun).split()[0]
        if nouns()[noun.lower()].article:
            after = like(found.group(), article_of(first))
            yield edit_at(sentence, found.start(), found.start() + len("no"), after, "negation_removed")
        else:
            end = sentence.index(first, found.start() + len("no")) + len(first)
            yield edit_at(sentence, found.start(), end, like(found.group(), first), "negation_removed")


@cache
def _no() -> re.Pattern[str]:
    return re.compile(
        rf"\bno\s+(?P<words>(?:[a-z-]+\s+){{0,3}}?)(?P<noun>{alternatives(nouns())})(?![\w-])", re.IGNORECASE
    )
