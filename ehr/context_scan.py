"""The compiled scan of ``ehr.assertion``: words of a note, triggers of a segment, what reaches each mention.

A place is a span in words, a hit a trigger in words (both half-open). Everything is decided segment by segment, in
arrays over the words of the note; only segments that hold spans are looked at.
"""

# Loops stand in the place of any() and all(), which are not compiled.
# ruff: noqa: PLR0911, SIM110

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from ehr import context_arrays as c
from ehr.characters import DIGIT, SPACE, ByteArray, CodeArray, HashArray, IntArray, is_kind, lower, part, word_hash
from ehr.context_arrays import MaskArray, Rules, Tries, Words

__all__ = ["Places", "judge"]

# The object of a verb stands within so many words after it: "held home dose of lisinopril".
_OBJECT_WORDS = 4
# Words over which a predicate still belongs to the mention before them.
_PLAIN_WORDS = 8
_NEAR_WORDS = 3
_CHAIN_WORDS = 14
# No trigger is about a mention farther off than this many words.
_WINDOW = 200
# What a word of a segment is: part of a mention, a trigger of one word that ends lists.
_INSIDE, _SOFT_WORD = 1, 2
_NO_DISTANCE = 1 << 30

AND_JOINT, JOINT, COMMA, AND, DOSE, NUMBER = c.AND_JOINT, c.JOINT, c.COMMA, c.AND, c.DOSE, c.NUMBER
OPEN, CLOSE, HYPHEN, STOP, CLOSER = c.OPEN, c.CLOSE, c.HYPHEN, c.STOP, c.CLOSER
FORWARD, BACKWARD, WITHIN = c.FORWARD, c.BACKWARD, c.WITHIN
NO_WILDCARD, PREDICATE_END, KIND_CLASSES = c.NO_WILDCARD, c.PREDICATE_END, c.KIND_CLASSES
ADJACENT, NEXT, CHAIN, PHRASE = c.ADJACENT, c.NEXT, c.CHAIN, c.PHRASE
LIST, CLAUSE, SENTENCE = c.LIST, c.CLAUSE, c.SENTENCE


class _Tokens(NamedTuple):
    """The words of a note; ``word`` is the number that rules know it by."""

    begin: IntArray
    end: IntArray
    word: IntArray
    bits: MaskArray


class Places(NamedTuple):
    """Spans in words, by segment and position; ``span`` is the number of the span."""

    first: IntArray
    last: IntArray
    kind: IntArray
    classes: MaskArray
    span: IntArray


class _View(NamedTuple):
    """A segment as the rules see it, by word; counts are of the segment's words before each."""

    marks: ByteArray
    hard: IntArray
    soft: IntArray
    commas: IntArray
    depth: IntArray
    """Parentheses that are open."""


class _Hits(NamedTuple):
    """Triggers of a segment, from left to right; ``whole``: only its rules for a mention that holds it count."""

    first: IntArray
    last: IntArray
    trigger: IntArray
    whole: ByteArray


@part
def _number_of(codes: CodeArray, begin: int, end: int, slots: HashArray, slot_word: IntArray) -> int:
    value = word_hash(codes, begin, end)
    mask = np.uint64(slots.size - 1)
    slot = value & mask
    while slot_word[slot] and slots[slot] != value:
        slot = (slot + np.uint64(1)) & mask
    return int(slot_word[slot])


@part
def _is_letter(code: int) -> bool:
    return 97 <= code <= 122


@part
def _is_figure(code: int) -> bool:
    return 48 <= code <= 57


@part
def _token_end(codes: CodeArray, begin: int) -> int:
    """Return where the word at ``begin`` ends: letters, figures and an ending ("'s", ".5"), "___" or a mark."""
    size = codes.size
    end = begin
    if codes[begin] == 95:
        while end < size and codes[end] == 95:
            end += 1
        return end
    while end < size and (_is_letter(lower(codes[end])) or _is_figure(codes[end])):
        end += 1
    if end == begin:
        return begin + 1
    more = end + 1
    if more < size and codes[end] in (39, 0x2019) and _is_letter(lower(codes[more])):
        while more < size and _is_letter(lower(codes[more])):
            more += 1
        return more
    if more < size and codes[end] == 46 and _is_figure(codes[more]):
        while more < size and _is_figure(codes[more]):
            more += 1
        return more
    return end


