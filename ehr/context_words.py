"""The words of a note for the compiled scan of ``ehr.assertion``: one table with a row for each word."""

# Loops stand in the place of any() and all(), which are not compiled.
# ruff: noqa: SIM110

from __future__ import annotations

import numpy as np

from ehr.characters import DIGIT, SPACE, ByteArray, CodeArray, IndexArray, is_kind, lower, word_hash
from ehr.context_arrays import KNOWN_BITS, KNOWN_DOUBT, NUMBER, Vocabulary
from ground.compiled import part

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
    "read_words",
]

# What is known of a word of the note: offsets, the number that rules know it by, its bits.
BEGIN, END, WORD, BITS = range(4)
# What is known of it in the segment that is looked at: marks, and how many of the segment's triggers that end all
# scopes or lists, commas and open parentheses there are before it (parentheses: with it).
MARKS, HARD, SOFT, COMMAS, DEPTH = range(4, 9)
# What the word makes doubtful (KNOWN_DOUBT).
DOUBT = 9
_COLUMNS = 10


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


@part
def _word_end(codes: CodeArray, begin: int) -> int:
    """Return where the word at ``begin`` ends: letters, figures and an ending ("'s", ".5"), "___" or a mark."""
    size = codes.size
    end = begin
    if codes[begin] == 95:
        while end < size and codes[end] == 95:
            end += 1
        return end
    while end < size and (_is_letter(lower(codes[end])) or _is_figure(codes[end])):
        end += 1
    if end == begin:
        return begin + 1
    more = end + 1
    if more < size and codes[end] in (39, 0x2019) and _is_letter(lower(codes[more])):
        while more < size and _is_letter(lower(codes[more])):
            more += 1
        return more
    if more < size and codes[end] == 46 and _is_figure(codes[more]):
        while more < size and _is_figure(codes[more]):
            more += 1
        return more
    return end


@part
def _number_of(codes: CodeArray, begin: int, end: int, vocabulary: Vocabulary) -> int:
    value = word_hash(codes, begin, end)
    mask = np.uint64(vocabulary.slots.size - 1)
    slot = value & mask
    while vocabulary.slot_word[slot] and vocabulary.slots[slot] != value:
        slot = (slot + np.uint64(1)) & mask
    return int(vocabulary.slot_word[slot])


@part
def _is_number(codes: CodeArray, begin: int, end: int, characters: ByteArray) -> bool:
    for position in range(begin, end):
        if not is_kind(codes[position], DIGIT, characters):
            return False
    return True


@part
def read_words(codes: CodeArray, characters: ByteArray, vocabulary: Vocabulary) -> tuple[IndexArray, int]:
    """Return the words of a note and how many they are; shape: (at least one row more, columns)."""
    words = np.empty((codes.size + 1, _COLUMNS), np.int64)
    count = position = 0
    while position < codes.size:
        if is_kind(codes[position], SPACE, characters):
            position += 1
            continue
        end = _word_end(codes, position)
        number = _number_of(codes, position, end, vocabulary)
        words[count, BEGIN] = position
        words[count, END] = end
        words[count, WORD] = number
        words[count, BITS] = vocabulary.known[number, KNOWN_BITS]
        words[count, DOUBT] = vocabulary.known[number, KNOWN_DOUBT]
        if number == 0 and _is_number(codes, position, end, characters):
            words[count, BITS] = NUMBER
        count += 1
        position = end
    return words, count
