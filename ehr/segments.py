"""Cut the sections of a note into sentences, list items and problem headings.

Clinical notes are wrapped at a fixed width, so a line break means nothing by itself: a line goes on where the one
before had no room for its next word. Otherwise a line break ends an entry (a diagnosis, a problem, a line of an
examination), and a blank line ends a paragraph.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from ehr.spans import Section, Segment
from ontoground.tables import read_table

__all__ = ["segment_note"]

# Widths, in characters, at which notes are wrapped; a note whose lines are all shorter is taken as wrapped at the
# least of them, one with longer lines as not wrapped at all.
_WRAP_MIN, _WRAP_MAX = 66, 100

_BULLET = re.compile(
    r"(?:#+|[-*•>+=]|\[[ x_]?\]|[a-z][.)])(?=\s|(?<=#)\S|(?<=\])\S|\s*$)|\(?\d{1,2}[.)](?=\s+\S)|[#•]|-(?=[A-Za-z])"
)
_NUMBER = re.compile(r"\(?\d{1,2}[.)]\s")
_LABEL_MAX = 60
# Longer stretches without a sentence's end are no prose; they are cut between words.
_SEGMENT_MAX = 4000
_LABEL = re.compile(r"[A-Za-z][A-Za-z0-9 /&,.()'+\-]{0,78}?:(?=\s|$)")
# Several short problems may share a line: "# GERD: omeprazole. # BPH: tamsulosin".
_INLINE_PROBLEM = re.compile(r"(?<=[.;:)\]]) +(?=#+ ?[A-Za-z])|(?<=/) +(?=#+ ?[A-Za-z])")
_SENTENCE_END = re.compile(r"[.?!]+[\"')\]]*\s+(?=[\"'(\[]?[A-Z0-9_?+#])")


SegmentKind = Literal["sentence", "item", "heading"]


class _Line(NamedTuple):
    begin: int
    end: int
    raw_length: int


class _Entry(NamedTuple):
    """Lines that belong together: a paragraph, a list item or a problem's first lines."""

    begin: int
    end: int
    is_item: bool
    is_problem: bool
    block: int


def segment_note(text: str, sections: Sequence[Section]) -> list[Segment]:
    """Sentences, items and headings of a note, in order, without overlap, each inside one section.

    White space between segments belongs to none; every other character of a section is in exactly one segment.

    Args:
        text: the note.
        sections: its sections, in order and without overlap; offsets as in ``text``.
    """
    width = _wrap_width(text)
    segments: list[Segment] = []
    block = shift = 0
    for section in sections:
        for entry in _entries(text, section, width, block):
            cuts = _inline_problems(text, entry)
            for number, (begin, end) in enumerate(itertools.pairwise(cuts)):
                segments.extend(
                    _split_entry(text, entry._replace(begin=begin, end=end, block=entry.block + shift + number))
                )
            shift += len(cuts) - 2
            block = entry.block + 1
    return segments


def _inline_problems(text: str, entry: _Entry) -> list[int]:
    """Where the problems of an entry begin, and its end."""
    if not entry.is_problem:
        return [entry.begin, entry.end]
    return [entry.begin, *(match.end() for match in _INLINE_PROBLEM.finditer(text, entry.begin, entry.end)), entry.end]


def _wrap_width(text: str) -> int:
    lengths = sorted(len(line.rstrip()) for line in text.split("\n"))
    # One odd long line, such as a table, does not set the width of the note.
    longest = lengths[min(len(lengths) - 1, int(len(lengths) * 0.98))]
    return max(longest, _WRAP_MIN)


def _lines(text: str, section: Section) -> Iterator[_Line]:
    begin = section.begin
    while begin < section.end:
        newline = text.find("\n", begin, section.end)
        end = section.end if newline < 0 else newline
        line = text[begin:end]
        stripped = line.strip()
        start = begin + len(line) - len(line.lstrip())
        # The width counts from the line's start, even where the section starts amid the line.
        stop = start + len(stripped)
        yield _Line(start, stop, stop - (text.rfind("\n", 0, begin) + 1))
        begin = end + 1


def _entries(text: str, section: Section, width: int, block: int) -> Iterator[_Entry]:
    begin = end = -1
    is_item = is_problem = False
    # In a list of drugs a label such as "Sig:" belongs to the drug above it.
    labels_part = "medications" not in section.section
    # Elsewhere a label is a part of what it says: "Edema: none".
    has_problems = "course" in section.section
    previous: _Line | None = None
    for line in _lines(text, section):
        blank = line.begin >= line.end
        fresh = blank or previous is None or not _goes_on(text, previous, line, width)
        if begin >= 0 and fresh:
            yield _Entry(begin, end, is_item, is_problem, block)
            begin = -1
        if blank:
            previous = None
            continue
        if fresh:
            labelled = _is_labelled(text, line)
            opens = _NUMBER.match(text, line.begin, line.end) is not None or (previous is None and labelled)
            is_problem = text[line.begin] == "#" or (has_problems and opens)
            block += is_problem or previous is None or (labelled and labels_part)
            begin = line.begin
            is_item = previous is not None or _BULLET.match(text, line.begin, line.end) is not None
        end = line.end
        previous = line
    if begin >= 0:
        yield _Entry(begin, end, is_item, is_problem, block)


