"""Quadrants as two factors, true and supported, and what their combination adds; and their loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from evaluation.rates import SUPPORTED, TRUE
from ground.contracts.rows import QUADRANTS

__all__ = ["QuadrantHead", "QuadrantLogits", "quadrant_loss"]

N = len(QUADRANTS)


@dataclass(frozen=True)
class QuadrantLogits:
    """What a model says of statements. *Shapes:* ``quadrant`` (n, 4), ``factors`` (n, 2) or None: true, supported."""

    quadrant: torch.Tensor
    factors: torch.Tensor | None = None


class QuadrantHead(nn.Module):
    """Four logits: the log-probabilities of two independent factors, plus a free part for what they miss."""

    def __init__(self, width_in: int, width: int, dropout: float) -> None:
        super().__init__()
        self.hidden = nn.Sequential(nn.Linear(width_in, width), nn.GELU(), nn.Dropout(dropout))
        self.factors = nn.Linear(width, 2)
        self.combined = nn.Linear(width, N)
        nn.init.zeros_(self.combined.weight)
        nn.init.zeros_(self.combined.bias)

    def forward(self, pooled: torch.Tensor) -> QuadrantLogits:
        """Judge statements. *Shape:* (n, width_in)."""
        hidden = self.hidden(pooled)
        factors = self.factors(hidden)
        yes, no = functional.logsigmoid(factors), functional.logsigmoid(-factors)
        true = torch.stack([yes[:, 0], yes[:, 0], no[:, 0], no[:, 0]], dim=1)
        supported = torch.stack([yes[:, 1], no[:, 1], yes[:, 1], no[:, 1]], dim=1)
        return QuadrantLogits(true + supported + self.combined(hidden), factors)


def quadrant_loss(
    logits: QuadrantLogits, labels: torch.Tensor, weights: torch.Tensor, factor_weight: float
) -> torch.Tensor:
    """Return the weighted sum of the losses of statements; divide by the weights of the step's rows for its mean.

    Cross entropy over quadrants, plus ``factor_weight`` times the binary cross entropy of each factor.

    *Shapes:* ``labels`` (n,) of 0 to 3; ``weights`` (4,); the result is a number.
    """
    each = functional.cross_entropy(logits.quadrant, labels, reduction="none")
    if logits.factors is not None and factor_weight:
        wanted = logits.factors.new_tensor(np.stack([TRUE, SUPPORTED], axis=1))[labels]
        factors = functional.binary_cross_entropy_with_logits(logits.factors, wanted, reduction="none")
        each = each + factor_weight * factors.sum(dim=1)
    return (weights[labels] * each).sum()
