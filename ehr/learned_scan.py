"""The compiled part of ``ehr.learned``: the features of a mention as places in a table of weights, and their sum.

A feature is a slot (what kind of thing it is, such as a word before the mention) and the hash of what stands there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ehr.characters import (
    ALPHA,
    DIGIT,
    FNV_OFFSET,
    SPACE,
    ByteArray,
    CodeArray,
    HashArray,
    IndexArray,
    IntArray,
    hash_on,
    hash_with,
    is_kind,
    lower,
)
from ehr.context_words import left, left_after
from ehr.spans import KINDS, Assertion
from ground.compiled import kernel, maker, part

__all__ = [
    "AHEAD",
    "COLUMNS",
    "NAMED",
    "NONE_AHEAD",
    "NO_MENTION",
    "SLOTS",
    "TABLE",
    "ChoiceArray",
    "Inputs",
    "Model",
    "features_of",
    "scores_of",
]

TABLE = 1 << 19
"""Weights of a group."""
NAMED = 2
"""Features that are named of an unsure mention, at most."""
_BEFORE, _AFTER, _PAIRS, _PLACED, _HEADER, _REASONS = 12, 10, 3, 3, 5, 9
# The slots, in groups: where each begins.
FINDINGS, DOUBTED, OWN_TEXT, LAYOUT, LINE, HEADER, BESIDE, ELSEWHERE, AMONG, BEFORE, AFTER, SLOTS = np.cumsum(
    [0, 4, _REASONS, 5, 4, 4, _HEADER, 6, 4, 4, _BEFORE + _PAIRS + _PLACED, _AFTER + _PAIRS + _PLACED], dtype=np.int64
).tolist()
# What is known of a word, and of a feature: its place and the word that it is about (-1: none).
_BEGIN, _END, _LINE = range(3)
_PLACE, _WORD = range(2)
_LINE_END, _BLANK, _NUMBER, _YEAR, _NOTHING = (np.uint64(number) for number in range(1, 6))
AHEAD, NONE_AHEAD = 10, 20
"""What another assertion's sum must be above that of the rules', and that of no mention above the best assertion's."""
_ASSERTIONS = tuple(Assertion)
NO_MENTION = len(_ASSERTIONS)
_CHOICES = NO_MENTION + 1
_ALLERGY, _DISCONTINUED = _ASSERTIONS.index(Assertion.ALLERGY), _ASSERTIONS.index(Assertion.DISCONTINUED)
_FIRST_TREATMENT = min(KINDS.index("drug"), KINDS.index("procedure"))
_MIX_1, _MIX_2 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
_SHIFT_1, _SHIFT_2 = np.uint64(31), np.uint64(45)
WeightArray = npt.NDArray[np.int16]
ChoiceArray = npt.NDArray[np.int8]
COLUMNS = ("begin", "end", "group", "kind", "section", "reasons", "elsewhere", "name", "assertion", "concept")
"""What is known of a mention."""
_MENTION_BEGIN, _MENTION_END, _GROUP, _KIND, _SECTION, _DOUBTS, _ELSEWHERE, _NAME, _ASSERTION, _CONCEPT = range(
    len(COLUMNS)
)
_SEGMENT_KIND, _SEGMENT_BEGIN, _SEGMENT_END = range(3)
# What mentions that follow one another share: the segment, its first word and that after it; the section.
_AT_SEGMENT, _AT_OPENING, _AT_CLOSING, _AT_SECTION = range(4)


class Inputs(NamedTuple):
    """Texts with mentions.

    Attributes:
        codes: code points; ``characters`` are the kinds of characters.
        mentions: ``COLUMNS`` of each, in order of begin. shape: (mentions, columns)
        sections: hashes of the names of sections; ``headers`` are the offsets of their headers, shape (sections, 2).
        segments: kind, begin and end of each, in order. shape: (segments, 3)
    """

    codes: CodeArray
    characters: ByteArray
    mentions: IndexArray
    sections: HashArray
    headers: IndexArray
    segments: IndexArray


class Model(NamedTuple):
    """What was learned.

    Attributes:
        weights: by group and place, of whether the rules are right.
        least: the least sum of a certain mention, by group and kind.
        choice: by place and assertion, of which it is; last of what is no mention. shape: (TABLE, assertions + 1)
    """

    weights: WeightArray
    least: IndexArray
    choice: ChoiceArray


