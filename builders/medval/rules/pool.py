"""What the references of a source say, so that an edit puts in what another reference could have said in its place.

Words that only edits write tell an edited output from a reference without a look at the input. So a name, a dose, a
frequency or a value is drawn as often as references have it, and a word that has a reverse is turned round as often as
references turn it: an edited output reads like a reference, of another input.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from builders.medval.items import Item
from builders.medval.reading import Seen
from builders.medval.rules.edit_tables import words
from builders.medval.rules.knowledge import Knowledge
from builders.medval.rules.quantities import measured_of, per_day
from builders.medval.rules.scene import Scene
from ground.stable import stable_hash, stable_unit

__all__ = ["Name", "Place", "Pool", "Subject", "drawn", "draws", "named"]

Drawn = TypeVar("Drawn")
Place = tuple[str, bool, bool, bool, str]
"""Kind, whether it begins an entry or a sentence, whether a strength belongs to it, whether it is a plural, and the
article before it, or the beginning of the word that says in what form a drug is taken."""

_HEADS = re.compile(r"(?:^|[\n.:?;•#-])[ \t]*(?:\d{1,2}[.)][ \t]*)?$")
_OPENS = re.compile(r"\b(?:for|of|on|about|with|to|from|an?|the) (?P<nouns>(?:[\w'-]+ ){0,3}(?:[\w']+-)?)$")
_CLOSES = re.compile(
    r"(?P<nouns>(?: (?!\w+(?:ed|ly|side|sary)\b)[\w'-]+){0,2}?)"
    r"(?=[?,]| (?:and|or|in|on|for|from|with|after|be|is|of|by|at|to)\b)"
)
_ARTICLE = re.compile(r"\b(an?) $", re.IGNORECASE)
_FORM = re.compile(r"[^.;\n]*?\b(puff|spray|drop|patch|inhal|cream|ointment|inject)", re.IGNORECASE)
# What a question says of what follows: a noun with a preposition ("rates for").
_LEAD = re.compile(r"([\w'-]+ (?:for|of|on|about|with|to|from|in|by)) (?:(?:an?|the) )?$", re.IGNORECASE)
_ALONE_IN_LINE = re.compile(
    r"(?P<mark>[ \t]*(?:\d{1,2}[.)]|[-*•#])?[ \t]*)(?P<name>[^\n]+?)[.:]?[ \t]*(?:\n\s*(?P<next>[^\n]*)|$)"
)
_LONGEST = 60
# A beginning that so many questions have is no form; so many words are a beginning, or a subject.
_ALONE, _OPENING = 1, 8
_MANIFOLD = re.compile(r"[,;(]|\b(?:and|it|they|this)\b")


@dataclass(frozen=True, slots=True)
class Name:
    """A problem, or a drug with the strength that directly follows it, as a reference writes it.

    Attributes:
        lead: the phrase that it goes with in a question ("risks of").
        is_whole: it has no nouns beside it.
        is_heading: it is a line of its own over the text that belongs to it.
    """

    begin: int
    end: int
    text: str
    place: Place
    cuis: tuple[str, ...]
    family: frozenset[str]
    lead: str
    is_whole: bool
    is_heading: bool


@dataclass(frozen=True, slots=True)
class Subject:
    """What a question is about, with how it begins (``place``) and the concepts that are named."""

    begin: int
    end: int
    text: str
    place: str
    cuis: tuple[str, ...]
    family: frozenset[str]


def _divided(text: str) -> list[tuple[str, int]]:
    """Return the ways in which a plain question may begin, with where what it is about then begins."""
    if not text.endswith("?") or _MANIFOLD.search(text):
        return []
    starts = [match.start() for match in re.finditer(r"(?<= )\S", text)]
    return [
        (text[: start - 1], start)
        for start in starts[1:_OPENING]
        if text[: start - 1].rsplit(" ", 1)[-1].lower() in words("function") and text.count(" ", start) < _OPENING
    ]


def named(scene: Scene) -> Iterator[tuple[Seen, Name]]:
    """Yield the problems and drugs of a text that may be taken out whole, in a question with the nouns beside them."""
    question = scene.item.task == "query2question"
    kinds = {"disorder", "drug", "finding"} if question else {"disorder", "drug"}
    for one in scene.made.seen:
        if one.mention.kind not in kinds or not one.mention.cuis or (one.polarity != "present" and not question):
            continue
        strength = next((amount.end for amount in scene.made.amounts if amount.drug is one), one.mention.end)
        begin, end = one.mention.begin, strength
        if not (strength > one.mention.end or scene.stands_alone(one)):
            begin, end = _phrase(scene, one) if question else (begin, begin)
        text = scene.text[begin:end]
        # "Metformin to 1000 mg" follows a verb of its own.
        if not text or "\n" in text or len(text) > _LONGEST or " to " in text or " from " in text:
            continue
        # An abbreviation in brackets is said of the name before it.
        if scene.text[:begin].endswith("("):
            continue
        heads = _HEADS.search(scene.text[max(0, begin - 8) : begin]) is not None
        plural = text.endswith("s") and not text.endswith(("ss", "is", "us"))
        kind = "drug" if one.mention.kind == "drug" else "problem"
        frame = _FORM.match(scene.text, end) if kind == "drug" else _ARTICLE.search(scene.text, 0, begin)
        place = (kind, heads, strength > one.mention.end, plural and not heads, frame[1].lower() if frame else "")
        lead = _LEAD.search(scene.text, 0, begin) if question else None
        whole = (begin, end) in {(one.mention.begin, one.mention.end), (one.mention.begin, strength)}
        heading = heads and _is_heading(scene.text, begin, end)
        yield (
            one,
            Name(
                begin,
                end,
                text,
                place,
                one.mention.cuis[:1],
                one.family,
                lead[1].lower() if lead else "",
                whole,
                heading,
            ),
        )


def _is_heading(text: str, begin: int, end: int) -> bool:
    """Tell whether a name is alone in its line and the next line is no further entry of its list."""
    line = _ALONE_IN_LINE.match(text, text.rfind("\n", 0, begin) + 1)
    if line is None or (line.start("name"), line.end("name")) != (begin, end) or not line["next"]:
        return False
    mark, following = (re.sub(r"\d+", "0", one.strip()) for one in (line["mark"], line["next"]))
    return not mark or mark != following[: len(mark)]


def _phrase(scene: Scene, one: Seen) -> tuple[int, int]:
    """Return where the nouns begin and end that a mention stands among; an empty span where that is not plain."""
    before = _OPENS.search(scene.text, 0, one.mention.begin)
    after = _CLOSES.match(scene.text, one.mention.end)
    if before is None or after is None:
        return one.mention.begin, one.mention.begin
    inside = (*before["nouns"].lower().split(), *after["nouns"].lower().split())
    return (before.start("nouns"), after.end("nouns")) if not set(inside) & words("function").keys() else (0, 0)


def draws(pool: Sequence[Drawn], *about: str | int) -> Iterator[Drawn]:
    """Yield what a pool holds, from a place on that a stable hash gives: each as often first as the pool has it."""
    start = stable_hash(0, "draw", *about) % len(pool) if pool else 0
    yield from pool[start:]
    yield from pool[:start]


def drawn(pool: Sequence[Drawn], *about: str | int) -> Drawn | None:
    """Return the first of `draws`: an exchange that takes it or nothing goes as often one way as the other."""
    return next(draws(pool, *about), None)


class Pool:
    """What some references say, read when it is first asked for.

    Args:
        items: whose references they are, in an order that tells nothing.
        knowledge: reads them.
    """

    def __init__(self, items: Sequence[Item], knowledge: Knowledge) -> None:
        self._items, self._knowledge = items, knowledge
        self._counts: dict[str, int] = {}
        self._odds: dict[object, float] = {}

    @cached_property
    def _scenes(self) -> list[Scene]:
        return [Scene(item, (item.reference or "").strip(), self._knowledge, self) for item in self._items]

    @cached_property
    def names(self) -> dict[Place, list[Name]]:
        """The names by place, as often as they are written of what the inputs name too: only these are exchanged."""
        found: dict[Place, list[Name]] = {}
        for scene in self._scenes:
            for one, name in named(scene):
                if not scene.in_input(one):
                    continue
                found.setdefault(name.place, []).append(name)
        return found

    @cached_property
    def _frames(self) -> Counter[str]:
        """How many questions begin with some words."""
        return Counter(frame for scene in self._scenes for frame, _ in _divided(scene.text))

    def subject_of(self, scene: Scene) -> Subject | None:
        """Return what a question is about: its words after the longest beginning that other questions share."""
        for frame, begin in reversed(_divided(scene.text)):
            if self._frames[frame] > _ALONE:
                end = len(scene.text) - 1
                cuis = tuple(
                    cui for one in scene.made.seen if one.mention.begin >= begin for cui in one.mention.cuis[:1]
                )
                return Subject(begin, end, scene.text[begin:end], frame, cuis, frozenset(cuis))
        return None

    @cached_property
    def subjects(self) -> dict[str, list[Subject]]:
        """What questions are about, by how they begin."""
        found: dict[str, list[Subject]] = {}
        for scene in self._scenes:
            if (subject := self.subject_of(scene)) is not None:
                found.setdefault(subject.place, []).append(subject)
        return found

    def in_place(self, name: Name | Subject) -> Sequence[Name | Subject]:
        """Return what may stand where a name stands."""
        found: Mapping[Any, Sequence[Name | Subject]] = self.subjects if isinstance(name, Subject) else self.names
        return found.get(name.place, ())

    def suits(self, scene: Scene, name: Name | Subject, other: Name | Subject) -> bool:
        """Tell whether a name fits a question's phrase: one with nouns beside it ("stroke recovery") keeps its own."""
        if isinstance(name, Subject) or isinstance(other, Subject) or scene.item.task != "query2question":
            return True
        return other.is_whole or other.lead == name.lead

    def odds_of_grave(self, name: Name | Subject) -> float:
        """Return how many of the names in a place are grave, to one that is not."""
        if name.place not in self._odds:
            graves = [any(map(self._knowledge.is_grave, other.cuis)) for other in self.in_place(name)]
            self._odds[name.place] = sum(graves) / max(1, len(graves) - sum(graves))
        return self._odds[name.place]

    @cached_property
    def strengths(self) -> dict[str, list[str]]:
        """Strengths in digits, by unit."""
        found: dict[str, list[str]] = {}
        for scene in self._scenes:
            for amount in scene.made.amounts:
                written = scene.text[amount.number.begin : amount.number.end]
                found.setdefault(amount.unit, []).append(written)
        return found

    @cached_property
    def rates(self) -> list[tuple[str, float]]:
        """How often drugs are taken, as written and a day."""
        said = [scene.text[rate.begin : rate.end] for scene in self._scenes for rate in scene.made.rates]
        return [(phrase, per_day(phrase)) for phrase in said]

    @cached_property
    def values(self) -> list[str]:
        """Measured values as written."""
        return [scene.text[one.begin : one.end] for scene in self._scenes for one in measured_of(scene.text)]

    @cached_property
    def questions(self) -> list[str]:
        """How questions begin that ask for something that is known (``aspect_phrase``)."""
        phrases = words("aspect_phrase")
        return [phrase for scene in self._scenes for phrase in phrases if scene.text.startswith(phrase + " ")]

    @cached_property
    def _text(self) -> str:
        return "\n".join(scene.text.lower() for scene in self._scenes)

    def count(self, phrase: str) -> int:
        """Return how often references say a phrase."""
        if phrase not in self._counts:
            self._counts[phrase] = len(re.findall(rf"(?<!\w){re.escape(phrase.lower())}(?!\w)", self._text))
        return self._counts[phrase]

    def turns(self, before: str, after: str, *about: str | int) -> bool:
        """Tell whether words may become others here: of the two ways, the one to the rarer words is gone less often.

        So as many places go one way as the other (Metropolis et al. 1953), and words that no reference says never come.
        """
        one, other = self.count(before), self.count(after)
        return other > 0 and stable_unit(0, "turn", before, after, *about) * one <= other
