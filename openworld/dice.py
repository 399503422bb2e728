"""Choices by stable hash: each choice names what it is about, so that no choice depends on another one's order."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

from ground.stable import SEPARATOR, hash_of_joined, unit_of

__all__ = ["Dice"]

Value = TypeVar("Value")


class Dice:
    """Choices about one thing (a patient, an admission): hashes of (seed, the thing, the choice's label)."""

    def __init__(self, seed: int, *about: str | int) -> None:
        # Joined as the hash wants it, once for all choices about the thing.
        self._about = SEPARATOR.join(map(str, (seed, *about)))

    def about(self, *more: str | int) -> Dice:
        """Return the dice of a part of the thing."""
        part = Dice.__new__(Dice)
        part._about = SEPARATOR.join(map(str, (self._about, *more)))
        return part

    def _number(self, label: tuple[str | int, ...]) -> int:
        return hash_of_joined(SEPARATOR.join(map(str, (self._about, *label))))

    def stable_bytes(self, count: int, *label: str | int) -> bytes:
        """Return so many bytes at once, for choices of which there are thousands."""
        return hashlib.shake_128(SEPARATOR.join(map(str, (self._about, *label))).encode()).digest(count)

    def chance(self, share: float, *label: str | int) -> bool:
        """Return True in ``share`` of the cases."""
        return self.share(*label) <= share

    def share(self, *label: str | int) -> float:
        """Return a number in the half-open interval (0, 1]."""
        return unit_of(self._number(label))

    def integer(self, low: int, high: int, *label: str | int) -> int:
        """Return a number from low to high, both included."""
        return low + self._number(label) % (high - low + 1)

    def pick(self, values: Sequence[Value], *label: str | int) -> Value:
        """Return one of the values, which must not be empty."""
        return values[self._number(label) % len(values)]

    def weighted(self, values: Sequence[tuple[Value, float]], *label: str | int) -> Value:
        """Return one of the values by weight."""
        point = unit_of(self._number(label)) * sum(weight for _, weight in values)
        for value, weight in values:
            point -= weight
            if point <= 0:
                return value
        return values[-1][0]

    def shuffled(self, values: Sequence[str], *label: str | int) -> list[str]:
        """Return the values in an order that depends on each value alone."""
        about = SEPARATOR.join(map(str, (self._about, *label, "")))
        return [value for _, value in sorted([(hash_of_joined(about + value), value) for value in values])]

    def sample(self, values: Sequence[str], count: int, *label: str | int) -> list[str]:
        """Return at most ``count`` of the values."""
        return self.shuffled(values, *label)[:count]
