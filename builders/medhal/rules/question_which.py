"""Questions with ``which of the following``, ``which`` or ``what``: as subject, predicate, object, or in its place."""

from __future__ import annotations

import re

from builders.medhal.rules.question_words import (
    AUXILIARIES,
    agree,
    finite,
    head_of,
    is_plural,
    lowered,
    option_kind,
    words,
)
from builders.medhal.writers import Written
from builders.texts.origin import Refusal

__all__ = ["in_place", "which_of"]

OPENING = re.compile(r"^(which of the following|which|what)\b\s*", re.IGNORECASE)
DEFINITE = re.compile(
    r"(?:the|this|that|these|those|his|her|their|its|your)\b|[\w-]+(?: [\w-]+){0,2}'s? ", re.IGNORECASE
)
TRUE = re.compile(
    r"^(?:is|are|would be|will be)(?: most likely)?(?: to be)?(?: the)?(?: most)? (?:true|correct|accurate|right|valid)\b"
)
FALSE = re.compile(r"\b(?:false|incorrect|untrue|wrong|not true|not correct|not accurate|inaccurate)\b", re.IGNORECASE)
ABOUT = ("about", "regarding", "concerning", "on", "of")
STRANDED = {
    "for",
    "of",
    "to",
    "from",
    "on",
    "with",
    "at",
    "by",
    "see",
    "find",
    "expect",
    "observe",
    "receive",
    "have",
    "develop",
    "developing",
    "having",
    "experience",
    "experiencing",
    "demonstrating",
    "using",
    "displaying",
    "exhibiting",
    "prescribe",
    "recommend",
}
TAKES_OBJECT = re.compile(
    r"^(?P<verb>.*\b(?:see|find|observe|receive|recommend|order|perform|prescribe|expect))(?P<rest> (?:in|on|upon|from|at|for|during) .+)$"
)
EXPECT = re.compile(r"^(?P<verb>(?:most |most likely |likely |also )?expect) (?P<rest>to be .+)$")
COPULA = re.compile(r"^(?P<be>is|are|was|were|(?:will|would|should|could|may) be) (?P<rest>.+)$")


def which_of(asked: str, option: str) -> Written | Refusal:
    """Turn a question that begins with its question word into a sentence without its capital and full stop."""
    opening = OPENING.match(asked)
    if opening is None:
        return Refusal("unknown_shape")
    rest = asked[opening.end() :].strip()
    tokens = rest.split()
    cut = _verb_at(tokens)
    if cut is None:
        return Refusal("no_verb_found")
    noun, verbal = tokens[:cut], " ".join(tokens[cut:])
    if set(word.lower().strip(",") for word in noun) & words("relative") or any(word.endswith(",") for word in noun):
        return Refusal("noun_phrase_unsure")
    if opening[1].lower() == "what" and not noun and not COPULA.match(verbal):
        return Refusal("unknown_shape")
    verbal = re.sub(r"\bNOT\b", "not", re.sub(r"\bLEAST\b", "least", re.sub(r"\bMOST\b", "most", verbal)))
    inverted = _inverted(verbal)
    if inverted is not None:
        return _object(inverted, option)
    if not noun:
        copula = COPULA.match(verbal)
        if copula and DEFINITE.match(copula["rest"]):
            return _copula(copula["be"], copula["rest"], option)
    return _subject(noun, verbal, option)


def _verb_at(tokens: list[str]) -> int | None:
    """Return where the verb (with adverbs before it) begins."""
    for place, token in enumerate(tokens):
        word = token.lower()
        if finite(word):
            while place > 0 and tokens[place - 1].lower() in words("adverb"):
                place -= 1
            return place
        if place == 0 and word in {"causes", "increases", "decreases", "results", "supports", "influences", "controls"}:
            return 0 if len(tokens) > 1 and not any(finite(other.lower()) for other in tokens[1:]) else None
        if word in words("adverb") and any(finite(other.lower()) for other in tokens[place + 1 : place + 3]):
            return place
        if word in {"best", "most"} and place + 1 < len(tokens) and not any(finite(w.lower()) for w in tokens[place:]):
            return None
    return None


def _inverted(verbal: str) -> tuple[str, str, str] | None:
    """Return subject, auxiliary and rest where the subject stands behind its auxiliary (``would you expect``)."""
    tokens = verbal.split()
    if tokens[0].lower() not in AUXILIARIES or len(tokens) < 3:
        return None
    for size in (3, 2, 1):
        subject = " ".join(tokens[1 : 1 + size]).lower()
        if subject in words("subject") and len(tokens) > 1 + size:
            return " ".join(tokens[1 : 1 + size]), tokens[0].lower(), " ".join(tokens[1 + size :])
    return None


def _object(inverted: tuple[str, str, str], option: str) -> Written | Refusal:
    subject, auxiliary, rest = inverted
    if auxiliary in {"do", "does", "did"} or option_kind(option) != "noun":
        return Refusal("inverted_question")
    expect, object_verb = EXPECT.match(rest), TAKES_OBJECT.match(rest)
    if expect:
        text = f"{subject} {auxiliary} {expect['verb']} {lowered(option)} {expect['rest']}"
    elif rest.split()[-1] in STRANDED:
        text = f"{subject} {auxiliary} {rest} {lowered(option)}"
    elif object_verb and not object_verb["rest"].split()[-1] in words("preposition"):
        text = f"{subject} {auxiliary} {object_verb['verb']} {lowered(option)}{object_verb['rest']}"
    else:
        return Refusal("inverted_question")
    return Written(text, "object")


