"""The words of a note and the triggers among them, for the compiled scan of ``ehr.assertion``.

A word is a row of a table. Triggers are found by a trie of phrases, from left to right. A place is a span in words, a
hit a trigger in words (both half-open); each is a row of a table, too.
"""

# Loops instead of any() and all(), which are not compiled.
# ruff: noqa: PLR0912, PLR0915

from __future__ import annotations

import numpy as np

from ehr import context_rules as context
from ehr.characters import DIGIT, FNV_OFFSET, SPACE, ByteArray, CodeArray, IndexArray, hash_with, lower
from ehr.context_rules import Trie, Vocabulary
from ground.compiled import maker, part

__all__ = ["find_hits", "left", "left_after", "read_words"]

# What is known of a word of the note: offsets, the number that rules know it by, its bits.
BEGIN, END, WORD, BITS = range(4)
# What is known of it in the segment that is looked at: marks, and how many of the segment's triggers that end all
# scopes, or those of lists, and how many commas there are before it.
MARKS, HARD, SOFT, COMMAS = range(4, 8)
_COLUMNS = 8
# Places, sorted by segment and position: span in words, classes of the mention, its segment.
FIRST, LAST, CLASSES, SEGMENT = range(4)
# Hits, from left to right: first and last word alike, the trigger.
TRIGGER, _HIT_COLUMNS = 2, 3
# Marks of a word: part of a mention, a trigger of one word that ends lists, one with which the segment or its field
# begins (behind the number or the mark of an item, a label, "his"), the first word after the segment.
INSIDE, SOFT_WORD, OPENS, END_OF_SEGMENT = 1, 2, 4, 8
# Notes have "___" where something was left out.
_BLANK = 95


@part
def left(table: IndexArray, column: int, value: int, low: int, high: int) -> int:
    """``bisect_left`` in the rows ``low`` to ``high`` of a column."""
    while low < high:
        middle = (low + high) // 2
        if table[middle, column] < value:
            low = middle + 1
        else:
            high = middle
    return low


@part
def left_after(table: IndexArray, column: int, value: int, low: int, high: int) -> int:
    """Do the same as ``left``, sooner where the place is near ``low``."""
    step = 1
    while low + step < high and table[low + step, column] < value:
        low += step
        step *= 2
    return left(table, column, value, low, min(high, low + step))


@part
def _is_letter(code: int) -> bool:
    return 97 <= code <= 122


@part
def _is_figure(code: int) -> bool:
    return 48 <= code <= 57


@part
def _is_dotted(codes: CodeArray, dot: int, size: int) -> bool:
    """Whether one or two letters or figures follow a dot: "p.o.", "q.8h."."""
    end = dot + 1
    while end < size and end < dot + 4 and (_is_letter(lower(codes[end])) or _is_figure(codes[end])):
        end += 1
    return bool(dot < size and codes[dot] == 46 and 1 < end - dot < 4)


@maker
def read_words(codes: CodeArray, characters: ByteArray, vocabulary: Vocabulary) -> tuple[IndexArray, int]:
    """Return the words of a note and how many they are; shape: (at least one row more, columns).

    A word is letters and figures with an ending ("'s", ".5"), "___", or a mark.
    """
    # These loops pass no arrays: counting references to them takes longer than the work itself.
    size, slots, slot_word, known = codes.size, vocabulary.slots, vocabulary.slot_word, vocabulary.known
    mask = np.uint64(slots.size - 1)
    words = np.empty((size + 1, _COLUMNS), np.int64)
    count = position = 0
    while position < size:
        kind = characters[codes[position]] if codes[position] < characters.size else 0
        if kind & SPACE:
            position += 1
            continue
        begin = position
        value = FNV_OFFSET
        figures = 0
        code = lower(codes[position])
        while _is_letter(code) or _is_figure(code):
            value = hash_with(value, code)
            figures += _is_figure(code)
            position += 1
            code = lower(codes[position]) if position < size else 0
        is_number = figures == position - begin
        if position == begin:
            is_number = (kind & DIGIT) != 0
            value = hash_with(value, code)
            position += 1
            # Blanks and dots that lead to an answer ("Stroke.....no") are a word, whatever their number.
            while position < size and codes[position] == code and code in (_BLANK, 46):
                value = hash_with(value, code) if position - begin < 3 else value
                position += 1
        elif position - begin == 1 and not is_number and _is_dotted(codes, position, size):
            # "p.r.n." is one word, "prn".
            while _is_dotted(codes, position, size):
                position += 1
                code = lower(codes[position])
                while _is_letter(code) or _is_figure(code):
                    value = hash_with(value, code)
                    position += 1
                    code = lower(codes[position]) if position < size else 0
            position += code == 46
        elif position + 1 < size:
            following = lower(codes[position + 1])
            if (code == 39 and _is_letter(following)) or (code == 46 and _is_figure(following)):
                is_number = False
                of_letters = code != 46
                value = hash_with(value, code)
                position += 1
                while _is_letter(following) if of_letters else _is_figure(following):
                    value = hash_with(value, following)
                    position += 1
                    following = lower(codes[position]) if position < size else 0
        slot = value & mask
        while slot_word[slot] and slots[slot] != value:
            slot = (slot + np.uint64(1)) & mask
        number = slot_word[slot]
        words[count, BEGIN] = begin
        words[count, END] = position
        words[count, WORD] = number
        words[count, BITS] = context.NUMBER if number == 0 and is_number else known[number, context.KNOWN_BITS]
        words[count, BITS] |= context.FIGURE * (figures > 0)
        count += 1
    words[count] = 0
    for place in range(count):
        begin = words[place, BEGIN]
        if words[place, BITS] & context.NUMBER and words[place, WORD] == 0:
            is_year = words[place, END] - begin == 4 and not words[place + 1, BITS] & context.DOSE
            is_year = is_year and (
                (codes[begin] == 49 and codes[begin + 1] == 57) or (codes[begin] == 50 and codes[begin + 1] == 48)
            )
            words[place, WORD] = vocabulary.forms[context.YEAR if is_year else context.ANY_NUMBER]
    return words, count


