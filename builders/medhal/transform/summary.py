"""Summaries as pairs of claims: one sentence is made to contradict what it said, and put back (MedHal, section 3.5).

The first pair of a summary states a passage of it: some sentences that follow one another, as they are and with one of
them changed. Where more pairs are asked for, each of the others states one further sentence alone (the paper's factual
statements are "genuine summaries or sentences extracted from them"): the passage is not repeated, and the sentence must
make sense alone. A passage makes sense alone, too, and none of its sentences has lost anything on its way: of whole
abstracts of the open sets, three of four have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

from builders.medhal.items import Claim, Pair, SummaryItem
from builders.medhal.writers import SentenceToBreak, Writer, Written
from builders.texts.edits.tables import cue
from builders.texts.english import is_damaged
from builders.texts.origin import Refusal, Tally
from builders.texts.sentences import Sentence, lower_opening, sentences_of
from ground.settings import MedhalSettings
from ground.stable import stable_hash

__all__ = ["EXPLANATION", "summary_pairs"]

EXPLANATION = "According to the source document, {sentence}"
BATCH = 128
LONGEST = 3
"""Sentences of a passage, at most."""


@dataclass
class _Work:
    """One summary on its way: the sentences that may still be changed, in the order in which they are tried.

    Under the rules each sentence is tried twice: "not" in the wrong place is seen without the source, so denials come
    after all else. A model is asked once.
    """

    item: SummaryItem
    passages: list[list[Sentence]]
    long_enough: bool
    left: list[tuple[Sentence, bool]]
    made: list[Pair] = field(default_factory=list)


def summary_pairs(
    items: Iterable[SummaryItem], writer: Writer, settings: MedhalSettings, tally: Tally
) -> Iterator[Pair]:
    """Change sentences of summaries and yield the pairs, in the order of the items.

    The sentence is chosen by stable hash among those of ``min_sentence_chars`` and more; where the writer refuses one
    the next is tried. Refused sentences are counted as ``sentence_REASON``, summaries without a pair as
    ``no_sentence_long_enough`` (of those in passages) or ``no_contradiction``.
    """
    stream = iter(items)
    turns = (False, True) if writer.name == "rules" else (True,)
    while works := [_work(item, settings, turns, tally) for item in islice(stream, BATCH)]:
        open_works = [work for work in works if work.left]
        while open_works:
            asked = [_asked(work) for work in open_works]
            for work, answer in zip(open_works, writer.contradictions(asked), strict=True):
                _take(work, answer, tally)
            open_works = [work for work in open_works if work.left and len(work.made) < settings.pairs_per_summary]
        for work in works:
            if not work.made:
                reason = "no_contradiction" if work.long_enough else "no_sentence_long_enough"
                tally.drop(work.item.origin.source, reason)
            yield from work.made


def _work(item: SummaryItem, settings: MedhalSettings, turns: tuple[bool, ...], tally: Tally) -> _Work:
    """Return a summary with the sentences that may be changed and whether by a denial; equal ones are left out."""
    sentences = sentences_of(item.summary)
    sound = [not is_damaged(one.text) for one in sentences]
    for _ in range(sound.count(False)):
        tally.drop(item.origin.source, "sentence_broken_english")
    passages = _passages(sentences, sound)
    long = [one for passage in passages for one in passage if len(one.text) >= settings.min_sentence_chars]
    once = [one for one in long if item.summary.count(one.text) == 1]
    ordered = sorted(once, key=lambda one: stable_hash(settings.seed, "sentence", *_name(item), one.begin))
    return _Work(item, passages, bool(long), [(sentence, denials) for denials in turns for sentence in ordered])


def _passages(sentences: list[Sentence], sound: list[bool]) -> list[list[Sentence]]:
    """Return the passages of a summary: each begins with a sentence that stands alone, and holds no broken one."""
    made: list[list[Sentence]] = []
    goes_on = False
    for sentence, whole in zip(sentences, sound, strict=True):
        if whole and goes_on and len(made[-1]) < LONGEST:
            made[-1].append(sentence)
            continue
        goes_on = whole and _stands_alone(sentence.text)
        if goes_on:
            made.append([sentence])
    return made


def _name(item: SummaryItem) -> tuple[str, str]:
    return item.origin.source, item.origin.inner_id


def _asked(work: _Work) -> SentenceToBreak:
    sentence, denials = work.left[0]
    key = ":".join((*_name(work.item), str(sentence.begin)))
    return SentenceToBreak(key, work.item.summary, sentence.text, work.item.text, denials)


def _take(work: _Work, answer: Written | Refusal, tally: Tally) -> None:
    (sentence, denials), source = work.left.pop(0), work.item.origin.source
    if isinstance(answer, Refusal):
        if denials:
            tally.drop(source, f"sentence_{answer.reason}")
        return
    work.left = [other for other in work.left if other[0] is not sentence]
    if not work.made:
        passage = next(passage for passage in work.passages if sentence in passage)
        begin, end = passage[0].begin, passage[-1].end
        changed = work.item.summary[begin : sentence.begin] + answer.text + work.item.summary[sentence.end : end]
        work.made.append(_pair(work, sentence, work.item.summary[begin:end], changed, answer.rule))
    elif _stands_alone(sentence.text):
        work.made.append(_pair(work, sentence, sentence.text, answer.text, answer.rule))
    else:
        tally.drop(source, "sentence_does_not_stand_alone")


def _stands_alone(sentence: str) -> bool:
    return cue("anaphor").match(sentence) is None


def _pair(work: _Work, sentence: Sentence, statement: str, wrong: str, rule: str) -> Pair:
    item = work.item
    explanation = EXPLANATION.format(sentence=lower_opening(sentence.text))
    return Pair(
        origin=replace(item.origin, inner_id=f"{item.origin.inner_id}-{len(work.made) + 1}"),
        context=item.text,
        factual=Claim(statement, factual=True, explanation=None, synthetic=False, rule="source"),
        wrong=Claim(wrong, factual=False, explanation=explanation, synthetic=True, rule=rule, falsity="contradicted"),
        guidance=sentence.text,
    )
