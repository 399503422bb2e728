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

from ehr.context_rules import TOKEN, Rule, RuleSet, Trigger, load_rules
from ehr.spans import Assertion, Section, Segment, Span

__all__ = ["assert_spans"]

_GROUP = {"disorder": "problem", "finding": "problem", "drug": "drug", "procedure": "procedure"}
# The object of a verb stands within so many words after it: "held home dose of lisinopril".
_OBJECT_WORDS = 4
# Words over which a predicate still belongs to the mention before them.
_PLAIN_WORDS = 8
_NEAR_WORDS = 3
_CHAIN_WORDS = 14
# No trigger is about a mention farther off than this many words.
_WINDOW = 200
_CLOSERS = frozenset({",", ".", ";", ")"})
_AND = frozenset({"/", "and", "or", "&", "-"})
_JOINTS = frozenset({",", "/", "and", "or", "&", "-", "nor", "+", "and/or", "any"})


class _Tokens(NamedTuple):
    """The words of a note in lower case, and where they begin."""

    words: list[str]
    begins: list[int]


class _Hit(NamedTuple):
    """A trigger in a segment: tokens ``first`` to ``last`` (half-open)."""

    first: int
    last: int
    trigger: Trigger


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
    place_firsts: list[int]
    inside: set[int]
    """Tokens that belong to mentions."""
    hits: list[_Hit]
    hit_firsts: list[int]
    hard: list[int]
    soft: list[int]
    """Tokens at which scopes end: all scopes, or those of lists."""
    soft_words: set[int]
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
    note = _tokenise(text)
    result = [Assertion.PRESENT] * len(spans)
    starts = [segment.begin for segment in segments]
    section_starts = [section.begin for section in sections]
    groups: dict[int, list[int]] = {}
    for index, span in enumerate(spans):
        groups.setdefault(bisect_right(starts, span.begin) - 1, []).append(index)
    leads = _lead_ins(text, sections, segments)
    reaching: dict[int, list[Rule]] = {-1: []}
    for number, members in groups.items():
        segment = segments[number] if number >= 0 else Segment("sentence", 0, len(text), 0)
        position = bisect_right(section_starts, segment.begin) - 1
        section = sections[position].section if position >= 0 else ""
        end = max(segment.end, *(spans[i].end for i in members))
        view = _view(rules, note, segment.begin, end, spans, members)
        lead = leads[number] if number >= 0 else -1
        if lead not in reaching:
            reaching[lead] = _reaching(rules, note, segments[lead])
        for place in view.places:
            result[place.span] = _assertion(rules, view, place, section, reaching[lead])
    return result


def _tokenise(text: str) -> _Tokens:
    lowered = text.lower()
    if len(lowered) != len(text):
        # A few letters change their length in lower case, which would move the offsets.
        lowered = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    matches = list(TOKEN.finditer(lowered))
    return _Tokens([match.group() for match in matches], [match.start() for match in matches])


def _view(rules: RuleSet, note: _Tokens, begin: int, end: int, spans: Sequence[Span], members: Sequence[int]) -> _View:
    base = bisect_left(note.begins, begin)
    tokens = note.words[base : bisect_left(note.begins, end, base)]
    places = sorted(_place(rules, note, base, spans[index], index) for index in members)
    hits: list[_Hit] = []
    hard: list[int] = []
    soft: list[int] = []
    soft_words: set[int] = set()
    inside = {position for place in places for position in range(place.first, place.last)}
    for found in _hits(rules, tokens):
        hit = _beside_or_within(rules, tokens, places, found, found.first in inside)
        if hit.trigger.rules or hit.trigger.within:
            hits.append(hit)
        if hit.trigger.hard:
            hard.append(hit.first)
        elif hit.trigger.soft:
            soft.append(hit.first)
            if hit.trigger.soft_word:
                soft_words.add(hit.first)
    depth = _depths(tokens) if "(" in tokens else [0] * (len(tokens) + 1)
    firsts = [place.first for place in places]
    hit_firsts = [hit.first for hit in hits]
    doses = rules.words("dose")
    return _View(tokens, places, firsts, inside, hits, hit_firsts, hard, soft, soft_words, depth, doses)


def _place(rules: RuleSet, note: _Tokens, base: int, span: Span, index: int) -> _Place:
    first = max(bisect_right(note.begins, span.begin) - 1, base)
    last = max(bisect_left(note.begins, span.end, first), first + 1)
    return _Place(first - base, last - base, index, span.kind, rules.classes(note.words[first:last]) | {span.kind})


def _beside_or_within(rules: RuleSet, tokens: list[str], places: list[_Place], hit: _Hit, inside: bool) -> _Hit:
    """A trigger without the rules that cannot hold where it stands."""
    trigger = hit.trigger
    if inside and any(place.first <= hit.first and hit.last <= place.last for place in places):
        return hit._replace(trigger=_only_within(trigger))
    if trigger.ahead is None or trigger.behind is None:
        return hit
    # "held lisinopril" looks forward, "lisinopril was held for ..." backward.
    following = min((place.first for place in places if place.first >= hit.last), default=len(tokens))
    ends = rules.words("predicate_end")
    object_follows = following - hit.last <= _OBJECT_WORDS and ends.isdisjoint(tokens[hit.last : following])
    return hit._replace(trigger=trigger.ahead if object_follows else trigger.behind)


def _only_within(trigger: Trigger) -> Trigger:
    return Trigger(rules=(), within=trigger.within, hard=False, soft=False, soft_word=False)


def _depths(tokens: list[str]) -> list[int]:
    depths, depth = [], 0
    for token in tokens:
        depth += token == "("
        depths.append(depth)
        depth -= token == ")" and depth > 0
    return [*depths, depth]


