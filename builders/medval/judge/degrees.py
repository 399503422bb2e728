"""How a text qualifies a problem: grade, doubt, and the words right before and after it."""

from __future__ import annotations

import re

from builders.medval.reading import Seen, View

__all__ = ["is_doubted", "is_somebodys", "qualifier_after", "word_before"]

_BEFORE = re.compile(r"([A-Za-z-]+)[ ]+$")
_DOUBT = re.compile(
    r"\b(?:possibl\w+|suspect\w*|question\w*|likely|probabl\w+|may|might|maybe|could|concern\w*|think|rule|versus|vs|presumed|seems?|"
    r"evaluate|assess|guess|if)\b|\?",
    re.IGNORECASE,
)
_LINK = r"(?: (?!(?:about|for|on|of|to|regarding|concerning|like)\b)[\w'-]+){0,3}\s+$"
# Before a problem in its sentence: somebody, and a word that says it of them; or whose it is.
_PERSON = re.compile(r"\b(?:I|we|he|she|my|our|his|her|who|patient|year[- ]olds?)\b|\[NAME\]", re.IGNORECASE)
_HAS = re.compile(
    rf"(?:\b(?:has|have|had|got|diagnosed|suffer\w*|detected|developed|living|am)|'ve|'m){_LINK}", re.IGNORECASE
)
_WHOSE = re.compile(r"\b(?:my|our|his|her)(?: [\w'-]+)?\s+$", re.IGNORECASE)
_THIS = re.compile(r"[^?]{0,40}\bI (?:(?:have|had|got)(?: had)?|suffer from) (?:it|this|that)\b", re.IGNORECASE)
# Of whom, when, where or for how long a problem is there: "in children", "after surgery", "when lying down".
_QUALIFIER = re.compile(
    r" (?:in|at|after|during|before|since|when|while|following|for)\b(?: [\w'-]+){1,2}", re.IGNORECASE
)


def word_before(view: View, problem: Seen) -> tuple[str, int] | None:
    """Return the word right before a mention in lower case, and where it begins."""
    match = _BEFORE.search(view.text, max(0, problem.mention.begin - 40), problem.mention.begin)
    return (match.group(1).lower(), match.start(1)) if match else None


def qualifier_after(view: View, problem: Seen) -> str:
    """Return the words right after a mention that may qualify a problem; none where nothing does."""
    match = _QUALIFIER.match(view.text, problem.mention.end)
    return match.group().lower() if match else ""


def is_somebodys(view: View, problem: Seen) -> bool:
    """Tell whether a message says of somebody that a problem is there; it may ask about the problem only."""
    begin = max(view.text.rfind(stop, 0, problem.mention.begin) for stop in (".", "?", "!", "\n")) + 1
    before = view.text[begin : problem.mention.begin]
    held = _PERSON.search(before) and _HAS.search(before)
    return bool(held or _WHOSE.search(before) or _THIS.match(view.text, problem.mention.end))


def is_doubted(view: View, problem: Seen) -> bool:
    """Tell whether a text speaks of a problem without certainty."""
    around = view.text[max(0, problem.mention.begin - 80) : problem.mention.end + 40]
    return problem.polarity != "present" or _DOUBT.search(around) is not None
