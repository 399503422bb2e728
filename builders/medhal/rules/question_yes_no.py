"""Questions that yes or no answers (PubMedQA): the auxiliary goes back behind its subject, ``no`` adds a not.

The one hard thing is where the subject ends. A boundary is taken only where the tables leave one reading: a verb that
is no noun after ``does``, a predicate adjective or participle, or an article after a noun behind ``is``.
"""

from __future__ import annotations

import re

from builders.medhal.question_tables import has, pattern, words
from builders.medhal.rules.question_words import BE, counted, head_of, is_plural, third_person
from builders.medhal.writers import Written
from builders.texts.edits.model import article_of
from builders.texts.origin import Refusal

__all__ = ["yes_no"]

RULES = {
    **dict.fromkeys(("is", "are", "was", "were"), "yes_no_be"),
    **dict.fromkeys(("does", "do", "did"), "yes_no_do"),
    **dict.fromkeys(("has", "have", "had"), "yes_no_have"),
    **dict.fromkeys(("can", "could", "should", "will", "would"), "yes_no_modal"),
}
"""The rule of each auxiliary that a question may begin with.

A not behind may, might and must does not deny them (``may not be`` goes with ``may be``; no to ``must`` is ``need
not``), so that questions with them are refused.
"""

PRONOUNS = {"it", "they", "we", "he", "she", "there", "i"}
ARTICLES = {"a", "an", "any"}
STANDS_FOR = {"it", "they"}
PARTICIPLES = {"become", "been", "grown", "risen", "led"}
PEOPLE = {"patients", "children", "women"}
ALSO_ATTRIBUTES = {"higher", "lower", "more", "less", "better", "common", "specific", "independent"}
RISK = re.compile(r"(?:high|higher|increased|greater|low|lower|risk)\b")
MOSTLY = 0.5
"""Share of capitals from which on a title is taken to be set in capitals."""


def yes_no(question: str, yes: bool) -> Written | Refusal:
    """Turn a yes-no question into the statement that the answer makes of it."""
    asked = re.sub(r"[\s?.]+$", "", question)
    if asked.count("?") or has("alternative", asked):
        return Refusal("alternative_question")
    if sum(letter.isupper() for letter in asked) > len(asked) * MOSTLY:
        return Refusal("title_in_capitals")
    if asked.split()[0].lower() in RULES:
        return _asked(asked.split(), yes)
    found = pattern("topic").match(asked)
    if found is None:
        return Refusal("title_is_no_question")
    return _of_topic(found["topic"], found["asked"].split(), yes)


def _of_topic(topic: str, asked: list[str], yes: bool) -> Written | Refusal:
    """Word what is asked of a topic: "X: is it necessary?" asks whether X is, where "it" can only be X.

    What is asked of something else ("X: does Y matter?") would be a heading before a sentence.
    """
    if len(asked) < 2 or asked[1].lower() not in STANDS_FOR:
        return Refusal("heading_before_question")
    subject = topic.split()
    meant = _is_meant(topic, asked)
    return _asked([asked[0], *subject, *asked[2:]], yes, len(subject)) if meant else Refusal("pronoun_unsure")


def _is_meant(topic: str, asked: list[str]) -> bool:
    """Tell whether the pronoun of a question can only mean what stands before it: one noun phrase of its number."""
    expletive = asked[1].lower() == "it" and {"to", "that", "a", "an"} & {word.lower() for word in asked[2:5]}
    first = topic.split(maxsplit=1)[0].lower()
    named = first not in words("preposition", "determiner") and not first.endswith("ing")
    alone = not {"of", "or"} & set(topic.lower().split()) and not re.search(r"[:,;]", topic)
    return named and alone and not expletive and is_plural(topic) is (asked[1].lower() == "they")


def _asked(tokens: list[str], yes: bool, known: int = 0) -> Written | Refusal:
    """Put the auxiliary behind the subject, which has so many words where that is ``known``."""
    auxiliary, rest = tokens[0].lower(), tokens[1:]
    if len(rest) > 1 and rest[0].lower() == "there":
        return _there(auxiliary, rest[1:], yes)
    cut = known if 0 < known < len(rest) else _predicate_at(auxiliary, rest)
    if cut is None or rest[cut].lower() == "also":
        return Refusal("subject_unsure")
    subject, verbal = " ".join(rest[:cut]).rstrip(","), rest[cut:]
    if auxiliary in BE and "and" in head_of(subject):
        return Refusal("number_unsure")
    if counted(subject) != subject:
        return Refusal("broken_english")
    text = _affirmed(subject, auxiliary, verbal) if yes else _negated(subject, auxiliary, verbal)
    return Written(text, RULES[auxiliary])


def _predicate_at(auxiliary: str, rest: list[str]) -> int | None:
    """Return where the predicate begins; None where that is unsure, or a quantifier or ``still`` changes its scope."""
    if len(rest) < 2 or rest[0].lower() in words("quantifier"):
        return None
    find = {"yes_no_have": _participle, "yes_no_be": _complement}.get(RULES[auxiliary], _verb)
    cut = find(rest)
    if not cut or "still" in [word.lower() for word in rest[cut : cut + 2]]:
        return None
    if rest[cut - 1].lower() in {"and", "or", "be"} or rest[cut].lower() in words("quantifier") - {"more"}:
        return None
    return cut


