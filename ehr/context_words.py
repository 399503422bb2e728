"""The words of a note and the triggers among them, for the compiled scan of ``ehr.assertion``.

A word is a row of a table. Triggers are found by a trie of phrases, from left to right. A place is a span in words, a
hit a trigger in words (both half-open); each is a row of a table, too.
"""

# Loops instead of any() and all(), which are not compiled.
# ruff: noqa: PLR0911, PLR0915

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
_DOT, _OPENING, _CLOSING, _X = 46, 91, 93, 120
# Characters of a line or a table that are looked at; more are no form.
_FAR = 4000


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
            # Dots that lead from a label to its answer ("Stroke.....no") end no sentence.
            is_leader = code == _DOT and position + 2 < size and codes[position + 2] == codes[position + 1] == _DOT
            while position < size and codes[position] == code and (code == _BLANK or (is_leader and code == _DOT)):
                value = hash_with(value, code)
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
    return words, _read_forms(codes, words, count, vocabulary.forms)


@part
def _read_forms(codes: CodeArray, words: IndexArray, count: int, forms: IndexArray) -> int:
    """Write years, boxes and answers as the words that rules know them by; return how many words there are."""
    kept = 0
    for position in range(count):
        begin, end = words[position, BEGIN], words[position, END]
        if kept < position:
            for column in (BEGIN, END, WORD, BITS):
                words[kept, column] = words[position, column]
        form = -1
        if words[kept, BITS] & (context.YES | context.NO):
            opened = _label_words(codes, words, kept)
            if opened >= 0 and _ends_cell(codes, end, opened == 0):
                form = context.YES_ANSWER if words[kept, BITS] & context.YES else context.NO_ANSWER
                kept -= opened
        elif codes[begin] == _CLOSING:
            opened = _box_words(codes, words, kept)
            if opened:
                is_ticked = lower(codes[end - 2]) in (43, _X)
                if _leads_line(codes, end):
                    form = context.TICKED if is_ticked else context.BOX
                else:
                    form = context.YES_ANSWER if is_ticked else context.NO_ANSWER
                kept -= opened
        elif 0x2610 <= codes[begin] <= 0x2612:
            form = context.TICKED if codes[begin] != 0x2610 else context.BOX
        elif words[kept, BITS] & context.NUMBER and words[kept, WORD] == 0:
            is_dose = position + 1 < count and words[position + 1, BITS] & context.DOSE
            is_year = end - begin == 4 and not is_dose and _is_year(codes, begin)
            words[kept, WORD] = forms[context.YEAR if is_year else context.ANY_NUMBER]
        if form >= 0:
            words[kept, WORD], words[kept, BITS] = forms[form], 0
            words[kept, END] = end
        kept += 1
    return kept


@part
def _is_year(codes: CodeArray, begin: int) -> bool:
    return bool((codes[begin] == 49 and codes[begin + 1] == 57) or (codes[begin] == 50 and codes[begin + 1] == 48))


@part
def _box_words(codes: CodeArray, words: IndexArray, closing: int) -> int:
    """Return how many words before a closing bracket belong to a box such as "[ ]", "[x]", "[-]"; 0: there is none."""
    for size in (1, 2):
        begin = words[closing - size, BEGIN] if closing >= size else -1
        if begin >= 0 and codes[begin] == _OPENING:
            inner = lower(codes[begin + 1])
            blank = inner in (32, 43, 45, _BLANK, _X, _CLOSING)
            return size if blank and words[closing, END] - begin <= 3 else 0
    return 0


@part
def _line_begin(codes: CodeArray, position: int) -> int:
    least = max(position - _FAR, 0)
    while position > least and codes[position - 1] != 10:
        position -= 1
    return position


