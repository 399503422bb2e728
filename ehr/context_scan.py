"""The compiled scan of ``ehr.assertion``: what reaches each mention, and which rule wins.

Everything is decided segment by segment; only segments that hold spans are looked at. ``ehr.context_words`` reads the
words of the note, ``ehr.context_triggers`` finds the triggers of a segment.
"""

# Loops stand in the place of any() and all(), which are not compiled.
# ruff: noqa: PLR0911, PLR0912, SIM110

from __future__ import annotations

from typing import Any

import numpy as np

from ehr.characters import ByteArray, CodeArray, IndexArray
from ehr.context_arrays import (
    ABSENT,
    ADJACENT,
    ALLERGY,
    AND,
    AND_JOINT,
    AUXILIARY,
    BACKWARD,
    CHAIN,
    CLAUSE,
    CLOSER,
    COLON,
    COMMA,
    DEFAULT_ASSERTION,
    DEFAULT_CLASSES,
    DEFAULT_RANK,
    DEGREE,
    DOSE,
    EMPTY,
    FAMILY,
    FIGURE,
    FORWARD,
    HISTORICAL,
    HYPHEN,
    JOINT,
    KNOWN_CLASSES,
    LAST_TIME,
    LATEST,
    LIST,
    NEAR,
    NEXT,
    NO,
    NOW,
    NUMBER,
    OPEN,
    OPENING,
    OR,
    ORDER,
    OWNER,
    PATIENT,
    PHRASE,
    PREDICATE_END,
    PRONOUN,
    REPORTS,
    RULE_ASSERTION,
    RULE_CLASSES,
    RULE_DIRECTION,
    RULE_HOLDS,
    RULE_RANK,
    RULE_SCOPE,
    SEEN,
    SENTENCE,
    STATUS,
    STOP,
    THESE,
    TRIGGER_BESIDE,
    TRIGGER_BESIDE_END,
    TRIGGER_WITHIN,
    TRIGGER_WITHIN_END,
    WITHIN,
    Rules,
    Tries,
    Vocabulary,
)
from ehr.context_triggers import (
    CLASSES,
    END_OF_SEGMENT,
    FIRST,
    INSIDE,
    KIND,
    LAST,
    OPENS,
    SEGMENT,
    SOFT_WORD,
    SPAN,
    TRIGGER,
    WHOLE,
    find_hits,
)
from ehr.context_words import (
    BEGIN,
    BITS,
    COMMAS,
    DEPTH,
    HARD,
    MARKS,
    SOFT,
    WORD,
    has,
    left,
    left_after,
    read_words,
)
from ehr.spans import KINDS
from ground.compiled import kernel, maker, part

__all__ = ["SECTION_BEGIN", "SECTION_HEADED", "SECTION_NUMBER", "judge"]

# What is known of a section: where it begins, its number in ``ContextArrays.sections``, whether it has a header.
SECTION_BEGIN, SECTION_NUMBER, SECTION_HEADED = range(3)
_SEGMENT_KIND, _SEGMENT_BEGIN, _SEGMENT_END, _SEGMENT_BLOCK = range(4)
_HEADING = 2
_DRUG = KINDS.index("drug")
_TREATMENTS = 1 << _DRUG | 1 << KINDS.index("procedure")
# Words over which a predicate still belongs to the mention before them.
_PLAIN_WORDS = 8
_NEAR_WORDS = 3
_CHAIN_WORDS, _LATEST_WORDS = 14, 40
# No trigger is about a mention farther off than this many words.
_WINDOW = 200
_NO_DISTANCE = 1 << 30


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
def _is_short(scope: int, words: IndexArray, begin: int, end: int) -> bool:
    if scope == ADJACENT:
        return begin == end or (end - begin == 1 and (words[begin, BITS] & HYPHEN) != 0)
    if words[begin, COMMAS] != words[end, COMMAS]:
        return False
    return scope == PHRASE or (end - begin <= _NEAR_WORDS and not has(words, begin, end, AND))