@part
def _is_number(codes: CodeArray, begin: int, end: int, characters: ByteArray) -> bool:
    for position in range(begin, end):
        if not is_kind(codes[position], DIGIT, characters):
            return False
    return True


@part
def _tokens(codes: CodeArray, characters: ByteArray, words: Words) -> _Tokens:
    """Return the words of a note."""
    begins = np.empty(codes.size, np.int32)
    ends = np.empty(codes.size, np.int32)
    numbers = np.empty(codes.size, np.int32)
    bits = np.empty(codes.size, np.uint16)
    count = position = 0
    while position < codes.size:
        if is_kind(codes[position], SPACE, characters):
            position += 1
            continue
        end = _token_end(codes, position)
        number = _number_of(codes, position, end, words.slots, words.slot_word)
        begins[count] = position
        ends[count] = end
        numbers[count] = number
        bits[count] = words.bits[number]
        if number == 0 and is_kind(codes[position], DIGIT, characters) and _is_number(codes, position, end, characters):
            bits[count] = NUMBER
        count += 1
        position = end
    return _Tokens(begins[:count], ends[:count], numbers[:count], bits[:count])


@part
def _left(values: IntArray, value: int, low: int, high: int) -> int:
    """``bisect_left`` in ``values[low:high]``."""
    while low < high:
        middle = (low + high) // 2
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@part
def _step(tries: Tries, node: int, word: int) -> int:
    """Return the child of a node of the trie (0: none)."""
    high = tries.child_begin[node + 1]
    place = _left(tries.child_word, word, tries.child_begin[node], high)
    return tries.child_node[place] if place < high and tries.child_word[place] == word else 0


@part
def _ends_with(codes: CodeArray, begin: int, end: int, tries: Tries, suffix: int) -> bool:
    low, high = tries.suffix_begin[suffix], tries.suffix_begin[suffix + 1]
    if end - begin < high - low:
        return False
    for index in range(high - low):
        if lower(codes[end - 1 - index]) != tries.suffix_codes[high - 1 - index]:
            return False
    return True


@part
def _longest(tokens: _Tokens, position: int, stop: int, tries: Tries) -> tuple[int, int]:
    """Return the trigger of the longest phrase at ``position`` (-1: none) and where it ends."""
    found, last = -1, position
    node = tries.first[tokens.word[position]]
    step = position + 1
    while node:
        if tries.trigger[node] >= 0:
            found, last = tries.trigger[node], step
        if step == stop:
            break
        node = _step(tries, node, tokens.word[step])
        step += 1
    return found, last


@part
def _looking_ahead(
    codes: CodeArray, tokens: _Tokens, position: int, stop: int, tries: Tries, found: IntArray
) -> tuple[int, int]:
    """Write the triggers of the longest phrases with wildcards at ``position``; return their number and their end."""
    nodes = np.empty(tries.widest[0], np.int32)
    following = np.empty(tries.widest[0], np.int32)
    nodes[0] = tries.first_ahead[tokens.word[position]]
    count, n_nodes, last = 0, 1, position
    step = position + 1
    while True:
        seen = 0
        for index in range(n_nodes):
            if tries.trigger[nodes[index]] >= 0:
                found[seen] = tries.trigger[nodes[index]]
                seen += 1
        if seen:
            count, last = seen, step
        if step == stop or n_nodes == 0:
            return count, last
        n_following = 0
        wild = not tokens.bits[step] & NO_WILDCARD
        for index in range(n_nodes):
            child = _step(tries, nodes[index], tokens.word[step])
            if child:
                following[n_following] = child
                n_following += 1
            for place in range(tries.wild_begin[nodes[index]], tries.wild_begin[nodes[index] + 1]):
                if wild and _ends_with(codes, tokens.begin[step], tokens.end[step], tries, tries.wild_suffix[place]):
                    following[n_following] = tries.wild_node[place]
                    n_following += 1
        nodes, following = following, nodes
        n_nodes = n_following
        step += 1


