"""Finds names in text: tokens by a compiled scan, names by a trie over token numbers held in arrays.

A text is an array of Unicode code points, so that every offset counts code points. A token is a run of letters and
digits, compared in lower case, without accents and without a plural or possessive ending. Names and notes go through
the same scan, so they agree by construction. Nothing here knows what a name means.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ehr.characters import FNV_OFFSET, ByteArray, CodeArray, HashArray, IntArray, codes_of, hash_with, is_letter
from ground import ROOT
from ground.compiled import kernel, part, read_only
from ground.storage.tables import read_table

__all__ = [
    "CASE_ANY",
    "CASE_CAPITAL",
    "CASE_UPPER",
    "Matches",
    "Tokens",
    "Trie",
    "build_trie",
    "mapped",
    "may_be_tested",
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
# What a word may be beside a name, as bits: the head of a phrase, of which a name before it is a part (asthma clinic);
# such a head of problems only; one that names share (hepatitis A and typhoid shots); a word between those; one that a
# hyphen joins to a name that stays what it is (HIV-positive); one that it joins to a drug that is none (heparin-free).
ROLES = {"head": 1, "head_of_problems": 2, "shared": 4, "and": 8, "loose": 16, "bound": 32}
# A name may go on after a comma with these words only: "diabetes mellitus, type 2".
COMMA_WORDS = ("type", "stage", "grade", "class")
PHRASE_HEADS = ROOT / "ehr" / "data" / "phrase_heads.tsv"

_FOLDED_CODES = 0x2200
# Beside a folded character, in one number: whether it is a capital, or a figure.
_CAPITAL_BIT, _FIGURE_BIT = 30, 29
_CHARACTER = np.uint32((1 << _FIGURE_BIT) - 1)


@dataclass(frozen=True)
class Tokens:
    """The tokens of a text in their order, in arrays of one length; offsets are code points of ``codes``, half-open."""

    codes: CodeArray
    begin: IntArray
    end: IntArray
    hash: HashArray
    shape: ByteArray
    gap: ByteArray


@dataclass(frozen=True)
class Matches:
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
        begins[count] = begin
        ends[count] = position
        # A possessive ending belongs to the word before it.
        if (
            position + 1 < size
            and codes[position] in (39, 0x2019)
            and codes[position + 1] in (115, 83)
            and (position + 2 == size or codes[position + 2] >= table.size or table[codes[position + 2]] == 0)
        ):
            position += 2
        hashes[count] = value
        shapes[count] = 2 if all_upper else (1 if capitals else 0)
        gaps[count] = 3 if count == 0 else _gap(codes, ends[count - 1], begin, ends[count - 1] - begins[count - 1])
        if count and codes[ends[count - 1]] in (39, 0x2019) and begin - ends[count - 1] > 2:
            gaps[count] = _gap(codes, ends[count - 1] + 2, begin, 2)
        count += 1
    return begins[:count], ends[:count], hashes[:count], shapes[:count], gaps[:count]


def tokenise(codes: CodeArray) -> Tokens:
    """Return the tokens of a text given as code points."""
    return Tokens(codes, *_scan(read_only(codes), _letters()))


@dataclass(frozen=True)
class Trie:
    """Names as paths of token numbers. ``children`` of a node are sorted by token; node 0 is the root.

    ``slots`` and ``slot_token`` are an open-addressing table from a token's hash to its number; ``first`` gives the
    root's child of each token (0: none); ``child_begin`` has one entry more than there are nodes; ``entry`` is the
    number of the name that ends at a node (-1: none) and ``case`` what its letters must be; ``comma_token`` are the
    numbers of ``COMMA_WORDS``; ``role`` are bits of ``ROLES`` of each token.
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
    role: ByteArray

    def save(self, folder: Path) -> None:
        """Write each array to a file of its own, so that processes can map them."""
        save_arrays(folder, "trie", {field.name: getattr(self, field.name) for field in fields(self)})

    @classmethod
    def load(cls, folder: Path) -> Trie:
        """Map the arrays of a saved trie."""
        return cls(*mapped(folder, "trie", [field.name for field in fields(cls)]))

    def token_numbers(self, hashes: HashArray) -> IntArray:
        """Return the number of each token, -1 for one that no name has."""
        return _numbers(hashes, self.slots, self.slot_token)

    def unglued(self, tokens: Tokens) -> tuple[Tokens, IntArray]:
        """Return the tokens of a text, a known word apart from what is written to its end: "lisinopril20", "ToprolXL".

        Their numbers come with them.

        Only tokens that no name has are cut, once, behind three letters or more.
        """
        numbers = self.token_numbers(tokens.hash)
        unknown = np.flatnonzero(numbers < 0)
        cut = _cuts(read_only(tokens.codes), tokens.begin[unknown], tokens.end[unknown])
        unknown, cut = unknown[cut > 0], cut[cut > 0]
        places = zip(tokens.begin[unknown].tolist(), cut.tolist(), tokens.end[unknown].tolist(), strict=True)
        pieces = [tokens.codes[low:high] for begin, at, end in places for low, high in ((begin, at), (at, end))]
        gap = codes_of("\n\n")
        parts = tokenise(np.concatenate([gap, *(part for piece in pieces for part in (piece, gap))]))
        head = self.token_numbers(parts.hash[::2])
        is_known = head >= 0
        if not is_known.any():
            return tokens, numbers
        which, cut = unknown[is_known], cut[is_known]
        heads, tails = ((parts.hash[at::2][is_known], parts.shape[at::2][is_known]) for at in (0, 1))
        end, value, shape = tokens.end.copy(), tokens.hash.copy(), tokens.shape.copy()
        end[which], value[which], shape[which], numbers[which] = cut, *heads, head[is_known]
        apart = Tokens(
            tokens.codes,
            np.insert(tokens.begin, which + 1, cut),
            np.insert(end, which + 1, tokens.end[which]),
            np.insert(value, which + 1, tails[0]),
            np.insert(shape, which + 1, tails[1]),
            np.insert(tokens.gap, which + 1, SOFT),
        )
        return apart, np.insert(numbers, which + 1, self.token_numbers(tails[0]))

    def find(
        self, tokens: Tokens, numbers: IntArray | None = None, is_drug: npt.NDArray[np.bool_] | None = None
    ) -> tuple[Matches, Matches]:
        """Return the longest names from left to right, and names that are a part of what is not known.

        A part is joined by a hyphen to a word that is no name (non-diabetic, steroid-sparing), or stands before the
        head of a phrase (asthma clinic).

        Args:
            tokens: of the text.
            numbers: may stand in for the tokens' own. Shape: (tokens,)
            is_drug: which entries are drugs. Shape: (entries,)
        """
        found = _find(
            self.token_numbers(tokens.hash) if numbers is None else numbers,
            read_only(tokens.codes),
            tokens.begin,
            tokens.end,
            tokens.shape,
            tokens.gap,
            np.zeros(self.entry.size, dtype=np.bool_) if is_drug is None else is_drug,
            self.first,
            self.child_begin,
            self.child_token,
            self.child_node,
            self.entry,
            self.case,
            self.comma_token,
            self.role,
        )
        return Matches(*found[:3]), Matches(*found[3:])

    def find_inside(self, tokens: Tokens, matches: Matches, numbers: IntArray | None = None) -> Matches:
        """Return the names inside longer ones: at each token of a match the longest that is not the whole."""
        return Matches(
            *_find_inside(
                matches.first,
                matches.last,
                self.token_numbers(tokens.hash) if numbers is None else numbers,
                tokens.shape,
                self.first,
                self.child_begin,
                self.child_token,
                self.child_node,
                self.entry,
                self.case,
            )
        )

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
        nodes = self.first, self.child_begin, self.child_token, self.child_node, self.entry, self.case
        matches: tuple[IntArray, IntArray] = _find_every(numbers, shapes, owner, *nodes, seen)
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
def _cuts(codes: CodeArray, begins: IntArray, ends: IntArray) -> IntArray:
    """Return where figures, or a capital behind a small letter, follow three letters or more of each word (0: none)."""
    cuts = np.zeros(begins.size, np.int32)
    for word in range(begins.size):
        position = begins[word]
        while position < ends[word] and is_letter(codes[position]):
            is_cut = position > begins[word] and codes[position] <= 90 and codes[position - 1] > 90
            if is_cut and position - begins[word] > 2:
                break
            position += 1
        if position < ends[word] and position - begins[word] > 2 and codes[position] <= 90:
            cuts[word] = position
    return cuts


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
def _child(node: int, token: int, child_begin: IntArray, child_token: IntArray, child_node: IntArray) -> int:
    """Return the child of a node of the trie (0: none)."""
    low = child_begin[node]
    high = child_begin[node + 1]
    while low < high:
        middle = (low + high) // 2
        if child_token[middle] < token:
            low = middle + 1
        else:
            high = middle
    return int(child_node[low]) if low < child_begin[node + 1] and child_token[low] == token else 0


