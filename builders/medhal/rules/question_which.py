"""Questions that begin with ``which of the following``, ``which`` or ``what``: subject, predicate or object."""

from __future__ import annotations

import re
from dataclasses import dataclass

from builders.medhal.question_tables import has, pattern, words
from builders.medhal.rules.question_option import Option, listed
from builders.medhal.rules.question_words import AUXILIARIES, agree, finite, head_of, one_of
from builders.medhal.writers import Written
from builders.texts.origin import Refusal

__all__ = ["inverted", "one_kind", "which_of"]

OPENING = re.compile(r"^(which of the following|which|what)\b\s*", re.IGNORECASE)
SHOUTED = re.compile(r"\b(?:NOT|LEAST|MOST)\b")
ABOUT = {"about", "regarding", "concerning", "on", "of"}
NOUN_VERBS = {
    "causes",
    "increases",
    "decreases",
    "influences",
    "supports",
    "covers",
    "controls",
    "results",
    "addresses",
    "associates",
}


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question that was taken apart.

    Attributes:
        head: the noun of the question word with what stands before it (``additional findings``); empty for none.
        behind: what follows that noun (``on physical examination``).
        verbal: from the verb on, with adverbs before it.
        singular: the question word is ``which`` or ``what`` alone.
    """

    head: list[str]
    behind: list[str]
    verbal: str
    singular: bool

    @property
    def noun(self) -> str:
        return self.head[-1].lower() if self.head else ""


def which_of(asked: str, option: Option) -> Written | Refusal:
    """Turn a question that begins with its question word into a sentence without its capital and full stop."""
    read = _read(asked)
    if isinstance(read, Refusal):
        return read
    for shape in (_shown, _object, _copula, _true, _unfit, _listed, _subject):
        made = shape(read, option)
        if made is not None:
            return made
    return Refusal("unknown_shape")


def _read(asked: str) -> _Asked | Refusal:
    opening = OPENING.match(asked)
    tokens = asked[opening.end() :].split() if opening else []
    cut = _verb_at(tokens)
    if opening is None or cut is None:
        return Refusal("no_verb_found")
    noun, verbal = tokens[:cut], SHOUTED.sub(lambda found: found[0].lower(), " ".join(tokens[cut:]))
    if words("relative") & {word.lower().strip(",") for word in noun} or any(word.endswith(",") for word in noun):
        return Refusal("noun_phrase_unsure")
    if has("false", asked):
        return Refusal("asks_for_the_false")
    head = noun[: len(head_of(" ".join(noun)))]
    read = _Asked(head, noun[len(head) :], verbal, "following" not in opening[1].lower())
    if opening[1].lower() == "what" and not noun and not pattern("copula").match(verbal):
        return Refusal("unknown_shape")
    return Refusal("inverted_question") if pattern("front_inverted").match(verbal) else read


def _verb_at(tokens: list[str]) -> int | None:
    """Return where the verb (with adverbs before it) begins."""
    low = [token.lower() for token in tokens]
    place = next((at for at, word in enumerate(low) if finite(word)), None)
    if place is None:
        place = _past(low)
    if place is None:
        return _ambiguous_verb(low)
    while place > 0 and low[place - 1] in words("adverb"):
        place -= 1
    return place


def _past(low: list[str]) -> int | None:
    """Return the place of a past tense, which an article shows to be no participle."""
    ends = (at for at, word in enumerate(low[:-1]) if word.endswith("ed") and low[at + 1] in words("determiner"))
    return next(ends, None)


def _ambiguous_verb(low: list[str]) -> int | None:
    """Return the place of the one word that is a verb's third person or a plural noun, where no other verb is."""
    before = words("preposition", "determiner")
    found = [at for at, word in enumerate(low[:-1]) if word in NOUN_VERBS and not (at and low[at - 1] in before)]
    if len(found) != 1 or low[found[0] + 1] in words("preposition") | {"and", "or"}:
        return None
    return found[0]


def _shown(asked: _Asked, option: Option) -> Written | Refusal | None:
    """``What is a chest X-ray likely to show?``"""
    found = pattern("shown").match(asked.verbal)
    if found is None or asked.head:
        return None
    if option.kind != "noun":
        return Refusal("option_does_not_fit")
    return Written(f"{found['subject']} {found['be']} {found['verb']} {option.inside}", "object")


def inverted(verbal: str) -> tuple[str, str, str] | None:
    """Return subject, auxiliary and rest where the subject stands behind its auxiliary (``would you expect``)."""
    tokens = verbal.split()
    if tokens[0].lower() not in AUXILIARIES:
        return None
    for size in (3, 2, 1):
        subject = " ".join(tokens[1 : 1 + size])
        if subject.lower() in words("subject") and len(tokens) > 1 + size:
            return subject, tokens[0].lower(), " ".join(tokens[1 + size :])
    return None


