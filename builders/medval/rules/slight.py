"""Level 2: a lesser detail that is wrong or added: grade, certainty, of whom, what else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from builders.medval.items import Edit
from builders.medval.reading import Seen
from builders.medval.rules.edit_tables import words
from builders.medval.rules.scene import Scene
from ground.stable import stable_hash

__all__ = ["added_groups", "asked_more", "doubted_problems", "graded_problems"]

_BEFORE = re.compile(r"([A-Za-z-]+) $")
_WORD = re.compile(r"[a-z]+")
_HEDGE = re.compile(
    r"\b(?:possibl\w+|suspect\w*|likely|probabl\w+|may|might|maybe|could|concern\w*|think|rule|versus|vs|presumed|"
    r"seems?|evaluate|assess|guess|if|question\w*)\b|\?",
    re.IGNORECASE,
)
# What raises the first letter after it: the beginning, the end of a sentence.
_RAISES = re.compile(r"(?:^|[\n.;:?!])[ \t]*\Z")
_LISTED = re.compile(r"\s*(?:,|/|and\b|or\b)")
_RISK = re.compile(r"\b(?:risks?|complications?|if|prevent|side effects?)\b", re.IGNORECASE)
_AROUND = 80
_CAUSE = re.compile(r"What causes (?!.*(?:,| and | or ))(?P<what>[^?]+)(?=\?$)")
_ABOUT = re.compile(
    r"(?!.*\bI\b(?! find))(?:What|Where can I find information|How (?:is|are|does|do)|Is|Are|Does|Do|Can|Could) "
)
_ASPECTS = re.compile(r"What (?:is|are) the (?P<asked>treatments?|causes?|symptoms|prognosis)(?= (?:for|of) )")
_STRONGER = frozenset({"moderate", "severe"})


def _lesser(scene: Scene) -> Iterator[Seen]:
    """Yield the problems that are there, that the input names, and that are not grave."""
    for problem in scene.output_view.problems:
        there = problem.polarity != "absent" and problem.mention.cuis and scene.in_input(problem)
        if there and not scene.is_grave(problem):
            yield problem


def graded_problems(scene: Scene, *, over: bool) -> list[Edit]:
    """Call a symptom mild or severe that the input does not grade, or change the grade that it has."""
    edits = []
    rule = f"{'over' if over else 'under'}state_slightly"
    # How strong a disorder is decides on its treatment, not on where to read of it.
    informed = scene.text.startswith("Where can I find information")
    for problem in _lesser(scene):
        begin, end = problem.mention.begin, problem.mention.end
        match = _BEFORE.search(scene.text, max(0, begin - 40), begin)
        word = match.group(1).lower() if match else ""
        if (other := words("intensity").get(word)) and (other in _STRONGER) is over and word in scene.input_view.words:
            edits.append(scene.edit(rule, begin - len(word) - 1, begin - 1, other, "the input has the other grade"))
        elif (problem.mention.kind == "finding" or informed) and _may_be_graded(scene, problem):
            grade = "severe" if over else "mild"
            grade = grade.capitalize() if _RAISES.search(scene.text, 0, begin) else grade
            after = f"{grade} {_small(scene, problem)}"
            edits.append(scene.edit(rule, begin, end, after, "the input does not say how strong it is"))
    return edits


def _may_be_graded(scene: Scene, problem: Seen) -> bool:
    """Tell whether a word of grade may stand before a symptom: alone, no risk, and not graded by the input."""
    before = scene.text[: problem.mention.begin]
    alone = not _LISTED.match(scene.text, problem.mention.end) and not before.endswith((", ", "/", " and ", " or "))
    risk = _RISK.search(re.split(r"[.;?!\n]", before)[-1])
    definite = before.lower().endswith((" the ", " this "))
    return alone and scene.stands_alone(problem) and not risk and not definite and not _is_graded(scene, problem)


def _is_graded(scene: Scene, problem: Seen) -> bool:
    """Tell whether the input grades a symptom near one of the places where it names it, in words or numbers."""
    for other in scene.input_view.like(problem.family):
        around = scene.input_view.text[max(0, other.mention.begin - _AROUND) : other.mention.end + _AROUND].lower()
        if set(_WORD.findall(around)) & words("grade").keys() or re.search(r"\d", around):
            return True
    return False


def doubted_problems(scene: Scene) -> list[Edit]:
    """Call possible a problem of a list that the input states; the first entry is the reason of the stay."""
    edits = []
    later = {entry.begin for entry in scene.entries[1:]}
    for problem in _lesser(scene):
        begin, end = problem.mention.begin, problem.mention.end
        if problem.mention.kind != "disorder" or problem.polarity != "present" or begin not in later:
            continue
        hedged = any(_is_hedged(scene, other) for other in scene.input_view.like(problem.family))
        if scene.stands_alone(problem) and not hedged and not _LISTED.match(scene.text, end):
            after = f"possible {_small(scene, problem)}"
            edits.append(scene.edit("understate_certainty", begin, end, after, "the input states it without doubt"))
    return edits


def _is_hedged(scene: Scene, problem: Seen) -> bool:
    begin, end = problem.mention.begin, problem.mention.end
    around = scene.input_view.text[max(0, begin - _AROUND) : end + _AROUND // 2]
    return problem.polarity != "present" or _HEDGE.search(around) is not None


def added_groups(scene: Scene) -> list[Edit]:
    """Ask of a group of people of a sex or an age, where neither text speaks of anybody of such a kind."""
    end = len(scene.text) - 1
    last = next((named for named in scene.output_view.seen if named.mention.end == end), None)
    if scene.item.task != "query2question" or last is None or not _ABOUT.match(scene.text) or not scene.in_input(last):
        return []
    # Who takes a drug matters to its effects, not to what it is made of, or costs.
    if last.mention.kind == "drug" and "effects" not in scene.text:
        return []
    spoken = [kind for kind in ("sex", "age") if re.search(_of_kind(kind), f"{scene.item.input} {scene.text}")]
    groups = [group for group, kind in words("group").items() if not spoken or (spoken == ["sex"] and not kind)]
    if not groups:
        return []
    group = groups[stable_hash(0, "group", *scene.name) % len(groups)]
    return [scene.edit("added_group", end, end, f" {group}", "of nobody in the input")]


@cache
def _of_kind(kind: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(words(kind))})", re.IGNORECASE)


def asked_more(scene: Scene) -> list[Edit]:
    """Ask for something more about a problem, for which the input does not ask in any words."""
    listed, cause = _ASPECTS.match(scene.text), _CAUSE.match(scene.text)
    if scene.item.task != "query2question" or not (listed or cause):
        return []
    edits = []
    for more, cue in words("more").items():
        evidence = f"the input does not ask for {more}"
        if re.search(rf"\b(?:{cue})", scene.item.input, re.IGNORECASE):
            continue
        if cause and more == "symptoms":
            edits.append(scene.edit("asked_more", cause.end(), cause.end(), f", and what are the {more}", evidence))
        elif listed and more[:5] != listed["asked"][:5]:
            asked = listed["asked"] if listed["asked"] == "prognosis" else f"{listed['asked'].removesuffix('s')}s"
            first, second = (asked, more) if more == "prognosis" else (more, asked)
            after = f"What are the {first} and {second}"
            edits.append(scene.edit("asked_more", 0, listed.end(), after, evidence))
    return edits


def _small(scene: Scene, problem: Seen) -> str:
    """Return a name as it stands inside of a sentence: small where its place has raised it, and it is no proper name.

    That it is none, the input shows, or the release, which writes it small.
    """
    name, cui, graph = problem.mention.text, problem.mention.cuis[0], scene.concepts.graph
    first = name.split(maxsplit=1)[0]
    raised = _RAISES.search(scene.text, 0, problem.mention.begin) and first[1:].islower() and first.isalpha()
    written = (scene.input_view.text, graph.name(cui) if cui in graph else "")
    ordinary = any(re.search(rf"\b{first.lower()}\b", text) for text in written)
    return name[:1].lower() + name[1:] if raised and ordinary else name
