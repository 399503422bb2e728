"""CoRFu's loss against numbers worked by hand."""

from __future__ import annotations

import pytest
import torch
from torch.nn.functional import logsigmoid

from training.corfu.loss import corfu_loss


def loss_of(policy: tuple[float, float], reference: tuple[float, float], beta: float, lambda_: float) -> list[float]:
    """Return loss, margin, and the gradients of the loss by the winner's and the loser's log-probability."""
    winner, loser = (torch.tensor([value], dtype=torch.float64, requires_grad=True) for value in policy)
    ref_w, ref_l = (torch.tensor([value], dtype=torch.float64) for value in reference)
    losses, margins = corfu_loss(winner, loser, ref_w, ref_l, beta, lambda_)
    losses.sum().backward()
    assert winner.grad is not None
    assert loser.grad is not None
    return [float(value.detach()) for value in (losses, margins, winner.grad, loser.grad)]


def test_a_pair_ranked_right_has_the_loss_of_dpo() -> None:
    # Winner: -10 - -12 = 2. Loser: -14 - -11 = -3. S = 0.1 * (2 - -3) = 0.5.
    # -log sigmoid(0.5) = log(1 + exp(-0.5)) = log 1.6065306597 = 0.4740769842; no penalty.
    # dL/dS = sigmoid(0.5) - 1 = -0.3775406688; by the winner times 0.1, by the loser times -0.1.
    expected = [0.4740769842, 0.5, -0.03775406688, 0.03775406688]
    assert loss_of((-10, -14), (-12, -11), 0.1, 0.5) == pytest.approx(expected, rel=1e-9)


def test_a_pair_ranked_wrong_pays_the_square_of_its_margin() -> None:
    # Winner: -14 - -12 = -2. Loser: -8 - -11 = 3. S = 0.1 * (-2 - 3) = -0.5.
    # log(1 + exp(0.5)) = log 2.6487212707 = 0.9740769842; penalty 0.5 * 0.25 = 0.125; together 1.0990769842.
    # dL/dS = (sigmoid(-0.5) - 1) + 2 * 0.5 * -0.5 = -0.6224593312 - 0.5 = -1.1224593312.
    expected = [1.0990769842, -0.5, -0.11224593312, 0.11224593312]
    assert loss_of((-14, -8), (-12, -11), 0.1, 0.5) == pytest.approx(expected, rel=1e-9)


def test_at_the_reference_the_penalty_is_zero_and_flat() -> None:
    # S = 0: log 2 = 0.6931471806, dL/dS = 0.5 - 1 = -0.5, whatever lambda is.
    for lambda_ in (0.0, 0.5, 7.0):
        assert loss_of((-3, -4), (-3, -4), 0.1, lambda_) == pytest.approx([0.6931471806, 0.0, -0.05, 0.05], rel=1e-9)


def test_the_penalty_grows_with_the_square_of_the_margin() -> None:
    # S = -1 and S = -2 with lambda 2: penalties 2 and 8 over DPO's 1.3132616875 and 2.1269280110.
    for margin, expected in ((-1.0, 3.3132616875), (-2.0, 10.1269280110)):
        assert loss_of((margin, 0), (0, 0), 1.0, 2.0)[0] == pytest.approx(expected, rel=1e-9)


def test_without_penalty_it_is_the_sigmoid_loss_of_dpo() -> None:
    generator = torch.Generator().manual_seed(0)
    winner, loser, ref_w, ref_l = (torch.randn(4, 50, generator=generator, dtype=torch.float64) * 20).unbind()
    losses, margins = corfu_loss(winner, loser, ref_w, ref_l, beta=0.3, lambda_=0.0)
    assert torch.allclose(losses, -logsigmoid(0.3 * (winner - loser - ref_w + ref_l)), rtol=1e-12)
    assert (margins < 0).any()


def test_losses_are_per_pair_and_need_no_batch() -> None:
    winner, loser = torch.tensor([-10.0, -14.0]), torch.tensor([-14.0, -8.0])
    losses, margins = corfu_loss(winner, loser, torch.full((2,), -12.0), torch.full((2,), -11.0), 0.1, 0.5)
    assert losses.tolist() == pytest.approx([0.47407698, 1.09907698])
    assert margins.tolist() == pytest.approx([0.5, -0.5])


def test_margins_far_off_give_finite_losses_and_gradients() -> None:
    for value in (-1e4, 1e4):
        assert all(abs(number) < 1e9 for number in loss_of((value, 0), (0, 0), 1.0, 0.5))