@part
def _stand(
    found: int, first: int, last: int, stop: int, tokens: _Tokens, rules: Rules, places: Places, low: int, high: int
) -> tuple[int, bool]:
    """Return the trigger that counts where a phrase stands, and whether it stands within a mention.

    Of one that may look both ways only a part counts: "held lisinopril" looks forward, "lisinopril was held" backward.
    """
    following = stop
    for place in range(low, high):
        if places.first[place] <= first and last <= places.last[place]:
            return found, True
        if places.first[place] >= last:
            following = places.first[place]
            break
    if rules.ahead[found] < 0 or rules.behind[found] < 0:
        return found, False
    if following - last > _OBJECT_WORDS:
        return rules.behind[found], False
    for position in range(last, following):
        if tokens.bits[position] & PREDICATE_END:
            return rules.behind[found], False
    return rules.ahead[found], False


@part
def _mark_words(base: int, stop: int, tokens: _Tokens, view: _View, places: Places, low: int, high: int) -> None:
    """Mark the words of mentions, count commas, measure parentheses."""
    view.marks[base : stop + 1] = 0
    for place in range(low, high):
        view.marks[places.first[place] : min(places.last[place], stop)] = _INSIDE
    depth = commas = 0
    for position in range(base, stop):
        bits = tokens.bits[position]
        view.commas[position] = commas
        commas += (bits & COMMA) != 0
        depth += (bits & OPEN) != 0
        view.depth[position] = depth
        depth -= (bits & CLOSE) != 0 and depth > 0
    view.commas[stop] = commas
    view.depth[stop] = depth


@part
def _look(
    codes: CodeArray,
    base: int,
    stop: int,
    tokens: _Tokens,
    tries: Tries,
    rules: Rules,
    places: Places,
    low: int,
    high: int,
    view: _View,
    hits: _Hits,
) -> int:
    """Fill ``view`` and ``hits`` for the words ``base`` to ``stop`` with their places; return the number of hits.

    Triggers that start at one word: the longest, and none overlap. Those with a wildcard look ahead: they are found
    beside the others and use no word up.
    """
    _mark_words(base, stop, tokens, view, places, low, high)
    found = np.empty(tries.widest[0], np.int32)
    count = hard = soft = 0
    free = base
    near = low
    for position in range(base, stop):
        view.hard[position] = hard
        view.soft[position] = soft
        word = tokens.word[position]
        if word == 0 or (tries.first[word] == 0 and tries.first_ahead[word] == 0):
            continue
        n_found = ahead_last = 0
        if tries.first_ahead[word]:
            n_found, ahead_last = _looking_ahead(codes, tokens, position, stop, tries, found)
        longest, longest_last = -1, position
        if position >= free and tries.first[word]:
            longest, longest_last = _longest(tokens, position, stop, tries)
            if longest >= 0:
                free = longest_last
        while near < high and places.last[near] <= position and places.first[near] < position:
            near += 1
        for index in range(n_found + (longest >= 0)):
            is_longest = index == n_found
            last = longest_last if is_longest else ahead_last
            trigger, whole = _stand(
                longest if is_longest else found[index], position, last, stop, tokens, rules, places, near, high
            )
            counts = rules.within_begin[trigger + 1] > rules.within_begin[trigger]
            if counts or (not whole and rules.beside_begin[trigger + 1] > rules.beside_begin[trigger]):
                hits.first[count] = position
                hits.last[count] = last
                hits.trigger[count] = trigger
                hits.whole[count] = whole
                count += 1
            if whole:
                continue
            if rules.hard[trigger]:
                hard += 1
            elif rules.soft[trigger]:
                soft += 1
                if rules.soft_word[trigger]:
                    view.marks[position] |= _SOFT_WORD
    view.hard[stop] = hard
    view.soft[stop] = soft
    return count


