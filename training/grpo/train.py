"""One arm of GRPO: trained on its labels in the planned order, evaluated, and written as a run folder.

The folder holds the model (or its adapter), ``training.json``, ``README.md`` and ``evaluation.parquet``.

trl's GRPOTrainer runs on planned rows, with the reward of an arm's labels. Written for trl 1.16, like
`training.corfu.engine_trl`: one private method is taken over, to sample a step's responses in parts that fit into
memory. Advantages are group-centred and not divided by a standard deviation, and losses are not divided by a response's
length (Liu et al. 2025, "Dr. GRPO"; paper, appendix E). Every step is on-policy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import polars as pl
from datasets import Dataset

from ground.contracts.rewards import REWARDS, RewardWeights
from ground.errors import InputError, UsageError
from ground.lm.sampling import Batching, sampled
from training.grpo.evaluate import accuracies, grade_sets, respond
from training.grpo.prompts import Row, encode, messages, order_sha256, planned_order, system_prompt
from training.runs.folder import Run, open_run, passes_of
from training.runs.models import (
    load_config,
    load_model,
    load_tokenizer,
    quiet,
    refuse_adapter,
    save_model,
    trained_weights,
    usable_length,
)
from training.runs.settings import GrpoSettings
from training.runs.sharding import SplitTrainer, split_weights, whole_weights
from training.runs.text_runs import build_trainer, estimate_texts, run_texts, texts_attention

with quiet():
    # What it imports says what it lacks on a CPU.
    from transformers import TrainerCallback
    from trl import GRPOConfig, GRPOTrainer
    from trl.models import unwrap_model_for_generation

__all__ = ["EVALUATION", "Arm", "arm_trainer", "evaluate_base", "reward_function", "train_arm"]

EVALUATION = "evaluation.parquet"
SHORT_OF_MEMORY = (
    "lower per_device_batch_size and generation_batch_size, then max_new_tokens; an adapter (lora.r) saves memory, too"
)
LOGGED = (
    *("reward", "reward_std", "frac_reward_zero_std", "kl", "entropy"),
    *("completions/mean_length", "completions/clipped_ratio"),
)


@dataclass(frozen=True)
class Arm:
    """One arm, by the name of its labels.

    Attributes:
        rows: what it trains on; other arms have the same rows and prompts.
        data: what the run says of them: name and hash of the file, ``licence_tier``.
        sets: what it is evaluated on, by name.
        categories: names that labels can be.
    """

    name: str
    rows: Sequence[Row]
    data: Mapping[str, Any]
    sets: Mapping[str, Sequence[Row]]
    categories: Sequence[str] = ()


def train_arm(
    arm: Arm,
    model_name: str,
    out_dir: Path,
    settings: GrpoSettings,
    *,
    resume: bool = False,
    say: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """Train one arm and evaluate it.

    Args:
        arm: rows and labels.
        model_name: folder or hub name of the base model.
        out_dir: the run folder; ``settings`` (of all arms), ``resume``, ``say``, result and errors as of `open_run`.
            The memory estimate is of optimizer steps; sampling needs less, or more with a large
            ``generation_batch_size``.
    """
    own: dict[str, Any] = {"engine": "trl GRPOTrainer", "arm": arm.name}
    with open_run("grpo", model_name, out_dir, arm.data, settings, resume=resume, say=say, **own) as run:
        if run.whole is not None:
            return run.whole
        refuse_adapter(model_name)
        settings = run.settings = _within(model_name, settings)
        tokenizer = load_tokenizer(model_name)
        rows, longest = _fitting(arm, tokenizer, settings)
        order = planned_order(list(rows), settings.seed, settings.epochs, settings.prompts_per_step)
        at_once, answer = settings.per_device_batch_size, settings.max_new_tokens
        estimate_texts(run, at_once, longest + answer, answer, SHORT_OF_MEMORY, reference=settings.kl_beta > 0)
        callbacks = [Watcher(arm, tokenizer, settings)] if settings.evaluate_every else []
        trainer = arm_trainer(run, tokenizer, rows, order, categories=arm.categories, callbacks=callbacks)
        what, steps = f"arm {arm.name}, steps", len(order) // settings.prompts_per_step
        shares = settings.hardware.split_weights
        with split_weights(trainer.model, asked=shares), split_weights(trainer.ref_model, asked=shares):
            trained = run_texts(run, trainer, what, steps, names=LOGGED, grows=True)
        graded = _graded(trainer.model, tokenizer, arm, settings)
        results = {
            "system_prompt": system_prompt(arm.categories),
            "rows": {"used": len(rows), "left_out": {"too_long": len(arm.rows) - len(rows)}},
            "order_sha256": order_sha256(order),
            **trained,
            "evaluations": [log for log in trainer.state.log_history if "sets" in log],
            "evaluation": accuracies(graded),
        }

        def save(folder: Path) -> None:
            save_model(trainer.model, tokenizer, folder)
            graded.write_parquet(folder / EVALUATION)

        return run.finish(trainer.model, results, save)


def evaluate_base(arm: Arm, model_name: str, settings: GrpoSettings) -> pl.DataFrame:
    """Return the grades of the base model's responses, as `training.grpo.evaluate.grade_sets`."""
    attention, _ = texts_attention(settings.hardware)
    with quiet():
        tokenizer = load_tokenizer(model_name)
        # In the precision that the arms are trained and evaluated in.
        hardware, _ = trained_weights(settings.hardware, whole=settings.lora.r == 0)
        model = load_model(model_name, "causal", hardware, seed=settings.seed, attention=attention)
        return _graded(model, tokenizer, arm, _within(model_name, settings))


