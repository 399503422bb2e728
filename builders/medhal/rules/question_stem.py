"""Stems that an option completes (MedMCQA): a clause that is left open, or a noun phrase that the option names.

| stem | statement | rule |
|---|---|---|
| The drug of choice for X is; X acts by inhibiting | ... {option}. | stem |
| Sardonic grin seen in | Sardonic grin is seen in {option}. | stem |
| X is found in the following phase | ...: {option}. | stem_list |
| True about X; X: true statement is | The following is true about X: {option}. | statement |
| Not a feature of X | {Option} is not a feature of X. | subject |
| Enzyme deficient in X; Most common cause of X | The enzyme deficient in X is {option}. | named_stem |
| Structures passing through X | {Option} is among the structures passing through X. | stem_among |
"""

from __future__ import annotations

import re
from itertools import takewhile

from builders.medhal.question_tables import has, pattern, words
from builders.medhal.rules.question_option import Option, listed
from builders.medhal.rules.question_words import agree, finite, head_of, is_plural, lowered, third_persons
from builders.medhal.writers import Written
from builders.texts.edits.model import article_of
from builders.texts.origin import Refusal

__all__ = ["SHOUTED", "is_participle", "stem_of"]

SHOUTED = re.compile(r"\b(?:MOST|LEAST|NOT|TRUE)\b")
BE = frozenset({"is", "are", "was", "were"})
OPEN_LAST = frozenset({"be", "called", "than", "to"})
OPENS_NOTHING = frozenset({"of", "or", "and"})
NOT_BY_NATURE = frozenset({"need", "bleed", "seed", "speed", "breed", "feed", "bed", "red", "blood", "shed", "med"})
ARTICLES = frozenset({"the", "a", "an"})


def stem_of(asked: str, option: Option) -> Written | Refusal:
    """Complete a stem with an option: a sentence without its full stop."""
    asked = SHOUTED.sub(lambda found: found[0].lower(), asked)
    fronted = pattern("fronted_stem").match(asked)
    if fronted:
        rest = stem_of(fronted["rest"], option)
        if isinstance(rest, Refusal):
            return rest
        return Written(f"{fronted['front']}, {rest.text}", f"fronted_{rest.rule}")
    for shape in (_true, _absent, _unfit, _following, _open, _named):
        made = shape(asked, option)
        if made is not None:
            return made
    return Refusal("unknown_shape")


def is_participle(word: str) -> bool:
    """Tell whether a word is a past participle: what passive verbs and attributes behind a noun have."""
    return word in words("participle") or (word.endswith("ed") and len(word) > 3 and word not in NOT_BY_NATURE)


def _true(asked: str, option: Option) -> Written | Refusal | None:
    """``True about BCG:``, ``BCG: false statement is``"""
    for shape, says in (("true_stem", "true"), ("untrue_stem", "not true")):
        found = pattern(shape).match(asked)
        said = listed(option)
        if found:
            made = Written(f"the following is {says} {found['about']}: {said}", "statement")
            return made if said else Refusal("option_does_not_fit")
    if has("false", asked) or re.search(r"\btrue\b", asked, re.IGNORECASE):
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
    return Refusal("option_does_not_fit") if option.kind == "verb" else None


def _following(asked: str, option: Option) -> Written | Refusal | None:
    """``Barr bodies are found in the following phase of the cell cycle``"""
    said, verbs = listed(option), _verbs(asked.lower().split())
    if said and verbs and has("following_stem", asked):
        return Written(f"{_opened(asked.split(), verbs)}: {said}", "stem_list")
    return None


def _verbs(low: list[str]) -> list[int]:
    """Return the places of finite verbs that stand in no relative clause: forms of plural subjects among them."""
    ends = next((at for at, word in enumerate(low) if at and word in words("relative")), len(low))
    found = [at for at, word in enumerate(low) if finite(word) and at and (at < ends or at == len(low) - 1)]
    return found or [at for at in range(1, len(low)) if _maybe_verb(low, at) and (at < ends or at == len(low) - 1)]


def _maybe_verb(low: list[str], at: int) -> bool:
    """Tell whether a word that may be a noun is the verb of its stem (``fibres run in``, ``the nerve lies in``).

    It follows a noun, agrees with the first one, and ends the stem, alone or with a preposition.
    """
    behind_noun = low[at - 1] not in words("preposition", "determiner", "adverb") | {"to", "and", "or"}
    many = is_plural(" ".join(_head(" ".join(low[:at]))))
    known = low[at] in words("verb", "verb_or_noun") if many else low[at] in third_persons()
    last = low[at:] == low[-1:] and low[at] in words("takes_object")
    return behind_noun and known and (last or (len(low) == at + 2 and low[-1] in words("preposition")))


def _open(asked: str, option: Option) -> Written | Refusal | None:
    """``The drug of choice for absence seizures is``, ``Digoxin acts by inhibiting``, ``Sardonic grin seen in``"""
    tokens, low = asked.split(), asked.lower().split()
    verbs, last = _verbs(low), low[-1]
    if last in BE:
        return (
            _copula(" ".join(tokens[:-1]), low[-1], option) if len(low) > 1 and verbs[-1:] == [len(low) - 1] else None
        )
    if option.kind == "adverbial":
        return Written(f"{asked} {lowered(option.text)}", "stem") if verbs and _takes_time(low, option) else None
    if option.kind != "noun" or not _is_open(low, verbs):
        return None
    if verbs:
        return Written(f"{_opened(tokens, verbs)} {option.inside}", "stem")
    place = next((at for at, word in enumerate(low) if at and is_participle(word)), None)
    if place is None or place < len(low) - 3 or last not in words("preposition"):
        return None
    while place > 1 and low[place - 1] in words("adverb", "degree") | {"not"}:
        place -= 1
    subject = " ".join(tokens[:place])
    return Written(f"{_subject(subject)} {_be(subject)} {' '.join(tokens[place:])} {option.inside}", "stem")


