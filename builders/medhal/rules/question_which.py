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
NOUN_VERBS = {"causes", "increases", "decreases", "influences", "supports", "covers", "controls"}
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
FRONT_INVERTED = re.compile(
    r"^(?:do|does|did|can|could|will|would|should|may|might|must|has|have|had) (?:an?|the|this|that|these|those|his|her|its|their|your|it|we)\b",
    re.IGNORECASE,
)
SHOWN = re.compile(
    r"^(?P<be>is|are|will|would) (?P<subject>(?:an?|the|this|his|her) .+?) (?P<verb>(?:most )?likely (?:to )?(?:show|reveal|demonstrate))$"
)
SUPERLATIVE = re.compile(
    r"the (?:most|least)(?: \w+)? (?:to|responsible|in|for|from|on|consistent|suggestive|associated)\b|the (?:most|least) \w+$",
    re.IGNORECASE,
)
LACKS_ARTICLE = re.compile(
    r"^(?P<be>is|was) (?=(?:best|most \w+)(?: (?!in |for |to |of )\w+){0,2} (?:treatment|step|management|option|therapy|diagnosis|cause)\b)"
)
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
    if FRONT_INVERTED.match(verbal):
        return Refusal("inverted_question")
    shown = SHOWN.match(verbal)
    if shown and not noun:
        return (
            Written(f"{shown['subject']} {shown['be']} {shown['verb']} {lowered(option)}", "object")
            if option_kind(option) == "noun"
            else Refusal("option_does_not_fit")
        )
    verbal = re.sub(r"\bNOT\b", "not", re.sub(r"\bLEAST\b", "least", re.sub(r"\bMOST\b", "most", verbal)))
    inverted = _inverted(verbal)
    if inverted is not None:
        return _object(inverted, option)
    if not noun:
        copula = COPULA.match(verbal)
        if copula and DEFINITE.match(copula["rest"]) and not SUPERLATIVE.match(copula["rest"]):
            return _copula(copula["be"], copula["rest"], option)
    return _subject(noun, verbal, option, "following" not in opening[1].lower())


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
        if word.endswith("ed") and place + 1 < len(tokens) and tokens[place + 1].lower() in words("determiner"):
            if not any(finite(other.lower()) for other in tokens):
                while place > 0 and tokens[place - 1].lower() in words("adverb"):
                    place -= 1
                return place
    return _ambiguous_verb(tokens)


def _ambiguous_verb(tokens: list[str]) -> int | None:
    """Return the place of the one word that is a verb's third person or a plural noun, where no other verb is."""
    low = [token.lower() for token in tokens]
    found = [
        place
        for place, word in enumerate(low[:-1])
        if place and word in NOUN_VERBS and low[place - 1] not in words("preposition") | words("determiner")
    ]
    if len(found) != 1 or low[found[0] + 1] in words("preposition") | {"and", "or"}:
        return None
    return found[0]


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


def _subject(noun: list[str], verbal: str, option: str, singular: bool) -> Written | Refusal:
    kind = option_kind(option)
    verbal = LACKS_ARTICLE.sub(r"\g<be> the ", verbal)
    head = head_of(" ".join(noun))
    behind = noun[len(head) :]
    last = head[-1] if head else ""
    if FALSE.search(verbal) or FALSE.search(" ".join(noun)):
        return Refusal("asks_for_the_false")
    if TRUE.match(verbal) or last in words("statement_noun"):
        return _true(behind, verbal, option)
    described = last in words("content_noun") or kind != "noun" or (bool(noun) and adjectival(option))
    if kind == "adverbial" or re.match(r"(?:no|none|nothing)\b", option, re.IGNORECASE) or (noun and bare(option)):
        return Refusal("option_does_not_fit")
    if described:
        return _listed(noun, head, verbal, option)
    agreed = _agreed(verbal, is_plural(option))
    if agreed is None:
        return Refusal("number_unsure")
    if behind and not singular and last not in words("kind_noun"):
        return Written(f"among {' '.join(noun)}, {lowered(option)} {agreed}", "subject_among")
    if behind and behind[0] != "of":
        return Refusal("noun_phrase_unsure")
    return Written(f"{lowered(option)} {agreed}", "subject")


def _true(behind: list[str], verbal: str, option: str) -> Written | Refusal:
    """Word what asks for a true statement: the option follows a colon, whatever it is."""
    if re.search(r"\b(?:not|least|except)\b", verbal, re.IGNORECASE) or "that" in behind:
        return Refusal("asks_for_the_false")
    if behind and behind[0].lower() not in ABOUT:
        return Refusal("noun_phrase_unsure")
    verbal = re.sub(r"^are\b", "is", verbal)
    return Written(f"the following {verbal} {' '.join(behind)}: {option}", "statement")


def _listed(noun: list[str], head: list[str], verbal: str, option: str) -> Written | Refusal:
    """Word what the option describes rather than names: it follows a colon."""
    agreed = _agreed(verbal, False)
    if agreed is None:
        return Refusal("number_unsure")
    what = " ".join([*noun[: len(head) - 1], one_of(noun[len(head) - 1]), *noun[len(head) :], ""]) if head else ""
    if what.split()[:1] in (["options"], ["option"]):
        what = ""
    return Written(f"the following {what}{agreed}: {option}", "subject_list")


def one_of(noun: str) -> str:
    """Return a regular plural's singular; other words stay.

    >>> one_of("properties"), one_of("diagnoses"), one_of("changes"), one_of("process")
    ('property', 'diagnosis', 'change', 'process')
    """
    low = noun.lower()
    if low in words("singular") or low.endswith(("ss", "is", "us")) or not low.endswith("s"):
        return noun
    if low.endswith("ies") and low != "species":
        return noun[:-3] + "y"
    if low.endswith(("noses", "bases", "ypotheses", "crises", "theses")):
        return noun[:-2] + "is"
    return noun[:-2] if low.endswith(("sses", "xes", "ches", "shes")) else noun[:-1]


def adjectival(option: str) -> bool:
    """Tell whether an option lacks its noun (``Left middle cerebral``)."""
    last = option.lower().split()[-1]
    return last not in words("noun_in_al") and last.endswith(
        ("al", "ar", "ous", "ic", "main", "ary", "dominant", "recessive")
    )


def bare(option: str) -> bool:
    """Tell whether an option is a numeral or a letter, which needs the question's noun to mean anything."""
    return re.fullmatch(r"[\d.,]+|[A-Za-z]|[IVX]+", option) is not None


def _agreed(verbal: str, plural: bool) -> str | None:
    """Return a verb phrase with its finite verb in a number; None where it is not found or a noun would not fit."""
    tokens = verbal.split()
    for place, token in enumerate(tokens):
        if token.lower() in words("adverb"):
            continue
        changed = token if token.endswith("ed") else agree(token, plural)
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
    if re.match(r"(?:no|none|nothing)\b", option, re.IGNORECASE) or (noun and bare(option)):
        return Refusal("option_does_not_fit")
    head = head_of(" ".join(noun))
    last = head[-1] if head else ""
    if before[-1].lower() in {"following", "the", "and", "or"}:
        return Refusal("unknown_shape")
    if kind == "noun" and last not in words("content_noun") | words("kind_noun") and not (noun and adjectival(option)):
        return Written(f"{left} {lowered(option)} {rest}", "in_place")
    if kind in {"noun", "clause"} and not _clause_follows(rest):
        what = [*noun[: len(head) - 1], one_of(noun[len(head) - 1]), *noun[len(head) :]] if head else []
        middle = " ".join(["the following", *what, rest])
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