@part
def _plain_after(words: IndexArray, places: IndexArray, place: int, last: int, end: int) -> bool:
    """Whether a predicate may belong to a mention over words such as "for pain": nothing new begins between them."""
    begin = places[last if last >= 0 else place, LAST]
    if end - begin > _PLAIN_WORDS or has(words, begin, end, AND) or has(words, begin, end - 1, COMMA):
        return False
    return last < 0 or _joined(words, places[place, LAST], places[last, FIRST], JOINT)


@part
def _backward_reaches(
    scope: int, words: IndexArray, hit: int, places: IndexArray, place: int, last: int, end: int
) -> bool:
    """Whether a predicate reaches back to ``place`` over the mentions up to ``last`` (-1: there are none)."""
    begin = places[last if last >= 0 else place, LAST]
    in_list = last < 0 or _joined(words, places[place, LAST], places[last, FIRST], JOINT | OWNER)
    if scope in (ADJACENT, NEAR, PHRASE):
        return _is_short(scope, words, begin, end) and (last < 0 or (scope == ADJACENT and in_list))
    if last < 0:
        return not has(words, begin, end - 1, COMMA) and (scope == LIST or not has(words, begin, end, AND))
    if scope == NEXT:
        return _joined(words, places[place, LAST], end, AND_JOINT)
    # "This is A and B is excluded": a verb before it makes it a clause of its own.
    first = places[place, FIRST]
    if not words[first, MARKS] & OPENS and first > 0 and words[first - 1, BITS] & AUXILIARY:
        return False
    return in_list and words[hit, DEPTH] <= words[first, DEPTH]


@part
def _group(kind: int) -> int:
    """Disorders and findings are problems; a list goes on among mentions of one group."""
    return 0 if kind == 1 else kind


@part
def _one_group(words: IndexArray, places: IndexArray, low: int, high: int, place: int, begin: int, end: int) -> bool:
    """Whether a list that starts after a trigger goes on to ``place``: over commas only among mentions of one group."""
    if words[begin, COMMAS] == words[end, COMMAS]:
        return True
    first = left(places, FIRST, begin, low, high)
    position = places[first, FIRST]
    if words[begin, COMMAS] != words[position, COMMAS] and position != places[place, FIRST]:
        return True
    return _group(places[first, KIND]) == _group(places[place, KIND])


@part
def _joined_later(words: IndexArray, places: IndexArray, low: int, high: int, begin: int, is_denied: bool) -> bool:
    """Whether "or" joins a later problem to a list: "no fever, severe headache, or new rash"; or ", and" if denied."""
    position = begin
    while not words[position, MARKS] & END_OF_SEGMENT and words[position, HARD] == words[begin, HARD]:
        bits = words[position, BITS]
        is_joint = bits & OR or (is_denied and bits & AND and words[position - 1, BITS] & COMMA)
        if is_joint:
            place = left(places, FIRST, position, low, high)
            is_near = place < high and places[place, FIRST] - position <= _NEAR_WORDS
            return bool(is_near and places[place, KIND] < 2)
        if words[position, MARKS] & SOFT_WORD and not bits & (DEGREE | PREDICATE_END):
            return False
        position += 1
    return False


@part
def _only_degrees(
    words: IndexArray, places: IndexArray, low: int, high: int, begin: int, end: int, is_denied: bool
) -> bool:
    """Whether what ends a list only describes an item ("at rest", "severe"), and "or" says that the list goes on."""
    first = -1
    for position in range(begin, end):
        if words[position + 1, SOFT] != words[position, SOFT]:
            bits = words[position, BITS]
            if not bits & DEGREE and not (bits & PREDICATE_END and _ends_item(words, position + 1, end)):
                return False
            first = position if first < 0 else first
    return first >= begin and _joined_later(words, places, low, high, max(first - 2, begin), is_denied)


@part
def _ends_item(words: IndexArray, begin: int, end: int) -> bool:
    """Whether a comma comes before the next mention."""
    for position in range(begin, end):
        if words[position, BITS] & COMMA:
            return True
        if words[position, MARKS] & INSIDE:
            return False
    return False


