"""One stage of CoRFu: its pairs as items of packed rows, what the frozen reference says, its objective, its summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from evaluation.datasets import MedievalDataset
from ground.contracts.splits import Split
from ground.errors import InputError
from training.corfu.loss import corfu_loss
from training.corfu.pairs import REGIMES, Stage, StagePairs, pair_items, stage_pairs
from training.packing.collate import RunData
from training.packing.packed_rows import encode_admissions, item_values, row_values
from training.packing.plan import Step
from training.packing.shared import SharedPolicy
from training.packing.tokens import Truncation, encode_statements
from training.runs.folder import Run
from training.runs.settings import CorfuSettings

__all__ = [
    "LOGGED",
    "CorfuObjective",
    "CorfuStage",
    "Policy",
    "corfu_stages",
    "pair_logps",
    "pair_values",
    "step_margins",
    "summary",
]

Values = npt.NDArray[np.float64]

LOGGED: tuple[str, ...] = ("margin", "accuracy", "negative", "reward_winner", "reward_loser")
"""Means over pairs: margin S, share of S > 0, share of S < 0, and beta * (log pi - log ref) of winner and loser."""


@dataclass(frozen=True)
class CorfuStage:
    """One stage: the name of its files and progress, its pairs, and those that train and validate as items."""

    name: str
    pairs: StagePairs
    train: RunData
    validation: RunData


@dataclass(frozen=True)
class Policy:
    """What the stages of a run share: the policy that they train one after the other."""

    model: Any
    tokenizer: Any
    run: Run
    references: Path

    @cached_property
    def shared(self) -> SharedPolicy:
        """The policy over packed rows, one for all stages."""
        return SharedPolicy(self.model)


def corfu_stages(
    dataset: MedievalDataset, tokenizer: Any, settings: CorfuSettings, max_length: int
) -> tuple[list[CorfuStage], Truncation]:
    """Choose the pairs of each stage of the regime, and encode their texts once for all stages.

    A packed row holds a context with both statements of a pair, each closed by the end-of-text token, so that contexts
    leave room for two of the longest. A stage may have no pairs to validate on.

    Returns:
        The stages, and what cutting the contexts cost.

    Raises:
        UsageError: ``max_length`` leaves no room for a context.
        InputError: a stage has no pair to train on.
    """
    texts = dataset.rows["statement"].unique().sort().to_list()
    statements = encode_statements(tokenizer, texts, end=True)
    place = {text: index for index, text in enumerate(texts)}
    tested = dataset.in_split("test", settings.split_column)
    used, room = dataset.rows.filter(~tested), max_length - 2 * int(statements.lengths.max())
    chat = settings.packing.chat_template
    contexts, context_of, truncation = encode_admissions(dataset, used, tokenizer, max_tokens=room, chat=chat)

    def chosen(split: Split, stage: Stage) -> tuple[StagePairs, RunData]:
        rows = dataset.rows.filter(dataset.in_split(split, settings.split_column))
        pairs = stage_pairs(rows, stage, pairs_per_winner=settings.pairs_per_winner, seed=settings.seed)
        items = pair_items(pairs, context_of, place)
        return pairs, RunData.alike(contexts, statements, items, tokenizer.pad_token_id)

    stages = []
    for number, stage in enumerate(REGIMES[settings.regime], 1):
        pairs, train = chosen("train", stage)
        try:
            _, validation = chosen("validation", stage)
        except InputError:
            validation = replace(train, items=[], weights=np.ones(0))
        stages.append(CorfuStage(f"stage-{number}", pairs, train, validation))
    return stages, truncation


def pair_logps(policy: SharedPolicy, data: RunData, tokens_per_row: int, **options: Any) -> Values:
    """Return log-probabilities of winners and losers, without dropout; see `item_values`. *Shape:* (n_pairs, 2)."""
    return item_values(policy, data, tokens_per_row, **options).numpy() if data.items else np.empty((0, 2))


def step_margins(
    policy: SharedPolicy, data: RunData, step: Step, reference: Values, beta: float, *, autocast: bool = False
) -> Values:
    """Return the margins of a step's pairs in that step's own rows, without dropout. *Shape:* (n_pairs,).

    Before a stage trains they would be 0 in exact arithmetic: what they are is the noise of the rows' roundings.
    """
    policy_values = row_values(policy, data, step.rows, autocast=autocast)
    _, logged = pair_values(policy_values, torch.from_numpy(reference[sorted(step.items)]), beta, 0.0)
    return logged["margin"].numpy()


def pair_values(
    policy: torch.Tensor, reference: torch.Tensor, beta: float, lambda_: float
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """Return CoRFu's losses and what is logged (`LOGGED`). *Shapes:* (n,) each.

    ``policy`` and ``reference`` are log-probabilities of winner and loser, *shape* (n, 2); the rest as of `corfu_loss`.
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
