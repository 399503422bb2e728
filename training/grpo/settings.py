"""Settings of GRPO; defaults are those of arXiv 2512.19691, appendix E.

The text of that appendix names the quantities; its numbers are taken from the authors' published configuration of the
same experiment. What neither says is marked assumed.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ground.lm.sampling import BATCHING, Batching
from ground.settings import Section
from training.runs.settings import HardwareSettings, LoraSettings, OptimizerSettings

__all__ = ["GrpoSettings", "RewardSettings"]


class RewardSettings(Section):
    """What a response is worth."""

    rule: Literal["paper", "released"] = Field(
        default="paper", description="paper: the paper's rule; released: what the authors' code does"
    )
    correct: float = Field(default=1.0, description="a right answer, or a right abstention")
    wrong: float = Field(default=0.1, description="an answer that can be read and is wrong")
    format_error: float = Field(default=0.0, description="no answer that can be read")


class GrpoSettings(Section):
    """How both arms are trained and evaluated."""

    seed: int = Field(
        default=42,
        ge=0,
        lt=2**32,
        description="seed of order, sampling and new weights, the same in every arm (assumed)",
    )
    epochs: int = Field(default=9, ge=1, description="passes over the training rows")
    prompts_per_step: int = Field(default=128, ge=1, description="rows in one optimizer step")
    group: int = Field(default=8, ge=2, description="responses that are sampled for each row of a step")
    per_device_batch_size: int = Field(default=2, ge=1, description="responses in one forward pass (assumed)")
    generation_batch_size: int = Field(default=64, ge=1, description="responses that are sampled at once (assumed)")
    batching: Batching = Field(default="padded", description=BATCHING)
    kl_beta: float = Field(default=0.001, ge=0, description="weight of the KL divergence from the base model")
    temperature: float = Field(default=1.0, gt=0, description="of sampling, in training and evaluation")
    top_p: float = Field(default=1.0, gt=0, le=1, description="of sampling, in training and evaluation")
    max_prompt_tokens: int = Field(
        default=3000, ge=16, description="rows with a longer prompt are left out and counted"
    )
    max_new_tokens: int = Field(default=1600, ge=1, description="tokens of a response, at most")
    thinking: bool = Field(default=True, description="whether a chat template that knows it lets the model think first")
    holdout: float = Field(
        default=0.2, ge=0, lt=1, description="share of rows kept for evaluation, beside the reviewed ones (assumed)"
    )
    rows: int = Field(default=0, ge=0, description="train on so many rows, a stable choice; 0: all")
    evaluate_rows: int = Field(default=0, ge=0, description="evaluate on so many rows of each set of labels; 0: all")
    evaluate_base: bool = Field(default=True, description="evaluate the base model too")
    evaluate_every: int = Field(
        default=0, ge=0, description="steps between evaluations in training; 0: at the end only"
    )
    reward: RewardSettings = RewardSettings()
    # The paper trains all weights; 8 billion of them, with the reference's copy, take more than 80 GiB.
    lora: LoraSettings = LoraSettings(r=16, alpha=32, dropout=0.0)
    optimizer: OptimizerSettings = OptimizerSettings(
        learning_rate=1e-5, warmup_ratio=0.0, schedule="constant_with_warmup"
    )
    hardware: HardwareSettings = HardwareSettings(gradient_checkpointing=True, save_steps=10)
