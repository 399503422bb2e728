"""Summaries as pairs of claims: one sentence is made to contradict what it said (MedHal, section 3.5).

A pair states one sentence of a summary, as it is and changed (the paper's factual statements are "genuine summaries or
sentences extracted from them"): it must make sense alone, has lost nothing on its way and has no slip, as whole
abstracts have in three of four. Plain sentences go before others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

from builders.medhal.items import Claim, Pair, SummaryItem
from builders.medhal.writers import SentenceToBreak, Writer, Written
from builders.texts.edits.tables import cue
from builders.texts.english import is_damaged, unknown_words
from builders.texts.origin import Refusal, Tally
from builders.texts.sentences import Sentence, lower_opening, sentences_of
from ground.settings import MedhalSettings
from ground.stable import stable_hash

__all__ = ["EXPLANATION", "capital", "summary_pairs"]

EXPLANATION = "According to the source document, {sentence}"
BATCH = 128
JOINT = re.compile(r"[,;:(]|\b(?:and|or|but|which|who|whose|that|whether|while|whereas|although|than|as)\b")
"""Where clauses and phrases of a sentence join: the fewer there are, the fewer can go wrong."""
MOST_JOINTS = 3
POINTS_BACK = re.compile(
    r"\b(?:these|those(?! (?:of|that|with|who|which|in|for|from|found))|such(?! (?:as|that)\b)"
    r"|this(?! (?:study|paper|work|article|report|review|investigation|analysis|research)\b)) [a-z]",
    re.IGNORECASE,
)
"""What another sentence said."""
INNER_CAPITAL = re.compile(r"\w*[a-z][A-Z0-9]|[A-Z]")
"""Begins a word that keeps its first letter: mRNA, pH."""


@dataclass
class _Work:
    """One summary on its way: the sentences that may still be changed, in the order in which they are tried.

    Under the rules each sentence is tried twice: "not" in the wrong place is seen without the source, so denials come
    after all else. A model is asked once.
    """

    item: SummaryItem
    long_enough: bool
    left: list[tuple[Sentence, bool]]
    pairs: list[Pair] = field(default_factory=list)


def summary_pairs(
    items: Iterable[SummaryItem], writer: Writer, settings: MedhalSettings, tally: Tally
) -> Iterator[Pair]:
    """Change sentences of summaries and yield the pairs, in the order of the items.

    The sentence is the plainest of ``min_sentence_chars`` and more, by stable hash among equals; where the writer
    refuses one the next is tried. Refused sentences are counted as ``sentence_REASON``, summaries without a pair as
    ``no_sentence_long_enough`` or ``no_contradiction``.
    """
    stream = iter(items)
    turns = (False, True) if writer.name == "rules" else (True,)
    while works := [_work(item, settings, turns, tally) for item in islice(stream, BATCH)]:
        open_works = [work for work in works if work.left]
        while open_works:
            asked = [_asked(work) for work in open_works]
            for work, answer in zip(open_works, writer.contradictions(asked), strict=True):
                _take(work, answer, tally)
            open_works = [work for work in open_works if work.left and len(work.pairs) < settings.pairs_per_summary]
        for work in works:
            if not work.pairs:
                reason = "no_contradiction" if work.long_enough else "no_sentence_long_enough"
                tally.drop(work.item.origin.source, reason)
            yield from work.pairs


def _work(item: SummaryItem, settings: MedhalSettings, turns: tuple[bool, ...], tally: Tally) -> _Work:
    """Return a summary with the sentences that may be changed and whether by a denial; short and equal ones are left
    out, uncounted."""
    source, left = item.origin.source, []
    for sentence in sentences_of(item.summary):
        if len(sentence.text) < settings.min_sentence_chars or item.summary.count(sentence.text) > 1:
            continue
        if cue("anaphor").match(sentence.text) or POINTS_BACK.search(sentence.text):
            tally.drop(source, "sentence_does_not_stand_alone")
        elif len(JOINT.findall(sentence.text)) > MOST_JOINTS:
            tally.drop(source, "sentence_of_many_parts")
        elif is_damaged(sentence.text) or unknown_words(sentence.text, item.text):
            tally.drop(source, "sentence_broken_english")
        else:
            left.append(sentence)
    left.sort(
        key=lambda sentence: (
            len(JOINT.findall(sentence.text)),
            stable_hash(settings.seed, "sentence", *_name(item), sentence.begin),
        )
    )
    return _Work(item, bool(left), [(sentence, denials) for denials in turns for sentence in left])


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
    work.pairs.append(_pair(work, sentence.text, answer))


def capital(text: str) -> str:
    """Return a text with a capital first letter; words that have a capital inside (mRNA, pH) stay."""
    return text if INNER_CAPITAL.match(text) else text[:1].upper() + text[1:]


def _pair(work: _Work, sentence: str, changed: Written) -> Pair:
    """Return the pair of a sentence; both begin with a capital, which SumPubMed's sentences lost."""
    item, stated = work.item, capital(sentence)
    explanation = EXPLANATION.format(sentence=lower_opening(sentence))
    return Pair(
        origin=replace(item.origin, inner_id=f"{item.origin.inner_id}-{len(work.pairs) + 1}"),
        context=item.text,
        factual=Claim(stated, factual=True, explanation=None, synthetic=False, rule="source"),
        wrong=Claim(
            capital(changed.text),
            factual=False,
            explanation=explanation,
            synthetic=True,
            rule=changed.rule,
            falsity="contradicted",
        ),
        guidance=stated,
    )
