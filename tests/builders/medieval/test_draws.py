"""Draws depend on two hashes only, are the committed ones, and are as even as chance."""

from __future__ import annotations

import numpy as np
import pytest

from builders.medieval.draws import exponential, mixed
from ground.stable import stable_hash

VECTORS = np.array(
    [
        # one, other, mixed: the third row is the first number of SplitMix64 from seed 0
        (0x0123456789ABCDEF, 0x0FEDCBA987654321, 0x688DD8FABB267FAB),
        (0x0000000000000000, 0x0000000000000000, 0x0000000000000000),
        (0x0000000000000000, 0x0000000000000001, 0xE220A8397B1DCDAF),
        (0x0000000000000001, 0x0000000000000000, 0x5692161D100B05E5),
        (0x8000000000000000, 0x8000000000000000, 0x0000000000000000),
        (0xFFFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF, 0xDE0A564CBCD060C4),
        (0xC2B2AE3D27D4EB4F, 0x0000000100000000, 0xF818F4A3069A6CEC),
    ],
    np.uint64,
)


def test_mixed_hashes_are_those_of_the_vectors() -> None:
    assert mixed(VECTORS[:, 0], VECTORS[:, 1]).tolist() == VECTORS[:, 2].tolist()


def test_draws_of_one_concept_in_many_groups_and_of_many_concepts_in_one_group_are_exponential() -> None:
    groups = np.array([stable_hash(7, "candidate", number, "Q4") for number in range(20_000)], np.uint64)
    concepts = np.array([stable_hash(7, f"C{number:07d}") for number in range(20_000)], np.uint64)
    for one, other in ((groups, concepts[:1]), (groups[:1], concepts)):
        draws = np.sort(exponential(mixed(one, other)))
        # Kolmogorov and Smirnov's distance from the exponential distribution; 1.63 / sqrt(n) is its limit at 1%.
        expected = 1 - np.exp(-draws)
        distance = np.abs(expected - np.arange(draws.size) / draws.size).max()
        assert distance < 1.63 / np.sqrt(draws.size)


def test_the_order_of_two_hashes_matters_and_extremes_have_a_draw() -> None:
    assert mixed(VECTORS[:1, 0], VECTORS[:1, 1]) != mixed(VECTORS[:1, 1], VECTORS[:1, 0])
    lowest, highest = exponential(np.array([0, 2**64 - 1], np.uint64))
    assert lowest == pytest.approx(53 * np.log(2))
    assert highest == 0
