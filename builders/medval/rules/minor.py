"""Level 2: minor details left out, and slight changes of intensity."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

from builders.medval.items import Edit
from builders.medval.rules.scene import Scene
from builders.medval.rules.tables import words
from builders.medval.rules.view import Seen, View

__all__ = [
    "added_grades",
    "doubted_problems",
    "graded",
    "hedged",
    "is_measured",
    "modifier_before",
    "omitted_modifiers",
    "qualifier_after",
    "slight_intensity",
    "stated_certainly",
    "word_before",
]

_NEAR = 120
_WORD = re.compile(r"[a-z]+")
_BEFORE = re.compile(r"([A-Za-z-]+)[ ]+$")
_REASON = re.compile(r" (?:due|related|secondary|caused|from|a result|viral|allergic|musculoskeletal|of)\b")
_HEDGE = re.compile(
    r"\b(?:possibl\w+|suspect\w*|question\w*|likely|probabl\w+|may|might|maybe|could|concern\w*|think|rule|versus|vs|presumed|seems?|"
    r"evaluate|assess|guess|if)\b|\?",
    re.IGNORECASE,
)
_LIKELY = re.compile(r"(?<!less )(?<!more )\b(?:most likely|likely|probably|probable)\b(?! to\b)", re.IGNORECASE)


def word_before(view: View, one: Seen) -> tuple[str, int, int] | None:
    """Return the word right before a mention with its place."""
    begin = max(0, one.mention.begin - 40)
    match = _BEFORE.search(view.text, begin, one.mention.begin)
    return (match.group(1), match.start(1), match.end(1)) if match else None


def modifier_before(view: View, one: Seen, kind: str) -> tuple[str, int, int] | None:
    """Return the word of a kind (``modifier``, ``intensity``) that stands right before a mention."""
    found = word_before(view, one)
    return found if found and found[0].lower() in words(kind) else None


def omitted_modifiers(scene: Scene) -> list[Edit]:
    """Leave out words that qualify a symptom, or what is asked about, where the input qualifies it with them too."""
    found = []
    asked = scene.item.task == "query2question"
    for one in scene.made.problems():
        if one.mention.kind != "finding" and not asked:
            continue
        if one.polarity == "absent" or scene.knowledge.is_serious(one.mention):
            continue
        when = qualifier_after(scene.made, one) if asked else None
        if when is not None and _all_qualified(scene, one, when[0]):
            evidence = "the input qualifies the problem with the words"
            found.append(scene.edit("omit_modifier", one.mention.end, when[2], "", evidence))
        modifier = modifier_before(scene.made, one, "modifier")
        if modifier is None:
            continue
        word, begin, _ = modifier
        qualified = [modifier_before(scene.given, other, "modifier") for other in scene.given.like(one.family)]
        if qualified and all(theirs is not None and theirs[0].lower() == word.lower() for theirs in qualified):
            after = one.mention.text
            after = after[:1].upper() + after[1:] if word[:1].isupper() else after
            found.append(
                scene.edit(
                    "omit_modifier", begin, one.mention.end, after, "the input qualifies the symptom with the word"
                )
            )
    return found


def _all_qualified(scene: Scene, one: Seen, phrase: str) -> bool:
    theirs = [qualifier_after(scene.given, other) for other in scene.given.like(one.family)]
    return bool(theirs) and all(other is not None and other[0] == phrase for other in theirs)


def qualifier_after(view: View, one: Seen) -> tuple[str, int, int] | None:
    """Return the words right after a mention that tell when or for how long a problem is there, with their place."""
    match = _qualifier().match(view.text, one.mention.end)
    return (match.group(1).lower(), match.start(1), match.end(1)) if match else None


@cache
def _qualifier() -> re.Pattern[str]:
    return re.compile(rf" ({'|'.join(words('qualifier'))})\b", re.IGNORECASE)


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


def stated_certainly(scene: Scene) -> list[Edit]:
    """Call certain what the output calls likely, where no grave problem is in the sentence."""
    found = []
    for match in _LIKELY.finditer(scene.text):
        segment = scene.segment(match.start())
        inside = [one for one in scene.made.seen if segment and segment.begin <= one.mention.begin < segment.end]
        if any(scene.knowledge.is_serious(one.mention) or one.mention.kind == "procedure" for one in inside):
            continue
        if not _REASON.match(scene.text, match.end()):
            continue
        if not _LIKELY.search(scene.item.input) or "definit" in scene.item.input.lower():
            continue
        word = match.group()
        after = "definite" if word.lower() == "probable" else "definitely"
        after = after.capitalize() if word[0].isupper() else after
        found.append(scene.edit("overstate_certainty", match.start(), match.end(), after, "the input calls it likely"))
    return found


def doubted_problems(scene: Scene) -> list[Edit]:
    """Call possible a problem of a question, or one that heads an entry, that the input states.

    Grave problems stay, and so do the first of a list and those that numbers prove.
    """
    found = []
    first = min((entry.begin for entry in scene.entries), default=-1)
    for one in scene.made.problems():
        entry = next((e for e in scene.entries if e.body_begin == one.mention.begin), None)
        asked = scene.item.task == "query2question" and scene.stands_alone(one) and scene.text[: one.mention.begin]
        if one.mention.kind != "disorder" or is_measured(one) or scene.knowledge.is_serious(one.mention):
            continue
        if not asked and (entry is None or entry.begin == first or one.polarity != "present"):
            continue
        theirs = scene.given.like(one.family)
        if not theirs or any(hedged(scene.given, other) for other in theirs):
            continue
        text = one.mention.text
        text = text if text[1:2].isupper() or not text[0].isupper() else text[0].lower() + text[1:]
        heads = entry is not None and not (entry.inline and entry.line != entry.begin)
        after = f"{'Possible' if heads else 'possible'} {text}"
        evidence = "the input states it without doubt"
        found.append(scene.edit("understate_certainty", one.mention.begin, one.mention.end, after, evidence))
    return found


def hedged(view: View, one: Seen) -> bool:
    """Tell whether a text speaks of a problem without certainty."""
    around = view.text[max(0, one.mention.begin - 80) : one.mention.end + 40]
    return one.polarity != "present" or _HEDGE.search(around) is not None


def added_grades(scene: Scene, *, grade: Literal["mild", "severe"]) -> list[Edit]:
    """Call a symptom or lesser problem mild, or in a question severe, where the input does not grade it."""
    found: list[Edit] = []
    if grade == "severe" and scene.item.task != "query2question":
        return found
    for one in scene.made.problems():
        if one.polarity == "absent" or scene.knowledge.is_serious(one.mention) or not scene.stands_alone(one):
            continue
        theirs = scene.given.like(one.family)
        if not theirs or any(graded(scene.given, other, anywhere=True) for other in theirs) or graded(scene.made, one):
            continue
        if _is_heavy(scene, one) or scene.is_risk(one) or one.mention.text.lower() not in words("gradable"):
            continue
        # One of several in a row, such as a differential diagnosis, is not graded alone.
        if scene.text[one.mention.end :].startswith((",", "/")) or scene.text[: one.mention.begin].endswith(", "):
            continue
        before = scene.text[: one.mention.begin]
        if before.lower().endswith((" the ", " this ", " that ")):
            continue
        heads = not before.strip() or before.endswith(("\n", "• ", "- ", "# ")) or before.rstrip()[-1:] in ".:;?"
        text = one.mention.text
        plain = text if text[1:2].isupper() or not heads else text[0].lower() + text[1:]
        after = f"{grade.capitalize() if heads else grade} {plain}"
        rule = "added_mildness" if grade == "mild" else "added_severity"
        evidence = "the input does not say how strong it is"
        found.append(scene.edit(rule, one.mention.begin, one.mention.end, after, evidence))
    return found


def graded(view: View, one: Seen, *, anywhere: bool = False) -> bool:
    """Tell whether a text says how strong a problem is: in words near it (``anywhere``: in the text), or by numbers."""
    if is_measured(one):
        return True
    begin, end = (0, len(view.text)) if anywhere else (max(0, one.mention.begin - _NEAR), one.mention.end + _NEAR)
    around = view.text[begin:end].lower()
    return (
        any(word in words("grade") for word in _WORD.findall(around))
        or _any_of("grade_phrase").search(around) is not None
    )


def is_measured(one: Seen) -> bool:
    """Tell whether numbers and signs tell how strong a problem is: electrolytes, counts, pressure, fever."""
    return _any_of("measured").search(one.mention.text.lower()) is not None


@cache
def _any_of(kind: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{word})" for word in words(kind)))
