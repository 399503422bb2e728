"""Settings of the encoder classifiers; the defaults are what the demo trains on two cores."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from evaluation.quadrants.dataset import SPLIT_COLUMN, SPLITS_IN_WORDS
from ground.settings import Section

__all__ = ["EncoderSettings"]


class EncoderSettings(Section):
    """An encoder and its quadrant head. No setting is a time limit: results do not depend on the machine."""

    engine: Literal["late", "cross"] = Field(
        default="late", description="late: a context is read once; cross: once with every statement, as usual"
    )
    seed: int = Field(default=42, ge=0, lt=2**32, description="seed of order, dropout and new weights")
    epochs: int = Field(default=3, ge=1, description="passes over the training split")
    batch_size: int = Field(default=64, ge=1, description="statements in one optimizer step")
    statements_per_forward: int = Field(
        default=64,
        ge=1,
        description="statements in one forward pass: memory, not results (but for the draws of dropout)",
    )
    split_column: str = Field(default="split", pattern=SPLIT_COLUMN, description=SPLITS_IN_WORDS)
    class_weights: Literal["balanced", "none"] = Field(
        default="balanced", description="weights of the cross entropy: inverse frequency in the training split, or none"
    )
    factor_weight: float = Field(
        default=0.5, ge=0, description="weight of the losses of the two factors, true and supported (late engine)"
    )
    learning_rate: float = Field(default=5e-4, gt=0, description="peak learning rate of the pretrained layers")
    head_learning_rate: float = Field(default=1e-3, gt=0, description="peak learning rate of the new layers")
    weight_decay: float = Field(default=0.01, ge=0, description="AdamW's weight decay")
    warmup_ratio: float = Field(default=0.1, ge=0, lt=1, description="share of the steps that warm up")
    max_grad_norm: float = Field(default=1.0, gt=0, description="gradients are clipped to this norm")
    dropout: float = Field(default=0.1, ge=0, lt=1, description="dropout of the layers that are trained")
    window_tokens: int = Field(default=512, ge=16, description="tokens of a window over the context, marks included")
    overlap_tokens: int = Field(default=64, ge=0, description="tokens that two neighbouring windows share")
    frozen_layers: int = Field(
        default=5, ge=0, description="lowest layers that stay as pretrained; a context is read by these only (late)"
    )
    match_layers: tuple[int, ...] = Field(
        default=(0, 3, 5),
        min_length=1,
        description="layers whose states are matched, 0 being the embeddings; none above frozen_layers (late)",
    )
    cache_gib: float = Field(
        default=4.0, ge=0, description="memory for states of frozen layers; above it they are computed again (late)"
    )
    device: Literal["auto", "cpu", "cuda"] = Field(default="auto", description="auto takes a GPU where there is one")

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.overlap_tokens > self.window_tokens // 2:
            raise ValueError("overlap_tokens is at most half of window_tokens")
        if list(self.match_layers) != sorted(set(self.match_layers)) or self.match_layers[0] < 0:
            raise ValueError("match_layers are ascending numbers from 0")
        if self.match_layers[-1] > self.frozen_layers:
            raise ValueError("match_layers are at most frozen_layers")
        return self
