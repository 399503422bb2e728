"""Settings of training: one TOML file for each run, frozen and typed; the defaults are the papers' own.

MediEval: section 4 and appendix D (Qu and Faerber). MedHal: appendix C. MedVAL: supplement S2.2. GRPO: arXiv
2512.19691, appendix E, which names the quantities; its numbers are those of the authors' published configuration of the
same experiment. Encoders: what the demo trains on two cores.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from ground.contracts.splits import SPLIT_COLUMN, SPLITS_IN_WORDS, Version
from ground.lm.sampling import BATCHING, Batching
from ground.settings import Section

__all__ = [
    "ClassifierSettings",
    "CorfuSettings",
    "EncoderSettings",
    "GenerationSettings",
    "GrpoSettings",
    "HardwareSettings",
    "LoraSettings",
    "MedhalSettings",
    "MedvalSettings",
    "OptimizerSettings",
    "PackingSettings",
    "SftSettings",
]


Seed = Annotated[int, Field(ge=0, lt=2**32, description="seed of order, dropout and new weights")]
SplitColumn = Annotated[str, Field(pattern=SPLIT_COLUMN, description=SPLITS_IN_WORDS)]
ClassWeights = Annotated[
    Literal["balanced", "none"],
    Field(description="weights of the cross entropy: inverse frequency in the training split, or none"),
]


class LoraSettings(Section):
    """Low-rank adapters (PEFT); rank 0 trains every weight."""

    r: int = Field(default=8, ge=0, description="rank; 0 trains all weights")
    alpha: int = Field(default=16, ge=1, description="scale of the adapter")
    dropout: float = Field(default=0.05, ge=0, lt=1, description="dropout before the adapter")
    target_modules: tuple[str, ...] = Field(
        default=("all-linear",), description="names of the layers that get an adapter; all-linear means every one"
    )


class OptimizerSettings(Section):
    """AdamW and its schedule."""

    learning_rate: float = Field(default=2e-5, gt=0, description="peak learning rate")
    beta1: float = Field(default=0.9, ge=0, lt=1, description="AdamW's beta 1")
    beta2: float = Field(default=0.999, ge=0, lt=1, description="AdamW's beta 2")
    weight_decay: float = Field(default=0.01, ge=0, description="AdamW's weight decay")
    warmup_ratio: float = Field(default=0.03, ge=0, lt=1, description="share of the steps that warm up")
    schedule: Literal["linear", "cosine", "constant_with_warmup"] = Field(
        default="linear", description="what the learning rate does after the warm-up"
    )
    max_grad_norm: float = Field(default=1.0, gt=0, description="gradients are clipped to this norm")
    optimizer: str = Field(default="adamw_torch", description="transformers' name of the optimizer")


class PackingSettings(Section):
    """How statements share the encoding of their context."""

    max_length: int = Field(default=4096, ge=16, description="tokens of one context with one statement, at most")
    tokens_per_row: int = Field(
        default=8192, ge=16, description="tokens of one packed row (contexts and all their statements), at most"
    )
    max_per_context: int = Field(
        default=8, ge=1, description="pairs, or statements, of one admission in one optimizer step, at most"
    )
    chat_template: bool = Field(
        default=False, description="put context and statement into the tokenizer's chat template, for instruct models"
    )


class HardwareSettings(Section):
    """How the machine is used."""

    device: Literal["auto", "cpu", "cuda"] = Field(default="auto", description="auto takes a GPU where there is one")
    precision: Literal["auto", "float32", "bfloat16", "float64"] = Field(
        default="auto", description="auto: bfloat16 on a GPU that has it, float32 elsewhere"
    )
    attention: Literal["auto", "split", "sdpa", "flex_attention", "eager", "flash_attention_2", "flash_attention_3"] = (
        Field(
            default="auto",
            description="auto: flex_attention on CUDA, split (SDPA, its mask on statements only) elsewhere; "
            "flash_attention_2 and 3 are for rows of one text",
        )
    )
    gradient_checkpointing: Literal["auto"] | bool = Field(
        default="auto",
        description="compute activations again in the backward pass: less memory, about a third slower; "
        "auto: where the largest step would not fit otherwise",
    )
    compile: Literal["auto"] | bool = Field(
        default="auto",
        description="compile a decoder's layers for packed rows: about a third faster, 40 seconds more to begin; "
        "auto: on CUDA with flex_attention and dense weights that are neither quantized nor split",
    )
    quantize: Literal["none", "nf4"] = Field(default="none", description="nf4: QLoRA's 4-bit base weights")
    save_steps: int = Field(default=200, ge=1, description="optimizer steps between two checkpoints")
    rehearsal: int = Field(
        default=0, ge=0, description="end after so many steps, which a study's plan times; 0: train to the end"
    )
    split_weights: bool = Field(
        default=False,
        description="several processes share out weights, gradients and optimizer states while steps are taken (FSDP)",
    )
    memory_margin: float = Field(
        default=0.9, gt=0, le=1, description="share of the memory that the estimate may fill before a warning"
    )


class ClassifierSettings(Section):
    """Quadrant classifier; the paper's appendix D (batch 4 x 8 accumulated statements, 3 epochs)."""

    seed: Seed = 42
    epochs: float = Field(default=3, gt=0, description="passes over the training split")
    batch_size: int = Field(default=32, ge=1, description="statements in one optimizer step, over all processes")
    split_column: SplitColumn = "split"
    class_weights: ClassWeights = "balanced"
    lora: LoraSettings = LoraSettings()
    optimizer: OptimizerSettings = OptimizerSettings()
    packing: PackingSettings = PackingSettings(max_per_context=16)
    hardware: HardwareSettings = HardwareSettings()