@part
def _is_own(words: IndexArray, places: IndexArray, low: int, high: int, begin: int) -> bool:
    """Whether an item says something of its own: "CVA 2019", "COPD on home O2", "gout well controlled"."""
    place = left(places, FIRST, begin, low, high)
    if place == high or words[begin, BITS] & OR:
        return False
    if places[place, KIND] > 1:
        # "Denies cocaine, methadone 80 mg": a dose where the item before has none.
        after = places[place, LAST]
        if words[after, MARKS] & END_OF_SEGMENT or places[place, KIND] != _DRUG or places[place, FIRST] != begin:
            return False
        return bool(words[after, BITS] & NUMBER and not words[begin - 2, BITS] & (NUMBER | DOSE))
    for position in range(begin, places[place, FIRST]):
        if words[position, BITS] & (COMMA | NUMBER) or words[position, HARD] != words[begin, HARD]:
            return bool(words[position, BITS] & NUMBER)
    position = places[place, LAST]
    while not words[position, MARKS] & END_OF_SEGMENT and words[position, HARD] == words[begin, HARD]:
        bits = words[position, BITS]
        if bits & (COMMA | SEEN) or (bits & HYPHEN and not words[position + 1, BITS] & (STATUS | DEGREE)):
            return False
        if bits & FIGURE:
            return not bool(words[position - 1, BITS] & LAST_TIME)
        if bits & (STATUS | DEGREE):
            return True
        if words[position, MARKS] & SOFT_WORD and not bits & PREDICATE_END:
            return not _is_seen(words, position)
        if words[position, MARKS] & INSIDE:
            other = left(places, FIRST, position, low, high)
            if other < high and places[other, FIRST] == position and places[other, KIND] == _DRUG:
                return True
        position += 1
    return False


@part
def _is_seen(words: IndexArray, position: int) -> bool:
    """Whether a verb says no more than that things are there: "was seen"."""
    for after in range(position, position + _NEAR_WORDS):
        if words[after, MARKS] & END_OF_SEGMENT:
            return False
        if words[after, BITS] & SEEN:
            return True
    return False


@part
def _is_apart(words: IndexArray, places: IndexArray, low: int, high: int, begin: int, end: int) -> bool:
    """Whether an item between a denial and a place, or that of the place, says something of its own."""
    for position in range(begin, end):
        if words[position, BITS] & COMMA and _is_own(words, places, low, high, position + 1):
            return not _joined_later(words, places, low, high, position + 1, True)
    return False


@part
def _same_parentheses(backward: bool, words: IndexArray, hit: int, depth: int, begin: int, end: int) -> bool:
    """A trigger in parentheses says nothing of words outside of them, except of the words just before."""
    outer = depth if begin >= end else words[begin, DEPTH]
    for position in range(begin, end):
        outer = min(outer, words[position, DEPTH])
    if words[hit, DEPTH] <= outer or (words[hit, BITS] & OPEN) != 0:
        return True
    return backward and (words[hit - 1, BITS] & OPEN) != 0