def _copula(be: str, rest: str, option: str) -> Written | Refusal:
    kind = option_kind(option)
    if rest.split()[-1].lower() in words("preposition"):
        return Refusal("unknown_shape")
    if FALSE.search(rest):
        return Refusal("asks_for_the_false")
    if kind == "noun":
        return Written(f"{rest} {be} {lowered(option)}", "copula")
    if kind == "verb" and set(head_of(rest)) & words("action_head"):
        return Written(f"{rest} {be} to {option[0].lower()}{option[1:]}", "copula_to")
    if kind == "clause" and be in {"is", "are", "was", "were"}:
        return Written(f"{rest} {be} as follows: {option}", "copula_list")
    return Refusal("option_does_not_fit")


def _subject(noun: list[str], verbal: str, option: str) -> Written | Refusal:
    kind = option_kind(option)
    head = head_of(" ".join(noun))
    behind = noun[len(head) :]
    last = head[-1] if head else ""
    if FALSE.search(verbal) or FALSE.search(" ".join(noun)):
        return Refusal("asks_for_the_false")
    if TRUE.match(verbal) or last in words("statement_noun"):
        return _true(behind, verbal, option)
    if kind != "noun":
        return Refusal("option_does_not_fit") if behind or kind == "adverbial" else _listed(verbal, option)
    agreed = _agreed(verbal, is_plural(option))
    if agreed is None:
        return Refusal("number_unsure")
    if behind and not (last in words("kind_noun") and behind[0] == "of"):
        return Written(f"among {' '.join(noun)}, {lowered(option)} {agreed}", "subject_among")
    if last in words("content_noun"):
        return _listed(verbal, option)
    return Written(f"{lowered(option)} {agreed}", "subject")


def _true(behind: list[str], verbal: str, option: str) -> Written | Refusal:
    """Word what asks for a true statement: the option follows a colon, whatever it is."""
    if re.search(r"\b(?:not|least|except)\b", verbal, re.IGNORECASE) or "that" in behind:
        return Refusal("asks_for_the_false")
    if behind and behind[0].lower() not in ABOUT:
        return Refusal("noun_phrase_unsure")
    verbal = re.sub(r"^are\b", "is", verbal)
    return Written(f"the following {verbal} {' '.join(behind)}: {option}", "statement")


def _listed(verbal: str, option: str) -> Written | Refusal:
    agreed = _agreed(verbal, False)
    return Refusal("number_unsure") if agreed is None else Written(f"the following {agreed}: {option}", "subject_list")


def _agreed(verbal: str, plural: bool) -> str | None:
    """Return a verb phrase with its finite verb in a number; None where it is not found or a noun would not fit."""
    tokens = verbal.split()
    for place, token in enumerate(tokens):
        if token.lower() in words("adverb"):
            continue
        changed = agree(token, plural)
        if changed is None:
            return None
        if token.lower() in {"are", "were"} and not plural and _noun_follows(tokens[place + 1 :]):
            return None
        return " ".join([*tokens[:place], changed, *tokens[place + 1 :]])
    return None


def _noun_follows(tokens: list[str]) -> bool:
    """Tell whether a plural noun may follow ``are``, which would not fit one option."""
    rest = [token for token in tokens if token.lower() not in words("adverb")]
    known = words("participle") | words("adjective") | words("preposition") | {"to", "not"}
    return not rest or rest[0].lower() not in known


def in_place(asked: str, option: str) -> Written | Refusal:
    """Turn a sentence with its question word inside into a statement: the option takes its place."""
    found = re.search(r"\bwhich of the following\b", asked, re.IGNORECASE)
    full = found is not None
    found = found or re.search(r"\b(?:which|what)\b", asked)
    if found is None:
        return Refusal("unknown_shape")
    left, right = asked[: found.start()].strip(), asked[found.end() :].split()
    before = left.split()
    if (
        not before
        or before[0].lower() in AUXILIARIES
        or (len(before) < 3 and before[0].lower() in words("preposition"))
    ):
        return Refusal("inverted_question")
    cut = _noun_end(right)
    noun, rest = right[:cut], " ".join(right[cut:])
    if not full and rest:
        return Refusal("unknown_shape")
    if rest and _clause_follows(rest) and before[-1].lower() not in words("preposition"):
        return Refusal("inverted_question")
    if rest and _clause_follows(rest) and _question_inverted(rest):
        return Refusal("inverted_question")
    kind = option_kind(option)
    last = noun[-1].lower() if noun else ""
    if kind == "noun" and last not in words("content_noun") and left.rsplit(" ", 1)[-1] not in {"following", "the"}:
        return Written(f"{left} {lowered(option)} {rest}", "in_place")
    if kind in {"noun", "clause"} and not _clause_follows(rest):
        middle = f"the following {' '.join(right)}" if right else "the following"
        return Written(f"{left} {middle}: {option}", "in_place_list")
    return Refusal("option_does_not_fit")


def _noun_end(tokens: list[str]) -> int:
    """Return where the noun phrase of the question word ends: before a verb, a preposition other than of, a comma."""
    for place, token in enumerate(tokens):
        word = token.lower()
        if finite(word) or word in words("adverb") or word in words("relative"):
            return place
        if word in words("preposition") and word != "of":
            return place
        if token.endswith(","):
            return place + 1
    return len(tokens)


def _clause_follows(rest: str) -> bool:
    tokens = rest.lower().split()
    return bool(tokens) and any(finite(word) for word in tokens[:3]) and tokens[0] not in words("relative")


def _question_inverted(rest: str) -> bool:
    return _inverted(rest) is not None
