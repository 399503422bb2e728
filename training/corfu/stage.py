"""One stage of CoRFu on packed rows: log-probabilities for its frozen reference, its objective, and its summary."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from training.corfu.data import StageData
from training.corfu.loss import corfu_loss
from training.packing.plan import Item, Step
from training.packing.rows import read_items
from training.packing.shared import SharedPolicy

__all__ = ["LOGGED", "CorfuObjective", "pair_logps", "pair_values", "step_margins", "summary"]

Values = npt.NDArray[np.float64]

LOGGED: tuple[str, ...] = ("margin", "accuracy", "negative", "reward_winner", "reward_loser")
"""Means over pairs: margin S, share of S > 0, share of S < 0, and beta * (log pi - log ref) of winner and loser."""


def pair_logps(
    policy: SharedPolicy,
    data: StageData,
    items: list[Item],
    tokens_per_row: int,
    *,
    autocast: bool = False,
    advance: Callable[[int], None] | None = None,
) -> Values:
    """Return log-probabilities of winners and losers, without dropout; see `read_items`. *Shape:* (n_pairs, 2)."""
    if not items:
        return np.empty((0, 2))
    return read_items(policy, data.run_data(items), tokens_per_row, autocast=autocast, advance=advance).numpy()


def step_margins(
    policy: SharedPolicy, data: StageData, step: Step, reference: Values, beta: float, *, autocast: bool = False
) -> Values:
    """Return the margins of a step's pairs in that step's own rows, without dropout. *Shape:* (n_pairs,).

    Before a stage trains they would be 0 in exact arithmetic: what they are is the noise of the rows' roundings.
    """
    items = sorted(index for row in step.rows for block in row.blocks for index in block.items)
    found = read_items(policy, data.run_data(data.train), 0, rows=step.rows, autocast=autocast)
    _, logged = pair_values(found, torch.from_numpy(reference[items]), beta, 0.0)
    return logged["margin"].numpy()


def pair_values(
    policy: torch.Tensor, reference: torch.Tensor, beta: float, lambda_: float
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """Return CoRFu's losses and what is logged (`LOGGED`). *Shapes:* (n,) each.

    Args:
        policy: log-probabilities of winner and loser. *Shape:* (n, 2).
        reference: the same under the reference. *Shape:* (n, 2).
        beta: DPO's temperature.
        lambda_: weight of the penalty.
    """
    losses, margins = corfu_loss(policy[:, 0], policy[:, 1], reference[:, 0], reference[:, 1], beta, lambda_)
    kept = margins.detach()
    rewards = (beta * (policy - reference)).detach()
    values = (kept, kept > 0, kept < 0, rewards[:, 0], rewards[:, 1])
    return losses, dict(zip(LOGGED, values, strict=True))


class CorfuObjective:
    """CoRFu's loss against reference log-probabilities that were computed before the stage began."""

    logged: tuple[str, ...] = LOGGED

    def __init__(self, reference: Values, beta: float, lambda_: float) -> None:
        self.reference = torch.from_numpy(reference)
        self.beta, self.lambda_ = beta, lambda_

    def __call__(
        self, values: torch.Tensor, items: Sequence[int], places: torch.Tensor
    ) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """Return losses and logged values of a row's pairs; see `training.packing.trainer.Objective`."""
        reference = self.reference[list(items)].to(values.device, values.dtype)
        return pair_values(values[places], reference, self.beta, self.lambda_)


def summary(policy: Values, reference: Values, beta: float, lambda_: float) -> dict[str, Any]:
    """Return loss and logged values averaged over pairs. *Shapes:* (n, 2) each; without pairs only their number."""
    if not len(policy):
        return {"pairs": 0}
    losses, logged = pair_values(torch.from_numpy(policy), torch.from_numpy(reference), beta, lambda_)
    means = {name: float(value.double().mean()) for name, value in {"loss": losses, **logged}.items()}
    return {"pairs": len(policy), **means}
