"""Finds names in text: tokens by a compiled scan, names by a trie over token numbers held in arrays.

A text is an array of Unicode code points, so that every offset counts code points. A token is a run of letters and
digits, compared in lower case, without accents and without a plural or possessive ending. Names and notes go through
the same scan, so they agree by construction. Nothing here knows what a name means.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ehr.characters import FNV_OFFSET, ByteArray, CodeArray, HashArray, IntArray, codes_of, hash_with
from ground.compiled import kernel, part, read_only

__all__ = [
    "CASE_ANY",
    "CASE_CAPITAL",
    "CASE_UPPER",
    "Matches",
    "Tokens",
    "Trie",
    "build_trie",
    "mapped",
    "save_arrays",
    "tokenise",
]

# Which case a text's letters must have for a name to match.
CASE_ANY, CASE_CAPITAL, CASE_UPPER = 0, 1, 2
# The shape of a token's letters.
LOWER, CAPITAL, UPPER = 0, 1, 2
# What lies between a token and the one before it: blanks; a slash; a period after a single letter; anything that no
# name crosses; a comma; a hyphen alone; the end of a line. "&" after a single letter is as good as a blank: "I&D".
SOFT, SLASH, INITIAL, HARD, COMMA, HYPHEN, BREAK = 0, 1, 2, 3, 4, 5, 6
# A name may go on after a comma with these words only: "diabetes mellitus, type 2".
COMMA_WORDS = ("type", "stage", "grade", "class")

_FOLDED_CODES = 0x2200
# Beside a folded character, in one number: whether it is a capital, or a figure.
_CAPITAL_BIT, _FIGURE_BIT = 30, 29
_CHARACTER = np.uint32((1 << _FIGURE_BIT) - 1)


class Tokens(NamedTuple):
    """The tokens of a text in their order, in arrays of one length; offsets are code points of ``codes``, half-open."""

    codes: CodeArray
    begin: IntArray
    end: IntArray
    hash: HashArray
    shape: ByteArray
    gap: ByteArray


class Matches(NamedTuple):
    """Names found in a text, from left to right, not overlapping: token numbers (``last`` inclusive) and node."""

    first: IntArray
    last: IntArray
    node: IntArray


@cache
def _letters() -> CodeArray:
    """Return each code point as names are compared (0: not part of a token), with bits for what it was."""
    letters = np.zeros(_FOLDED_CODES, dtype=np.uint32)
    for code in range(_FOLDED_CODES):
        character = chr(code)
        base = unicodedata.normalize("NFKD", character)[0].lower()[0]
        if base.isalnum():
            figure = 48 <= code <= 57
            letters[code] = ord(base) | character.isupper() << _CAPITAL_BIT | figure << _FIGURE_BIT
    return letters


def save_arrays(folder: Path, of: str, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write arrays to files of their own, so that processes can map them (`mapped`)."""
    for name, array in arrays.items():
        np.save(folder / f"{of}_{name}.npy", array)


def mapped(folder: Path, of: str, names: Iterable[str]) -> list[npt.NDArray[Any]]:
    """Map saved arrays, as plain arrays: those of the class memmap are slow to index.

    Nothing writes to them; they may be written to, privately, so that compiled functions take them for any others.
    """
    return [np.asarray(np.load(folder / f"{of}_{name}.npy", mmap_mode="c")) for name in names]


@part
def _gap(codes: CodeArray, begin: int, end: int, previous_length: int) -> int:
    breaks = 0
    slashes = 0
    hyphens = 0
    blanks = 0
    ampersands = 0
    mark = np.uint32(0)
    for position in range(begin, end):
        code = codes[position]
        if code in (32, 9, 13, 160):
            blanks += 1
        elif code == 10:
            breaks += 1
        elif (code == 45 or 0x2010 <= code <= 0x2013) and not breaks:
            hyphens += 1
        elif code == 47:
            slashes += 1
        elif code in (44, 46) and position == begin:
            mark = code
        elif code == 38 and previous_length == 1 and not ampersands:
            ampersands += 1
        elif code not in (39, 0x2019):
            return 3
    if breaks > 1 or hyphens > 1 or slashes > 1 or (hyphens and blanks and not breaks):
        return 3
    if mark and (slashes or hyphens or (mark == 46 and previous_length > 1)):
        return 3
    if mark:
        return 4 if mark == 44 else 2
    if slashes:
        return 1
    return 6 if breaks else (5 if hyphens and end == begin + 1 else 0)


