"""Level 2: minor details left out, and slight changes of intensity."""

from __future__ import annotations

import re

from builders.medval.items import Edit
from builders.medval.rules.scene import Entry, Scene
from builders.medval.rules.tables import words
from builders.medval.rules.view import Seen, View

__all__ = [
    "modifier_before",
    "omitted_denials",
    "omitted_durations",
    "omitted_minor_drugs",
    "omitted_modifiers",
    "omitted_question_parts",
    "slight_intensity",
    "without_entry",
    "word_before",
]

_BEFORE = re.compile(r"([A-Za-z-]+)[ ]+$")
_SINCE = re.compile(
    r",?[ ](?:for (?:the )?(?:past|last)?[ ]?|over the (?:past|last) |since )?(?:about |approximately )?"
    r"(?:\d+|one|two|three|four|five|six|several|a few|a couple of)[ -](?:day|week|month|year)s?(?: ago)?(?=[.,;]|$)",
    re.IGNORECASE | re.MULTILINE,
)
_SECOND_QUESTION = re.compile(
    r",? and (?:what|how|is|are|can|does|do|will|where|should|could)\b[^?]*(?=\?)", re.IGNORECASE
)


def word_before(view: View, one: Seen) -> tuple[str, int, int] | None:
    """Return the word right before a mention with its place."""
    begin = max(0, one.mention.begin - 40)
    match = _BEFORE.search(view.text, begin, one.mention.begin)
    return (match.group(1), match.start(1), match.end(1)) if match else None


def modifier_before(view: View, one: Seen, kind: str) -> tuple[str, int, int] | None:
    """Return the word of a kind (``modifier``, ``intensity``) that stands right before a mention."""
    found = word_before(view, one)
    return found if found and found[0].lower() in words(kind) else None


def omitted_minor_drugs(scene: Scene) -> list[Edit]:
    """Leave out a line, or one of several drugs in a row, that is a supplement or symptomatic drug of the input."""
    found = []
    for one in scene.made.drugs():
        if not scene.knowledge.is_minor(one.mention) or not _named(scene, one):
            continue
        if one.mention.assertion.value in {"allergy", "absent", "discontinued"}:
            continue
        entry = next((e for e in scene.entries if e.body_begin <= one.mention.begin < e.end), None)
        if entry and entry.body_begin == one.mention.begin and _only_drug(scene, entry):
            found.append(
                without_entry(scene, entry, "omit_minor_drug", "a supplement or symptomatic drug of the input")
            )
            continue
        if scene.text[: one.mention.begin].endswith(", ") and scene.text[one.mention.end : one.mention.end + 2] == ", ":
            found.append(
                scene.edit(
                    "omit_minor_drug",
                    one.mention.begin - 2,
                    one.mention.end,
                    "",
                    "a supplement or symptomatic drug of the input",
                )
            )
    return found


def _named(scene: Scene, one: Seen) -> bool:
    return any(other.family & one.family and other.polarity != "absent" for other in scene.given.drugs())


def _only_drug(scene: Scene, entry: Entry) -> bool:
    inside = [one for one in scene.made.drugs() if entry.begin <= one.mention.begin < entry.end]
    return len({one.family for one in inside}) == 1


def without_entry(scene: Scene, entry: Entry, rule: str, evidence: str) -> Edit:
    """Leave out a line of a list and number the lines after it anew."""
    text = scene.text
    end = entry.end + 1 if entry.end < len(text) else entry.end
    begin = entry.begin if entry.end < len(text) else max(0, entry.begin - 1)
    after = ""
    if entry.number is not None:
        following = [e for e in scene.entries if e.begin >= end]
        expected, place = entry.number + 1, end
        for other in following:
            if other.number != expected or text[place : other.begin].strip():
                break
            mark = text[other.begin : other.body_begin].replace(str(other.number), str(other.number - 1), 1)
            after += text[place : other.begin] + mark + text[other.body_begin : other.end]
            place, expected = other.end, expected + 1
        end = max(end, place)
        after = after.lstrip("\n")
    return scene.edit(rule, begin, end, after, evidence)


