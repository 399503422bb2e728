"""Cut the sections of a note into sentences, list items and problem headings.

Clinical notes are wrapped at a fixed width, so a line break means nothing by itself: a line goes on where the one
before had no room for its next word. Otherwise a line break ends an entry (a diagnosis, a problem, a line of an
examination), and a blank line ends a paragraph. One compiled pass over the characters
finds lines, entries and sentences.
"""

# Loops stand in the place of any() and all(), which are not compiled.
# ruff: noqa: PLR0911

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ehr import characters as character
from ehr.characters import ByteArray, CodeArray, HashArray, IntArray, hash_of, is_kind, is_letter, word_hash
from ehr.spans import SEGMENT_KINDS, Section, Segment
from ground import ROOT
from ground.compiled import kernel, maker, part
from ground.storage.tables import read_table

__all__ = ["SegmentArrays", "segment_arrays", "segments_of"]

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
def _skip_spaces(codes: CodeArray, begin: int, end: int, characters: ByteArray) -> int:
    while begin < end and is_kind(codes[begin], character.SPACE, characters):
        begin += 1
    return begin


@part
def _trim_end(codes: CodeArray, begin: int, end: int, characters: ByteArray) -> int:
    while end > begin and is_kind(codes[end - 1], character.SPACE, characters):
        end -= 1
    return end


@part
def _number_end(codes: CodeArray, begin: int, end: int, characters: ByteArray) -> int:
    """Return where "1.", "12)" or "(3)" at ``begin`` ends; -1 where there is none."""
    position = begin + (begin < end and codes[begin] == 40)
    first = position
    while position < end and position < first + 2 and is_kind(codes[position], character.DECIMAL, characters):
        position += 1
    return position + 1 if first < position < end and codes[position] in (46, 41) else -1


@part
def _bullet_end(codes: CodeArray, begin: int, end: int, characters: ByteArray) -> int:
    """Return where the bullet at ``begin`` ends ("#", "-", "[ ]", "a.", "1."); -1 where there is none."""
    code = codes[begin]
    after = begin + 1
    if code == 35:  # "#", and several
        while after < end and codes[after] == 35:
            after += 1
        return after
    closed = after == end or is_kind(codes[after], character.SPACE, characters)
    if code == 0x2022 or (closed and code in (45, 42, 62, 43, 61)):  # "•"; "-*>+=" before a blank
        return after
    if code == 91:  # "[ ]", "[x]", "[_]", "[]"
        if after < end and codes[after] in (32, 120, 95):
            after += 1
        return after + 1 if after < end and codes[after] == 93 else -1
    if 97 <= code <= 122 and after < end and (codes[after] == 46 or codes[after] == 41):  # "a.", "b)"
        return after + 1 if after + 1 == end or is_kind(codes[after + 1], character.SPACE, characters) else -1
    if code == 45:
        return after if after < end and is_letter(codes[after]) else -1
    number = _number_end(codes, begin, end, characters)
    if 0 <= number < end and is_kind(codes[number], character.SPACE, characters):
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
            after = position + 1
            return after if after == end or is_kind(codes[after], character.SPACE, characters) else -1
        # Letters, figures and " /&,.()'+-".
        if not (is_letter(code) or 43 <= code <= 57 or code in (32, 38, 39, 40, 41)):
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
    if last in (44, 40, 47):
        return True
    for row in range(_SMALL_WORDS.shape[0]):
        index = 0
        while (
            index < _SMALL_WORDS.shape[1] and begin < end - index and codes[end - 1 - index] == _SMALL_WORDS[row, index]
        ):
            index += 1
        if index == _SMALL_WORDS.shape[1] or _SMALL_WORDS[row, index] == 0:
            # "Asthma: No" is an answer.
            return bool(codes[end - 1 - index] != 58)
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
    while word_end < end and not is_kind(codes[word_end], character.SPACE, characters):
        word_end += 1
    return previous.length + 1 + (word_end - begin) > width - 2


