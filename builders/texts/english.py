"""Slips that no reader forgives: what an edit or a template left broken, or a source wrote so or lost."""

from __future__ import annotations

import re
from functools import cache

from ground import ROOT
from ground.storage.tables import read_table

__all__ = ["is_broken", "is_damaged"]

_ENDS = re.compile(r"[.!?][\"'”’)\]]*$")
_BRACKETS = ("()", "[]", "“”")


@cache
def _pattern(kind: str) -> re.Pattern[str]:
    rows = read_table(ROOT / "builders" / "data" / "slips.tsv", ("kind", "pattern", "source"))
    return re.compile("|".join(row["pattern"] for row in rows if row["kind"] == kind), re.IGNORECASE)


def is_broken(text: str) -> bool:
    """Tell whether a text has a slip of English.

    >>> [is_broken(said) for said in ("What is the the cause?", "Where can i ask?", "It is cause by gout.", "An ulcer")]
    [True, True, True, False]
    """
    return _pattern("slip").search(text) is not None


def is_damaged(sentence: str) -> bool:
    """Tell whether a sentence of a source has a slip, or has lost a number, a name, a bracket or its end.

    Slips of number, article and small words count here, which would be too many to refuse a whole text for.

    >>> [is_damaged(said) for said in ("It fell at % of sites.", "In <dig> men it fell.", "It fell")]
    [True, True, True]
    >>> [is_damaged(said) for said in ("This studies aim was to.", "About 40% genes are lost.", "An evidence.")]
    [True, True, True]
    >>> is_damaged("Doses of 5 mg or more (in adults) were given to 12% of them.")
    False
    """
    lost = _pattern("damage").search(sentence) is not None or _ENDS.search(sentence) is None
    uneven = any(sentence.count(pair[0]) != sentence.count(pair[1]) for pair in _BRACKETS) or sentence.count('"') % 2
    return lost or bool(uneven) or is_broken(sentence)