@part
def _ending(last: Any, second: Any, third: Any, fourth: Any, length: int) -> tuple[int, int]:
    """Return how many letters to drop from a token's end, given its last ones, and a letter to put there (0: none)."""
    if length < 4 or last != 115:  # s
        return 0, 0
    if second in (115, 117, 105):  # ss, us, is
        return 0, 0
    if second == 101:  # es
        if third == 105 and length > 4:  # ies -> y
            return 3, 121
        if third in (120, 122) or (third == 115 and fourth == 115):  # xes, zes, sses
            return 2, 0
        if third == 104 and fourth in (115, 99):  # shes, ches
            return 2, 0
    return 1, 0


@part
def _are_last_capitals(codes: CodeArray, position: int, table: CodeArray) -> bool:
    """Whether a word ends with two capitals here, behind a small letter; tall letters are more ("HumaLOG")."""
    size = min(codes.size, position + 3)
    if size < position + 2 or not 97 <= codes[position - 1] <= 122:
        return False
    for place in range(position, position + 2):
        if codes[place] >= table.size or not table[codes[place]] >> _CAPITAL_BIT & 1:
            return False
    return bool(size < position + 3 or codes[position + 2] >= table.size or table[codes[position + 2]] == 0)


@kernel
def _scan(codes: CodeArray, table: CodeArray) -> tuple[IntArray, IntArray, HashArray, ByteArray, ByteArray]:
    size = codes.size
    limit = size // 2 + 2
    begins = np.empty(limit, np.int32)
    ends = np.empty(limit, np.int32)
    hashes = np.empty(limit, np.uint64)
    shapes = np.empty(limit, np.uint8)
    gaps = np.empty(limit, np.uint8)
    none = np.uint32(0)
    count = position = 0
    while position < size:
        # These loops pass no arrays: counting references to them takes longer than the work itself.
        letter = table[codes[position]] if codes[position] < table.size else none
        if letter == 0:
            position += 1
            continue
        begin = position
        capitals: Any = 0
        figures: Any = 0
        # The last letters, and the hash without them: an ending is dropped once it is read.
        last = second = third = fourth = none
        value = without_1 = without_2 = without_3 = FNV_OFFSET
        while letter != 0:
            # "lisinopril20", "ToprolXL": a number or two capitals at the end of a word are a token of their own.
            if position - begin > 2 and (
                (letter >> _FIGURE_BIT & 1 and not figures)
                or (letter >> _CAPITAL_BIT & 1 and _are_last_capitals(codes, position, table))
            ):
                break
            capitals += letter >> _CAPITAL_BIT & 1
            figures += letter >> _FIGURE_BIT & 1
            fourth, third, second = third, second, last
            last = letter & _CHARACTER
            without_3, without_2, without_1 = without_2, without_1, value
            value = hash_with(value, int(last))
            position += 1
            letter = table[codes[position]] if position < size and codes[position] < table.size else none
        length = position - begin
        plural_of_capitals = capitals == length - 1 and capitals > 1 and codes[position - 1] == 115
        # Figures are as good as capitals: "D50", "COVID-19".
        all_upper = capitals + figures == length or plural_of_capitals
        drop, put = _ending(last, second, third, fourth, length)
        if capitals == length and length <= 4:
            drop, put = 0, 0
        if plural_of_capitals and length == 3:
            drop = 1
        if drop:
            value = without_1 if drop == 1 else (without_2 if drop == 2 else without_3)
        if put:
            value = hash_with(value, put)
        begins[count], ends[count] = begin, position
        # A possessive ending belongs to the word before it.
        if (
            position + 1 < size
            and codes[position] in (39, 0x2019)
            and codes[position + 1] in (115, 83)
            and (position + 2 == size or codes[position + 2] >= table.size or table[codes[position + 2]] == 0)
        ):
            position += 2
        hashes[count], shapes[count] = value, 2 if all_upper else (1 if capitals else 0)
        gaps[count] = 3 if count == 0 else _gap(codes, ends[count - 1], begin, ends[count - 1] - begins[count - 1])
        if count and codes[ends[count - 1]] in (39, 0x2019) and begin - ends[count - 1] > 2:
            gaps[count] = _gap(codes, ends[count - 1] + 2, begin, 2)
        count += 1
    return begins[:count], ends[:count], hashes[:count], shapes[:count], gaps[:count]


