"""Levels 3 and 4: what the input says exchanged for what another reference of the source says in such a place."""

from __future__ import annotations

from builders.medval.items import Edit
from builders.medval.reading import Dose
from builders.medval.rules.pool import Name, Pool, draws, names_in
from builders.medval.rules.scene import Scene
from ground.stable import stable_unit

__all__ = ["other_frequencies", "other_names", "other_strengths"]

_NOT_GIVEN = frozenset({"allergy", "absent", "family"})
# Strengths so many times apart are no slips of rounding.
_TIMES, _TENFOLD = 2, 10
# The first letters by which forms of one word are known, and from how many letters on a word tells something.
_STEM, _TELLING = 5, 4


def other_names(scene: Scene, pool: Pool, *, kind: str, grave: bool) -> list[Edit]:
    """Name another problem or drug in the place of one that the input names, and that the input does not hold.

    It is grave where the name that is lost or the one that comes is.
    """
    edits = []
    rule = f"{'grave' if grave else 'other'}_{kind}"
    for named, name in names_in(scene):
        if name.place[0] != kind or not scene.in_input(named) or named.mention.assertion.value in _NOT_GIVEN:
            continue
        other = _newcomer(scene, pool, name, grave=grave)
        if other is not None:
            evidence = f"in place of {name.cuis[0]}: {other.cuis[0]}"
            edits.append(scene.edit(rule, name.begin, name.end, other.text, evidence))
    return edits


def _newcomer(scene: Scene, pool: Pool, name: Name, *, grave: bool) -> Name | None:
    """Return the name that comes: the first of the draws that neither text holds, and of the gravity asked for."""
    comes = _gravity(scene, pool, name, grave=grave)
    if comes is None:
        return None
    for other in draws(pool.in_place(name), *scene.name, name.begin):
        # What must not be given here weighs more than level 3, too.
        suits = scene.gravity.is_any_grave(other.cuis) is comes and (grave or not scene.weighs(other.cuis))
        # In a question, a name with nouns beside it ("stroke recovery") keeps its phrase.
        keeps = scene.item.task != "query2question" or other.is_whole or other.lead == name.lead
        if suits and keeps and _is_strange(scene, other):
            return other
    return None


def _gravity(scene: Scene, pool: Pool, name: Name, *, grave: bool) -> bool | None:
    """Tell whether the name that comes is to be grave of itself; None where nothing may come.

    Of two ways the one into the fewer names is gone less often, so that exchanges bring as many grave names as they
    take. A question, which has one name, gives up a grave one at both unsafe levels, other texts at 4.
    """
    lost, heavy = scene.weighs(name.cuis), scene.gravity.is_any_grave(name.cuis)
    if not grave or (lost and not heavy):
        return None if lost and not grave else False
    levels = 2 if scene.item.task == "query2question" else 1
    odds, unit = levels * pool.odds_of_grave(name), stable_unit(0, "grave", *scene.name, name.begin)
    if heavy:
        return unit * odds >= 1
    return True if unit <= odds else None


def _is_strange(scene: Scene, name: Name) -> bool:
    """Tell whether neither text holds a name: no kin of it, and no telling word in any form."""
    named = scene.may_be_given | scene.output_view.families
    if name.family & named or any(cui in scene.known or scene.concepts.above(cui) & named for cui in name.cuis):
        return False
    return not {word[:_STEM] for word in name.text.lower().split() if len(word) > _TELLING} & scene.stems


def other_strengths(scene: Scene, pool: Pool, *, critical: bool) -> list[Edit]:
    """Write another strength of the unit than the input gives for the drug.

    It is critical where the drug is grave by class or by what it treats here, and where it is ten times as much. It
    keeps its place among the drug's other strengths: who increases a drug "from 10 mg to 20 mg" does not increase it
    to 4 mg.
    """
    edits = []
    for dose, theirs in _given_doses(scene):
        quantity, number = dose.quantity, dose.quantity.number
        if quantity.base == "day":
            continue
        beside = (theirs | scene.output_view.amounts_of(dose)) - {quantity.value}
        strengths = pool.strengths.get(scene.text[number.end : quantity.end], [])
        for written, other in draws(strengths, *scene.name, number.begin):
            times = min(max(other, value) / max(min(other, value), 1e-9) for value in theirs)
            if times < _TIMES or any((other > value) is not (quantity.value > value) for value in beside):
                continue
            if (scene.is_grave(dose.drug) or (times >= _TENFOLD and other > quantity.value)) is critical:
                rule = "critical_dose" if critical else "dose"
                edits.append(scene.edit(rule, number.begin, number.end, written, "not of the input"))
                break
    return edits


def _given_doses(scene: Scene) -> list[tuple[Dose, set[float]]]:
    """Return the doses that the input gives for the drug too, each with all that the input gives."""
    doses = [(dose, scene.input_view.amounts_of(dose)) for dose in scene.output_view.doses]
    return [
        (dose, theirs)
        for dose, theirs in doses
        if dose.quantity.value in theirs and dose.drug.mention.assertion.value not in _NOT_GIVEN
    ]


def other_frequencies(scene: Scene, pool: Pool) -> list[Edit]:
    """Write another frequency than the input gives for a drug of wide margin: less than ten times, or a tenth."""
    edits = []
    for dose, theirs in _given_doses(scene):
        quantity = dose.quantity
        if quantity.base != "day" or scene.is_grave(dose.drug) or len(theirs) > 1:
            continue
        written, value = next(draws(pool.frequencies, *scene.name, quantity.begin), ("", quantity.value))
        if 1 < max(value, quantity.value) / min(value, quantity.value) < _TENFOLD:
            evidence = "the input has what was there"
            edits.append(scene.edit("frequency", quantity.begin, quantity.end, written, evidence))
    return edits
