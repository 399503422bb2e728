"""The triggers of a segment, for the compiled scan of ``ehr.assertion``: found by a trie of phrases, left to right.

A place is a span in words, a hit a trigger in words (both half-open); each is a row of a table.
"""

from __future__ import annotations

import numpy as np

from ehr.characters import IndexArray
from ehr.context_arrays import (
    CHILD,
    CHILD_END,
    COLON,
    COMMA,
    KNOWN_NODE,
    NODE_TRIGGER,
    OWNER,
    STOP,
    TRIGGER_END,
    TRIGGER_HARD,
    TRIGGER_RULES,
    TRIGGER_SOFT,
    TRIGGER_SOFT_WORD,
    Trie,
)
from ehr.context_words import BEGIN, BITS, COMMAS, END, HARD, MARKS, SOFT, WORD, left
from ground.compiled import maker, part

__all__ = [
    "CLASSES",
    "END_OF_SEGMENT",
    "FIRST",
    "INSIDE",
    "LAST",
    "OPENS",
    "SEGMENT",
    "SOFT_WORD",
    "TRIGGER",
    "find_hits",
]

# Places, sorted by segment and position: span in words, classes of the mention, its segment.
FIRST, LAST, CLASSES, SEGMENT = range(4)
# Hits, from left to right: first and last word alike, the trigger.
TRIGGER, _HIT_COLUMNS = 2, 3
# Marks of a word: part of a mention, a trigger of one word that ends lists, one with which the segment or its field
# begins (behind the number or the mark of an item, a label, "his"), the first word after the segment.
INSIDE, SOFT_WORD, OPENS, END_OF_SEGMENT = 1, 2, 4, 8


@part
def _longest(words: IndexArray, position: int, stop: int, node: int, trie: Trie) -> tuple[int, int]:
    """Return the trigger of the longest phrase that begins with ``node`` (-1: none) and where it ends."""
    trigger, last, step = -1, position + 1, position + 1
    while node:
        if trie.nodes[node, NODE_TRIGGER] >= 0:
            trigger, last = trie.nodes[node, NODE_TRIGGER], step
        if step == stop:
            break
        word, high = words[step, WORD], trie.nodes[node, CHILD_END]
        child = left(trie.children, 0, word, trie.nodes[node, CHILD], high)
        node = trie.children[child, 1] if child < high and trie.children[child, 0] == word else 0
        step += 1
    return trigger, last


@part
def _mark_words(base: int, stop: int, words: IndexArray, places: IndexArray, low: int, high: int) -> None:
    """Mark the words of mentions and those with which something begins, count commas."""
    commas, opens = 0, OPENS
    for position in range(base, stop):
        bits = words[position, BITS]
        words[position, MARKS], words[position, COMMAS] = opens, commas
        commas += (bits & COMMA) != 0
        if bits & (COLON | STOP):
            opens = OPENS
        elif not bits & OWNER and (words[position, END] - words[position, BEGIN] > 1 or position > base + 2):
            opens = 0
    words[stop, MARKS], words[stop, COMMAS] = END_OF_SEGMENT, commas
    for place in range(low, high):
        for position in range(places[place, FIRST], min(places[place, LAST], stop)):
            words[position, MARKS] |= INSIDE


@maker
def find_hits(
    base: int,
    stop: int,
    words: IndexArray,
    known: IndexArray,
    trie: Trie,
    triggers: IndexArray,
    places: IndexArray,
    low: int,
    high: int,
) -> tuple[IndexArray, int]:
    """Return the hits in the words ``base`` to ``stop`` and their number; fill what the table says of these words.

    Of the triggers that start at one word the longest counts, and none overlap.

    Args:
        base, stop: the segment, in words.
        words: of the note; MARKS to COMMAS are filled.
        known, trie, triggers: as in ``ContextArrays``.
        places: rows ``low`` to ``high`` are those of the segment.
    """
    _mark_words(base, stop, words, places, low, high)
    hits = np.empty((stop - base, _HIT_COLUMNS), np.int64)
    count = hard = soft = 0
    position = base
    while position < stop:
        trigger, last = _longest(words, position, stop, known[words[position, WORD], KNOWN_NODE], trie)
        for word in range(position, last):
            words[word, HARD], words[word, SOFT] = hard, soft
        if trigger >= 0 and triggers[trigger, TRIGGER_END] > triggers[trigger, TRIGGER_RULES]:
            hits[count, FIRST], hits[count, LAST], hits[count, TRIGGER] = position, last, trigger
            count += 1
        # Part of the name of a mention, it ends nothing.
        if trigger >= 0 and not words[position, MARKS] & INSIDE:
            if triggers[trigger, TRIGGER_HARD]:
                hard += 1
            elif triggers[trigger, TRIGGER_SOFT]:
                soft += 1
                if triggers[trigger, TRIGGER_SOFT_WORD]:
                    words[position, MARKS] |= SOFT_WORD
        position = last
    words[stop, HARD], words[stop, SOFT] = hard, soft
    return hits, count