@part
def _is_word(token: int, codes: CodeArray, begins: IntArray, ends: IntArray) -> bool:
    """Whether a token is no figure and no single letter."""
    return bool(ends[token] - begins[token] > 1 and codes[begins[token]] > 57)


@kernel
def _find(
    numbers: IntArray,
    codes: CodeArray,
    token_begin: IntArray,
    token_end: IntArray,
    shapes: ByteArray,
    gaps: ByteArray,
    is_drug: npt.NDArray[np.bool_],
    first: IntArray,
    child_begin: IntArray,
    child_token: IntArray,
    child_node: IntArray,
    entry: IntArray,
    case: ByteArray,
    comma_token: IntArray,
    roles: ByteArray,
) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray, IntArray]:
    size = numbers.size
    begins, lasts, nodes = np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size, np.int32)
    part_begins, part_lasts, part_nodes = np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size, np.int32)
    count = parts = start = 0
    while start < size:
        best, best_node, index, least_shape = -1, 0, start, 2
        node = first[numbers[start]] if numbers[start] >= 0 else 0
        while node > 0:
            least_shape = min(least_shape, shapes[index])
            if entry[node] >= 0 and (case[node] == 0 or (case[node] == 1 and shapes[start] >= 1) or least_shape == 2):
                best, best_node = index, node
            index += 1
            if index == size or gaps[index] == 3 or numbers[index] < 0:
                break
            if gaps[index] == 4 and not np.any(comma_token == numbers[index]):
                break
            node = _child(node, numbers[index], child_begin, child_token, child_node)
        if best < 0:
            start += 1
            continue
        after = best + 1
        known = numbers[after] if after < size else -1
        role = roles[known] if known >= 0 else 0
        next_node = first[known] if known >= 0 else 0
        is_part: Any = False
        if after < size and gaps[after] in (0, 5):
            is_part = role & 1 or (role & 2 and not is_drug[entry[best_node]])
            is_part |= gaps[after] == 5 and role & 32 and is_drug[entry[best_node]]
        # Two names with a hyphen are a list.
        if gaps[start] == 5 and (not count or lasts[count - 1] < start - 1):
            is_part |= _is_word(start - 1, codes, token_begin, token_end)
        elif after < size and gaps[after] == 5 and not role & 16 and (next_node == 0 or entry[next_node] < 0):
            # A capital begins another field: "Chest pain-Mild".
            is_joined = shapes[after] == 0 or (shapes[after] == 2 and shapes[best] == 2)
            is_part |= is_joined and _is_word(after, codes, token_begin, token_end)
        if not is_part:
            begins[count], lasts[count], nodes[count] = start, best, best_node
            count += 1
            start = best + 1
            continue
        part_begins[parts], part_lasts[parts], part_nodes[parts] = start, best, best_node
        parts += 1
        joint = start
        while role & 4 and count and lasts[count - 1] >= joint - 2:
            between = numbers[joint - 1] if lasts[count - 1] == joint - 2 else -1
            if not (roles[between] & 8 if between >= 0 else gaps[joint] in (1, 4)):
                break
            count -= 1
            joint = begins[count]
            part_begins[parts], part_lasts[parts], part_nodes[parts] = joint, lasts[count], nodes[count]
            parts += 1
        start += 1
    return begins[:count], lasts[:count], nodes[:count], part_begins[:parts], part_lasts[:parts], part_nodes[:parts]