def _affirmed(subject: str, auxiliary: str, verbal: list[str]) -> str:
    verbal = [word for word in verbal if word.lower() != "any"]
    if auxiliary not in {"do", "does"}:
        return f"{subject} {auxiliary} {' '.join(verbal)}"
    place = next(at for at, word in enumerate(verbal) if word.lower() not in words("adverb") and word[-2:] != "ly")
    verb = verbal[place].lower()
    form = third_person(verb) if auxiliary == "does" else verb
    return " ".join([subject, *verbal[:place], form, *verbal[place + 1 :]])


def _negated(subject: str, auxiliary: str, verbal: list[str]) -> str:
    return f"{subject} {'cannot' if auxiliary == 'can' else auxiliary + ' not'} {' '.join(verbal)}"


def _there(auxiliary: str, rest: list[str], yes: bool) -> Written | Refusal:
    first, bare = rest[0].lower(), rest[1:] if rest[0].lower() in ARTICLES else rest
    many = auxiliary in {"are", "were"}
    quantified = first in words("quantifier") - {"any"} or first == "still"
    if RULES[auxiliary] != "yes_no_be" or quantified or not bare or (not many and first not in ARTICLES):
        return Refusal("subject_unsure")
    if not yes:
        what = ["no", *bare]
    elif first == "any":
        what = bare if many else [article_of(bare[0]), *bare]
    else:
        what = rest
    return Written(f"there {auxiliary} {' '.join(what)}", "yes_no_there")


def _free(tokens: list[str], place: int) -> bool:
    """Tell whether a word may be the verb of the sentence: no particle, article or clause opener stands before it."""
    before = tokens[place - 1].lower().strip(",") if place else ""
    if before in {"this", "that", "these", "those"}:
        return True
    closed = before in words("preposition", "determiner", "relative") or before in {"to", "not", "and", "or"}
    return place > 0 and not closed


def _verb(tokens: list[str]) -> int | None:
    """Return where the base verb of a question with do or a modal begins, adverbs before it included."""
    low = [word.lower() for word in tokens]
    if low[0] in PRONOUNS:
        return _with_adverbs(low, 1)
    sure = [at for at, word in enumerate(low) if word in words("verb") | {"be"} and _free(tokens, at)]
    unsure = [at for at, word in enumerate(low) if word in words("verb_or_noun") and _free(tokens, at)]
    unsure = [at for at in unsure if at not in sure and _takes_object(low, at)]
    if len(sure) > 1 and sure[0] + 1 < len(low) and low[sure[0] + 1] in {"of", "to", "between"}:
        return None
    found = sure[:1] or (unsure if len(unsure) == 1 else [])
    early = [at for at in unsure if sure and at < sure[0]]
    if early:
        found = early if len(early) == 1 and low[early[0]] == "help" else []
    if not found or words("relative") & set(low[: found[0]]):
        return None
    return _with_adverbs(low, found[0])


def _takes_object(low: list[str], at: int) -> bool:
    """Tell whether a word that may be a noun is followed as a verb is: not by ``of``, not by a verb."""
    after = low[at + 1] if at + 1 < len(low) else ""
    return after not in {"of", "and", "or", "on", "during", "after", "among", "at"}


def _with_adverbs(low: list[str], at: int) -> int:
    while at > 1 and low[at - 1] in words("adverb"):
        at -= 1
    return at


def _participle(tokens: list[str]) -> int | None:
    """Return where the participle of a question with have begins."""
    low = [word.lower() for word in tokens]
    if low[0] in PRONOUNS:
        return 1
    ends = [at for at, word in enumerate(low) if re.fullmatch(r"[a-z]{3,}ed", word) or word in PARTICIPLES]
    found = [at for at in ends if _free(tokens, at) and not PEOPLE & set(low[at + 1 : at + 2])]
    return found[0] if len(found) == 1 else None


def _complement(tokens: list[str]) -> int | None:
    """Return where the complement of a question with be begins."""
    low = [word.lower().strip(",") for word in tokens]
    if low[0] in PRONOUNS:
        return 1
    for at in range(1, len(low)):
        start = _with_degree(low, at)
        if low[at] in words("relative"):
            return None
        if _article(tokens, low, at) or (low[at] == "at" and at + 1 < len(low) and RISK.match(low[at + 1])):
            return _with_adverbs(low, at)
        adjective = low[at] in words("adjective")
        if (adjective or low[at] in words("participle")) and _closes(low, at):
            if _free(tokens, start) and (adjective or not _another(low, at)):
                return start
            if adjective or _free(tokens, start):
                return None
    return None


def _article(tokens: list[str], low: list[str], at: int) -> bool:
    """Tell whether an article begins a complement: behind a noun, not behind a participle of the subject."""
    return low[at] in {"a", "an"} and _free(tokens, at) and not low[at - 1].endswith(("ed", "ing"))


def _with_degree(low: list[str], at: int) -> int:
    while at > 1 and low[at - 1] in words("degree", "adverb"):
        at -= 1
    return at


def _another(low: list[str], at: int) -> bool:
    """Tell whether a further predicate follows, so that this participle may belong to the subject."""
    return bool(set(low[at + 2 :]) & (words("adjective") - ALSO_ATTRIBUTES))


def _closes(low: list[str], at: int) -> bool:
    """Tell whether what follows an adjective shows that no noun belongs to it."""
    if at + 1 >= len(low):
        return True
    after = low[at + 1]
    if after in {"of", "and", "or"} and low[at] in {"common", "sensitive", "specific", "independent"}:
        return after != "and"
    return (
        after in words("preposition")
        or after in {"to", "that", "and", "or", "enough", "compared"}
        or after[-2:] == "ly"
    )