def tokenise(codes: CodeArray) -> Tokens:
    """Return the tokens of a text given as code points."""
    return Tokens(codes, *_scan(read_only(codes), _letters()))


class Trie(NamedTuple):
    """Names as paths of token numbers. ``children`` of a node are sorted by token; node 0 is the root.

    ``slots`` and ``slot_token`` are an open-addressing table from a token's hash to its number; ``first`` gives the
    root's child of each token (0: none); ``child_begin`` has one entry more than there are nodes; ``entry`` is the
    number of the name that ends at a node (-1: none) and ``case`` what its letters must be; ``comma_token`` are the
    numbers of ``COMMA_WORDS``.
    """

    slots: HashArray
    slot_token: IntArray
    first: IntArray
    child_begin: IntArray
    child_token: IntArray
    child_node: IntArray
    entry: IntArray
    case: ByteArray
    comma_token: IntArray

    def token_numbers(self, hashes: HashArray) -> IntArray:
        """Return the number of each token, -1 for one that no name has."""
        return _numbers(hashes, self.slots, self.slot_token)

    def find(self, tokens: Tokens, numbers: IntArray | None = None) -> Matches:
        """Return the longest names from left to right; ``numbers`` may stand in for the tokens' own."""
        numbers = self.token_numbers(tokens.hash) if numbers is None else numbers
        whole = np.zeros(1, np.int32), np.full(1, numbers.size - 1, np.int32)
        return Matches(*_find(*whole, numbers, tokens.shape, tokens.gap, self, False))

    def find_inside(self, tokens: Tokens, matches: Matches, numbers: IntArray) -> Matches:
        """Return the names inside longer ones: at each token of a match the longest that is not the whole."""
        return Matches(*_find(matches.first, matches.last, numbers, tokens.shape, tokens.gap, self, True))

    def find_every(
        self, numbers: IntArray, shapes: ByteArray, owner: IntArray, seen: IntArray
    ) -> tuple[IntArray, IntArray]:
        """Return every name of some texts, once for each text, whatever lies around it and between its tokens.

        Args:
            numbers: of the tokens of all texts, one after another (`token_numbers`). Shape: (tokens,)
            shapes: of their letters. Shape: (tokens,)
            owner: number of the text of each token, in order. Shape: (tokens,)
            seen: takes the last text of each entry, -1 before the first. Shape: (entries,)

        Returns:
            Texts and entries. Shapes: (found,)
        """
        matches: tuple[IntArray, IntArray] = _find_every(numbers, shapes, owner, self, seen)
        return matches


@kernel
def _numbers(hashes: HashArray, slots: HashArray, slot_token: IntArray) -> IntArray:
    mask = np.uint64(slots.size - 1)
    numbers = np.empty(hashes.size, np.int32)
    for index in range(hashes.size):
        value = hashes[index]
        slot = value & mask
        while slot_token[slot] >= 0 and slots[slot] != value:
            slot = (slot + np.uint64(1)) & mask
        numbers[index] = slot_token[slot]
    return numbers