@kernel
def _find_inside(
    outer_first: IntArray,
    outer_last: IntArray,
    numbers: IntArray,
    shapes: ByteArray,
    first: IntArray,
    child_begin: IntArray,
    child_token: IntArray,
    child_node: IntArray,
    entry: IntArray,
    case: ByteArray,
) -> tuple[IntArray, IntArray, IntArray]:
    size = 0
    for outer in range(outer_first.size):
        size += outer_last[outer] - outer_first[outer] + 1
    begins = np.empty(size, np.int32)
    lasts = np.empty(size, np.int32)
    nodes = np.empty(size, np.int32)
    count = 0
    for outer in range(outer_first.size):
        end = outer_last[outer]
        if end == outer_first[outer]:
            continue
        for start in range(outer_first[outer], end + 1):
            best = -1
            best_node = 0
            least_shape = 2
            index = start
            node = first[numbers[start]] if numbers[start] >= 0 else 0
            while node > 0:
                least_shape = min(least_shape, shapes[index])
                fits = case[node] == 0 or (case[node] == 1 and shapes[start] >= 1) or least_shape == 2
                if entry[node] >= 0 and fits and not (start == outer_first[outer] and index == end):
                    best = index
                    best_node = node
                index += 1
                if index > end or numbers[index] < 0:
                    break
                node = _child(node, numbers[index], child_begin, child_token, child_node)
            if best >= 0:
                begins[count] = start
                lasts[count] = best
                nodes[count] = best_node
                count += 1
    return begins[:count], lasts[:count], nodes[:count]