@part
def _both(first: np.uint64, second: np.uint64) -> np.uint64:
    return (first * _MIX_2 ^ second) * _MIX_1


@part
def _write(slot: int, kind: int, value: np.uint64, word: int, features: IndexArray) -> None:
    """Write a feature into its slot; slots of a kind share their weights."""
    mixed = (value ^ (np.uint64(kind + 1) * _MIX_1)) * _MIX_2
    mixed ^= mixed >> _SHIFT_1
    features[slot, _PLACE], features[slot, _WORD] = (mixed * _MIX_1) >> _SHIFT_2, word


@part
def _size(number: int) -> int:
    """Return a number, coarsely."""
    if number < 4:
        return number
    if number < 7:
        return 4
    return 5 if number < 15 else 6


@maker
def _read_words(codes: CodeArray, characters: ByteArray) -> tuple[IndexArray, HashArray, int]:
    """Return the words of texts: offsets, the first word of the line of each, and hashes.

    A word is a run of letters, a number, or a mark; the end of a line is one, and so is a blank line.
    """
    size = codes.size
    words, hashes = np.empty((size + 2, 3), np.int64), np.empty(size + 2, np.uint64)
    count = position = line = 0
    breaks = 2
    while True:
        while position < size and is_kind(codes[position], SPACE, characters):
            breaks += codes[position] == 10
            position += 1
        begin, value = position, FNV_OFFSET
        if breaks or position == size:
            words[count, _BEGIN], words[count, _END], words[count, _LINE] = begin, position, line
            hashes[count] = _BLANK if breaks > 1 or position == size else _LINE_END
            count += 1
            line = count
        if position == size:
            return words, hashes, count
        breaks = 0
        if is_kind(codes[position], DIGIT, characters):
            while position < size and is_kind(codes[position], DIGIT, characters):
                position += 1
            is_year = position - begin == 4 and codes[begin] in (49, 50) and codes[begin + 1] in (57, 48, 49)
            value = _YEAR if is_year else _NUMBER
        elif is_kind(codes[position], ALPHA, characters):
            while position < size and is_kind(codes[position], ALPHA, characters):
                value = hash_with(value, lower(codes[position]))
                position += 1
        else:
            value = hash_with(value, codes[position])
            position += 1
            while position < size and codes[position] == 95 and codes[begin] == 95:
                position += 1
        words[count, _BEGIN], words[count, _END], words[count, _LINE] = begin, position, line
        hashes[count] = value
        count += 1


@part
def _shape(codes: CodeArray, begin: int, end: int) -> int:
    """Return which of its letters are capitals: none, the first, some, all."""
    capitals = small = 0
    for position in range(begin, end):
        capitals += 65 <= codes[position] <= 90
        small += 97 <= codes[position] <= 122
    if not capitals:
        return 0
    if not small:
        return 3
    return 1 if 65 <= codes[begin] <= 90 and capitals == 1 else 2


@part
def _ending(word: int, codes: CodeArray, words: IndexArray, hashes: HashArray) -> np.uint64:
    """Return the hash of the last letters of a word, which say much of what part of speech it is; of others their own.

    "Silicone implant", "lupus anticoagulant": a name beside another noun is often a part of what that is.
    """
    end = words[word, _END]
    value: np.uint64 = hashes[word]
    if end - words[word, _BEGIN] > 3 and value > _NOTHING:
        value = hash_on(FNV_OFFSET, codes, end - 3, end) ^ _MIX_1
    return value


@part
def _words_beside(
    slot: int,
    most: int,
    word: int,
    step: int,
    opens: int,
    closes: int,
    words: IndexArray,
    hashes: HashArray,
    features: IndexArray,
) -> np.uint64:
    """Write the features of the words to one side, up to a blank line; return the hash of the nearest.

    The nearest ones count also by their place and in pairs; words beyond the segment are other words.
    """
    nearest = previous = _NOTHING
    distance = 0
    while distance < most:
        value = hashes[word]
        if value != _LINE_END:
            own = _both(value, np.uint64(not opens <= words[word, _BEGIN] < closes))
            _write(slot + distance, slot, own, word, features)
            if distance < _PLACED:
                place = slot + most + _PAIRS + distance
                _write(place, place, own, word, features)
            if distance == 0:
                nearest = value
            elif distance <= _PAIRS:
                pair = slot + most + distance - 1
                _write(pair, pair, _both(own, previous), word, features)
            if value == _BLANK:
                break
            previous = value
            distance += 1
        word += step
    return nearest


