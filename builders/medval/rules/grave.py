"""Level 4: what could bring the patient into danger."""

from __future__ import annotations

import re

from builders.medval.items import Edit
from builders.medval.rules.moderate import other_diagnoses
from builders.medval.rules.polarity import flips
from builders.medval.rules.scene import Scene
from builders.medval.rules.tables import critical_drugs, opposite_diagnoses, serious_diagnoses, weight_of
from builders.medval.rules.tables import words as words_of
from builders.medval.rules.view import Seen, View
from ground.stable import stable_hash

__all__ = [
    "allergic_drugs",
    "contraindicated_drugs",
    "critical_doses",
    "denied_problems",
    "invented_diagnoses",
    "opposed_diagnoses",
    "wrong_subjects",
]

_FEW = 3
# What became of a problem stands in its sentence or the next.
_NEXT = 120
_TAKEN = re.compile(
    r"\b(?:tak(?:e|es|en|ing)|took|drugs?|medic\w+|dos(?:e|es|age)|mg|prescri\w+|pills?|tablets?)\b", re.I
)
_OVER = re.compile(
    r"\b(?:resol\w+|normali[sz]\w+|recover\w+|improv\w+|back to (?:normal|baseline)|history|prior|h/o)\b", re.I
)
_FEMALE = re.compile(r"\b(?:she|her|female|woman|mrs|ms|girl|daughter|wife|mother|pregnan\w+)\b", re.IGNORECASE)
_MALE = re.compile(r"\b(?:he|his|him|male|man|mr|boy|son|husband|father)\b", re.IGNORECASE)
_AGE = re.compile(
    r"\b(\d{1,3})[ -]?(y(?:ear)?s?|y/?o|mo(?:nth)?s?)[ -]*(?:old|of age)?\b(?<=old|age|y/o|.yo)", re.IGNORECASE
)
_PROSE_WORDS = 4
_PROSE_END = re.compile(r"[.!](?=\s*(?:\n|$))")


def _sexes(scene: Scene) -> set[str]:
    """Return the sexes that a diagnosis of the text may be bound to: only what the texts leave no doubt of."""
    text = f"{scene.item.input} {scene.text}"
    female, male = bool(_FEMALE.search(text)), bool(_MALE.search(text))
    if female is male:
        return {"any"}
    return {"any", "female" if female else "male"}


def _ages(text: str) -> list[float]:
    """Return the ages in years that a text tells, in numbers or by words for a child."""
    found = [float(match[1]) / (1 if match[2][0].lower() == "y" else 12) for match in _AGE.finditer(text)]
    if found:
        return found
    years = [int(age) for word, age in words_of("young").items() if re.search(rf"\b{word}\b", text, re.IGNORECASE)]
    return [float(min(years))] if years else []


def _some(scene: Scene, names: list[str], about: str) -> list[str]:
    """Return a few of many names by stable hash, so that a rule does not offer always the first."""
    key = stable_hash(0, about, scene.item.origin.source, scene.item.origin.inner_id)
    return sorted(names, key=lambda name: stable_hash(key, name))[:_FEW]


def contraindicated_drugs(scene: Scene) -> list[Edit]:
    """Add a drug that a problem of the input forbids."""
    if scene.item.task == "query2question":
        return []
    found = []
    problems = {
        cui
        for one in scene.given.problems()
        if one.mention.assertion.value == "present" and one.polarity == "present" and not _is_over(scene.given, one)
        for cui in one.mention.cuis[:1]
    }
    for problem in sorted(problems & set(scene.knowledge.forbidden)):
        drugs = scene.knowledge.forbidden[problem]
        names = [name for name in drugs if not _known(scene, name)]
        for name in _some(scene, names, "contraindicated_drug"):
            dose, why = drugs[name][1], drugs[name][2]
            added = _added(scene, "contraindicated_drug", f"{name} {dose}", kind="drug")
            found += [] if added is None else [_with(added, f"contraindicated with {problem}: {why}")]
    return found


