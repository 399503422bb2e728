"""The compiled scan of ``ehr.assertion``: what reaches each mention, and which rule wins.

Everything is decided segment by segment; only segments that hold spans are looked at. ``ehr.context_words`` reads the
words of the note, ``ehr.context_triggers`` finds the triggers of a segment.
"""

# Loops and early returns stand in the place of any() and of long conditions.
# ruff: noqa: PLR0911, PLR0912, SIM110

from __future__ import annotations

from typing import Any

import numpy as np

from ehr.characters import ByteArray, CodeArray, IndexArray
from ehr.context_arrays import (
    ABSENT,
    ADJACENT,
    AND,
    AND_JOINT,
    BACKWARD,
    CHAIN,
    CLAUSE,
    CLOSER,
    COMMA,
    DEFAULT_ASSERTION,
    DEFAULT_CLASSES,
    DEFAULT_RANK,
    DOSE,
    FIGURE,
    FORWARD,
    HISTORICAL,
    HYPHEN,
    JOINT,
    KNOWN_CLASSES,
    LIST,
    NEXT,
    NUMBER,
    OPENING,
    OWNER,
    PREPOSITION,
    RULE_ASSERTION,
    RULE_CLASSES,
    RULE_DIRECTION,
    RULE_HOLDS,
    RULE_RANK,
    RULE_SCOPE,
    SENTENCE,
    STATUS,
    TRIGGER_END,
    TRIGGER_RULES,
    WITHIN,
    Rules,
    Trie,
    Vocabulary,
)
from ehr.context_triggers import (
    CLASSES,
    END_OF_SEGMENT,
    FIRST,
    INSIDE,
    LAST,
    OPENS,
    SEGMENT,
    SOFT_WORD,
    TRIGGER,
    find_hits,
)
from ehr.context_words import BEGIN, BITS, COMMAS, HARD, MARKS, SOFT, WORD, left, left_after, read_words
from ehr.spans import KINDS
from ground.compiled import kernel, maker, part

__all__ = ["SECTION_BEGIN", "SECTION_HEADED", "SECTION_NUMBER", "judge"]

# What is known of a section: where it begins, its number in ``ContextArrays.sections``, whether it has a header.
SECTION_BEGIN, SECTION_NUMBER, SECTION_HEADED = range(3)
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
        if words[position, BITS] & bit:
            return True
    return False


@part
def _joined(words: IndexArray, begin: int, end: int, joints: int) -> bool:
    """Whether nothing but joints and mentions lies between two words; doses too where no comma does."""
    if begin < end and words[begin, COMMAS] == words[end, COMMAS]:
        joints |= DOSE | NUMBER
    for position in range(begin, end):
        if not words[position, MARKS] & INSIDE and not words[position, BITS] & joints:
            return False
    return True


@part
def _last_between(classes: int, places: IndexArray, low: int, high: int, begin: int, end: int) -> int:
    """Return the last place between two words that a rule for ``classes`` is about (-1: none)."""
    place = left(places, FIRST, end, low, high) - 1
    while place >= low and places[place, FIRST] >= begin:
        if places[place, LAST] <= end and places[place, CLASSES] & classes:
            return place
        place -= 1
    return -1


@part
def _are_alike(first: int, second: int, places: IndexArray) -> bool:
    """Whether two places are problems, or of one kind."""
    both = places[first, CLASSES] & places[second, CLASSES]
    are_problems = places[first, CLASSES] & _PROBLEMS and places[second, CLASSES] & _PROBLEMS
    return bool(both & _KINDS or are_problems)


@part
def _ends_denial(begin: int, item: int, place: int, words: IndexArray, places: IndexArray, high: int) -> bool:
    """Whether an item behind a comma says something of its own: "no DM, HTN x10 y", "no fever, gout on colchicine"."""
    while item <= place:
        after = places[item, LAST]
        is_last = words[after, MARKS] & END_OF_SEGMENT or words[places[item, FIRST], COMMAS] == words[begin, COMMAS]
        is_phrase = words[after, BITS] & PREPOSITION
        after += is_phrase != 0
        if not is_last:
            if words[after, BITS] & (FIGURE | STATUS):
                return True
            if is_phrase and item + 1 < high and places[item + 1, FIRST] == after and places[item + 1, CLASSES] & _DRUG:
                return True
        item += 1
    return False


@part
def _is_beside(words: IndexArray, begin: int, end: int) -> bool:
    return begin == end or (end - begin == 1 and (words[begin, BITS] & HYPHEN) != 0)


