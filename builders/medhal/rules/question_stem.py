"""Stems that an option completes, and questions for the exception (MedMCQA)."""

from __future__ import annotations

import re

from builders.medhal.question_tables import pattern, words
from builders.medhal.rules.question_option import Option
from builders.medhal.rules.question_words import agree, finite, head_of, is_plural
from builders.medhal.writers import Written
from builders.texts.edits.model import article_of
from builders.texts.origin import Refusal

__all__ = ["except_of", "stem_of"]

NOUN_OF = re.compile(r"[A-Za-z][\w-]+(?: [a-z-]+){0,3} (?:of|for) \w")
ING = re.compile(r" [a-z]{3,}ing\b")
SHOUTED = re.compile(r"\b(?:MOST|LEAST|NOT|TRUE)\b")
BE = {"is", "are", "was", "were", "has"}
OPEN_VERBS = {"causes", "produces", "affects", "inhibits", "supplies", "contains", "involves", "stimulates", "includes"}
OPEN_PAIRS = {"leads to", "lead to", "results in", "result in", "results from", "refers to"}
OPEN_LAST = {"be", "by", "of", "in", "to", "for", "with", "from", "at", "on", "as", "into", "called"}


def stem_of(asked: str, option: Option) -> Written | Refusal:
    """Complete a stem with an option: a sentence without its full stop."""
    asked = SHOUTED.sub(lambda found: found[0].lower(), asked)
    fronted = pattern("fronted_stem").match(asked)
    if fronted:
        rest = stem_of(fronted["rest"], option)
        if isinstance(rest, Refusal):
            return rest
        return Written(f"{fronted['front']}, {rest.text}", f"fronted_{rest.rule}")
    for shape in (_true, _absent, _unfit, _following, _completed, _participial, _named):
        made = shape(asked, option)
        if made is not None:
            return made
    return Refusal("unknown_shape")


def _true(asked: str, option: Option) -> Written | Refusal | None:
    """``True about BCG:``, ``False about BCG:``"""
    for shape, says in (("true_stem", "true"), ("untrue_stem", "not true")):
        found = pattern(shape).match(asked)
        if found:
            return Written(f"the following is {says} {found['about']}: {option.text}", "statement")
    if pattern("false").search(asked) or re.search(r"\btrue\b", asked, re.IGNORECASE):
        return Refusal("asks_for_the_false")
    return None


def _absent(asked: str, option: Option) -> Written | None:
    """``Not a feature of nephrotic syndrome``"""
    found = pattern("not_stem").match(asked)
    if found is None or option.kind != "noun":
        return None
    return Written(f"{option.inside} {agree('is', option.plural)} not {found['rest']}", "subject")


def _unfit(asked: str, option: Option) -> Refusal | None:
    first = asked.split(maxsplit=1)[0].lower() if asked.split() else "how"
    if first in words("preposition", "asking"):
        return Refusal("unknown_shape")
    return Refusal("option_does_not_fit") if option.kind in {"verb", "adverbial"} else None


def _verbs(asked: str) -> list[int]:
    return [place for place, word in enumerate(asked.lower().split()) if finite(word)]


def _following(asked: str, option: Option) -> Written | Refusal | None:
    """``Barr bodies are found in the following phase of the cell cycle``"""
    if pattern("following_stem").search(asked) and _verbs(asked):
        return Written(f"{asked}: {option.text}", "stem_list")
    return Refusal("option_does_not_fit") if option.kind != "noun" else None


def _is_named(asked: str) -> bool:
    """Tell whether a stem begins with a noun phrase for one thing: "incubation period of", "longest acting"."""
    if pattern("named_stem").match(asked):
        return True
    first = asked.split(maxsplit=1)[0].lower()
    opens = first in words("preposition", "determiner", "quantifier", "relative", "asking", "adverb")
    return not opens and NOUN_OF.match(asked) is not None and not is_plural(asked)


def _inside(name: str) -> str:
    """Return a noun phrase without its capital, where its first word is no abbreviation."""
    return name if re.match(r"\w*[A-Z0-9]", name[1:]) else name[0].lower() + name[1:]


def _with_article(asked: str) -> str:
    if re.match(r"(?:the|a|an)\b", asked, re.IGNORECASE) or not _is_named(asked):
        return asked
    name = _inside(asked)
    if head_of(asked)[-1] not in words("one_of_many") or pattern("exclusive").search(asked):
        return f"the {name}"
    return f"{article_of(name)} {name}"


def _completed(asked: str, option: Option) -> Written | None:
    """``The drug of choice for absence seizures is``"""
    tokens, named = asked.lower().split(), _is_named(asked)
    verbs, last = _verbs(asked), tokens[-1]
    earlier = [place for place in verbs if place < len(tokens) - 1]
    if " ".join(tokens[-2:]) in OPEN_PAIRS:
        is_open = len(tokens) > 2 and not verbs and not named
    elif last in OPEN_VERBS:
        is_open = len(tokens) > 1 and not earlier and not named
    else:
        is_open = (last in BE and len(tokens) > 1) or (last in OPEN_LAST and bool(earlier))
    return Written(f"{_with_article(asked)} {option.inside}", "stem") if is_open else None


def _participial(asked: str, option: Option) -> Written | None:
    """``Drug causing gynaecomastia``: one of several."""
    asked = re.sub(r" (?:is|are)$", "", asked)
    if pattern("participial_stem").match(asked) is None or _verbs(asked):
        return None
    return Written(f"{article_of(_inside(asked))} {_inside(asked)} is {option.inside}", "named_stem")


def _named(asked: str, option: Option) -> Written | None:
    """``Most common cause of chronic nephritis in children``"""
    last = asked.lower().split()[-1]
    if _verbs(asked) or not _is_named(asked) or last in words("preposition"):
        return None
    whole = len(head_of(asked)) == len(asked.split())
    be = "are" if whole and last.endswith("s") and is_plural(asked) else "is"
    return Written(f"{_with_article(asked)} {be} {option.inside}", "named_stem")


def except_of(asked: str, option: Option) -> Written | Refusal:
    """Word a question for the exception: what is asked for is the option that does not belong."""
    asked = SHOUTED.sub(lambda found: found[0].lower(), asked)
    about, listed, last, verb = (pattern(f"except_{name}").match(asked) for name in ("true", "list", "last", "verb"))
    if about:
        return Written(f"the following is not true {about['about']}: {option.text}", "except_list")
    if option.kind != "noun" or re.search(r"\b(?:not|false|incorrect|true|correct)\b", asked, re.IGNORECASE):
        return Refusal("asks_for_the_exception")
    said = None
    if listed:
        said = _not_among(_inside(listed["rest"] or listed["named"]), option)
    elif last:
        said = f"{last['subject']} {last['be']} not {last['rest']} {option.inside}"
    elif verb:
        said = f"{verb['subject']} does not {agree(verb['verb'], plural=True)} {option.inside}"
    return Written(said, "except") if said else Refusal("asks_for_the_exception")


def _not_among(rest: str, option: Option) -> str | None:
    """``causes of hypokalemia``, ``seen in scurvy``: what an option does not belong to."""
    rest, be = re.sub(r"^the ", "", rest), agree("is", option.plural)
    if head_of(ING.split(rest)[0])[-1] in words("shared_noun"):
        return f"{option.inside} {be} not among the {rest}"
    participle = rest.split()[0].lower() in words("participle") | {"seen", "found"}
    return f"{option.inside} {be} not {rest}" if participle and len(rest.split()) > 2 else None
