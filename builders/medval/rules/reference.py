"""Whether a reference departs from its input: the generator's own look, apart from the validator's."""

from __future__ import annotations

import re

from builders.medval.reading import Dose, Seen, View
from builders.medval.rules.scene import Scene

__all__ = ["departs"]

_KIND = re.compile(r"\b(?P<kind>acute|subacute|chronic|type (?:[12]|I{1,2}|one|two))\b(?: on\b)? ?", re.IGNORECASE)
_KINDS_BEFORE = re.compile(rf"(?:{_KIND.pattern.replace('P<kind>', ':')})+$", re.IGNORECASE)
_CUES = {
    "acute": r"acut|subacut|exacerb|decompens|flare|sudden|today|yesterday|(?:day|week)s? ago",
    "subacute": r"subacut|weeks|ago",
    "chronic": r"chron|long|years|months|baseline|always",
    "one": r"type[- ]?(?:1|I|one)\b|T1D|DM ?(?:1|I)\b|juvenile|IDDM",
    "two": r"type[- ]?(?:2|II|two)\b|T2D|DM ?(?:2|II)\b|adult[- ]onset|NIDDM",
}
"""By what an input says each kind: near to the problem in a record, anywhere in a message."""
_NEAR = 60


def departs(scene: Scene) -> bool:
    """Tell whether a reference gives a dose that its input does not, or calls a problem acute, chronic or of a type."""
    doses = any(not _is_given(scene.input_view, dose) for dose in scene.output_view.doses)
    return doses or any(_adds_kind(scene, problem) for problem in scene.output_view.problems)


def _is_given(given: View, dose: Dose) -> bool:
    """Tell whether the input gives a dose for the drug; where it gives none, whether it has it at all."""
    quantity, theirs = dose.quantity, given.amounts_of(dose)
    if quantity.base == "day":
        anywhere = {other.value for other in given.quantities if other.base == "day"}
        return theirs == {quantity.value} if theirs else not anywhere or quantity.value in anywhere
    return quantity.value in theirs if theirs else quantity.number.value in given.values


def _adds_kind(scene: Scene, problem: Seen) -> bool:
    """Tell whether a problem is called acute, chronic or of a type, and the input names it without that."""
    begin = problem.mention.begin
    before = _KINDS_BEFORE.search(scene.text, max(0, begin - _NEAR), begin)
    name = scene.text[before.start() if before else begin : problem.mention.end]
    kinds = {_kind(match["kind"].lower()) for match in _KIND.finditer(name)}
    if not kinds:
        return False
    bare = scene.concepts.family_of(scene.concepts.concepts(_KIND.sub("", name).strip())[:1])
    # A name of its own ("acute kidney injury") is said by any other name of the concept ("AKI").
    if problem.family & scene.input_view.families and not problem.family & bare:
        return False
    theirs = [other.mention for other in scene.input_view.like(problem.family | bare)]
    initials = "".join(word[0] for word in name.upper().split())
    if any(mention.text.upper() == initials for mention in theirs):
        return False
    text = scene.input_view.text
    if scene.item.task == "course2diagnosis":
        text = " ".join(text[max(0, mention.begin - _NEAR) : mention.end + _NEAR] for mention in theirs)
    return bool(theirs) and not all(re.search(rf"\b(?:{_CUES[kind]})", text, re.IGNORECASE) for kind in kinds)


def _kind(written: str) -> str:
    return written if written in _CUES else "one" if written.removeprefix("type ") in {"1", "i", "one"} else "two"
