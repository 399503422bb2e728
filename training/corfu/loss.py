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

    ``policy_w``, ``policy_l``, ``ref_w`` and ``ref_l`` are log-probabilities of winners and losers under the policy and
    the reference, summed over their tokens; ``beta`` is DPO's temperature, ``lambda_`` the weight of the penalty.
    *Shapes:* (n,) each, losses and margins too.
    """
    margins = beta * ((policy_w - ref_w) - (policy_l - ref_l))
    return -logsigmoid(margins) + lambda_ * margins.clamp(max=0).square(), margins
