"""Value types of the note: sections, segments, the kind of a mention and its assertion."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, get_args

__all__ = [
    "KINDS",
    "REASONS",
    "SEGMENT_KINDS",
    "Assertion",
    "Kind",
    "Reason",
    "Section",
    "Segment",
    "SegmentKind",
]

Kind = Literal["disorder", "finding", "drug", "procedure"]
SegmentKind = Literal["sentence", "item", "heading"]
# Why a mention is left unclear (empty: it is not).
Reason = Literal[
    "", "ordinary_word", "routine_test", "ambiguous", "examination_sign", "study_title", "inside_name", "other_meaning"
]
# In arrays a kind or a reason is its index here.
KINDS: tuple[Kind, ...] = get_args(Kind)
REASONS: tuple[Reason, ...] = get_args(Reason)
SEGMENT_KINDS: tuple[SegmentKind, ...] = get_args(SegmentKind)


class Assertion(StrEnum):
    """What the note asserts of a mention (docs/definitions.md#assertion)."""

    PRESENT = "present"
    ABSENT = "absent"
    POSSIBLE = "possible"
    FAMILY = "family"
    HISTORICAL = "historical"
    HYPOTHETICAL = "hypothetical"
    ALLERGY = "allergy"
    DISCONTINUED = "discontinued"
    GIVEN = "given"
    PLANNED = "planned"


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of the note under one header; the sections of a note tile it.

    ``section`` is the canonical name in snake case (``brief_hospital_course``); a part under a sub-header keeps the
    section of its parent and has its own ``header``. Offsets are half-open, in Unicode code points of the note.
    """

    section: str
    header: str
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Segment:
    """A sentence, list item or problem heading inside one section.

    ``block`` numbers the problem or paragraph that the segment belongs to: segments of one problem (its heading and
    the lines below it) share the block.
    """

    kind: SegmentKind
    begin: int
    end: int
    block: int