def _hits(rules: RuleSet, tokens: list[str]) -> Iterator[_Hit]:
    """Triggers, left to right: of those that start at one token the longest, and none overlap.

    Triggers with a wildcard look ahead: they are found beside the others and use no token up.
    """
    roots, ahead = rules.root.children, rules.lookahead.children
    free, count = 0, len(tokens)
    for position in [number for number, token in enumerate(tokens) if token in rules.starts]:
        token = tokens[position]
        if token in ahead:
            last, triggers = rules.lookahead.longest(tokens, position)
            for trigger in triggers:
                yield _Hit(position, last, trigger)
        node = roots.get(token) if position >= free else None
        longest = None
        step = position + 1
        while node is not None:
            if node.trigger is not None:
                longest, free = node.trigger, step
            node = node.children.get(tokens[step]) if step < count else None
            step += 1
        if longest is not None:
            yield _Hit(position, free, longest)


def _assertion(rules: RuleSet, view: _View, place: _Place, section: str, lead: list[Rule]) -> Assertion:
    readings = [
        _Reading(-rule.rank, _distance(hit, place), rule.order, rule.assertion)
        for hit in _hits_near(view, place)
        for rule in (hit.trigger.within or hit.trigger.rules)
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


def _hits_near(view: _View, place: _Place) -> list[_Hit]:
    """Triggers near enough to be about a mention; bounds the work on a segment without end."""
    begin = bisect_left(view.hit_firsts, place.first - _WINDOW)
    return view.hits[begin : bisect_left(view.hit_firsts, place.last + _WINDOW)]


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
    if rule.scope == "chain":
        return _chain_reaches(rule, view, begin, end)
    if _any_between(view.hard, begin, end):
        return False
    if rule.scope == "clause":
        return True
    return _same_parentheses(rule, view, hit, place, begin, end) and _list_reaches(rule, view, hit, place, begin, end)


def _chain_reaches(rule: Rule, view: _View, begin: int, end: int) -> bool:
    """A later turn of one story, "held for the procedure and then restarted": nothing else may come between."""
    gap = view.tokens[begin:end]
    if "." in gap or ";" in gap or len(gap) > _CHAIN_WORDS:
        return False
    between = _between(rule, view, begin, end)
    return not between or _joined(view, begin, end, _AND)


def _between(rule: Rule, view: _View, begin: int, end: int) -> list[_Place]:
    places = view.places[bisect_left(view.place_firsts, begin) : bisect_left(view.place_firsts, end)]
    return [p for p in places if p.last <= end and rule.holds_kind(p.classes)]


def _list_reaches(rule: Rule, view: _View, hit: _Hit, place: _Place, begin: int, end: int) -> bool:
    between = _between(rule, view, begin, end)
    if _any_between(view.soft, begin, end):
        return rule.backward and _plain_after(view, place, between, end)
    if rule.backward:
        return _backward_reaches(rule, view, hit, place, between, end)
    if rule.scope == "next":
        return not between or _joined(view, begin, end, _AND)
    if rule.scope == "list":
        return _one_kind(view, place, begin, end)
    return _is_short(rule.scope, view.tokens[begin:end])


def _backward_reaches(rule: Rule, view: _View, hit: _Hit, place: _Place, between: list[_Place], end: int) -> bool:
    """Whether a predicate reaches back to ``place`` over the mentions ``between``."""
    last = between[-1] if between else place
    gap = view.tokens[last.last : end]
    in_list = not between or _joined(view, place.last, last.first, _JOINTS)
    if rule.scope in ("adjacent", "near", "phrase"):
        return _is_short(rule.scope, gap) and (not between or (rule.scope == "adjacent" and in_list))
    if not between:
        return "," not in gap[:-1] and (rule.scope == "list" or "and" not in gap)
    if rule.scope == "next":
        return _joined(view, place.last, end, _AND)
    return in_list and view.depth[hit.first] <= view.depth[place.first]


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
    return all(
        position in view.inside or token in may_skip or (token.isdigit() and may_skip is not joints)
        for position, token in enumerate(view.tokens[begin:end], begin)
    )


def _one_kind(view: _View, place: _Place, begin: int, end: int) -> bool:
    """Whether a list that starts after a trigger goes on to ``place``: over commas only among mentions of one kind."""
    if "," not in view.tokens[begin:end]:
        return True
    first = view.places[bisect_left(view.place_firsts, begin)]
    if "," in view.tokens[begin : first.first] and first.first != place.first:
        return True
    return _GROUP[first.kind] == _GROUP[place.kind]


def _lead_ins(text: str, sections: Sequence[Section], segments: Sequence[Segment]) -> list[int]:
    """For each segment the one that introduces the list in which it stands, or -1."""
    # The header of the section itself names no trigger: it has its default.
    headers = {section.begin for section in sections if section.header}
    leads: list[int] = []
    lead = block = -1
    for number, segment in enumerate(segments):
        if segment.block != block:
            lead, block = -1, segment.block
        leads.append(-1 if segment.kind == "heading" else lead)
        if text[segment.end - 1] == ":":
            lead = -1 if segment.begin in headers else number
    return leads


def _reaching(rules: RuleSet, note: _Tokens, segment: Segment) -> list[Rule]:
    """The rules whose scope is still open at the end of a segment that ends with a colon."""
    view = _view(rules, note, segment.begin, segment.end, (), ())
    end = len(view.tokens)
    return [
        rule
        for hit in view.hits
        for rule in hit.trigger.rules
        if rule.forward
        and rule.scope in ("list", "clause", "sentence")
        and (rule.scope == "sentence" or not _any_between(view.hard, hit.last, end))
    ]
