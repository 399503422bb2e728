"""Settings of the MedHal and MedVAL builders: what decides the rows. How a model is asked: `ground.lm`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ground.settings_base import Section

__all__ = ["MedhalSettings", "MedvalSettings", "SourceSplits"]

SourceSplits = Literal["train", "validation", "test", "all"]


class MedhalSettings(Section):
    """How MedHal rows are made."""

    seed: int = Field(default=42, description="seed of every choice")
    splits: SourceSplits = Field(
        default="train", description="splits of the sources that are used; the paper uses their training splits only"
    )
    min_sentence_chars: int = Field(
        default=100, ge=1, description="characters of a summary's sentence from which on it may be changed"
    )
    pairs_per_summary: int = Field(default=1, ge=1, description="sentences of a summary that are changed, one a pair")
    max_chars: int = Field(
        default=30_000, ge=1, description="characters of context and statement below which a row is length-filtered"
    )
    judge: bool = Field(default=True, description="keep only pairs whose labels a judge confirms")


class MedvalSettings(Section):
    """How MedVAL triples are made."""

    seed: int = Field(default=42, description="seed of every choice")
    splits: SourceSplits = Field(default="all", description="splits of the sources that are used")
    tau: float = Field(default=0.9, ge=0, le=1, description="consistency M_MedVAL from which on a triple is kept")
    max_inputs_per_task: int | None = Field(
        default=None, ge=1, description="inputs of a task, at most, by lowest hash; the paper trains on 500 a task"
    )
    redraw: bool = Field(
        default=True,
        description="take the next level in the input's own order where the engine has no edit of the level drawn",
    )
