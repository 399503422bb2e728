"""Say what a note asserts of each mention: present, absent, possible and so on (DESIGN section 5).

The method is ConText (Harkema et al. 2009, after NegEx, Chapman et al. 2001): triggers with a direction and a scope
that other words end, and a default for each section. Two things are added for discharge summaries: a list goes on
over commas only to mentions of the same kind ("no fever, CT chest with ..." does not deny the CT), and a line that
ends with a colon lends its triggers to the items below it. The rules are data (``ehr/context_rules.py``).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ehr.context_rules import TOKEN, Rule, RuleSet, load_rules
from ehr.spans import Assertion, Section, Segment, Span

__all__ = ["assert_spans"]

_GROUP = {"disorder": "problem", "finding": "problem", "drug": "drug", "procedure": "procedure"}
# The object of a verb stands within so many words after it: "held home dose of lisinopril".
_OBJECT_WORDS = 4
# Words over which a predicate still belongs to the mention before them.
_PLAIN_WORDS = 8
_NEAR_WORDS = 3
_CLOSERS = frozenset({",", ".", ";", ")"})
_AND = frozenset({"/", "and", "or", "&", "-"})
_JOINTS = frozenset({",", "/", "and", "or", "&", "-", "nor", "+", "and/or", "any"})


class _Hit(NamedTuple):
    """A trigger in a segment: tokens ``first`` to ``last`` (half-open)."""

    first: int
    last: int
    rules: tuple[Rule, ...]


class _Place(NamedTuple):
    """A span in tokens of its segment (half-open), with the classes that rules may ask for."""

    first: int
    last: int
    span: int
    kind: str
    classes: frozenset[str]


@dataclass(frozen=True, slots=True)
class _View:
    """A segment as the rules see it."""

    tokens: list[str]
    places: list[_Place]
    hits: list[_Hit]
    hard: list[int]
    soft: list[int]
    """Tokens at which scopes end: all scopes, or those of lists."""
    soft_words: frozenset[int]
    """Those of ``soft`` that are single words."""
    depth: list[int]
    """Parentheses that are open at each token."""
    doses: frozenset[str]
    """Words of doses and routes, which do not part the drugs of a list."""


class _Reading(NamedTuple):
    """What one rule says of a span; the least wins."""

    rank: int
    distance: int
    order: int
    assertion: Assertion


def assert_spans(
    text: str, sections: Sequence[Section], segments: Sequence[Segment], spans: Sequence[Span]
) -> list[Assertion]:
    """The assertion of each span, in the order of ``spans``.

    Pure and deterministic. A span outside all sections is judged without a section's default.

    Args:
        text: the note.
        sections: its sections, in order.
        segments: its segments, in order, as ``ehr.segments.segment_note`` cuts them.
        spans: matched stretches, in any order; they may overlap.

    Raises:
        InputError: the rule tables that ship with the package are damaged.
    """
    rules = load_rules()
    lowered = _lower(text)
    result = [Assertion.PRESENT] * len(spans)
    starts = [segment.begin for segment in segments]
    section_starts = [section.begin for section in sections]
    groups: dict[int, list[int]] = {}
    for index, span in enumerate(spans):
        groups.setdefault(bisect_right(starts, span.begin) - 1, []).append(index)
    lead_ins: dict[int, list[Rule]] = {}
    for number, members in groups.items():
        segment = segments[number] if number >= 0 else Segment("sentence", 0, len(text), 0)
        position = bisect_right(section_starts, segment.begin) - 1
        section = sections[position].section if position >= 0 else ""
        end = max(segment.end, *(spans[i].end for i in members))
        view = _view(rules, lowered, segment.begin, end, spans, members)
        lead = _lead_in(text, sections, segments, number)
        if lead >= 0 and lead not in lead_ins:
            lead_ins[lead] = _reaching(rules, lowered, segments[lead])
        for place in view.places:
            result[place.span] = _assertion(rules, view, place, section, lead_ins.get(lead, []))
    return result


def _lower(text: str) -> str:
    lowered = text.lower()
    # A few letters change their length in lower case, which would move the offsets.
    return lowered if len(lowered) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _view(rules: RuleSet, lowered: str, begin: int, end: int, spans: Sequence[Span], members: Sequence[int]) -> _View:
    tokens: list[str] = []
    begins: list[int] = []
    for match in TOKEN.finditer(lowered, begin, end):
        tokens.append(match.group())
        begins.append(match.start())
    places = []
    for index in members:
        span = spans[index]
        first = max(bisect_right(begins, span.begin) - 1, 0)
        last = max(bisect_left(begins, span.end), first + 1)
        classes = rules.classes(tokens[first:last])
        places.append(_Place(first, last, index, span.kind, classes | {span.kind}))
    places.sort(key=lambda place: place[:3])
    hits: list[_Hit] = []
    hard: list[int] = []
    soft: list[int] = []
    for hit in _hits(rules, tokens):
        inside = any(place.first <= hit.first and hit.last <= place.last for place in places)
        kept = tuple(rule for rule in hit.rules if (rule.direction == "within") == inside)
        if not kept:
            continue
        hits.append(_Hit(hit.first, hit.last, kept))
        kept = _one_way(rules.words("predicate_end"), tokens, places, hit.last, kept)
        hits[-1] = hits[-1]._replace(rules=kept)
        if any(rule.scope == "hard" for rule in kept):
            hard.append(hit.first)
        # What stands after its mention ends the list of what stands before: "no fever was seen, cough".
        elif kept and all(rule.scope == "soft" or rule.direction == "backward" for rule in kept):
            soft.append(hit.first)
    words = frozenset(hit.first for hit in hits if hit.last == hit.first + 1 and hit.rules[0].scope == "soft")
    return _View(tokens, places, hits, hard, soft, words, _depths(tokens), rules.words("dose"))


def _one_way(
    ends: frozenset[str], tokens: list[str], places: list[_Place], last: int, rules: tuple[Rule, ...]
) -> tuple[Rule, ...]:
    """Of a trigger that may look both ways ("held"): "held lisinopril" looks forward, "held for ..." backward."""
    both = any(rule.forward for rule in rules) and any(rule.backward for rule in rules)
    if not both or all(rule.direction == "both" for rule in rules):
        return rules
    following = min((place.first for place in places if place.first >= last), default=len(tokens))
    object_follows = following - last <= _OBJECT_WORDS and ends.isdisjoint(tokens[last:following])
    return tuple(rule for rule in rules if (rule.forward if object_follows else rule.backward))


def _depths(tokens: list[str]) -> list[int]:
    depths, depth = [], 0
    for token in tokens:
        depth += token == "("
        depths.append(depth)
        depth -= token == ")" and depth > 0
    return depths


def _hits(rules: RuleSet, tokens: list[str]) -> Iterator[_Hit]:
    """Triggers, left to right: of those that start at one token the longest, and none overlap.

    Triggers with a wildcard look ahead: they are found beside the others and use no token up.
    """
    position = 0
    while position < len(tokens):
        token = tokens[position]
        if token in rules.lookahead.children:
            last, found = rules.lookahead.longest(tokens, position)
            if found:
                yield _Hit(position, last, found)
        last = position + 1
        if token in rules.root.children:
            last, found = rules.root.longest(tokens, position)
            if found:
                yield _Hit(position, last, found)
        position = last


def _assertion(rules: RuleSet, view: _View, place: _Place, section: str, lead: list[Rule]) -> Assertion:
    readings = [
        _Reading(-rule.rank, _distance(hit, place), rule.order, rule.assertion)
        for hit in view.hits
        for rule in hit.rules
        if rule.assertion is not None and rule.holds(place.classes, section) and _covers(rule, hit, view, place)
    ]
    if not readings:
        readings = [
            _Reading(-rule.rank, 0, rule.order, rule.assertion)
            for rule in lead
            if rule.assertion is not None and rule.holds(place.classes, section)
        ]
    rank, default = rules.default(section, place.classes)
    best = min(readings, default=None)
    return best.assertion if best is not None and -best.rank >= rank else default


def _distance(hit: _Hit, place: _Place) -> int:
    return place.first - hit.last if hit.last <= place.first else max(hit.first - place.last, 0)


def _covers(rule: Rule, hit: _Hit, view: _View, place: _Place) -> bool:
    if rule.direction == "within":
        return place.first <= hit.first and hit.last <= place.last
    if rule.forward and hit.last <= place.first:
        if view.tokens[hit.last] in _CLOSERS and place.first > hit.last:
            return False
        begin = hit.last
        # "no new ...", "no small ...": words that end a list do not when they follow the trigger at once.
        while begin < place.first and begin in view.soft_words:
            begin += 1
        return _reaches(rule, view, hit, place, begin, place.first)
    if rule.backward and place.last <= hit.first:
        end = hit.first
        while end > place.last and end - 1 in view.soft_words:
            end -= 1
        return _reaches(rule, view, hit, place, place.last, end)
    return False


def _reaches(rule: Rule, view: _View, hit: _Hit, place: _Place, begin: int, end: int) -> bool:
    """Whether the scope of a rule goes on over the tokens from ``begin`` to ``end``, which part trigger and span."""
    if rule.scope == "sentence":
        return True
    if _any_between(view.hard, begin, end):
        return False
    if rule.scope == "clause":
        return True
    return _same_parentheses(rule, view, hit, place, begin, end) and _list_reaches(rule, view, hit, place, begin, end)


def _list_reaches(rule: Rule, view: _View, hit: _Hit, place: _Place, begin: int, end: int) -> bool:
    scope = rule.scope
    gap = view.tokens[begin:end]
    between = [p for p in view.places if begin <= p.first and p.last <= end and rule.holds_kind(p.classes)]
    if scope != "chain" and _any_between(view.soft, begin, end):
        return rule.backward and _plain_after(view, place, between, end)
    if scope in ("adjacent", "near", "phrase"):
        return _is_short(scope, gap)
    if rule.backward and scope != "chain" and not between and "," in gap[:-1]:
        return False
    if scope in ("next", "chain"):
        return _joined(view, begin, end, _AND) if between else scope == "chain" or not rule.backward or "and" not in gap
    if not rule.backward:
        return _one_kind(view, place, begin, end)
    in_parentheses = view.depth[hit.first] > view.depth[place.first]
    return not between or (not in_parentheses and _joined(view, place.last, between[-1].first, _JOINTS))


def _is_short(scope: str, gap: list[str]) -> bool:
    if scope == "adjacent":
        return not gap or gap == ["-"]
    return "," not in gap and (scope == "phrase" or (len(gap) <= _NEAR_WORDS and "and" not in gap))


def _plain_after(view: _View, place: _Place, between: list[_Place], end: int) -> bool:
    """Whether a predicate may belong to a mention over words such as "for pain": nothing new begins between them."""
    last = between[-1] if between else place
    gap = view.tokens[last.last : end]
    if len(gap) > _PLAIN_WORDS or "and" in gap or "," in gap[:-1]:
        return False
    return not between or _joined(view, place.last, last.first, _JOINTS)


def _any_between(stops: list[int], begin: int, end: int) -> bool:
    position = bisect_left(stops, begin)
    return position < len(stops) and stops[position] < end


def _same_parentheses(rule: Rule, view: _View, hit: _Hit, place: _Place, begin: int, end: int) -> bool:
    """A trigger in parentheses says nothing of what stands outside them, save of the words just before."""
    outer = min(view.depth[begin:end], default=view.depth[place.first])
    if view.depth[hit.first] <= outer or view.tokens[hit.first] == "(":
        return True
    return rule.backward and view.tokens[hit.first - 1] == "("


def _joined(view: _View, begin: int, end: int, joints: frozenset[str]) -> bool:
    """Whether nothing but joints and mentions lies between two tokens."""
    may_skip = joints if "," in view.tokens[begin:end] else joints | view.doses
    inside = {position for place in view.places for position in range(place.first, place.last)}
    return all(
        position in inside or token in may_skip or (token.isdigit() and may_skip is not joints)
        for position, token in enumerate(view.tokens[begin:end], begin)
    )


def _one_kind(view: _View, place: _Place, begin: int, end: int) -> bool:
    """Whether a list that starts after a trigger goes on to ``place``: over commas only among mentions of one kind."""
    if "," not in view.tokens[begin:end]:
        return True
    first = next(p for p in view.places if p.first >= begin)
    if "," in view.tokens[begin : first.first] and first.first != place.first:
        return True
    return _GROUP[first.kind] == _GROUP[place.kind]


def _lead_in(text: str, sections: Sequence[Section], segments: Sequence[Segment], number: int) -> int:
    """The segment that introduces the list in which segment ``number`` stands, or -1."""
    if number < 0 or segments[number].kind == "heading":
        return -1
    block = segments[number].block
    position = number - 1
    while position >= 0 and segments[position].block == block:
        segment = segments[position]
        if text[segment.end - 1] == ":":
            # The header of the section itself names no trigger: it has its default.
            if any(section.header and section.begin == segment.begin for section in sections):
                return -1
            return position
        position -= 1
    return -1


def _reaching(rules: RuleSet, lowered: str, segment: Segment) -> list[Rule]:
    """The rules whose scope is still open at the end of a segment that ends with a colon."""
    view = _view(rules, lowered, segment.begin, segment.end, (), ())
    end = len(view.tokens)
    return [
        rule
        for hit in view.hits
        for rule in hit.rules
        if rule.forward
        and rule.scope in ("list", "clause", "sentence")
        and (rule.scope == "sentence" or not _any_between(view.hard, hit.last, end))
    ]
