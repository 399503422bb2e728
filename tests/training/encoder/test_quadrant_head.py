from __future__ import annotations

import math

import pytest
import torch

from training.encoder.quadrant_head import QuadrantHead, QuadrantLogits, quadrant_loss


def test_the_new_head_gives_the_product_of_its_two_factors() -> None:
    torch.manual_seed(0)
    head = QuadrantHead(6, 8, 0.0).eval()
    judged = head(torch.randn(5, 6))
    assert judged.factors is not None
    true, supported = judged.factors.sigmoid().unbind(dim=1)
    product = torch.stack(
        [true * supported, true * (1 - supported), (1 - true) * supported, (1 - true) * (1 - supported)], dim=1
    )
    torch.testing.assert_close(judged.quadrant.softmax(dim=1), product)


def test_loss_by_hand() -> None:
    # Row 1 is Q1 with probability 1/4, row 2 is Q3 with probability 1/2; their weights are 1 and 3.
    quadrant = torch.log(torch.tensor([[0.25, 0.25, 0.25, 0.25], [0.1, 0.2, 0.5, 0.2]]))
    factors = torch.tensor([[0.0, 0.0], [math.log(3), -math.log(3)]])
    labels, weights = torch.tensor([0, 2]), torch.tensor([1.0, 1.0, 3.0, 1.0])
    plain = math.log(4) + 3 * math.log(2)
    assert quadrant_loss(QuadrantLogits(quadrant), labels, weights, 0.5).item() == pytest.approx(plain)
    # Row 1 is true and supported at probability 1/2 each; row 2 is false at 1/4 and supported at 1/4.
    of_factors = 2 * math.log(2) + 3 * 2 * math.log(4)
    both = quadrant_loss(QuadrantLogits(quadrant, factors), labels, weights, 0.5).item()
    assert both == pytest.approx(plain + 0.5 * of_factors)