@part
def _reaches_back(scope: int, words: IndexArray, places: IndexArray, place: int, last: int, end: int) -> bool:
    """Whether a predicate reaches back to ``place`` over the mentions up to ``last`` (-1: there are none)."""
    begin = places[place, LAST]
    if last < 0:
        if scope == ADJACENT:
            return _is_beside(words, begin, end)
        return not _has(words, begin, end - 1, COMMA) and (scope == LIST or not _has(words, begin, end, AND))
    if scope == NEXT:
        return _joined(words, begin, end, AND_JOINT)
    is_near = scope == LIST or _is_beside(words, places[last, LAST], end)
    return is_near and _joined(words, begin, places[last, FIRST], JOINT | OWNER)


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
    direction, scope, classes = rules[rule, RULE_DIRECTION], rules[rule, RULE_SCOPE], rules[rule, RULE_CLASSES]
    if words[first, MARKS] & INSIDE:
        return bool(direction & WITHIN and places[place, FIRST] <= first and last <= places[place, LAST])
    is_forward = last <= places[place, FIRST]
    if is_forward and direction & FORWARD:
        begin, end = last, places[place, FIRST]
        if begin < end and words[begin, BITS] & CLOSER and scope != OPENING:
            return False
        # "no new ...", "no small ...": words that end a list do not when they follow the trigger at once.
        while begin < end and words[begin, MARKS] & SOFT_WORD:
            begin += 1
    elif places[place, LAST] <= first and direction & BACKWARD:
        begin, end = places[place, LAST], first
        while end > begin and words[end - 1, MARKS] & SOFT_WORD:
            end -= 1
    else:
        return False
    if scope in (SENTENCE, OPENING):
        return bool(scope == SENTENCE or words[first, MARKS] & OPENS)
    between = _last_between(classes, places, low, high, begin, end)
    if scope == CHAIN:
        # A later turn of one story, "held for the procedure and then restarted": nothing else may come between.
        return end - begin <= _CHAIN_WORDS and (between < 0 or _joined(words, begin, end, AND_JOINT))
    if begin < end and words[begin, HARD] != words[end, HARD]:
        return False
    if scope == CLAUSE:
        return True
    if begin < end and words[begin, SOFT] != words[end, SOFT]:
        # "Prazosin for night terrors was held": what it is for parts no predicate from it.
        is_apart = _has(words, begin, end, AND) or _has(words, begin, end - 1, COMMA) or end - begin > _PLAIN_WORDS
        if is_forward or scope == ADJACENT or between >= 0 or is_apart:
            return False
    if not is_forward:
        return _reaches_back(scope, words, places, place, between, end)
    if scope == ADJACENT:
        return _is_beside(words, begin, end)
    if scope == NEXT:
        return between < 0 or _joined(words, begin, end, AND_JOINT)
    item = left(places, FIRST, begin, low, high)
    if words[begin, COMMAS] == words[end, COMMAS] or item == place:
        return True
    is_denial = rules[rule, RULE_ASSERTION] == ABSENT
    return _are_alike(item, place, places) and not (is_denial and _ends_denial(begin, item, place, words, places, high))


@part
def _best_rule(
    place: int,
    section: int,
    words: IndexArray,
    rules: Rules,
    places: IndexArray,
    low: int,
    high: int,
    hits: IndexArray,
    n_hits: int,
) -> int:
    """Return the rule that reaches a place with the highest rank, then from the nearest trigger; -1: none does."""
    best = rank = away = -1
    hit = left(hits, FIRST, places[place, FIRST] - _WINDOW, 0, n_hits)
    while hit < n_hits and hits[hit, FIRST] < places[place, LAST] + _WINDOW:
        first, last, trigger = hits[hit, FIRST], hits[hit, LAST], hits[hit, TRIGGER]
        distance = max(places[place, FIRST] - last, first - places[place, LAST], 0)
        for index in range(rules.triggers[trigger, TRIGGER_RULES], rules.triggers[trigger, TRIGGER_END]):
            rule = rules.listed[index]
            own = rules.rules[rule, RULE_RANK]
            is_better = own > rank or (own == rank and (distance < away or (distance == away and rule < best)))
            if (
                (best < 0 or is_better)
                and places[place, CLASSES] & rules.rules[rule, RULE_CLASSES]
                and rules.rules[rule, RULE_HOLDS + section]
                and _reaches(rule, first, last, place, words, rules.rules, places, low, high)
            ):
                best, rank, away = rule, own, distance
        hit += 1
    return best