@part
def _last_space(codes: CodeArray, begin: int, end: int, characters: ByteArray) -> int:
    """Where a stretch that is too long is cut: after its last word, or at its end if it is one word."""
    cut = end
    while cut > begin and not is_kind(codes[cut], character.SPACE, characters):
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
    segments: IntArray,
    count: int,
) -> int:
    """Add a stretch without the blanks around it, in pieces where it is too long; return how many there are now."""
    begin = _skip_spaces(codes, begin, end, characters)
    end = _trim_end(codes, begin, end, characters)
    while begin < end:
        cut = end if end - begin <= _SEGMENT_MAX else _last_space(codes, begin, begin + _SEGMENT_MAX, characters)
        segments[0, count], segments[1, count], segments[2, count], segments[3, count] = kind, begin, cut, block
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
    while begin > start and not is_kind(codes[begin - 1], character.SPACE, characters):
        begin -= 1
    opens = begin == start
    end = dot
    while begin < end and codes[begin] in (40, 34, 39, 91):
        begin += 1
    while begin < end and codes[end - 1] in (40, 34, 39, 91):
        end -= 1
    if begin == end:
        return False
    value = word_hash(codes, begin, end)
    place = np.searchsorted(abbreviations.hashes, value)
    if place < abbreviations.hashes.size and abbreviations.hashes[place] == value:
        if not abbreviations.before_number[place]:
            return True
        return is_kind(codes[after], character.DIGIT, characters) or codes[after] == 95
    if end - begin == 1 and is_kind(codes[begin], character.ALPHA, characters) and codes[begin] != 0x130:
        return True
    figures = 0
    for position in range(begin, end):
        figures += is_kind(codes[position], character.DIGIT, characters)
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
        if codes[position] not in (46, 63, 33):
            position += 1
            continue
        mark = position
        while position < end and codes[position] in (46, 63, 33):
            position += 1
        after = position
        while after < end and codes[after] in (34, 39, 41, 93):
            after += 1
        word = _skip_spaces(codes, after, end, characters)
        if word == after or word >= end:
            continue
        first = word + (codes[word] in (34, 39, 40, 91))
        if first < end and not (codes[position - 1] == 63 and _is_answer(codes, first, end)):
            code = codes[first]
            if 65 <= code <= 90 or 48 <= code <= 57 or code in (95, 63, 43, 35):
                return mark, word
    return -1, -1


@part
def _split_entry(
    codes: CodeArray,
    entry: _Entry,
    characters: ByteArray,
    abbreviations: Abbreviations,
    segments: IntArray,
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
def _scan_segments(
    codes: CodeArray,
    characters: ByteArray,
    abbreviations: Abbreviations,
    sections: IntArray,
) -> Any:
    """Return the segments of a note: the columns of ``SegmentArrays``.

    Args:
        codes: the note; ``characters`` are the kinds of characters.
        abbreviations: words whose dot does not end a sentence.
        sections: begin and end of each, in order, and what it is, as bits. shape: (sections, 3)
    """
    segments = np.empty((4, codes.size + 1), np.int32)
    width = _wrap_width(codes, characters)
    count = block = 0
    for section in range(sections.shape[0]):
        line, limit, section_kind = sections[section]
        # In a list of drugs a label such as "Sig:" belongs to the drug above it.
        labels_part = not section_kind & IS_MEDICATIONS
        # Elsewhere a label is a part of what it says: "Edema: none".
        has_problems = (section_kind & IS_COURSE) != 0
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
    return segments[:, :count].copy()


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
    numbered = 0 <= number < end and is_kind(codes[number], character.SPACE, characters)
    is_problem = codes[begin] == 35 or (has_problems and (numbered or (is_new and labelled)))
    more = is_problem or is_new or (labelled and labels_part)
    is_item = not is_new or _bullet_end(codes, begin, end, characters) >= 0
    return _Entry(begin, end, is_item, is_problem, block + more)


def segment_arrays(codes: CodeArray, sections: Sequence[Section]) -> SegmentArrays:
    """Return the sentences, items and headings of a note, in order, without overlap, each inside one section.

    White space between segments belongs to none; every other character of a section is in exactly one segment.

    Args:
        codes: the note.
        sections: its sections, in order and without overlap; offsets as in ``codes``.
    """
    kinds = [
        IS_MEDICATIONS * ("medications" in section.section) + IS_COURSE * ("course" in section.section)
        for section in sections
    ]
    rows = [(section.begin, section.end, kind) for section, kind in zip(sections, kinds, strict=True)]
    table = np.array(rows, dtype=np.int32).reshape(-1, 3)
    return SegmentArrays(*_scan_segments(codes, character.kinds_of_characters(), _abbreviations(), table))


def segments_of(arrays: SegmentArrays) -> list[Segment]:
    """Return segments as values."""
    columns = (column.tolist() for column in arrays)
    return [Segment(SEGMENT_KINDS[kind], begin, end, block) for kind, begin, end, block in zip(*columns, strict=True)]


@cache
def _abbreviations() -> Abbreviations:
    """Words whose dot does not end a sentence, and whether that holds before a number only ("no. 3")."""
    path = ROOT / "ehr" / "data" / "sentence_abbreviations.tsv"
    rows = read_table(path, ("abbreviation", "before_number_only", "source"))
    needs_number = {hash_of(row["abbreviation"]): row["before_number_only"] == "yes" for row in rows}
    hashes = np.array(sorted(needs_number), dtype=np.uint64)
    return Abbreviations(hashes, np.array([needs_number[int(value)] for value in hashes], dtype=np.uint8))