def _opened(tokens: list[str], verbs: list[int]) -> str:
    """Return a stem with the article that its subject leaves out."""
    place = verbs[0]
    while place > 1 and tokens[place - 1].lower() in words("adverb"):
        place -= 1
    return " ".join([_subject(" ".join(tokens[:place])), *tokens[place:]])


def _is_open(low: list[str], verbs: list[int]) -> bool:
    """Tell whether a stem ends with what must be followed by a noun phrase: a preposition, a gerund, a verb."""
    last = low[-1]
    if last in words("preposition") - {"about"} or last in OPEN_LAST or (last in OPENS_NOTHING and len(low) > 2):
        return True
    gerund = last.endswith("ing") and low[-2:-1] and low[-2] in words("preposition")
    verb = last in words("takes_object") and (verbs or low[-2:-1] == ["to"])
    return bool(gerund or verb)


def _takes_time(low: list[str], option: Option) -> bool:
    """Tell whether a stem may be followed by when or where: it ends with no preposition and no open verb."""
    return not _is_open(low, [0]) and option.text.split()[0].lower() in words("preposition")


def _copula(name: str, be: str, option: Option) -> Written | Refusal | None:
    """``The drug of choice for absence seizures is``"""
    verbs = _verbs(name.lower().split())
    if verbs:
        return (
            Written(f"{_opened(name.split(), verbs)} {be} {option.inside}", "stem") if option.kind == "noun" else None
        )
    made = _named(name, option)
    if isinstance(made, Written):
        return Written(made.text, "stem") if made.rule == "named_stem" else made
    many = is_plural(name)
    agrees = (be in {"are", "were"}) is many and (many or not option.plural)
    return Written(f"{_subject(name)} {be} {option.inside}", "stem") if agrees and option.kind == "noun" else made


def _be(name: str) -> str:
    return "are" if is_plural(" ".join(_head(name))) else "is"


def _head(name: str) -> list[str]:
    """Return the words of a noun phrase up to its noun: no attribute behind it."""
    first, *others = head_of(name) or [""]
    behind = words("adverb") | {"not", "most", "present", "deficient", "responsible", "absent", "due"}
    return [
        first,
        *takewhile(lambda word: word not in behind and not is_participle(word) and word[-3:] != "ing", others),
    ]


def _is_described(name: str) -> bool:
    """Tell whether a noun phrase describes what it names: an attribute stands behind its noun, or a superlative before.

    Without one it is a name itself (``Quinsy``, ``Marjolin's ulcer``).
    """
    return len(_head(name)) < len(name.split()) or pattern("named_stem").match(name) is not None


def _subject(name: str) -> str:
    """Return what a sentence begins with, with the article that the stem leaves out."""
    first = name.split(maxsplit=1)[0].lower()
    head = _head(name)[-1]
    bare = first in words("determiner", "quantifier") or first.endswith("'s") or is_plural(" ".join(_head(name)))
    known = head in words(
        "part", "counted_noun", "kind_noun", "content_noun", "shared_noun", "one_of_many", "stem_noun"
    )
    return name if bare or not (known or pattern("named_stem").match(name)) else f"the {lowered(name)}"


def _named(asked: str, option: Option) -> Written | Refusal | None:
    """``Most common cause of chronic nephritis in children``, ``Enzyme deficient in Gaucher disease``"""
    low = asked.lower().split()
    opens = low[0] in words("preposition", "determiner", "quantifier", "relative", "asking", "adverb") - ARTICLES
    superlative = pattern("named_stem").match(asked) is not None
    if (opens and not superlative) or low[-1] in words("preposition") or _verbs(low) or not _is_described(asked):
        return None
    head = _head(re.sub(r"^(?:the|an?) ", "", asked, flags=re.IGNORECASE))
    if head[0].endswith("ing") or is_participle(head[-1]) or (option.bare and any(map(is_participle, low))):
        return None
    name = lowered(re.sub(r"^(?:the|an?) ", "", asked, flags=re.IGNORECASE))
    if is_plural(" ".join(head)):
        return _among(name, option)
    article = "the"
    if head[-1] in words("one_of_many") and not has("exclusive", asked):
        article = article_of(name)
    if option.kind == "noun":
        return Written(f"{article} {name} is {option.inside}", "named_stem")
    said = listed(option)
    return Written(f"{article} {name} is as follows: {said}", "named_stem_list") if said else None


def _among(name: str, option: Option) -> Written | Refusal:
    if option.kind != "noun":
        said = listed(option, of_one=False)
        made = Written(f"the {name} are as follows: {said}", "named_stem_list")
        return made if said else Refusal("option_does_not_fit")
    if option.plural:
        return Written(f"the {name} are {option.inside}", "named_stem")
    return Written(f"{option.inside} is among the {name}", "stem_among")