class CorfuSettings(Section):
    """CoRFu, a risk-aware DPO (section 3.3 and appendix D; batch 1 x 16 accumulated pairs, 1 epoch)."""

    seed: Seed = 42
    regime: Literal["q1_q2", "q1_q3", "q1_q4", "mixed", "curriculum"] = Field(
        default="q1_q2", description="which quadrants Q1 is preferred to; curriculum: Q2, then Q3, then Q4"
    )
    beta: float = Field(default=0.1, gt=0, description="DPO's temperature")
    lambda_: float = Field(
        default=0.5, ge=0, alias="lambda", description="weight of the penalty on negative margins; 0 is DPO"
    )
    epochs: float = Field(default=1, gt=0, description="passes over the pairs of each stage")
    batch_size: int = Field(default=16, ge=1, description="pairs in one optimizer step, over all processes")
    split_column: SplitColumn = "split"
    pairs_per_winner: int = Field(
        default=1, ge=1, description="losers that one Q1 statement meets in one stage, at most"
    )
    lora: LoraSettings = LoraSettings(r=16, alpha=32, dropout=0.1)
    optimizer: OptimizerSettings = OptimizerSettings(learning_rate=1e-4, warmup_ratio=0.05)
    packing: PackingSettings = PackingSettings()
    hardware: HardwareSettings = HardwareSettings()


class SftSettings(Section):
    """What MedHal's and MedVAL's fine-tuning share."""

    seed: Seed = 42
    epochs: float = Field(default=1, gt=0, description="passes over the training split")
    batch_size: int = Field(default=16, ge=1, description="rows in one optimizer step, over all processes")
    per_device_batch_size: int = Field(default=2, ge=1, description="rows in one forward pass")
    max_length: int = Field(default=8192, ge=16, description="tokens of a row; longer rows are left out and counted")
    tasks: tuple[str, ...] = Field(default=(), description="train on these tasks only; empty: all")
    lora: LoraSettings = LoraSettings(r=16, alpha=16, dropout=0.0)
    optimizer: OptimizerSettings = OptimizerSettings(learning_rate=2e-4, optimizer="paged_adamw_8bit")
    hardware: HardwareSettings = HardwareSettings(quantize="nf4")


class MedhalSettings(SftSettings):
    """MedHal (appendix C): QLoRA, length 8,192, batch 16 (the paper's 8 x 2), 1 epoch; no learning rate is given.

    Its task ablation (section 4.3) sets ``tasks``.
    """

    version: Version = Field(default="full", description="train on rows of this version of the dataset")


