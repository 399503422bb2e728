"""Questions whose question word stands inside: ``X is most likely to show which of the following findings?``"""

from __future__ import annotations

import re
from dataclasses import dataclass

from builders.medhal.question_tables import words
from builders.medhal.rules.question_option import Option, listed
from builders.medhal.rules.question_which import inverted, one_kind
from builders.medhal.rules.question_words import AUXILIARIES, finite, head_of
from builders.medhal.writers import Written
from builders.texts.origin import Refusal

__all__ = ["in_place"]

WHICH_OF = re.compile(r"\bwhich of the following\b", re.IGNORECASE)
WHICH = re.compile(r"\b(?:which|what)\b")


@dataclass(frozen=True, slots=True)
class _Asked:
    """What stands before the question word, its noun phrase, and what follows that."""

    left: str
    noun: list[str]
    rest: str

    @property
    def clause(self) -> bool:
        """A verb follows: the question word is, or belongs to, a subject."""
        tokens = self.rest.lower().split()
        return bool(tokens) and any(finite(word) for word in tokens[:3]) and tokens[0] not in words("relative")


def in_place(asked: str, option: Option) -> Written | Refusal:
    """Turn such a question into a sentence without its capital and full stop: the option takes the word's place."""
    found = WHICH_OF.search(asked) or WHICH.search(asked)
    if found is None:
        return Refusal("unknown_shape")
    right = asked[found.end() :].split()
    cut = _noun_end(right)
    read = _Asked(asked[: found.start()].strip(), right[:cut], " ".join(right[cut:]))
    refused = _no_statement(read, WHICH_OF.match(found[0]) is not None)
    if refused is not None:
        return refused
    if option.says_none or (read.noun and option.bare):
        return Refusal("option_does_not_fit")
    return _filled(read, option)


def _noun_end(tokens: list[str]) -> int:
    """Return where the noun phrase of the question word ends: before a verb, a preposition other than of, a comma."""
    for place, token in enumerate(tokens):
        word = token.lower()
        closes = word in words("adverb", "relative") or (word in words("preposition") and word != "of")
        if finite(word) or closes:
            return place
        if token.endswith(","):
            return place + 1
    return len(tokens)


def _no_statement(asked: _Asked, full: bool) -> Refusal | None:
    """Refuse what would still be a question with an option in the word's place."""
    before = asked.left.lower().split()
    if not before or before[0] in AUXILIARIES or (len(before) < 3 and before[0] in words("preposition")):
        return Refusal("inverted_question")
    if asked.clause and (before[-1] not in words("preposition") or inverted(asked.rest) is not None):
        return Refusal("inverted_question")
    if before[-1] in {"following", "the", "and", "or"} or (asked.rest and not full):
        return Refusal("unknown_shape")
    return None


def _filled(asked: _Asked, option: Option) -> Written | Refusal:
    head = asked.noun[: len(head_of(" ".join(asked.noun)))]
    last = head[-1].lower() if head else ""
    named = last not in words("content_noun", "kind_noun") and not (head and option.lacks_noun)
    if option.kind == "noun" and named:
        return Written(f"{asked.left} {option.inside} {asked.rest}", "in_place")
    said = listed(option, of_one=bool(head))
    if said is not None and not asked.clause:
        what = one_kind(head, asked.noun[len(head) :])
        return Written(f"{asked.left} the following {what} {asked.rest}: {said}", "in_place_list")
    return Refusal("option_does_not_fit")