@part
def _reaches(
    scope: int,
    classes: int,
    assertion: int,
    backward: bool,
    hit: int,
    place: int,
    begin: int,
    end: int,
    words: IndexArray,
    places: IndexArray,
    low: int,
    high: int,
) -> bool:
    """Whether the scope of a rule goes on over the words from ``begin`` to ``end``, which part trigger and span."""
    is_past, is_denied = assertion == HISTORICAL, assertion == ABSENT
    if scope in (SENTENCE, OPENING):
        if scope == OPENING and not words[hit, MARKS] & OPENS:
            return False
        # A later word is about today, or about the patient, of whom a relative may speak.
        other = NOW * is_past | (PATIENT | REPORTS | SEEN | NO) * (assertion == FAMILY)
        return not has(words, begin, end, other)
    if scope == CHAIN:
        # A later turn of one story, "held for the procedure and then restarted": nothing else may come between.
        if end - begin > _CHAIN_WORDS or has(words, begin, end, STOP):
            return False
        between = _last_between(classes, places, low, high, begin, end)
        return between < 0 or _joined(words, begin, end, AND_JOINT)
    if scope in (LATEST, THESE):
        # "It was held", "these were stopped": what was named last, whatever sentence it stands in.
        between = _last_between(_TREATMENTS, places, low, high, begin, end)
        is_listed = scope == THESE and between >= 0 and _joined(words, begin, places[between, FIRST], JOINT)
        return end - begin <= _LATEST_WORDS and (between < 0 or is_listed)
    if begin < end and words[begin, HARD] != words[end, HARD]:
        return False
    if scope == CLAUSE:
        return True
    if not _same_parentheses(backward, words, hit, words[places[place, FIRST], DEPTH], begin, end):
        return False
    between = _last_between(classes, places, low, high, begin, end)
    if begin < end and words[begin, SOFT] != words[end, SOFT]:
        if backward:
            return scope not in (ADJACENT, NEAR) and _plain_after(words, places, place, between, end)
        if scope != LIST or not _only_degrees(words, places, low, high, begin, end, is_denied):
            return False
    if backward:
        return _backward_reaches(scope, words, hit, places, place, between, end)
    if scope == NEXT:
        return between < 0 or _joined(words, begin, end, AND_JOINT)
    if scope == LIST:
        if is_denied and _is_apart(words, places, low, high, begin, end):
            return False
        return _one_group(words, places, low, high, place, begin, end)
    return _is_short(scope, words, begin, end)


