"""Krippendorff's alpha is what its author published."""

from __future__ import annotations

import numpy as np
import pytest

from ground.reliability import Distance, krippendorff_alpha, ordinal_distance

# Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), C: four observers, twelve units, 0 is missing.
RATINGS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
        [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
    ]
)
COUNTS = np.stack([np.count_nonzero(np.equal(RATINGS, value), axis=0) for value in range(1, 6)], axis=1)
VALUES = np.arange(1.0, 6.0)
BETWEEN, SUM = VALUES[:, None] - VALUES, VALUES[:, None] + VALUES


@pytest.mark.parametrize(
    ("distance", "published"),
    [(1 - np.eye(5), 0.743), (ordinal_distance, 0.815), (BETWEEN**2, 0.849), ((BETWEEN / SUM) ** 2, 0.797)],
    ids=["nominal", "ordinal", "interval", "ratio"],
)
def test_published_values_come_out(distance: Distance, published: float) -> None:
    assert krippendorff_alpha(COUNTS, distance) == pytest.approx(published, abs=5e-4)


def test_perfect_agreement_is_one_and_no_variation_is_not_defined() -> None:
    assert krippendorff_alpha(np.array([[2, 0], [0, 2]]), 1 - np.eye(2)) == 1
    assert krippendorff_alpha(np.array([[2, 0], [2, 0]]), 1 - np.eye(2)) is None
    assert krippendorff_alpha(np.array([[1, 0], [0, 1]]), 1 - np.eye(2)) is None
