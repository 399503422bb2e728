"""A note cut where mentions begin and end, for whoever draws it: the page, or a notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

__all__ = ["Piece", "assertions_of", "marked", "pieces"]


@dataclass(frozen=True)
class Piece:
    """A stretch of a note between two ends of mentions, with the numbers of those that cover it, innermost first.

    ``begins`` are those that begin with it.
    """

    text: str
    covers: tuple[int, ...]
    begins: tuple[int, ...] = ()


def marked(notes: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return notes with their sections cut into pieces (``parts``), and their place among them (``at``)."""
    return [
        {
            **note,
            "at": at,
            "parts": [
                {**part, "pieces": pieces(note["text"], part["begin_offset"], part["end_offset"], note["mentions"])}
                for part in note["sections"]
            ],
        }
        for at, note in enumerate(notes)
    ]


def assertions_of(notes: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what is asserted somewhere in notes, sorted."""
    return sorted({str(mention["assertion"]) for note in notes for mention in note["mentions"]})


def pieces(text: str, begin: int, end: int, mentions: Sequence[Mapping[str, Any]]) -> list[Piece]:
    """Cut a stretch of a note where a mention begins or ends.

    Args:
        text: the whole note.
        begin: where the stretch begins.
        end: where it ends.
        mentions: all mentions of the note in their order; their offsets are those of the note.
    """
    inside = [
        (max(mention["begin_offset"], begin), min(mention["end_offset"], end), number)
        for number, mention in enumerate(mentions)
        if mention["begin_offset"] < end and mention["end_offset"] > begin
    ]
    cuts = sorted({begin, end, *(place for span in inside for place in span[:2])})
    place_of = {cut: place for place, cut in enumerate(cuts)}
    covers: list[list[int]] = [[] for _ in cuts]
    for low, high, number in sorted(inside, key=lambda span: span[1] - span[0]):
        for place in range(place_of[low], place_of[high]):
            covers[place].append(number)
    begins: dict[int, list[int]] = {}
    for number, mention in enumerate(mentions):
        begins.setdefault(mention["begin_offset"], []).append(number)
    return [
        Piece(text[low:high], tuple(numbers), tuple(begins.get(low, ())))
        for (low, high), numbers in zip(pairwise(cuts), covers, strict=False)
    ]
