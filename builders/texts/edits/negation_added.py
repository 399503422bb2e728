"""Edits that deny a sentence's main assertion: "was" becomes "was not".

Without a parser, a verb counts as the main verb only where no word before it can open a clause of its own. "Some are
not" does not contradict "some are", so that sentences with quantifiers are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from builders.texts.edits.model import SentenceEdit, edit_at, like
from builders.texts.edits.tables import alternatives, cue
from builders.texts.edits.verbs import deniable_forms, denial, finite_verb, forms_of, nouns, verb_after_and

__all__ = ["CONCLUSION", "added_negations"]

OPENING = r"^(?:(?:[\w-]+\s+){0,4}[\w-]+,\s+)?"
PLURAL = (
    r"(?:(?:our|the|these|the present|the current|our present)\s+)?(?:[\w-]+\s+)?"
    r"(?:results|findings|data|analyses|studies|observations)"
)
SINGULAR = r"(?:our|the|this|the present|the current)\s+(?:[\w-]+\s+)?(?:study|analysis|work|finding|approach|method)"
AUXILIARY = re.compile(r"\b(?:is|are|was|were|can|will|(?:has|have|had)\s+been)\b", re.IGNORECASE)
NEXT = re.compile(r"\s+([A-Za-z][\w-]*)(?![\w-])")
BUT = re.compile(
    r"\b(?:but|yet|because|only|so|or|due\s+to|as\s+a\s+result|that\s+(?:while|although|whereas))\b|\band\s+(?:\w+ly\s+)?\w+ed\b",
    re.IGNORECASE,
)
AND_WE = re.compile(r"\b(?:and|;)\s+(?:\w+ly\s+|then\s+|also\s+)?we\b", re.IGNORECASE)
CONCLUSION = re.compile(
    r",\s+(?:(?:and|thus|thereby|therefore|hence|strongly|further)\s+)*"
    r"(?:suggesting|indicating|demonstrating|implying|revealing|showing|confirming|supporting|resulting|leading|consistent|thus|"
    r"thereby|therefore|hence|that\s+is)\b",
    re.IGNORECASE,
)
NO_SUBJECT = frozenset({"to", "and", "or", "the", "a", "an", "of", "in", "by", "we", "not"})
REACH = 70
"""Characters after a verb within which a quantifier counts as its object's."""


def added_negations(sentence: str) -> Iterator[SentenceEdit]:
    """Yield the sentence with its main assertion denied, where it denies nothing yet."""
    if cue("negative").search(sentence) or sentence.rstrip().endswith("?"):
        return
    yield from _denied_report(sentence)
    yield from _denied_auxiliary(sentence)
    yield from _denied_verb(sentence)
    yield from _denied_there(sentence)


def _plain_subject(words: str) -> bool:
    """Tell whether what stands before a verb is one clause's subject without a quantifier."""
    words = words.strip()
    blocked = cue("subordinate").search(_without_conjunction(words)) or cue("quantifier").search(words)
    return (
        bool(re.search(r"[a-z]", words)) and not blocked and not re.search(r"\d\s|<dig>|[:;]|^in .* (?:of|in)$", words)
    )


def _without_conjunction(subject: str) -> str:
    """Take the ``and`` between two nouns of a subject away: it opens no clause."""
    return re.sub(r"(?<=\w)\s+(?:and|or)\s+(?=[\w-]+\s*(?:$|[\w-]+\s*$))", " ", subject)


def _assertions(sentence: str) -> list[tuple[int, int]]:
    """Return where the clauses begin and end that the sentence asserts: itself, or what it reports."""
    report = _reports_that().match(sentence)
    return [(report.end(), len(sentence))] if report else [(0, len(sentence))]


def _denied_auxiliary(sentence: str) -> Iterator[SentenceEdit]:
    for begin, end in _assertions(sentence):
        found = AUXILIARY.search(sentence, begin, end)
        if not found or not _plain_subject(sentence[begin : found.start()]) or _there(sentence, found.start()):
            continue
        following = NEXT.match(sentence, found.end())
        rest = sentence[found.end() :]
        if not following or cue("after_auxiliary").fullmatch(following.group(1)) or following.group(1).endswith("ing"):
            continue
        if _counts(rest) or _joined(rest):
            continue
        verb = found.group()
        after = "cannot" if verb.lower() == "can" else verb + " not"
        if " " in verb:
            have, been = verb.split()
            after = f"{have} not {been}"
        yield edit_at(sentence, found.start(), found.end(), like(verb, after), "negation_added")


