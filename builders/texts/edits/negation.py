"""Edits that put a denial in or take it out: "was" becomes "was not", "no difference" a difference.

Without a parser, the first auxiliary counts as the main verb only where no word before it can open a clause of its own.
"Some are not" does not contradict "some are", so that sentences with quantifiers are left alone. No verb is inflected.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from builders.texts.edits.model import SentenceEdit, article_of, edit_at, like
from builders.texts.edits.tables import alternatives, cue, read_edit_table

__all__ = ["negation_edits"]

NOUN_COLUMNS = ("noun", "article", "plural", "source")
AUXILIARY = re.compile(r"\b(?:is|are|was|were|can|will|(?:has|have|had)\s+been)\b", re.IGNORECASE)
NEXT = re.compile(r"\s+([A-Za-z][\w-]*)(?![\w-])")
NO_SUBJECT = re.compile(r"\d\s|<dig>|[:;]|^in .* (?:of|in)$|\b(?:there|here|it|what)\s*$", re.IGNORECASE)
JOINT_SUBJECT = re.compile(r"(?<=\w)\s+(?:and|or)\s+(?=[\w-]+\s*(?:$|[\w-]+\s*$))")
"""``and`` between two nouns of a subject: it opens no clause."""
CONCLUSION = re.compile(
    r",\s+(?:(?:and|thus|thereby|therefore|hence|strongly|further)\s+)*"
    r"(?:suggesting|indicating|demonstrating|implying|revealing|showing|confirming|supporting|resulting|leading|consistent|thus|"
    r"thereby|therefore|hence|that\s+is)\b",
    re.IGNORECASE,
)
MORE = re.compile(
    r"\b(?:but|yet|because|only|so|or|due\s+to|as\s+a\s+result|that\s+(?:while|although|whereas)|and)\b", re.IGNORECASE
)
"""What a denial would reach or contradict: "not A and B" is not clear enough."""
NUMBER = re.compile(r"<dig>|\d|%")
REACH = 70
"""Characters after a verb within which a quantifier counts as its object's."""

NOT = re.compile(
    r"\b(?P<verb>is|are|was|were|could|can|do|has|have|had|will)(?P<not>\s+not|n't|not)(?=\s)", re.IGNORECASE
)
DO_NOT = re.compile(r"\bdo\s+not\s+(?=[a-z]+\b(?!.*\bor\b))", re.IGNORECASE)
CONDITION = re.compile(
    r"\b(?:where|when|if|whether|whose|in\s+which|because|since|although|though|while)\b", re.IGNORECASE
)
LIST = re.compile(
    r"\s+(?:of|in|or|and|nor)?\s*(?:or|nor)\b|\s*,\s*(?:[a-z-]+\s+){0,3}(?:,|or\b|nor\b|and\b)", re.IGNORECASE
)
OTHER_NO = re.compile(r"\b(?:of|in|to|for|and|or|longer|more|less|other|such|known|a)\b", re.IGNORECASE)


def negation_edits(sentence: str) -> Iterator[SentenceEdit]:
    """Yield the sentence denied where it denies nothing yet, and without its denial where it has only one."""
    denials = list(cue("negative").finditer(sentence))
    if not denials and not sentence.rstrip().endswith("?"):
        yield from _denied(sentence)
    if len(denials) == 1 and not cue("polarity").search(sentence) and _stands_free(sentence, denials[0]):
        yield from _without_not(sentence)
        yield from _without_no(sentence)


def _denied(sentence: str) -> Iterator[SentenceEdit]:
    match = AUXILIARY.search(sentence)
    if not match or not _is_subject(sentence[: match.start()]):
        return
    following, rest = NEXT.match(sentence, match.end()), sentence[match.end() :]
    if not following or cue("after_auxiliary").fullmatch(following[1]) or following[1].endswith("ing"):
        return
    near = rest[:REACH]
    if cue("quantifier").search(near) or NUMBER.search(near) or MORE.search(near) or CONCLUSION.search(rest):
        return
    verb = match[0]
    after = "cannot" if verb.lower() == "can" else re.sub(r"^(\w+)", r"\1 not", verb)
    yield edit_at(sentence, match.start(), match.end(), like(verb, after), "negation_added")


def _is_subject(words: str) -> bool:
    """Tell whether what stands before a verb is one clause's subject without a quantifier."""
    words = words.strip()
    blocked = cue("subordinate").search(JOINT_SUBJECT.sub(" ", words)) or cue("quantifier").search(words)
    return bool(re.search(r"[a-z]", words)) and not blocked and not NO_SUBJECT.search(words)


def _stands_free(sentence: str, denial: re.Match[str]) -> bool:
    """Tell whether no condition, conclusion, quantifier or number depends on a denial."""
    before = sentence[: denial.start()]
    clause = re.split(r"[,;:]|\bthat\b", before)[-1]
    depends = CONDITION.search(before) or CONCLUSION.search(sentence[denial.end() :])
    return not (depends or cue("quantifier").search(clause) or re.search(r"<dig>|\d", clause))


def _without_not(sentence: str) -> Iterator[SentenceEdit]:
    for match in DO_NOT.finditer(sentence):
        yield edit_at(sentence, *match.span(), "", "negation_removed")
    for match in NOT.finditer(sentence):
        if match["verb"].lower() != "do":
            yield edit_at(sentence, *match.span(), match["verb"], "negation_removed")


def _without_no(sentence: str) -> Iterator[SentenceEdit]:
    """``no significant difference`` -> ``a significant difference``."""
    for match in _no().finditer(sentence):
        words, noun = match["words"], match["noun"]
        if OTHER_NO.search(words) or LIST.match(sentence, match.end()):
            continue
        first = (words or noun).split()[0]
        if _takes_article()[noun.lower()]:
            after = like(match[0], article_of(first))
            yield edit_at(sentence, match.start(), match.start() + len("no"), after, "negation_removed")
        else:
            end = sentence.index(first, match.start() + len("no")) + len(first)
            yield edit_at(sentence, match.start(), end, like(match[0], first), "negation_removed")


@cache
def _takes_article() -> Mapping[str, bool]:
    """Return the nouns that "no" may stand before, and whether "a" takes its place."""
    rows = read_edit_table("edit_nouns", NOUN_COLUMNS)
    plurals = {row["plural"]: False for row in rows if row["plural"]}
    return {row["noun"]: bool(row["article"]) for row in rows} | plurals


@cache
def _no() -> re.Pattern[str]:
    nouns = alternatives(_takes_article())
    return re.compile(rf"\bno\s+(?P<words>(?:[a-z-]+\s+){{0,3}}?)(?P<noun>{nouns})(?![\w-])", re.IGNORECASE)
