"""Questions that yes or no answers (PubMedQA): the auxiliary goes back behind its subject, ``no`` adds a not.

The one hard thing is where the subject ends. A boundary is taken only where the tables leave one reading: a verb that
is no noun after ``does``, a predicate adjective or participle, or an article after a noun behind ``is``.
"""

from __future__ import annotations

import re

from builders.medhal.rules.question_words import lowered, third_person, words
from builders.medhal.writers import Written
from builders.texts.origin import Refusal

__all__ = ["yes_no"]

BE = {"is", "are", "was", "were"}
DO = {"does", "do", "did"}
MODAL = {"can", "could", "should", "will", "would", "may", "might", "must"}
HAVE = {"has", "have", "had"}
AUXILIARY = BE | DO | MODAL | HAVE
TOPIC = re.compile(
    r"^(?P<topic>.+?)\s?(?::|--|\u2014|\s-\s|\.)\s*(?P<asked>(?:" + "|".join(sorted(AUXILIARY)) + r")\b.+)$",
    re.IGNORECASE,
)
QUANTIFIERS = {
    "all",
    "every",
    "each",
    "some",
    "many",
    "most",
    "any",
    "only",
    "both",
    "either",
    "neither",
    "few",
    "several",
    "no",
    "more",
    "not",
}
ALTERNATIVE = re.compile(
    r"\bor (?:not|just|is|are|does|do|can|different|a|an|the|merely|simply|still|are they)\b|\bor\b[^,]*$(?<=different)|\bversus\b|\bvs\b|\bor both\b"
    r"|\b(?:the )?same or\b|\bwhat\b|\bwhich\b|\bhow\b|\bwhy\b",
    re.IGNORECASE,
)
PRONOUNS = {"it", "they", "we", "he", "she", "there", "this", "these", "i"}


def yes_no(question: str, yes: bool) -> Written | Refusal:
    """Turn a yes-no question into the statement that the answer makes of it."""
    asked = re.sub(r"[\s?.]+$", "", question)
    if asked.count("?") or ALTERNATIVE.search(asked):
        return Refusal("alternative_question")
    if sum(letter.isupper() for letter in asked) > len(asked) / 2:
        return Refusal("title_in_capitals")
    topic = None
    if asked.split()[0].lower() not in AUXILIARY:
        found = TOPIC.match(asked)
        if found is None:
            return Refusal("title_is_no_question")
        topic, asked = found["topic"], found["asked"]
    made = _asked(asked.split(), yes)
    if isinstance(made, Refusal) or topic is None:
        return made
    pronoun = asked.split()[1].lower() in PRONOUNS
    return Written(f"{topic}: {made.text}" if pronoun else f"{topic}: {lowered(made.text)}", made.rule)


def _asked(tokens: list[str], yes: bool) -> Written | Refusal:
    auxiliary, rest = tokens[0].lower(), tokens[1:]
    if len(rest) < 2 or rest[0].lower() in QUANTIFIERS or "," in " ".join(rest[:1]):
        return Refusal("subject_unsure")
    if rest[0].lower() == "there":
        return _there(auxiliary, rest[1:], yes)
    if auxiliary in HAVE:
        cut = _perfect(rest)
    elif auxiliary in BE:
        cut = _predicate(rest)
    else:
        cut = _verb(rest)
    if cut is None or cut == 0 or rest[cut - 1].lower() in {"and", "or"}:
        return Refusal("subject_unsure")
    subject, verbal = " ".join(rest[:cut]), rest[cut:]
    if QUANTIFIERS & {word.lower() for word in verbal[:1]}:
        return Refusal("subject_unsure")
    if any(word.lower() == "any" for word in verbal):
        if not yes:
            return Written(_negated(subject, auxiliary, verbal), _rule(auxiliary))
        verbal = [word for word in verbal if word.lower() != "any"]
    return Written(
        _affirmed(subject, auxiliary, verbal) if yes else _negated(subject, auxiliary, verbal), _rule(auxiliary)
    )


def _rule(auxiliary: str) -> str:
    for rule, known in (("yes_no_do", DO), ("yes_no_be", BE), ("yes_no_have", HAVE)):
        if auxiliary in known:
            return rule
    return "yes_no_modal"


def _affirmed(subject: str, auxiliary: str, verbal: list[str]) -> str:
    if auxiliary not in DO:
        return f"{subject} {auxiliary} {' '.join(verbal)}"
    if auxiliary == "did":
        return f"{subject} did {' '.join(verbal)}"
    place = next(at for at, word in enumerate(verbal) if word.lower() not in words("adverb"))
    verb = verbal[place].lower()
    form = third_person(verb) if auxiliary == "does" else verb
    return " ".join([subject, *verbal[:place], form, *verbal[place + 1 :]])


def _negated(subject: str, auxiliary: str, verbal: list[str]) -> str:
    return f"{subject} {'cannot' if auxiliary == 'can' else auxiliary + ' not'} {' '.join(verbal)}"


