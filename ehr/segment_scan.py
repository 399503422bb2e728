"""The compiled scan of ``ehr.segments``: lines, entries and sentences of a note in one pass over its characters."""

# Loops stand in the place of any() and all(), which are not compiled.
# ruff: noqa: PLR0911, SIM110

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ehr.characters import (
    ALPHA,
    DECIMAL,
    DIGIT,
    SPACE,
    ByteArray,
    CodeArray,
    HashArray,
    IntArray,
    is_kind,
    is_letter,
    word_hash,
)
from ground.compiled import kernel, maker, part

__all__ = ["IS_COURSE", "IS_MEDICATIONS", "Abbreviations", "SegmentArrays", "scan_segments"]

# Places in ``ehr.spans.SEGMENT_KINDS``.
SENTENCE, ITEM, HEADING = 0, 1, 2
# What a section is: a list of drugs, a hospital course.
IS_MEDICATIONS, IS_COURSE = 1, 2
# Widths, in characters, at which notes are wrapped; a note whose lines are all shorter is taken as wrapped at the
# least of them, one with longer lines as not wrapped at all.
_WRAP_MIN, _WRAP_MAX = 66, 100
_LABEL_MAX, _LABEL_LONGEST = 60, 79
# Words after which something must follow, with the blank before them, from their end.
_SMALL = (
    *("and", "or", "with", "of", "for", "the", "a", "an", "to", "in", "on", "by", "any", "from", "than", "as", "at"),
    *("had", "has", "have", "was", "were", "is", "are", "been", "his", "her", "your", "their", "that", "which", "who"),
)
_DENYING = ("no", "No", "not", "Not", "without", "Without", "denies", "Denies")
_SMALL_WORDS = np.array([[ord(letter) for letter in f" {word}"[::-1].ljust(8, "\0")] for word in (*_SMALL, *_DENYING)])
# Longer stretches without a sentence's end are no prose; they are cut between words.
_SEGMENT_MAX = 4000


class SegmentArrays(NamedTuple):
    """Segments in their order: kind (a place in ``SEGMENT_KINDS``), offsets and block. shape of each: (segments,)"""

    kind: IntArray
    begin: IntArray
    end: IntArray
    block: IntArray


class _Entry(NamedTuple):
    """Lines that belong together: a paragraph, a list item or a problem's first lines."""

    begin: int
    end: int
    is_item: bool
    is_problem: bool
    block: int


class _Line(NamedTuple):
    """A line without the blanks around it; ``length`` counts from the line's start."""

    begin: int
    end: int
    length: int


class Abbreviations(NamedTuple):
    """Hashes of words whose dot does not end a sentence, sorted, and whether that holds before a number only."""

    hashes: HashArray
    before_number: ByteArray


@part
def _is_any(code: int, codes: tuple[int, ...]) -> bool:
    for wanted in codes:
        if code == wanted:
            return True
    return False


@part
def _skip_spaces(codes: CodeArray, begin: int, end: int, characters: ByteArray) -> int:
    while begin < end and is_kind(codes[begin], SPACE, characters):
        begin += 1
    return begin


@part
def _trim_end(codes: CodeArray, begin: int, end: int, characters: ByteArray) -> int:
    while end > begin and is_kind(codes[end - 1], SPACE, characters):
        end -= 1
    return end


@part
def _number_end(codes: CodeArray, begin: int, end: int, characters: ByteArray) -> int:
    """Return where "1.", "12)" or "(3)" at ``begin`` ends; -1 where there is none."""
    position = begin + (begin < end and codes[begin] == 40)
    first = position
    while position < end and position < first + 2 and is_kind(codes[position], DECIMAL, characters):
        position += 1
    if first < position < end and (codes[position] == 46 or codes[position] == 41):
        return position + 1
    return -1


