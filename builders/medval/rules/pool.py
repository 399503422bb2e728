"""What the references of a source say, so that an edit puts in what another reference could have said in its place.

Words that only edits write tell an edited output from a reference without a look at the input. So a name, a strength or
a frequency is drawn as often as references have it: an edited output reads like a reference, of another input.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from builders.medval.reading import Seen
from builders.medval.rules.edit_tables import words
from builders.medval.rules.scene import Scene
from ground.stable import stable_hash

__all__ = ["Name", "Place", "Pool", "draws", "names_in"]

Drawn = TypeVar("Drawn")
Place = tuple[str, bool, bool, bool, str]
"""Kind, whether it begins an entry or a sentence, whether a strength belongs to it, whether it is a plural, and the
article before it, or the beginning of the word that says in what form a drug is taken."""

_HEADS = re.compile(r"(?:^|[\n.:?;])[ \t]*$")
_OPENS = re.compile(r"\b(?:for|of|on|about|with|to|from|an?|the) (?P<nouns>(?:[\w'-]+ ){0,3}(?:[\w']+-)?)$")
_CLOSES = re.compile(
    r"(?P<nouns>(?: (?!\w+(?:ed|ly|side|sary)\b)[\w'-]+){0,2}?)"
    r"(?=[?,]| (?:and|or|in|on|for|from|with|after|be|is|of|by|at|to)\b)"
)
_ARTICLE = re.compile(r"\b(an?) $", re.IGNORECASE)
_FORM = re.compile(r"[^.;\n]*?\b(puff|spray|drop|patch|inhal|cream|ointment|inject)", re.IGNORECASE)
# What a question says of what follows: a noun with a preposition ("rates for").
_LEAD = re.compile(r"([\w'-]+ (?:for|of|on|about|with|to|from|in|by)) (?:(?:an?|the) )?$", re.IGNORECASE)
_LONGEST = 60
_KINDS = {"disorder": "problem", "finding": "problem", "drug": "drug"}


@dataclass(frozen=True, slots=True)
class Name:
    """A problem, or a drug with the strength that directly follows it, as a reference writes it.

    Attributes:
        lead: the phrase that it goes with in a question ("risks of").
        is_whole: it has no nouns beside it.
    """

    begin: int
    end: int
    text: str
    place: Place
    cuis: tuple[str, ...]
    family: frozenset[str]
    lead: str
    is_whole: bool


def names_in(scene: Scene) -> Iterator[tuple[Seen, Name]]:
    """Yield the problems and drugs of a text that may be taken out whole, in a question with the nouns beside them."""
    question = scene.item.task == "query2question"
    for named in scene.output_view.seen:
        mention = named.mention
        if mention.kind not in _KINDS or not mention.cuis:
            continue
        if not question and (named.polarity != "present" or mention.kind == "finding"):
            continue
        doses = (dose for dose in scene.output_view.doses if dose.drug is named and dose.quantity.base != "day")
        strength = next(doses, None)
        begin, end = mention.begin, strength.quantity.end if strength else mention.end
        if not strength and not scene.stands_alone(named):
            begin, end = _phrase(scene, named) if question else (begin, begin)
        if _is_apart(scene.text, begin, end):
            yield named, _name(scene, named, begin, end, has_strength=strength is not None)


def _is_apart(text: str, begin: int, end: int) -> bool:
    """Tell whether words are a name that can be taken out."""
    name = text[begin:end]
    # "Metformin to 1000 mg" follows a verb of its own; an abbreviation in brackets is said of the name before it.
    linked = " to " in name or " from " in name or text[:begin].endswith("(")
    return bool(name) and len(name) <= _LONGEST and "\n" not in name and not linked


def _name(scene: Scene, named: Seen, begin: int, end: int, *, has_strength: bool) -> Name:
    text, kind = scene.text[begin:end], _KINDS[named.mention.kind]
    heads = _HEADS.search(scene.text[max(0, begin - 8) : begin]) is not None
    plural = text.endswith("s") and not text.endswith(("ss", "is", "us"))
    frame = _FORM.match(scene.text, end) if kind == "drug" else _ARTICLE.search(scene.text, 0, begin)
    place = (kind, heads, has_strength, plural and not heads, frame[1].lower() if frame else "")
    lead = _LEAD.search(scene.text, 0, begin) if scene.item.task == "query2question" else None
    is_whole = has_strength or (begin, end) == (named.mention.begin, named.mention.end)
    phrase = lead[1].lower() if lead else ""
    return Name(begin, end, text, place, named.mention.cuis[:1], named.family, phrase, is_whole)


def _phrase(scene: Scene, named: Seen) -> tuple[int, int]:
    """Return where the nouns begin and end that a mention stands among; an empty span where that is not clear."""
    before = _OPENS.search(scene.text, 0, named.mention.begin)
    after = _CLOSES.match(scene.text, named.mention.end)
    if before is None or after is None:
        return named.mention.begin, named.mention.begin
    inside = (*before["nouns"].lower().split(), *after["nouns"].lower().split())
    return (before.start("nouns"), after.end("nouns")) if not set(inside) & words("function").keys() else (0, 0)


def draws(pool: Sequence[Drawn], *about: str | int) -> Iterator[Drawn]:
    """Yield what a pool holds, from a place on that a stable hash gives: each as often first as the pool has it."""
    start = stable_hash(0, "draw", *about) % len(pool) if pool else 0
    yield from pool[start:]
    yield from pool[:start]


class Pool:
    """What some references say, read when it is first asked for.

    Args:
        scenes: the references with their inputs, in an order that tells nothing.
    """

    def __init__(self, scenes: Sequence[Scene]) -> None:
        self._scenes = scenes
        self._odds: dict[Place, float] = {}

    @cached_property
    def _names(self) -> dict[Place, list[Name]]:
        """The names by place, as often as they are written of what the inputs name too: only these are exchanged."""
        by_place: dict[Place, list[Name]] = {}
        for scene in self._scenes:
            for named, name in names_in(scene):
                if scene.in_input(named):
                    by_place.setdefault(name.place, []).append(name)
        return by_place

    def in_place(self, name: Name) -> Sequence[Name]:
        """Return the names that may stand where a name stands."""
        return self._names.get(name.place, ())

    def odds_of_grave(self, name: Name) -> float:
        """Return how many of the names in a place are grave, to one that is not."""
        if name.place not in self._odds:
            names = self.in_place(name)
            graves = sum(self._scenes[0].gravity.is_any_grave(other.cuis) for other in names)
            self._odds[name.place] = graves / max(1, len(names) - graves)
        return self._odds[name.place]

    @cached_property
    def strengths(self) -> dict[str, list[tuple[str, float]]]:
        """Strengths in digits as written and in the base unit, by the words of their unit."""
        by_unit: dict[str, list[tuple[str, float]]] = {}
        for scene in self._scenes:
            for dose in scene.output_view.doses:
                number, quantity = dose.quantity.number, dose.quantity
                unit = scene.text[number.end : quantity.end]
                if quantity.base != "day" and scene.text[number.begin].isdigit():
                    by_unit.setdefault(unit, []).append((scene.text[number.begin : number.end], quantity.value))
        return by_unit

    @cached_property
    def frequencies(self) -> list[tuple[str, float]]:
        """How often drugs are taken, as written and a day."""
        return [
            (scene.text[dose.quantity.begin : dose.quantity.end], dose.quantity.value)
            for scene in self._scenes
            for dose in scene.output_view.doses
            if dose.quantity.base == "day"
        ]