@part
def _has(tokens: _Tokens, begin: int, end: int, bit: int) -> bool:
    for position in range(begin, end):
        if tokens.bits[position] & bit:
            return True
    return False


@part
def _joined(tokens: _Tokens, view: _View, begin: int, end: int, joints: int) -> bool:
    """Whether nothing but joints and mentions lies between two words; doses too where no comma does."""
    if begin < end and view.commas[begin] == view.commas[end]:
        joints |= DOSE | NUMBER
    for position in range(begin, end):
        if not view.marks[position] & _INSIDE and not tokens.bits[position] & joints:
            return False
    return True


@part
def _last_between(classes: int, places: Places, low: int, high: int, begin: int, end: int) -> int:
    """Return the last place between two words that a rule for ``classes`` is about (-1: none)."""
    place = _left(places.first, end, low, high) - 1
    while place >= low and places.first[place] >= begin:
        if places.last[place] <= end and places.classes[place] & classes:
            return place
        place -= 1
    return -1


@part
def _is_short(scope: int, tokens: _Tokens, view: _View, begin: int, end: int) -> bool:
    if scope == ADJACENT:
        return begin == end or (end - begin == 1 and (tokens.bits[begin] & HYPHEN) != 0)
    if view.commas[begin] != view.commas[end]:
        return False
    return scope == PHRASE or (end - begin <= _NEAR_WORDS and not _has(tokens, begin, end, AND))


@part
def _plain_after(tokens: _Tokens, view: _View, places: Places, place: int, last: int, end: int) -> bool:
    """Whether a predicate may belong to a mention over words such as "for pain": nothing new begins between them."""
    begin = places.last[last if last >= 0 else place]
    if end - begin > _PLAIN_WORDS or _has(tokens, begin, end, AND) or _has(tokens, begin, end - 1, COMMA):
        return False
    return last < 0 or _joined(tokens, view, places.last[place], places.first[last], JOINT)


@part
def _backward_reaches(
    scope: int, tokens: _Tokens, view: _View, hit: int, places: Places, place: int, last: int, end: int
) -> bool:
    """Whether a predicate reaches back to ``place`` over the mentions up to ``last`` (-1: there are none)."""
    begin = places.last[last if last >= 0 else place]
    in_list = last < 0 or _joined(tokens, view, places.last[place], places.first[last], JOINT)
    if scope in (ADJACENT, c.NEAR, PHRASE):
        return _is_short(scope, tokens, view, begin, end) and (last < 0 or (scope == ADJACENT and in_list))
    if last < 0:
        return not _has(tokens, begin, end - 1, COMMA) and (scope == LIST or not _has(tokens, begin, end, AND))
    if scope == NEXT:
        return _joined(tokens, view, places.last[place], end, AND_JOINT)
    return in_list and view.depth[hit] <= view.depth[places.first[place]]


@part
def _group(kind: int) -> int:
    """Disorders and findings are problems; a list goes on among mentions of one group."""
    return 0 if kind == 1 else kind


@part
def _one_group(view: _View, places: Places, low: int, high: int, place: int, begin: int, end: int) -> bool:
    """Whether a list that starts after a trigger goes on to ``place``: over commas only among mentions of one group."""
    if view.commas[begin] == view.commas[end]:
        return True
    first = _left(places.first, begin, low, high)
    position = places.first[first]
    if view.commas[begin] != view.commas[position] and position != places.first[place]:
        return True
    return _group(places.kind[first]) == _group(places.kind[place])


@part
def _same_parentheses(backward: bool, tokens: _Tokens, view: _View, hit: int, depth: int, begin: int, end: int) -> bool:
    """A trigger in parentheses says nothing of what stands outside them, save of the words just before."""
    outer = depth if begin >= end else view.depth[begin]
    for position in range(begin, end):
        outer = min(outer, view.depth[position])
    if view.depth[hit] <= outer or (tokens.bits[hit] & OPEN) != 0:
        return True
    return backward and bool(tokens.bits[hit - 1] & OPEN)


