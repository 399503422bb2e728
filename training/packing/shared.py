"""Models over packed rows: sums of log-probabilities of statements, and quadrant logits at their last tokens."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from training.packing.attention import attention_mask, row_multiple
from training.packing.collate import PackedRow, RunData, collate_row
from training.packing.plan import RowPlan
from training.runs.models import backbone_of, base_of, implementation_of

__all__ = ["SharedClassifier", "SharedPolicy"]

HEAD_CHUNK = 1024
"""Positions for which the language-model head is taken at once: bounds the logits, which are large."""


class _Shared(nn.Module):
    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def tensors(self, plan: RowPlan, data: RunData) -> tuple[PackedRow, list[int], torch.Tensor]:
        """Make a planned row's tensors on the model's device; see `collate_row`."""
        device = next(self.model.parameters()).device
        row, order, places = collate_row(plan, data, multiple=row_multiple(implementation_of(self.model)))
        return row.to(device), order, places.to(device)

    def states(self, row: PackedRow) -> torch.Tensor:
        """Return the last layer's states. *Shape:* (n, hidden)."""
        backbone, layout = backbone_of(self.model), {}
        # A statement alone behind its context is read as the model reads any text, whatever its attention is.
        if len(row.last) > 1 or row.input_ids.numel() > sum(row.contexts) + len(row.targets):
            mask = attention_mask(row, implementation_of(self.model), backbone.dtype)
            layout = {"position_ids": row.position_ids, "attention_mask": mask}
        states: torch.Tensor = backbone(input_ids=row.input_ids, use_cache=False, **layout).last_hidden_state[0]
        return states


def _wide_logits(head: Any, states: torch.Tensor) -> torch.Tensor:
    """Return logits in float32 at least: rounded to bfloat16, one of 20 is off by up to 0.06 before its softmax."""
    dtype = torch.promote_types(torch.float32, states.dtype)
    if type(head) is not nn.Linear:
        return head(states).to(dtype)  # type: ignore[no-any-return]
    bias = None if head.bias is None else head.bias.to(dtype)
    # TF32 would round as bfloat16 does, three bits later.
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        with torch.autocast(states.device.type, enabled=False):
            return nn.functional.linear(states.to(dtype), head.weight.to(dtype), bias)
    finally:
        torch.set_float32_matmul_precision(before)


class SharedPolicy(_Shared):
    """A causal language model that gives log pi(statement | context) for all statements of a packed row."""

    def _token_logps(self, states: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        wide = _wide_logits(base_of(self.model).get_output_embeddings(), states)
        logps: torch.Tensor = wide.gather(-1, targets[:, None])[:, 0] - wide.logsumexp(-1)
        return logps

    def forward(self, row: PackedRow) -> torch.Tensor:
        """Return log-probabilities, summed over each statement's tokens. *Shape:* (k,).

        The head is taken at the statements' positions only; its logits are computed again in the backward pass.
        """
        states = self.states(row)[row.predictors]
        chunks = zip(states.split(HEAD_CHUNK), row.targets.split(HEAD_CHUNK), strict=True)
        logps = torch.cat([checkpoint(self._token_logps, *chunk, use_reentrant=False) for chunk in chunks])
        return logps.new_zeros(len(row.last)).index_add(0, row.statement_of, logps)


class SharedClassifier(_Shared):
    """A sequence classifier whose ``score`` head reads each statement's last token in a packed row."""

    def forward(self, row: PackedRow) -> torch.Tensor:
        """Return logits. *Shape:* (k, number of labels)."""
        states = self.states(row)[row.last]
        # A head that is kept in float32 (`keep_head_wide`) is multiplied as it is, too.
        with torch.autocast(states.device.type, enabled=False):
            logits: torch.Tensor = base_of(self.model).score(states)
        return logits if logits.dtype == torch.float64 else logits.float()
