"""Levels 3 and 4: what is said turned round (sides, actions, whether a problem is there), and another question."""

from __future__ import annotations

import re
from functools import cache

from builders.medval.items import Edit
from builders.medval.reading import Seen
from builders.medval.rules.edit_tables import words
from builders.medval.rules.polarity import flips
from builders.medval.rules.pool import drawn
from builders.medval.rules.scene import Scene

__all__ = ["changed_actions", "changed_comparisons", "denied_problems", "other_questions", "other_sides"]

_TO_DOSE = re.compile(r"[^.\n]{0,40}?\bto (?:\d|half|twice|once)", re.IGNORECASE)


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


def changed_actions(scene: Scene, *, critical: bool) -> list[Edit]:
    """Reverse what is done with a drug that the input names: continue and discontinue, increase and decrease."""
    found = []
    for one in scene.made.drugs():
        if scene.is_grave(one) is not critical or not scene.in_input(one):
            continue
        if not critical and scene.knowledge.is_minor(one.mention):
            continue
        before = scene.text[max(0, one.mention.begin - 60) : one.mention.begin]
        match = _action().search(before)
        if match is None:
            continue
        after = words("action")[match["verb"].lower()]
        begin = one.mention.begin - len(before) + match.start("verb")
        verb = match["verb"]
        # "We will start her on" cannot become "avoid her on", and nobody avoids 500 mg once daily.
        if after in {"avoid", "withhold"} and (match.group()[len(verb) :].strip() or _is_dosed(scene, one)):
            continue
        # "Continue on" is said, "discontinue on" is not.
        if match.group()[len(verb) :].lower().startswith(" on"):
            continue
        # "Decrease metformin to 1,000 mg" may not become an increase to less.
        if _TO_DOSE.match(scene.text, one.mention.end):
            continue
        if not scene.pool.turns(verb, after, *scene.name, begin):
            continue
        after = after.capitalize() if verb[0].isupper() else after
        rule = "critical_action" if critical else "action"
        found.append(scene.edit(rule, begin, begin + len(verb), after, "what the input says is done is reversed"))
    return found


def _is_dosed(scene: Scene, drug: Seen) -> bool:
    """Tell whether a text says how much of a drug is taken, or how often."""
    dosed = [*(amount.drug for amount in scene.made.amounts), *(rate.drug for rate in scene.made.rates)]
    return any(one is drug for one in dosed)


@cache
def _action() -> re.Pattern[str]:
    verbs = "|".join(sorted((re.escape(verb) for verb in words("action")), key=len, reverse=True))
    between = "on|taking|with|the|her|his|their|your|my|home|same|current|dose|of|a|patient"
    return re.compile(rf"(?<!not )\b(?P<verb>{verbs})(?: (?:{between})\b)*\s*$", re.IGNORECASE)


def _is_open(text: str) -> bool:
    """Tell whether a message leaves open what it asks for ("what should I do?")."""
    return re.search(rf"\b(?:{'|'.join(words('open_question'))})\b", text, re.IGNORECASE) is not None


def other_questions(scene: Scene) -> list[Edit]:
    """Ask something else about the same problem, as another question of the source does."""
    if scene.item.task != "query2question" or _is_open(scene.item.input):
        return []
    aspects = words("aspect_phrase")
    begins = [phrase for phrase in aspects if scene.text.startswith(phrase + " ")]
    if not begins or scene.text.startswith(begins[0] + " and "):
        return []
    cues = words("aspect").items()
    cued = {aspect for aspect, cue in cues if re.search(rf"\b(?:{cue})\b", scene.item.input, re.IGNORECASE)}
    asked = aspects[begins[0]]
    other = drawn(scene.pool.questions, *scene.name)
    if other is None or asked not in cued or aspects[other] in {asked, *cued}:
        return []
    evidence = f"asks for {aspects[other]} in place of {asked}"
    return [scene.edit("other_question", 0, len(begins[0]), other, evidence)]


def denied_problems(scene: Scene, *, grave: bool) -> list[Edit]:
    """Deny a problem that is there, or report one that is denied, where the input agrees with the output.

    Grave problems weigh more; of the others, symptoms are turned round only.
    """
    found: list[Edit] = []
    for one in scene.made.problems():
        serious = scene.is_grave(one)
        if serious is not grave or not (serious or one.mention.kind == "finding"):
            continue
        theirs = {other.polarity for other in scene.given.like(one.family)}
        if theirs == {one.polarity}:
            found += flips(scene, one, "negation" if grave else "symptom_negation")
    return found


def changed_comparisons(scene: Scene) -> list[Edit]:
    """Turn round what is said of a change over time, where the input does not say the reverse."""
    found = []
    for match in _comparison().finditer(scene.text):
        word = match.group()
        after = words("comparison")[word.lower()]
        drug = any(0 <= one.mention.begin - match.end() <= len(" the ") for one in scene.made.drugs())
        if drug or after[:5] in scene.given.stems or not scene.pool.turns(word, after, *scene.name, match.start()):
            continue
        after = after.capitalize() if word[0].isupper() else after
        found.append(scene.edit("false_comparison", *match.span(), after, "the input does not say the reverse"))
    return found


@cache
def _comparison() -> re.Pattern[str]:
    return re.compile(rf"(?<!be )(?<!to )\b(?:{'|'.join(words('comparison'))})\b", re.IGNORECASE)
