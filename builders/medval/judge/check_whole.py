"""Checks of how much of a note, and of each of its sentences, a conversation says in any form.

People say most of what a note says in other words, so that a word which is not found tells little by itself. Where
next to no word of a note is found, the note is another visit's; where all are found but those of one sentence, the
sentence is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from builders.medval.judge.comparison import Comparison, Finding, quoted
from builders.medval.judge.degrees import denies, doubts
from builders.medval.judge.wording import borne_out, claim_words, known, stands_alone, telling_words
from ehr.spans import Segment

__all__ = ["is_of_its_own", "whole"]

# Of another visit's note a conversation says fewer of the telling words; fewer words tell nothing.
_HARDLY, _FEWEST = 1 / 6, 4
# So probable at most is it that a note's conversation says no word of one of its sentences.
_CHANCE = 0.01
# The share of a note's telling words that its conversation says, and the share that another patient's does: more where
# it has many words, as measured on the developed halves.
_OWN, _OTHERS, _LONG = 0.7, 0.1, 4000
# So many times as probable must it be that a note is of its conversation.
_ODDS = 100


@dataclass(frozen=True, slots=True)
class _Sentence:
    segment: Segment
    words: list[str]
    known: int


def whole(c: Comparison) -> list[Finding]:
    """Notes of which the conversation says next to nothing; sentences of which it says nothing, but all of the rest."""
    if not c.is_note:
        return []
    told = [[match.group() for match in telling] for telling in telling_words(c)]
    said = [
        _Sentence(segment, words, sum(known(c, word) for word in words))
        for segment, words in zip(c.made.segments, told, strict=True)
        if words
    ]
    count, heard = sum(len(one.words) for one in said), sum(one.known for one in said)
    if count >= _FEWEST and heard < _HARDLY * count:
        text = "the input says next to nothing of what the output says"
        return [Finding("strange_claim", text, None, None, "note, unheard")]
    return [*_strange(c, said, count, heard)]


def _strange(c: Comparison, said: list[_Sentence], count: int, heard: int) -> Iterator[Finding]:
    """Yield sentences whose words are all strange, which in a note of these words hardly comes by chance."""
    for one in said:
        begin, end, own = one.segment.begin, one.segment.end, len(one.words)
        strange = 1 - (heard + 1) / (count - own + 2)
        if one.known or len(said) * strange**own >= _CHANCE or denies(c.output, begin, end):
            continue
        clinical = any(word.lower() not in c.knowledge.plain or claim_words().match(word) for word in one.words)
        if clinical and not doubts(c.output, begin, end) and _is_alone(c, one):
            text = "the output says what the input says in no words"
            yield quoted("strange_claim", text, c, begin, end, "sentence, unheard")


def _is_alone(c: Comparison, one: _Sentence) -> bool:
    return not any(map(c.half_said, one.words)) and stands_alone(c, one.segment)


def is_of_its_own(c: Comparison, numbers: int) -> bool:
    """Tell whether a conversation says so much of a note as another patient's hardly would.

    Args:
        c: note and conversation.
        numbers: how many numbers of the note the conversation has.
    """
    named = (one.mention for one in c.made.seen if one.mention.cuis and borne_out(c, one))
    inside = {at for mention in named for at in range(mention.begin, mention.end)}
    telling = [match for segment in telling_words(c) for match in segment]
    told = {match.group().lower() for match in telling}
    said = {match.group().lower() for match in telling if match.start() in inside or known(c, match.group())}
    others = min(max(_OTHERS, len(c.input.split()) / _LONG), _OWN)
    of_said, of_strange = math.log(_OWN / others), math.log((1 - _OWN) / (1 - others))
    return (len(said) + numbers) * of_said + len(told - said) * of_strange >= math.log(_ODDS)