@part
def _bullet_end(codes: CodeArray, begin: int, end: int, characters: ByteArray) -> int:
    """Return where the bullet at ``begin`` ends ("#", "-", "[ ]", "a.", "1."); -1 where there is none."""
    code = codes[begin]
    after = begin + 1
    if code == 35:  # "#", and several
        while after < end and codes[after] == 35:
            after += 1
        return after
    closed = after == end or is_kind(codes[after], SPACE, characters)
    if code == 0x2022 or (closed and _is_any(code, (45, 42, 62, 43, 61))):  # "•"; "-*>+=" before a blank
        return after
    if code == 91:  # "[ ]", "[x]", "[_]", "[]"
        if after < end and _is_any(codes[after], (32, 120, 95)):
            after += 1
        if after < end and codes[after] == 93:
            return after + 1
        return -1
    if 97 <= code <= 122 and after < end and (codes[after] == 46 or codes[after] == 41):  # "a.", "b)"
        if after + 1 == end or is_kind(codes[after + 1], SPACE, characters):
            return after + 1
        return -1
    if code == 45:
        return after if after < end and is_letter(codes[after]) else -1
    number = _number_end(codes, begin, end, characters)
    if 0 <= number < end and is_kind(codes[number], SPACE, characters):
        return number if _skip_spaces(codes, number, end, characters) < end else -1
    return -1


@part
def _label_end(codes: CodeArray, begin: int, end: int, characters: ByteArray) -> int:
    """Return where a label such as "Brain abscess:" ends that opens a stretch; -1 where there is none."""
    if begin >= end or not is_letter(codes[begin]):
        return -1
    position = begin + 1
    while position < end and position <= begin + _LABEL_LONGEST:
        code = codes[position]
        if code == 58:
            if position + 1 == end or is_kind(codes[position + 1], SPACE, characters):
                return position + 1
            return -1
        # Letters, figures and " /&,.()'+-".
        if not (is_letter(code) or 43 <= code <= 57 or _is_any(code, (32, 38, 39, 40, 41))):
            return -1
        position += 1
    return -1


@maker
def _wrap_width(codes: CodeArray, characters: ByteArray) -> int:
    """Return the width at which a note is wrapped; one odd long line, such as a table, does not set it.

    Lines longer than those of wrapped notes are alike.
    """
    of_length = np.zeros(_WRAP_MAX + 2, np.int64)
    count = begin = 0
    for position in range(codes.size + 1):
        if position == codes.size or codes[position] == 10:
            length = _trim_end(codes, begin, position, characters) - begin
            of_length[min(length, _WRAP_MAX + 1)] += 1
            count += 1
            begin = position + 1
    rank = min(count - 1, int(count * 0.98))
    width = 0
    seen = of_length[0]
    while seen <= rank:
        width += 1
        seen += of_length[width]
    return max(width, _WRAP_MIN)


@part
def _ends_open(codes: CodeArray, begin: int, end: int) -> bool:
    """Whether a line ends in a comma, an opening mark or a small word, after which something must follow."""
    last = codes[end - 1]
    if _is_any(last, (44, 40, 47)):
        return True
    for row in range(_SMALL_WORDS.shape[0]):
        index = 0
        while (
            index < _SMALL_WORDS.shape[1] and begin < end - index and codes[end - 1 - index] == _SMALL_WORDS[row, index]
        ):
            index += 1
        if index == _SMALL_WORDS.shape[1] or _SMALL_WORDS[row, index] == 0:
            return True
    return False


@part
def _goes_on(codes: CodeArray, previous: _Line, begin: int, end: int, width: int, characters: ByteArray) -> bool:
    """Whether a line goes on with what the line before says."""
    if _bullet_end(codes, begin, end, characters) >= 0:
        return False
    if _ends_open(codes, previous.begin, previous.end):
        return True
    if width > _WRAP_MAX:
        return False
    word_end = begin
    while word_end < end and not is_kind(codes[word_end], SPACE, characters):
        word_end += 1
    return previous.length + 1 + (word_end - begin) > width - 2


@part
def _last_space(codes: CodeArray, begin: int, end: int, characters: ByteArray) -> int:
    """Where a stretch that is too long is cut: after its last word, or at its end if it is one word."""
    cut = end
    while cut > begin and not is_kind(codes[cut], SPACE, characters):
        cut -= 1
    cut = _trim_end(codes, begin, cut, characters)
    return cut if cut > begin else end