@kernel
def _fill(vocabulary: HashArray, slots: HashArray, slot_token: IntArray) -> None:
    mask = np.uint64(slots.size - 1)
    for token in range(vocabulary.size):
        slot = vocabulary[token] & mask
        while slot_token[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = vocabulary[token]
        slot_token[slot] = token


@part
def _child(node: int, token: int, trie: Trie) -> int:
    """Return the child of a node of the trie (0: none)."""
    low = trie.child_begin[node]
    high = end = trie.child_begin[node + 1]
    while low < high:
        middle = (low + high) // 2
        if trie.child_token[middle] < token:
            low = middle + 1
        else:
            high = middle
    return int(trie.child_node[low]) if low < end and trie.child_token[low] == token else 0


@part
def _is_name(node: int, first_shape: int, least_shape: int, trie: Trie) -> bool:
    """Whether a name ends at a node that letters of such shapes may have."""
    return trie.entry[node] >= 0 and (
        trie.case[node] == 0 or (trie.case[node] == 1 and first_shape >= 1) or least_shape == 2
    )


@part
def _is_among(number: int, numbers: IntArray) -> bool:
    for known in numbers:  # noqa: SIM110 - any() is not compiled
        if known == number:
            return True
    return False


@part
def _longest(
    start: int, end: int, numbers: IntArray, shapes: ByteArray, gaps: ByteArray, trie: Trie
) -> tuple[int, int]:
    """Return the last token of the longest name that begins at ``start`` and ends before ``end``, and its node."""
    last, last_node, least_shape, index = -1, 0, 2, start
    node = trie.first[numbers[start]] if numbers[start] >= 0 else 0
    while node > 0 and index < end:
        least_shape = min(least_shape, shapes[index])
        if _is_name(node, shapes[start], least_shape, trie):
            last, last_node = index, node
        index += 1
        if index == end or gaps[index] == 3 or numbers[index] < 0:
            break
        if gaps[index] == 4 and not _is_among(numbers[index], trie.comma_token):
            break
        node = _child(node, numbers[index], trie)
    return last, last_node


@kernel
def _find(
    outer_first: IntArray,
    outer_last: IntArray,
    numbers: IntArray,
    shapes: ByteArray,
    gaps: ByteArray,
    trie: Trie,
    inside: bool,
) -> tuple[IntArray, IntArray, IntArray]:
    """Return the longest names of some stretches; ``inside``: at each token, the whole stretch left out."""
    size = (outer_last - outer_first + 1).sum()
    begins, lasts, nodes = np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size, np.int32)
    count = 0
    for outer in range(outer_first.size):
        start, end = outer_first[outer], outer_last[outer] + 1
        while start < end:
            is_whole = inside and start == outer_first[outer]
            last, node = _longest(start, end - is_whole, numbers, shapes, gaps, trie)
            if last >= 0:
                begins[count], lasts[count], nodes[count] = start, last, node
                count += 1
            start = start + 1 if inside or last < 0 else last + 1
    return begins[:count], lasts[:count], nodes[:count]


@kernel
def _find_every(
    numbers: IntArray, shapes: ByteArray, owner: IntArray, trie: Trie, seen: IntArray
) -> tuple[IntArray, IntArray]:
    texts, entries = np.empty(1024, np.int32), np.empty(1024, np.int32)
    count = 0
    for start in range(numbers.size):
        node = trie.first[numbers[start]] if numbers[start] >= 0 else 0
        index = start
        least_shape = 2
        while node > 0:
            least_shape = min(least_shape, shapes[index])
            entry = trie.entry[node]
            if _is_name(node, shapes[start], least_shape, trie) and seen[entry] != owner[start]:
                seen[entry] = owner[start]
                if count == texts.size:
                    texts = np.concatenate((texts, np.empty(count, np.int32)))
                    entries = np.concatenate((entries, np.empty(count, np.int32)))
                texts[count], entries[count] = owner[start], entry
                count += 1
            index += 1
            if index == numbers.size or owner[index] != owner[start] or numbers[index] < 0:
                break
            node = _child(node, numbers[index], trie)
    return texts[:count].copy(), entries[:count].copy()


def _vocabulary(hashes: HashArray) -> tuple[HashArray, HashArray, IntArray]:
    # There are far more tokens than distinct ones: only these are sorted.
    vocabulary: HashArray = np.sort(pc.unique(pa.array(hashes)).to_numpy())
    size = 1 << max(4, int(2 * vocabulary.size).bit_length())
    slots = np.zeros(size, dtype=np.uint64)
    slot_token = np.full(size, -1, dtype=np.int32)
    _fill(vocabulary, slots, slot_token)
    return vocabulary, slots, slot_token


