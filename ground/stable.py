"""Choices by stable hash of (seed, what the choice is about): no global generator, the same on every machine.

``stable_hash`` equals DuckDB's ``md5_number_upper(concat_ws(chr(31), seed, part, ...))``, so that a choice made in SQL
and one made in Python agree.
"""

from __future__ import annotations

import hashlib

__all__ = ["SEPARATOR", "hash_of_joined", "stable_hash", "stable_unit", "unit_of"]

SEPARATOR = "\x1f"


def stable_hash(seed: int, *parts: str | int) -> int:
    """Return 64 bits that depend on the seed and on the parts only."""
    return hash_of_joined(SEPARATOR.join(map(str, (seed, *parts))))


def hash_of_joined(text: str) -> int:
    """Return the hash of seed and parts that are joined by ``SEPARATOR`` already."""
    return int.from_bytes(hashlib.md5(text.encode(), usedforsecurity=False).digest()[:8], "little")


def stable_unit(seed: int, *parts: str | int) -> float:
    """Return a number in the half-open interval (0, 1]."""
    return unit_of(stable_hash(seed, *parts))


def unit_of(number: int) -> float:
    """Return 64 bits as a number in the half-open interval (0, 1]."""
    return ((number >> 11) + 1) * 2.0**-53
