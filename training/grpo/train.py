"""One arm of GRPO: trained on its labels in the planned order, evaluated, and written as a run folder.

The folder holds the model (or its adapter), ``training.json``, ``README.md`` and ``evaluation.parquet``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ground.errors import InputError, UsageError
from ground.progress import progress
from ground.storage.files import write_text
from training.grpo.evaluate import accuracies, grade_sets, respond
from training.grpo.policy import build_trainer
from training.grpo.prompt import encode, messages, system_prompt
from training.grpo.rows import Row, order_sha256, planned_order
from training.runs.settings import GrpoSettings
from training.runs.card import write_card
from training.runs.folder import CHECKPOINTS, base_record, drop_if_refused, finish_run, run_plan, start_run
from training.runs.memory import estimate_texts, tell_memory
from training.runs.models import (
    dropout_note,
    load_config,
    load_model,
    load_tokenizer,
    prepare_device,
    refuse_adapter,
    save_model,
    trained_weights,
    usable_length,
)
from training.runs.models import quiet
from training.runs.resuming import logged, run_trainer
from training.sft.model import Machine, choose_machine

__all__ = ["EVALUATION", "Arm", "evaluate_base", "train_arm"]

EVALUATION = "evaluation.parquet"
WATCHED = "evaluations.json"
SHORT_OF_MEMORY = (
    "lower per_device_batch_size and generation_batch_size, then max_new_tokens, or set lora.r to train an adapter"
)
HISTORY = (
    *("step", "loss", "reward", "reward_std", "frac_reward_zero_std", "kl", "entropy", "grad_norm", "learning_rate"),
    *("completions/mean_length", "completions/clipped_ratio"),
)


@dataclass(frozen=True)
class Arm:
    """One arm.

    Attributes:
        name: of its labels.
        rows: what it trains on; other arms have the same rows and prompts.
        data: what the run says of them: name and hash of the file, ``licence_tier``.
        sets: what it is evaluated on, by name.
        categories: names that labels can be.
        smoke: the model is a random one, and the run shows only that the parts fit each other.
    """

    name: str
    rows: Sequence[Row]
    data: Mapping[str, Any]
    sets: Mapping[str, Sequence[Row]]
    categories: Sequence[str] = ()
    smoke: bool = False


def train_arm(
    arm: Arm,
    model_name: str,
    out_dir: Path,
    settings: GrpoSettings,
    *,
    resume: bool = False,
    say: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """Train one arm and evaluate it; returns what ``training.json`` holds.

    Args:
        arm: rows and labels.
        model_name: folder or hub name of the base model.
        out_dir: the run folder.
        settings: of all arms.
        resume: go on from the newest checkpoint; from the start where there is none.
        say: takes the memory estimate (of its optimizer steps; sampling needs less, or more with a large
            ``generation_batch_size``).

    Raises:
        UsageError: settings that do not fit each other or this machine, or a folder that already holds a run.
        InputError: no such model, or no prompt is short enough.
        TrainingError: the loss is no number, or memory is short.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise UsageError("GRPO is trained by one process", do="start it without torchrun or accelerate")
    machine = choose_machine(settings.hardware)
    prepare_device(machine.device)
    plan = run_plan("grpo", model_name, arm.data, settings, engine="trl GRPOTrainer", arm=arm.name, smoke=arm.smoke)
    if (whole := start_run(out_dir, plan, resume=resume)) is not None:
        return whole
    with drop_if_refused(out_dir), quiet():
        refuse_adapter(model_name)
        tokenizer = load_tokenizer(model_name)
        rows, too_long = _fitting(arm, tokenizer, settings)
        order = planned_order(list(rows), settings.seed, settings.epochs, settings.prompts_per_step)
        tokens = min(
            settings.max_prompt_tokens + settings.max_new_tokens, usable_length(load_config(model_name), 1 << 30)
        )
        memory = estimate_texts(
            model_name,
            settings.per_device_batch_size,
            tokens,
            min(settings.max_new_tokens + 1, tokens),
            settings.lora,
            settings.hardware,
            reference=settings.kl_beta > 0,
        )
        tell_memory(memory, settings.hardware, say)
        watched = out_dir / CHECKPOINTS / WATCHED
        trainer = build_trainer(
            model_name,
            tokenizer,
            rows,
            order,
            out_dir / CHECKPOINTS,
            settings,
            machine,
            categories=arm.categories,
            callbacks=[_watcher(arm, tokenizer, settings, watched)] if settings.evaluate_every else [],
        )
        steps = len(order) // settings.prompts_per_step
        with progress(f"arm {arm.name}, steps", steps) as advance:
            measured = run_trainer(trainer, advance, resume=resume, short_of_memory=SHORT_OF_MEMORY, grows=True)
        graded = grade_sets(_responses(trainer.model, tokenizer, arm, settings), arm.sets, arm.categories)
        record = {
            **plan,
            **base_record(trainer.model),
            "system_prompt": system_prompt(arm.categories),
            "rows": {"used": len(rows), "left_out": {"too_long": too_long}},
            "order_sha256": order_sha256(order),
            "machine": _machine(machine, dropout_note(trainer.model, settings.lora)),
            "memory": memory.as_dict(),
            "measured": measured.as_dict(),
            "steps": trainer.state.global_step,
            "history": logged(trainer, HISTORY),
            "evaluations": _watched(watched),
            "evaluation": accuracies(graded),
        }

        def write(folder: Path) -> None:
            save_model(trainer.model, tokenizer, folder)
            graded.write_parquet(folder / EVALUATION)
            write_card(folder, record)

        return finish_run(out_dir, record, write)


