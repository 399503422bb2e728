"""What the wrong statement of a pair has in the place of what the factual one says, and in which direction.

A word that changes put in more often than they take it out tells the label without the context. Pairs whose change goes
one way are kept as often as pairs whose change goes the other way (`builders.medhal.versions`).
"""

from __future__ import annotations

import re

from builders.medhal.items import Pair
from builders.medhal.rules.check_summary import unshared
from builders.medhal.versions import content_hash
from ground.contracts.rows_text import MedhalTask

__all__ = ["exchange_of"]

_TOKEN = re.compile(r"\w+(?:[-'’.,]\w+)*|[^\w\s]")
_NUMBER = re.compile(r"\d[\d.,]*")
_DENIALS = frozenset({"not", "cannot", "no", "never", "nor", "without"})
_NEGATIONS = ("negation_added", "negation_removed")


def exchange_of(pair: Pair, task: MedhalTask) -> tuple[int, bool] | None:
    """Return a hash of the two things that a pair exchanges, the same both ways, and which way it goes.

    An exchange is the words before and after a rule's edit of a summary; all numbers in digits are one exchange, of
    less and more, and all denials are one, put in and taken out, also of a question's answer: "can" and "cannot" are
    one of their own. None elsewhere: options of questions and values of documents are drawn from one list for
    both rows, and a model writes freely.
    """
    factual, wrong = pair.factual.statement, pair.wrong.statement
    if task == "question_answering" and pair.wrong.rule != "lm":
        denied = [set(_TOKEN.findall(statement.lower())) & _DENIALS for statement in (factual, wrong)]
        if bool(denied[0]) is not bool(denied[1]):
            word = "cannot" if "cannot" in denied[0] | denied[1] else "not"
            return content_hash("answer", word), bool(denied[1])
    if task != "summarization" or pair.wrong.rule == "lm":
        return None
    if pair.wrong.rule in _NEGATIONS:
        return content_hash("negation"), pair.wrong.rule == _NEGATIONS[0]
    before, after = (
        " ".join(words) for words in unshared(*(_TOKEN.findall(statement.lower()) for statement in (factual, wrong)))
    )
    if _NUMBER.fullmatch(before) and _NUMBER.fullmatch(after):
        return content_hash("number"), _value(before) > _value(after)
    return content_hash("words", *sorted((before, after))), before > after


def _value(number: str) -> float:
    return float(number.replace(",", "").rstrip("."))