def _tokenised(batches: Iterable[Sequence[str]]) -> tuple[HashArray, npt.NDArray[np.int64]]:
    """Return the hashes of the tokens of all names, one name after another, and how many each name has."""
    hashes, counts = [np.zeros(0, dtype=np.uint64)], [np.zeros(0, dtype=np.int64)]
    for names in batches:
        tokens = tokenise(codes_of("\n\n".join(names)))
        ends = np.cumsum(np.fromiter(map(len, names), dtype=np.int64, count=len(names)) + 2)
        # The scan has room for as many tokens as there may be: what it found is copied out of it.
        hashes.append(tokens.hash.copy())
        counts.append(np.diff(np.searchsorted(tokens.begin, ends), prepend=0))
    return np.concatenate(hashes), np.concatenate(counts)


def build_trie(batches: Iterable[Sequence[str]], case: ByteArray, max_tokens: int = 12) -> tuple[Trie, IntArray]:
    """Build the trie of names, level by level over all names at once.

    Args:
        batches: the names, some at a time, so that they need not be in memory at once; a name without tokens, or with
            more than ``max_tokens``, is left out.
        case: the case rule of each name; where several names end at one node the loosest rule holds. shape: (n,)

    Returns:
        The trie, whose ``entry`` numbers its ends 0, 1, ... in the order of nodes, and the entry of each name
        (-1: left out). shape: (n,)
    """
    hashes, length = _tokenised(batches)
    vocabulary, slots, slot_token = _vocabulary(hashes)
    numbers = _numbers(hashes, slots, slot_token)
    first_token = np.cumsum(length) - length
    used = (length > 0) & (length <= max_tokens)

    node = np.zeros(length.size, dtype=np.int64)
    edges: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]] = []
    total = 1
    for level in range(max_tokens):
        alive = np.flatnonzero(used & (length > level))
        if not alive.size:
            break
        key = node[alive] * vocabulary.size + numbers[first_token[alive] + level]
        unique, inverse = np.unique(key, return_inverse=True)
        children = total + np.arange(unique.size)
        edges.append((unique // vocabulary.size, unique % vocabulary.size, children))
        node[alive] = children[inverse]
        total += unique.size
    return _assemble(edges, total, slots, slot_token, vocabulary.size, node, used, case)


def _assemble(
    edges: Sequence[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]],
    total: int,
    slots: HashArray,
    slot_token: IntArray,
    n_tokens: int,
    node: npt.NDArray[np.int64],
    used: npt.NDArray[np.bool_],
    case: ByteArray,
) -> tuple[Trie, IntArray]:
    empty = np.zeros(0, dtype=np.int64)
    parent, token, child = (
        (np.concatenate([empty, *parts]) for parts in zip(*edges, strict=True)) if edges else (empty,) * 3
    )
    first = np.zeros(max(1, n_tokens), dtype=np.int32)
    first[token[parent == 0]] = child[parent == 0]
    # Levels follow one another and each is sorted by (parent, token), so the whole is.
    child_begin = np.searchsorted(parent, np.arange(total + 1)).astype(np.int32)
    ends = np.unique(node[used])
    entry = np.full(total, -1, dtype=np.int32)
    entry[ends] = np.arange(ends.size)
    node_case = np.full(total, CASE_UPPER, dtype=np.uint8)
    np.minimum.at(node_case, node[used], case[used])
    comma_token = _numbers(tokenise(codes_of(" ".join(COMMA_WORDS))).hash, slots, slot_token)
    trie = Trie(
        slots=slots,
        slot_token=slot_token,
        first=first,
        child_begin=child_begin,
        child_token=token.astype(np.int32),
        child_node=child.astype(np.int32),
        entry=entry,
        case=node_case,
        comma_token=comma_token[comma_token >= 0],
    )
    return trie, np.where(used, entry[node], -1).astype(np.int32)
