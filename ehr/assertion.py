"""Say what a note asserts of each mention: present, absent, possible and so on (docs/definitions.md#assertion).

The method is ConText (Harkema et al. 2009, after NegEx, Chapman et al. 2001): triggers with a direction and a scope
that other words end, and a default for each section. Two things are added for discharge summaries: a list goes on
over commas only to mentions of the same kind ("no fever, CT chest with ..." does not deny the CT), and a line that
ends with a colon lends its triggers to the items below it. The rules are data (``ehr/context_rules.py``), the scan is
compiled (``ehr/context_scan.py``).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ehr.certainty import DOUBT_OF, DOUBTS
from ehr.characters import CodeArray, IntArray, codes_of, kinds_of_characters
from ehr.context_arrays import ASSERTIONS, context_arrays
from ehr.context_scan import judge
from ehr.segments import SegmentArrays, arrays_of
from ehr.spans import KINDS, Assertion, Section, Segment, Span
from ground.storage.own_rules import NO_RULES, OwnRules

__all__ = ["assert_arrays", "assert_spans"]

_DOUBT_OF = np.array([1 << DOUBTS.index(DOUBT_OF[one]) if one in DOUBT_OF else 0 for one in ASSERTIONS], dtype=np.int64)


def assert_spans(
    text: str, sections: Sequence[Section], segments: Sequence[Segment], spans: Sequence[Span]
) -> list[Assertion]:
    """The assertion of each span, in the order of ``spans``.

    Pure and deterministic. A span outside all sections is judged without a section's default.

    Args:
        text: the note.
        sections: its sections, in order.
        segments: its segments, in order, as ``ehr.segments.segment_note`` cuts them.
        spans: matched stretches, in any order; they may overlap.

    Raises:
        InputError: the rule tables that ship with the package are damaged.
    """
    begin = np.array([span.begin for span in spans], dtype=np.int32)
    end = np.array([span.end for span in spans], dtype=np.int32)
    kind = np.array([KINDS.index(span.kind) for span in spans], dtype=np.int32)
    found, _ = assert_arrays(codes_of(text), sections, arrays_of(segments), begin, end, kind)
    return [ASSERTIONS[number] for number in found.tolist()]


def assert_arrays(
    codes: CodeArray,
    sections: Sequence[Section],
    segments: SegmentArrays,
    begin: IntArray,
    end: IntArray,
    kind: IntArray,
    own: OwnRules = NO_RULES,
) -> npt.NDArray[np.int64]:
    """What is asserted of each span, as its place in ``ASSERTIONS``, and what is doubtful of it, as bits of ``DOUBTS``.

    ``kind`` are places in ``KINDS``; ``own`` rules join the package's. shape: (2, spans)
    """
    arrays = context_arrays(own)
    rows = [(one.begin, arrays.sections.get(one.section, 0), bool(one.header)) for one in sections]
    found: npt.NDArray[np.int64] = judge(
        codes,
        kinds_of_characters(),
        arrays.vocabulary,
        arrays.tries,
        arrays.rules,
        np.array(segments, dtype=np.int64).T.copy(),
        np.array(rows, dtype=np.int64).reshape(-1, 3),
        np.array((begin, end, kind), dtype=np.int64),
        _DOUBT_OF,
    )
    return found