@part
def _reaches(
    rule: int,
    hit: int,
    place: int,
    begin: int,
    end: int,
    tokens: _Tokens,
    rules: Rules,
    places: Places,
    low: int,
    high: int,
    view: _View,
) -> bool:
    """Whether the scope of a rule goes on over the words from ``begin`` to ``end``, which part trigger and span."""
    scope = rules.scope[rule]
    if scope == SENTENCE:
        return True
    if scope == CHAIN:
        # A later turn of one story, "held for the procedure and then restarted": nothing else may come between.
        if end - begin > _CHAIN_WORDS or _has(tokens, begin, end, STOP):
            return False
        between = _last_between(rules.classes[rule], places, low, high, begin, end)
        return between < 0 or _joined(tokens, view, begin, end, AND_JOINT)
    if begin < end and view.hard[begin] != view.hard[end]:
        return False
    if scope == CLAUSE:
        return True
    backward = (rules.direction[rule] & BACKWARD) != 0
    if not _same_parentheses(backward, tokens, view, hit, view.depth[places.first[place]], begin, end):
        return False
    between = _last_between(rules.classes[rule], places, low, high, begin, end)
    if begin < end and view.soft[begin] != view.soft[end]:
        return backward and _plain_after(tokens, view, places, place, between, end)
    if backward:
        return _backward_reaches(scope, tokens, view, hit, places, place, between, end)
    if scope == NEXT:
        return between < 0 or _joined(tokens, view, begin, end, AND_JOINT)
    if scope == LIST:
        return _one_group(view, places, low, high, place, begin, end)
    return _is_short(scope, tokens, view, begin, end)


@part
def _covers(
    rule: int,
    first: int,
    last: int,
    place: int,
    tokens: _Tokens,
    rules: Rules,
    places: Places,
    low: int,
    high: int,
    view: _View,
) -> bool:
    """Whether a rule of the trigger in the words ``first`` to ``last`` reaches a place."""
    direction = rules.direction[rule]
    if direction & WITHIN:
        return bool(places.first[place] <= first) and bool(last <= places.last[place])
    if direction & FORWARD and last <= places.first[place]:
        if places.first[place] > last and tokens.bits[last] & CLOSER:
            return False
        begin = last
        # "no new ...", "no small ...": words that end a list do not when they follow the trigger at once.
        while begin < places.first[place] and view.marks[begin] & _SOFT_WORD:
            begin += 1
        return _reaches(rule, first, place, begin, places.first[place], tokens, rules, places, low, high, view)
    if direction & BACKWARD and places.last[place] <= first:
        end = first
        while end > places.last[place] and view.marks[end - 1] & _SOFT_WORD:
            end -= 1
        return _reaches(rule, first, place, places.last[place], end, tokens, rules, places, low, high, view)
    return False