@part
def _assertion(best: int, classes: int, section: int, rules: Rules) -> int:
    """Return what is asserted where ``best`` reaches (-1: no rule does): the section's default may be stronger."""
    for index in range(rules.default_begin[section], rules.default_begin[section + 1]):
        if classes & rules.defaults[index, DEFAULT_CLASSES]:
            if best >= 0 and rules.rules[best, RULE_RANK] >= rules.defaults[index, DEFAULT_RANK]:
                break
            return int(rules.defaults[index, DEFAULT_ASSERTION])
    return int(rules.rules[best, RULE_ASSERTION]) if best >= 0 else 0


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
    first, last = places[place, FIRST], places[place, LAST]
    clause = words[first, HARD]
    while first > base and words[first - 1, HARD] == clause:
        first -= 1
    while last < stop and words[last, HARD] == clause:
        last += 1
    doubts, past = 0, doubt_of[HISTORICAL]
    hit = left(hits, FIRST, first, 0, n_hits)
    while hit < n_hits and hits[hit, FIRST] < last:
        trigger, is_inside = hits[hit, TRIGGER], words[hits[hit, FIRST], MARKS] & INSIDE
        begin, end = rules.triggers[trigger, TRIGGER_RULES], rules.triggers[trigger, TRIGGER_END]
        for index in range(begin, begin if is_inside else end):
            rule = rules.listed[index]
            doubt = doubt_of[rules.rules[rule, RULE_ASSERTION]]
            # What is past of one thing is often past of the others: "s/p hysterectomy for cancer".
            about = places[place, CLASSES] & rules.rules[rule, RULE_CLASSES] or doubt == past
            if about and rules.rules[rule, RULE_HOLDS + section]:
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
            section = left(sections, SECTION_BEGIN, begin + 1, 0, sections.shape[0]) - 1
            is_header = section >= 0 and sections[section, SECTION_BEGIN] == begin
            lead = -1 if is_header and sections[section, SECTION_HEADED] else number
    return leads


@maker
def _places(words: IndexArray, n_words: int, known: IndexArray, spans: IndexArray, segments: IndexArray) -> IndexArray:
    """Return the spans in words."""
    places = np.empty((spans.shape[1], 4), np.int64)
    segment = first = 0
    for span in range(spans.shape[1]):
        begin = spans[0, span] + 1
        segment = left_after(segments, _SEGMENT_BEGIN, begin, max(segment, 0), segments.shape[0]) - 1
        base = left_after(words, BEGIN, segments[segment, _SEGMENT_BEGIN] if segment >= 0 else 0, first, n_words)
        first = max(left_after(words, BEGIN, begin, first, n_words) - 1, base)
        last = max(left_after(words, BEGIN, spans[1, span], min(first, n_words), n_words), first + 1)
        classes = 1 << spans[2, span]
        for position in range(first, min(last, n_words)):
            classes |= known[words[position, WORD], KNOWN_CLASSES]
        places[span, FIRST], places[span, LAST], places[span, CLASSES] = first, last, classes
        places[span, SEGMENT] = segment
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
        sections: SECTION_BEGIN, SECTION_NUMBER and SECTION_HEADED of each, in order. shape: (sections, 3)
        spans: begin, end and kind (a place in ``KINDS``), in order of begin. shape: (3, spans)
        doubt_of: the bit of the doubt that each assertion is. shape: (assertions,)
    """
    words, n_words = read_words(codes, characters, vocabulary)
    known = vocabulary.known
    places = _places(words, n_words, known, spans, segments)
    leads = _leads(codes, segments, sections)
    led, listed = np.empty(places.shape[0], np.int64), np.empty((1, places.shape[1]), np.int64)
    result = np.zeros((2, places.shape[0]), np.int64)
    low = base = 0
    while low < places.shape[0]:
        segment = places[low, SEGMENT]
        begin, end = 0, codes.size
        if segment >= 0:
            begin, end = segments[segment, _SEGMENT_BEGIN], segments[segment, _SEGMENT_END]
        high = low
        while high < places.shape[0] and places[high, SEGMENT] == segment:
            end = max(end, spans[1, high])
            high += 1
        position = left(sections, SECTION_BEGIN, begin + 1, 0, sections.shape[0]) - 1
        section = sections[position, SECTION_NUMBER] if position >= 0 else 0
        led[low:high] = -1
        if segment >= 0 and leads[segment] >= 0:
            # To its lead, each item stands where that ends.
            lead = leads[segment]
            start = left(words, BEGIN, segments[lead, _SEGMENT_BEGIN], 0, n_words)
            stop = left_after(words, BEGIN, segments[lead, _SEGMENT_END], start, n_words)
            hits, n_hits = find_hits(start, stop, words, known, trie, rules.triggers, places, 0, 0)
            for place in range(low, high):
                listed[0, FIRST], listed[0, LAST], listed[0, CLASSES] = stop, stop, places[place, CLASSES]
                led[place] = _best_rule(0, section, words, rules, listed, 0, 0, hits, n_hits)
        base = left_after(words, BEGIN, begin, base, n_words)
        stop = left_after(words, BEGIN, end, base, n_words)
        hits, n_hits = find_hits(base, stop, words, known, trie, rules.triggers, places, low, high)
        for place in range(low, high):
            best = _best_rule(place, section, words, rules, places, low, high, hits, n_hits)
            result[0, place] = _assertion(best if best >= 0 else led[place], places[place, CLASSES], section, rules)
            if n_hits:
                result[1, place] = _doubts(place, base, stop, words, places, section, rules, hits, n_hits, doubt_of)
        low = high
    return result
