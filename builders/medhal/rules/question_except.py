"""Questions for the exception (MedMCQA): what is asked for is the option that does not belong."""

from __future__ import annotations

import re

from builders.medhal.question_tables import pattern, words
from builders.medhal.rules.question_option import Option, listed
from builders.medhal.rules.question_stem import SHOUTED, is_participle
from builders.medhal.rules.question_words import agree, head_of, is_plural, lowered
from builders.medhal.writers import Written
from builders.texts.origin import Refusal

__all__ = ["except_of"]

ING = re.compile(r" [a-z]{3,}ing\b")


def except_of(asked: str, option: Option) -> Written | Refusal:
    """Word a question for the exception: a sentence without its full stop."""
    asked = SHOUTED.sub(lambda found: found[0].lower(), asked)
    shapes = ("true", "list", "last", "verb", "topic")
    about, of_list, last, verb, topic = (pattern(f"except_{name}").match(asked) for name in shapes)
    if about:
        said = listed(option)
        made = Written(f"the following is not true {about['about']}: {said}", "except_list")
        return made if said else Refusal("option_does_not_fit")
    if option.kind != "noun" or re.search(r"\b(?:not|false|incorrect|true|correct)\b", asked, re.IGNORECASE):
        return Refusal("asks_for_the_exception")
    said = None
    if topic:
        said = f"{option.inside} {agree('is', option.plural)} not {topic['rest']} in {lowered(topic['topic'])}"
    elif verb:
        does = "do" if is_plural(verb["subject"]) else "does"
        said = f"{verb['subject']} {does} not {agree(verb['verb'], plural=True)} {option.inside}"
    elif of_list:
        said = _not_among(lowered(of_list["rest"] or of_list["named"]), option)
    elif last:
        said = f"{last['subject']} {last['be']} not {last['rest']} {option.inside}"
    return Written(said, "except") if said else Refusal("asks_for_the_exception")


def _not_among(rest: str, option: Option) -> str | None:
    """``causes of hypokalemia``, ``seen in scurvy``, ``DNA viruses``: what an option does not belong to."""
    rest, be = re.sub(r"^the ", "", rest), agree("is", option.plural)
    first = rest.split()[0].lower()
    if is_participle(first) or first in words("adjective") or first in {"seen", "found"}:
        return f"{option.inside} {be} not {rest}" if len(rest.split()) > 2 else None
    return f"{option.inside} {be} not among the {rest}" if is_plural(" ".join(head_of(ING.split(rest)[0]))) else None
