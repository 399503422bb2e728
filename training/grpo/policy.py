"""trl's GRPOTrainer on planned rows, with the reward of an arm's labels.

Written for trl 1.16, like `training.corfu.engine_trl`: one private method is taken over, to sample a step's responses
in parts that fit into memory. Advantages are group-centred and not divided by a standard deviation, and losses are not
divided by a response's length (Liu et al. 2025, "Dr. GRPO"; paper, appendix E). Every step is on-policy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ground.contracts.rewards import REWARDS, RewardWeights
from ground.errors import UsageError
from training.grpo.prompt import messages
from training.grpo.rows import Row
from training.runs.settings import GrpoSettings
from training.runs.arguments import trainer_arguments
from training.runs.models import adapter_config, load_model, trained_weights
from training.sft.model import Machine, choose_optimizer

__all__ = ["build_trainer", "reward_function"]


def reward_function(
    rows: Mapping[str, Row], settings: GrpoSettings, tokenizer: Any, categories: Sequence[str] = ()
) -> Callable[..., list[float]]:
    """Return an arm's reward as trl calls it: of the tokens of each response, by its row's uid."""
    rule = REWARDS[settings.reward.rule]
    weights = RewardWeights(settings.reward.correct, settings.reward.wrong, settings.reward.format_error)

    def label_reward(*, completion_ids: Sequence[Sequence[int]], uid: Sequence[str], **_: Any) -> list[float]:
        # Of the tokens, not of trl's completions: some templates take the reasoning out of those.
        texts = tokenizer.batch_decode(completion_ids, skip_special_tokens=True)
        return [
            rule(text, rows[one].reference, weights, categories=categories)
            for text, one in zip(texts, uid, strict=True)
        ]

    return label_reward


def _trainer_class() -> Any:
    """Return the trainer; trl takes seconds to import and is imported late."""
    from trl import GRPOTrainer

    class PolicyTrainer(GRPOTrainer):
        """GRPOTrainer that samples a step's responses in parts."""

        at_once: int

        def _generate_single_turn(self, prompt_ids: Any, *others: Any, **named: Any) -> Any:
            completions = []
            for begin in range(0, len(prompt_ids), self.at_once):
                part, _ = super()._generate_single_turn(prompt_ids[begin : begin + self.at_once], *others, **named)
                completions += part
            return completions, None

    return PolicyTrainer


def _arguments(folder: Path, settings: GrpoSettings, machine: Machine, autocast: bool) -> Any:
    from trl import GRPOConfig

    responses = settings.prompts_per_step * settings.group
    if responses % settings.per_device_batch_size:
        raise UsageError(
            "prompts_per_step times group is no multiple of per_device_batch_size",
            found=f"{settings.prompts_per_step} x {settings.group} and {settings.per_device_batch_size}",
        )
    return trainer_arguments(
        GRPOConfig,
        folder,
        settings.optimizer,
        settings.hardware,
        seed=settings.seed,
        autocast=autocast,
        optim=choose_optimizer(settings.optimizer.optimizer, machine.device)[0],
        # Rows of all epochs are laid out in the order of the plan.
        num_train_epochs=1,
        shuffle_dataset=False,
        per_device_train_batch_size=settings.per_device_batch_size,
        gradient_accumulation_steps=responses // settings.per_device_batch_size,
        num_generations=settings.group,
        max_completion_length=settings.max_new_tokens,
        temperature=settings.temperature,
        top_p=settings.top_p,
        top_k=0,
        beta=settings.kl_beta,
        # trl would weight the divergence by the importance ratio; the paper's loss has it plain.
        use_bias_correction_kl=False,
        num_iterations=1,
        scale_rewards="none",
        loss_type="dr_grpo",
        gradient_checkpointing=settings.hardware.gradient_checkpointing,
        gradient_checkpointing_kwargs={"use_reentrant": False},
        chat_template_kwargs={"enable_thinking": settings.thinking},
        remove_unused_columns=False,
    )


def build_trainer(
    model_name: str,
    tokenizer: Any,
    rows: Mapping[str, Row],
    order: Sequence[str],
    folder: Path,
    settings: GrpoSettings,
    machine: Machine,
    *,
    categories: Sequence[str] = (),
    callbacks: Sequence[Any] = (),
) -> Any:
    """Return a trainer of one arm.

    Args:
        model_name: folder or hub name of the base model, which is also the reference of the KL divergence.
        tokenizer: of it.
        rows: of the arm, by uid.
        order: rows of all steps, `training.grpo.rows.planned_order`.
        folder: of the checkpoints.
        settings: of all arms.
        machine: what of the machine is used.
        categories: names that labels can be.
        callbacks: further ones.

    Raises:
        UsageError: the sizes of a step do not fit each other.
    """
    import transformers
    from datasets import Dataset

    hardware, autocast = trained_weights(settings.hardware, whole=settings.lora.r == 0)
    arguments = _arguments(folder, settings, machine, autocast or machine.precision == "bfloat16")
    # Before an adapter is made: its first weights are drawn.
    transformers.set_seed(settings.seed)
    # Prompts are stored once and named by every step that takes them up.
    made = {uid: messages(tokenizer, row.prompt, categories) for uid, row in rows.items()}
    model = load_model(model_name, "causal", hardware, seed=settings.seed, attention=machine.attention)
    trainer = _trainer_class()(
        model=model,
        reward_funcs=reward_function(rows, settings, tokenizer, categories),
        args=arguments,
        train_dataset=Dataset.from_dict({"prompt": [made[uid] for uid in order], "uid": list(order)}),
        processing_class=tokenizer,
        peft_config=adapter_config(model, "causal", settings.lora) if settings.lora.r > 0 else None,
        callbacks=list(callbacks),
    )
    trainer.at_once = settings.generation_batch_size
    return trainer
