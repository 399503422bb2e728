"""Whether a text has one of many regular expressions, wherever: dozens of them are as quick as a few.

`re` tries alternatives at every letter. Those that begin at a word's edge share that test if they stand together, and
without `re.IGNORECASE` each is left at its first letter. So texts are lower-cased instead. Those that hold at the
beginning only are tried there only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["AnyOf"]

_EDGE = r"\b"
_CASED = "(?-i:"
_GROUP = re.compile(r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")


class AnyOf:
    """Regular expressions without regard to case, except in their groups ``(?-i:...)``.

    >>> any_of = AnyOf([r"\\ban ape\\b", r"(?-i:i) am", "!!"])
    >>> [any_of.found(text) for text in ("An APE", "i am", "I am", "Oh!!", "a nape")]
    [True, True, False, True, False]
    """

    def __init__(self, expressions: Iterable[str]) -> None:
        known = list(expressions)
        self._cased = [re.compile(one, re.IGNORECASE).search for one in known if _CASED in one]
        lowered = [one for one in known if _CASED not in one]
        edged = "|".join(one for one in lowered if one.startswith(_EDGE))
        begins = [one for one in lowered if one.startswith("^") and "|" not in _GROUP.sub("", one)]
        # Of an expression that stands alone `re` looks for the first letter only.
        alone = [one for one in lowered if not one.startswith(_EDGE) and one not in begins]
        self._lowered = [re.compile("|".join(begins) or "(?!)").match]
        self._lowered += [re.compile(one).search for one in (*alone, edged) if one]

    def found(self, text: str) -> bool:
        """Tell whether a text has one of the expressions."""
        # A loop: most texts have none, and a generator costs as much as a short search.
        lowered = text.lower()
        for holds in self._lowered:
            if holds(lowered):
                return True
        return any(holds(text) for holds in self._cased)
