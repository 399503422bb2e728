"""The words of a note for the compiled scan of ``ehr.assertion``: one table with a row for each word."""

# Loops instead of any() and all(), which are not compiled.
# ruff: noqa: SIM110

from __future__ import annotations

import numpy as np

from ehr.characters import DIGIT, FNV_OFFSET, SPACE, ByteArray, CodeArray, IndexArray, hash_with, lower
from ehr.context_arrays import KNOWN_BITS, KNOWN_DOUBT, NUMBER, Vocabulary
from ground.compiled import maker, part

__all__ = [
    "BEGIN",
    "BITS",
    "COMMAS",
    "DEPTH",
    "DOUBT",
    "END",
    "HARD",
    "MARKS",
    "SOFT",
    "WORD",
    "has",
    "left",
    "left_after",
    "read_words",
]

# What is known of a word of the note: offsets, the number that rules know it by, its bits.
BEGIN, END, WORD, BITS = range(4)
# What is known of it in the segment that is looked at: marks, and how many of the segment's triggers that end all
# scopes or lists, commas and open parentheses there are before it (parentheses: with it).
MARKS, HARD, SOFT, COMMAS, DEPTH = range(4, 9)
# The doubts that the word raises (KNOWN_DOUBT).
DOUBT = 9
_COLUMNS = 10
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
def has(words: IndexArray, begin: int, end: int, bit: int) -> bool:
    """Whether one of the words is of a kind."""
    for position in range(begin, end):
        if words[position, BITS] & bit:
            return True
    return False


@part
def _is_letter(code: int) -> bool:
    return 97 <= code <= 122


@part
def _is_figure(code: int) -> bool:
    return 48 <= code <= 57


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
            while code == _BLANK and position < size and codes[position] == _BLANK:
                value = hash_with(value, code)
                position += 1
        elif position + 1 < size:
            following = lower(codes[position + 1])
            if (code in (39, 0x2019) and _is_letter(following)) or (code == 46 and _is_figure(following)):
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
        words[count, BITS] = NUMBER if number == 0 and is_number else known[number, KNOWN_BITS]
        words[count, DOUBT] = known[number, KNOWN_DOUBT]
        count += 1
    return words, count