def _is_labelled(text: str, line: _Line) -> bool:
    """Whether the line opens with a short label of its own, as in ``Brain abscess: ...``."""
    label = _LABEL.match(text, line.begin, line.end)
    return label is not None and label.end() - label.start() <= _LABEL_MAX


def _goes_on(text: str, previous: _Line, line: _Line, width: int) -> bool:
    if _BULLET.match(text, line.begin, line.end):
        return False
    if width > _WRAP_MAX:
        return False
    word = text[line.begin : line.end].split(None, 1)[0]
    if previous.raw_length + 1 + len(word) > width - 2:
        return True
    last = text[previous.end - 1]
    if last in ",(/" or text[previous.begin : previous.end].endswith((" and", " or", " with", " of", " for", " the")):
        return True
    return line.begin < line.end and text[line.begin].islower() and previous.raw_length > width * 0.6


def _split_entry(text: str, entry: _Entry) -> Iterator[Segment]:
    starts = [entry.begin]
    kinds: list[SegmentKind] = ["item" if entry.is_item else "sentence"]
    label = _LABEL.match(text, _after_bullet(text, entry), entry.end)
    if label and (entry.is_problem or text[label.end() : entry.end].strip() == "") and label.end() < entry.end:
        kinds[0] = "heading"
        starts.append(label.end())
        kinds.append("sentence")
    elif entry.is_problem or (label and label.end() == entry.end):
        kinds[0] = "heading" if label or entry.end - entry.begin <= _LABEL_MAX else "item"
    for match in _SENTENCE_END.finditer(text, starts[-1], entry.end):
        if not _is_abbreviation(text, match, starts[-1]):
            starts.append(match.end())
            kinds.append("sentence")
    # "# Pneumonia. Treated with ...": a short first sentence names the problem.
    if entry.is_problem and len(starts) > 1 and starts[1] - starts[0] <= _LABEL_MAX:
        kinds[0] = "heading"
    yield from _cut(text, entry, starts, kinds)


def _cut(text: str, entry: _Entry, starts: list[int], kinds: list[SegmentKind]) -> Iterator[Segment]:
    for start, kind, stop in zip(starts, kinds, [*starts[1:], entry.end], strict=True):
        begin, end = start, stop
        while begin < end and text[begin].isspace():
            begin += 1
        while end > begin and text[end - 1].isspace():
            end -= 1
        while end - begin > _SEGMENT_MAX:
            cut = _last_space(text, begin, begin + _SEGMENT_MAX)
            yield Segment(kind, begin, cut, entry.block)
            begin = cut
            while text[begin].isspace():
                begin += 1
        if begin < end:
            yield Segment(kind, begin, end, entry.block)


def _last_space(text: str, begin: int, end: int) -> int:
    """Where a stretch that is too long is cut: after its last word, or at its end if it is one word."""
    cut = end
    while cut > begin and not text[cut].isspace():
        cut -= 1
    while cut > begin and text[cut - 1].isspace():
        cut -= 1
    return cut if cut > begin else end


def _after_bullet(text: str, entry: _Entry) -> int:
    bullet = _BULLET.match(text, entry.begin, entry.end)
    position = bullet.end() if bullet else entry.begin
    while position < entry.end and text[position].isspace():
        position += 1
    return position


def _is_abbreviation(text: str, match: re.Match[str], start: int) -> bool:
    """Whether the dot that ``match`` found belongs to a word such as ``Dr.`` or to the number of a list."""
    if text[match.start()] != ".":
        return False
    begin = match.start()
    while begin > start and not text[begin - 1].isspace():
        begin -= 1
    word = text[begin : match.start()].strip("(\"'[").lower()
    needs_number = _abbreviations().get(word)
    if needs_number is not None:
        return not needs_number or text[match.end()].isdigit() or text[match.end()] == "_"
    return (len(word) == 1 and word.isalpha()) or (begin == start and word.isdigit() and len(word) <= 2)


@cache
def _abbreviations() -> dict[str, bool]:
    """Words whose dot does not end a sentence, and whether that holds before a number only ("no. 3")."""
    path = Path(__file__).parent / "data" / "sentence_abbreviations.tsv"
    rows = read_table(path, ("abbreviation", "before_number_only", "source"))
    return {row["abbreviation"]: row["before_number_only"] == "yes" for row in rows}
