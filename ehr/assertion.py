"""Say what a note asserts of each mention: present, absent, possible and so on (DESIGN section 5).

The method is ConText (Harkema et al. 2009, after NegEx, Chapman et al. 2001): triggers, each with a direction and a
scope that words of another clause end, and a default for each section. The rules are data
(``data/context_rules.tsv``, ``data/section_defaults.tsv``); they are compiled once into a trie of tokens, so that one
pass over the tokens of a segment finds all triggers.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple, cast, get_args

from ehr.spans import Assertion, Kind, Section, Segment, Span
from ontoground.errors import InputError
from ontoground.tables import read_table

__all__ = ["assert_spans"]

Direction = Literal["forward", "backward", "both", "within", "here"]
Scope = Literal["next", "list", "clause", "sentence", "none"]

_RULE_COLUMNS = ("trigger", "category", "direction", "scope", "rank", "kinds", "sections", "source")
_DEFAULT_COLUMNS = ("section", "kinds", "assertion", "source")
_TOKEN = re.compile(r"[a-z0-9]+(?:['’][a-z]+)?|[^\sa-z0-9]")
_DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True)
class _Rule:
    category: Assertion | None
    """What the rule asserts; None for a stop and for a pseudo-trigger."""
    direction: str
    scope: str
    rank: int
    kinds: frozenset[str]
    sections: frozenset[str]
    excluded: bool
    """Whether ``sections`` names where the rule does not hold."""
    order: int

    def holds(self, kind: Kind, section: str) -> bool:
        if self.kinds and kind not in self.kinds:
            return False
        return not self.sections or (section in self.sections) != self.excluded


@dataclass(slots=True)
class _Node:
    children: dict[str, _Node] = field(default_factory=dict)
    rules: list[_Rule] = field(default_factory=list)


class _Hit(NamedTuple):
    """A trigger in a segment: tokens ``first`` to ``last`` (half-open)."""

    first: int
    last: int
    rules: list[_Rule]


class _Place(NamedTuple):
    """A span in tokens of its segment (half-open)."""

    first: int
    last: int
    index: int


def assert_spans(
    text: str, sections: Sequence[Section], segments: Sequence[Segment], spans: Sequence[Span]
) -> list[Assertion]:
    """The assertion of each span, in the order of ``spans``.

    Pure and deterministic. A span that lies in no segment or section is judged by itself alone.

    Args:
        text: the note.
        sections: its sections, in order.
        segments: its segments, in order, as ``ehr.segments.segment_note`` cuts them.
        spans: matched stretches, in any order; they may overlap.

    Raises:
        InputError: the rule tables that ship with the package are damaged.
    """
    result = [Assertion.PRESENT] * len(spans)
    lowered = _lower(text)
    starts = [segment.begin for segment in segments]
    section_starts = [section.begin for section in sections]
    groups: dict[int, list[int]] = {}
    for index, span in enumerate(spans):
        groups.setdefault(bisect_right(starts, span.begin) - 1, []).append(index)
    for number, members in groups.items():
        segment = segments[number] if number >= 0 else Segment("sentence", 0, len(text), 0)
        position = bisect_right(section_starts, segment.begin) - 1
        section = sections[position].section if position >= 0 else ""
        _judge(lowered, section, segment, spans, members, result)
    return result


def _lower(text: str) -> str:
    lowered = text.lower()
    # A few letters change their length in lower case, which would move the offsets.
    return lowered if len(lowered) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _judge(
    lowered: str, section: str, segment: Segment, spans: Sequence[Span], members: list[int], result: list[Assertion]
) -> None:
    matches = list(_TOKEN.finditer(lowered, segment.begin, max(segment.end, *(spans[i].end for i in members))))
    tokens = [match.group() for match in matches]
    begins = [match.start() for match in matches]
    places = []
    for index in members:
        first = max(bisect_right(begins, spans[index].begin) - 1, 0)
        places.append(_Place(first, max(bisect_left(begins, spans[index].end), first + 1), index))
    places.sort()
    hits = list(_hits(tokens))
    for place in places:
        result[place.index] = _assertion(tokens, hits, places, place, spans[place.index].kind, section)


def _hits(tokens: list[str]) -> Iterator[_Hit]:
    """Triggers of a segment, left to right; of those that start at one token the longest, and none overlap."""
    root = _rules()
    position = 0
    while position < len(tokens):
        node = root.children.get(tokens[position])
        last, rules = position + 1, None
        step = position + 1
        while node is not None:
            if node.rules:
                last, rules = step, node.rules
            node = node.children.get(tokens[step]) if step < len(tokens) else None
            step += 1
        if rules is not None:
            yield _Hit(position, last, rules)
        position = last


def _assertion(
    tokens: list[str], hits: list[_Hit], places: list[_Place], place: _Place, kind: Kind, section: str
) -> Assertion:
    best: tuple[int, int, int] | None = None
    chosen: Assertion | None = None
    for hit in hits:
        for rule in hit.rules:
            if rule.category is None or not rule.holds(kind, section):
                continue
            if not _covers(rule, hit, tokens, hits, places, place):
                continue
            distance = place.first - hit.last if hit.last <= place.first else hit.first - place.last
            key = (-rule.rank, distance, rule.order)
            if best is None or key < best:
                best, chosen = key, rule.category
    if chosen is not None:
        return chosen
    return _default(section, kind)


def _default(section: str, kind: Kind) -> Assertion:
    by_section = _defaults()
    return by_section.get((section, kind), Assertion.PRESENT)


def _covers(rule: _Rule, hit: _Hit, tokens: list[str], hits: list[_Hit], places: list[_Place], place: _Place) -> bool:
    if rule.direction == "within":
        return place.first <= hit.first and hit.last <= place.last
    if any(other.first <= hit.first and hit.last <= other.last for other in places):
        return False
    if rule.direction in ("forward", "both") and hit.last <= place.first:
        return not _ends(rule.scope, tokens, hits, places, hit.last, place.first)
    if rule.direction in ("backward", "both") and place.last <= hit.first:
        return not _ends(rule.scope, tokens, hits, places, place.last, hit.first)
    return False


def _ends(scope: str, tokens: list[str], hits: list[_Hit], places: list[_Place], begin: int, end: int) -> bool:
    """Whether a scope ends between tokens ``begin`` and ``end``."""
    if scope == "sentence":
        return False
    if scope == "next" and any(begin <= p.first and p.last <= end for p in places):
        gap = [t for i, t in enumerate(tokens[begin:end], begin) if not any(p.first <= i < p.last for p in places)]
        if any(t not in ("/", "and", "or") for t in gap):
            return True
    for hit in hits:
        if begin <= hit.first and hit.last <= end:
            if any(p.first <= hit.first and hit.last <= p.last for p in places):
                continue
            for rule in hit.rules:
                if rule.direction == "stop" and (rule.scope == "hard" or scope in ("next", "list")):
                    return True
    return False


@cache
def _rules() -> _Node:
    path = _DATA / "context_rules.tsv"
    root = _Node()
    for order, row in enumerate(read_table(path, _RULE_COLUMNS)):
        rule = _rule(row, order, path)
        for phrase in _phrases(row["trigger"]):
            node = root
            for token in _TOKEN.findall(phrase.lower()):
                node = node.children.setdefault(token, _Node())
            node.rules.append(rule)
    return root


def _rule(row: dict[str, str], order: int, path: Path) -> _Rule:
    category = row["category"]
    sections = row["sections"]
    try:
        asserted = None if category in ("stop", "pseudo") else Assertion(category)
        kinds = frozenset() if row["kinds"] == "*" else frozenset(row["kinds"].split(","))
        if not kinds <= set(get_args(Kind)):
            raise ValueError(row["kinds"])
        rank = int(row["rank"])
    except ValueError as error:
        raise InputError("a rule of the assertion table cannot be read", file=path, found=str(error)) from error
    named = frozenset() if sections == "*" else frozenset(sections.removeprefix("!").split(","))
    direction = "stop" if category == "stop" else row["direction"]
    return _Rule(asserted, direction, row["scope"], rank, kinds, named, sections.startswith("!"), order)


def _phrases(pattern: str) -> Iterator[str]:
    """The phrases that a trigger stands for: ``(was|were|) held`` is ``was held``, ``were held`` and ``held``."""
    parts = [part.split("|") for part in re.split(r"[()]", pattern)]
    for choice in itertools.product(*parts):
        yield " ".join("".join(choice).split())


@cache
def _defaults() -> dict[tuple[str, str], Assertion]:
    path = _DATA / "section_defaults.tsv"
    table: dict[tuple[str, str], Assertion] = {}
    for row in read_table(path, _DEFAULT_COLUMNS):
        for kind in cast(tuple[str, ...], get_args(Kind)) if row["kinds"] == "*" else row["kinds"].split(","):
            table[row["section"], kind] = Assertion(row["assertion"])
    return table
