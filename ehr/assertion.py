"""Say what a note asserts of each mention: present, absent, possible and so on (docs/definitions.md#assertion).

The method is ConText (Harkema et al. 2009, after NegEx, Chapman et al. 2001): triggers with a direction and a scope
that other words end, and a default for each section. Two things are added for discharge summaries: a list goes on
over commas only to mentions of the same kind ("no fever, CT chest with ..." does not deny the CT), and a line that
ends with a colon lends its triggers to the items below it. The rules are data (``ehr/context_rules.py``); the scan is
compiled. Everything is decided segment by segment; only segments that hold spans are looked at.
"""

# Loops and early returns stand in the place of any() and of long conditions.
# ruff: noqa: PLR0911, PLR0912, SIM110

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ehr import context_rules as context
from ehr import context_words as word
from ehr.certainty import DOUBT_OF
from ehr.characters import ByteArray, CodeArray, IndexArray, IntArray, kinds_of_characters
from ehr.context_rules import ContextArrays, Rules, Trie, Vocabulary, context_arrays
from ehr.context_words import find_hits, left, left_after, read_words
from ehr.segments import SegmentArrays
from ehr.spans import KINDS
from ground.compiled import kernel, maker, part

__all__ = ["assert_arrays"]

# What is known of a section: where it begins, its number in ``ContextArrays.sections``, whether it has a header.
_SECTION_BEGIN, _SECTION_NUMBER, _SECTION_HEADED = range(3)
_SEGMENT_KIND, _SEGMENT_BEGIN, _SEGMENT_END, _SEGMENT_BLOCK = range(4)
# Words over which a predicate still belongs to the mention before them.
_PLAIN_WORDS = 8
_HEADING, _CHAIN_WORDS = 2, 14
_DRUG = 1 << KINDS.index("drug")
_KINDS, _PROBLEMS = (1 << len(KINDS)) - 1, 1 << KINDS.index("disorder") | 1 << KINDS.index("finding")
# No trigger is about a mention farther off than this many words.
_WINDOW = 200


@part
def _has(words: IndexArray, begin: int, end: int, bit: int) -> bool:
    """Whether one of the words is of a kind."""
    for position in range(begin, end):
        if words[position, word.BITS] & bit:
            return True
    return False


@part
def _joined(words: IndexArray, begin: int, end: int, joints: int) -> bool:
    """Whether nothing but joints and mentions lies between two words; doses too where no comma does."""
    if begin < end and words[begin, word.COMMAS] == words[end, word.COMMAS]:
        joints |= context.DOSE | context.NUMBER
    for position in range(begin, end):
        if not words[position, word.MARKS] & word.INSIDE and not words[position, word.BITS] & joints:
            return False
    return True


@part
def _last_between(classes: int, places: IndexArray, low: int, high: int, begin: int, end: int) -> int:
    """Return the last place between two words that a rule for ``classes`` is about (-1: none)."""
    place = left(places, word.FIRST, end, low, high) - 1
    while place >= low and places[place, word.FIRST] >= begin:
        if places[place, word.LAST] <= end and places[place, word.CLASSES] & classes:
            return place
        place -= 1
    return -1


@part
def _are_alike(first: int, second: int, places: IndexArray) -> bool:
    """Whether two places are problems, or of one kind."""
    both = places[first, word.CLASSES] & places[second, word.CLASSES]
    are_problems = places[first, word.CLASSES] & _PROBLEMS and places[second, word.CLASSES] & _PROBLEMS
    return bool(both & _KINDS or are_problems)


@part
def _ends_denial(begin: int, item: int, place: int, words: IndexArray, places: IndexArray, high: int) -> bool:
    """Whether an item behind a comma says something of its own: "no DM, HTN x10 y", "no fever, gout on colchicine"."""
    while item <= place:
        after = places[item, word.LAST]
        is_last = (
            words[after, word.MARKS] & word.END_OF_SEGMENT
            or words[places[item, word.FIRST], word.COMMAS] == words[begin, word.COMMAS]
        )
        is_phrase = words[after, word.BITS] & context.PREPOSITION
        after += is_phrase != 0
        if not is_last:
            if words[after, word.BITS] & (context.FIGURE | context.STATUS):
                return True
            if (
                is_phrase
                and item + 1 < high
                and places[item + 1, word.FIRST] == after
                and places[item + 1, word.CLASSES] & _DRUG
            ):
                return True
        item += 1
    return False


@part
def _is_beside(words: IndexArray, begin: int, end: int) -> bool:
    return begin == end or (end - begin == 1 and (words[begin, word.BITS] & context.HYPHEN) != 0)