def _within(model_name: str, settings: GrpoSettings) -> GrpoSettings:
    """Return settings with which a prompt and its response have no more tokens than the model has positions."""
    wanted = settings.max_prompt_tokens + settings.max_new_tokens
    length = usable_length(load_config(model_name), wanted)
    return settings.model_copy(update={"max_prompt_tokens": length - settings.max_new_tokens})


def _graded(model: Any, tokenizer: Any, arm: Arm, settings: GrpoSettings) -> pl.DataFrame:
    prompts = {row.uid: row.prompt for rows in arm.sets.values() for row in rows}
    responses = respond(model, tokenizer, prompts, settings, arm.categories)
    return grade_sets(responses, arm.sets, arm.categories)


def _fitting(arm: Arm, tokenizer: Any, settings: GrpoSettings) -> tuple[dict[str, Row], int]:
    """Return the rows whose prompt is short enough, the same in every arm, and the tokens of the longest prompt."""
    conversations = [messages(tokenizer, row.prompt, arm.categories) for row in arm.rows]
    lengths = [len(ids) for ids in encode(tokenizer, conversations, thinking=settings.thinking)]
    room = settings.max_prompt_tokens
    kept = {row.uid: row for row, n in zip(arm.rows, lengths, strict=True) if n <= room}
    if not kept:
        raise InputError(
            "no prompt is short enough",
            found=f"the shortest has {min(lengths, default=0):,} tokens",
            expected=f"at most {room:,}: max_prompt_tokens, and the model's positions less max_new_tokens",
        )
    return kept, max(n for n in lengths if n <= room)


class Watcher(TrainerCallback):
    """Evaluates in training; what it finds is one of the Trainer's logs, which checkpoints hold."""

    def __init__(self, arm: Arm, tokenizer: Any, settings: GrpoSettings) -> None:
        self.arm, self.tokenizer, self.settings = arm, tokenizer, settings

    def on_step_end(self, _args: Any, state: Any, *_: Any, model: Any = None, **__: Any) -> None:
        if state.global_step % self.settings.evaluate_every == 0:
            with whole_weights(model):
                graded = _graded(model, self.tokenizer, self.arm, self.settings)
            state.log_history.append({"step": state.global_step, "sets": accuracies(graded)})


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
            rule(text, rows[row_uid].reference, weights, categories=categories)
            for text, row_uid in zip(texts, uid, strict=True)
        ]

    return label_reward


