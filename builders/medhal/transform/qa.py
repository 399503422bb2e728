"""Questions as pairs of claims: the right option and a wrong one, worded alike (MedHal, section 3.2).

A vignette becomes the context of the pair and what is asked of it the statement (`builders.medhal.rules.question`);
where a source keeps its context apart (an abstract), that is the context. Both statements come from one template, so
that wording tells no label: a wrong option that needs another template is not taken.

The explanation of the wrong claim is the factual statement, as in the paper. If the source says why the option is
wrong, this follows; for a yes-no question the source's long answer follows, which decides it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from builders.medhal.items import Claim, Pair, QaItem
from builders.medhal.question_patterns import has
from builders.medhal.rules.question import split_question
from builders.medhal.transform.odds import Odds
from builders.medhal.writers import AnswerInWords, Writer, Written
from builders.texts.english import is_misspelt, lost_capitals
from builders.texts.origin import Refusal, Tally

__all__ = ["qa_pairs"]

BATCH = 256
DECIDED = {"yes", "no"}


@dataclass
class _Work:
    """One question on its way: what is asked, and the wrong options that may still be taken, by their hashes."""

    item: QaItem
    context: str | None
    asked: str
    left: list[int]
    right: Written | None = None
    pair: Pair | None = None
    refused: str | None = None
    waiting: list[AnswerInWords] = field(default_factory=list)


def qa_pairs(items: Iterable[QaItem], writer: Writer, tally: Tally, odds: Odds) -> Iterator[Pair]:
    """Word a right and a wrong option of each question and yield the pairs, in the order of the items.

    The wrong option is drawn by the odds of its letters (`builders.medhal.transform.odds`) among those that do not
    overlap the right one; where the writer refuses one, or words it by another template, the next is
    tried. Questions without a pair are counted by the reason for which the right option was refused, else as
    ``no_wrong_option_alike``.
    """
    stream = iter(items)
    while works := [_work(item, odds) for item in islice(stream, BATCH)]:
        _word(works, writer, odds)
        for work in works:
            if work.pair is None:
                tally.drop(work.item.origin.source, work.refused or "no_wrong_option_alike")
            else:
                yield work.pair


def _word(works: Sequence[_Work], writer: Writer, odds: Odds) -> None:
    """Ask for statements until each question has a pair, is refused, or has no wrong option left."""
    while open_works := [work for work in works if _ask(work)]:
        answers = writer.answers([request for work in open_works for request in work.waiting])
        place = 0
        for work in open_works:
            _take(work, [_spelt(work, answer, odds) for answer in answers[place : place + len(work.waiting)]])
            place += len(work.waiting)


def _spelt(work: _Work, answer: Written | Refusal, odds: Odds) -> Written | Refusal:
    """Refuse a statement with a word that no other question writes, one letter off a word that others do, or with an
    abbreviation that lost its capitals."""
    if isinstance(answer, Refusal):
        return answer
    misspelt = is_misspelt(answer.text.lower(), work.context or "", odds.spelt)
    return Refusal("broken_english") if misspelt or lost_capitals(answer.text, work.context or "") else answer


def _work(item: QaItem, odds: Odds) -> _Work:
    context, asked = (item.context, item.question) if item.context is not None else split_question(item.question)
    right, left = item.options[item.answer], odds.order(item)
    work = _Work(item, context, asked, left)
    if item.context is None and context is not None and context.rstrip('")').endswith("?"):
        work.refused = "two_questions"
    elif _many_may_hold(asked, right):
        work.refused = "relation_not_exclusive"
    elif right.lower() in DECIDED and has("verdict", asked):
        work.refused = "asks_for_a_verdict"
    elif not left:
        work.refused = "no_wrong_option_alike"
    return work


def _many_may_hold(asked: str, right: str) -> bool:
    """Tell whether several options may answer a question ("X can cause"), so that another one need not be false."""
    yes_or_no = right.lower() in DECIDED
    return not yes_or_no and has("not_exclusive", asked) and not has("exclusive", asked)


def _ask(work: _Work) -> bool:
    """Put what is to be written next into ``waiting``; tell whether there is anything."""
    work.waiting = []
    if work.pair is not None or work.refused is not None or not work.left:
        return False
    options = [work.left[0]] if work.right else [work.item.answer, work.left[0]]
    work.waiting = [AnswerInWords(work.asked, work.item.options[at]) for at in options]
    return True


def _take(work: _Work, answers: Sequence[Written | Refusal]) -> None:
    *first, wrong = answers
    if first:
        right = first[0]
        if isinstance(right, Refusal):
            work.refused = right.reason
            return
        if work.context is None and has("of_a_case", right.text):
            work.refused = "speaks_of_a_case_that_is_not_given"
            return
        work.right = right
    at = work.left.pop(0)
    if isinstance(wrong, Refusal) or work.right is None or wrong.rule != work.right.rule:
        return
    if wrong.text.casefold() != work.right.text.casefold():
        work.pair = _pair(work, work.right, wrong, at)


def _pair(work: _Work, right: Written, wrong: Written, at: int) -> Pair:
    item = work.item
    return Pair(
        origin=item.origin,
        context=work.context,
        factual=Claim(right.text, factual=True, explanation=None, synthetic=True, rule=right.rule, framed=right.framed),
        wrong=Claim(
            wrong.text,
            factual=False,
            explanation=_explanation(item, right.text, at),
            synthetic=True,
            rule=wrong.rule,
            framed=wrong.framed,
            # Only options that the right one excludes are taken.
            falsity="contradicted",
        ),
        guidance=item.options[item.answer],
    )


def _explanation(item: QaItem, factual: str, at: int) -> str:
    why_not = dict(item.why_not).get(at)
    if why_not:
        return f"{factual} {why_not}"
    if item.why and {option.lower() for option in item.options} <= DECIDED:
        return f"{factual} {item.why.lstrip(' :;,.')}"
    return factual