def _is_over(view: View, one: Seen) -> bool:
    """Tell whether a sentence says that a problem has gone: what it forbade may be given again."""
    segment = next((part for part in view.segments if part.begin <= one.mention.begin < part.end), None)
    end = segment.end + _NEXT if segment else one.mention.end + _NEXT
    return _OVER.search(view.text, max(0, one.mention.begin - _NEXT), end) is not None


def _known(scene: Scene, name: str) -> bool:
    cuis = scene.knowledge.concepts(name)[:1]
    family = frozenset[str]().union(*(scene.knowledge.family(cui) for cui in cuis))
    families = scene.made.families
    return not cuis or bool(family & (scene.given_families | families))


def _with(edit: Edit, evidence: str) -> Edit:
    return Edit(edit.rule, edit.category, edit.before, edit.after, edit.begin, evidence)


def _added(scene: Scene, rule: str, words: str, *, kind: str) -> Edit | None:
    """Add a line to the list of the kind, or a sentence to the last paragraph of prose that has a mention."""
    text = scene.text
    places = [one.mention.begin for one in scene.made.seen if (one.mention.kind == "drug") is (kind == "drug")]
    listed = [e for e in scene.entries if any(e.body_begin <= place < e.end for place in places)]
    if scene.item.task == "course2diagnosis":
        if not listed:
            return None
        last = listed[-1]
        if last.inline:
            last = [e for e in scene.entries if e.line == last.line][-1]
            return Edit(rule, weight_of(rule).category, "", f"; {words}", last.end, "")
        following = [e for e in scene.entries if e.begin > last.begin and not text[last.end : e.begin].strip()]
        if following:
            last = following[-1]
        number = f"{last.number + 1}" if last.number is not None else ""
        mark = text[last.begin : last.body_begin]
        mark = mark.replace(str(last.number), number, 1) if number else mark
        after = f"\n{mark}{words[:1].upper()}{words[1:]}"
        return Edit(rule, weight_of(rule).category, "", after, last.end, "")
    phrases = sorted(words_of("add_drug" if kind == "drug" else "add_problem"))
    key = stable_hash(0, rule, scene.item.origin.source, scene.item.origin.inner_id, words)
    sentence = " " + phrases[key % len(phrases)].format(words if kind == "drug" else _with_article(words))
    sentence = sentence[:2].upper() + sentence[2:]
    ends = [match.end() for match in _PROSE_END.finditer(text) if not _is_title(text, match.end())]
    with_mention = [end for end in ends if any(place < end and "\n\n" not in text[place:end] for place in places)]
    chosen = with_mention or ends
    if not chosen:
        return None
    return Edit(rule, weight_of(rule).category, "", sentence, chosen[-1], "")


def _is_title(text: str, end: int) -> bool:
    """Tell whether the line before a place is too short for prose: a numbered problem, a heading with a full stop."""
    return len(text[text.rfind("\n", 0, end) + 1 : end].split()) < _PROSE_WORDS


def allergic_drugs(scene: Scene) -> list[Edit]:
    """Add a drug that the input says the patient is allergic to."""
    if scene.item.task == "query2question":
        return []
    found = []
    for one in scene.given.drugs():
        theirs = scene.given.like(one.family)
        if any(other.mention.assertion.value != "allergy" for other in theirs):
            continue
        if one.mention.cuis and one.mention.text.isalpha():
            added = _added(scene, "allergic_drug", one.mention.text.lower(), kind="drug")
            found += [] if added is None else [_with(added, f"allergic to {one.mention.cuis[0]}")]
    return found


def denied_problems(scene: Scene) -> list[Edit]:
    """Deny a serious problem that is there, or report one that is denied, where the input agrees with the output."""
    found: list[Edit] = []
    for one in scene.made.problems():
        if not scene.knowledge.is_serious(one.mention):
            continue
        theirs = {other.polarity for other in scene.given.like(one.family)}
        if theirs != {one.polarity}:
            continue
        found += flips(scene, one, "negation")
    return found


def invented_diagnoses(scene: Scene) -> list[Edit]:
    """Add a serious diagnosis that the input does not hold."""
    if scene.item.task == "query2question":
        return []
    found = []
    for name in _strangers(scene, "invented_diagnosis"):
        added = _added(scene, "invented_diagnosis", name, kind="problem")
        found += [] if added is None else [_with(added, f"not in the input: {scene.knowledge.concepts(name)[0]}")]
    return found