def _object(asked: _Asked, option: Option) -> Written | Refusal | None:
    """``Which of the following would you expect to see in this patient?``"""
    parts = inverted(asked.verbal)
    if parts is None:
        return None
    subject, auxiliary, rest = parts
    expects, takes = pattern("expects").match(rest), pattern("takes_object").match(rest)
    if auxiliary in {"do", "does", "did"} or option.kind != "noun":
        return Refusal("inverted_question")
    if expects:
        filled = f"{expects['verb']} {option.inside} {expects['rest']}"
    elif rest.split()[-1] in words("stranded"):
        filled = f"{rest} {option.inside}"
    elif takes and takes["rest"].split()[-1] not in words("preposition"):
        filled = f"{takes['verb']} {option.inside}{takes['rest']}"
    else:
        return Refusal("inverted_question")
    return Written(f"{subject} {auxiliary} {filled}", "object")


def _copula(asked: _Asked, option: Option) -> Written | Refusal | None:
    """``Which of the following is the most likely diagnosis?``"""
    found = pattern("copula").match(asked.verbal)
    definite = found is not None and pattern("definite").match(found["rest"]) is not None
    if found is None or asked.head or not definite or pattern("superlative").match(found["rest"]):
        return None
    be, rest = found["be"], found["rest"]
    stranded = rest.rsplit(maxsplit=1)[-1].lower() in words("preposition")
    if option.kind == "noun" and not stranded:
        return Written(f"{rest} {be} {option.inside}", "copula")
    if option.kind == "verb" and set(head_of(rest)) & words("action_head"):
        return Written(f"{rest} {be} to {option.inside}", "copula_to")
    said = None if option.kind == "noun" else listed(option)
    if said is not None and be in {"is", "are", "was", "were"}:
        return Written(f"{rest} {be} as follows: {said}", "copula_list")
    return Refusal("option_does_not_fit")


def _true(asked: _Asked, option: Option) -> Written | Refusal | None:
    """``Which of the following statements about X is true?`` The option follows a colon, whatever it is."""
    if not pattern("true").match(asked.verbal) and asked.noun not in words("statement_noun"):
        return None
    if re.search(r"\b(?:not|least|except)\b", asked.verbal, re.IGNORECASE):
        return Refusal("asks_for_the_false")
    if asked.behind and asked.behind[0].lower() not in ABOUT:
        return Refusal("noun_phrase_unsure")
    # An answer to "which statements" is a sentence, also where its verb is not known.
    said = None if option.kind == "noun" and asked.noun not in words("statement_noun") else listed(option)
    if said is None:
        return Refusal("option_does_not_fit")
    verbal = re.sub(r"^are\b", "is", asked.verbal)
    return Written(f"the following {verbal} {' '.join(asked.behind)}: {said}", "statement")


def _unfit(asked: _Asked, option: Option) -> Refusal | None:
    """Refuse an option that cannot be a subject."""
    if option.kind == "adverbial" or option.says_none or (asked.head and option.bare):
        return Refusal("option_does_not_fit")
    return None


def one_kind(head: list[str], behind: list[str]) -> str:
    """Return a noun phrase in the singular: ``adverse effect on the heart``."""
    return " ".join([*head[:-1], one_of(head[-1]), *behind]) if head else ""


def _listed(asked: _Asked, option: Option) -> Written | Refusal | None:
    """``Which of the following best explains X?`` with what describes rather than names: it follows a colon."""
    described = asked.noun in words("content_noun") or (asked.head and option.lacks_noun)
    if option.kind == "noun" and not described:
        return None
    agreed = _agreed(asked.verbal, False)
    acts = one_of(asked.noun) in words("action_head") or "should" in asked.verbal.split()
    said = listed(option, acts, bool(asked.head))
    if agreed is None or said is None:
        return Refusal("number_unsure" if agreed is None else "option_does_not_fit")
    return Written(f"the following {one_kind(asked.head, asked.behind)} {agreed}: {said}", "subject_list")


def _subject(asked: _Asked, option: Option) -> Written | Refusal:
    """``Which of the following drugs would prevent X?``"""
    agreed = _agreed(asked.verbal, option.plural)
    if agreed is None:
        return Refusal("number_unsure")
    if asked.behind and not asked.singular and asked.noun not in words("kind_noun"):
        among = " ".join([*asked.head, *asked.behind])
        return Written(f"among {among}, {option.inside} {agreed}", "subject_among")
    if asked.behind and asked.behind[0] != "of":
        return Refusal("noun_phrase_unsure")
    return Written(f"{option.inside} {agreed}", "subject")


def _agreed(verbal: str, plural: bool) -> str | None:
    """Return a verb phrase with its finite verb in a number; None where it is not found or a noun would not fit."""
    tokens = pattern("lacks_article").sub(r"\g<be> the ", verbal).split()
    place = next((at for at, token in enumerate(tokens) if token.lower() not in words("adverb")), None)
    if place is None:
        return None
    verb, after = tokens[place], tokens[place + 1 :]
    changed = verb if verb.endswith("ed") else agree(verb, plural)
    if changed is None or (verb.lower() in {"are", "were"} and not plural and _noun_follows(after)):
        return None
    return " ".join([*tokens[:place], changed, *after])


def _noun_follows(tokens: list[str]) -> bool:
    """Tell whether a plural noun may follow ``are``, which would not fit one option."""
    rest = [token.lower() for token in tokens if token.lower() not in words("adverb")]
    return not rest or (rest[0] not in words("participle", "adjective", "preposition") and rest[0] not in {"to", "not"})
