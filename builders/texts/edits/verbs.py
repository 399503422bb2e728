"""Verbs and nouns of the tables as patterns: what may be denied, and how."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from builders.texts.edits.model import like
from builders.texts.edits.tables import alternatives, read_edit_table

__all__ = ["Noun", "Verb", "deniable_forms", "denial", "finite_verb", "forms_of", "nouns", "verb_after_and", "verbs"]

VERB_COLUMNS = ("base", "third", "past", "participle", "uses", "source")
NOUN_COLUMNS = ("noun", "article", "plural", "source")
AUXILIARIES = "is|are|was|were|has|have|had|can|may|will"


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb's forms, and in which edits it takes part (see ``edit_verbs.tsv``)."""

    base: str
    third: str
    past: str
    uses: frozenset[str]


@dataclass(frozen=True, slots=True)
class Noun:
    """A noun that "no" may stand before; ``article`` tells whether "a" takes the place of "no"."""

    article: bool


@cache
def verbs() -> dict[str, Verb]:
    """Return the verbs by their base forms."""
    rows = read_edit_table("edit_verbs", VERB_COLUMNS)
    return {
        row["base"]: Verb(row["base"], row["third"], row["past"], frozenset(row["uses"].split(","))) for row in rows
    }


@cache
def nouns() -> dict[str, Noun]:
    """Return the nouns, singular and plural."""
    found: dict[str, Noun] = {}
    for row in read_edit_table("edit_nouns", NOUN_COLUMNS):
        found[row["noun"]] = Noun(bool(row["article"]))
        if row["plural"]:
            found[row["plural"]] = Noun(False)
    return found


def forms_of(use: str, *forms: str) -> str:
    """Return a pattern for the forms (``base``, ``third``, ``past``) of the verbs of one use."""
    return alternatives(getattr(verb, form) for verb in verbs().values() if use in verb.uses for form in forms)


@cache
def deniable_forms() -> frozenset[str]:
    """Return the forms that may be denied: the third person of ``third`` verbs, the past of ``past`` verbs."""
    third = {verb.third for verb in verbs().values() if "third" in verb.uses}
    return frozenset(third | {verb.past for verb in verbs().values() if "past" in verb.uses})


@cache
def finite_verb() -> re.Pattern[str]:
    """Return a pattern of every form that can be a finite verb, and of auxiliaries."""
    forms = {form for verb in verbs().values() for form in (verb.third, verb.past)}
    return re.compile(rf"\b(?:{alternatives(forms)}|{AUXILIARIES})\b", re.IGNORECASE)


@cache
def verb_after_and() -> re.Pattern[str]:
    """Return a pattern of ``and`` before a verb of the table or an auxiliary."""
    forms = {form for verb in verbs().values() for form in (verb.base, verb.third, verb.past)}
    return re.compile(
        rf"\band\s+(?:\w+ly\s+|then\s+|also\s+|it\s+|they\s+)?(?:{alternatives(forms)}|{AUXILIARIES}|"
        r"could|should|did|does|do|thus|hence|therefore)\b",
        re.IGNORECASE,
    )


def denial(verb: str) -> str:
    """Return ``did not show`` for ``showed``, ``does not show`` for a third person, ``do not show`` for a base form.

    Raises:
        KeyError: no form of the table.
    """
    base, helper = _helpers()[verb.lower()]
    return like(verb, f"{helper} not {base}")


@cache
def _helpers() -> dict[str, tuple[str, str]]:
    helpers: dict[str, tuple[str, str]] = {}
    for verb in verbs().values():
        for form, helper in ((verb.base, "do"), (verb.third, "does"), (verb.past, "did")):
            helpers.setdefault(form, (verb.base, helper))
    return helpers
