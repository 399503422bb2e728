"""Whether a reference departs from its input: people write notes after the visit, and not all that they write was said.

The generator's own look, apart from the validator's: a strength or a frequency that the input does not give for the
drug, a problem that the reference states although the input only fears it, and one that it calls acute, chronic or of
a type where the input does not.
"""

from __future__ import annotations

import re

from builders.medval.reading import Seen
from builders.medval.rules.quantities import frequency_pattern, per_day
from builders.medval.rules.scene import Scene
from builders.medval.rules.view import Amount, Rate, View

__all__ = ["departs"]

_FEARED = re.compile(
    r"\b(?:may|might|maybe|could|possib\w+|perhaps|concern\w*|worr\w+|rule out|ruling out|suspicio\w+|suspect\w*|"
    r"hint\w*|if|whether|evaluat\w+|question\w*|risk|prevent\w*|versus|vs)\b",
    re.IGNORECASE,
)
_BEFORE = 60
"""Characters before a problem, of its sentence, in which words say that it is only feared."""
_KIND = re.compile(r"\b(?P<kind>acute|subacute|chronic|type (?:[12]|I{1,2}|one|two))\b(?: on\b)? ?", re.IGNORECASE)
_KINDS_BEFORE = re.compile(rf"(?:{_KIND.pattern.replace('P<kind>', ':')})+$", re.IGNORECASE)
_SAID = {
    "acute": r"acut|subacut|exacerb|decompens|flare|sudden|today|yesterday|(?:day|week)s? ago",
    "subacute": r"subacut|weeks|ago",
    "chronic": r"chron|long|years|months|baseline|always",
    "one": r"type[- ]?(?:1|I|one)\b|T1D|DM ?(?:1|I)\b|juvenile|IDDM",
    "two": r"type[- ]?(?:2|II|two)\b|T2D|DM ?(?:2|II)\b|adult[- ]onset|NIDDM",
}
"""By what the input says each kind, near to the problem in a record, anywhere in what people say."""
_NEAR = 60
_STOP = re.compile(r"[.?!]\s|\n")


def departs(scene: Scene) -> bool:
    """Tell whether a reference says another dose, or is surer of a problem, than its input."""
    doses = any(not _is_given(scene.given, amount) for amount in scene.made.amounts)
    rates = any(not _is_so_often(scene.given, rate) for rate in scene.made.rates)
    return doses or rates or any(_is_surer(scene, one) or _adds_kind(scene, one) for one in scene.made.problems())


def _is_given(given: View, amount: Amount) -> bool:
    """Tell whether the input gives a strength for the drug; for a drug without one, whether it has the number."""
    theirs = [one for one in given.amounts if one.drug.family & amount.drug.family and one.unit == amount.unit]
    values = {value for one in theirs for value in one.number.values} or given.values
    return bool(set(amount.number.values) & values)


def _is_so_often(given: View, rate: Rate) -> bool:
    """Tell whether the input gives one frequency for the drug, and this; for a drug without one, whether it has it."""
    theirs = {one.per_day for one in given.rates if one.drug.family & rate.drug.family}
    said = theirs or {per_day(match.group()) for match in frequency_pattern().finditer(given.text)}
    return theirs == {rate.per_day} if theirs else not said or rate.per_day in said


def _is_surer(scene: Scene, one: Seen) -> bool:
    """Tell whether a disorder that a note states, or calls likely, is only feared wherever the input names it."""
    stated = scene.item.task != "query2question" and one.polarity != "absent" and one.mention.kind == "disorder"
    if not stated or _is_feared(scene.text, one):
        return False
    theirs = scene.given.like(one.family)
    return bool(theirs) and all(_is_feared(scene.given.text, other) for other in theirs)


def _adds_kind(scene: Scene, one: Seen) -> bool:
    """Tell whether a problem is called acute, chronic or of a type, and the input names it without that."""
    begin = one.mention.begin
    before = _KINDS_BEFORE.search(scene.text, max(0, begin - _NEAR), begin)
    name = scene.text[before.start() if before else begin : one.mention.end]
    kinds = {_kind(match["kind"].lower()) for match in _KIND.finditer(name)}
    if not kinds:
        return False
    bare = scene.knowledge.family_of(scene.knowledge.concepts(_KIND.sub("", name).strip())[:1])
    # A name of its own ("acute kidney injury") is said by any other name of the concept ("AKI").
    if one.family & scene.given_families and not one.family & bare:
        return False
    theirs = scene.given.like(one.family | bare)
    initials = "".join(word[0] for word in name.upper().split())
    if any(seen.mention.text.upper() == initials for seen in theirs):
        return False
    said = scene.given.text
    if scene.item.task == "course2diagnosis":
        said = " ".join(said[max(0, seen.mention.begin - _NEAR) : seen.mention.end + _NEAR] for seen in theirs)
    return bool(theirs) and not all(re.search(rf"\b(?:{_SAID[kind]})", said, re.IGNORECASE) for kind in kinds)


def _kind(said: str) -> str:
    return said if said in _SAID else "one" if said.removeprefix("type ") in {"1", "i", "one"} else "two"


def _is_feared(text: str, one: Seen) -> bool:
    before = text[max(0, one.mention.begin - _BEFORE) : one.mention.begin]
    return _FEARED.search(_STOP.split(before)[-1]) is not None