def evaluate_base(arm: Arm, model_name: str, settings: GrpoSettings) -> Any:
    """Return the grades of the base model's responses, as `training.grpo.evaluate.grade_sets`."""
    machine = choose_machine(settings.hardware)
    with quiet():
        tokenizer = load_tokenizer(model_name)
        # In the precision that the arms are trained and evaluated in.
        hardware, _ = trained_weights(settings.hardware, whole=settings.lora.r == 0)
        model = load_model(model_name, "causal", hardware, seed=settings.seed, attention=machine.attention)
        return grade_sets(_responses(model, tokenizer, arm, settings), arm.sets, arm.categories)


def _responses(model: Any, tokenizer: Any, arm: Arm, settings: GrpoSettings) -> dict[str, str | None]:
    prompts = {row.uid: row.prompt for rows in arm.sets.values() for row in rows}
    return respond(model, tokenizer, prompts, settings, arm.categories)


def _fitting(arm: Arm, tokenizer: Any, settings: GrpoSettings) -> tuple[dict[str, Row], int]:
    """Return the rows whose prompt is short enough, and how many are not; the same in every arm."""
    made = [messages(tokenizer, row.prompt, arm.categories) for row in arm.rows]
    lengths = [len(ids) for ids in encode(tokenizer, made, thinking=settings.thinking)]
    kept = {row.uid: row for row, n in zip(arm.rows, lengths, strict=True) if n <= settings.max_prompt_tokens}
    if not kept:
        raise InputError(
            "no prompt is short enough",
            found=f"the shortest has {min(lengths, default=0):,} tokens",
            expected=f"at most max_prompt_tokens = {settings.max_prompt_tokens:,}",
        )
    return kept, len(arm.rows) - len(kept)


def _watcher(arm: Arm, tokenizer: Any, settings: GrpoSettings, file: Path) -> Any:
    """Return the callback that evaluates in training; what it finds outlives a run that is cut."""
    from transformers import TrainerCallback

    class Watcher(TrainerCallback):
        def on_step_end(self, _args: Any, state: Any, *_: Any, model: Any = None, **__: Any) -> None:
            if state.global_step % settings.evaluate_every == 0:
                graded = grade_sets(_responses(model, tokenizer, arm, settings), arm.sets, arm.categories)
                found = [*_watched(file), {"step": state.global_step, "sets": accuracies(graded)}]
                write_text(file, json.dumps(found))

    return Watcher()


def _watched(file: Path) -> list[dict[str, Any]]:
    """Return the evaluations in training, one a step: a step that was gone through again counts once."""
    found = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else []
    return list({one["step"]: one for one in found}.values())


def _machine(machine: Machine, note: str | None) -> dict[str, Any]:
    return {
        "device": machine.device,
        "precision": machine.precision,
        "attention": machine.attention,
        "notes": [*machine.notes, *([note] if note else [])],
    }
