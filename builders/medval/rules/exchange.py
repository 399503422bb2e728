"""Levels 3 and 4: what the input says exchanged for what another reference of the source says in such a place."""

from __future__ import annotations

import re

from builders.medval.items import Edit
from builders.medval.reading import Seen
from builders.medval.rules.pool import Name, Subject, drawn, draws, named
from builders.medval.rules.quantities import Measured, measured_of, numbers_of
from builders.medval.rules.scene import Scene
from builders.medval.rules.view import Amount
from ground.stable import stable_unit

__all__ = ["other_names", "other_rates", "other_strengths", "other_subjects", "other_values"]

_NOT_GIVEN = frozenset({"allergy", "absent", "family"})
# Strengths so many times apart, and values so far apart, are no slips of rounding.
_TIMES, _TENFOLD, _LEAST = 2, 10, 1e-6
_PART = 0.15
_BECAUSE = re.compile(r"\b(?:due to|secondary to|because of|caused by|related to|consistent with)(?: \w+)? $", re.I)
# The first letters by which forms of one word are known, and from how many letters on a word tells something.
_STEM, _TELLING = 5, 4


def other_names(scene: Scene, *, kind: str, grave: bool, reason: bool = False) -> list[Edit]:
    """Name another problem or drug in the place of one that the input names, and that the input does not hold.

    It is grave where the name that is lost or the one that comes is. ``reason``: only problems that something is put
    down to; without it, none of these.
    """
    found = []
    rule = "other_reason" if reason else f"{'grave' if grave else 'other'}_{kind}"
    for one, name in named(scene):
        if name.place[0] != kind or not scene.in_input(one) or one.mention.assertion.value in _NOT_GIVEN:
            continue
        if kind == "problem" and (name.is_heading or _is_main(scene, one)):
            continue
        because = _BECAUSE.search(scene.text, max(0, name.begin - 24), name.begin) is not None
        if because is not reason and not grave:
            continue
        other = _newcomer(scene, name, _gravity(scene, name, grave=grave), grave=grave)
        if other is not None:
            evidence = f"in place of {name.cuis[0]}: {other.cuis[0]}"
            found.append(scene.edit(rule, name.begin, name.end, other.text, evidence))
    return found


def _is_main(scene: Scene, one: Seen) -> bool:
    """Tell whether a note names a problem once that its input names first.

    Who names another in its place also keeps silent about why the patient came, and that is a second error.
    """
    if scene.item.task != "dialogue2note" or len(scene.made.like(one.family)) > 1:
        return False
    first = next(iter(scene.given.problems()), None)
    return first is not None and scene.knowledge.akin(first.mention.cuis[:1], one.mention.cuis[:1])


def _gravity(scene: Scene, name: Name | Subject, *, grave: bool) -> bool | None:
    """Tell whether the name that comes is to be grave of itself; None where nothing may come.

    Of two ways the one into the fewer names is gone less often (`Pool.turns`), so that exchanges bring as many grave
    names as they take. A question, which has one name, gives up a grave one at both unsafe levels, other texts at 4.
    """
    lost, heavy = scene.weighs(name.cuis), any(map(scene.knowledge.is_grave, name.cuis))
    if not grave or (lost and not heavy):
        return None if lost and not grave else False
    levels = 2 if scene.item.task == "query2question" else 1
    odds, unit = levels * scene.pool.odds_of_grave(name), stable_unit(0, "grave", *scene.name, name.begin)
    if heavy:
        return unit * odds >= 1
    return True if unit <= odds else None


def _newcomer(scene: Scene, name: Name | Subject, comes: bool | None, *, grave: bool) -> Name | Subject | None:
    """Return the name that comes: the first of the draws that neither text holds, and of the gravity asked for."""
    if comes is None:
        return None
    pool = draws(scene.pool.in_place(name), *scene.name, name.begin)
    fit = (other for other in pool if any(map(scene.knowledge.is_grave, other.cuis)) is comes)
    # What must not be given here weighs more than level 3, too.
    fit = (other for other in fit if scene.pool.suits(scene, name, other))
    return next((other for other in fit if _is_strange(scene, other) and (grave or not scene.weighs(other.cuis))), None)


def other_subjects(scene: Scene, *, grave: bool) -> list[Edit]:
    """Ask of what another question of the same form is about, where the input has the words that go."""
    asked = scene.pool.subject_of(scene)
    if asked is None or any(scene.in_input(one) for one, _ in named(scene)):
        return []
    told = _telling(asked.text)
    if 2 * len(told & scene.given.stems) <= len(told):
        return []
    other = _newcomer(scene, asked, _gravity(scene, asked, grave=grave), grave=grave)
    if other is None:
        return []
    rule = f"{'grave' if grave else 'other'}_subject"
    return [scene.edit(rule, asked.begin, asked.end, other.text, "the input has the words that were there")]