@part
def _longest(words: IndexArray, position: int, stop: int, vocabulary: Vocabulary, trie: Trie) -> tuple[int, int]:
    """Return the trigger of the longest phrase that begins at a word (-1: none) and where it ends."""
    trigger, last, step = -1, position + 1, position + 1
    node = vocabulary.known[words[position, WORD], context.KNOWN_NODE]
    while node:
        if trie.nodes[node, context.NODE_TRIGGER] >= 0:
            trigger, last = trie.nodes[node, context.NODE_TRIGGER], min(step, stop)
        if step > stop:
            break
        word = words[step, WORD] if step < stop else vocabulary.forms[context.SEGMENT_END]
        high = trie.nodes[node, context.CHILD_END]
        child = left(trie.children, 0, word, trie.nodes[node, context.CHILD], high)
        is_next = child < high and trie.children[child, 0] == word
        if not is_next and step < stop and words[step, BEGIN] > words[step - 1, END] + 1:
            # A column ends as a segment does: "Asthma: no   Diabetes: yes".
            stop = step
            continue
        node = trie.children[child, 1] if is_next else 0
        step += 1
    return trigger, last


@part
def _mark_words(base: int, stop: int, words: IndexArray, places: IndexArray, low: int, high: int) -> None:
    """Mark the words of mentions and those with which something begins, count commas."""
    commas, opens = 0, OPENS
    for position in range(base, stop):
        bits = words[position, BITS]
        words[position, MARKS], words[position, COMMAS] = opens, commas
        commas += (bits & context.COMMA) != 0
        if bits & (context.COLON | context.STOP):
            opens = OPENS
        elif not bits & context.OWNER and (words[position, END] - words[position, BEGIN] > 1 or position > base + 2):
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
    vocabulary: Vocabulary,
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
        vocabulary, trie, triggers: as in ``ContextArrays``.
        places: rows ``low`` to ``high`` are those of the segment.
    """
    _mark_words(base, stop, words, places, low, high)
    hits = np.empty((stop - base, _HIT_COLUMNS), np.int64)
    count = hard = soft = 0
    position = base
    while position < stop:
        trigger, last = _longest(words, position, stop, vocabulary, trie)
        for word in range(position, last):
            words[word, HARD], words[word, SOFT] = hard, soft
        if trigger >= 0 and triggers[trigger, context.TRIGGER_END] > triggers[trigger, context.TRIGGER_RULES]:
            hits[count, FIRST], hits[count, LAST], hits[count, TRIGGER] = position, last, trigger
            count += 1
        # Part of the name of a mention, it ends nothing.
        if trigger >= 0 and not words[position, MARKS] & INSIDE:
            if triggers[trigger, context.TRIGGER_HARD]:
                hard += 1
            elif triggers[trigger, context.TRIGGER_SOFT]:
                soft += 1
                if triggers[trigger, context.TRIGGER_SOFT_WORD]:
                    words[position, MARKS] |= SOFT_WORD
        position = last
    words[stop, HARD], words[stop, SOFT] = hard, soft
    return hits, count
