"""CoRFu's loss: DPO with an asymmetric penalty on pairs that are ranked the wrong way (MediEval, section 3.3)."""

from __future__ import annotations

import torch
from torch.nn.functional import logsigmoid

__all__ = ["corfu_loss"]


def corfu_loss(
    policy_w: torch.Tensor,
    policy_l: torch.Tensor,
    ref_w: torch.Tensor,
    ref_l: torch.Tensor,
    beta: float,
    lambda_: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the loss and the margin of each pair; eq. 10 and 11 of MediEval.

    S = beta * [(log pi(w) - log ref(w)) - (log pi(l) - log ref(l))] and L = -log sigmoid(S) + lambda * 1[S < 0] * S^2.
    With lambda 0 it is the sigmoid loss of DPO. The penalty has slope 0 at S = 0, where a stage begins.

    Args:
        policy_w: log-probabilities of the winners under the policy, summed over their tokens. *Shape:* (n,).
        policy_l: the same of the losers. *Shape:* (n,).
        ref_w: of the winners under the reference. *Shape:* (n,).
        ref_l: of the losers under the reference. *Shape:* (n,).
        beta: DPO's temperature.
        lambda_: weight of the penalty.

    Returns:
        Losses and margins S. *Shapes:* (n,) each.
    """
    margins = beta * ((policy_w - ref_w) - (policy_l - ref_l))
    return -logsigmoid(margins) + lambda_ * margins.clamp(max=0).square(), margins
