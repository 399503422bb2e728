"""Words and word forms by which questions become statements: capitals, number, verb forms, kinds of options."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Literal

from ontoground.tables import read_table

__all__ = [
    "AUXILIARIES",
    "OptionKind",
    "agree",
    "capital",
    "finite",
    "is_plural",
    "lowered",
    "option_kind",
    "sentence",
    "third_person",
    "words",
]

OptionKind = Literal["noun", "verb", "clause", "adverbial"]
"""What an option is: a noun phrase, an imperative, a sentence or predicate, or what only a verb can take."""

BE = {"is": "are", "was": "were", "has": "have", "does": "do", "isn't": "aren't"}
PLURAL_BE = {many: one for one, many in BE.items()}
MODALS = {"will", "would", "can", "could", "should", "may", "might", "must", "cannot", "did", "had"}
AUXILIARIES = frozenset({*BE, *PLURAL_BE, *MODALS})
PRONOUNS = {"it", "they", "he", "she", "i", "you", "we", "there", "this", "these"}
RELATIVES = {
    "that",
    "which",
    "who",
    "whom",
    "whose",
    "where",
    "when",
    "what",
    "how",
    "if",
    "whether",
    "because",
    "while",
}
MAYBE_NOUNS = {
    "recall",
    "lower",
    "match",
    "live",
    "fit",
    "stay",
    "hold",
    "mean",
    "aid",
    "trap",
    "release",
    "spare",
    "stop",
    "prime",
}
UNSURE = {"change", "increase", "decrease", "order", "transfer", "drain", "control", "close", "trial"}
LISTED = re.compile(r"[:;=<>\u2190-\u21ff]|--|\. [A-Z]|\|")
"""Marks of an option that is a list or a formula and no phrase."""
HEAD_END = re.compile(r"[,;:(]|\s-\s")


@cache
def _table() -> dict[str, frozenset[str]]:
    rows = read_table(Path(__file__).parents[2] / "data" / "question_words.tsv", ("kind", "word", "source"))
    found: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        found[row["kind"]].add(row["word"] if row["kind"] == "name" else row["word"].lower())
    return {kind: frozenset(known) for kind, known in found.items()}


def words(kind: str) -> frozenset[str]:
    """Return the words of a kind (``builders/data/question_words.tsv``); KeyError for a kind that is none."""
    return _table()[kind]


@cache
def _endings() -> tuple[str, ...]:
    return tuple(words("ending"))


@cache
def _closed() -> frozenset[str]:
    """Return words that begin no noun phrase."""
    closed = words("preposition") | words("relative") | {"due", "caused", "to", "not", "never", "only"}
    return closed - {"using", "following", "including", "regarding", "concerning", "post", "per"}


@cache
def _described() -> frozenset[str]:
    """Return adjectives and participles that no noun phrase begins with where a preposition follows."""
    return (words("participle") | words("adjective")) - {"increased", "decreased", "greater", "lower"}


@cache
def _verbs_only() -> frozenset[str]:
    return words("verb") - words("verb_or_noun") - MAYBE_NOUNS


def third_person(verb: str) -> str:
    """Return a verb's form after he, she, it: ``carries`` for ``carry``.

    >>> third_person("suffer"), third_person("comply"), third_person("stay"), third_person("have")
    ('suffers', 'complies', 'stays', 'has')
    """
    special = {"have": "has", "be": "is", "do": "does", "go": "goes"}
    if verb in special:
        return special[verb]
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")


@cache
def _verb_forms() -> dict[str, str]:
    """Return base forms by third person, of verbs that are no nouns."""
    return {third_person(verb): verb for verb in words("verb") - words("verb_or_noun") - {"lie", "function", "need"}}


@cache
def _all_forms() -> dict[str, str]:
    return {third_person(verb): verb for verb in words("verb") | words("verb_or_noun")}


def finite(word: str) -> bool:
    """Tell whether a word is surely a finite verb: an auxiliary or the third person of a verb that is no noun."""
    return word in AUXILIARIES or word in _verb_forms()


def agree(verb: str, plural: bool) -> str | None:
    """Return a finite verb in the number that is asked; None where its forms are not known.

    >>> agree("explains", True), agree("are", False), agree("would", True), agree("shown", True)
    ('explain', 'is', 'would', None)
    """
    low = verb.lower()
    if low in MODALS:
        return low
    if plural:
        if low in BE:
            return BE[low]
        if low in PLURAL_BE:
            return low
        return _all_forms().get(low, low if low in words("verb") else None)
    if low in PLURAL_BE:
        return PLURAL_BE[low]
    if low in BE or low in _all_forms():
        return low
    return third_person(low) if low in words("verb") else None


def lowered(option: str) -> str:
    """Return an option as it stands inside a sentence: without its capital where the first word is surely no name.

    >>> lowered("Acute appendicitis"), lowered("Kawasaki disease"), lowered("CT scan"), lowered("Cushing disease")
    ('acute appendicitis', 'Kawasaki disease', 'CT scan', 'Cushing disease')
    """
    first = re.match(r"[A-Za-z][\w'-]*", option)
    if first is None:
        return option
    word = first.group()
    low, stem = word.lower(), re.split(r"['-]", word)[0]
    if word[1:] != low[1:] or word == "I" or (len(stem) == 1 and word != "A"):
        return option
    if word == "A" and not re.match(r"A [a-z]", option):
        return option
    if word in words("name") or stem in words("name"):
        return option
    if re.match(r"[A-Za-z][a-z'-]+ [A-Z][a-z]+\b", option):
        return option
    plain_word = low in words("common") or low in words("action_verb") or low in words("action_or_noun")
    plain_word = plain_word or (low.split("-")[0] in words("common") and "-" in low)
    plain_word = plain_word or (len(low) >= 5 and not low.endswith("'s") and low.endswith(_endings()))
    return option[0].lower() + option[1:] if plain_word else option


def capital(text: str) -> str:
    """Return a text with a capital first letter; words that carry a capital inside (mRNA, pH) stay."""
    first = re.match(r"[\w-]*", text)
    if first and any(letter.isupper() for letter in first.group()[1:]):
        return text
    return text[:1].upper() + text[1:] if text[:1].isascii() else text


def sentence(text: str) -> str:
    """Return a text as one sentence: single blanks, a capital, one full stop."""
    text = " ".join(text.split())
    text = re.sub(r"\s+([,.;:])", r"\1", text).rstrip(" .")
    return capital(text) + ("" if text.endswith(('."', '!"', '?"')) else ".")


def head_of(phrase: str) -> list[str]:
    """Return the words of a noun phrase up to its head: before a preposition, a clause or a comma."""
    found: list[str] = []
    for word in HEAD_END.split(phrase)[0].lower().split():
        if found and (word in words("preposition") or word in words("relative")):
            break
        found.append(word)
    return found


def is_plural(phrase: str) -> bool:
    """Tell the number of a noun phrase by its head.

    >>> is_plural("Inhibitors of DNA gyrase"), is_plural("Pseudomonas aeruginosa"), is_plural("Aspirin and clopidogrel")
    (True, False, True)
    """
    found = head_of(phrase)
    if not found:
        return False
    if "and" in found[1:] or re.match(r"[^,]+,(?: [^,]+,)* and \w", phrase):
        return True
    if found[0].endswith("ing") and len(found[0]) > 5 and len(found) > 1:
        return False
    original = phrase.split()[len(found) - 1].strip(",;:")
    last = found[-1].strip(".,;:)")
    if last in words("plural"):
        return True
    if last in words("singular") or last.endswith(("ss", "us", "is", "'s")) or original.isupper():
        return False
    return last.endswith(("s", "ae"))


def option_kind(option: str) -> OptionKind:
    """Tell what an option is.

    >>> [option_kind(text) for text in ("Administer epinephrine", "It binds iron", "Inhibits lipase", "By hydrolysis")]
    ['verb', 'clause', 'clause', 'adverbial']
    """
    tokens = re.findall(r"[\w'-]+|[^\w\s]", option.lower())
    if not tokens:
        return "adverbial"
    first, second = tokens[0], tokens[1] if len(tokens) > 1 else ""
    if option.startswith('"') or LISTED.search(option) or (", " in option and not {"and", "or"} & set(tokens)):
        return "clause"
    if second in words("preposition") and (first in _described() or first.endswith(("able", "ible"))):
        return "clause"
    if first in {"currently", "commonly", "usually", "typically", "mainly", "always", "often"}:
        return "clause"
    if first in PRONOUNS and second not in {"patient's", "medication"} and len(tokens) > 2:
        return "clause"
    if first in _closed():
        return "adverbial"
    if first in words("action_or_noun") - {"repeat", "support", "place", "test", "screen", "rest"} and _unsure(tokens):
        return "adverbial"
    if _imperative(first, second):
        return "verb"
    if first in _all_forms() and second not in {"of", "in", "for", "and", ","} and len(tokens) > 1:
        return "clause"
    if first in _verbs_only() and len(tokens) > 1:
        return "clause"
    for place, token in enumerate(tokens[1:], 1):
        if (
            (finite(token) or _verb_here(tokens, place))
            and not RELATIVES & set(tokens[max(0, place - 4) : place])
            and token != "does"
        ):
            return "clause"
    return "noun"


def _verb_here(tokens: list[str], place: int) -> bool:
    """Tell whether a word that may be a plural noun is a verb: a noun phrase follows it."""
    after = tokens[place + 1] if place + 1 < len(tokens) else ""
    ends = words("preposition") | words("relative") | {"and", "or", "to"}
    return (
        tokens[place] in _all_forms()
        and after[:1].isalpha()
        and after not in ends
        and not after.endswith(("ed", "ing"))
    )


def _unsure(tokens: list[str]) -> bool:
    """Tell whether a word that begins an option may be an imperative or a noun (``increase PEEP``)."""
    if tokens[0] == "treat":
        return False
    second = tokens[1] if len(tokens) > 1 else ""
    if _imperative(tokens[0], second):
        return False
    return tokens[0] in UNSURE and second not in words("preposition") | {"", "and"}


def _imperative(first: str, second: str) -> bool:
    if first in {"do", "don't"}:
        return False
    if first == "treat":
        return True
    if first in words("action_or_noun"):
        return second in words("determiner") or second in {"to", "him"}
    if first in {"test", "place", "order", "screen", "trial"}:
        return second in words("determiner") or second == "for"
    return first in words("action_verb")