@part
def _reaches_back(scope: int, words: IndexArray, places: IndexArray, place: int, last: int, end: int) -> bool:
    """Whether a predicate reaches back to ``place`` over the mentions up to ``last`` (-1: there are none)."""
    begin = places[place, word.LAST]
    if last < 0:
        if scope == context.ADJACENT:
            return _is_beside(words, begin, end)
        return not _has(words, begin, end - 1, context.COMMA) and (
            scope == context.LIST or not _has(words, begin, end, context.AND)
        )
    if scope == context.NEXT:
        return _joined(words, begin, end, context.AND_JOINT)
    is_near = scope == context.LIST or _is_beside(words, places[last, word.LAST], end)
    return is_near and _joined(words, begin, places[last, word.FIRST], context.JOINT | context.OWNER)


@part
def _reaches(
    rule: int,
    first: int,
    last: int,
    place: int,
    words: IndexArray,
    rules: IndexArray,
    places: IndexArray,
    low: int,
    high: int,
) -> bool:
    """Whether a rule of the trigger in the words ``first`` to ``last`` reaches a place."""
    direction, scope, classes = (
        rules[rule, context.RULE_DIRECTION],
        rules[rule, context.RULE_SCOPE],
        rules[rule, context.RULE_CLASSES],
    )
    if words[first, word.MARKS] & word.INSIDE:
        return bool(
            direction & context.WITHIN and places[place, word.FIRST] <= first and last <= places[place, word.LAST]
        )
    is_forward = last <= places[place, word.FIRST]
    if is_forward and direction & context.FORWARD:
        begin, end = last, places[place, word.FIRST]
        if begin < end and words[begin, word.BITS] & context.CLOSER and scope != context.OPENING:
            return False
        # "no new ...", "no small ...": words that end a list do not when they follow the trigger at once.
        while begin < end and words[begin, word.MARKS] & word.SOFT_WORD:
            begin += 1
    elif places[place, word.LAST] <= first and direction & context.BACKWARD:
        begin, end = places[place, word.LAST], first
        while end > begin and words[end - 1, word.MARKS] & word.SOFT_WORD:
            end -= 1
    else:
        return False
    if scope in (context.SENTENCE, context.OPENING):
        return bool(scope == context.SENTENCE or words[first, word.MARKS] & word.OPENS)
    between = _last_between(classes, places, low, high, begin, end)
    if scope == context.CHAIN:
        # A later turn of one story, "held for the procedure and then restarted": nothing else may come between.
        return end - begin <= _CHAIN_WORDS and (between < 0 or _joined(words, begin, end, context.AND_JOINT))
    if begin < end and words[begin, word.HARD] != words[end, word.HARD]:
        return False
    if scope == context.CLAUSE:
        return True
    if begin < end and words[begin, word.SOFT] != words[end, word.SOFT]:
        # "Prazosin for night terrors was held": what it is for parts no predicate from it.
        is_apart = (
            _has(words, begin, end, context.AND)
            or _has(words, begin, end - 1, context.COMMA)
            or end - begin > _PLAIN_WORDS
        )
        if is_forward or scope == context.ADJACENT or between >= 0 or is_apart:
            return False
    if not is_forward:
        return _reaches_back(scope, words, places, place, between, end)
    if scope == context.ADJACENT:
        return _is_beside(words, begin, end)
    if scope == context.NEXT:
        return between < 0 or _joined(words, begin, end, context.AND_JOINT)
    item = left(places, word.FIRST, begin, low, high)
    if words[begin, word.COMMAS] == words[end, word.COMMAS] or item == place:
        return True
    is_denial = rules[rule, context.RULE_ASSERTION] == context.ABSENT
    return _are_alike(item, place, places) and not (is_denial and _ends_denial(begin, item, place, words, places, high))


@part
def _best_rule(
    place: int,
    section: int,
    default: int,
    words: IndexArray,
    rules: Rules,
    places: IndexArray,
    low: int,
    high: int,
    hits: IndexArray,
    n_hits: int,
) -> int:
    """Return the rule that reaches a place with the highest rank, then from the nearest trigger; else ``default``."""
    best, away = default, 2 * _WINDOW
    rank = rules.rules[best, context.RULE_RANK] if best >= 0 else -1
    hit = left(hits, word.FIRST, places[place, word.FIRST] - _WINDOW, 0, n_hits)
    while hit < n_hits and hits[hit, word.FIRST] < places[place, word.LAST] + _WINDOW:
        first, last, trigger = hits[hit, word.FIRST], hits[hit, word.LAST], hits[hit, word.TRIGGER]
        distance = max(places[place, word.FIRST] - last, first - places[place, word.LAST], 0)
        for index in range(
            rules.triggers[trigger, context.TRIGGER_RULES], rules.triggers[trigger, context.TRIGGER_END]
        ):
            rule = rules.listed[index]
            own = rules.rules[rule, context.RULE_RANK]
            is_better = own > rank or (own == rank and (distance < away or (distance == away and rule < best)))
            if (
                (best < 0 or is_better)
                and _is_about(rule, places[place, word.CLASSES], section, rules)
                and _reaches(rule, first, last, place, words, rules.rules, places, low, high)
            ):
                best, rank, away = rule, own, distance
        hit += 1
    return best


