"""What an option is: it decides the template of its statement."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from builders.medhal.question_tables import has, pattern, words
from builders.medhal.rules.question_words import (
    AUXILIARIES,
    articled,
    counted,
    finite,
    is_plural,
    lowered,
    third_persons,
)

__all__ = ["Option", "OptionKind", "is_uneven", "listed", "option_kind", "read_option"]

OptionKind = Literal["noun", "verb", "predicate", "clause", "adverbial"]
"""A noun phrase, an imperative, a sentence without its subject, what follows a colon (a sentence, a list), or what only
a verb takes."""

PRONOUNS = {"it", "they", "he", "she", "i", "you", "we", "there", "this", "these"}
WITH_PRONOUN = {"patient's", "medication"}
MAYBE_NOUNS = {"match", "live", "fit", "stay", "hold", "mean", "aid", "release", "spare", "stop"}
NO_PHRASE = {"due", "caused", "to", "not", "never", "only"}
GERUNDS = {"using", "following", "including", "regarding", "concerning", "post", "per"}
ADVERBS = {"currently", "commonly", "usually", "typically", "mainly", "always", "often"}
UNSURE = {"change", "increase", "decrease", "order", "transfer", "drain", "control", "close"}
WITH_ARTICLE = {"test", "place", "order", "screen"}
LACKING = ("al", "ar", "ous", "ic", "main", "ary", "dominant", "recessive")
SERIES = re.compile(r", (?:and |then |or )?")
TOKEN = re.compile(r"[\w'-]+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Option:
    """An option as it was read.

    Attributes:
        text: as it stands behind a colon: what is no sentence without its capital.
        inside: as it stands inside a sentence.
        lacks_noun: it ends with an adjective (``Left middle cerebral``): the question's noun belongs to it.
        bare: a numeral or a letter, which means nothing without the question's noun.
        says_none: ``No further testing``: it is none of what is asked for.
    """

    text: str
    inside: str
    kind: OptionKind
    plural: bool
    lacks_noun: bool
    bare: bool
    says_none: bool


def read_option(text: str) -> Option:
    """Read an option that is one phrase or sentence."""
    last, kind = text.lower().split()[-1], option_kind(text)
    return Option(
        text=lowered(text) if kind == "noun" or (kind == "clause" and not _is_sentence(text)) else text,
        inside=_inside(text, kind),
        kind=kind,
        plural=is_plural(text),
        lacks_noun=last not in words("noun_in_al") and last.endswith(LACKING),
        bare=has("needs_its_noun", text),
        says_none=has("says_none", text),
    )


def _inside(text: str, kind: OptionKind) -> str:
    """Return an option as it stands inside a sentence: what is one thing has its article, the object of a verb too."""
    text = pattern("imaged").sub(r"\g<how> of the \g<part>", text)
    if kind != "verb":
        return (counted if kind == "noun" else str)(articled(lowered(text)))
    verb, _, rest = text.partition(" ")
    taken = rest.split(maxsplit=1)[:1]
    bare = not taken or taken[0].lower() in words("preposition", "adverb") | {"and", "or"}
    return f"{verb[0].lower()}{verb[1:]} {rest if bare else counted(rest)}".rstrip()


def option_kind(option: str) -> OptionKind:
    """Tell what an option is.

    >>> [option_kind(text) for text in ("Administer epinephrine", "It binds iron", "Inhibits lipase", "By hydrolysis")]
    ['verb', 'clause', 'predicate', 'adverbial']
    """
    tokens = TOKEN.findall(option.lower())
    if not tokens:
        return "adverbial"
    first, second = tokens[0], tokens[1] if len(tokens) > 1 else ""
    if _described_only(first, second) or first in AUXILIARIES:
        return "predicate"
    if _list_or_quotation(option, tokens) or (first in PRONOUNS and second not in WITH_PRONOUN and len(tokens) > 2):
        return "clause"
    if first in _no_noun_begins_with() or _imperative_or_noun(first, second):
        return "adverbial"
    if _imperative(first, second):
        return "verb"
    stated: OptionKind = "clause" if _holds_a_verb(tokens) else "noun"
    return "predicate" if _begins_with_a_verb(first, second) else stated


def listed(option: Option, acts: bool = False, of_one: bool = True) -> str | None:
    """Return an option as it stands behind a colon; None for what is neither named nor said there.

    A sentence without its subject gets "it" where one thing was named, as its verb says. An imperative is only what is
    to be done.

    >>> [listed(read_option(text)) for text in ("Binds iron", "Dry cough", "Bind iron", "Seen in men")]
    ['it binds iron', 'dry cough', None, None]
    >>> [listed(read_option(text)) for text in ("Round, red cells", "Round, red cells are seen")]
    ['round, red cells', 'Round, red cells are seen']
    """
    first, _, rest = option.text.partition(" ")
    if option.kind == "predicate":
        one = first.lower() in AUXILIARIES - {"are", "were", "have", "do"} or first.lower() in third_persons()
        return f"it {first.lower()} {rest}" if one and of_one else None
    if option.kind == "noun":
        return option.inside if option.text[0].islower() else option.text
    return option.text if option.kind == "clause" or (option.kind == "verb" and acts) else None


def _list_or_quotation(option: str, tokens: list[str]) -> bool:
    if option.startswith('"') or has("listed", option) or tokens[-2:-1] == ["not"]:
        return True
    return ", " in option and not {"and", "or"} & set(tokens)


def _is_sentence(option: str) -> bool:
    tokens = TOKEN.findall(option.lower())
    return tokens[0] in PRONOUNS or ". " in option or _holds_a_verb(tokens)


def is_uneven(option: str) -> bool:
    """Tell whether an option joins imperatives by commas alone, or an imperative to a list of what is no imperative.

    >>> [is_uneven(one) for one in ("Give zinc, iron, and obtain it", "Give zinc, obtain titers", "Give zinc, iron")]
    [True, True, False]
    """
    parts = SERIES.split(option)
    acts = [part.split()[0].lower() in words("action_verb") for part in parts if part.split()]
    return len(acts) > 1 and acts[0] and acts[-1] and not (all(acts) and re.search(r", (?:and|then|or) ", option))


def _described_only(first: str, second: str) -> bool:
    """Tell whether an option says how something is or what happens to it: no noun follows its first word."""
    described = first in _described() or first.endswith(("able", "ible", "ised", "ized", "ured"))
    return first in ADVERBS or (described and second in words("preposition"))


@cache
def _no_noun_begins_with() -> frozenset[str]:
    return (words("preposition", "relative") | NO_PHRASE) - GERUNDS


@cache
def _described() -> frozenset[str]:
    """Return adjectives and participles that begin no noun phrase where a preposition follows them."""
    return words("participle", "adjective") - {"increased", "decreased", "greater", "lower"}


@cache
def _verbs_only() -> frozenset[str]:
    return words("verb") - words("verb_or_noun") - MAYBE_NOUNS


def _begins_with_a_verb(first: str, second: str) -> bool:
    if not second:
        return False
    return first in _verbs_only() or (first in third_persons() and second not in {"of", "in", "for", "and", ","})


def _holds_a_verb(tokens: list[str]) -> bool:
    """Tell whether a finite verb stands in an option, outside of relative clauses."""
    verbs = [at for at, token in enumerate(tokens) if at and (finite(token) or _verb_here(tokens, at))]
    return any(not words("relative") & set(tokens[max(0, at - 4) : at]) for at in verbs if tokens[at] != "does")


def _verb_here(tokens: list[str], place: int) -> bool:
    """Tell whether a word that may be a plural noun is a verb (a noun phrase follows it), or is an imperative."""
    if tokens[place - 1] in {"and", "then"} and tokens[place] in _verbs_only():
        return True
    after = tokens[place + 1] if place + 1 < len(tokens) else ""
    ends = after in words("preposition", "relative") or after in {"and", "or", "to"} or after.endswith(("ed", "ing"))
    return tokens[place] in third_persons() and after[:1].isalpha() and not ends


def _imperative_or_noun(first: str, second: str) -> bool:
    """Tell whether a word that begins an option may be either (``Increase PEEP``)."""
    if first not in UNSURE or _imperative(first, second):
        return False
    return second not in words("preposition") and second not in {"", "and"}


def _imperative(first: str, second: str) -> bool:
    if first == "treat":
        return True
    if first in words("action_or_noun"):
        return second in words("determiner") or second in {"to", "him"}
    if first in WITH_ARTICLE:
        return second in words("determiner") or second == "for"
    return first in words("action_verb") - {"do", "don't"}
