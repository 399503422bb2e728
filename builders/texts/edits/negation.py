"""Edits that add or remove the denial of a sentence's main assertion.

Without a parser, a verb counts as the main verb only where no word before it can open a clause of its own. "Some are
not" does not contradict "some are", so that sentences with quantifiers are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from builders.texts.edits.model import SentenceEdit, edit_at, like
from builders.texts.edits.tables import alternatives, cue, read_edit_table

__all__ = ["added_negations", "removed_negations"]

VERB_COLUMNS = ("base", "third", "past", "participle", "uses", "source")
NOUN_COLUMNS = ("noun", "article", "plural", "source")

REPORT_THAT = re.compile(
    r"^(?P<opening>(?:[\w-]+\s+){0,4}[\w-]+,\s+)?"
    r"(?:we|our\s+\w+|the(?:se|\s+present|\s+current)?\s*(?:results|findings|data|study)|results|this\s+\w+)\s+"
    r"(?:also\s+|further\s+|clearly\s+)?"
    r"(?:show|shows|showed|find|found|demonstrate|demonstrates|demonstrated|reveal|reveals|revealed|observed|"
    r"report|confirm|confirms|confirmed|indicate|indicates|indicated|suggest|suggests|suggested|conclude)\s+that\s+",
    re.IGNORECASE,
)
AUXILIARY = re.compile(r"\b(?:is|are|was|were|can|will|(?:has|have|had)\s+been)\b", re.IGNORECASE)
NEXT = re.compile(r"\s+([A-Za-z][\w-]*)(?![\w-])")
NOT = re.compile(
    r"\b(?P<verb>is|are|was|were|could|can|did|does|do|has|have|had|will)(?P<not>\s+not|n't|not)(?=\s)", re.IGNORECASE
)
BASE = re.compile(r"\s+(?P<adverb>[a-z]+ly\s+)?(?P<base>[a-z]+)\b", re.IGNORECASE)
CANNOT = re.compile(r"\bcannot\b", re.IGNORECASE)
BUT = re.compile(
    r"\b(?:but|yet|because|only|so|or|due\s+to|as\s+a\s+result|that\s+(?:while|although|whereas))\b|\band\s+(?:\w+ly\s+)?\w+ed\b",
    re.IGNORECASE,
)
CONDITION = re.compile(
    r"\b(?:where|when|if|whether|whose|in\s+which|because|since|although|though|while)\b", re.IGNORECASE
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
    report = REPORT_THAT.match(sentence)
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
    return bool(BUT.search(rest[:REACH]) or CONCLUSION.search(rest) or _and_verb().search(rest))


def _denied_report(sentence: str) -> Iterator[SentenceEdit]:
    """``we found`` -> ``we did not find``; ``our results suggest`` -> ``our results do not suggest``."""
    for pattern in _report_patterns():
        found = pattern.match(sentence)
        if not found:
            continue
        verb, rest = found.group("verb"), sentence[found.end() :]
        that = re.match(r"\s+that\b", rest)
        if (not that and _counts(rest)) or _joined(rest) or AND_WE.search(rest):
            continue
        yield edit_at(sentence, found.start("verb"), found.end("verb"), _denial(verb), "negation_added")


def _denied_verb(sentence: str) -> Iterator[SentenceEdit]:
    """``plays a role`` -> ``does not play a role``."""
    for begin, end in _assertions(sentence):
        found = _finite().search(sentence, begin, end)
        if (
            not found
            or found.group().lower() not in _forms("third", "past")
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
        yield edit_at(sentence, found.start(), found.end(), _denial(found.group()), "negation_added")


def _denied_there(sentence: str) -> Iterator[SentenceEdit]:
    """``there is a difference`` -> ``there is no difference``."""
    found = _there_is().search(sentence)
    if not found or found.start() > 40 or not _plain_opening(sentence[: found.start()]):
        return
    rest = sentence[found.end() :]
    noun, article = found.group("noun").lower(), found.group("article")
    known = _nouns().get(noun)
    if known is None or _counts(found.group("words") + rest) or _joined(rest):
        return
    if bool(article) != known[1]:
        return
    begin = found.start("article") if article else found.start("words") if found.group("words") else found.start("noun")
    if article:
        yield edit_at(sentence, begin, begin + len(article.rstrip()), "no", "negation_added")
    else:
        word = sentence[begin:].split(maxsplit=1)[0]
        yield edit_at(sentence, begin, begin + len(word), f"no {word}", "negation_added")


def _plain_opening(words: str) -> bool:
    return not words.strip() or words.strip().endswith((",", "that"))


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
        forms = _verbs().get(following.group("base").lower()) if following else None
        if following and forms:
            form = {"did": forms[2], "does": forms[1], "do": forms[0]}[verb.lower()]
            after = (following.group("adverb") or "") + form
            yield edit_at(sentence, found.start(), following.end(), like(verb, after), "negation_removed")


def _without_no(sentence: str) -> Iterator[SentenceEdit]:
    """``no significant difference`` -> ``a significant difference``."""
    for found in _no().finditer(sentence):
        known = _nouns().get(found.group("noun").lower())
        words = found.group("words")
        if known is None or re.search(r"\b(?:of|in|to|for|and|or|longer|more|less|other|such|known|a)\b", words):
            continue
        if re.match(
            r"\s+(?:of|in|or|and|nor)?\s*(?:or|nor)\b|\s*,\s*(?:[a-z-]+\s+){0,3}(?:,|or\b|nor\b|and\b)",
            sentence[found.end() :],
        ):
            continue
        article, _ = known
        first = (words or found.group("noun")).split()[0]
        if article:
            right = "an" if first[0].lower() in "aeiou" and not first.lower().startswith(("uni", "eu")) else "a"
            yield edit_at(sentence, found.start(), found.start() + 2, like(found.group(), right), "negation_removed")
        else:
            after = like(found.group(), first)
            end = sentence.index(first, found.start() + 2) + len(first)
            yield edit_at(sentence, found.start(), end, after, "negation_removed")


def _denial(verb: str) -> str:
    """Return ``did not show`` for ``showed``, ``does not`` for a third person, ``do not`` for a base form."""
    for base, third, past, _, _ in _verb_rows():
        lowered = verb.lower()
        if lowered in (base, third, past):
            helper = "do" if lowered == base else "does" if lowered == third else "did"
            return like(verb, f"{helper} not {base}")
    raise KeyError(verb)


@cache
def _verb_rows() -> tuple[tuple[str, str, str, str, tuple[str, ...]], ...]:
    rows = read_edit_table("edit_verbs", VERB_COLUMNS)
    return tuple(
        (row["base"], row["third"], row["past"], row["participle"], tuple(row["uses"].split(","))) for row in rows
    )


@cache
def _verbs() -> dict[str, tuple[str, str, str]]:
    return {base: (base, third, past) for base, third, past, _, uses in _verb_rows() if "not" in uses}


@cache
def _forms(*uses: str) -> frozenset[str]:
    """Return the forms that may be denied: the third person of ``third`` verbs, the past of ``past`` verbs."""
    forms = set()
    for _, third, past, _, allowed in _verb_rows():
        if "third" in uses and "third" in allowed:
            forms.add(third)
        if "past" in uses and "past" in allowed:
            forms.add(past)
    return frozenset(forms)


@cache
def _and_verb() -> re.Pattern[str]:
    """A pattern of ``and`` before a verb of the table or an auxiliary."""
    forms = {form for row in _verb_rows() for form in row[:3]}
    return re.compile(
        rf"\band\s+(?:\w+ly\s+|then\s+|also\s+|it\s+|they\s+)?(?:{alternatives(forms)}|is|are|was|were|has|have|had|can|may|"
        r"could|will|should|did|does|do|thus|hence|therefore)\b",
        re.IGNORECASE,
    )


@cache
def _finite() -> re.Pattern[str]:
    """A pattern of every form in the table that can be a finite verb, and of auxiliaries."""
    forms = {form for row in _verb_rows() for form in (row[1], row[2])}
    return re.compile(rf"\b(?:{alternatives(forms)}|is|are|was|were|has|have|had|can|may|will)\b", re.IGNORECASE)


@cache
def _report_patterns() -> tuple[re.Pattern[str], ...]:
    rows = _verb_rows()
    we = alternatives([form for row in rows if "we" in row[4] for form in (row[0], row[2])])
    many = alternatives([form for row in rows if "report" in row[4] for form in (row[0], row[2])])
    one = alternatives([form for row in rows if "report" in row[4] for form in (row[1], row[2])])
    opening = r"^(?:(?:[\w-]+\s+){0,4}[\w-]+,\s+)?"
    plural = (
        r"(?:(?:our|the|these|the present|the current|our present)\s+)?(?:[\w-]+\s+)?"
        r"(?:results|findings|data|analyses|studies|observations)"
    )
    single = r"(?:our|the|this|the present|the current)\s+(?:[\w-]+\s+)?(?:study|analysis|work|finding|approach|method)"
    return tuple(
        re.compile(rf"{opening}{subject}\s+(?P<verb>{verbs})\b", re.IGNORECASE)
        for subject, verbs in (("we", we), (plural, many), (single, one))
    )


@cache
def _no() -> re.Pattern[str]:
    return re.compile(
        rf"\bno\s+(?P<words>(?:[a-z-]+\s+){{0,3}}?)(?P<noun>{alternatives(_nouns())})(?![\w-])", re.IGNORECASE
    )


@cache
def _there_is() -> re.Pattern[str]:
    return re.compile(
        r"\bthere\s+(?:is|are|was|were)\s+(?P<article>an?\s+)?(?P<words>(?:[a-z-]+\s+){0,3}?)"
        rf"(?P<noun>{alternatives(_nouns())})(?![\w-])",
        re.IGNORECASE,
    )


@cache
def _nouns() -> dict[str, tuple[bool, bool]]:
    """Return nouns with whether ``a`` stands in place of ``no``, and whether ``there is`` needs an article."""
    nouns: dict[str, tuple[bool, bool]] = {}
    for row in read_edit_table("edit_nouns", NOUN_COLUMNS):
        nouns[row["noun"]] = (bool(row["article"]), bool(row["article"]))
        if row["plural"]:
            nouns[row["plural"]] = (False, False)
    return nouns
