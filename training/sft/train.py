"""Supervised fine-tuning with (Q)LoRA through trl: MedHal (appendix C) and MedVAL (supplement S2.2).

The run folder holds the adapter in PEFT's format, the tokenizer, ``training.json`` and the card ``README.md``. While a
run goes on, ``checkpoints/`` holds what a resumed run needs; it is removed when the run is whole.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from evaluation.text.dataset import Kind, TextDataset
from ground.contracts.taxonomy import resolve_tasks
from ground.errors import UsageError
from ground.progress import progress
from training.runs.arguments import trainer_arguments
from training.runs.card import write_card
from training.runs.folder import (
    CHECKPOINTS,
    base_record,
    drop_if_refused,
    finish_run,
    join_processes,
    run_plan,
    start_run,
)
from training.runs.memory import estimate_texts, tell_memory
from training.runs.models import (
    adapter_config,
    device_of,
    dropout_note,
    load_model,
    load_tokenizer,
    refuse_adapter,
    save_model,
    trained_weights,
)
from training.runs.models import quiet
from training.runs.resuming import last_checkpoint, logged, not_a_number, run_trainer
from training.runs.settings import MedhalSettings, MedvalSettings, SftSettings
from training.sft.encoding import EncodedRows, encode_rows
from training.sft.model import Machine, choose_machine, choose_optimizer, rows_length
from training.sft.tasks import TASKS

__all__ = ["train_medhal", "train_medval"]

SHORT_OF_MEMORY = (
    "lower per_device_batch_size (batch_size may stay), then max_length, or set hardware.gradient_checkpointing = true"
)
# A longer run logs every tenth step.
LOG_EVERY_STEP_UNTIL = 1000
HISTORY = ("step", "epoch", "loss", "grad_norm", "learning_rate", "mean_token_accuracy")


def train_medhal(
    dataset_dir: Path,
    model: str,
    out_dir: Path,
    settings: MedhalSettings | None = None,
    *,
    resume: bool = False,
    callbacks: Sequence[Any] = (),
    say: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """Fine-tune a causal model to tell factual statements from others and to explain (MedHal, section 4.2).

    ``settings.tasks`` trains on some tasks only (section 4.3). Rows longer than ``max_length`` are left out and
    counted.

    Args:
        dataset_dir: a MedHal dataset folder.
        model: folder or hub name of the base model.
        out_dir: the run folder.
        settings: the paper's where left out.
        resume: go on from the newest checkpoint in ``out_dir``; from the start where there is none.
        callbacks: further transformers ``TrainerCallback`` objects, such as one that shows progress.
        say: takes the memory estimate.

    Returns:
        What ``training.json`` holds.

    Raises:
        UsageError: settings that do not fit each other or this machine, or a folder that already holds a run.
        InputError: no such dataset or model, or no row left to train on.
        TrainingError: the loss is no number, training diverges, or memory is short.
    """
    return _train("medhal", dataset_dir, model, out_dir, settings or MedhalSettings(), resume, callbacks, say)


def train_medval(
    dataset_dir: Path,
    model: str,
    out_dir: Path,
    settings: MedvalSettings | None = None,
    *,
    resume: bool = False,
    callbacks: Sequence[Any] = (),
    say: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """Fine-tune a causal model to name errors and grade the risk of an output (MedVAL, stage 3).

    Arguments, result and errors are those of `train_medhal`; ``dataset_dir`` is a MedVAL dataset folder.
    """
    return _train("medval", dataset_dir, model, out_dir, settings or MedvalSettings(), resume, callbacks, say)


def _train(
    kind: Kind,
    dataset_dir: Path,
    model_name: str,
    out_dir: Path,
    settings: MedhalSettings | MedvalSettings,
    resume: bool,
    callbacks: Sequence[Any],
    say: Callable[[str], None] | None,
) -> dict[str, Any]:
    join_processes(device_of(settings.hardware))
    dataset = TextDataset.open(dataset_dir, kind)
    tasks = resolve_tasks(settings.tasks, kind)
    machine = choose_machine(settings.hardware)
    identity = {"name": dataset.folder.resolve().name, **dataset.identity}
    plan = run_plan(kind, model_name, identity, settings, engine="trl SFTTrainer")
    if (whole := start_run(out_dir, plan, resume=resume)) is not None:
        return whole
    with drop_if_refused(out_dir), quiet():
        refuse_adapter(model_name)
        tokenizer = load_tokenizer(model_name)
        max_length, shorter = rows_length(model_name, settings.max_length)
        task, by_task = TASKS[kind], Counter[str]()
        rows, counts = encode_rows(
            dataset.rows("train", tasks), tokenizer, task.prompt, task.answer, max_length, by_task=by_task
        )
        longest = int(np.diff(rows.offsets).max())
        memory = estimate_texts(
            model_name, settings.per_device_batch_size, longest, longest, settings.lora, settings.hardware
        )
        tell_memory(memory, settings.hardware, say)
        last = last_checkpoint(out_dir / CHECKPOINTS) if resume else None
        trainer = _trainer(model_name, tokenizer, rows, out_dir, settings, machine, callbacks)
        with progress("fine-tuning, steps", _steps(len(rows), settings)) as advance:
            measured = run_trainer(trainer, advance, resume=resume, short_of_memory=SHORT_OF_MEMORY)
        record = {
            **plan,
            **base_record(trainer.model),
            "tasks": dict(sorted(by_task.items())),
            "licence_tier": dataset.licence_tier,
            "rows": _rows(dataset, rows, counts),
            "tokens": {"in_one_pass": len(rows.ids), "with_loss": rows.trained_tokens},
            "machine": _machine(trainer, settings, machine, shorter),
            "resumed_from_step": int(last.rpartition("-")[2]) if last else None,
            "memory": memory.as_dict(),
            "measured": measured.as_dict(),
            "steps": trainer.state.global_step,
            "history": logged(trainer, HISTORY),
        }

        def write(folder: Path) -> None:
            save_model(trainer.model, tokenizer, folder)
            write_card(folder, record)

        return finish_run(out_dir, record, write)


def _rows(dataset: TextDataset, rows: EncodedRows, counts: Mapping[str, int]) -> dict[str, Any]:
    """Return what became of the rows of the training split."""
    others = dataset.count("train") - len(rows) - counts["too_long"]
    return {
        "used": len(rows),
        "left_out": {"too_long": counts["too_long"], "other_task": others},
        "without_explanation": counts["open_answer"],
    }


def _machine(trainer: Any, settings: SftSettings, machine: Machine, shorter: str | None) -> dict[str, Any]:
    """Return what the record says of the machine, and where it is not what was asked for."""
    optimizer, why = choose_optimizer(settings.optimizer.optimizer, machine.device)
    dropout = dropout_note(trainer.model, settings.lora)
    return {
        "device": machine.device,
        "precision": machine.precision,
        "attention": machine.attention,
        "quantize": machine.quantize,
        "optimizer": optimizer,
        "trained_weights": str(next(p.dtype for p in trainer.model.parameters() if p.requires_grad)).split(".")[1],
        "notes": [*machine.notes, *(note for note in (why, shorter, dropout) if note)],
    }


def _accumulation(settings: SftSettings) -> int:
    """Return forward passes per optimizer step of one process, so that ``batch_size`` rows make a step over all."""
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    at_once = settings.per_device_batch_size * processes
    if settings.batch_size % at_once:
        raise UsageError(
            "batch_size is no multiple of per_device_batch_size times the processes",
            found=f"{settings.batch_size} and {settings.per_device_batch_size} x {processes}",
            do="set batch_size to a multiple",
        )
    return settings.batch_size // at_once


def _steps(n_rows: int, settings: SftSettings) -> int:
    """Return the optimizer steps of a run."""
    return math.ceil(math.ceil(n_rows / settings.batch_size) * settings.epochs)


def _arguments(out_dir: Path, settings: SftSettings, machine: Machine, n_rows: int) -> Any:
    from trl import SFTConfig

    steps = _steps(n_rows, settings)
    return trainer_arguments(
        SFTConfig,
        out_dir / CHECKPOINTS,
        settings.optimizer,
        settings.hardware,
        seed=settings.seed,
        autocast=machine.precision == "bfloat16",
        optim=choose_optimizer(settings.optimizer.optimizer, machine.device)[0],
        num_train_epochs=settings.epochs,
        per_device_train_batch_size=settings.per_device_batch_size,
        gradient_accumulation_steps=_accumulation(settings),
        # Rows are encoded, labelled and of a fit length already: trl must cut nothing.
        max_length=None,
        packing=False,
        # Rows of like length meet in a forward pass, in an order that is drawn: little padding.
        train_sampling_strategy="group_by_length",
        gradient_checkpointing=settings.hardware.gradient_checkpointing,
        gradient_checkpointing_kwargs={"use_reentrant": False},
        logging_steps=1 if steps <= LOG_EVERY_STEP_UNTIL else 10,
    )


def _trainer(
    model_name: str,
    tokenizer: Any,
    rows: EncodedRows,
    out_dir: Path,
    settings: SftSettings,
    machine: Machine,
    callbacks: Sequence[Any],
) -> Any:
    import transformers
    from trl import SFTTrainer

    class Trainer(SFTTrainer):
        """trl's trainer; it stops at the first loss that is no number."""

        def training_step(self, *args: Any, **keywords: Any) -> torch.Tensor:
            loss: torch.Tensor = super().training_step(*args, **keywords)
            if not torch.isfinite(loss):
                raise not_a_number(float(loss), self.state.global_step + 1)
            return loss

    # trl leaves the arithmetic to autocast wherever the precision is bfloat16.
    hardware, _ = trained_weights(settings.hardware, whole=settings.lora.r == 0)
    arguments = _arguments(out_dir, settings, machine, len(rows))
    # Before the adapter is made: its first weights are drawn.
    transformers.set_seed(settings.seed)
    model = load_model(model_name, "causal", hardware, seed=settings.seed, attention=machine.attention)
    trainer = Trainer(
        model=model,
        args=arguments,
        train_dataset=rows.dataset(),
        processing_class=tokenizer,
        peft_config=adapter_config(model, "causal", settings.lora) if settings.lora.r > 0 else None,
        callbacks=list(callbacks),
    )
    # trl makes the adapters of 4-bit models bfloat16. A step at MedVAL's rate of 1e-5 is less than half of its spacing
    # at an adapter's usual weight of 0.01 (3e-5) and would be rounded away.
    for weight in trainer.model.parameters():
        if weight.requires_grad and weight.dtype == torch.bfloat16:
            weight.data = weight.data.float()
    return trainer
