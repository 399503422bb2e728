"""Choices by stable hash: each choice names what it is about, so that no choice depends on another one's order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from ontoground.stable import stable_hash, stable_unit

__all__ = ["Dice"]

Value = TypeVar("Value")


class Dice:
    """Choices about one thing (a patient, an admission)."""

    def __init__(self, seed: int, *about: str | int) -> None:
        self._seed = seed
        self._about = about

    def about(self, *more: str | int) -> Dice:
        """Return the dice of a part of the thing."""
        return Dice(self._seed, *self._about, *more)

    def chance(self, share: float, *label: str | int) -> bool:
        """Return True in ``share`` of the cases."""
        return stable_unit(self._seed, *self._about, *label) <= share

    def integer(self, low: int, high: int, *label: str | int) -> int:
        """Return a number from low to high, both included."""
        return low + stable_hash(self._seed, *self._about, *label) % (high - low + 1)

    def pick(self, values: Sequence[Value], *label: str | int) -> Value:
        """Return one of the values, which must not be empty."""
        return values[stable_hash(self._seed, *self._about, *label) % len(values)]

    def weighted(self, values: Sequence[tuple[Value, float]], *label: str | int) -> Value:
        """Return one of the values by weight."""
        point = stable_unit(self._seed, *self._about, *label) * sum(weight for _, weight in values)
        for value, weight in values:
            point -= weight
            if point <= 0:
                return value
        return values[-1][0]

    def shuffled(self, values: Sequence[str], *label: str | int) -> list[str]:
        """Return the values in an order that depends on each value alone."""
        return sorted(values, key=lambda value: (stable_hash(self._seed, *self._about, *label, value), value))

    def sample(self, values: Sequence[str], count: int, *label: str | int) -> list[str]:
        """Return at most ``count`` of the values."""
        return self.shuffled(values, *label)[:count]
