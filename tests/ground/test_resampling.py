"""Clusters are drawn as often as there are, and too little data gives no interval."""

from __future__ import annotations

import numpy as np
import pytest

from ground.resampling import draws, percentile_interval, resampled


def test_every_resample_has_as_many_clusters_as_there_are() -> None:
    sizes = np.array([3, 1, 0, 6])
    drawn = np.concatenate(list(draws(sizes, 250, 1)))
    assert drawn.shape == (250, 4) and (drawn.sum(axis=1) == 10).all() and not drawn[:, 2].any()
    assert resampled(np.eye(4), sizes, 250, 1).tolist() == drawn.tolist()
    assert resampled(np.zeros((0, 2)), np.zeros(0), 7, 1).tolist() == [[0.0, 0.0]] * 7


def test_too_few_clusters_or_too_many_undefined_draws_give_no_interval() -> None:
    drawn = np.linspace(0, 1, 100)
    assert percentile_interval(drawn, 4) is None
    assert percentile_interval(drawn, 5) == pytest.approx((0.025, 0.975))
    few = np.where(np.arange(100) < 5, np.nan, drawn)
    assert percentile_interval(few, 50) is not None
    assert percentile_interval(np.where(np.arange(100) < 6, np.nan, drawn), 50) is None
    assert percentile_interval(np.full(100, np.nan), 50) is None