@part
def _add(
    codes: CodeArray,
    kind: int,
    begin: int,
    end: int,
    block: int,
    characters: ByteArray,
    segments: SegmentArrays,
    count: int,
) -> int:
    """Add a stretch without the blanks around it, in pieces where it is too long; return how many there are now."""
    begin = _skip_spaces(codes, begin, end, characters)
    end = _trim_end(codes, begin, end, characters)
    while begin < end:
        cut = end if end - begin <= _SEGMENT_MAX else _last_space(codes, begin, begin + _SEGMENT_MAX, characters)
        segments.kind[count], segments.block[count] = kind, block
        segments.begin[count], segments.end[count] = begin, cut
        count += 1
        begin = _skip_spaces(codes, cut, end, characters)
    return count


@part
def _is_abbreviation(
    codes: CodeArray, dot: int, after: int, start: int, characters: ByteArray, abbreviations: Abbreviations
) -> bool:
    """Whether a dot belongs to a word such as "Dr." or to the number of a list; ``after`` is where the next word is."""
    if codes[dot] != 46:
        return False
    begin = dot
    while begin > start and not is_kind(codes[begin - 1], SPACE, characters):
        begin -= 1
    opens = begin == start
    end = dot
    while begin < end and _is_any(codes[begin], (40, 34, 39, 91)):
        begin += 1
    while begin < end and _is_any(codes[end - 1], (40, 34, 39, 91)):
        end -= 1
    if begin == end:
        return False
    value = word_hash(codes, begin, end)
    place = np.searchsorted(abbreviations.hashes, value)
    if place < abbreviations.hashes.size and abbreviations.hashes[place] == value:
        if not abbreviations.before_number[place]:
            return True
        return is_kind(codes[after], DIGIT, characters) or codes[after] == 95
    if end - begin == 1 and is_kind(codes[begin], ALPHA, characters) and codes[begin] != 0x130:
        return True
    figures = 0
    for position in range(begin, end):
        figures += is_kind(codes[position], DIGIT, characters)
    return opens and figures == end - begin and figures <= 2


@part
def _is_answer(codes: CodeArray, begin: int, end: int) -> bool:
    """Whether "No", "Yes", "N", "Y" or "__" is what follows a question."""
    if codes[begin] == 95:
        return True
    after = begin + 1
    if codes[begin] == 78:
        after += after < end and codes[after] == 111
    elif codes[begin] == 89:
        after += 2 * (after + 1 < end and codes[after] == 101 and codes[after + 1] == 115)
    else:
        return False
    return after >= end or not is_letter(codes[after])


@part
def _next_sentence(codes: CodeArray, begin: int, end: int, characters: ByteArray) -> tuple[int, int]:
    """Return where the next mark that may end a sentence stands, and where the next sentence begins; -1: none."""
    position = begin
    while position < end:
        if not _is_any(codes[position], (46, 63, 33)):
            position += 1
            continue
        mark = position
        while position < end and _is_any(codes[position], (46, 63, 33)):
            position += 1
        after = position
        while after < end and _is_any(codes[after], (34, 39, 41, 93)):
            after += 1
        word = _skip_spaces(codes, after, end, characters)
        if word == after or word >= end:
            continue
        first = word + _is_any(codes[word], (34, 39, 40, 91))
        if first < end and not (codes[position - 1] == 63 and _is_answer(codes, first, end)):
            code = codes[first]
            if 65 <= code <= 90 or 48 <= code <= 57 or _is_any(code, (95, 63, 43, 35)):
                return mark, word
    return -1, -1


