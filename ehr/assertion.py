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

from ehr.certainty import DOUBT_OF
from ehr.characters import CodeArray, IndexArray, IntArray, kinds_of_characters
from ehr.context_arrays import ContextArrays, context_arrays
from ehr.context_scan import judge
from ehr.segments import SegmentArrays

__all__ = ["assert_arrays"]


def assert_arrays(
    codes: CodeArray,
    section_begins: Sequence[int] | IntArray,
    section_names: Sequence[str],
    are_headed: Sequence[bool],
    segments: SegmentArrays,
    begin: IntArray,
    end: IntArray,
    kind: IntArray,
    rules: ContextArrays | None = None,
) -> IndexArray:
    """What is asserted of each span, as its place in ``ASSERTIONS``, and what is doubtful of it, as bits of ``DOUBTS``.

    ``kind`` are places in ``KINDS``; ``rules``: those of the package, where they are not given. shape: (2, spans)
    """
    arrays = rules or context_arrays()
    numbers = [arrays.sections.get(name, 0) for name in section_names]
    order = np.lexsort((end, begin))
    judged: IndexArray = judge(
        codes,
        kinds_of_characters(),
        arrays.vocabulary,
        arrays.trie,
        arrays.rules,
        np.array(segments, dtype=np.int64).T.copy(),
        np.array((section_begins, numbers, are_headed), dtype=np.int64).T.copy(),
        np.take(np.array((begin, end, kind), dtype=np.int64), order, axis=1),
        DOUBT_OF,
    )
    return judged[:, np.argsort(order)]