@part
def _assertion(
    place: int,
    section: int,
    lead: IntArray,
    n_lead: int,
    tokens: _Tokens,
    rules: Rules,
    places: Places,
    low: int,
    high: int,
    view: _View,
    hits: _Hits,
    n_hits: int,
) -> int:
    """Return the assertion of a place: of the rules that reach it the highest rank, then the nearest trigger."""
    classes = places.classes[place]
    best, distance = -1, _NO_DISTANCE
    hit = _left(hits.first, places.first[place] - _WINDOW, 0, n_hits)
    while hit < n_hits and hits.first[hit] < places.last[place] + _WINDOW:
        first, last, trigger = hits.first[hit], hits.last[hit], hits.trigger[hit]
        away = places.first[place] - last if last <= places.first[place] else max(first - places.last[place], 0)
        begin, end, listed = rules.within_begin[trigger], rules.within_begin[trigger + 1], rules.within
        if begin == end and not hits.whole[hit]:
            begin, end, listed = rules.beside_begin[trigger], rules.beside_begin[trigger + 1], rules.beside
        for index in range(begin, end):
            rule = listed[index]
            if not classes & rules.classes[rule] or not rules.holds[rule, section] or rules.assertion[rule] < 0:
                continue
            if best >= 0 and not _is_better(rules, rule, away, best, distance):
                continue
            if _covers(rule, first, last, place, tokens, rules, places, low, high, view):
                best, distance = rule, away
        hit += 1
    if best < 0:
        for index in range(n_lead):
            rule = lead[index]
            is_new = best < 0 or _is_better(rules, rule, 0, best, 0)
            if is_new and classes & rules.classes[rule] and rules.holds[rule, section]:
                best = rule
    for index in range(rules.default_begin[section], rules.default_begin[section + 1]):
        if classes & rules.default_classes[index]:
            if best >= 0 and rules.rank[best] >= rules.default_rank[index]:
                return int(rules.assertion[best])
            return int(rules.default_assertion[index])
    return int(rules.assertion[best]) if best >= 0 and rules.rank[best] >= 0 else 0


@part
def _is_better(rules: Rules, rule: int, away: int, best: int, distance: int) -> bool:
    if rules.rank[rule] != rules.rank[best]:
        return bool(rules.rank[rule] > rules.rank[best])
    return away < distance or (away == distance and rule < best)


@part
def _is_among(rule: int, lead: IntArray, count: int) -> bool:
    for index in range(count):
        if lead[index] == rule:
            return True
    return False


@part
def _still_open(stop: int, rules: Rules, view: _View, hits: _Hits, n_hits: int, lead: IntArray) -> int:
    """Write the rules whose scope is still open at the end of a segment that ends with a colon; return their number."""
    count = 0
    for hit in range(n_hits):
        trigger, last = hits.trigger[hit], hits.last[hit]
        for index in range(rules.beside_begin[trigger], rules.beside_begin[trigger + 1]):
            rule = rules.beside[index]
            scope = rules.scope[rule]
            if not rules.direction[rule] & FORWARD or scope not in (LIST, CLAUSE, SENTENCE):
                continue
            if scope == SENTENCE or view.hard[last] == view.hard[stop]:
                lead[count] = rule
                count += not _is_among(rule, lead, count)
    return count


@part
def _leads(codes: CodeArray, segments: tuple[IntArray, IntArray, IntArray, IntArray], headers: IntArray) -> IntArray:
    """Return for each segment the one that introduces the list in which it stands, or -1."""
    kinds, begins, ends, blocks = segments
    leads = np.empty(begins.size, np.int32)
    lead = block = -1
    for number in range(begins.size):
        if blocks[number] != block:
            lead, block = -1, blocks[number]
        leads[number] = -1 if kinds[number] == 2 else lead
        if codes[ends[number] - 1] == 58:
            # The header of the section itself names no trigger: it has its default.
            place = _left(headers, begins[number], 0, headers.size)
            lead = -1 if place < headers.size and headers[place] == begins[number] else number
    return leads


@part
def _places(
    tokens: _Tokens, words: Words, spans: tuple[IntArray, IntArray, IntArray], segment_begins: IntArray
) -> tuple[Places, IntArray]:
    """Return the spans in words, sorted by segment and position, and the segment of each."""
    begins, ends, kinds = spans
    size = begins.size
    segments, firsts, lasts = np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size, np.int32)
    classes, order = np.empty(size, np.uint16), np.empty(size, np.int32)
    n_tokens = tokens.begin.size
    for span in range(size):
        segment = _left(segment_begins, begins[span] + 1, 0, segment_begins.size) - 1
        base = _left(tokens.begin, segment_begins[segment] if segment >= 0 else 0, 0, n_tokens)
        first = max(_left(tokens.begin, begins[span] + 1, 0, n_tokens) - 1, base)
        last = max(_left(tokens.begin, ends[span], min(first, n_tokens), n_tokens), first + 1)
        seen = 1 << kinds[span]
        for position in range(first, min(last, n_tokens)):
            seen |= words.classes[tokens.word[position]]
        segments[span], firsts[span], lasts[span], classes[span] = segment, first, last, seen
        place = span
        while place > 0 and _comes_before(span, order[place - 1], segments, firsts, lasts):
            order[place] = order[place - 1]
            place -= 1
        order[place] = span
    return Places(firsts[order], lasts[order], kinds[order], classes[order], order), segments[order]


