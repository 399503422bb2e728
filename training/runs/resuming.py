"""How every engine runs its Trainer: its arguments, its last checkpoint, and a stop where it learns no more."""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import torch

from ground.errors import TrainingError
from training.runs.models import device_of, restore_weights, split_parts

__all__ = [
    "Measured",
    "Record",
    "choose_optimizer",
    "last_checkpoint",
    "measuring",
    "memory_errors",
    "peak_memory",
    "run_trainer",
    "step_records",
    "stop_if_broken",
    "trainer_arguments",
]

DIVERGED = 10.0
"""A mean loss of the last logs above this many times that of the first ones is a divergence."""
WINDOW = 20
SLOWER = "lower optimizer.learning_rate, or raise optimizer.warmup_ratio"
KEPT = "a checkpoint that was written is kept"

# bitsandbytes' optimizers: paged ones need CUDA's unified memory, 8-bit ones its kernels.
CUDA_ONLY = ("paged", "8bit", "bnb")

Record = dict[str, float]
"""What one optimizer step logged, for learning curves: ``step`` (from 0), ``loss`` and what the objective logs, the
``learning_rate``, and ``grad_norm``, the norm of the gradient before it is clipped."""

Measured = dict[str, float]
"""What training took in this process, since it was begun or last gone on with: ``seconds`` of wall time; ``tokens``,
places of rows that went through the model to be learnt from, padding included; ``tokens_per_second``;
``peak_memory``, the bytes of `peak_memory`; and of a Trainer ``planned_steps`` and ``seconds_a_step`` behind the first,
which may compile."""


def choose_optimizer(name: str, device: str) -> tuple[str, str | None]:
    """Return the optimizer to use, and why where it is not the one asked for."""
    if device == "cuda" or not any(word in name for word in CUDA_ONLY):
        return name, None
    return "adamw_torch", f"{name} needs CUDA; adamw_torch (32-bit states) is used on the CPU"


def trainer_arguments(kind: Any, folder: Path, settings: Any, *, autocast: bool, **own: Any) -> Any:
    """Return the arguments of a run.

    Args:
        kind: `transformers.TrainingArguments`, or a class of trl's that is made from it.
        folder: of the checkpoints.
        settings: of the run, of which ``optimizer``, ``hardware`` and ``seed`` are read.
        autocast: bfloat16 arithmetic on float32 weights.
        own: what this engine sets beside that, or otherwise.
    """
    optimizer, hardware = settings.optimizer, settings.hardware
    shared = {
        "output_dir": str(folder),
        "learning_rate": optimizer.learning_rate,
        "adam_beta1": optimizer.beta1,
        "adam_beta2": optimizer.beta2,
        "weight_decay": optimizer.weight_decay,
        "warmup_steps": optimizer.warmup_ratio,
        "lr_scheduler_type": optimizer.schedule,
        "max_grad_norm": optimizer.max_grad_norm,
        "optim": choose_optimizer(optimizer.optimizer, device_of(hardware))[0],
        "bf16": autocast,
        "seed": settings.seed,
        "data_seed": settings.seed,
        "use_cpu": device_of(hardware) == "cpu",
        "save_steps": hardware.save_steps,
        "save_total_limit": 2,
        "logging_steps": 1,
        # A loss that is not a number must be seen.
        "logging_nan_inf_filter": False,
        "report_to": "none",
        "disable_tqdm": True,
    }
    arguments = kind(**(shared | own))
    # Without torchrun or accelerate the Trainer would run nn.DataParallel on all GPUs, and its batches would be as many
    # times larger; a batch here is a planned step, or a part of one.
    arguments._n_gpu = min(arguments.n_gpu, 1)
    return arguments


def peak_memory(device: str) -> int:
    """Return the most bytes so far: allocated on a GPU since training began, resident in the whole process on a CPU."""
    if device == "cuda":
        return int(torch.cuda.max_memory_allocated())
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024))


@contextmanager
def measuring(model: Any, device: str) -> Iterator[Measured]:
    """Yield what the training inside takes, known at its end; tokens are those that ``model`` reads.

    It reads their ids, as they are or in a `PackedRow`, or states of theirs. *Shapes:* (rows, places) or (rows, places,
    width).
    """
    measured: Measured = {}
    # Forward passes may run in several threads.
    tokens: list[int] = []

    def count(module: Any, inputs: tuple[Any, ...], named: dict[str, Any]) -> None:
        # Neither generation nor the reference is learnt from.
        if module.training and torch.is_grad_enabled():
            row = inputs[0] if inputs else None
            ids = named["input_ids"] if "input_ids" in named else getattr(row, "input_ids", row)
            tokens.append(ids.shape[:2].numel() if torch.is_tensor(ids) else 0)

    begin, hook = monotonic(), model.register_forward_pre_hook(count, with_kwargs=True)
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()
    yield measured
    hook.remove()
    measured["tokens"] = sum(tokens)
    measured["seconds"] = round(monotonic() - begin, 3)
    measured["peak_memory"] = peak_memory(device)
    measured["tokens_per_second"] = measured["tokens"] / measured["seconds"] if measured["seconds"] else 0.0


def step_records(trainer: Any, names: Sequence[str]) -> list[Record]:
    """Return what a Trainer logged of each step: its loss, what goes by these names, and the optimizer's values."""
    known = ("loss", *names, "learning_rate", "grad_norm")
    logs = [log for log in trainer.state.log_history if "loss" in log]
    return [{"step": log["step"] - 1, **{name: log[name] for name in known if name in log}} for log in logs]


