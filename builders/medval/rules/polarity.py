"""Turns a statement that something is there into one that it is not, or the reverse, without other change."""

from __future__ import annotations

import re

from builders.medval.items import Edit
from builders.medval.rules.scene import Scene
from builders.medval.rules.view import Seen

__all__ = ["flips"]

# What stands right before a mention that is there, and what denies it; and the reverse.
_DENY = (
    (re.compile(r"\b(with|has|had|have) (?:an? )?(?:(?:past |prior |known )?(?:medical )?)history (?:significant )?(?:of|for) $"), "{0} no history of "),
    (re.compile(r"^(Past )?(?:medical )?history of $", re.IGNORECASE), "No history of "),
    (re.compile(r"\b(was|were|is|been) (diagnosed with|found to have|positive for|consistent with) $"), "{0} not {1} "),
    (re.compile(r"\b(remarkable|significant|notable) for $"), "negative for "),
    (re.compile(r"\b(?:has|have) $"), "denies "),
    (re.compile(r"\b(?:is having|is experiencing|had|experienced|experiences) $"), "denies "),
    (re.compile(r"\b(?:[Rr]eports|[Ee]ndorses|complains of|admits to|states (?:she|he) has) (?:some |having )?$"), "denies "),
    (re.compile(r"\bpositive for $", re.IGNORECASE), "negative for "),
    (re.compile(r"(?<!no )\bevidence of $"), "no evidence of "),
)  # fmt: skip
_AFFIRM = (
    (re.compile(r"\bno (?:known |prior |past |previous )?history of $"), "a history of "),
    (re.compile(r"\bno evidence of (?:any |an )?$"), "evidence of "),
    (re.compile(r"\bnegative for $", re.IGNORECASE), "positive for "),
    (re.compile(r"\b(?:denies|denied) (?:any |having any |having )?$", re.IGNORECASE), "reports "),
    (re.compile(r"\bwithout (?:any )?$"), "with "),
    (re.compile(r"\b(?:has|had|have) no $"), "has "),
    (re.compile(r"\b(?:does not have|did not have|is not having) (?:any |an? )?$"), "has "),
    (re.compile(r"\b(?:There is|there is) no $"), "There is "),
)
# A mention that others are joined to cannot be flipped alone.
_JOINED = re.compile(r"\s*(?:,|/|\bor\b|\band\b|\bnor\b)")


def flips(scene: Scene, one: Seen, rule: str) -> list[Edit]:
    """Return the change that flips what the output says of one mention; none where that is not plain."""
    text, mention = scene.text, one.mention
    segment = scene.segment(mention.begin)
    begin = segment.begin if segment else 0
    before = text[begin : mention.begin]
    if _JOINED.match(text, mention.end) and one.polarity == "absent":
        return []
    for pattern, after in _DENY if one.polarity == "present" else _AFFIRM if one.polarity == "absent" else ():
        match = pattern.search(before)
        if match is None:
            continue
        words = after.format(*(group or "" for group in match.groups()))
        words = words[:1].upper() + words[1:] if match.group()[:1].isupper() else words
        if words.startswith("A history") is False and match.group()[:1].islower():
            words = words[:1].lower() + words[1:]
        return [scene.edit(rule, begin + match.start(), mention.begin, words, f"{one.polarity} in the input")]
    return []