@part
def _said_of(mention: int, opens: int, closes: int, mentions: IndexArray) -> np.uint64:
    """Return kind and assertion of a mention if it is in a segment, else a number that no such mention has."""
    if 0 <= mention < mentions.shape[0] and opens <= mentions[mention, _MENTION_BEGIN] < closes:
        return np.uint64(mentions[mention, _ASSERTION] * 8 + mentions[mention, _KIND] + 1)
    return np.uint64(0)


@part
def _layout(
    first: int,
    last: int,
    laid: np.uint64,
    opening: int,
    closing: int,
    words: IndexArray,
    hashes: HashArray,
    features: IndexArray,
) -> None:
    """Write where the mention stands in its segment and its line, and how the line begins and ends."""
    line = words[first, _LINE]
    ends = last
    while hashes[ends] > _BLANK and ends - last < 40:
        ends += 1
    _write(LAYOUT, LAYOUT, _both(laid, np.uint64(_size(first - opening))), -1, features)
    _write(LAYOUT + 1, LAYOUT + 1, _both(laid, np.uint64(_size(max(closing - last, 0)))), -1, features)
    _write(LAYOUT + 2, LAYOUT + 2, _both(laid, np.uint64(_size((closing - opening) // 3))), -1, features)
    _write(LAYOUT + 3, LAYOUT + 3, _both(hashes[ends - 1], np.uint64(_size(ends - line))), -1, features)
    _write(LINE, LINE, _both(laid, np.uint64(_size(first - line))), -1, features)
    if line < first:
        _write(LINE + 1, LINE + 1, hashes[line], line, features)
    for word in range(line, min(line + 2, first - 1)):
        _write(LINE + 2 + word - line, LINE + 2 + word - line, _both(hashes[word], hashes[word + 1]), word, features)


@part
def _header(begin: int, end: int, words: IndexArray, hashes: HashArray, n_words: int, features: IndexArray) -> None:
    word, slot = left(words, _BEGIN, begin, 0, n_words), HEADER
    while slot < HEADER + _HEADER and word < n_words and words[word, _BEGIN] < end:
        if hashes[word] > _BLANK:
            _write(slot, HEADER, hashes[word], word, features)
            slot += 1
        word += 1


@part
def _among(
    mention: int,
    kind: np.uint64,
    named: np.uint64,
    before: np.uint64,
    word: int,
    opens: int,
    closes: int,
    mentions: IndexArray,
    features: IndexArray,
) -> None:
    """Write what the note says of the concept elsewhere, what is known of its name, and of the mentions beside it."""
    elsewhere = _both(kind, np.uint64(mentions[mention, _ELSEWHERE]))
    _write(ELSEWHERE, ELSEWHERE, elsewhere, -1, features)
    _write(ELSEWHERE + 1, ELSEWHERE + 1, _both(elsewhere, named), -1, features)
    _write(ELSEWHERE + 2, ELSEWHERE + 2, _both(kind, np.uint64(mentions[mention, _NAME])), -1, features)
    if mentions[mention, _CONCEPT] >= 0:
        _write(ELSEWHERE + 3, ELSEWHERE + 3, np.uint64(mentions[mention, _CONCEPT]), -1, features)
    earlier, later = _said_of(mention - 1, opens, closes, mentions), _said_of(mention + 1, opens, closes, mentions)
    _write(AMONG, AMONG, _both(kind, earlier), -1, features)
    _write(AMONG + 1, AMONG + 1, _both(kind, later), -1, features)
    _write(AMONG + 2, AMONG + 2, _both(earlier, later), -1, features)
    _write(AMONG + 3, AMONG + 3, _both(earlier, before), word, features)


@part
def _features(
    mention: int,
    first: int,
    inputs: Inputs,
    words: IndexArray,
    hashes: HashArray,
    n_words: int,
    at: IndexArray,
    features: IndexArray,
) -> None:
    """Write the features of a mention, whose first word is ``first``; slots without one have the place -1.

    ``at`` and the features of the header are those of the mention before it.
    """
    mentions = inputs.mentions
    begin, end, section = (
        mentions[mention, _MENTION_BEGIN],
        mentions[mention, _MENTION_END],
        mentions[mention, _SECTION],
    )
    features[:HEADER] = -1
    features[BESIDE:] = -1
    if section != at[_AT_SECTION]:
        features[HEADER:BESIDE] = -1
        _header(inputs.headers[section, 0], inputs.headers[section, 1], words, hashes, n_words, features)
    last, own = first, FNV_OFFSET
    while last < n_words and words[last, _BEGIN] < end:
        own = _both(own, hashes[last]) if hashes[last] != _LINE_END else own
        last += 1
    known = at[_AT_SEGMENT]
    segment = left_after(inputs.segments, _SEGMENT_BEGIN, begin + 1, max(known, 0), inputs.segments.shape[0]) - 1
    segment_kind, opens, closes = 3, begin, end
    if segment >= 0 and inputs.segments[segment, _SEGMENT_END] > begin:
        segment_kind = inputs.segments[segment, _SEGMENT_KIND]
        opens, closes = inputs.segments[segment, _SEGMENT_BEGIN], inputs.segments[segment, _SEGMENT_END]
    if segment != known or segment_kind == 3:
        at[_AT_OPENING] = left(words, _BEGIN, opens, 0, first)
        at[_AT_CLOSING] = left_after(words, _BEGIN, closes, first, n_words)
    at[_AT_SEGMENT], at[_AT_SECTION] = (-1 if segment_kind == 3 else segment), section
    kind, named = np.uint64(mentions[mention, _KIND] + 64), inputs.sections[section]
    asserted = np.uint64(mentions[mention, _ASSERTION])
    laid = _both(kind, np.uint64(segment_kind))
    _write(FINDINGS, FINDINGS, asserted, -1, features)
    _write(FINDINGS + 1, FINDINGS + 1, _both(named, asserted), -1, features)
    _write(FINDINGS + 2, FINDINGS + 2, _both(named, laid), -1, features)
    _write(FINDINGS + 3, FINDINGS + 3, _both(asserted, np.uint64(mentions[mention, _DOUBTS])), -1, features)
    for bit in range(_REASONS):
        if mentions[mention, _DOUBTS] >> bit & 1:
            _write(DOUBTED + bit, DOUBTED + bit, _both(kind, asserted), -1, features)
    shape = np.uint64(_shape(inputs.codes, begin, end) * 8 + min(last - first, 7))
    _write(OWN_TEXT, OWN_TEXT, own, first, features)
    _write(OWN_TEXT + 1, OWN_TEXT + 1, hashes[first], first, features)
    _write(OWN_TEXT + 2, OWN_TEXT + 2, hashes[last - 1], last - 1, features)
    _write(OWN_TEXT + 3, OWN_TEXT + 3, _both(kind, _ending(last - 1, inputs.codes, words, hashes)), last - 1, features)
    _write(OWN_TEXT + 4, OWN_TEXT + 4, _both(kind, shape), -1, features)
    _layout(first, last, laid, at[_AT_OPENING], at[_AT_CLOSING], words, hashes, features)
    before = _words_beside(BEFORE, _BEFORE, first - 1, -1, opens, closes, words, hashes, features)
    after = _words_beside(AFTER, _AFTER, last, 1, opens, closes, words, hashes, features)
    _write(BESIDE, BESIDE, _both(before, own), first, features)
    _write(BESIDE + 1, BESIDE + 1, _both(after, own), first, features)
    _write(BESIDE + 2, BESIDE + 2, _both(before, named), first - 1, features)
    _write(BESIDE + 3, BESIDE + 3, _both(before, after), -1, features)
    ending = _ending(first - 1, inputs.codes, words, hashes)
    _write(BESIDE + 4, BESIDE + 4, _both(kind, ending), first - 1, features)
    _write(BESIDE + 5, BESIDE + 5, _both(kind, _ending(last, inputs.codes, words, hashes)), last, features)
    _among(mention, kind, named, before, first - 1, opens, closes, mentions, features)


@part
def _is_nameable(slot: int) -> bool:
    """Whether a feature that is about no word can be named; what the rules doubt is a reason of its own."""
    return bool(FINDINGS < slot < FINDINGS + 3 or OWN_TEXT <= slot < LINE or ELSEWHERE <= slot < BEFORE)


@part
def _name(words: IndexArray, weights: WeightArray, features: IndexArray, named: IndexArray) -> None:
    """Write slot, begin and end of the features with the least weights below 0; they are about different words."""
    taken = -2
    for row in range(NAMED):
        best, least = -1, 0
        for slot in range(SLOTS):
            place, word = features[slot, _PLACE], features[slot, _WORD]
            is_free = word != taken and (word >= 0 or _is_nameable(slot))
            if is_free and place >= 0 and weights[place] < least:
                best, least = slot, weights[place]
        if best < 0:
            return
        taken = features[best, _WORD]
        named[row, 0] = best
        if taken >= 0:
            named[row, 1], named[row, 2] = words[taken, _BEGIN], words[taken, _END]


@kernel
def features_of(inputs: Inputs) -> IntArray:
    """Return the places of the features of each mention in the table of weights (-1: none). shape: (mentions, SLOTS)"""
    words, hashes, n_words = _read_words(inputs.codes, inputs.characters)
    size = inputs.mentions.shape[0]
    result, features = np.empty((size, SLOTS), np.int32), np.empty((SLOTS, 2), np.int64)
    at = np.full(4, -1, np.int64)
    first = 0
    for mention in range(size):
        first = left_after(words, _BEGIN, inputs.mentions[mention, _MENTION_BEGIN] + 1, first, n_words) - 1
        _features(mention, first, inputs, words, hashes, n_words, at, features)
        result[mention] = features[:, _PLACE]
    return result


@part
def _likeliest(features: IndexArray, choice: ChoiceArray, kind: int, asserted: int, sums: IntArray) -> int:
    """Return the assertion with the highest sum, or that it is no mention of a disease, drug or procedure.

    A problem is neither an allergen nor stopped.
    """
    sums[:] = 0
    for slot in range(SLOTS):
        place = features[slot, _PLACE]
        if place >= 0:
            for assertion in range(_CHOICES):
                sums[assertion] += choice[place, assertion]
    best = asserted
    for assertion in range(NO_MENTION):
        if kind < _FIRST_TREATMENT and assertion in (_ALLERGY, _DISCONTINUED):
            continue
        if sums[assertion] > sums[best] and sums[assertion] >= sums[asserted] + AHEAD:
            best = assertion
    return NO_MENTION if sums[NO_MENTION] >= sums[best] + NONE_AHEAD else best


@kernel
def scores_of(inputs: Inputs, model: Model) -> tuple[IndexArray, IndexArray, IndexArray]:
    """Return of each mention its sum, the likeliest assertion, and what speaks most against it if it is unsure.

    The first is what the rules say where the mention is sure. The last are slot, begin and end (-1: none).
    shape: (mentions,), (mentions,) and (mentions, NAMED, 3)
    """
    words, hashes, n_words = _read_words(inputs.codes, inputs.characters)
    size = inputs.mentions.shape[0]
    sums, against = np.zeros(size, np.int64), np.full((size, NAMED, 3), -1, np.int64)
    likeliest, of_assertions = np.empty(size, np.int64), np.empty(_CHOICES, np.int32)
    features, at = np.empty((SLOTS, 2), np.int64), np.full(4, -1, np.int64)
    first = 0
    for mention in range(size):
        first = left_after(words, _BEGIN, inputs.mentions[mention, _MENTION_BEGIN] + 1, first, n_words) - 1
        group, kind = inputs.mentions[mention, _GROUP], inputs.mentions[mention, _KIND]
        weights = model.weights[group]
        _features(mention, first, inputs, words, hashes, n_words, at, features)
        total = 0
        for slot in range(SLOTS):
            if features[slot, _PLACE] >= 0:
                total += weights[features[slot, _PLACE]]
        sums[mention] = total
        likeliest[mention] = inputs.mentions[mention, _ASSERTION]
        if total < model.least[group, kind]:
            likeliest[mention] = _likeliest(features, model.choice, kind, likeliest[mention], of_assertions)
            _name(words, weights, features, against[mention])
    return sums, likeliest, against