@part
def _begins_result(codes: CodeArray, position: int) -> bool:
    """Whether S, R or I is the first word from ``position`` on, behind nothing but figures and signs."""
    while position < codes.size and (32 <= codes[position] <= 62 or codes[position] > 127):
        position += 1
    if position == codes.size or codes[position] not in (73, 82, 83):
        return False
    return bool(position + 1 == codes.size or codes[position + 1] in (10, 32, 41, 44, 46, 47, 59))


@part
def _ends_test(codes: CodeArray, last: int) -> bool:
    """Whether S, R or I by itself ends at ``last``, or a word as long as "sensitive" with the last letter of such."""
    if codes[last] in (73, 82, 83) and not (last and is_letter(codes[last - 1])):
        return True
    if codes[last] not in (69, 84, 101, 116) or last < 8:
        return False
    letters = 0
    for position in range(last - 8, last):
        letters += is_letter(codes[position])
    return letters == 8


@part
def _has_test(codes: CodeArray, begin: int, end: int) -> bool:
    """Whether "to ", or "-", ":" or "=" with a blank, follows S, R, I or what "sensitive" and such end with."""
    for position in range(max(begin, 1), end - 1):
        if codes[position + 1] != 32:
            continue
        last = -1
        if codes[position] in (45, 58, 61):
            last = position - (2 if codes[position - 1] == 32 and position > 1 else 1)
        elif position > 2 and codes[position] in (79, 111) and codes[position - 2] == 32:
            last = position - 3
        if last >= 0 and _ends_test(codes, last):
            return True
    return False


@kernel
def may_be_tested(codes: CodeArray, begin: IntArray, end: IntArray, reach: int) -> ByteArray:
    """Return which names have signs of a culture's results after them, or before them within ``reach``.

    More of them than are, never fewer: "sensitive to", "R:", "<= 4 S". shape: (names,)
    """
    result = np.zeros(begin.size, np.uint8)
    for name in range(begin.size):
        result[name] = _begins_result(codes, end[name]) or _has_test(codes, begin[name] - reach, begin[name])
    return result


@kernel
def _find_every(
    numbers: IntArray,
    shapes: ByteArray,
    owner: IntArray,
    first: IntArray,
    child_begin: IntArray,
    child_token: IntArray,
    child_node: IntArray,
    entry: IntArray,
    case: ByteArray,
    seen: IntArray,
) -> tuple[IntArray, IntArray]:
    texts, entries = np.empty(1024, np.int32), np.empty(1024, np.int32)
    count = 0
    for start in range(numbers.size):
        node = first[numbers[start]] if numbers[start] >= 0 else 0
        index = start
        least_shape = 2
        while node > 0:
            least_shape = min(least_shape, shapes[index])
            fits = case[node] == 0 or (case[node] == 1 and shapes[start] >= 1) or least_shape == 2
            if entry[node] >= 0 and fits and seen[entry[node]] != owner[start]:
                seen[entry[node]] = owner[start]
                if count == texts.size:
                    texts = np.concatenate((texts, np.empty(count, np.int32)))
                    entries = np.concatenate((entries, np.empty(count, np.int32)))
                texts[count], entries[count] = owner[start], entry[node]
                count += 1
            index += 1
            if index == numbers.size or owner[index] != owner[start] or numbers[index] < 0:
                break
            node = _child(node, numbers[index], child_begin, child_token, child_node)
    return texts[:count].copy(), entries[:count].copy()


def _roles() -> tuple[HashArray, ByteArray]:
    """Return the words that have a role beside names, as tokens are hashed, and their roles."""
    rows = read_table(PHRASE_HEADS, ("word", "role", "source"))
    words = [(word, ROLES[row["role"]]) for row in rows for word in row["word"].split("|")]
    hashes = tokenise(codes_of(" ".join(word for word, _ in words))).hash
    return hashes, np.array([role for _, role in words], dtype=np.uint8)


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
    role_hash, role = _roles()
    vocabulary, slots, slot_token = _vocabulary(np.append(hashes, role_hash))
    roles = np.zeros(vocabulary.size, dtype=np.uint8)
    np.bitwise_or.at(roles, _numbers(role_hash, slots, slot_token), role)
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
    return _assemble(edges, total, slots, slot_token, roles, node, used, case)


def _assemble(
    edges: Sequence[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]],
    total: int,
    slots: HashArray,
    slot_token: IntArray,
    roles: ByteArray,
    node: npt.NDArray[np.int64],
    used: npt.NDArray[np.bool_],
    case: ByteArray,
) -> tuple[Trie, IntArray]:
    empty = np.zeros(0, dtype=np.int64)
    parent, token, child = (
        (np.concatenate([empty, *parts]) for parts in zip(*edges, strict=True)) if edges else (empty,) * 3
    )
    first = np.zeros(max(1, roles.size), dtype=np.int32)
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
        role=roles,
    )
    return trie, np.where(used, entry[node], -1).astype(np.int32)