@part
def _covers(
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
    direction = rules[rule, RULE_DIRECTION]
    place_first, place_last = places[place, FIRST], places[place, LAST]
    if direction & WITHIN:
        return bool(place_first <= first and last <= place_last)
    if direction & FORWARD and last <= place_first:
        if place_first > last and words[last, BITS] & CLOSER and rules[rule, RULE_SCOPE] != OPENING:
            return False
        begin, end = last, place_first
        # "no new ...", "no small ...": words that end a list do not when they follow the trigger at once.
        while begin < end and words[begin, MARKS] & SOFT_WORD and not words[begin, BITS] & REPORTS:
            begin += 1
    elif direction & BACKWARD and place_last <= first:
        begin, end = place_last, first
        while end > begin and words[end - 1, MARKS] & SOFT_WORD:
            end -= 1
    else:
        return False
    backward = (direction & BACKWARD) != 0
    scope, classes = rules[rule, RULE_SCOPE], rules[rule, RULE_CLASSES]
    assertion = rules[rule, RULE_ASSERTION]
    return _reaches(scope, classes, assertion, backward, first, place, begin, end, words, places, low, high)


@part
def _is_better(rules: IndexArray, rule: int, away: int, best: int, distance: int) -> bool:
    if best < 0:
        return True
    rank, known = rules[rule, RULE_RANK], rules[best, RULE_RANK]
    if rank != known:
        return bool(rank > known)
    return away < distance or (away == distance and rule < best)


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
    classes = places[place, CLASSES]
    best, distance = -1, _NO_DISTANCE
    hit = left(hits, FIRST, places[place, FIRST] - _WINDOW, 0, n_hits)
    while hit < n_hits and hits[hit, FIRST] < places[place, LAST] + _WINDOW:
        first, last, trigger = hits[hit, FIRST], hits[hit, LAST], hits[hit, TRIGGER]
        away = max(places[place, FIRST] - last, first - places[place, LAST], 0)
        begin, end = rules.triggers[trigger, TRIGGER_WITHIN], rules.triggers[trigger, TRIGGER_WITHIN_END]
        if begin == end and not hits[hit, WHOLE]:
            begin, end = rules.triggers[trigger, TRIGGER_BESIDE], rules.triggers[trigger, TRIGGER_BESIDE_END]
        for index in range(begin, end):
            rule = rules.listed[index]
            if (
                classes & rules.rules[rule, RULE_CLASSES]
                and rules.rules[rule, RULE_HOLDS + section]
                and rules.rules[rule, RULE_ASSERTION] >= 0
                and _is_better(rules.rules, rule, away, best, distance)
                and _covers(rule, first, last, place, words, rules.rules, places, low, high)
            ):
                best, distance = rule, away
        hit += 1
    return best


@part
def _beside(hits: IndexArray, hit: int, rules: Rules, scope: int, other: int) -> int:
    """Return the rule of one of two scopes that a hit has (-1: none)."""
    trigger = hits[hit, TRIGGER]
    for index in range(rules.triggers[trigger, TRIGGER_BESIDE], rules.triggers[trigger, TRIGGER_BESIDE_END]):
        rule = rules.listed[index]
        if rules.rules[rule, RULE_SCOPE] in (scope, other):
            return int(rule)
    return -1


@maker
def _turn_after(
    codes: CodeArray,
    segment: int,
    segments: IndexArray,
    stop: int,
    words: IndexArray,
    n_words: int,
    vocabulary: Vocabulary,
    tries: Tries,
    rules: Rules,
    places: IndexArray,
    high: int,
) -> tuple[int, int, int, int]:
    """Return what the next sentence says of what this one named: "It was held and then restarted", "Hold until Monday".

    That is the rule that looks back, the rule of the last word on it, and the first and last word of the trigger; -1:
    it says nothing.

    Args:
        stop: where the words of the segment end.
        high: where the places of the next one begin.
    """
    nothing = (-1, -1, 0, 0)
    after = segment + 1
    if after in (0, segments.shape[0]) or segments[after, _SEGMENT_BLOCK] != segments[segment, _SEGMENT_BLOCK]:
        return nothing
    start = left_after(words, BEGIN, segments[after, _SEGMENT_BEGIN], stop, n_words)
    while start < n_words and codes[words[start, BEGIN]] in (40, 42, 45, 91):
        start += 1
    if start == n_words or not words[start, BITS] & (PRONOUN | OWNER | ORDER):
        return nothing
    end = left_after(words, BEGIN, segments[after, _SEGMENT_END], start, n_words)
    beyond = left(places, FIRST, end, high, places.shape[0])
    hits, n_hits = find_hits(codes, start, end, words, vocabulary, tries, rules.triggers, places, high, beyond, False)
    if n_hits == 0 or not words[hits[0, FIRST], MARKS] & OPENS:
        return nothing
    rule = turn = _beside(hits, 0, rules, LATEST, THESE)
    while high < places.shape[0] and places[high, FIRST] < end and places[high, KIND] != _DRUG:
        high += 1
    for hit in range(1, n_hits):
        if high < places.shape[0] and places[high, FIRST] < hits[hit, FIRST]:
            break  # here the story of another drug begins
        chained = _beside(hits, hit, rules, CHAIN, CHAIN)
        turn = chained if chained >= 0 else turn
    return rule, turn, hits[0, FIRST], hits[0, LAST]


@part
def _has_default(section: int, rules: Rules, assertion: int) -> bool:
    for index in range(rules.default_begin[section], rules.default_begin[section + 1]):
        if rules.defaults[index, DEFAULT_ASSERTION] == assertion:
            return True
    return False


@part
def _denied_at(words: IndexArray, section_begin: int, stop: int, n_words: int) -> int:
    """Return the word with which a section says that it has nothing to list ("NKDA", "none"); -1: there is none."""
    base = left(words, BEGIN, section_begin, 0, n_words)
    for position in range(base, stop):
        if words[position, BITS] & EMPTY:
            return position
        if words[position, BITS] & NO and (position == base or words[position - 1, BITS] & COLON):
            return position
        if words[position, BITS] & COMMA:
            return -1
    return -1


@part
def _assertion(
    best: int, classes: int, section: int, lead: IndexArray, n_lead: int, rules: Rules, is_free: bool
) -> int:
    """Return what is asserted where ``best`` reaches: a lead's rule where no other does, a section's default.

    ``is_free``: the section has said that it lists nothing, and its default is over.
    """
    if best < 0:
        for index in range(n_lead):
            rule = lead[index]
            if (
                _is_better(rules.rules, rule, 0, best, 0)
                and classes & rules.rules[rule, RULE_CLASSES]
                and rules.rules[rule, RULE_HOLDS + section]
            ):
                best = rule
    for index in range(rules.default_begin[section], rules.default_begin[section + 1]):
        if classes & rules.defaults[index, DEFAULT_CLASSES] and not is_free:
            if best >= 0 and rules.rules[best, RULE_RANK] >= rules.defaults[index, DEFAULT_RANK]:
                return int(rules.rules[best, RULE_ASSERTION])
            return int(rules.defaults[index, DEFAULT_ASSERTION])
    return int(rules.rules[best, RULE_ASSERTION]) if best >= 0 and rules.rules[best, RULE_RANK] >= 0 else 0


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
        trigger = hits[hit, TRIGGER]
        begin, end = rules.triggers[trigger, TRIGGER_BESIDE], rules.triggers[trigger, TRIGGER_BESIDE_END]
        for index in range(begin, begin if hits[hit, WHOLE] else end):
            rule = rules.listed[index]
            doubt = doubt_of[rules.rules[rule, RULE_ASSERTION]]
            # What is past of one thing is often past of the others: "s/p hysterectomy for cancer".
            about = places[place, CLASSES] & rules.rules[rule, RULE_CLASSES] or doubt == past
            if about and rules.rules[rule, RULE_HOLDS + section]:
                doubts |= doubt
        hit += 1
    return doubts


@part
def _is_among(rule: int, lead: IndexArray, count: int) -> bool:
    for index in range(count):
        if lead[index] == rule:
            return True
    return False


@part
def _still_open(stop: int, rules: Rules, words: IndexArray, hits: IndexArray, n_hits: int, lead: IndexArray) -> int:
    """Write the rules whose scope is still open at the end of a segment that ends with a colon; return their number."""
    count = 0
    for hit in range(n_hits):
        trigger, last = hits[hit, TRIGGER], hits[hit, LAST]
        for index in range(rules.triggers[trigger, TRIGGER_BESIDE], rules.triggers[trigger, TRIGGER_BESIDE_END]):
            rule = rules.listed[index]
            scope = rules.rules[rule, RULE_SCOPE]
            if not rules.rules[rule, RULE_DIRECTION] & FORWARD or scope not in (LIST, CLAUSE, SENTENCE, OPENING):
                continue
            if scope in (SENTENCE, OPENING) or words[last, HARD] == words[stop, HARD]:
                lead[count] = rule
                count += not _is_among(rule, lead, count)
    return count


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
            place = left(sections, SECTION_BEGIN, begin, 0, sections.shape[0])
            lead = number
            while place < sections.shape[0] and sections[place, SECTION_BEGIN] == begin:
                if sections[place, SECTION_HEADED]:
                    lead = -1
                place += 1
    return leads


@part
def _comes_before(first: int, second: int, places: IndexArray) -> bool:
    for column in (SEGMENT, FIRST, LAST):
        if places[first, column] != places[second, column]:
            return bool(places[first, column] < places[second, column])
    return False


@maker
def _places(words: IndexArray, n_words: int, known: IndexArray, spans: IndexArray, segments: IndexArray) -> IndexArray:
    """Return the spans in words, sorted by segment and position."""
    size = spans.shape[1]
    places = np.empty((size, 6), np.int64)
    order = np.empty(size, np.int64)
    opens = base = 0
    for span in range(size):
        segment = left(segments, _SEGMENT_BEGIN, spans[0, span] + 1, 0, segments.shape[0]) - 1
        begin = segments[segment, _SEGMENT_BEGIN] if segment >= 0 else 0
        base = left_after(words, BEGIN, begin, base if begin >= opens else 0, n_words)
        opens = begin
        first = max(left_after(words, BEGIN, spans[0, span] + 1, base, n_words) - 1, base)
        last = max(left_after(words, BEGIN, spans[1, span], min(first, n_words), n_words), first + 1)
        seen = 1 << spans[2, span]
        for position in range(first, min(last, n_words)):
            seen |= known[words[position, WORD], KNOWN_CLASSES]
        places[span, FIRST], places[span, LAST], places[span, KIND] = first, last, spans[2, span]
        places[span, CLASSES], places[span, SPAN], places[span, SEGMENT] = seen, span, segment
        place = span
        while place > 0 and _comes_before(span, order[place - 1], places):
            order[place] = order[place - 1]
            place -= 1
        order[place] = span
    return places[order]


@kernel
def judge(
    codes: CodeArray,
    characters: ByteArray,
    vocabulary: Vocabulary,
    tries: Tries,
    rules: Rules,
    segments: IndexArray,
    sections: IndexArray,
    spans: IndexArray,
    doubt_of: IndexArray,
) -> Any:
    """Return of each span the assertion, as its place in ``ASSERTIONS``, and its doubts as bits; shape: (2, spans).

    Args:
        codes: the note; ``characters`` are the kinds of characters.
        vocabulary, tries, rules: as in ``ContextArrays``.
        segments: kind, begin, end and block of each, in order. shape: (segments, 4)
        sections: SECTION_BEGIN, SECTION_NUMBER and SECTION_HEADED of each, in order. shape: (sections, 3)
        spans: begin, end and kind (a place in ``KINDS``), in any order. shape: (3, spans)
        doubt_of: the bit of the doubt that each assertion is. shape: (assertions,)
    """
    words, n_words = read_words(codes, characters, vocabulary)
    places = _places(words, n_words, vocabulary.known, spans, segments)
    leads = _leads(codes, segments, sections)
    lead_rules = np.empty(rules.rules.shape[0] + 1, np.int64)
    result = np.zeros((2, places.shape[0]), np.int64)
    lead, n_lead = -1, 0
    low = base = 0
    while low < places.shape[0]:
        segment = places[low, SEGMENT]
        begin, end, led = 0, codes.size, 0
        if segment >= 0:
            begin, end = segments[segment, _SEGMENT_BEGIN], segments[segment, _SEGMENT_END]
        high = low
        while high < places.shape[0] and places[high, SEGMENT] == segment:
            end = max(end, spans[1, places[high, SPAN]])
            high += 1
        if segment >= 0 and leads[segment] >= 0:
            # The list's lead is looked at once, and before its first item.
            if leads[segment] != lead:
                lead = leads[segment]
                start = left(words, BEGIN, segments[lead, _SEGMENT_BEGIN], 0, n_words)
                stop = left_after(words, BEGIN, segments[lead, _SEGMENT_END], start, n_words)
                hits, n_hits = find_hits(
                    codes, start, stop, words, vocabulary, tries, rules.triggers, places, 0, 0, True
                )
                n_lead = _still_open(stop, rules, words, hits, n_hits, lead_rules)
            led = n_lead
        base = left_after(words, BEGIN, begin, base, n_words)
        stop = left_after(words, BEGIN, end, base, n_words)
        # The next segment first: each marks its words, and the word where it ends.
        rule, turn, back, back_end = _turn_after(
            codes, segment, segments, stop, words, n_words, vocabulary, tries, rules, places, high
        )
        hits, n_hits = find_hits(codes, base, stop, words, vocabulary, tries, rules.triggers, places, low, high, False)
        position = left(sections, SECTION_BEGIN, begin + 1, 0, sections.shape[0]) - 1
        section = sections[position, SECTION_NUMBER] if position >= 0 else 0
        empty = -1
        if position >= 0 and _has_default(section, rules, ALLERGY):
            empty = _denied_at(words, sections[position, SECTION_BEGIN], stop, n_words)
        for place in range(low, high):
            best = _best_rule(place, section, words, rules, places, low, high, hits, n_hits)
            if (
                rule >= 0
                and rules.rules[rule, RULE_HOLDS + section]
                and places[place, CLASSES] & rules.rules[rule, RULE_CLASSES]
                and _is_better(rules.rules, rule, 0, best, 0)
                and _covers(rule, back, back_end, place, words, rules.rules, places, low, high)
            ):
                best = turn
            span, first = places[place, SPAN], places[place, FIRST]
            # "No known allergies but rash with penicillin": the same sentence lists something.
            is_free = 0 <= empty < first and (empty < base or words[empty, HARD] == words[first, HARD])
            result[0, span] = _assertion(best, places[place, CLASSES], section, lead_rules, led, rules, is_free)
            if n_hits:
                result[1, span] = _doubts(place, base, stop, words, places, section, rules, hits, n_hits, doubt_of)
        low = high
    return result