@part
def _comes_before(one: int, other: int, segments: IntArray, firsts: IntArray, lasts: IntArray) -> bool:
    if segments[one] != segments[other]:
        return bool(segments[one] < segments[other])
    if firsts[one] != firsts[other]:
        return bool(firsts[one] < firsts[other])
    return bool(lasts[one] < lasts[other])


@part
def _scratch(size: int, most: int) -> tuple[_View, _Hits]:
    view = _View(
        np.empty(size + 1, np.uint8),
        np.empty(size + 1, np.int32),
        np.empty(size + 1, np.int32),
        np.empty(size + 1, np.int32),
        np.empty(size + 1, np.int32),
    )
    room = (most + 1) * size
    return view, _Hits(
        np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.uint8)
    )


@njit(cache=True, nogil=True)
def judge(
    codes: CodeArray,
    characters: ByteArray,
    words: Words,
    tries: Tries,
    rules: Rules,
    segments: tuple[IntArray, IntArray, IntArray, IntArray],
    sections: tuple[IntArray, IntArray],
    headers: IntArray,
    spans: tuple[IntArray, IntArray, IntArray],
) -> Any:
    """Return the assertion of each span, as its place in ``ASSERTIONS``; shape: (spans,).

    Args:
        codes: the note; ``characters`` are the kinds of characters.
        words, tries, rules: as in ``ContextArrays``.
        segments: kind, begin, end and block of each, in order.
        sections: begin of each, in order, and its number in ``ContextArrays.sections``.
        headers: begins of the sections that have a header, in order.
        spans: begin, end and kind (a place in ``KINDS``) of each, in any order.
    """
    _, segment_begins, segment_ends, _ = segments
    tokens = _tokens(codes, characters, words)
    places, place_segments = _places(tokens, words, spans, segment_begins)
    leads = _leads(codes, segments, headers)
    view, hits = _scratch(tokens.begin.size, tries.most[0])
    lead_rules = np.empty(rules.rank.size + 1, np.int32)
    result = np.zeros(places.first.size, np.int8)
    lead, n_lead = -1, 0
    low = 0
    while low < places.first.size:
        segment = place_segments[low]
        begin, end = (segment_begins[segment], segment_ends[segment]) if segment >= 0 else (0, codes.size)
        high = low
        while high < places.first.size and place_segments[high] == segment:
            end = max(end, spans[1][places.span[high]])
            high += 1
        if segment >= 0 and leads[segment] >= 0 and leads[segment] != lead:
            lead = leads[segment]
            base = _left(tokens.begin, segment_begins[lead], 0, tokens.begin.size)
            stop = _left(tokens.begin, segment_ends[lead], base, tokens.begin.size)
            n_hits = _look(codes, base, stop, tokens, tries, rules, places, 0, 0, view, hits)
            n_lead = _still_open(stop, rules, view, hits, n_hits, lead_rules)
        base = _left(tokens.begin, begin, 0, tokens.begin.size)
        stop = _left(tokens.begin, end, base, tokens.begin.size)
        n_hits = _look(codes, base, stop, tokens, tries, rules, places, low, high, view, hits)
        led = n_lead if segment >= 0 and leads[segment] >= 0 else 0
        position = _left(sections[0], begin + 1, 0, sections[0].size) - 1
        section = sections[1][position] if position >= 0 else 0
        for place in range(low, high):
            result[places.span[place]] = _assertion(
                place, section, lead_rules, led, tokens, rules, places, low, high, view, hits, n_hits
            )
        low = high
    return result
