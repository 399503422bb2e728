"""How sure a mention's assertion is by the rules alone: what stands beside it, and what else the note says of it.

The rules (``ehr.assertion``) take a side for each mention. They err where the words are others than those that were
thought of, which ``ehr.learned`` knows. By the rules a mention is *certain* where no trigger of a rule stands beside it
without reaching it, the note does not call it an allergen, and its name is not misspelled. What is not certain is
*unsure*, with its reasons. A diagnosis or a drug in
the lists of the discharge stands for itself; a treatment among the history may be of another time. Unsure mentions that
the codes or orders of the admission speak for are *corroborated*; certain ones on which they are silent where they
should speak are unsure as well (``sql/ehr/recorded.sql``).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ehr.characters import IndexArray, IntArray, arrow_numbers, codes_of, cut_out
from ehr.spans import KINDS, Assertion

__all__ = [
    "ASSERTIONS",
    "DOUBTS",
    "DOUBT_OF",
    "LEARNED",
    "NOTHING_AGAINST",
    "SAID_OTHERWISE",
    "UNSURE",
    "Doubt",
    "in_words",
    "named_in",
    "reasons_of",
]

Doubt = Literal["negated", "uncertain", "past", "stopped", "conditional", "other_person", "allergy"]
# In arrays an assertion is its place here, a doubt the bit at its place.
ASSERTIONS: tuple[Assertion, ...] = tuple(Assertion)
DOUBTS: tuple[Doubt, ...] = get_args(Doubt)
_MISSED: dict[Assertion, Doubt] = {
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
MISSPELLED = "misspelled"
UNSURE = (*DOUBTS, SAID_OTHERWISE, TIME, MISSPELLED)
LEARNED = 1 << len(UNSURE)
"""The bit of a reason that was learned, which has words of its own."""
DOUBT_OF: IndexArray = np.array(
    [1 << DOUBTS.index(_MISSED[assertion]) if assertion in _MISSED else 0 for assertion in ASSERTIONS], dtype=np.int64
)
"""The doubt that each of ``ASSERTIONS`` is, as its bit."""
NOTHING_AGAINST = pa.StringArray.from_buffers(0, pa.py_buffer(bytes(4)), pa.py_buffer(b""))
"""Words of no mention."""
LISTS_OF_THE_DISCHARGE = frozenset({"discharge_diagnosis", "discharge_medications"})
_LISTED = 1 << DOUBTS.index("stopped")
"""Doubts that hold in these lists too: a drug that is listed may be one to stop, or to start later."""
BEFORE_THE_STAY = frozenset({"history_of_present_illness", "past_medical_history"})
"""Where a treatment may be of another time or hospital whatever the words say."""
_IS_TREATMENT = np.array([kind in ("drug", "procedure") for kind in KINDS], dtype=np.bool_)


def named_in(owner: IntArray, concept: IntArray) -> IndexArray:
    """Return a number for what each mention names in its text, the same for the same concept; shape: (mentions,).

    Args:
        owner: the text of each mention.
        concept: number of its best candidate, -1 where it has none: then it is not known to name what another does.
    """
    concept = np.where(concept < 0, np.arange(concept.size) + (1 << 31), concept)
    number: IndexArray = np.unique(owner.astype(np.int64) << 32 | concept, return_inverse=True)[1]
    return number


def _is_among(named: IndexArray, some: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Tell which mentions name what some of them name."""
    return (np.bincount(named[some], minlength=named.size) > 0)[named]


def reasons_of(
    named: IndexArray,
    kind: IntArray,
    sections: Sequence[str],
    section: IntArray,
    assertion: IndexArray,
    doubts: IndexArray,
    is_repaired: npt.NDArray[np.bool_],
) -> IndexArray:
    """Return for each mention why it is unsure, as bits of ``UNSURE``; 0: it is certain.

    Args:
        named: what each names (``named_in``).
        kind: its place in ``KINDS``.
        sections: names of sections.
        section: the place in them of the one in which it stands.
        assertion: what the rules said, as its place in ``ASSERTIONS``.
        doubts: bits of ``DOUBTS``, from the triggers beside it.
        is_repaired: whether its name was read by repairing a misspelling.
    """
    listed = np.array([name in LISTS_OF_THE_DISCHARGE for name in sections], dtype=np.bool_)[section]
    before = np.array([name in BEFORE_THE_STAY for name in sections], dtype=np.bool_)[section]
    present = assertion == ASSERTIONS.index(Assertion.PRESENT)
    # What a mention is said to be is no doubt, and few doubts count in a list.
    reasons: IndexArray = doubts & ~DOUBT_OF[assertion] & np.where(listed & present, _LISTED, -1)
    # A fever comes and goes, a drug is held and given again; an allergy is one wherever the drug is named.
    contradicted = present & ~listed & _is_among(named, assertion == ASSERTIONS.index(Assertion.ALLERGY))
    of_another_time = present & before & _IS_TREATMENT[kind]
    reasons |= contradicted.astype(np.int64) << UNSURE.index(SAID_OTHERWISE)
    misspelled = is_repaired & ~_is_among(named, ~is_repaired)
    reasons |= misspelled.astype(np.int64) << UNSURE.index(MISSPELLED)
    reasons |= of_another_time.astype(np.int64) << UNSURE.index(TIME)
    return reasons


def in_words(unsure: IndexArray, against: pa.StringArray) -> pa.ListArray:
    """Return the reasons of mentions in words, an empty list where one is certain.

    Args:
        unsure: bits of ``UNSURE``, and ``LEARNED``.
        against: what speaks against each that is ``LEARNED``, in order.
    """
    columns = len(UNSURE) + 1
    mentions = np.flatnonzero(unsure)
    row, reason = np.nonzero(unsure[mentions, np.newaxis] & 1 << np.arange(columns))
    is_learned = reason == len(UNSURE)
    reason[is_learned] += np.arange(len(against))
    offsets = np.zeros(unsure.size + 1, dtype=np.int32)
    np.cumsum(np.bincount(mentions[row], minlength=unsure.size), out=offsets[1:])
    words = pa.concat_arrays([_names(), against]).take(arrow_numbers(reason))
    return pa.ListArray.from_arrays(arrow_numbers(offsets), words)


@cache
def _names() -> pa.StringArray:
    ends = np.cumsum([len(name) for name in UNSURE])
    begins = np.concatenate(([0], ends[:-1]))
    return cut_out(codes_of("".join(UNSURE)), begins[:, np.newaxis], ends[:, np.newaxis])
