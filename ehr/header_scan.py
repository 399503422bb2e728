"""The compiled search for places where a header may begin; ``ehr.sections`` decides whether one does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ehr.characters import FNV_OFFSET, CodeArray, HashArray, IntArray, hash_of, hash_with, is_letter, lower
from ground.compiled import kernel, part

__all__ = ["HeaderTrie", "header_places", "header_trie"]


class HeaderTrie(NamedTuple):
    """Headers in lower case without white space, as paths of code points from node 0; ``is_end``: one ends there.

    ``words`` are the hashes of the words of headers, sorted.
    """

    child_begin: IntArray
    child_code: IntArray
    child_node: IntArray
    is_end: IntArray
    words: HashArray


def header_trie(headers: Iterable[str], words: Iterable[str]) -> HeaderTrie:
    """Build the trie of headers; ``words``: those of headers."""
    children: list[dict[int, int]] = [{}]
    ends: set[int] = set()
    for header in sorted(headers):
        node = 0
        for letter in header:
            if ord(letter) not in children[node]:
                children[node][ord(letter)] = len(children)
                children.append({})
            node = children[node][ord(letter)]
        ends.add(node)
    begin = np.cumsum([0, *map(len, children)]).astype(np.int32)
    pairs = [pair for known in children for pair in sorted(known.items())]
    codes, nodes = (np.array(column, dtype=np.int32) for column in zip(*pairs, strict=True))
    is_end = np.array([node in ends for node in range(len(children))], dtype=np.int32)
    return HeaderTrie(begin, codes, nodes, is_end, np.array(sorted(map(hash_of, words)), dtype=np.uint64))


# A header is not longer than this many characters.
_LONGEST = 64


@part
def _is_blank(code: int) -> bool:
    return code in (32, 9)


@part
def _skip_blanks(codes: CodeArray, begin: int) -> int:
    while begin < codes.size and _is_blank(codes[begin]):
        begin += 1
    return begin


@part
def _may_be_known(codes: CodeArray, begin: int, trie: HeaderTrie) -> bool:
    """Whether a known header stands at ``begin``, in any case and spacing, before a colon or a line's end."""
    node = 0
    position = begin
    while position < codes.size:
        code = codes[position]
        if _is_blank(code) or code == 10:
            position += 1
            continue
        code = lower(code)
        low, high = trie.child_begin[node], trie.child_begin[node + 1]
        while low < high and trie.child_code[low] != code:
            low += 1
        if low == high:
            return False
        node = trie.child_node[low]
        position += 1
        if trie.is_end[node]:
            after = _skip_blanks(codes, position)
            if after == codes.size or codes[after] in (58, 10):
                return True
    return False


@part
def _may_be_layout(codes: CodeArray, begin: int, trie: HeaderTrie) -> bool:
    """Whether a line begins with capitals or with a word of headers, up to a colon or its end."""
    while begin < codes.size and codes[begin] in (35, 42, 61, 95, 32, 9):
        begin += 1
    if begin == codes.size or not 65 <= codes[begin] <= 90:
        return False
    in_capitals, knows = True, False
    value = FNV_OFFSET
    position = begin
    while position <= codes.size and position <= begin + _LONGEST:
        code = codes[position] if position < codes.size else 10
        in_capitals &= not 97 <= code <= 122
        if is_letter(code):
            value = hash_with(value, lower(code))
        else:
            place = np.searchsorted(trie.words, value)
            knows |= bool(place < trie.words.size and trie.words[place] == value)
            value = FNV_OFFSET
        if code in (58, 10) or (code == 45 and in_capitals and codes[position - 1] == codes[position + 1] == 32):
            return bool(knows or (code == 58 and in_capitals))
        position += 1
    return False


@kernel
def header_places(codes: CodeArray, trie: HeaderTrie) -> Any:
    """Return where headers may begin and where the blanks before them do, in order; shape: (places, 2).

    They may begin a line, or stand after two blanks or a tab; a problem heading ("# ...") also after a sentence's end.
    """
    places = np.empty((codes.size + 1, 2), np.int32)
    count = position = 0
    while position < codes.size:
        begins_line = position == 0 or codes[position - 1] == 10
        if not begins_line and not _is_blank(codes[position]):
            position += 1
            continue
        begin = _skip_blanks(codes, position)
        if begin == codes.size:
            break
        is_wide = begin - position > 1 or codes[position] == 9
        ends_sentence = begin - position <= 2 and position > 0 and codes[position - 1] in (46, 59)
        if codes[begin] == 35:
            is_header = begins_line or ends_sentence
        elif codes[begin] in (42, 61, 95):
            is_header = begins_line and _may_be_layout(codes, begin, trie)
        else:
            is_header = (
                is_letter(codes[begin])
                and (begins_line or is_wide or ends_sentence)
                and (_may_be_known(codes, begin, trie) or (begins_line and _may_be_layout(codes, begin, trie)))
            )
        if is_header:
            places[count, 0], places[count, 1] = begin, position
            count += 1
        position = max(begin, position + 1)
    return places[:count].copy()
