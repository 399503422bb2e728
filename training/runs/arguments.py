"""The arguments of transformers' and trl's Trainers, as far as every engine sets them alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from training.runs.models import device_of
from training.runs.settings import HardwareSettings, OptimizerSettings

__all__ = ["on_one_device", "trainer_arguments"]


def on_one_device(arguments: Any) -> Any:
    """Keep a process to one GPU: without torchrun or accelerate the Trainer would run nn.DataParallel on all of them.

    Its batches would be as many times larger, and a batch here is a planned step, or a part of one.
    """
    if arguments.n_gpu > 1:
        arguments._n_gpu = 1
    return arguments


def trainer_arguments(
    kind: Any,
    folder: Path,
    optimizer: OptimizerSettings,
    hardware: HardwareSettings,
    *,
    seed: int,
    autocast: bool,
    **own: Any,
) -> Any:
    """Return the arguments of a run.

    Args:
        kind: `transformers.TrainingArguments`, or a class of trl's that is made from it.
        folder: of the checkpoints.
        optimizer: AdamW and its schedule.
        hardware: device, and how often a checkpoint is kept.
        seed: of weights, dropout and data.
        autocast: bfloat16 arithmetic on float32 weights.
        own: what this engine sets beside that, or otherwise.
    """
    shared = {
        "output_dir": str(folder),
        "learning_rate": optimizer.learning_rate,
        "adam_beta1": optimizer.beta1,
        "adam_beta2": optimizer.beta2,
        "weight_decay": optimizer.weight_decay,
        "warmup_steps": optimizer.warmup_ratio,
        "lr_scheduler_type": optimizer.schedule,
        "max_grad_norm": optimizer.max_grad_norm,
        "optim": optimizer.optimizer,
        "bf16": autocast,
        "seed": seed,
        "data_seed": seed,
        "use_cpu": device_of(hardware) == "cpu",
        "save_steps": hardware.save_steps,
        "save_total_limit": 2,
        "logging_steps": 1,
        # A loss that is no number must be seen.
        "logging_nan_inf_filter": False,
        "report_to": "none",
        "disable_tqdm": True,
    }
    return on_one_device(kind(**(shared | own)))
