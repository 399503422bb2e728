"""Level 2: a lesser detail that is wrong, lost or added: grade, certainty, qualifier, time, of whom, what else."""

from __future__ import annotations

import re
from functools import cache

from builders.medval.items import Edit
from builders.medval.reading import Seen
from builders.medval.rules.edit_tables import words
from builders.medval.rules.quantities import Number
from builders.medval.rules.scene import Scene
from ground.stable import stable_hash

__all__ = [
    "added_groups",
    "asked_more",
    "changed_certainty",
    "graded_symptoms",
    "more_general",
    "omitted_modifiers",
    "slight_numbers",
]

_BEFORE = re.compile(r"([A-Za-z-]+) $")
_WORD = re.compile(r"[a-z]+")
_HEDGE = re.compile(
    r"\b(?:possibl\w+|suspect\w*|likely|probabl\w+|may|might|maybe|could|concern\w*|think|rule|versus|vs|presumed|"
    r"seems?|evaluate|assess|guess|if|question\w*)\b|\?",
    re.IGNORECASE,
)
# What a message doubts as a whole: "my doctors hint that I have it but do not say so".
_DOUBTED = re.compile(
    r"\b(?:hint\w*|unsure|not sure|wonder\w*|(?:not|n't|never) (?:say|said|know|been diagnosed|diagnosed)|undiagnosed|"
    r"misdiagnos\w+|second opinion)\b",
    re.IGNORECASE,
)
# What a message says of somebody: "my son was diagnosed with", "my", and after it "I have this problem".
_OF_SOMEBODY = re.compile(
    r"(?:\b(?:I|we|he|she|who|NAME|son|daughter|child|baby|husband|wife|mother|father|mom|dad|brother|sister|aunt\w*|uncle|"
    r"cousin|friend|patient|old)"
    r"\b\]?[^.?!\n]{0,40}(?<!to )\b(?:have|has|had|'ve|got|diagnosed|suffer\w*|detected|developed|living)"
    r"|\b(?:I've|I'm|I am|my|his|her|our))(?: (?!for\b|about\b|to\b|of\b|on\b|regarding\b)[\w'-]+){0,3} $",
    re.IGNORECASE,
)
_HAS_IT = re.compile(r"[^?\n]{0,40}\bI (?:have|have had|suffer from) (?:this|it)\b", re.IGNORECASE)
_LIKELY = re.compile(r"(?<!less )(?<!more )\b(?:most likely|likely|probably|probable)\b(?! to\b)", re.IGNORECASE)
# What raises the first letter after it: the beginning, the end of a sentence, a mark of a list.
_RAISES = re.compile(r"(?:^|[\n.;:?!•#-])[ \t]*(?:\d{1,2}[.)][ \t]*)?\Z")
_REASON = re.compile(r" (?:due|related|secondary|caused|from|a result|viral|allergic|musculoskeletal|of)\b")
_LISTED = re.compile(r"\s*(?:,|/|and\b|or\b)")
_AROUND = 80
# How long, how long ago, when next, and how old; not how often ("5 days a week") and no range.
_TIME = re.compile(r"[- ](?P<unit>day|week|month|year)s?\b(?P<old>[- ]old\b)?(?! (?:a|per|each|every)\b)", re.I)
_RANGE = re.compile(r"(?:\bto|\bor|\band|-|–)\s?$")
# From so many years on an age may be a few years off; a time of so many units one unit.
_GROWN, _YEARS, _UNITS = 21, (2, 3), 2
_CAUSE = re.compile(r"What causes (?!.*(?:,| and | or ))(?P<what>[^?]+)(?=\?$)")
_ABOUT = re.compile(
    r"(?!.*\bI\b(?! find))(?:What|Where can I find information|How (?:is|are|does|do)|Is|Are|Does|Do|Can|Could) "
)
_ASPECTS = re.compile(r"What (?:is|are) the (?P<asked>treatments?|causes?|symptoms|prognosis)(?= (?:for|of) )")
_STRONGER = frozenset({"moderate", "severe"})


def _lesser(scene: Scene) -> list[Seen]:
    """Return the problems that are there, that the input names, and that are not grave."""
    return [
        one
        for one in scene.made.problems()
        if one.polarity != "absent" and one.mention.cuis and scene.in_input(one) and not scene.is_grave(one)
    ]