@part
def _leads_line(codes: CodeArray, end: int) -> bool:
    """Whether the boxes of a line stand before what they ask ("[ ] asthma") and not behind it ("asthma [ ]")."""
    position = _line_begin(codes, end - 1)
    for place in range(position, end):
        if codes[place] == 58:
            position = place + 1
        if codes[place] == _OPENING:
            while codes[position] in (32, 9, 42, 45):
                position += 1
            return position >= place
    return True


@part
def _breaks(codes: CodeArray, begin: int, end: int) -> int:
    """Return how many line ends a gap has; two are a blank line, or the end of a text."""
    count = 0
    for position in range(begin, end):
        count += codes[position] == 10
    return count


@part
def _label_words(codes: CodeArray, words: IndexArray, answer: int) -> int:
    """Return how many marks part a label from its answer: "Asthma: no", "Stroke....NO", "Edema N"; -1: it is none."""
    if answer == 0:
        return -1
    begin, mark = words[answer, BEGIN], codes[words[answer - 1, BEGIN]]
    if _breaks(codes, words[answer - 1, END], begin) > 1:
        return -1
    if mark == 42 and (answer == 1 or _breaks(codes, words[answer - 2, END], words[answer - 1, BEGIN])):
        return -1  # the mark of an item: "* No murmur"
    if mark in (42, 58, 61, 63, _BLANK):  # "*", ":", "=", "?", "____"
        return 1
    if mark == 45:  # "Fever - no"
        return 1 if codes[words[answer - 1, BEGIN] - 1] == 32 and codes[begin - 1] == 32 else -1
    if mark == _DOT and words[answer - 1, END] - words[answer - 1, BEGIN] > 1:
        return 1
    dots = 0
    while dots < answer and codes[words[answer - 1 - dots, BEGIN]] == 46:
        dots += 1
    if dots:
        return dots if dots > 1 else -1
    is_letter = words[answer, END] - begin == 1 and 65 <= codes[begin] <= 90
    return 0 if is_letter and codes[begin - 1] == 32 and _is_letter(lower(codes[begin - 2])) else -1


@part
def _ends_cell(codes: CodeArray, end: int, is_letter: bool) -> bool:
    """Whether an answer is all that its line, its column or its clause says."""
    after = end
    while after < codes.size and codes[after] in (32, 9, 42, _BLANK):
        after += 1
    if after < codes.size and after > end and codes[after] in (47, 124):
        return True
    if after == codes.size or after - end > 1 or (codes[after] in (41, 44, 46, 47, 59, 93, 124) and not is_letter):
        return True
    if codes[after] == 40:
        return not is_letter
    is_capital = 65 <= codes[after] <= 90
    is_new_line = codes[after] == 10
    if not is_new_line:
        if is_letter or not is_capital:
            return bool(is_letter and is_capital)
    else:
        while after < codes.size and codes[after] in (32, 9, 10):
            after += 1
        if after == codes.size or not _is_letter(codes[after]) or _breaks(codes, end, after) > 1:
            return True
    # A line that goes on in small letters, or words of the same line, are another cell if they are a label.
    while after < codes.size and codes[after] not in (10, 44, 46, 58, 59, 63):
        after += 1
    if after == codes.size:
        return False
    return bool(codes[after] in (58, 63) or (is_new_line and codes[after] == 46 and codes[after - 1] == 32))


@part
def _longest(words: IndexArray, position: int, stop: int, node: int, trie: Trie) -> tuple[int, int]:
    """Return the trigger of the longest phrase that begins with ``node`` (-1: none) and where it ends."""
    trigger, last, step = -1, position + 1, position + 1
    while node:
        if trie.nodes[node, context.NODE_TRIGGER] >= 0:
            trigger, last = trie.nodes[node, context.NODE_TRIGGER], step
        if step == stop:
            break
        word, high = words[step, WORD], trie.nodes[node, context.CHILD_END]
        child = left(trie.children, 0, word, trie.nodes[node, context.CHILD], high)
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
        trigger, last = _longest(words, position, stop, known[words[position, WORD], context.KNOWN_NODE], trie)
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