def _there(auxiliary: str, rest: list[str], yes: bool) -> Written | Refusal:
    if auxiliary not in BE or rest[0].lower() not in {"a", "an", "any"} and auxiliary in {"is", "was"}:
        return Refusal("subject_unsure")
    articles = {"a", "an", "any"}
    if rest[0].lower() in QUANTIFIERS - {"any"} or rest[0].lower() == "still":
        return Refusal("subject_unsure")
    bare = rest[1:] if rest[0].lower() in articles else rest
    if not yes:
        return Written(f"there {auxiliary} no {' '.join(bare)}", "yes_no_there")
    if rest[0].lower() != "any":
        return Written(f"there {auxiliary} {' '.join(rest)}", "yes_no_there")
    if auxiliary in {"are", "were"}:
        return Written(f"there {auxiliary} {' '.join(bare)}", "yes_no_there")
    article = "an" if bare[0][:1].lower() in "aeiou" else "a"
    return Written(f"there {auxiliary} {article} {' '.join(bare)}", "yes_no_there")


def _free(tokens: list[str], place: int) -> bool:
    """Tell whether a word may be the verb of the sentence: no particle, article or clause opener stands before it."""
    before = tokens[place - 1].lower().strip(",") if place else ""
    closed = words("preposition") | words("determiner") | words("relative") | {"to", "not", "and", "or"}
    return place > 0 and before not in closed - {"this", "that", "these", "those"}


def _verb(tokens: list[str]) -> int | None:
    """Return where the base verb of a question with do or a modal begins, adverbs before it included."""
    first = tokens[0].lower()
    if first in PRONOUNS:
        return _with_adverbs(tokens, 1, 1)
    only_verbs = words("verb")
    sure = [
        at
        for at, word in enumerate(tokens)
        if (word.lower() in only_verbs or word.lower() == "be") and _free(tokens, at)
    ]
    ambiguous = [
        at
        for at, word in enumerate(tokens)
        if word.lower() in words("verb_or_noun")
        and word.lower() not in only_verbs
        and _free(tokens, at)
        and _takes_object(tokens, at)
    ]
    if sure:
        if any(at < sure[0] for at in ambiguous):
            early = [at for at in ambiguous if at < sure[0]]
            return (
                _with_adverbs(tokens, early[0], 1) if tokens[early[0]].lower() == "help" and len(early) == 1 else None
            )
        if any(word.lower() in words("relative") for word in tokens[: sure[0]]):
            return None
        return _with_adverbs(tokens, sure[0], 1)
    if len(ambiguous) == 1 and not any(word.lower() in words("relative") for word in tokens[: ambiguous[0]]):
        return _with_adverbs(tokens, ambiguous[0], 1)
    return None


def _takes_object(tokens: list[str], at: int) -> bool:
    """Tell whether a word that may be a noun is followed as a verb is: not by ``of``, not by a verb."""
    if at + 1 >= len(tokens):
        return True
    return tokens[at + 1].lower() not in {"of", "and", "or", "on", "during", "after", "among", "at"}


def _with_adverbs(tokens: list[str], at: int, least: int) -> int | None:
    while at > least and tokens[at - 1].lower() in words("adverb"):
        at -= 1
    return at if at < len(tokens) else None


def _perfect(tokens: list[str]) -> int | None:
    """Return where the participle of a question with have begins."""
    if tokens[0].lower() in PRONOUNS:
        return 1
    found = [
        at
        for at, word in enumerate(tokens)
        if at
        and (re.fullmatch(r"[a-z]{3,}ed", word.lower()) or word.lower() in {"become", "been", "grown", "risen", "led"})
        and _free(tokens, at)
    ]
    found = [
        at for at in found if at + 1 >= len(tokens) or tokens[at + 1].lower() not in {"patients", "children", "women"}
    ]
    return found[0] if len(found) == 1 else None


def _predicate(tokens: list[str]) -> int | None:
    """Return where the predicate of a question with be begins."""
    if tokens[0].lower() in PRONOUNS - {"this", "these"}:
        return 1
    for at in range(1, len(tokens)):
        word = tokens[at].lower().strip(",")
        start = _with_adverbs(tokens, at, 1)
        if word in words("relative"):
            return None
        if word in {"a", "an"} and _free(tokens, at) and not re.search(r"(?:ed|ing)$", tokens[at - 1].lower()):
            return start
        if (
            word == "at"
            and tokens[at + 1 : at + 3]
            and re.match(r"(?:high|higher|increased|greater|low|lower|risk)\b", tokens[at + 1].lower())
        ):
            return start
        while start is not None and start > 1 and tokens[start - 1].lower() in words("degree"):
            start -= 1
        if word in words("adjective") and _closes(tokens, at):
            return start if start is not None and _free(tokens, start) else None
        if word in words("participle") and _closes(tokens, at):
            if not _free(tokens, start if start is not None else at):
                continue
            return start if not _another(tokens, at) else None
    return None


def _another(tokens: list[str], at: int) -> bool:
    """Tell whether a further predicate follows, so that this participle may belong to the subject."""
    later = {word.lower().strip(",") for word in tokens[at + 2 :]}
    return bool(
        later
        & (words("adjective") - {"higher", "lower", "more", "less", "better", "common", "specific", "independent"})
    )


def _closes(tokens: list[str], at: int) -> bool:
    """Tell whether what follows an adjective shows that no noun belongs to it."""
    if at + 1 >= len(tokens):
        return True
    after = tokens[at + 1].lower()
    if after in {"of", "and", "or"} and tokens[at].lower() in {"common", "sensitive", "specific", "independent"}:
        return after != "and"
    return after in words("preposition") | {"to", "that", "and", "or", "enough", "after", "compared"} or after.endswith(
        "ly"
    )
