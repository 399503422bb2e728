"""Supervised fine-tuning with (Q)LoRA through trl: MedHal (appendix C) and MedVAL (supplement S2.2).

The run folder holds the adapter in PEFT's format, the tokenizer, ``training.json`` and the card ``README.md``. While a
run goes on, ``checkpoints/`` holds what a resumed run needs; it is removed when the run is whole.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from ontoground.errors import UsageError
from ontoground.files import private_directory, write_text
from ontoground.manifest import to_json
from ontoground.progress import progress
from ontoground.taxonomy import resolve_tasks
from training.arguments import trainer_arguments
from training.running import last_checkpoint, not_a_number, run_trainer
from training.runs import software
from training.settings import MedhalSettings, MedvalSettings, SftSettings
from training.sft.card import write_card
from training.sft.encoding import EncodedRows, encode_rows
from training.sft.model import (
    Machine,
    choose_machine,
    choose_optimizer,
    load_model,
    load_tokenizer,
    lora_config,
    usable_length,
)
from training.sft.rows import Kind, TextDataset
from training.sft.tasks import TASKS

__all__ = ["train_medhal", "train_medval"]

RECORD = "training.json"
CHECKPOINTS = "checkpoints"
PLAN = "plan.json"
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

    Returns:
        What ``training.json`` holds.

    Raises:
        UsageError: settings that do not fit each other or this machine, or a folder that already holds a run.
        InputError: no such dataset or model, or no row left to train on.
        TrainingError: the loss is no number, training diverges, or memory is short.
    """
    return _train("medhal", dataset_dir, model, out_dir, settings or MedhalSettings(), resume, callbacks)


def train_medval(
    dataset_dir: Path,
    model: str,
    out_dir: Path,
    settings: MedvalSettings | None = None,
    *,
    resume: bool = False,
    callbacks: Sequence[Any] = (),
) -> dict[str, Any]:
    """Fine-tune a causal model to name errors and grade the risk of an output (MedVAL, stage 3).

    Arguments, result and errors are those of `train_medhal`; ``dataset_dir`` is a MedVAL dataset folder.
    """
    return _train("medval", dataset_dir, model, out_dir, settings or MedvalSettings(), resume, callbacks)


def _train(
    kind: Kind,
    dataset_dir: Path,
    model_name: str,
    out_dir: Path,
    settings: MedhalSettings | MedvalSettings,
    resume: bool,
    callbacks: Sequence[Any],
) -> dict[str, Any]:
    dataset = TextDataset.open(dataset_dir, kind)
    tasks = resolve_tasks(settings.tasks, kind)
    machine = choose_machine(settings.hardware)
    plan = _plan(dataset, model_name, settings)
    checkpoint = _open_folder(out_dir, plan, resume)
    if checkpoint is not None and checkpoint.name == RECORD:
        return dict(json.loads(checkpoint.read_text(encoding="utf-8")))
    if (Path(model_name) / "adapter_config.json").is_file():
        raise UsageError(
            "the base model is an adapter", file=model_name, expected="a whole model", do="merge the adapter first"
        )

    tokenizer = load_tokenizer(model_name)
    max_length, shorter = usable_length(model_name, settings.max_length)
    task, by_task = TASKS[kind], Counter[str]()
    rows, counts = encode_rows(
        dataset.rows("train", tasks), tokenizer, task.prompt, task.answer, max_length, by_task=by_task
    )
    trainer = _trainer(model_name, tokenizer, rows, out_dir, settings, machine, callbacks)
    with progress("fine-tuning, steps", _steps(len(rows), settings)) as advance:
        run_trainer(trainer, advance, resume=resume, short_of_memory=SHORT_OF_MEMORY)
    optimizer, why = choose_optimizer(settings.optimizer.optimizer, machine.device)
    record = {
        **plan,
        "engine": "trl SFTTrainer",
        "tasks": dict(sorted(by_task.items())),
        "licence_tier": dataset.licence_tier,
        "rows": {
            "used": len(rows),
            "left_out": {
                "too_long": counts["too_long"],
                "other_task": dataset.count("train") - len(rows) - counts["too_long"],
            },
            "without_explanation": counts["open_answer"],
        },
        "tokens": {"in_one_pass": len(rows.ids), "with_loss": rows.trained_tokens},
        "machine": {
            "device": machine.device,
            "precision": machine.precision,
            "attention": machine.attention,
            "quantize": machine.quantize,
            "optimizer": optimizer,
            "trained_weights": str(next(p.dtype for p in trainer.model.parameters() if p.requires_grad)).split(".")[1],
            "notes": [*machine.notes, *(note for note in (why, shorter) if note)],
        },
        "resumed_from_step": int(checkpoint.name.rpartition("-")[2]) if checkpoint else None,
        "steps": trainer.state.global_step,
        "history": [{name: log[name] for name in HISTORY if name in log} for log in _logs(trainer)],
        "software": software(),
    }
    _finish(trainer, tokenizer, out_dir, record)
    return record


