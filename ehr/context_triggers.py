"""The triggers of a segment, for the compiled scan of ``ehr.assertion``: found by tries of phrases, left to right.

A place is a span in words, a hit a trigger in words (both half-open); each is a row of a table.
"""

# Loops stand in the place of any() and all(), which are not compiled.
# ruff: noqa: PLR0912, PLR0915, SIM110

from __future__ import annotations

import numpy as np

from ehr.characters import CodeArray, IndexArray, lower
from ehr.context_arrays import (
    AUXILIARY,
    CHILD,
    CHILD_END,
    CLOSE,
    COLON,
    COMMA,
    INCLUDING,
    KNOWN_AHEAD,
    KNOWN_FIRST,
    MOST,
    NO_WILDCARD,
    NODE_TRIGGER,
    OPEN,
    OWNER,
    PREDICATE_END,
    REPORTS,
    STOP,
    TRIGGER_AHEAD,
    TRIGGER_BEHIND,
    TRIGGER_BESIDE,
    TRIGGER_BESIDE_END,
    TRIGGER_HARD,
    TRIGGER_SOFT,
    TRIGGER_SOFT_WORD,
    TRIGGER_WITHIN,
    TRIGGER_WITHIN_END,
    WIDEST,
    WILD,
    WILD_END,
    Tries,
    Vocabulary,
)
from ehr.context_words import BEGIN, BITS, COMMAS, DEPTH, END, HARD, MARKS, SOFT, WORD, left
from ground.compiled import maker, part

__all__ = [
    "CLASSES",
    "END_OF_SEGMENT",
    "FIRST",
    "INSIDE",
    "KIND",
    "LAST",
    "OPENS",
    "SEGMENT",
    "SOFT_WORD",
    "SPAN",
    "TRIGGER",
    "WHOLE",
    "find_hits",
]

# Places, sorted by segment and position: span in words, kind and classes of the mention, its number, its segment.
FIRST, LAST, KIND, CLASSES, SPAN, SEGMENT = range(6)
# Hits, from left to right: first and last word alike, the trigger, whether only its rules for a mention that holds it
# count.
TRIGGER, WHOLE = 2, 3
_HIT_COLUMNS = 4
# Marks of a word: part of a mention, a trigger of one word that ends lists, the first word after the segment, one with
# which the segment or its field begins (behind the number or the mark of an item, a label, "his").
INSIDE, SOFT_WORD, END_OF_SEGMENT, OPENS = 1, 2, 4, 8
# The object of a verb stands within so many words after it: "held home dose of lisinopril".
_OBJECT_WORDS = 4


@part
def _step(tries: Tries, node: int, word: int) -> int:
    """Return the child of a node of the trie (0: none)."""
    high = tries.nodes[node, CHILD_END]
    place = left(tries.children, 0, word, tries.nodes[node, CHILD], high)
    return tries.children[place, 1] if place < high and tries.children[place, 0] == word else 0


@part
def _ends_with(codes: CodeArray, begin: int, end: int, tries: Tries, suffix: int) -> bool:
    low, high = tries.suffix_begin[suffix], tries.suffix_begin[suffix + 1]
    if end - begin < high - low:
        return False
    for index in range(high - low):
        if lower(codes[end - 1 - index]) != tries.suffix_codes[high - 1 - index]:
            return False
    return True


@part
def _longest(words: IndexArray, position: int, stop: int, node: int, tries: Tries) -> tuple[int, int]:
    """Return the trigger of the longest phrase that begins with ``node`` (-1: none) and where it ends."""
    trigger, last = -1, position
    step = position + 1
    while node:
        if tries.nodes[node, NODE_TRIGGER] >= 0:
            trigger, last = tries.nodes[node, NODE_TRIGGER], step
        if step == stop:
            break
        node = _step(tries, node, words[step, WORD])
        step += 1
    return trigger, last


@part
def _looking_ahead(
    codes: CodeArray, words: IndexArray, position: int, stop: int, node: int, tries: Tries, nodes: IndexArray
) -> tuple[int, int]:
    """Write the triggers of the longest phrases with wildcards at ``position``; return their number and their end.

    ``nodes`` has three rows: the triggers, and room for the nodes that are under way.
    """
    now, following = 1, 2
    nodes[now, 0] = node
    count, n_nodes, last = 0, 1, position
    step = position + 1
    while True:
        seen = 0
        for index in range(n_nodes):
            if tries.nodes[nodes[now, index], NODE_TRIGGER] >= 0:
                nodes[0, seen] = tries.nodes[nodes[now, index], NODE_TRIGGER]
                seen += 1
        if seen:
            count, last = seen, step
        if step == stop or n_nodes == 0:
            return count, last
        n_following = 0
        wild = not words[step, BITS] & NO_WILDCARD
        for index in range(n_nodes):
            parent = nodes[now, index]
            child = _step(tries, parent, words[step, WORD])
            if child:
                nodes[following, n_following] = child
                n_following += 1
            for place in range(tries.nodes[parent, WILD], tries.nodes[parent, WILD_END]):
                if wild and _ends_with(codes, words[step, BEGIN], words[step, END], tries, tries.wild[place, 0]):
                    nodes[following, n_following] = tries.wild[place, 1]
                    n_following += 1
        now, following = following, now
        n_nodes = n_following
        step += 1


