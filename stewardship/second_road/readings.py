"""How a mention reads from the words around it: the second reader's cues, apart from ehr's (``assertion_cues.tsv``)."""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from ground import ROOT
from ground.storage.tables import read_table
from stewardship.second_road.words import sentences

__all__ = ["DATA", "reading_of", "with_readings"]

DATA = ROOT / "stewardship" / "data"
LISTED = ("absent", "family", "allergy")
"""Readings that hold for a whole list (no fever, chills); other cues end with the comma."""
FARTHEST = 6
PLACE = "placeofmention"
"""A word that stands for a mention."""


@dataclass(frozen=True)
class Cue:
    """Words that say how a name near them reads.

    Attributes:
        words: of the cue, in lower case, in the order in which they stand away from the name.
        reading: absent, possible, family and so on; ``stop``: no cue reaches over it.
        reach: words between cue and name, at most.
    """

    words: tuple[str, ...]
    reading: str
    reach: int


def reading_of(before: str, after: str) -> str:
    """Return how a mention reads that stands between two texts: ``present``, or what the nearest cue in reach says.

    Args:
        before, after: as `stewardship.second_road.words.sentences` has them: ``|`` ends a sentence.

    >>> reading_of("she has no known", "or seizures |")
    'absent'
    >>> reading_of("denies chest pain | known", ", on metformin")
    'present'
    """
    left, right = before.rpartition("|")[2].split()[::-1], after.partition("|")[0].split()
    readings = [*_readings("before", left), *_readings("after", right)]
    return min(readings)[1] if readings else "present"


def with_readings(mentions: pl.DataFrame) -> pl.DataFrame:
    """Add to mentions how they read: *column* reading.

    Args:
        mentions: *columns* before, after: what stands around each, as the note has it, without accents; and others.
    """
    around = mentions.select(text=pl.format("{} {} {}", "before", pl.lit(PLACE), "after")).select(sentences("text"))
    parts = [text.lower().partition(PLACE) for text in around["text"]]
    return mentions.with_columns(
        reading=pl.Series([reading_of(before, after) for before, _, after in parts], dtype=pl.String)
    )


def _readings(side: str, tokens: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the words between name and cue, and what the cue says, up to where a cue's reach ends."""
    words = [token for token in tokens if token != ","]
    for gap, word in enumerate(words[: FARTHEST + 1]):
        near = [cue for cue in _cues()[side, word] if tuple(words[gap : gap + len(cue.words)]) == cue.words]
        listed = "," in tokens[: tokens.index(word)]
        yield from (
            (gap, cue.reading)
            for cue in near
            if gap <= cue.reach and cue.reading != "stop" and (not listed or cue.reading in LISTED)
        )
        if any(cue.reading == "stop" for cue in near):
            return


@functools.cache
def _cues() -> dict[tuple[str, str], list[Cue]]:
    """Return the cues by their side and their word that is nearest to the name."""
    cues: dict[tuple[str, str], list[Cue]] = defaultdict(list)
    for row in read_table(DATA / "assertion_cues.tsv", ("cue", "reading", "side", "reach", "source")):
        words = tuple(re.findall("[a-z0-9]+", row["cue"].casefold()))
        for side in ("before", "after") if row["side"] == "stop" else (row["side"],):
            reading = "stop" if row["side"] == "stop" else row["reading"]
            ordered = words[::-1] if side == "before" else words
            cues[side, ordered[0]].append(Cue(ordered, reading, int(row["reach"])))
    return cues
