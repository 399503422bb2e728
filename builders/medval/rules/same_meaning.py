"""Level 1: changes without clinical meaning (another spelling, name, abbreviation, wording, order)."""

from __future__ import annotations

import re
from functools import lru_cache

from builders.medval.items import Edit
from builders.medval.reading import Seen
from builders.medval.rules.edit_tables import variants
from builders.medval.rules.pool import names_in
from builders.medval.rules.scene import Scene

__all__ = ["own_names", "reordered", "variants_of_kind"]

_PARTED = re.compile(r" (?:of|in|to) ")
# A graph's name that reads like words of a text.
_READABLE = re.compile(r"[A-Za-z][a-z]+(?:[ -][a-z]+){0,3}")
_CANDIDATES = 3
# An abbreviation has so many letters at most.
_SHORT = 5


@lru_cache(maxsize=4)
def _pattern(kind: str) -> tuple[re.Pattern[str], dict[str, tuple[str, ...]]]:
    """Return what to look for and what to put in its place, by the words in lower case (wordings: as written)."""
    others: dict[str, list[str]] = {}
    for line in variants():
        if line.kind != kind:
            continue
        others.setdefault(line.first if kind == "wording" else line.first.lower(), []).append(line.second)
        if kind != "wording":
            others.setdefault(line.second.lower(), []).append(line.first)
    phrases = "|".join(re.escape(phrase) for phrase in sorted(others, key=len, reverse=True)) or r"(?!)"
    flags = 0 if kind == "wording" else re.IGNORECASE
    pattern = re.compile(rf"(?<![\w'’-])(?:{phrases})(?![\w'’-])", flags)
    return pattern, {phrase: tuple(phrases) for phrase, phrases in others.items()}


def _like(model: str, word: str) -> str:
    """Return a word with the capital of the one it replaces; abbreviations and names keep their own."""
    if model.isupper() and len(model) > _SHORT:
        return word.upper()
    if model[:1].isupper() and not model.isupper():
        return word[:1].upper() + word[1:]
    return word


def variants_of_kind(scene: Scene, kind: str) -> list[Edit]:
    """Return changes of words for others of equal meaning: ``spelling``, ``synonym``, ``abbreviation``, ``wording``."""
    pattern, others = _pattern(kind)
    evidence = "other names of one concept" if kind in {"synonym", "abbreviation"} else f"{kind} of equal meaning"
    return [
        scene.edit(kind, match.start(), match.end(), _like(match.group(), other), evidence)
        for match in pattern.finditer(scene.text)
        if _may_vary(scene, match, kind)
        for other in others[match.group() if kind == "wording" else match.group().lower()]
        if _may_become(scene, match, other, kind)
    ]


def _may_vary(scene: Scene, match: re.Match[str], kind: str) -> bool:
    """Tell whether words may be written otherwise where they stand."""
    phrase, before, after = match.group(), scene.text[: match.start()], scene.text[match.end() :]
    if kind == "wording":
        # "What are the causes of and treatments for" goes on.
        return not (phrase.startswith("What") and after.startswith(" and "))
    if kind == "spelling":
        return True
    if kind == "abbreviation":
        written = len(phrase) > _SHORT or phrase.isupper()
        if not written or after.lstrip()[:1] == "(" or before.endswith("("):
            return False
    # A name stands for a whole mention: "kidney stone" inside a longer name is a part of it.
    return _mention_at(scene, match) is not None or not any(
        named.mention.begin < match.end() and named.mention.end > match.start() for named in scene.output_view.seen
    )


def _mention_at(scene: Scene, match: re.Match[str]) -> Seen | None:
    spans = {(named.mention.begin, named.mention.end): named for named in scene.output_view.seen}
    return spans.get(match.span())


def _may_become(scene: Scene, match: re.Match[str], other: str, kind: str) -> bool:
    """Tell whether words may become other words of their kind."""
    if kind == "wording":
        return not (other.startswith("How can one") and re.search(r"\b(?:they|and)\b", scene.text))
    if kind == "spelling":
        return True
    # "Right knee pain" is no "right pain in the knee".
    named = _mention_at(scene, match)
    if named and kind == "synonym" and _PARTED.search(other) and not scene.stands_alone(named):
        return False
    return _is_one_concept(scene, match.group(), other)


def _is_one_concept(scene: Scene, name: str, other: str) -> bool:
    """Tell whether the reader finds one concept in both wordings, or none in either."""
    concepts = scene.concepts
    left, right = (concepts.family_of(cuis[:_CANDIDATES]) for cuis in concepts.concepts_of([name, other]))
    return bool(left & right) or not (left or right)


def own_names(scene: Scene) -> list[Edit]:
    """Call a problem or drug by another of its names: the input's, else the one that the graph has for it."""
    edits = []
    for named, name in names_in(scene):
        theirs = [other.mention.text for other in scene.input_view.seen if other.mention.cuis[:1] == name.cuis]
        text = named.mention.text
        # A beginning of the same name is none: "bleed" cannot stand for "bleeding".
        names = (other for other in (*theirs, *_graph_names(scene, name.cuis[0])))
        other = next((other for other in names if not text.lower().startswith(other.lower())), None)
        if other is not None and scene.stands_alone(named):
            evidence = f"other names of {name.cuis[0]}"
            begin, end = named.mention.begin, named.mention.end
            edits.append(scene.edit("own_words", begin, end, _like(text, other), evidence))
    return edits


def _graph_names(scene: Scene, cui: str) -> list[str]:
    """Return the graph's name of a concept, and of what a brand holds, if they read like words of a text."""
    concepts, graph = scene.concepts, scene.concepts.graph
    kin = sorted(concepts.family(cui) - {cui})[:1] if cui in graph and graph.ingredients(cui) else []
    names = [name for other in (cui, *kin) if other in graph and _READABLE.fullmatch(name := graph.name(other))]
    read = zip(names, concepts.concepts_of(names), strict=True)
    return [name for name, cuis in read if concepts.family_of(cuis[:1]) & concepts.family(cui)]


def reordered(scene: Scene) -> list[Edit]:
    """Return swaps of two neighbours in a list of drugs."""
    edits = []
    drugs = {drug.mention.begin for drug in scene.output_view.drugs}
    for first, second in zip(scene.entries, scene.entries[1:], strict=False):
        if first.line == second.line and {first.begin, second.begin} <= drugs and first.text != second.text:
            after = f"{second.text}{scene.text[first.end : second.begin]}{first.text}"
            edits.append(scene.edit("reorder", first.begin, second.end, after, "entries of equal rank"))
    return edits
