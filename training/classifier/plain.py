"""The plain engine: one statement a row, its context encoded for every statement, several rows padded to one length.

It is for decoders that cannot share contexts (sliding windows), and the yardstick of the engine that does. It takes the
same optimizer steps, with the same tokens and weights: to rounding, both give the same model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

from training.packing.collate import Rows, RunData
from training.packing.plan import Block, RowPlan, Step
from training.packing.rows import read_rows

__all__ = ["PlainClassifier", "PlainRows", "evaluate_plain", "largest_batch", "plain_steps"]

ROWS_AT_ONCE = 4
"""Rows of one forward pass; MediEval, appendix D: batches of 4, 8 of them accumulated."""


@dataclass(frozen=True)
class PlainRows(Rows):
    """Rows of one statement each, padded on the right. *Shapes:* (n_rows, longest) each."""

    input_ids: torch.Tensor
    attention_mask: torch.Tensor

    @classmethod
    def of(cls, items: Sequence[int], data: RunData) -> PlainRows:
        """Lay each item out in a row of its own."""
        chosen = [data.items[index] for index in items]
        parts = [(data.contexts[item.context], data.statements[item.statements[0]]) for item in chosen]
        texts = [torch.from_numpy(np.concatenate(part)) for part in parts]
        seen = pad_sequence([torch.ones_like(text) for text in texts], batch_first=True)
        return cls(pad_sequence(texts, batch_first=True, padding_value=data.pad_id), seen)


class PlainClassifier(nn.Module):
    """A sequence classifier as transformers has it, each statement behind its own copy of its context."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def tensors(self, plan: RowPlan, data: RunData) -> tuple[PlainRows, list[int], torch.Tensor]:
        """Make the tensors of the items of a pass on the model's device, as `SharedClassifier.tensors` does."""
        rows, device = PlainRows.of(plan.items, data), next(self.model.parameters()).device
        places = torch.arange(len(plan.items), device=device)[:, None]
        return rows.to(device), plan.items, places

    def forward(self, rows: PlainRows) -> torch.Tensor:
        """Return logits. *Shape:* (n_rows, number of labels)."""
        logits: torch.Tensor = self.model(input_ids=rows.input_ids, attention_mask=rows.attention_mask).logits
        return logits if logits.dtype == torch.float64 else logits.float()


def _passes(indices: Sequence[int], data: RunData, rows_at_once: int) -> tuple[RowPlan, ...]:
    blocks = [Block(data.items[index].context, (index,)) for index in indices]
    return tuple(RowPlan(tuple(blocks[at : at + rows_at_once])) for at in range(0, len(blocks), rows_at_once))


def plain_steps(plan: Sequence[Step], data: RunData, rows_at_once: int = ROWS_AT_ONCE) -> list[Step]:
    """Return the same steps in passes of so many rows of one statement each."""
    return [Step(_passes(step.items, data, rows_at_once)) for step in plan]


def _length(index: int, data: RunData) -> int:
    item = data.items[index]
    return int(data.contexts.lengths[item.context] + data.statements.lengths[item.statements[0]])


def largest_batch(data: RunData, plan: Sequence[Step]) -> PlainRows:
    """Return a pass of the longest row of a plan, as many times as rows stand in one."""
    items = sorted({index for step in plan for index in step.items})
    return PlainRows.of([max(items, key=lambda index: _length(index, data))] * ROWS_AT_ONCE, data)


def evaluate_plain(
    model: Any, data: RunData, rows_at_once: int = ROWS_AT_ONCE, advance: Callable[[int], None] = lambda _: None
) -> torch.Tensor:
    """Return logits in the order of the items, without dropout; rows of like length meet, so that little is padded.

    *Shape:* (n_items, 4), float64 on the CPU.
    """
    order = sorted(range(len(data.items)), key=lambda index: _length(index, data))
    return read_rows(PlainClassifier(model), data, _passes(order, data, rows_at_once), advance=advance).flatten(0, 1)