@part
def _stand(
    trigger: int,
    first: int,
    last: int,
    stop: int,
    words: IndexArray,
    triggers: IndexArray,
    places: IndexArray,
    low: int,
    high: int,
    is_lead: bool,
) -> tuple[int, bool]:
    """Return the trigger that counts where a phrase stands, and whether it stands within a mention.

    Of one that may look both ways only a part counts: "held lisinopril" looks forward, "lisinopril was held" backward.
    """
    following = stop
    for place in range(low, high):
        if places[place, FIRST] <= first and last <= places[place, LAST]:
            return trigger, True
        if places[place, FIRST] >= last:
            following = places[place, FIRST]
            break
    ahead, behind = triggers[trigger, TRIGGER_AHEAD], triggers[trigger, TRIGGER_BEHIND]
    if ahead < 0 or behind < 0:
        return trigger, False
    if words[first, MARKS] & OPENS or (first > 0 and words[first - 1, BITS] & COLON):
        # Nothing stands before it: "Denied any trouble with urination, hematuria".
        return (behind if following == stop and not is_lead else ahead), False
    if following - last > _OBJECT_WORDS or (following == stop and not is_lead):
        return behind, False
    for position in range(last, following):
        if words[position, BITS] & PREDICATE_END:
            return behind, False
    return ahead, False


@part
def _mark_words(base: int, stop: int, words: IndexArray, places: IndexArray, low: int, high: int) -> None:
    """Mark the words of mentions, count commas, measure parentheses."""
    depth = commas = 0
    opens = OPENS
    for position in range(base, stop):
        bits = words[position, BITS]
        words[position, MARKS] = opens
        if bits & (COLON | STOP):
            opens = OPENS
        elif not bits & (OWNER | REPORTS) and (
            words[position, END] - words[position, BEGIN] > 1 or position > base + 2
        ):
            opens = 0
        words[position, COMMAS] = commas
        commas += (bits & COMMA) != 0
        depth += (bits & OPEN) != 0
        words[position, DEPTH] = depth
        depth -= (bits & CLOSE) != 0 and depth > 0
    words[stop, MARKS] = END_OF_SEGMENT
    words[stop, COMMAS] = commas
    words[stop, DEPTH] = depth
    for place in range(low, high):
        for position in range(places[place, FIRST], min(places[place, LAST], stop)):
            words[position, MARKS] |= INSIDE


@maker
def find_hits(
    codes: CodeArray,
    base: int,
    stop: int,
    words: IndexArray,
    vocabulary: Vocabulary,
    tries: Tries,
    triggers: IndexArray,
    places: IndexArray,
    low: int,
    high: int,
    is_lead: bool,
) -> tuple[IndexArray, int]:
    """Return the hits in the words ``base`` to ``stop`` and their number; fill what the table says of these words.

    Triggers that start at one word: the longest, and none overlap. Those with a wildcard look ahead: they are found
    beside the others and use no word up.

    Args:
        codes: the note.
        base, stop: the segment, in words.
        words: of the note; MARKS to DEPTH are filled.
        vocabulary, tries, triggers: as in ``ContextArrays``.
        places: rows ``low`` to ``high`` are those of the segment.
        is_lead: whether it leads a list, whose mentions are not among the places.
    """
    _mark_words(base, stop, words, places, low, high)
    hits = np.empty(((tries.sizes[MOST] + 1) * (stop - base), _HIT_COLUMNS), np.int64)
    nodes = np.empty((3, tries.sizes[WIDEST]), np.int64)
    count = hard = soft = 0
    examples = False
    free = base
    near = low
    for position in range(base, stop):
        words[position, HARD] = hard
        words[position, SOFT] = soft
        word = words[position, WORD]
        if word == 0:
            continue
        if words[position, BITS] & COMMA:
            # "Home drugs, including A, were held": examples part a verb from what it is about, and end nothing.
            following = words[position + 1, BITS] if position + 1 < stop else 0
            if examples and following & AUXILIARY:
                continue
            examples = examples or (following & INCLUDING) != 0
        first, ahead = vocabulary.known[word, KNOWN_FIRST], vocabulary.known[word, KNOWN_AHEAD]
        if first == 0 and ahead == 0:
            continue
        n_ahead, ahead_last = 0, position
        if ahead:
            n_ahead, ahead_last = _looking_ahead(codes, words, position, stop, ahead, tries, nodes)
        longest, longest_last = -1, position
        if position >= free and first:
            longest, longest_last = _longest(words, position, stop, first, tries)
            if longest >= 0:
                free = longest_last
        while near < high and places[near, LAST] <= position and places[near, FIRST] < position:
            near += 1
        for index in range(n_ahead + (longest >= 0)):
            is_longest = index == n_ahead
            last = longest_last if is_longest else ahead_last
            hit = longest if is_longest else nodes[0, index]
            trigger, whole = _stand(hit, position, last, stop, words, triggers, places, near, high, is_lead)
            if triggers[trigger, TRIGGER_WITHIN_END] > triggers[trigger, TRIGGER_WITHIN] or (
                not whole and triggers[trigger, TRIGGER_BESIDE_END] > triggers[trigger, TRIGGER_BESIDE]
            ):
                hits[count, FIRST] = position
                hits[count, LAST] = last
                hits[count, TRIGGER] = trigger
                hits[count, WHOLE] = whole
                count += 1
            if whole:
                continue
            if triggers[trigger, TRIGGER_HARD]:
                hard += 1
            elif triggers[trigger, TRIGGER_SOFT]:
                soft += 1
                if triggers[trigger, TRIGGER_SOFT_WORD]:
                    words[position, MARKS] |= SOFT_WORD
    words[stop, HARD] = hard
    words[stop, SOFT] = soft
    return hits, count
