"""An encoder run layer by layer: the lower layers stay as pretrained and are computed once a text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from ground.errors import UsageError

__all__ = ["LayeredEncoder", "pad"]

PROBE = 12
TOLERANCE = 1e-4


def pad(rows: Sequence[Sequence[int]], pad_id: int, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Return token ids and what is a token. *Shapes:* (n, longest) of int64 and of bool."""
    longest = max(len(row) for row in rows)
    ids = torch.tensor([[*row, *[pad_id] * (longest - len(row))] for row in rows], device=device)
    lengths = torch.tensor([len(row) for row in rows], device=device)
    return ids, torch.arange(longest, device=device) < lengths[:, None]


class LayeredEncoder(nn.Module):
    """A backbone that is laid out as BERT is: ``embeddings``, then ``encoder.layer``, each (states, mask) -> states.

    State 0 is what the embeddings give; state i is what layer i gives.
    """

    def __init__(self, backbone: Any, frozen_layers: int) -> None:
        """Freeze the embeddings and the lowest layers.

        Raises:
            UsageError: the backbone is laid out otherwise, or has no layer left to train.
        """
        super().__init__()
        config = backbone.config
        if not hasattr(backbone, "embeddings") or not hasattr(getattr(backbone, "encoder", None), "layer"):
            raise _other_layout(config)
        self.config = config
        self.embeddings = backbone.embeddings
        self.layers = backbone.encoder.layer
        self.frozen_layers = frozen_layers
        if frozen_layers >= len(self.layers):
            raise UsageError(
                "no layer is left to train",
                found=f"frozen_layers = {frozen_layers}, the model has {len(self.layers)} layers",
                expected=f"frozen_layers below {len(self.layers)}",
            )
        self._check_against(backbone)
        for module in (self.embeddings, *self.layers[:frozen_layers]):
            module.requires_grad_(False)

    @property
    def width(self) -> int:
        """Length of a state."""
        return int(self.config.hidden_size)

    @torch.no_grad()
    def _check_against(self, backbone: Any) -> None:
        """Refuse a backbone that does more than run its layers in order."""
        backbone.eval()
        first = 1 + (self.config.pad_token_id or 0)
        ids = torch.arange(PROBE) % (self.config.vocab_size - first) + first
        ids, there = pad([ids.tolist(), ids[: PROBE // 2].tolist()], self.config.pad_token_id or 0, torch.device("cpu"))
        try:
            whole = backbone(input_ids=ids, attention_mask=there.long()).last_hidden_state[there]
            ours = self.upper(self.lower(ids, there)[-1], there, start=self.frozen_layers)[there]
        except (TypeError, ValueError, RuntimeError, AttributeError) as error:
            raise _other_layout(self.config) from error
        if not torch.allclose(whole, ours, atol=TOLERANCE):
            raise _other_layout(self.config)

    def _mask(self, states: torch.Tensor, there: torch.Tensor) -> Any:
        from transformers.masking_utils import create_bidirectional_mask

        return create_bidirectional_mask(config=self.config, inputs_embeds=states, attention_mask=there.long())

    @torch.no_grad()
    def lower(self, ids: torch.Tensor, there: torch.Tensor) -> list[torch.Tensor]:
        """Return the states 0 to ``frozen_layers``, without dropout whatever the mode.

        *Shapes:* ``ids``, ``there`` (n, t); each state (n, t, width).
        """
        frozen = [self.embeddings, *self.layers[: self.frozen_layers]]
        for module in frozen:
            module.eval()
        states = [self.embeddings(input_ids=ids)]
        mask = self._mask(states[0], there)
        for layer in frozen[1:]:
            states.append(layer(states[-1], mask))
        return states

    def upper(self, states: torch.Tensor, there: torch.Tensor, start: int) -> torch.Tensor:
        """Run the layers from ``start`` up. *Shapes:* (n, t, width), (n, t) to (n, t, width)."""
        mask = self._mask(states, there)
        for layer in self.layers[start:]:
            states = layer(states, mask)
        return states


def _other_layout(config: Any) -> UsageError:
    return UsageError(
        "the late engine cannot run this model layer by layer",
        found=str(config.model_type),
        expected="an encoder laid out as BERT is (bert, roberta, xlm-roberta, camembert, ...)",
        do="engine = cross takes any encoder with a classification head",
    )