def stop_if_broken(losses: Sequence[float], step: int, *, grows: bool = False) -> None:
    """Stop at a loss that is not a number, or that has grown beyond all bounds.

    Args:
        losses: as they were logged so far.
        step: the number of the last optimizer step.
        grows: the loss is no measure of how far training is: that of a policy begins at zero.

    Raises:
        TrainingError: with the setting to change.
    """
    if not np.isfinite(losses[-1]):
        do = f"{SLOWER}, or set hardware.precision = 'float32'; {KEPT}"
        raise TrainingError("the loss is not a number", found=f"{losses[-1]} at step {step}", do=do)
    if grows or len(losses) < 2 * WINDOW:
        return
    first, last = float(np.abs(losses[:WINDOW]).mean()), float(np.mean(losses[-WINDOW:]))
    if last > DIVERGED * first:
        raise TrainingError(
            "training diverges",
            found=f"mean loss {last:.3g} in the last {WINDOW} logs, {first:.3g} in the first, at step {step}",
            do=f"{SLOWER}; {KEPT}",
        )


@contextmanager
def memory_errors(do: str) -> Iterator[None]:
    """Turn a lack of memory, on a GPU or on the CPU, into an error that says what to change.

    Raises:
        TrainingError: memory is short.
    """
    try:
        yield
    except (torch.OutOfMemoryError, MemoryError, RuntimeError) as error:
        if isinstance(error, torch.OutOfMemoryError | MemoryError):
            # That there is none, and how much was asked for.
            reason = ". ".join(str(error).split(". ")[:2])
        elif "can't allocate memory" in str(error):
            reason = "the CPU's allocator gave none"
        else:
            raise
        raise TrainingError("memory is short", found=reason, do=do) from error


def last_checkpoint(folder: Path) -> str | None:
    """Return the newest checkpoint that was written to its end, None where there is none.

    The Trainer's state is what it writes last; a run that was stopped while it wrote leaves a folder without.
    """
    checkpoints = []
    for state in folder.glob("checkpoint-*/trainer_state.json"):
        try:
            checkpoints.append((int(json.loads(state.read_text(encoding="utf-8"))["global_step"]), str(state.parent)))
        except ValueError:
            continue
    return max(checkpoints)[1] if checkpoints else None


def _watch(advance: Callable[[int], None], *, grows: bool, last: int) -> Any:
    """Return the callback that moves the bar, looks at the losses and ends a rehearsal after its ``last`` step.

    transformers is imported late.
    """
    from transformers import TrainerCallback

    class Watch(TrainerCallback):
        def on_train_begin(self, _args: Any, state: Any, *_: Any, **__: Any) -> None:
            self.times = [monotonic()]
            # Those of a run that is gone on with.
            self.losses = [log["loss"] for log in state.log_history if "loss" in log]
            if state.global_step:
                advance(state.global_step)

        def on_log(self, _args: Any, state: Any, *_: Any, logs: Any = None, **__: Any) -> None:
            if logs and "loss" in logs:
                self.losses.append(logs["loss"])
                stop_if_broken(self.losses, state.global_step, grows=grows)

        def on_step_end(self, _args: Any, state: Any, control: Any, **_: Any) -> None:
            advance(1)
            self.times.append(monotonic())
            control.should_training_stop |= state.global_step == last

        def measured(self, state: Any) -> Measured:
            times = self.times[1:] if len(self.times) > 2 else self.times
            each = (times[-1] - times[0]) / max(1, len(times) - 1)
            return {"planned_steps": state.max_steps, "seconds_a_step": round(each, 4)}

    return Watch()


def run_trainer(
    trainer: Any,
    advance: Callable[[int], None],
    *,
    resume: bool,
    short_of_memory: str,
    rehearsal: int = 0,
    grows: bool = False,
) -> Measured:
    """Train to the end, with ``resume`` from the last checkpoint; returns what it took.

    Args:
        trainer: transformers' Trainer, or one made from it.
        advance: told the optimizer steps that are done.
        resume: go on from the last checkpoint in the Trainer's folder, from the start where there is none.
        short_of_memory: what to change where memory is short.
        rehearsal: end after so many steps; 0: at the last one.
        grows: as of `stop_if_broken`.

    Raises:
        TrainingError: the loss is not a number, training diverges, or memory is short.
    """
    from transformers import PreTrainedModel
    from transformers.trainer_callback import PrinterCallback

    # It prints every step to standard output, which belongs to the command's result.
    trainer.remove_callback(PrinterCallback)
    watch = _watch(advance, grows=grows, last=rehearsal)
    trainer.add_callback(watch)
    # transformers' own way says nothing of weights that find no place; split ones come with the optimizer's state.
    alone = isinstance(trainer.model, PreTrainedModel) or len(getattr(trainer.model, "peft_config", ())) == 1
    if alone and not split_parts(trainer.model):
        trainer._load_from_checkpoint = lambda folder: restore_weights(trainer.model, Path(folder))
    last = last_checkpoint(Path(trainer.args.output_dir)) if resume else None
    with memory_errors(short_of_memory), measuring(trainer.model, trainer.args.device.type) as measured:
        trainer.train(resume_from_checkpoint=last)
    return {**measured, **watch.measured(trainer.state)}