class MedvalSettings(SftSettings):
    """MedVAL (supplement S2.2): QLoRA, 5 epochs, Adam at 1e-5 with linear decay, batch 1."""

    epochs: float = Field(default=5, gt=0, description="passes over the training split")
    batch_size: int = Field(default=1, ge=1, description="rows in one optimizer step, over all processes")
    per_device_batch_size: int = Field(default=1, ge=1, description="rows in one forward pass")
    optimizer: OptimizerSettings = OptimizerSettings(learning_rate=1e-5, warmup_ratio=0.0, weight_decay=0.0)
    min_consistency: float | None = Field(
        default=None, ge=0, le=1, description="train on rows of this consistency or more; unset: all, rated ones too"
    )


class GenerationSettings(Section):
    """How answers are generated."""

    seed: int = Field(default=42, ge=0, lt=2**32, description="seed of sampling; greedy answers do not depend on it")
    batch_size: int = Field(default=8, ge=1, description="prompts in one forward pass")
    batching: Batching = Field(default="padded", description=BATCHING)
    max_length: int = Field(default=8192, ge=16, description="tokens of a prompt with its answer; longer: no answer")
    max_new_tokens: int = Field(default=512, ge=1, description="tokens of an answer, at most")
    temperature: float = Field(default=0.0, ge=0, description="0 is greedy: the same answer every time")
    tasks: tuple[str, ...] = Field(default=(), description="rows of these tasks only; empty: all")
    hardware: HardwareSettings = HardwareSettings()


class EncoderSettings(Section):
    """An encoder and its quadrant head. No setting is a time limit: results do not depend on the machine."""

    engine: Literal["late", "cross"] = Field(
        default="late", description="late: a context is read once; cross: once with every statement, as usual"
    )
    seed: Seed = 42
    epochs: int = Field(default=3, ge=1, description="passes over the training split")
    batch_size: int = Field(default=64, ge=1, description="statements in one optimizer step")
    statements_per_forward: int = Field(
        default=32,
        ge=1,
        description="statements in one forward pass, of which several run at once: memory, not results (but for the"
        " draws of dropout)",
    )
    split_column: SplitColumn = "split"
    class_weights: ClassWeights = "balanced"
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

    @property
    def hardware(self) -> HardwareSettings:
        """How the machine is used: in float32, whatever it has."""
        return HardwareSettings(device=self.device, precision="float32")

    @property
    def lora(self) -> LoraSettings:
        """No adapter: the layers above the frozen ones are trained whole."""
        return LoraSettings(r=0)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.overlap_tokens > self.window_tokens // 2:
            raise ValueError("overlap_tokens is at most half of window_tokens")
        if list(self.match_layers) != sorted(set(self.match_layers)) or self.match_layers[0] < 0:
            raise ValueError("match_layers are ascending numbers from 0")
        if self.match_layers[-1] > self.frozen_layers:
            raise ValueError("match_layers are at most frozen_layers")
        return self


class RewardSettings(Section):
    """What a response is worth."""

    rule: Literal["paper", "released"] = Field(
        default="paper", description="paper: the paper's rule; released: what the authors' code does"
    )
    correct: float = Field(default=1.0, description="a right answer, or a right abstention")
    wrong: float = Field(default=0.1, description="an answer that can be read and is wrong")
    format_error: float = Field(default=0.0, description="no answer that can be read")


class GrpoSettings(Section):
    """How both arms of GRPO are trained and evaluated; what neither source of the defaults says is marked assumed."""

    seed: Seed = Field(default=42, description="seed of order, sampling and weights, the same in every arm (assumed)")
    epochs: int = Field(default=9, ge=1, description="passes over the training rows")
    prompts_per_step: int = Field(default=128, ge=1, description="rows in one optimizer step")
    group: int = Field(default=8, ge=2, description="responses that are sampled for each row of a step")
    per_device_batch_size: int = Field(default=2, ge=1, description="responses in one forward pass (assumed)")
    generation_batch_size: int = Field(default=64, ge=1, description="responses that are sampled at once (assumed)")
    batching: Batching = Field(default="padded", description=BATCHING)
    generation: Literal["transformers", "vllm"] = Field(
        default="transformers", description="what samples in training; vllm: beside the model, on its GPU (extra vllm)"
    )
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
    hardware: HardwareSettings = HardwareSettings(save_steps=10)