@part
def _is_about(rule: int, classes: int, section: int, rules: Rules) -> bool:
    return bool(classes & rules.rules[rule, context.RULE_CLASSES] and rules.rules[rule, context.RULE_HOLDS + section])


@part
def _default(trigger: int, classes: int, section: int, rules: Rules) -> int:
    """Return the rule that holds in all of a section; -1: none does."""
    for index in range(rules.triggers[trigger, context.TRIGGER_RULES], rules.triggers[trigger, context.TRIGGER_END]):
        if _is_about(rules.listed[index], classes, section, rules):
            return int(rules.listed[index])
    return -1


@part
def _doubts(
    place: int,
    base: int,
    stop: int,
    words: IndexArray,
    places: IndexArray,
    section: int,
    rules: Rules,
    hits: IndexArray,
    n_hits: int,
    doubt_of: IndexArray,
) -> int:
    """Return what the triggers of its clause make doubtful of a place, as bits."""
    first, last = places[place, word.FIRST], places[place, word.LAST]
    clause = words[first, word.HARD]
    while first > base and words[first - 1, word.HARD] == clause:
        first -= 1
    while last < stop and words[last, word.HARD] == clause:
        last += 1
    doubts, past = 0, doubt_of[context.HISTORICAL]
    hit = left(hits, word.FIRST, first, 0, n_hits)
    while hit < n_hits and hits[hit, word.FIRST] < last:
        trigger, is_inside = hits[hit, word.TRIGGER], words[hits[hit, word.FIRST], word.MARKS] & word.INSIDE
        begin, end = rules.triggers[trigger, context.TRIGGER_RULES], rules.triggers[trigger, context.TRIGGER_END]
        for index in range(begin, begin if is_inside else end):
            rule = rules.listed[index]
            doubt = doubt_of[rules.rules[rule, context.RULE_ASSERTION]]
            # What is past of one thing is often past of the others: "s/p hysterectomy for cancer".
            about = places[place, word.CLASSES] & rules.rules[rule, context.RULE_CLASSES] or doubt == past
            if about and rules.rules[rule, context.RULE_HOLDS + section]:
                doubts |= doubt
        hit += 1
    return doubts


@maker
def _leads(codes: CodeArray, segments: IndexArray, sections: IndexArray) -> IndexArray:
    """Return for each segment the one that introduces the list in which it stands, or -1."""
    leads = np.empty(segments.shape[0], np.int64)
    lead = block = -1
    for number in range(segments.shape[0]):
        if segments[number, _SEGMENT_BLOCK] != block:
            lead, block = -1, segments[number, _SEGMENT_BLOCK]
        leads[number] = -1 if segments[number, _SEGMENT_KIND] == _HEADING else lead
        if codes[segments[number, _SEGMENT_END] - 1] == 58:
            # The header of the section itself names no trigger: it has its default.
            begin = segments[number, _SEGMENT_BEGIN]
            section = left(sections, _SECTION_BEGIN, begin + 1, 0, sections.shape[0]) - 1
            is_header = section >= 0 and sections[section, _SECTION_BEGIN] == begin
            lead = -1 if is_header and sections[section, _SECTION_HEADED] else number
    return leads


@maker
def _places(words: IndexArray, n_words: int, known: IndexArray, spans: IndexArray, segments: IndexArray) -> IndexArray:
    """Return the spans in words."""
    places = np.empty((spans.shape[1], 4), np.int64)
    segment = first = 0
    for span in range(spans.shape[1]):
        begin = spans[0, span] + 1
        segment = left_after(segments, _SEGMENT_BEGIN, begin, max(segment, 0), segments.shape[0]) - 1
        base = left_after(words, word.BEGIN, segments[segment, _SEGMENT_BEGIN] if segment >= 0 else 0, first, n_words)
        first = max(left_after(words, word.BEGIN, begin, first, n_words) - 1, base)
        last = max(left_after(words, word.BEGIN, spans[1, span], min(first, n_words), n_words), first + 1)
        classes = 1 << spans[2, span]
        for position in range(first, min(last, n_words)):
            classes |= known[words[position, word.WORD], context.KNOWN_CLASSES]
        places[span, word.FIRST], places[span, word.LAST], places[span, word.CLASSES] = first, last, classes
        places[span, word.SEGMENT] = segment
    return places


