"""An independent reading of a pair made from a question: do both labels hold as the statements stand?

The check sees the pair and the right answer, and nothing of how statements are made: it finds the answer in the factual
statement, and asks whether the other statement is the same sentence with another answer in its place; for yes and no,
whether the source's long answer says the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from builders.medhal.items import Pair
from builders.medhal.question_patterns import has, pattern
from builders.texts.origin import Refusal

__all__ = ["check_question"]

QUOTATION = re.compile(r'"[^"]*"')
ASKS = re.compile(r"\?|\bwhich of the (?:following|these)\b|\bfollowing following\b|_{2,}", re.IGNORECASE)
CONTEXT_ASKS = re.compile(r"\bwhich of the following\b[^.]*\??$|\?[\")]*$", re.IGNORECASE)
STEM = 5
"""Letters in which the forms of a word agree."""
ABOUT_ALL = ("patient", "study", "studies", "with", "than", "that", "this", "these", "from", "have", "does", "after")
"""Beginnings of words that do not tell what a sentence is about."""
SHORTEST = 3
"""Words of a statement, at least."""


def check_question(pair: Pair) -> Refusal | None:
    """Return None where both labels of a pair are confirmed, else why not."""
    for claim in (pair.factual, pair.wrong):
        refused = _sentence(claim.statement)
        if refused is not None:
            return refused
    if pair.context is not None and CONTEXT_ASKS.search(pair.context.strip()):
        return Refusal("judge_context_asks")
    answer = " ".join((pair.guidance or "").split()).rstrip(" .;,")
    if not answer:
        return Refusal("judge_no_right_answer")
    refused = _exchanged(pair.factual.statement, pair.wrong.statement, answer)
    if refused is None and answer.lower() in {"yes", "no"}:
        refused = _borne_out(pair, yes=answer.lower() == "yes")
    return refused


def _sentence(statement: str) -> Refusal | None:
    if ASKS.search(QUOTATION.sub("", statement)):
        return Refusal("judge_statement_asks")
    words = statement.split()
    if len(words) < SHORTEST or not statement.endswith(".") or statement.endswith(".."):
        return Refusal("judge_statement_is_no_sentence")
    if (
        any(statement.count(opening) != statement.count(closing) for opening, closing in ("()", "[]"))
        or statement.count('"') % 2
    ):
        return Refusal("judge_statement_is_no_sentence")
    return None


def _exchanged(factual: str, wrong: str, answer: str) -> Refusal | None:
    """Find the answer in the factual statement; the wrong one must be the same around another answer."""
    folded, other, low = _fold(factual), _fold(wrong), _fold(answer).replace('"', "'")
    places = list(_places(low, folded))
    if not places:
        return Refusal("judge_answer_not_in_statement")
    for place in places:
        before, after = folded[:place], folded[place + len(low) :]
        if other.startswith(before) and other.endswith(after) and len(other) > len(before) + len(after):
            taken = other[len(before) : len(other) - len(after)]
            held = f" {low} " in f" {taken} "
            return Refusal("judge_wrong_statement_holds_the_answer") if held else None
    return Refusal("judge_statements_differ")


def _places(part: str, text: str) -> Iterator[int]:
    """Yield where a part begins in a text. A pattern of each answer would have to be compiled."""
    place = text.find(part)
    while place >= 0:
        yield place
        place = text.find(part, place + 1)


def _fold(text: str) -> str:
    return " ".join(text.replace("\u2019", "'").lower().split())


def _borne_out(pair: Pair, *, yes: bool) -> Refusal | None:
    """Ask whether the source's long answer, which follows the factual statement, says what the short one says.

    Texts of such sources do not always support their labels. A yes needs a sentence that speaks of the statement and
    does not merely suppose, and no denial first; a no needs a sentence that denies and speaks of the statement, or, of
    a role, that denies the role: not one that calls it small or not shown.
    """
    statement = pair.factual.statement
    long_answer = (pair.wrong.explanation or "").removeprefix(statement).strip()
    if not long_answer:
        return None
    sentences = re.split(r"(?<=[.!])\s", long_answer)
    about = [sentence for sentence in sentences if _names(sentence) & _names(statement)]
    if not about:
        return Refusal("judge_long_answer_speaks_of_other_things")
    if yes:
        supposes = all(map(pattern("hedges").search, about)) and not pattern("hedges").search(statement)
        disagrees = has("denies", sentences[0])
    else:
        supposes = False
        role = pattern("role").search(statement)
        denials = [long_answer] if role else about
        disagrees = not any(map(pattern("denies_role" if role else "may_deny").search, denials))
    if disagrees:
        return Refusal("judge_long_answer_disagrees")
    return Refusal("judge_long_answer_only_supposes") if supposes else None


def _names(text: str) -> set[str]:
    """Return the beginnings of the words that tell what a sentence is about."""
    return {word[:STEM] for word in re.findall(r"[^\W\d_]{4,}", text.lower()) if not word.startswith(ABOUT_ALL)}