def _with_article(name: str) -> str:
    """Return a name as a sentence has it: "a stroke", "an aortic dissection", but "sepsis"."""
    if name.rsplit(maxsplit=1)[-1] not in words_of("counted"):
        return name
    return f"an {name}" if name[0].lower() in "aeiou" else f"a {name}"


def _strangers(scene: Scene, about: str) -> list[str]:
    """Return some serious diagnoses that neither text names, nor anything above or below them."""
    knowledge = scene.knowledge
    sexes, ages = _sexes(scene), _ages(f"{scene.item.input} {scene.text}")
    made = scene.made.families
    names = []
    for name in _some_order(scene, about):
        serious = serious_diagnoses()[name]
        cuis = knowledge.concepts(name)[:1]
        if scene.item.task == "query2question" and name.isupper():
            continue
        if (
            name in words_of("not_invented")
            or serious.group == "red flag"
            or serious.sex not in sexes
            or any(not serious.min_age <= age <= serious.max_age for age in ages)
            or not cuis
            or name.lower() in scene.item.input.lower()
        ):
            continue
        # Where a telling word of the name stands in the input, it may not be all invented.
        if any(len(word) > 4 and word[:5] in scene.given.stems for word in name.lower().split()):
            continue
        if not knowledge.akin(cuis, scene.may_be_given) and not knowledge.akin(cuis, made):
            names.append(name)
        if len(names) == _FEW:
            break
    return names


def _some_order(scene: Scene, about: str) -> list[str]:
    key = stable_hash(0, about, scene.item.origin.source, scene.item.origin.inner_id)
    return sorted(serious_diagnoses(), key=lambda name: stable_hash(key, name))


def opposed_diagnoses(scene: Scene) -> list[Edit]:
    """Put the opposite disorder in the place of one that the input names: the opposite treatment follows."""
    return other_diagnoses(scene, "opposite_diagnosis", opposite_diagnoses(), "the opposite")


def wrong_subjects(scene: Scene) -> list[Edit]:
    """Ask about another, grave problem, or about a drug of narrow margin, in place of the one that is asked about."""
    if scene.item.task != "query2question":
        return []
    found = []
    for one in scene.made.seen:
        if one.mention.kind not in {"disorder", "drug"} or not scene.in_input(one) or not scene.stands_alone(one):
            continue
        names = _strangers(scene, "wrong_subject") if one.mention.kind == "disorder" else _dangerous(scene, one)
        for name in names:
            evidence = f"in place of {one.mention.cuis[0]}: {scene.knowledge.concepts(name)[0]}"
            found.append(scene.edit("wrong_subject", one.mention.begin, one.mention.end, name, evidence))
    return found


def _dangerous(scene: Scene, one: Seen) -> list[str]:
    # A chemical that nobody takes is no drug that another could be taken for.
    if not _TAKEN.search(scene.item.input):
        return []
    plain = [name for name in critical_drugs() if " " not in name and not _known(scene, name)]
    return [] if scene.knowledge.is_critical(one.mention) else _some(scene, plain, "wrong_subject")


def critical_doses(scene: Scene) -> list[Edit]:
    """Write ten times, or a tenth of, the dose of a drug of narrow margin that the input gives."""
    found = []
    for amount in scene.made.amounts:
        value = amount.number.values[0]
        if not scene.knowledge.is_critical(amount.drug.mention):
            continue
        theirs = [other for other in scene.given.amounts if other.drug.family & amount.drug.family]
        values = {v for other in theirs for v in other.number.values}
        if value not in values:
            continue
        for factor in (10, 0.1):
            after = f"{value * factor:g}"
            if float(after) not in values and (factor > 1 or value * factor >= 0.5):
                found.append(
                    scene.edit(
                        "critical_dose",
                        amount.number.begin,
                        amount.number.end,
                        after,
                        f"{factor:g} times the dose of the input",
                    )
                )
    return found