def omitted_modifiers(scene: Scene) -> list[Edit]:
    """Leave out the word right before a problem that qualifies it ("chronic"), where the input has the word too."""
    found = []
    for one in _lesser(scene):
        match = _BEFORE.search(scene.text, max(0, one.mention.begin - 40), one.mention.begin)
        word = match.group(1) if match else ""
        if word.lower() in words("modifier") and word.lower() in scene.given.words:
            begin = one.mention.begin - len(word) - 1
            after = _capital(one.mention.text) if word[0].isupper() else one.mention.text
            evidence = "the input qualifies the problem with the word"
            found.append(scene.edit("omit_modifier", begin, one.mention.end, after, evidence))
    return found


def more_general(scene: Scene) -> list[Edit]:
    """Name a problem by the end of its name only, where that names what is above it: "contact dermatitis"."""
    found = []
    for one in _lesser(scene):
        first, _, rest = one.mention.text.partition(" ")
        above = scene.knowledge.above(one.mention.cuis[0]) - {one.mention.cuis[0]}
        if rest and scene.stands_alone(one) and above & set(scene.knowledge.concepts(rest)[:1]):
            after = _capital(rest) if first[0].isupper() and first[1:].islower() else rest
            found.append(scene.edit("more_general", one.mention.begin, one.mention.end, after, "what is above it"))
    return found


def graded_symptoms(scene: Scene, *, over: bool) -> list[Edit]:
    """Call a symptom mild or severe that the input does not grade, or change the grade that it has."""
    found: list[Edit] = []
    rule = f"{'over' if over else 'under'}state_slightly"
    # How strong a disorder is decides on its treatment, not on where to read of it.
    informed = scene.text.startswith("Where can I find information")
    for one in _lesser(scene):
        begin, end = one.mention.begin, one.mention.end
        match = _BEFORE.search(scene.text, max(0, begin - 40), begin)
        word = match.group(1).lower() if match else ""
        if (other := words("intensity").get(word)) and (other in _STRONGER) is over and word in scene.given.words:
            found.append(scene.edit(rule, begin - len(word) - 1, begin - 1, other, "the input has the other grade"))
        elif (one.mention.kind == "finding" or informed) and _may_be_graded(scene, one) and not _is_graded(scene, one):
            heads = _RAISES.search(scene.text, 0, begin) is not None
            grade = ("severe" if over else "mild") if not heads else ("Severe" if over else "Mild")
            after = f"{grade} {_small(scene, one)}"
            found.append(scene.edit(rule, begin, end, after, "the input does not say how strong it is"))
    return found


def _may_be_graded(scene: Scene, one: Seen) -> bool:
    """Tell whether a word of grade may stand before a symptom: it is alone, and no risk."""
    before = scene.text[: one.mention.begin]
    alone = not _LISTED.match(scene.text, one.mention.end) and not before.endswith((", ", "/", " and ", " or "))
    return (
        alone
        and scene.stands_alone(one)
        and not scene.is_risk(one)
        and not before.lower().endswith((" the ", " this "))
    )


def _is_graded(scene: Scene, one: Seen) -> bool:
    """Tell whether the input grades a symptom near one of the places where it names it, in words or numbers."""
    for other in scene.given.like(one.family):
        around = scene.given.text[max(0, other.mention.begin - _AROUND) : other.mention.end + _AROUND].lower()
        if set(_WORD.findall(around)) & words("grade").keys() or re.search(r"\d", around):
            return True
    return False


def changed_certainty(scene: Scene, *, over: bool) -> list[Edit]:
    """Call possible a problem that the input states, or certain what is likely."""
    return _stated(scene) if over else _doubted(scene)


def _stated(scene: Scene) -> list[Edit]:
    found = []
    for match in _LIKELY.finditer(scene.text):
        segment = scene.segment(match.start())
        inside = [one for one in scene.made.seen if segment and segment.begin <= one.mention.begin < segment.end]
        if any(scene.is_grave(one) or one.mention.kind == "procedure" for one in inside):
            continue
        if not _REASON.match(scene.text, match.end()) or "definit" in scene.item.input.lower():
            continue
        after = "definite" if match.group().lower() == "probable" else "definitely"
        after = _capital(after) if match.group()[0].isupper() else after
        found.append(scene.edit("overstate_certainty", match.start(), match.end(), after, "the output calls it likely"))
    return found


def _doubted(scene: Scene) -> list[Edit]:
    found = []
    asked = scene.item.task == "query2question"
    first = min((entry.begin for entry in scene.entries), default=-1)
    for one in _lesser(scene):
        begin, end = one.mention.begin, one.mention.end
        entry = next((entry for entry in scene.entries if entry.body_begin == begin), None)
        if one.mention.kind != "disorder" or _LISTED.match(scene.text, end) or not scene.stands_alone(one):
            continue
        if not (asked and begin) and (entry is None or entry.begin == first or one.polarity != "present"):
            continue
        if asked and not any(_is_of_somebody(scene.given.text, each) for each in scene.given.like(one.family)):
            continue
        if _DOUBTED.search(scene.given.text) or any(_is_hedged(scene, each) for each in scene.given.like(one.family)):
            continue
        heads = entry is not None and not (entry.inline and entry.line != entry.begin)
        after = f"{'Possible' if heads else 'possible'} {_small(scene, one)}"
        found.append(scene.edit("understate_certainty", begin, end, after, "the input states it without doubt"))
    return found


