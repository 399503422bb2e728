"""A text as an array of code points, and what kind of character each code point is, for compiled scans."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from ground.compiled import kernel, part

__all__ = [
    "ALPHA",
    "DECIMAL",
    "DIGIT",
    "FNV_OFFSET",
    "LOWER",
    "SPACE",
    "ByteArray",
    "CodeArray",
    "HashArray",
    "IndexArray",
    "IntArray",
    "codes_of",
    "hash_of",
    "hash_on",
    "hash_with",
    "is_kind",
    "kinds_of_characters",
    "lower",
    "word_hash",
]

IntArray = npt.NDArray[np.int32]
IndexArray = npt.NDArray[np.int64]
CodeArray = npt.NDArray[np.uint32]
HashArray = npt.NDArray[np.uint64]
ByteArray = npt.NDArray[np.uint8]

# What ``str.isspace``, ``islower``, ``isalpha``, ``isdigit`` and ``isdecimal`` say of a character, as bits.
SPACE, LOWER, ALPHA, DIGIT, DECIMAL = 1, 2, 4, 8, 16
# Code points above are ideographs and tags: none of them is a blank, a digit or in lower case.
_TABLE = 0x20000
FNV_OFFSET = np.uint64(0xCBF29CE484222325)
_FNV_PRIME = np.uint64(0x100000001B3)


def codes_of(text: str) -> CodeArray:
    """Return the code points of a text; shape: (len(text),)."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


@cache
def kinds_of_characters() -> ByteArray:
    """Return the kinds of each code point, as bits; shape: (0x20000,)."""
    table = np.zeros(_TABLE, dtype=np.uint8)
    for code in range(_TABLE):
        letter = chr(code)
        if letter.isalnum():
            table[code] = (
                LOWER * letter.islower()
                + ALPHA * letter.isalpha()
                + DIGIT * letter.isdigit()
                + DECIMAL * letter.isdecimal()
            )
        elif letter.isspace():
            table[code] = SPACE
        elif letter.islower():
            table[code] = LOWER
    return table


@part
def is_kind(code: int, kind: int, table: ByteArray) -> bool:
    """Tell whether a character is of a kind, such as ``SPACE``."""
    return code < table.size and (table[code] & kind) != 0


@part
def lower(code: int) -> int:
    """Return a character in lower case where that is an ASCII letter, else the character itself."""
    if 65 <= code <= 90:
        return code + 32
    return 107 if code == 0x212A else code  # the Kelvin sign is a k


@part
def hash_with(value: np.uint64, code: int) -> np.uint64:
    """Return a hash that goes on over one more character, which is in lower case."""
    return (value ^ np.uint64(code)) * _FNV_PRIME


@part
def hash_on(value: np.uint64, codes: CodeArray, begin: int, end: int) -> np.uint64:
    """Return a hash that goes on over a stretch of a text in lower case."""
    for position in range(begin, end):
        value = hash_with(value, lower(codes[position]))
    return value


@part
def word_hash(codes: CodeArray, begin: int, end: int) -> np.uint64:
    """Return the hash of a stretch of a text in lower case (FNV-1a over code points)."""
    return hash_on(FNV_OFFSET, codes, begin, end)


@kernel
def _hash_of(codes: CodeArray) -> np.uint64:
    return word_hash(codes, 0, codes.size)


def hash_of(word: str) -> int:
    """Return the hash of a word."""
    return int(_hash_of(codes_of(word)))
