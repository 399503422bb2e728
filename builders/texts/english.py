"""Slips that no reader forgives: what an edit or a template left broken, or a source wrote so."""

from __future__ import annotations

import re

__all__ = ["is_broken"]

_SLIP = re.compile(
    # A word that comes twice; "had had" and "that that" are English.
    r"\b(?P<word>a|an|the|of|in|on|to|for|from|with|at|by|and|or|is|are|was|were|be|not|no|most|likely|would|what|how) "
    r"(?P=word)\b(?!-| vi[tv]o)"
    r"|(?-i:(?<![\w.'-])i(?![\w.'):-]))"  # the pronoun, no numeral of a list
    r"|(?-i:\ba) (?!one\b|once\b|eu|ewe|u(?:n[it]|se|su|ti|ri|re|ro|ter))[aeiou][a-z]{2}"
    r"|(?-i:\ban (?!hon|hour|heir|herb)[bcdfghjklmnpqrstvwxz][aeiouy][a-z])"
    r"|\b(?:is|are|was|were|be|been) (?:cause|explain|treat|manage|confirm|follow|reduce|prescribe|recommend) by\b"
    r"|\bbest of (?:best|most)\b|\.\.(?!\.)|,,|\( ?\)|\bthe (?:an?|his|her|its|their) ",
    re.IGNORECASE,
)
# A question without a verb of its own.
_VERBLESS = re.compile(r"^how to\b[^.]*\?", re.IGNORECASE)


def is_broken(text: str) -> bool:
    """Tell whether a text has a slip of English.

    >>> [is_broken(said) for said in ("What is the the cause?", "Where can i ask?", "It is cause by gout.", "An ulcer")]
    [True, True, True, False]
    """
    return _SLIP.search(text) is not None or _VERBLESS.match(text) is not None