def _counts(rest: str) -> bool:
    """Tell whether a quantifier or a number follows soon: "was not found in some" does not contradict "was found"."""
    near = rest[:REACH]
    return bool(cue("quantifier").search(near) or re.search(r"<dig>|\d|%", near))


def _there(sentence: str, place: int) -> bool:
    return bool(re.search(r"\b(?:there|here|it|what)\s*$", sentence[:place], re.IGNORECASE))


def _joined(rest: str) -> bool:
    """Tell whether more is said that the denial would reach or contradict.

    "Not A and B" is not clear enough; neither is what "but" and "because" add, nor a conclusion drawn from what is
    denied ("..., suggesting that").
    """
    return bool(BUT.search(rest[:REACH]) or CONCLUSION.search(rest) or verb_after_and().search(rest))


def _denied_report(sentence: str) -> Iterator[SentenceEdit]:
    """``we found`` -> ``we did not find``; ``our results suggest`` -> ``our results do not suggest``."""
    for pattern in _reports():
        found = pattern.match(sentence)
        if not found:
            continue
        verb, rest = found.group("verb"), sentence[found.end() :]
        that = re.match(r"\s+that\b", rest)
        if (not that and _counts(rest)) or _joined(rest) or AND_WE.search(rest):
            continue
        yield edit_at(sentence, found.start("verb"), found.end("verb"), denial(verb), "negation_added")


def _denied_verb(sentence: str) -> Iterator[SentenceEdit]:
    """``plays a role`` -> ``does not play a role``."""
    for begin, end in _assertions(sentence):
        found = finite_verb().search(sentence, begin, end)
        if (
            not found
            or found.group().lower() not in deniable_forms()
            or not _plain_subject(sentence[begin : found.start()])
        ):
            continue
        rest = sentence[found.end() :]
        if _counts(rest) or _joined(rest):
            continue
        before = re.search(r"([\w-]+)\s+$", sentence[begin : found.start()])
        if not before or before.group(1).lower() in NO_SUBJECT:
            continue
        if re.match(r"\s*(?:[,.;)]|by\b|from\b)", rest) or before.group(1).endswith("ly"):
            continue
        yield edit_at(sentence, found.start(), found.end(), denial(found.group()), "negation_added")


def _denied_there(sentence: str) -> Iterator[SentenceEdit]:
    """``there is a difference`` -> ``there is no difference``."""
    found = _there_is().search(sentence)
    if not found or found.start() > 40 or not _plain_opening(sentence[: found.start()]):
        return
    rest = sentence[found.end() :]
    article = found.group("article")
    if bool(article) != nouns()[found.group("noun").lower()].article:
        return
    if _counts(found.group("words") + rest) or _joined(rest):
        return
    begin = found.start("article") if article else found.start("words") if found.group("words") else found.start("noun")
    if article:
        yield edit_at(sentence, begin, begin + len(article.rstrip()), "no", "negation_added")
    else:
        word = sentence[begin:].split(maxsplit=1)[0]
        yield edit_at(sentence, begin, begin + len(word), f"no {word}", "negation_added")


def _plain_opening(words: str) -> bool:
    return not words.strip() or words.strip().endswith((",", "that"))


@cache
def _reports() -> tuple[re.Pattern[str], ...]:
    """Patterns of a sentence that opens with who reports, up to the verb."""
    parts = (
        ("we", forms_of("we", "base", "past")),
        (PLURAL, forms_of("report", "base", "past")),
        (SINGULAR, forms_of("report", "third", "past")),
    )
    return tuple(re.compile(rf"{OPENING}{subject}\s+(?P<verb>{verbs})\b", re.IGNORECASE) for subject, verbs in parts)


@cache
def _reports_that() -> re.Pattern[str]:
    """A pattern of the words before a reported assertion: ``our results show that``."""
    verbs = forms_of("that", "base", "third", "past")
    return re.compile(
        rf"{OPENING}(?:we|{PLURAL}|{SINGULAR}|our\s+\w+|this\s+\w+)\s+(?:also\s+|further\s+|clearly\s+)?{verbs}\s+that\s+",
        re.IGNORECASE,
    )


@cache
def _there_is() -> re.Pattern[str]:
    return re.compile(
        r"\bthere\s+(?:is|are|was|were)\s+(?P<article>an?\s+)?(?P<words>(?:[a-z-]+\s+){0,3}?)"
        rf"(?P<noun>{alternatives(nouns())})(?![\w-])",
        re.IGNORECASE,
    )
