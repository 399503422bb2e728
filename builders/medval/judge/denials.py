"""What a note denies and what a conversation denies, by words and answers near a name, whatever was read of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from builders.medval.judge.comparison import Comparison
from builders.medval.judge.degrees import denies

__all__ = ["Denials"]

# A denial reaches so far, up to the end of its clause; in a conversation it may stand anywhere near.
_REACH, _WIDE = 60, 120
# A turn so short that has an answer is a question.
_SHORT = 70
_DENIAL = re.compile(
    r"\b(?:no|not|none|never|neither|nor|without|unaware|den(?:y|ies|ied|ying)|negative for|free of)\b|n't\b",
    re.IGNORECASE,
)
_BREAK = re.compile(
    r"[.;:?!\n]|\b(?:we|you|i|he|she|they|with|but|except|however|although|so|because|since|if|until|only|just|need\w*|yet"
    r"|in|on|at|from|by|than|as|due|of (?:the|your|his|her|my|our))\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\b(?:any|ever|(?:do|did|does|have|has|had|are|is|was|were) (?:you|he|she|it|they|there)"
    r"|(?:what|how) about|history of)\b"
)
# What is not so yet is not denied.
_IF = re.compile(r"\b(?:if|until|unless)\b", re.IGNORECASE)
# What asks whether all is said.
_CLOSING = re.compile(r"\bquestions?\b|\bsounds?\b|\banything else\b")
_NO = re.compile(
    r"\W*(?:\w+\]?:?\s+)?(?:(?:um|uh|well|oh|hm+|ah|doctor)\W+)*(?:no\b|nope|nah|none|never|not\b|negative"
    r"|(?:i|he|she|we)(?: do| did| have| has|'ve)?\s?n[o']t|(?:i )?(?:don't|didn't|haven't|hasn't|doesn't)|uh-uh)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Denials:
    """Denials of a note and of its conversation."""

    c: Comparison

    def ours(self, at: int, begin: int) -> bool:
        """Tell whether the note denies what it names at a place, in a sentence that begins where is said."""
        return _reaches(self.c.output[max(begin, at - _REACH) : at])

    def differ(self, theirs: Sequence[int], *, ours: bool) -> bool:
        """Tell whether the conversation denies a thing wherever it names it and the note does not, or the reverse."""
        if ours:
            return not any(self._is_denied(at, wide=True) for at in theirs)
        return all(self._is_denied(at, wide=False) for at in theirs)

    def _is_denied(self, at: int, *, wide: bool) -> bool:
        """Tell whether the conversation denies what it names at a place, or the answer to the turn begins with no."""
        text = self.c.given.lower
        begin, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
        end = end if end >= 0 else len(text)
        answered = _NO.match(text, end + 1) is not None
        if wide:
            answer = text.find("\n", end + 1)
            return denies(text, max(begin, at - _WIDE), min(end, at + _WIDE)) or (
                end - at < _WIDE and denies(text, end, answer if answer >= 0 else len(text))
            )
        if answered:
            # "Swelling" is a question where "no" answers it; what is planned is none.
            asked = _ASKS.search(text, max(begin, at - _REACH), at) is not None and end - at < _WIDE
            # The answer is to the last question of a turn.
            later = max(at, text.find("?", at, end))
            answered = (asked or end - begin < _SHORT) and not any(
                one.search(text, later, end) for one in (_CLOSING, _ASKS)
            )
        return _reaches(text[max(begin, at - _REACH) : at]) or answered


def _reaches(before: str) -> bool:
    """Tell whether a denial in words before a name reaches the name."""
    said = [*_DENIAL.finditer(before)]
    if not said or _BREAK.search(before, said[-1].end()):
        return False
    return _IF.search(before, 0, said[-1].start()) is None
