"""Level 3: details that are wrong (strength, frequency, value, side, sibling), symptoms flipped, another question."""

from __future__ import annotations

import re
from collections.abc import Mapping

from builders.medval.items import Edit
from builders.medval.rules.polarity import flips
from builders.medval.rules.quantities import measured_of, per_day
from builders.medval.rules.scene import Scene
from builders.medval.rules.tables import diagnosis_groups, drug_groups, words
from builders.medval.rules.view import Seen

__all__ = [
    "changed_actions",
    "changed_doses",
    "changed_frequencies",
    "changed_numbers",
    "flipped_symptoms",
    "is_open",
    "other_diagnoses",
    "other_questions",
    "other_sides",
    "sibling_diagnoses",
    "sibling_drugs",
]

_NOT_GIVEN = frozenset({"allergy", "absent", "family"})
# One of several examples of a class: another one says the same.
_EXAMPLE = re.compile(r"\b(?:such as|like|including|e\.g\.,?|or)\s+$", re.IGNORECASE)
_TO_DOSE = re.compile(r"[^.\n]{0,40}?\bto (?:\d|half|twice|once)", re.IGNORECASE)
_RANGE = re.compile(r"\d\s*(?:to|-|or)\s*$")
_USUAL_MG = frozenset(
    {1, 2, 2.5, 5, 10, 12.5, 15, 20, 25, 30, 40, 50, 60, 75, 80, 100, 120, 150, 200, 250, 300, 325, 400, 500, 600, 650}
    | {750, 800, 850, 1000, 1200, 1500, 2000}
)


def _given(scene: Scene, one: Seen) -> bool:
    return one.mention.assertion.value not in _NOT_GIVEN


def changed_doses(scene: Scene) -> list[Edit]:
    """Double or halve a strength that the input gives for the drug, where the margin is wide."""
    found = []
    for amount in scene.made.amounts:
        value = amount.number.values[0]
        if scene.knowledge.is_critical(amount.drug.mention) or not _given(scene, amount.drug):
            continue
        theirs = [other for other in scene.given.amounts if other.drug.family & amount.drug.family]
        if not any(value in other.number.values for other in theirs):
            continue
        values = {v for other in theirs for v in other.number.values}
        if _RANGE.search(scene.text, max(0, amount.number.begin - 8), amount.number.begin):
            continue
        once = amount.drug.mention.text.lower() in words("halve_only")
        for factor in (0.5,) if once else (2, 0.5):
            other_value = value * factor
            usual = amount.unit != "mg" or other_value in _USUAL_MG
            if other_value not in values and usual and (other_value == int(other_value) or value != int(value)):
                found.append(
                    scene.edit(
                        "dose",
                        amount.number.begin,
                        amount.number.end,
                        _written(other_value),
                        f"{factor:g} times the dose of the input",
                    )
                )
    return found


def _written(value: float) -> str:
    return f"{value:g}" if value < 100_000 else f"{value:.0f}"


def changed_frequencies(scene: Scene) -> list[Edit]:
    """Change how often a drug of wide margin is taken, where the input says how often."""
    found = []
    table = words("frequency")
    for rate in scene.made.rates:
        if scene.knowledge.is_critical(rate.drug.mention) or not _given(scene, rate.drug):
            continue
        theirs = [other for other in scene.given.rates if other.drug.family & rate.drug.family]
        if not theirs or any(other.per_day != rate.per_day for other in theirs):
            continue
        written = scene.text[rate.begin : rate.end]
        after = table.get(written) or table.get(written.lower())
        if after and per_day(after) > rate.per_day and rate.drug.mention.text.lower() in words("halve_only"):
            continue
        if after and not scene.text[: rate.begin].rstrip().lower().endswith(("twice", "once", "times", "time")):
            found.append(
                scene.edit("frequency", rate.begin, rate.end, after, "the input has the frequency that was there")
            )
    return found


