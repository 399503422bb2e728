"""Slips that no reader forgives: what an edit or a template left broken, or a source wrote so or lost."""

from __future__ import annotations

import re

__all__ = ["is_broken", "is_damaged"]

_SLIP = re.compile(
    # A word that comes twice; "had had" and "that that" are English.
    r"\b(?P<word>a|an|the|of|in|on|to|for|from|with|at|by|and|or|is|are|was|were|be|not|no|most|likely|would|what|how) "
    r"(?P=word)\b(?!-| vi(?:tr|v)o)"
    r"|(?-i:(?<![\w.'-])i(?![\w.'):-]))"  # the pronoun, no numeral of a list
    r"|(?-i:\ba) (?!one\b|once\b|eu|ewe|u(?:n[it]|se|su|ti|ri|re|ro|ter))[aeiou][a-z]{2}"
    r"|(?-i:\ban (?!hon|hour|heir|herb|histo)(?:[bcdfgjklmnpqrstvwxz][aeiouy][a-z]|h[aeiouy][a-z]{4}))"
    r"|\b(?:is|are|was|were|be|been) (?:cause|explain|treat|manage|confirm|follow|reduce|prescribe|recommend) by\b"
    r"|(?<!is )(?<!are )(?<!was )(?<!were )(?<!be )(?<!been )(?<!not )"
    r"\b(?:allow|enable|permit)(?:s|ed|ing)? to (?!the\b|an?\b)[a-z]"
    r"|\bbest of (?:best|most)\b|\.\.(?!\.)|,,|\( ?\)|\bthe (?:an?|his|her|its|their) ",
    re.IGNORECASE,
)
# A question without a verb of its own.
_VERBLESS = re.compile(r"^how to\b[^.]*\?", re.IGNORECASE)
# What a text loses on its way into a set: numbers, symbols, names in brackets, figures, the first part of a word.
_LOST = re.compile(
    r"<[a-z]+>|#[a-z]{2,}"  # a placeholder
    r"|\b(?:of|at|by|than|between|from) ?(?:%|[=<>±]|[,;)](?! e\.g| for| among| in turn))|[=<>±≤≥] ?[,;.)]|\( ?[,;=<>]"
    r"|\b(?:of|from) (?:and|or|was|were|is|are|to)\b|\b(?:at|than) (?:and|or)\b"
    r"|\bbetween (?:and(?! within| among)|or)\b"
    r"|\b(?:the|an) ?[,;.%)]|\b(?:is|was|were|are|by) (?:(?!a\b)[a-z]|%)[.,;]"
    r"|\b(?:number|total|average|mean|median|rate|size|length|age|weight) of (?:in|for|with|on|by)\b"
    r"|\b[a-z]/[a-z] (?:was|were|is|are)\b|(?<!\S)(?<!and )(?<!or )(?<!to )[-/*][a-z]{3}"
    r"|(?<!\S)[^\w\s&+=<>±×~%→≤≥≈/–—-](?!\S)|^[,;:)%.]"
    r"|\b(?:figures?|tables?|figs?\.?)(?: ?[,;)]|\.$)|\b(?:see|in|from) (?:fig|table|additional file)",
    re.IGNORECASE,
)
# Number, article or a small word that does not fit: of sources whose sentences are taken as they are.
_UNFIT = re.compile(
    r"\bthis (?:studies|findings|methods|genes|proteins|models|approaches|processes|sequences|cells|tools|effects)\b"
    r"|\bthese (?:study|gene|protein|method|finding|model|sequence|result|effect)"
    r"(?: \w+ed)? (?:is|was|were|are|has|have|in)\b"
    r"|\b(?:tend|tends|tended|able|unable|likely|aims?|aimed|order|wants?) to (?:\w+ly )?"
    r"[a-z]{3,}(?!ss|us|as|is)[a-z]s\b"
    r"|\ban? (?:\w+ed |\w+er |strong |clear )?(?:attention|evidence|information|equipment|advice|software)"
    r"(?= (?:of|for|that|in|on|to|about|due|is|was|regarding|into|which)\b|[.,;])"
    r"|(?<!\bthe )(?<!\ball )\d ?% (?!(?:of|in|cis|intervals|increases|decreases)\b)(?!\w+ly\b)"
    r"[a-z]{3,}s (?:are|were|have|had)\b"
    # One thing, of which others are said: "the incorporation of drift times are".
    r"|\b(?:the|this|an?) (?:[a-z-]+ )?[a-z]+(?:(?<!frac)(?<!por)tion|ment|ness|ance|ence) of "
    r"(?:(?!(?:and|that|which|who|as|when|how|whether|where|is|was|has|can|may|were|are)\b)[\w'/-]+ ){1,4}"
    r"(?:and (?:(?!(?:the|how|is|was|has|can|that)\b)[\w-]+ ){1,3})?are\b"
    r"|\b(?:reported|described|known|regarded) as involving\b|\bdespite of\b|\bcompris(?:e|es|ed|ing) of\b"
    r"|\bto [a-z]+ to (?:[a-z]+ )?and\b|\bdiscuss\w* about\b"
    r"|\bplay(?:s|ed)? (?:important|key|crucial|critical|major|essential) role\b"
    r"|\b(?:did|does|do) not (?:\w+ly )?(?:[a-z]{3,}(?<![aeiou])(?<!ne)(?<!ce)(?<!ee)ed|has|is|was)\b",
    re.IGNORECASE,
)
_ENDS = re.compile(r"[.!?][\"'”’)\]]*$")
_BRACKETS = ("()", "[]", "“”")


def is_broken(text: str) -> bool:
    """Tell whether a text has a slip of English.

    >>> [is_broken(said) for said in ("What is the the cause?", "Where can i ask?", "It is cause by gout.", "An ulcer")]
    [True, True, True, False]
    """
    return _SLIP.search(text) is not None or _VERBLESS.match(text) is not None


def is_damaged(sentence: str) -> bool:
    """Tell whether a sentence of a source has a slip, or has lost a number, a name, a bracket or its end.

    Slips of number, article and small words count here, which would be too many to refuse a whole text for.

    >>> [is_damaged(said) for said in ("It fell at % of sites.", "In <dig> men it fell.", "It fell")]
    [True, True, True]
    >>> [is_damaged(said) for said in ("This studies aim was to.", "About 40% genes are lost.", "An evidence.")]
    [True, True, True]
    >>> is_damaged("Doses of 5 mg or more (in adults) were given to 12% of them.")
    False
    """
    lost = _LOST.search(sentence) is not None or _ENDS.search(sentence) is None
    uneven = any(sentence.count(pair[0]) != sentence.count(pair[1]) for pair in _BRACKETS) or sentence.count('"') % 2
    return lost or bool(uneven) or is_broken(sentence) or _UNFIT.search(sentence) is not None
