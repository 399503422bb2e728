"""A graph's vocabulary as numbers: steps, masks of semantic groups, patterns, as the kernels take them."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kg.predicates import TIERS, Pattern, Vocabulary

__all__ = ["NumberedPattern", "VocabularyNumbers", "pattern_name"]


def pattern_name(pattern: Pattern) -> str:
    """Name a pattern; a descriptive extension stands in brackets: ``treats . (is_a)``."""
    return f"{pattern.pattern} . ({pattern.extends})" if pattern.extends else pattern.pattern


class NumberedPattern(NamedTuple):
    """One pattern as numbers.

    Attributes:
        steps: one to three steps.
        max_fan: the largest number of neighbours that a step may lead to; 0 for any.
        heads, tails: masks of the semantic groups of the two ends; -1 for any.
        same: whether the ends must share a group.
        extends: the step that describes the tail; -1 where there is none.
    """

    steps: tuple[int, ...]
    max_fan: int
    heads: int
    tails: int
    same: bool
    extends: int


class VocabularyNumbers:
    """Steps, groups and patterns of a vocabulary as numbers.

    Args:
        vocabulary: predicates and patterns of a graph.
        group_names: the semantic groups, in the order of their bits.
    """

    def __init__(self, vocabulary: Vocabulary, group_names: tuple[str, ...]) -> None:
        self._vocabulary = vocabulary
        self._group_names = group_names
        symmetric = [line.symmetric for line in vocabulary.predicates]
        self.back: NDArray[np.int64] = np.array(
            [step if symmetric[step // 2] else step ^ 1 for step in range(len(vocabulary.step_names))], np.int64
        )

    def mask(self, groups: tuple[str, ...]) -> int:
        """Return the bits of some groups; -1 for any."""
        names = self._group_names
        return -1 if groups == ("*",) else sum(1 << names.index(name) for name in groups if name in names)

    def pattern(self, pattern: Pattern, *, any_groups: bool = False) -> NumberedPattern:
        """Return a pattern as numbers, with the groups of its predicate or with any."""
        heads, tails, same = (("*",), ("*",), False) if any_groups else self._vocabulary.ends_of(pattern.predicate)
        step_of = self._vocabulary.step_of
        return NumberedPattern(
            steps=tuple(step_of(name) for name in pattern.steps),
            max_fan=pattern.max_fan,
            heads=self.mask(heads),
            tails=self.mask(tails),
            same=same,
            extends=step_of(pattern.extends) if pattern.extends else -1,
        )

    @cached_property
    def patterns(self) -> tuple[NumberedPattern, ...]:
        """All patterns of the vocabulary, in its order."""
        return tuple(self.pattern(pattern) for pattern in self._vocabulary.patterns)

    @cached_property
    def order(self) -> list[int]:
        """Return the patterns' numbers by tier, hops, predicate and name."""
        patterns = self._vocabulary.patterns
        keys = [(TIERS.index(line.tier), line.hops, line.predicate, pattern_name(line)) for line in patterns]
        return sorted(range(len(patterns)), key=keys.__getitem__)