def changed_numbers(scene: Scene) -> list[Edit]:
    """Change a measured value that the input has: a pressure, a vital sign, a laboratory value, a size, an age."""
    found = []
    values = scene.given.values
    for measured in measured_of(scene.text):
        if not set(measured.values) <= values:
            continue
        if len(measured.values) == 2:
            upper, lower = measured.values
            step = 1 if upper < 150 else -1
            after = f"{upper + 30 * step:.0f}{measured.between}{lower + 15 * step:.0f}"
        else:
            after = _changed(scene.text[measured.begin : measured.end])
            if float(after) in values:
                continue
        found.append(
            scene.edit("number", measured.begin, measured.end, after, "the input has the value that was there")
        )
    return found


def _changed(value: str) -> str:
    """Return a clearly different, possible value with as many decimals."""
    decimals = len(value.partition(".")[2])
    number = float(value)
    if 95 <= number <= 99.4:
        return f"{number + 4:.{decimals}f}" if decimals else f"{number - 8:.0f}"
    if 99.4 < number <= 105 and decimals:
        return f"{number - 2.5:.{decimals}f}"
    changed = number * (1.4 if number < 60 else 0.7)
    text = f"{changed:.{decimals}f}"
    return text if float(text) != number else f"{number + 1:.{decimals}f}"


def other_sides(scene: Scene) -> list[Edit]:
    """Change the side of a part of the body that the input puts on the side that was there."""
    found = []
    for side in scene.made.sides:
        if not side.stems or not any(
            theirs.side == side.side and set(theirs.stems) & set(side.stems) for theirs in scene.given.sides
        ):
            continue
        if any(theirs.side != side.side and set(theirs.stems) & set(side.stems) for theirs in scene.given.sides):
            continue
        word = scene.text[side.begin : side.end]
        after = "right" if side.side == "left" else "left"
        after = after.upper() if word.isupper() else after.capitalize() if word[0].isupper() else after
        found.append(scene.edit("laterality", side.begin, side.end, after, "the input has the other side only"))
    return found


def sibling_drugs(scene: Scene) -> list[Edit]:
    """Put another drug of the class in the place of one that the input names."""
    found = []
    knowledge = scene.knowledge
    for one in scene.made.drugs():
        others, alike = drug_groups().get(one.mention.text.lower(), ((), False))
        if not others or knowledge.is_critical(one.mention) or not _given(scene, one) or not scene.in_input(one):
            continue
        # Another drug has other salts, and is no part of a combination.
        if not scene.ends_name(one) or _EXAMPLE.search(scene.text, 0, one.mention.begin):
            continue
        if not alike and any(amount.drug is one for amount in scene.made.amounts):
            continue
        for name in others:
            cuis = knowledge.concepts(name)[:1]
            family = frozenset[str]().union(*(knowledge.family(cui) for cui in cuis))
            if not cuis or family & one.family or family & scene.given_families:
                continue
            kin = any(cui in _graph_siblings(scene, one) for cui in family)
            evidence = f"{'sibling' if kin else 'of one class'} of {one.mention.cuis[0]}: {cuis[0]}"
            found.append(
                scene.edit("sibling_drug", one.mention.begin, one.mention.end, _cased(scene, one, name), evidence)
            )
    return found


def _graph_siblings(scene: Scene, one: Seen) -> set[str]:
    return set().union(*(scene.knowledge.siblings(cui) for cui in one.mention.cuis[:1]))


def _cased(scene: Scene, one: Seen, name: str) -> str:
    text = one.mention.text
    if text.isupper() and len(text) <= 5:
        begins = re.search(r"(?:^|[.!?\n]\s*|[•*-] ?)$", scene.text[max(0, one.mention.begin - 4) : one.mention.begin])
        return name[:1].upper() + name[1:] if begins else name
    if text.isupper() and len(text) > 4:
        return name.upper()
    return name[:1].upper() + name[1:] if text[0].isupper() else name


def sibling_diagnoses(scene: Scene) -> list[Edit]:
    """Put another diagnosis of the group in the place of one that the input names."""
    return other_diagnoses(scene, "sibling_diagnosis", diagnosis_groups(), "of one group")


