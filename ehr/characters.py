"""A text as an array of code points, and what kind of character each code point is, for compiled scans."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

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
    "arrow_numbers",
    "codes_of",
    "cut_out",
    "hash_of",
    "hash_on",
    "hash_with",
    "is_kind",
    "is_letter",
    "kinds_of_characters",
    "lower",
    "plain",
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


# Apostrophes, quotes and hyphens as they are typed in several ways, and what a file may begin with, by what is read.
_PLAIN = {"'": "\u2018\u2019\u02bc", '"': "\u201c\u201d", "-": "\u2010\u2011\u2012\u2013", " ": "\ufeff"}


def plain(text: str) -> str:
    """Return a text with one kind of apostrophes, quotes and hyphens, as rules have them; all offsets stay.

    >>> plain("She doesn\u2019t smoke")
    "She doesn't smoke"
    """
    if not text.isascii():
        for letter, others in _PLAIN.items():
            for other in others:
                text = text.replace(other, letter)
    return text


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
def is_letter(code: int) -> bool:
    """Tell whether a character is an ASCII letter."""
    return 97 <= code <= 122 or 65 <= code <= 90


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


def cut_out(codes: CodeArray, begin: IndexArray | IntArray, end: IndexArray | IntArray) -> pa.StringArray:
    """Return stretches of a text, those of a row one after another.

    Args:
        codes: code points of the text, no surrogates among them.
        begin, end: half-open, of the stretches of each row; shape: (rows, stretches).
    """
    length = np.maximum(end - begin, 0).ravel()
    stop = np.cumsum(length)
    cut = codes[np.arange(length.sum()) + np.repeat(begin.ravel() - (stop - length), length)]
    bytes_before = np.append(0, np.cumsum(1 + (cut > 0x7F) + (cut > 0x7FF) + (cut > 0xFFFF)))
    offsets = bytes_before[np.append(0, stop[begin.shape[1] - 1 :: begin.shape[1]])].astype(np.int32)
    text = cut.tobytes().decode("utf-32-le").encode()
    return pa.StringArray.from_buffers(begin.shape[0], pa.py_buffer(offsets), pa.py_buffer(text))


def arrow_numbers(numbers: IntArray | IndexArray) -> pa.Array:
    """Return whole numbers as Arrow has them.

    Of an array of numpy's, `pa.array` would ask pandas, whose import takes longer than a short text.
    """
    kind = pa.int32() if numbers.dtype == np.int32 else pa.int64()
    return pa.Array.from_buffers(kind, numbers.size, [None, pa.py_buffer(np.ascontiguousarray(numbers))])