@kernel
def judge(
    codes: CodeArray,
    characters: ByteArray,
    vocabulary: Vocabulary,
    trie: Trie,
    rules: Rules,
    segments: IndexArray,
    sections: IndexArray,
    spans: IndexArray,
    doubt_of: IndexArray,
) -> Any:
    """Return of each span the assertion, as its place in ``ASSERTIONS``, and its doubts as bits; shape: (2, spans).

    Args:
        codes: the note; ``characters`` are the kinds of characters.
        vocabulary, trie, rules: as in ``ContextArrays``.
        segments: kind, begin, end and block of each, in order. shape: (segments, 4)
        sections: where each begins, its number, whether it has a header; in order. shape: (sections, 3)
        spans: begin, end and kind (a place in ``KINDS``), in order of begin. shape: (3, spans)
        doubt_of: the bit of the doubt that each assertion is. shape: (assertions,)
    """
    words, n_words = read_words(codes, characters, vocabulary)
    known = vocabulary.known
    places = _places(words, n_words, known, spans, segments)
    leads = _leads(codes, segments, sections)
    of_section = trie.nodes[known[vocabulary.forms[context.OF_SECTION], context.KNOWN_NODE], context.NODE_TRIGGER]
    led, listed = np.empty((2, places.shape[0]), np.int64), np.empty((1, places.shape[1]), np.int64)
    result = np.zeros((2, places.shape[0]), np.int64)
    low = base = 0
    while low < places.shape[0]:
        segment = places[low, word.SEGMENT]
        begin, end = 0, codes.size
        if segment >= 0:
            begin, end = segments[segment, _SEGMENT_BEGIN], segments[segment, _SEGMENT_END]
        high = low
        while high < places.shape[0] and places[high, word.SEGMENT] == segment:
            end = max(end, spans[1, high])
            high += 1
        position = left(sections, _SECTION_BEGIN, begin + 1, 0, sections.shape[0]) - 1
        section = sections[position, _SECTION_NUMBER] if position >= 0 else 0
        for place in range(low, high):
            led[:, place] = _default(of_section, places[place, word.CLASSES], section, rules)
        if segment >= 0 and leads[segment] >= 0:
            # To its lead, each item stands where that ends.
            lead = leads[segment]
            start = left(words, word.BEGIN, segments[lead, _SEGMENT_BEGIN], 0, n_words)
            stop = left_after(words, word.BEGIN, segments[lead, _SEGMENT_END], start, n_words)
            hits, n_hits = find_hits(start, stop, words, vocabulary, trie, rules.triggers, places, 0, 0)
            for place in range(low, high):
                listed[0] = stop
                listed[0, word.CLASSES] = places[place, word.CLASSES]
                led[1, place] = _best_rule(0, section, led[0, place], words, rules, listed, 0, 0, hits, n_hits)
        base = left_after(words, word.BEGIN, begin, base, n_words)
        stop = left_after(words, word.BEGIN, end, base, n_words)
        hits, n_hits = find_hits(base, stop, words, vocabulary, trie, rules.triggers, places, low, high)
        for place in range(low, high):
            best = _best_rule(place, section, led[0, place], words, rules, places, low, high, hits, n_hits)
            best = led[1, place] if best == led[0, place] else best
            result[0, place] = rules.rules[best, context.RULE_ASSERTION] if best >= 0 else 0
            if n_hits:
                result[1, place] = _doubts(place, base, stop, words, places, section, rules, hits, n_hits, doubt_of)
        low = high
    return result


def assert_arrays(
    codes: CodeArray,
    section_begins: Sequence[int] | IntArray,
    section_names: Sequence[str],
    are_headed: Sequence[bool],
    segments: SegmentArrays,
    begin: IntArray,
    end: IntArray,
    kind: IntArray,
    rules: ContextArrays | None = None,
) -> IndexArray:
    """What is asserted of each span, as its place in ``ASSERTIONS``, and what is doubtful of it, as bits of ``DOUBTS``.

    ``kind`` are places in ``KINDS``; ``rules``: those of the package, where they are not given. shape: (2, spans)
    """
    arrays = rules or context_arrays()
    numbers = [arrays.sections.get(name, 0) for name in section_names]
    order = np.lexsort((end, begin))
    judged: IndexArray = judge(
        codes,
        kinds_of_characters(),
        arrays.vocabulary,
        arrays.trie,
        arrays.rules,
        np.array(segments, dtype=np.int64).T.copy(),
        np.array((section_begins, numbers, are_headed), dtype=np.int64).T.copy(),
        np.take(np.array((begin, end, kind), dtype=np.int64), order, axis=1),
        DOUBT_OF,
    )
    return judged[:, np.argsort(order)]