class PolicyTrainer(SplitTrainer, GRPOTrainer):
    """GRPOTrainer that samples a step's responses in parts; vLLM makes parts of its own."""

    at_once: int
    batching: Batching

    def _generate_single_turn(self, prompt_ids: Any, *others: Any, **named: Any) -> Any:
        completions, size = [], self.at_once
        # Split, each process would have to run as many forward passes as the one with the longest response.
        with whole_weights(self.model):
            if self.use_vllm:
                return super()._generate_single_turn(prompt_ids, *others, **named)
            if self.batching == "continuous":
                return self._continuous(prompt_ids), None
            for begin in range(0, len(prompt_ids), size):
                completions += super()._generate_single_turn(prompt_ids[begin : begin + size], *others, **named)[0]
        return completions, None

    def _continuous(self, prompt_ids: Any) -> list[list[int]]:
        # trl's own way there would turn the trained weights into bfloat16 for good.
        with unwrap_model_for_generation(self.model_wrapped, self.accelerator) as model:
            responses = sorted(sampled(model, prompt_ids, self.generation_config, self.at_once, "continuous"))
            model.train()
        return [response.tokens if response.end is None else [*response.tokens, response.end] for response in responses]


def _arguments(settings: GrpoSettings) -> dict[str, Any]:
    responses, at_once = settings.prompts_per_step * settings.group, settings.per_device_batch_size
    if settings.generation == "vllm" and find_spec("vllm") is None:
        raise UsageError("vLLM is not installed", found="generation = vllm", do="pip install 'ontoground[vllm]'")
    return {
        # Rows of all epochs are laid out in the order of the plan.
        "num_train_epochs": 1,
        "shuffle_dataset": False,
        "per_device_train_batch_size": at_once,
        "gradient_accumulation_steps": passes_of(responses, at_once, "prompts_per_step x group"),
        "num_generations": settings.group,
        "max_completion_length": settings.max_new_tokens,
        "use_vllm": settings.generation == "vllm",
        "vllm_mode": "colocate",
        "vllm_max_model_length": settings.max_prompt_tokens + settings.max_new_tokens,
        "temperature": settings.temperature,
        "top_p": settings.top_p,
        "top_k": 0,
        "beta": settings.kl_beta,
        # trl would weight the divergence by the importance ratio; the paper's loss has it plain.
        "use_bias_correction_kl": False,
        "num_iterations": 1,
        "scale_rewards": "none",
        "loss_type": "dr_grpo",
        "chat_template_kwargs": {"enable_thinking": settings.thinking},
        # Put off to the last pass of a step, gradients of split weights would be whole in every process until then.
        "accelerator_config": {"gradient_accumulation_kwargs": {"sync_each_batch": settings.hardware.split_weights}},
        "remove_unused_columns": False,
    }


def arm_trainer(
    run: Run,
    tokenizer: Any,
    rows: Mapping[str, Row],
    order: Sequence[str],
    *,
    categories: Sequence[str] = (),
    callbacks: Sequence[Any] = (),
) -> Any:
    """Return a trainer of one arm, whose base model is also the reference of the KL divergence.

    ``rows`` are the arm's by uid, ``order`` those of all steps (`planned_order`), ``categories`` names that labels can
    be. Sizes of a step that do not fit each other are refused.
    """
    # Prompts are stored once and named by every step that takes them up.
    conversations = {uid: messages(tokenizer, row.prompt, categories) for uid, row in rows.items()}
    trainer = build_trainer(
        PolicyTrainer,
        GRPOConfig,
        run,
        _arguments(run.settings),
        reward_funcs=reward_function(rows, run.settings, tokenizer, categories),
        train_dataset=Dataset.from_dict({"prompt": [conversations[uid] for uid in order], "uid": list(order)}),
        processing_class=tokenizer,
        callbacks=list(callbacks),
    )
    trainer.at_once, trainer.batching = run.settings.generation_batch_size, run.settings.batching
    trainer.shares = run.settings.hardware.split_weights
    return trainer