def other_diagnoses(scene: Scene, rule: str, table: Mapping[str, tuple[str, ...]], relation: str) -> list[Edit]:
    """Put what a table has for a diagnosis that the input names in its place; the input names nothing akin to it."""
    found = []
    knowledge = scene.knowledge
    for one in scene.made.problems():
        others = table.get(one.mention.text.lower(), ())
        if one.polarity != "present" and scene.item.task != "query2question":
            continue
        if not others or not scene.in_input(one) or not scene.stands_alone(one):
            continue
        for name in others:
            cuis = knowledge.concepts(name)[:1]
            if not cuis or knowledge.akin(cuis, one.family) or knowledge.akin(cuis, scene.may_be_given):
                continue
            kin = rule == "sibling_diagnosis" and any(cui in _graph_siblings(scene, one) for cui in cuis)
            evidence = f"{'sibling' if kin else relation} of {one.mention.cuis[0]}: {cuis[0]}"
            found.append(scene.edit(rule, one.mention.begin, one.mention.end, _cased(scene, one, name), evidence))
    return found


def changed_actions(scene: Scene, *, critical: bool) -> list[Edit]:
    """Reverse what is done with a drug that the input names: continue and discontinue, increase and decrease."""
    found = []
    for one in scene.made.drugs():
        if scene.knowledge.is_critical(one.mention) is not critical or not scene.in_input(one):
            continue
        if scene.knowledge.is_minor(one.mention):
            continue
        before = scene.text[max(0, one.mention.begin - 60) : one.mention.begin]
        match = _action().search(before)
        if match is None:
            continue
        after = words("action")[match["verb"].lower()]
        begin = one.mention.begin - len(before) + match.start("verb")
        verb = match["verb"]
        # "We will start her on" cannot become "avoid her on".
        if after in {"avoid", "withhold"} and match.group()[len(verb) :].strip():
            continue
        # "Continue on" is said, "discontinue on" is not.
        if match.group()[len(verb) :].lower().startswith(" on"):
            continue
        # "Decrease metformin to 1,000 mg" may not become an increase to less.
        if _TO_DOSE.match(scene.text, one.mention.end):
            continue
        after = after.capitalize() if verb[0].isupper() else after
        rule = "critical_action" if critical else "action"
        found.append(scene.edit(rule, begin, begin + len(verb), after, "what the input says is done is reversed"))
    return found


def _action() -> re.Pattern[str]:
    verbs = "|".join(sorted((re.escape(verb) for verb in words("action")), key=len, reverse=True))
    between = "on|taking|with|the|her|his|their|your|my|home|same|current|dose|of|a|patient"
    return re.compile(rf"(?<!not )\b(?P<verb>{verbs})(?: (?:{between})\b)*\s*$", re.IGNORECASE)


def is_open(text: str) -> bool:
    """Tell whether a message leaves open what it asks for ("what should I do?")."""
    return re.search(rf"\b(?:{'|'.join(words('open_question'))})\b", text, re.IGNORECASE) is not None


def other_questions(scene: Scene) -> list[Edit]:
    """Ask something else about the same problem."""
    if scene.item.task != "query2question":
        return []
    for phrase, asked in words("aspect_phrase").items():
        if scene.text.startswith(phrase + " and "):
            continue
        if scene.text.startswith(phrase + " ") and not is_open(scene.item.input):
            cued = {
                aspect
                for aspect, cue in words("aspect").items()
                if re.search(rf"\b(?:{cue})\b", scene.item.input, re.IGNORECASE)
            }
            return [
                scene.edit("other_question", 0, len(phrase), other, f"asks for {aspect} in place of {asked}")
                for other, aspect in words("aspect_ask").items()
                if aspect != asked and aspect not in cued and asked in cued
            ]
    return []


def flipped_symptoms(scene: Scene) -> list[Edit]:
    """Deny a symptom that is there, or report one that is denied, where the input agrees with what was there."""
    found = []
    for one in scene.made.problems():
        if one.mention.kind != "finding" or scene.knowledge.is_serious(one.mention):
            continue
        theirs = {other.polarity for other in scene.given.like(one.family)}
        if theirs == {one.polarity}:
            found += flips(scene, one, "symptom_negation")
    return found
