"""How a mention reads from the words around it: the second reader's cues, apart from ehr's (``assertion_cues.tsv``)."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from ground.storage.tables import read_table
from stewardship.datasets.asking import DATA

__all__ = ["Cue", "cues", "reading_of"]

WORD = re.compile(r"[^\W_]+|,")
LISTED = ("absent", "family", "allergy")
"""Readings that hold for a whole list (no fever, chills); other cues end with the comma."""
# Where a sentence or an entry of a list ends, as sql/stewardship/word.sql has it; before a name also with a short line.
END = r"[.;:!?](?:\s|$)|\n[ \t]*\n|\n[ \t]*(?:[-#*\u2022]|\d+[.)])"
AFTER = re.compile(END)
BEFORE = re.compile(rf"{END}|\n[^\n]{{1,45}}(?=\n)")


@dataclass(frozen=True)
class Cue:
    """Words that say how a name near them reads.

    Attributes:
        words: of the cue, in lower case.
        reading: absent, possible, family and so on.
        side: ``before`` or ``after`` the name, or ``stop``: no cue reaches over it.
        reach: words between cue and name, at most.
    """

    words: tuple[str, ...]
    reading: str
    side: str
    reach: int


@functools.cache
def cues() -> tuple[Cue, ...]:
    """Return the table of cues."""
    rows = read_table(DATA / "assertion_cues.tsv", ("cue", "reading", "side", "reach", "source"))
    return tuple(Cue(tuple(row["cue"].split()), row["reading"], row["side"], int(row["reach"])) for row in rows)


def reading_of(before: str, after: str) -> str:
    """Return how a mention reads that stands between two texts: ``present``, or what the nearest cue in reach says.

    >>> reading_of("She has no known ", " or seizures.")
    'absent'
    >>> reading_of("Denies chest pain. Known ", ", on metformin")
    'present'
    """
    left = WORD.findall(_last(before).casefold())
    right = WORD.findall(_first(after).casefold())
    heard = [(gap, cue.reading) for cue in cues() if (gap := _gap(cue, left, right)) is not None]
    return min(heard)[1] if heard else "present"


def _gap(cue: Cue, left: list[str], right: list[str]) -> int | None:
    """Return how many words lie between cue and name; None where it does not reach."""
    if cue.side == "stop":
        return None
    words = left[::-1] if cue.side == "before" else right
    wanted = cue.words[::-1] if cue.side == "before" else cue.words
    for gap in range(min(cue.reach, len(words) - len(wanted)) + 1):
        if tuple(words[gap : gap + len(wanted)]) == wanted:
            return None if _stopped(words[:gap], cue.reading) else gap
    return None


def _stopped(words: list[str], reading: str) -> bool:
    return ("," in words and reading not in LISTED) or any(
        cue.words[0] in words for cue in cues() if cue.side == "stop" and len(cue.words) == 1
    )


def _last(text: str) -> str:
    places = [found.end() for found in BEFORE.finditer(text)]
    return text[places[-1] :] if places else text


def _first(text: str) -> str:
    found = AFTER.search(text)
    return text[: found.start()] if found else text
