"""The cross engine: every statement is read together with every window of its context, as encoders usually do it.

Any ``AutoModelForSequenceClassification`` that is no decoder; logits are pooled over windows by maximum. Slow by
design: the honest yardstick of the late engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from training.encoder.quadrant_head import QuadrantLogits
from training.encoder.windows import EncodedRows

__all__ = ["CrossModel"]


class CrossModel(nn.Module):
    """A sequence classifier over (statement, window) pairs."""

    def __init__(self, model: Any, tokenizer: Any, window_tokens: int, overlap_tokens: int) -> None:
        super().__init__()
        self.model = model
        self._tokenizer = tokenizer
        self._window_tokens = window_tokens
        self._overlap_tokens = overlap_tokens

    def pairs(self, rows: EncodedRows, indices: Sequence[int]) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
        """Return the encoder's inputs, one row a window, and which statement each belongs to.

        A statement takes at most half of a window; the windows tile the whole context (the tokenizer's own overflow).
        """
        half = self._window_tokens // 2 - 2
        statements = self._tokenizer(
            [rows.texts[i] for i in indices],
            add_special_tokens=False,
            split_special_tokens=True,
            truncation=True,
            max_length=half,
        )["input_ids"]
        texts = self._tokenizer.batch_decode(statements) if max(map(len, statements)) >= half else None
        encoded = self._tokenizer(
            texts or [rows.texts[i] for i in indices],
            [rows.contexts[rows.admissions[i]] for i in indices],
            split_special_tokens=True,
            truncation="only_second",
            max_length=self._window_tokens,
            stride=min(self._overlap_tokens, self._window_tokens // 4),
            return_overflowing_tokens=True,
            padding=True,
            return_tensors="pt",
        )
        return encoded, encoded.pop("overflow_to_sample_mapping")

    def forward(self, rows: EncodedRows, indices: Sequence[int]) -> QuadrantLogits:
        """Judge rows; their logits have *shape* (n, 4)."""
        inputs, owner = self.pairs(rows, indices)
        device = next(self.parameters()).device
        names = self._tokenizer.model_input_names
        logits = self.model(**{name: inputs[name].to(device) for name in names if name in inputs}).logits
        index = owner.to(device)[:, None].expand_as(logits)
        pooled = logits.new_full((len(indices), logits.shape[1]), -torch.inf)
        return QuadrantLogits(pooled.scatter_reduce(0, index, logits, reduce="amax"))
