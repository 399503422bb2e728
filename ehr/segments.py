"""Cut the sections of a note into sentences, list items and problem headings.

Clinical notes are wrapped at a fixed width, so a line break means nothing by itself: a line goes on where the one
before had no room for its next word. Otherwise a line break ends an entry (a diagnosis, a problem, a line of an
examination), and a blank line ends a paragraph. The scan itself is compiled (``ehr/segment_scan.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from ehr.characters import CodeArray, hash_of, kinds_of_characters
from ehr.segment_scan import IS_COURSE, IS_MEDICATIONS, Abbreviations, SegmentArrays, scan_segments
from ehr.spans import SEGMENT_KINDS, Section, Segment
from ground import ROOT
from ground.storage.tables import read_table

__all__ = ["SegmentArrays", "segment_arrays", "segments_of"]


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
    segments: SegmentArrays = scan_segments(
        codes,
        kinds_of_characters(),
        _abbreviations(),
        np.array([section.begin for section in sections], dtype=np.int32),
        np.array([section.end for section in sections], dtype=np.int32),
        np.array(kinds, dtype=np.uint8),
    )
    return segments


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
