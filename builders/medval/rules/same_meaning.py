"""Level 1: changes without clinical meaning (another spelling, name, abbreviation, wording, order)."""

from __future__ import annotations

import re
from functools import lru_cache

from builders.medval.items import Edit
from builders.medval.reading import Seen
from builders.medval.rules.edit_tables import variants
from builders.medval.rules.pool import named
from builders.medval.rules.scene import Scene

__all__ = ["own_words", "reordered", "variant_of_kind"]

_PARTED = re.compile(r" (?:of|in|to) ")
_LISTED = re.compile(
    r"\b(?P<lead>denies|denied|no|without|reports|endorses|including|such as|like)(?P<space> (?:any )?)"
    r"(?P<one>[a-z][a-z -]{2,30}), (?P<two>[a-z][a-z -]{2,30}), (?:and|or) [a-z]",
    re.IGNORECASE,
)


@lru_cache(maxsize=4)
def _pattern(kind: str) -> tuple[re.Pattern[str], dict[str, tuple[str, ...]]]:
    """Return what to look for and what to put in its place, by the words in lower case (abbreviations: as written)."""
    found: dict[str, list[str]] = {}
    for line in variants():
        if line.kind != kind:
            continue
        pairs = [(line.one, line.other)]
        if kind != "wording":
            pairs.append((line.other, line.one))
        for one, other in pairs:
            found.setdefault(one if kind == "wording" else one.lower(), []).append(other)
    phrases = "|".join(re.escape(phrase) for phrase in sorted(found, key=len, reverse=True)) or r"(?!)"
    flags = 0 if kind == "wording" else re.IGNORECASE
    pattern = re.compile(rf"(?<![\w'’-])(?:{phrases})(?![\w'’-])", flags)
    return pattern, {phrase: tuple(others) for phrase, others in found.items()}


def _like(model: str, word: str) -> str:
    """Return a word with the capital of the one it replaces; abbreviations and names keep their own."""
    if model.isupper() and len(model) > 5:
        return word.upper()
    if model[:1].isupper() and not model.isupper():
        return word[:1].upper() + word[1:]
    return word


def variant_of_kind(scene: Scene, kind: str) -> list[Edit]:
    """Return changes of words for others of equal meaning: ``spelling``, ``synonym``, ``abbreviation``, ``wording``."""
    pattern, others = _pattern(kind)
    found = []
    places = {(one.mention.begin, one.mention.end): one for one in scene.made.seen}
    for match in pattern.finditer(scene.text):
        words = match.group()
        if kind == "abbreviation" and len(words) <= 5 and not words.isupper() and words != "NSAIDs":
            continue
        if kind == "abbreviation" and (
            scene.text[match.end() :].lstrip()[:1] == "(" or scene.text[: match.start()].endswith("(")
        ):
            continue
        named = kind in {"synonym", "abbreviation"}
        # A synonym stands for a whole mention: "kidney stone" inside a longer name is a part of it.
        if named and any(b < match.end() and e > match.start() for b, e in places) and match.span() not in places:
            continue
        if kind == "abbreviation" and words == "MRI" and re.search(r"\ban $", scene.text[: match.start()]):
            continue
        for other in others[words if kind == "wording" else words.lower()]:
            if other.startswith("How can one") and re.search(r"\b(?:they|and)\b", scene.text):
                continue
            # "What are the causes of and treatments for" goes on.
            if kind == "wording" and words.startswith("What") and scene.text[match.end() :].startswith(" and "):
                continue
            # "Right knee pain" is no "right pain in the knee".
            one = places.get(match.span())
            if kind == "synonym" and one and _PARTED.search(other) and not scene.stands_alone(one):
                continue
            if named and not scene.knowledge.same_name(words, other):
                continue
            evidence = "other names of one concept" if named else f"{kind} of equal meaning"
            found.append(scene.edit(kind, match.start(), match.end(), _like(words, other), evidence))
    return found


def own_words(scene: Scene) -> list[Edit]:
    """Call a problem or drug by another of its names: the input's, else the one that the graph has for it."""
    found = []
    for one, name in named(scene):
        theirs = [other.mention.text for other in scene.given.seen if set(other.mention.cuis[:1]) == set(name.cuis)]
        others = [other for other in (*theirs, *scene.knowledge.plain_names(name.cuis[0])) if _differs(other, one)]
        if others and scene.stands_alone(one):
            after = _like(one.mention.text, others[0])
            evidence = f"other names of {name.cuis[0]}"
            found.append(scene.edit("own_words", one.mention.begin, one.mention.end, after, evidence))
    return found


def _differs(name: str, one: Seen) -> bool:
    """Tell whether a name is another, and not the beginning of the same: "bleed" cannot stand for "bleeding"."""
    return not one.mention.text.lower().startswith(name.lower())


def reordered(scene: Scene) -> list[Edit]:
    """Return swaps of two neighbours of equal rank: symptoms of one list, drugs of one list."""
    found = []
    symptoms = {(one.mention.begin, one.mention.end) for one in scene.made.seen if one.mention.kind == "finding"}
    for match in _LISTED.finditer(scene.text):
        if match.span("one") in symptoms and match.span("two") in symptoms:
            after = f"{match['two']}, {match['one']}"
            found.append(scene.edit("reorder", match.start("one"), match.end("two"), after, "entries of equal rank"))
    drugs = {one.mention.begin for one in scene.made.drugs()}
    for first, second in zip(scene.entries, scene.entries[1:], strict=False):
        between = scene.text[first.end : second.begin].strip()
        if between != (";" if first.inline else "") or first.inline != second.inline or first.body_begin not in drugs:
            continue
        if second.body_begin in drugs and first.body != second.body:
            middle = scene.text[first.body_begin + len(first.body) : second.body_begin]
            after = f"{second.body}{middle}{first.body}"
            end = second.body_begin + len(second.body)
            found.append(scene.edit("reorder", first.body_begin, end, after, "entries of equal rank"))
    return found
