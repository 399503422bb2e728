"""How sure a mention's assertion is: a net of words that is wider than the rules, and what else the note says of it.

The rules (``ehr.assertion``) take a side for each mention. They err where the words are others than those that were
thought of. So a mention is *certain* only where no word stands near it that could mean anything else
(``data/doubt_cues.tsv``), no trigger of a rule stands beside it without reaching it, and the note does not call it
an allergen. What is not certain is *unsure*, with its reasons. A diagnosis or a drug in the
lists of the discharge stands for itself; a treatment among the history may be of another time. Unsure mentions that the
codes or orders of the admission speak for are *corroborated*; certain ones on which they are silent where they should
speak are unsure as well (``sql/ehr/recorded.sql``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, cast, get_args

from ehr.spans import Assertion, Kind
from ground import ROOT
from ground.errors import InputError
from ground.storage.tables import read_table

__all__ = ["DOUBTS", "DOUBT_OF", "SAID_OTHERWISE", "Certainty", "Cue", "Doubt", "load_cues", "reasons_of"]

Doubt = Literal["negated", "uncertain", "past", "stopped", "conditional", "other_person", "elsewhere", "allergy"]
Certainty = Literal["certain", "corroborated", "unsure"]
# In arrays a doubt is a bit at its place here.
DOUBTS: tuple[Doubt, ...] = get_args(Doubt)
DOUBT_OF: dict[Assertion, Doubt] = {
    Assertion.ABSENT: "negated",
    Assertion.POSSIBLE: "uncertain",
    Assertion.HISTORICAL: "past",
    Assertion.DISCONTINUED: "stopped",
    Assertion.HYPOTHETICAL: "conditional",
    Assertion.PLANNED: "conditional",
    Assertion.FAMILY: "other_person",
    Assertion.ALLERGY: "allergy",
}
"""What it would be that the rules had missed."""

SAID_OTHERWISE = "said_otherwise"
TIME = "time"
CUES = ROOT / "ehr" / "data" / "doubt_cues.tsv"
COLUMNS = ("word", "doubt", "kinds", "scope", "source")
LISTS_OF_THE_DISCHARGE = frozenset({"discharge_diagnosis", "discharge_medications"})
LISTED_DOUBTS = frozenset({"stopped"})
"""Doubts that hold in these lists too: a drug that is listed may be one to stop, or to start later."""
BEFORE_THE_STAY = frozenset({"history_of_present_illness", "past_medical_history"})
"""Where a treatment may be of another time or hospital whatever the words say."""
_TREATMENTS = frozenset({"drug", "procedure"})


@dataclass(frozen=True, slots=True)
class Cue:
    """A word, what it may mean, for which mentions, and how far."""

    word: str
    doubt: Doubt
    kinds: str
    scope: str


@cache
def load_cues() -> tuple[Cue, ...]:
    """Return the words that make a mention unsure.

    Raises:
        InputError: the table is damaged.
    """
    rows = read_table(CUES, COLUMNS)
    for row in rows:
        if row["doubt"] not in DOUBTS or row["kinds"] not in ("*", "problem", "treatment"):
            raise InputError("a cue cannot be read", file=CUES, found=f"{row['word']}: {row['doubt']} {row['kinds']}")
    return tuple(Cue(row["word"], cast(Doubt, row["doubt"]), row["kinds"], row["scope"]) for row in rows)


def reasons_of(
    concepts: Sequence[str],
    kinds: Sequence[Kind],
    sections: Sequence[str],
    assertions: Sequence[Assertion],
    doubts: Sequence[int],
) -> list[tuple[str, ...]]:
    """Return for each mention of a note why it is unsure; an empty tuple: it is certain.

    Args:
        concepts: the best candidate of each mention, or an empty text.
        kinds: of the mentions.
        sections: in which each stands.
        assertions: what the rules said.
        doubts: bits of ``DOUBTS``, from the words beside it.
    """
    # A fever comes and goes, a drug is held and given again; an allergy is one wherever the drug is named.
    allergens = {
        concept
        for concept, assertion in zip(concepts, assertions, strict=True)
        if concept and assertion is Assertion.ALLERGY
    }
    found = []
    for concept, kind, section, assertion, bits in zip(concepts, kinds, sections, assertions, doubts, strict=True):
        reasons = _named(bits, assertion, section in LISTS_OF_THE_DISCHARGE)
        if assertion is Assertion.PRESENT:
            if concept in allergens and section not in LISTS_OF_THE_DISCHARGE:
                reasons = (*reasons, SAID_OTHERWISE)
            if section in BEFORE_THE_STAY and kind in _TREATMENTS:
                reasons = (*reasons, TIME)
        found.append(reasons)
    return found


@cache
def _named(bits: int, assertion: Assertion, listed: bool) -> tuple[str, ...]:
    """Return the doubts that count for a mention by name: not what it is said to be, and few in a list."""
    named = [name for bit, name in enumerate(DOUBTS) if bits >> bit & 1 and name != DOUBT_OF.get(assertion)]
    kept = LISTED_DOUBTS if listed and assertion is Assertion.PRESENT else named
    return tuple(name for name in named if name in kept)