def _plan(dataset: TextDataset, model_name: str, settings: SftSettings) -> dict[str, Any]:
    """What makes two runs the same run."""
    local = Path(model_name)
    return {
        "kind": dataset.kind,
        "base_model": local.resolve().name if local.is_dir() else model_name,
        "dataset": {"name": dataset.folder.resolve().name, **dataset.identity},
        "settings": settings.model_dump(mode="json", by_alias=True),
    }


def _open_folder(out_dir: Path, plan: Mapping[str, Any], resume: bool) -> Path | None:
    """Return the checkpoint to go on from, the record of a run that is whole, or None for a fresh start."""
    record, stated = out_dir / RECORD, out_dir / CHECKPOINTS / PLAN
    # The first process alone looks and refuses: another may see the plan that the first has just written.
    found = next((file for file in (record, stated) if file.is_file() and _is_main()), None)
    if found is not None and not resume:
        raise UsageError(
            "this folder already holds a run",
            file=out_dir,
            do="choose another folder, or resume this one",
        )
    if found is not None:
        before = json.loads(found.read_text(encoding="utf-8"))
        changed = [name for name, value in plan.items() if before.get(name) != json.loads(to_json({"": value}))[""]]
        if changed:
            raise UsageError(
                "the run in this folder was started otherwise",
                file=out_dir,
                found=f"another {', '.join(changed)}",
                do="resume with what it was started with, or choose another folder",
            )
    if record.is_file():
        return record
    private_directory(stated.parent)
    if _is_main():
        write_text(stated, to_json(plan))
    if not resume:
        return None
    last = last_checkpoint(stated.parent)
    return Path(last) if last else None


def _is_main() -> bool:
    return int(os.environ.get("RANK", "0")) == 0


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
    # trl uses the name that transformers is about to retire.
    warnings.filterwarnings("ignore", message="`(is_)?gradient_checkpointing", category=FutureWarning)
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
        gradient_checkpointing=settings.hardware.gradient_checkpointing,
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

    adapter = lora_config(settings)
    whole = adapter is None and machine.precision == "bfloat16"
    arguments = _arguments(out_dir, settings, machine, len(rows))
    # Before the adapter is made: its first weights are drawn.
    transformers.set_seed(settings.seed)
    trainer = Trainer(
        # Where every weight is trained, the weights stay in float32 and only the arithmetic is in bfloat16.
        model=load_model(model_name, machine, dtype=torch.float32 if whole else machine.dtype),
        args=arguments,
        train_dataset=rows.dataset(),
        processing_class=tokenizer,
        peft_config=adapter,
        callbacks=list(callbacks),
    )
    # trl makes the adapters of 4-bit models bfloat16. A step at MedVAL's rate of 1e-5 is less than half of its spacing
    # at an adapter's usual weight of 0.01 (3e-5) and would be rounded away.
    for weight in trainer.model.parameters():
        if weight.requires_grad and weight.dtype == torch.bfloat16:
            weight.data = weight.data.float()
    return trainer


def _logs(trainer: Any) -> list[dict[str, Any]]:
    return [log for log in trainer.state.log_history if "loss" in log]


def _finish(trainer: Any, tokenizer: Any, out_dir: Path, record: Mapping[str, Any]) -> None:
    """Put the run's files in place, the record last: a folder with a record is whole."""
    trainer.accelerator.wait_for_everyone()
    part = out_dir / CHECKPOINTS / "final"
    trainer.save_model(str(part))
    if not trainer.is_world_process_zero():
        return
    tokenizer.save_pretrained(part)
    # trl's own arguments, with paths of this machine.
    (part / "training_args.bin").unlink(missing_ok=True)
    for file in sorted(part.iterdir()):
        file.replace(out_dir / file.name)
    write_card(out_dir, record)
    write_text(out_dir / RECORD, to_json(record))
    shutil.rmtree(out_dir / CHECKPOINTS)
