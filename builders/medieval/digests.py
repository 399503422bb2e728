"""The stable hash of very many texts at once: MD5 of a key and an ending, as `ground.stable` and DuckDB have it.

A draw is made for each of hundreds of millions of candidates. Their texts differ in their ends only, so they are never
put together as texts: 64 of them go through the rounds of MD5 side by side.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ground.compiled import kernel, part, read_only

__all__ = ["Texts", "hashes_of", "units_of"]

LANES = 64
BLOCK = 64
"""Bytes that MD5 takes in at once."""

# RFC 1321, section 3.4
TURNS = np.array([7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21], np.uint32).reshape(4, 4)
ADDED = np.floor(np.abs(np.sin(np.arange(1, 65))) * 2.0**32).astype(np.uint32)
WORDS = np.concatenate([(a * np.arange(16) + b) % 16 for a, b in ((1, 0), (5, 1), (3, 5), (7, 0))]).astype(np.int64)
START = np.array([0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476], np.uint32)


class Texts(NamedTuple):
    """Texts one after the other.

    Attributes:
        begin: where a text begins. Shape: (texts + 1,)
        byte: their bytes.
    """

    begin: npt.NDArray[np.int64]
    byte: npt.NDArray[np.uint8]

    @classmethod
    def of(cls, column: pa.ChunkedArray | pa.Array) -> Texts:
        """Return the texts of a column without nulls."""
        whole = pa.chunked_array(column) if isinstance(column, pa.Array) else column
        text = whole.cast(pa.large_string()).combine_chunks()
        _, offsets, data = text.buffers()
        begin = np.frombuffer(offsets, np.int64)[text.offset : text.offset + len(text) + 1]
        # Whether they could be written hangs on how the column came about.
        return cls(read_only(begin), read_only(np.frombuffer(data or b"", np.uint8)))


@part
def _take_in(state: Any, scratch: Any, words: Any, blocks: Any, block: int) -> None:
    """Take one block into the states of the lanes that have so many.

    The four functions of MD5 are one here, so that one loop is compiled: base ^ ((gate ^ flip) & (one ^ other)) ^ flip.

    Args:
        state: four words of each lane. Shape: (4, lanes)
        scratch: four rows to work in, one of ones and one of zeros. Shape: (6, lanes)
        words: of the texts. Shape: (16 * blocks, lanes)
        blocks: how many each text has. Shape: (lanes,)
        block: which it is.
    """
    for i in range(4 * LANES):
        scratch[i // LANES, i % LANES] = state[i // LANES, i % LANES]
    for step in range(64):
        a, b, c, d = -step & 3, (1 - step) & 3, (2 - step) & 3, (3 - step) & 3
        base, gate, one, other, flip = d, b, c, d, np.uint32(0)
        if step >= 48:
            base, gate, one, other, flip = c, b, d, 5, np.uint32(0xFFFFFFFF)
        elif step >= 32:
            base, gate, one, other = d, 4, b, c
        elif step >= 16:
            base, gate, one, other = c, d, b, c
        word, added, turn = 16 * block + WORDS[step], ADDED[step], TURNS[step // 16, step % 4]
        back = np.uint32(32) - turn
        for i in range(LANES):
            mixed = scratch[base, i] ^ ((scratch[gate, i] ^ flip) & (scratch[one, i] ^ scratch[other, i])) ^ flip
            x = np.uint32(scratch[a, i] + mixed + words[word, i] + added)
            scratch[a, i] = scratch[b, i] + (np.uint32(x << turn) | np.uint32(x >> back))
    for row in range(4):
        for i in range(LANES):
            if blocks[i] > block:
                state[row, i] += scratch[row, i]


@part
def _longest(begin: Any) -> int:
    longest = 0
    for i in range(begin.size - 1):
        longest = max(longest, begin[i + 1] - begin[i])
    return longest


@kernel
def _hashes(key_begin: Any, key: Any, run_begin: Any, ending_begin: Any, ending: Any, code: Any) -> Any:
    """Return the first eight bytes of the MD5 of each key with each of its endings. Shape: (n,)"""
    most = (_longest(key_begin) + _longest(ending_begin) + 9 + BLOCK - 1) // BLOCK
    begun = np.zeros(16 * most, np.uint32)
    words = np.zeros((16 * most, LANES), np.uint32)
    state, scratch = np.empty((4, LANES), np.uint32), np.zeros((6, LANES), np.uint32)
    for i in range(LANES):
        scratch[4, i] = np.uint32(0xFFFFFFFF)
    blocks = np.zeros(LANES, np.int64)
    found = np.empty(code.size, np.uint64)
    run, written = 0, -1
    for first in range(0, code.size, LANES):
        n, here = min(LANES, code.size - first), 0
        for i in range(n):
            while run_begin[run + 1] <= first + i:
                run += 1
            if written != run:
                written = run
                for at in range(16 * most):
                    begun[at] = 0
                for at in range(key_begin[run + 1] - key_begin[run]):
                    begun[at >> 2] |= np.uint32(key[key_begin[run] + at]) << np.uint32(8 * (at & 3))
            for word in range(16 * most):
                words[word, i] = begun[word]
            its, size = code[first + i], key_begin[run + 1] - key_begin[run]
            for at in range(ending_begin[its], ending_begin[its + 1]):
                words[size >> 2, i] |= np.uint32(ending[at]) << np.uint32(8 * (size & 3))
                size += 1
            # A bit of one ends the text; the last eight bytes of the last block tell its length in bits.
            words[size >> 2, i] |= np.uint32(0x80) << np.uint32(8 * (size & 3))
            blocks[i] = (size + 9 + BLOCK - 1) // BLOCK
            words[16 * blocks[i] - 2, i] = 8 * size
            here = max(here, blocks[i])
        for i in range(4 * LANES):
            state[i // LANES, i % LANES] = START[i // LANES]
        for block in range(here):
            _take_in(state, scratch, words, blocks, block)
        for i in range(n):
            found[first + i] = np.uint64(state[0, i]) | (np.uint64(state[1, i]) << np.uint64(32))
    return found


def hashes_of(
    keys: Texts, run_begin: npt.NDArray[np.int64], endings: Texts, code: npt.NDArray[np.int32]
) -> npt.NDArray[np.uint64]:
    """Return the hash of the key of each run with each of the endings that the run has.

    Args:
        keys: seed and what the runs are about, joined as in `ground.stable`.
        run_begin: where the endings of a run begin. Shape: (runs + 1,)
        endings: texts that end a key.
        code: which ending. Shape: (n,)
    """
    found: npt.NDArray[np.uint64] = _hashes(keys.begin, keys.byte, run_begin, endings.begin, endings.byte, code)
    return found


def units_of(hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.float64]:
    """Return numbers in the half-open interval (0, 1], as `ground.stable.unit_of` does. Shape: (n,)"""
    return ((hashes >> np.uint64(11)).astype(np.float64) + 1) * 2.0**-53