def omitted_modifiers(scene: Scene) -> list[Edit]:
    """Leave out a word that qualifies a symptom, where the input qualifies the symptom with it too."""
    found = []
    for one in scene.made.problems():
        modifier = modifier_before(scene.made, one, "modifier")
        if modifier is None or one.mention.kind != "finding" or one.polarity == "absent":
            continue
        word, begin, _ = modifier
        if scene.knowledge.is_serious(one.mention):
            continue
        if any(
            (theirs := modifier_before(scene.given, other, "modifier")) and theirs[0].lower() == word.lower()
            for other in scene.given.like(one.family)
        ):
            after = one.mention.text
            after = after[:1].upper() + after[1:] if word[:1].isupper() else after
            found.append(
                scene.edit(
                    "omit_modifier", begin, one.mention.end, after, "the input qualifies the symptom with the word"
                )
            )
    return found


def omitted_durations(scene: Scene) -> list[Edit]:
    """Leave out since when a symptom has been there; durations of drugs and of grave problems stay."""
    found = []
    units = {(duration.amount, duration.unit) for duration in scene.given.durations}
    for match in _SINCE.finditer(scene.text):
        segment = scene.segment(match.start())
        if segment is None or not any(
            d.begin >= match.start() and (d.amount, d.unit) in units
            for d in scene.made.durations
            if d.end <= match.end()
        ):
            continue
        inside = [one for one in scene.made.seen if segment.begin <= one.mention.begin < segment.end]
        symptoms = [one for one in inside if one.mention.kind == "finding" and scene.in_input(one)]
        if (
            not symptoms
            or len(inside) > len(symptoms)
            or any(scene.knowledge.is_serious(one.mention) for one in inside)
        ):
            continue
        found.append(scene.edit("omit_duration", match.start(), match.end(), "", "the input tells it of the symptom"))
    return found


def omitted_denials(scene: Scene) -> list[Edit]:
    """Leave out one of three or more minor symptoms that are denied together and that the input denies as well."""
    found = []
    minor = words("minor_symptom")
    for one in scene.made.problems():
        if one.polarity != "absent" or one.mention.text.lower() not in minor:
            continue
        if not any(other.polarity == "absent" for other in scene.given.like(one.family)):
            continue
        before = scene.text[: one.mention.begin].endswith(", ")
        after = re.match(r", (?:[a-z]+ ){0,3}", scene.text[one.mention.end : one.mention.end + 30])
        if before and after:
            found.append(
                scene.edit("omit_denial", one.mention.begin - 2, one.mention.end, "", "the input denies it as well")
            )
    return found


def slight_intensity(scene: Scene, *, over: bool) -> list[Edit]:
    """Make a symptom one step stronger, or milder, where the input has the same word for it."""
    found = []
    stronger = words("stronger")
    for one in scene.made.problems():
        modifier = modifier_before(scene.made, one, "intensity")
        if modifier is None or one.polarity == "absent" or one.mention.kind != "finding":
            continue
        word, begin, end = modifier
        after = words("intensity")[word.lower()]
        if (after in stronger) is not over or scene.knowledge.is_serious(one.mention) or _is_heavy(scene, one):
            continue
        if not any(
            (theirs := modifier_before(scene.given, other, "intensity")) and theirs[0].lower() == word.lower()
            for other in scene.given.like(one.family)
        ):
            continue
        after = after.capitalize() if word[0].isupper() else after
        rule = "overstate_slightly" if over else "understate_slightly"
        found.append(scene.edit(rule, begin, end, after, "the input has the word that was there"))
    return found


def _is_heavy(scene: Scene, one: Seen) -> bool:
    around = scene.text[one.mention.begin : one.mention.end + 24].lower()
    return any(word in around for word in words("heavy"))


def omitted_question_parts(scene: Scene) -> list[Edit]:
    """Leave out the second of two things that a question asks."""
    if scene.item.task != "query2question":
        return []
    return [
        scene.edit("omit_question_part", match.start(), match.end(), "", "the first thing that is asked stays")
        for match in _SECOND_QUESTION.finditer(scene.text)
        if match.start() > 15
    ]