def _telling(text: str) -> set[str]:
    return {word[:_STEM] for word in text.lower().split() if len(word) > _TELLING}


def _is_strange(scene: Scene, name: Name | Subject) -> bool:
    """Tell whether neither text holds a name: no kin of it, and no telling word in any form."""
    said = scene.may_be_given | scene.made.families
    if name.family & said or any(cui in scene.known or scene.knowledge.above(cui) & said for cui in name.cuis):
        return False
    return not _telling(name.text) & scene.stems


def other_strengths(scene: Scene, *, critical: bool) -> list[Edit]:
    """Write another strength of the unit than the input gives for the drug.

    It is critical where the drug is grave by class or by what it treats here, and where it is ten times as much; too
    little harms where what it treats is grave. It keeps its place among the drug's other strengths: who increases a
    drug "from 10 mg to 20 mg" does not increase it to 4 mg.
    """
    found = []
    for amount in scene.made.amounts:
        drug = amount.drug
        value, theirs = amount.number.values[0], _given_strengths(scene, drug)
        if value not in theirs or drug.mention.assertion.value in _NOT_GIVEN:
            continue
        beside = _beside(scene, amount)
        for written in draws(scene.pool.strengths.get(amount.unit, []), *scene.name, amount.number.begin):
            other = numbers_of(written)[0].values[0]
            times = min(max(other, one) / max(min(other, one), _LEAST) for one in (value, *theirs))
            if times < _TIMES or any((other > one) is not (value > one) for one in beside):
                continue
            if (scene.is_grave(drug) or (times >= _TENFOLD and other > value)) is critical:
                rule = "critical_dose" if critical else "dose"
                found.append(scene.edit(rule, amount.number.begin, amount.number.end, written, "not of the input"))
                break
    return found


def _beside(scene: Scene, amount: Amount) -> set[float]:
    """Return the other strengths of a drug in both texts, and the numbers between its name and a strength."""
    begin, end = amount.drug.mention.end, amount.number.begin
    between = {value for one in scene.made.numbers if begin <= one.begin < end for value in one.values}
    said = (
        one.number.values[0]
        for one in (*scene.made.amounts, *scene.given.amounts)
        if one.unit == amount.unit and one.drug.family & amount.drug.family
    )
    return {*between, *said} - {amount.number.values[0]}


def _given_strengths(scene: Scene, drug: Seen) -> set[float]:
    theirs = [other for other in scene.given.amounts if other.drug.family & drug.family]
    return {value for other in theirs for value in other.number.values}


def other_rates(scene: Scene) -> list[Edit]:
    """Write another frequency than the input gives for a drug of wide margin: less than ten times, or a tenth."""
    found = []
    for rate in scene.made.rates:
        drug = rate.drug
        if scene.is_grave(drug) or drug.mention.assertion.value in _NOT_GIVEN:
            continue
        theirs = [other.per_day for other in scene.given.rates if other.drug.family & drug.family]
        if not theirs or any(per_day != rate.per_day for per_day in theirs):
            continue
        other = drawn(scene.pool.rates, *scene.name, rate.begin)
        if other is not None and 1 < max(other[1], rate.per_day) / min(other[1], rate.per_day) < _TENFOLD:
            found.append(scene.edit("frequency", rate.begin, rate.end, other[0], "the input has what was there"))
    return found


def other_values(scene: Scene) -> list[Edit]:
    """Write another value of the same form than the input has: a pressure, a laboratory value, a size, an age."""
    found = []
    for one in measured_of(scene.text):
        if not set(one.values) <= scene.given.values:
            continue
        written = scene.text[one.begin : one.end]
        alike = [other for other in scene.pool.values if _form(other) == _form(written)]
        other = drawn(alike, *scene.name, one.begin)
        if other is not None and _is_far(one, other, scene):
            found.append(scene.edit("number", one.begin, one.end, other, "the input has what was there"))
    return found


def _form(written: str) -> str:
    return "".join("0" if sign.isdigit() else sign for sign in written)


def _is_far(one: Measured, other: str, scene: Scene) -> bool:
    values = [number.values[0] for number in numbers_of(other)]
    return len(values) == len(one.values) and all(
        new not in scene.given.values and abs(new - old) > _PART * max(new, old)
        for new, old in zip(values, one.values, strict=True)
    )
