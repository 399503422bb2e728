from __future__ import annotations

import math

import pytest
import torch
from torch.nn import functional

from training.encoder.late import RUNS, best_matches, n_features

EYE = torch.eye(6)


def test_a_token_finds_its_equal_wherever_it_stands() -> None:
    features, places = best_matches([EYE[[2, 5]]], [EYE[[0, 1, 2, 3]]])
    assert places[0].item() == 2
    assert features[:, 0].tolist() == [1.0, 0.0]


def test_a_run_matches_neighbours_in_order_only() -> None:
    statement = [EYE[[0, 1, 2]]]
    in_order = best_matches(statement, [EYE[[4, 0, 1, 2, 5]]])[0][:, : len(RUNS)]
    shuffled = best_matches(statement, [EYE[[2, 4, 1, 5, 0]]])[0][:, : len(RUNS)]
    assert torch.equal(in_order, torch.ones(3, 3))
    assert torch.equal(shuffled[:, 0], torch.ones(3))
    assert torch.all(shuffled[:, 1:] < 1)


def test_a_run_that_breaks_off_counts_the_rest_as_nothing() -> None:
    found = best_matches([EYE[[0, 1]]], [EYE[[5, 0]]])[0][:, : len(RUNS)]
    assert found[0].tolist() == pytest.approx([1.0, 0.5, 1 / 3])


def test_the_best_match_is_the_maximum_over_windows() -> None:
    torch.manual_seed(0)
    statement, first, second = (functional.normalize(torch.randn(n, 8), dim=1) for n in (4, 7, 9))
    whole = best_matches([statement], [torch.cat([first, second])])[0][:, 0]
    apart = [best_matches([statement], [window])[0][:, 0] for window in (first, second)]
    torch.testing.assert_close(whole, torch.maximum(*apart))


def test_features_count_layers_and_runs_and_are_finite() -> None:
    features, places = best_matches([EYE[:3], EYE[3:]], [EYE[:2], EYE[4:]])
    assert features.shape == (3, n_features(2))
    assert places.shape == (3, 2)
    assert math.isfinite(float(features.sum()))
