"""Whether a text has one of many regular expressions, wherever: dozens of them are as quick as a few.

`re` tries alternatives at every letter. Those that begin with a word share that test if they stand together, and
without `re.IGNORECASE` each is left at its first letter. So texts are lower-cased instead. Those that hold at the
beginning only are tried there only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

__all__ = ["AnyOf"]

_EDGE = r"\b"
_CASED = "(?-i:"
_GROUP = re.compile(r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")


class AnyOf:
    """Regular expressions without regard to case, except in their groups ``(?-i:...)``.

    One that begins with ``\\b`` begins with a word.

    >>> any_of = AnyOf([r"\\ban ape\\b", r"(?-i:i) am", "!!"])
    >>> [any_of.found(text) for text in ("An APE", "i am", "I am", "Oh!!", "a nape")]
    [True, True, False, True, False]
    """

    def __init__(self, expressions: Iterable[str]) -> None:
        known = list(expressions)
        self._cased = [_with_case(one) for one in known if _CASED in one]
        lowered = [one for one in known if _CASED not in one]
        edged = [one for one in lowered if all(part.startswith(_EDGE) for part in _alternatives(one))]
        begins = [one for one in lowered if one.startswith("^") and len(_alternatives(one)) == 1]
        # Of an expression that stands alone `re` looks for the first letter only.
        alone = [one for one in lowered if one not in edged and one not in begins]
        together = rf"{_EDGE}(?=\w)(?:{'|'.join(one.removeprefix(_EDGE) for one in edged) or '(?!)'})"
        self._lowered = [re.compile("|".join(begins) or "(?!)").match]
        self._lowered += [re.compile(one).search for one in (*alone, together)]

    def found(self, text: str) -> bool:
        """Tell whether a text has one of the expressions."""
        # A loop: most texts have none, and a generator costs as much as a short search.
        lowered = text.lower()
        for holds in self._lowered:
            if holds(lowered):
                return True
        return any(holds(text) for holds in self._cased)


def _alternatives(expression: str) -> list[str]:
    return _GROUP.sub("", expression).split("|")


def _with_case(expression: str) -> Callable[[str], re.Match[str] | None]:
    """Return the search for an expression with groups that mind case; `re` is quicker where all of it does."""
    if _GROUP.fullmatch(expression):
        return re.compile(expression.removeprefix(_CASED).removesuffix(")")).search
    return re.compile(expression, re.IGNORECASE).search
