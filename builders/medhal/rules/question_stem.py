"""Stems that an option completes, and questions for the exception (MedMCQA)."""

from __future__ import annotations

import re

from builders.medhal.rules.question_words import agree, finite, head_of, is_plural, lowered, option_kind, words
from builders.medhal.writers import Written
from builders.texts.origin import Refusal

__all__ = ["except_of", "stem_of"]

TRUE_STEM = re.compile(
    r"^(?:the )?(?:true|correct)(?: statements?)? (?P<about>(?:about|regarding|concerning|of|for|in) .+?)(?: is| are)?(?: the following)?$",
    re.IGNORECASE,
)
NAMED = re.compile(
    r"^(?:the )?(?:most (?:common|likely|probable|important|appropriate|frequent|effective|sensitive|specific)|commonest|best|earliest|first)\b"
    r"|^(?:the )?(?:drug|treatment|investigation|procedure|antibiotic|method|test|therapy|surgery|operation|anesthetic|anaesthetic"
    r"|imaging|imaging modality|management|agent|antidote|site|gold standard)\b.{0,30}\b(?:of choice|for|of)\b",
    re.IGNORECASE,
)
NOT_STEM = re.compile(
    r"^not (?P<rest>an? .+|(?:\w+ed|seen|found|given|done) (?:in|by|with|from|for|to|of|as) .+)$", re.IGNORECASE
)
FOLLOWING = re.compile(r"\bthe following \w+(?: (?:of|in|on|for) .+)?$", re.IGNORECASE)
ASKING = {
    "how",
    "why",
    "who",
    "when",
    "where",
    "do",
    "does",
    "did",
    "is",
    "are",
    "can",
    "all",
    "not",
    "has",
    "have",
    "was",
}
OPEN_VERBS = {"causes", "produces", "affects", "inhibits", "supplies", "contains", "involves", "stimulates", "includes"}
OPEN_PAIRS = {"leads to", "lead to", "results in", "result in", "results from", "refers to"}
LAST = {
    "is",
    "are",
    "was",
    "were",
    "be",
    "by",
    "of",
    "in",
    "to",
    "for",
    "with",
    "from",
    "at",
    "on",
    "as",
    "into",
    "called",
    "causes",
    "include",
    "includes",
}
EXCEPT_LIST = re.compile(
    r"^all(?: of)?(?: the following(?: \w+)?| these)? (?P<be>are|is) (?P<rest>.+?),? except(?: for)?$", re.IGNORECASE
)
EXCEPT_LAST = re.compile(
    r"^(?P<subject>.+?) (?P<be>is|are) (?P<rest>(?:\w+ed|seen|found|given|done|due|known|made|formed) (?:in|by|with|from|for|to|of|as)) (?:all|all of the following)"
    r"(?: of these)?(?: the following)?,? except$",
    re.IGNORECASE,
)


def stem_of(asked: str, option: str) -> Written | Refusal:
    """Complete a stem with an option."""
    asked = re.sub(r"\b(?:MOST|LEAST|NOT|TRUE)\b", lambda found: found[0].lower(), asked)
    kind, tokens = option_kind(option), asked.split()
    true = TRUE_STEM.match(asked)
    if true:
        return Written(f"the following is true {true['about']}: {option}", "statement")
    if re.search(r"\b(?:false|incorrect|untrue|not true|true|wrong)\b", asked, re.IGNORECASE):
        return Refusal("asks_for_the_false")
    absent = NOT_STEM.match(asked)
    if absent and kind == "noun":
        return Written(f"{lowered(option)} {agree('is', is_plural(option))} not {absent['rest']}", "subject")
    if not tokens or tokens[0].lower() in words("preposition") | ASKING:
        return Refusal("unknown_shape")
    verbs = [place for place, word in enumerate(tokens) if finite(word.lower())]
    if FOLLOWING.search(asked) and verbs:
        return Written(f"{asked}: {option}", "stem_list")
    if kind != "noun":
        return Refusal("option_does_not_fit")
    named, last = NAMED.match(asked) is not None, tokens[-1].lower()
    stem = f"the {asked[0].lower()}{asked[1:]}" if named and tokens[0].lower() != "the" else asked
    if _open(tokens, verbs, named):
        return Written(f"{stem} {lowered(option)}", "stem")
    if not verbs and named and last not in words("preposition"):
        be = "are" if is_plural(asked) and last.endswith("s") and len(head_of(asked)) == len(tokens) else "is"
        return Written(f"{stem} {be} {lowered(option)}", "named_stem")
    return Refusal("unknown_shape")


def _open(tokens: list[str], verbs: list[int], named: bool) -> bool:
    """Tell whether a stem ends where its object or complement is missing."""
    last = tokens[-1].lower()
    if " ".join(tokens[-2:]).lower() in OPEN_PAIRS and len(tokens) > 2:
        return not verbs and not named
    if last in OPEN_VERBS:
        return not named and len(tokens) > 1 and not [at for at in verbs if at < len(tokens) - 1]
    if last in {"is", "are", "was", "were"}:
        return len(tokens) > 1
    return last in LAST and bool([at for at in verbs if at < len(tokens) - 1])


def except_of(asked: str, option: str) -> Written | Refusal:
    """Word a question for the exception: what is asked for is the option that does not belong."""
    if option_kind(option) != "noun" or re.search(r"\b(?:not|false|incorrect|true|correct)\b", asked, re.IGNORECASE):
        return Refusal("asks_for_the_exception")
    be = agree("is", is_plural(option))
    listed, last = EXCEPT_LIST.match(asked), EXCEPT_LAST.match(asked)
    if listed:
        rest = re.sub(r"^the ", "", listed["rest"], flags=re.IGNORECASE)
        head = head_of(rest)
        if head and head[-1] in words("shared_noun"):
            return Written(f"{lowered(option)} {be} not among the {rest}", "except")
        if rest.split()[0].lower() in words("participle") | {"seen", "found"} and len(rest.split()) > 2:
            return Written(f"{lowered(option)} {be} not {rest}", "except")
    if last:
        return Written(f"{last['subject']} {last['be']} not {last['rest']} {lowered(option)}", "except")
    return Refusal("asks_for_the_exception")