def slight_numbers(scene: Scene) -> list[Edit]:
    """Change an age by a few years, or a time by one of its units, where no drug or procedure hangs on it."""
    found = []
    for number in scene.made.numbers:
        match = _TIME.match(scene.text, number.end)
        value = number.values[0]
        aged = match is not None and match["old"] is not None and match["unit"].lower() == "year"
        if match is None or not scene.text[number.begin : number.end].isdigit() or value not in scene.given.values:
            continue
        if _RANGE.search(scene.text, 0, number.begin) or value < (_GROWN if aged else _UNITS):
            continue
        if not aged and _is_dosed(scene, number):
            continue
        steps = _YEARS if aged else (1,)
        near = [int(value) + sign * step for step in steps for sign in (1, -1)]
        near = [one for one in near if one > 1 and one not in scene.given.values | scene.made.values]
        if near:
            other = near[stable_hash(0, "slight", *scene.name, number.begin) % len(near)]
            found.append(scene.edit("slight_number", number.begin, number.end, str(other), "near to the input's"))
    return found


def _is_dosed(scene: Scene, number: Number) -> bool:
    """Tell whether a drug or a procedure is named in the segment of a number."""
    segment = scene.segment(number.begin)
    return segment is None or any(
        segment.begin <= one.mention.begin < segment.end and one.mention.kind in {"drug", "procedure"}
        for one in scene.made.seen
    )


def added_groups(scene: Scene) -> list[Edit]:
    """Ask of a group of people of a sex or an age, where neither text speaks of anybody of such a kind."""
    end = len(scene.text) - 1
    last = next((one for one in scene.made.seen if one.mention.end == end), None)
    if scene.item.task != "query2question" or last is None or not _ABOUT.match(scene.text) or not scene.in_input(last):
        return []
    # Who takes a drug matters to its effects, not to what it is made of, or costs.
    if last.mention.kind == "drug" and "effects" not in scene.text:
        return []
    told = [kind for kind in ("sex", "age") if re.search(_of_kind(kind), f"{scene.item.input} {scene.text}")]
    groups = [group for group, kind in words("group").items() if not told or (told == ["sex"] and not kind)]
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
    found = []
    for more, cue in words("more").items():
        evidence = f"the input does not ask for {more}"
        if re.search(rf"\b(?:{cue})", scene.item.input, re.IGNORECASE):
            continue
        if cause and more == "symptoms":
            found.append(scene.edit("asked_more", cause.end(), cause.end(), f", and what are the {more}", evidence))
        elif listed and more[:5] != listed["asked"][:5]:
            asked = listed["asked"] if listed["asked"] == "prognosis" else f"{listed['asked'].removesuffix('s')}s"
            first, second = (asked, more) if more == "prognosis" else (more, asked)
            after = f"What are the {first} and {second}"
            found.append(scene.edit("asked_more", 0, listed.end(), after, evidence))
    return found


def _is_hedged(scene: Scene, one: Seen) -> bool:
    around = scene.given.text[max(0, one.mention.begin - _AROUND) : one.mention.end + _AROUND // 2]
    return one.polarity != "present" or _HEDGE.search(around) is not None


def _is_of_somebody(text: str, one: Seen) -> bool:
    """Tell whether a message says of somebody that a problem is there, and does not only ask about it."""
    begin, end = one.mention.begin, one.mention.end
    return bool(_OF_SOMEBODY.search(text, max(0, begin - 2 * _AROUND), begin) or _HAS_IT.match(text, end))


def _small(scene: Scene, one: Seen) -> str:
    """Return a name as it stands inside of a sentence: small where its place has raised it, and it is no proper name.

    That it is none, the input shows, or the release, which writes it small.
    """
    name = one.mention.text
    first = name.split(maxsplit=1)[0]
    raised = _RAISES.search(scene.text, 0, one.mention.begin) and first[1:].islower() and first.isalpha()
    cui = one.mention.cuis[0]
    written = (scene.given.text, scene.knowledge.graph.name(cui) if cui in scene.knowledge.graph else "")
    ordinary = any(re.search(rf"\b{first.lower()}\b", text) for text in written)
    return name[:1].lower() + name[1:] if raised and ordinary else name


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]