@part
def _split_entry(
    codes: CodeArray,
    entry: _Entry,
    characters: ByteArray,
    abbreviations: Abbreviations,
    segments: SegmentArrays,
    count: int,
) -> int:
    """Cut an entry into a heading and sentences; return how many segments there are now."""
    bullet = _bullet_end(codes, entry.begin, entry.end, characters)
    opening = _skip_spaces(codes, bullet if bullet >= 0 else entry.begin, entry.end, characters)
    label = _label_end(codes, opening, entry.end, characters)
    kind = ITEM if entry.is_item else SENTENCE
    start = entry.begin
    is_alone = label >= 0 and _skip_spaces(codes, label, entry.end, characters) == entry.end
    if 0 <= label < entry.end and (entry.is_problem or is_alone):
        count = _add(codes, HEADING, start, label, entry.block, characters, segments, count)
        start, kind = label, SENTENCE
    elif entry.is_problem or label == entry.end:
        kind = HEADING if label >= 0 or entry.end - entry.begin <= _LABEL_MAX else ITEM
    position = start
    while True:
        mark, following = _next_sentence(codes, position, entry.end, characters)
        if mark < 0:
            break
        position = following
        if _is_abbreviation(codes, mark, following, start, characters, abbreviations):
            continue
        count = _add(codes, kind, start, following, entry.block, characters, segments, count)
        start, kind = following, SENTENCE
    return _add(codes, kind, start, entry.end, entry.block, characters, segments, count)


@kernel
def scan_segments(
    codes: CodeArray,
    characters: ByteArray,
    abbreviations: Abbreviations,
    section_begins: IntArray,
    section_ends: IntArray,
    section_kinds: ByteArray,
) -> Any:
    """Return the segments of a note as ``SegmentArrays``.

    Args:
        codes: the note; ``characters`` are the kinds of characters.
        abbreviations: words whose dot does not end a sentence.
        section_begins, section_ends, section_kinds: its sections, in order; bits say what each is.
    """
    room = codes.size + 1
    segments = SegmentArrays(
        np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int32)
    )
    width = _wrap_width(codes, characters)
    count = block = 0
    for section in range(section_begins.size):
        limit = section_ends[section]
        # In a list of drugs a label such as "Sig:" belongs to the drug above it.
        labels_part = not section_kinds[section] & IS_MEDICATIONS
        # Elsewhere a label is a part of what it says: "Edema: none".
        has_problems = (section_kinds[section] & IS_COURSE) != 0
        line = section_begins[section]
        row = line
        while row > 0 and codes[row - 1] != 10:
            row -= 1
        entry = _Entry(-1, -1, False, False, block)
        previous = _Line(-1, -1, 0)
        while line < limit:
            stop = line
            while stop < limit and codes[stop] != 10:
                stop += 1
            begin = _skip_spaces(codes, line, stop, characters)
            end = _trim_end(codes, begin, stop, characters)
            blank = begin == end
            is_new = previous.begin < 0
            fresh = blank or is_new or not _goes_on(codes, previous, begin, end, width, characters)
            if fresh and entry.begin >= 0:
                count = _split_entry(codes, entry, characters, abbreviations, segments, count)
                block = entry.block + 1
                entry = _Entry(-1, -1, False, False, entry.block)
            if blank:
                previous = _Line(-1, -1, 0)
            else:
                if fresh:
                    entry = _opened(codes, begin, end, is_new, labels_part, has_problems, entry.block, characters)
                previous = _Line(begin, end, end - row)
                entry = _Entry(entry.begin, end, entry.is_item, entry.is_problem, entry.block)
            line = row = stop + 1
        if entry.begin >= 0:
            count = _split_entry(codes, entry, characters, abbreviations, segments, count)
            block = entry.block + 1
    return SegmentArrays(
        segments.kind[:count].copy(),
        segments.begin[:count].copy(),
        segments.end[:count].copy(),
        segments.block[:count].copy(),
    )


@part
def _opened(
    codes: CodeArray,
    begin: int,
    end: int,
    is_new: bool,
    labels_part: bool,
    has_problems: bool,
    block: int,
    characters: ByteArray,
) -> _Entry:
    """Return the entry that a line opens after ``block``; ``is_new``: no line of a paragraph is before it."""
    label = _label_end(codes, begin, end, characters)
    labelled = 0 <= label <= begin + _LABEL_MAX
    number = _number_end(codes, begin, end, characters)
    numbered = 0 <= number < end and is_kind(codes[number], SPACE, characters)
    is_problem = codes[begin] == 35 or (has_problems and (numbered or (is_new and labelled)))
    more = is_problem or is_new or (labelled and labels_part)
    is_item = not is_new or _bullet_end(codes, begin, end, characters) >= 0
    return _Entry(begin, end, is_item, is_problem, block + more)
