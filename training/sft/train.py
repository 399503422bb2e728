"""Supervised fine-tuning with (Q)LoRA through trl: MedHal (appendix C) and MedVAL (supplement S2.2).

The run folder holds the adapter in PEFT's format, the tokenizer, ``training.json`` and the card ``README.md``. While a
run goes on, ``checkpoints/`` holds what a resumed run needs; it is removed when the run is whole.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from evaluation.datasets import Kind, TextDataset
from training.runs.folder import open_run, passes_of
from training.runs.models import load_config, load_tokenizer, quiet, refuse_adapter, save_model, usable_length
from training.runs.resuming import last_checkpoint
from training.runs.settings import MedhalSettings, MedvalSettings, SftSettings
from training.runs.text_runs import build_trainer, estimate_texts, run_texts
from training.sft.encoding import TASKS, encode_rows

with quiet():
    # What it imports says what it lacks on a CPU.
    from trl import SFTConfig, SFTTrainer

__all__ = ["train_texts"]

SHORT_OF_MEMORY = (
    "lower per_device_batch_size (batch_size may stay), then max_length; hardware.gradient_checkpointing saves memory, "
    "too"
)
LOGGED = ("epoch", "mean_token_accuracy")


def train_texts(
    kind: Kind,
    dataset_dir: Path,
    model: str,
    out_dir: Path,
    settings: MedhalSettings | MedvalSettings,
    *,
    resume: bool = False,
    callbacks: Sequence[Any] = (),
    say: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """Fine-tune a causal model: a detector of MedHal (section 4.2) or a validator of MedVAL (stage 3).

    A detector tells factual statements from others and explains, a validator names errors and grades the risk of an
    output. ``settings.tasks`` trains on some tasks only (MedHal, section 4.3). Rows longer than ``max_length`` are left
    out and counted.

    Args:
        kind: which of the two.
        dataset_dir: a dataset folder of this kind.
        model: folder or hub name of the base model.
        out_dir: the run folder; ``settings``, ``resume``, ``say``, result and errors as of `open_run`.
        callbacks: further transformers ``TrainerCallback`` objects, such as one that shows progress.
    """
    dataset = TextDataset.open(dataset_dir, kind, getattr(settings, "version", "full"))
    own: dict[str, Any] = {"resume": resume, "say": say, "engine": "trl SFTTrainer"}
    with open_run(kind, model, out_dir, dataset.identity, settings, **own) as run:
        if run.whole is not None:
            return run.whole
        refuse_adapter(model)
        tokenizer = load_tokenizer(model)
        asked, length = settings.max_length, usable_length(load_config(model), settings.max_length)
        if length < asked:
            run.notes.append(f"the model has {length:,} positions: longer rows are left out (max_length {asked:,})")
        least = getattr(settings, "min_consistency", None)
        chosen = dataset.rows("train", settings.tasks, least)
        rows, counts, by_task = encode_rows(chosen, tokenizer, TASKS[kind], length)
        longest = counts["longest"]
        estimate_texts(run, settings.per_device_batch_size, longest, longest, SHORT_OF_MEMORY)
        last = last_checkpoint(run.checkpoints) if resume else None
        trainer = build_trainer(
            SFTTrainer,
            SFTConfig,
            run,
            _arguments(settings),
            train_dataset=rows,
            processing_class=tokenizer,
            callbacks=list(callbacks),
        )
        steps = math.ceil(math.ceil(len(rows) / settings.batch_size) * settings.epochs)
        trained = run_texts(run, trainer, "fine-tuning, steps", steps, names=LOGGED)
        of_tasks = dataset.count("train", settings.tasks)
        left_out = {"too_long": counts["too_long"], "other_task": dataset.count("train") - of_tasks}
        if least is not None:
            left_out["inconsistent"] = of_tasks - len(rows) - counts["too_long"]
        results = {
            "tasks": dict(sorted(by_task.items())),
            "rows": {
                "used": len(rows),
                "left_out": left_out,
                "without_explanation": counts["open_answer"],
            },
            "tokens": {"in_one_pass": counts["tokens"], "with_loss": counts["with_loss"]},
            "resumed_from_step": int(last.rpartition("-")[2]) if last else None,
            **trained,
        }
        return run.finish(trainer.model, results, partial(save_model, trainer.model, tokenizer))


def _arguments(settings: SftSettings) -> dict[str, Any]:
    """Return what trl is told beside; forward passes of all processes make steps of ``batch_size`` rows."""
    at_once = settings.per_device_batch_size
    return {
        "num_train_epochs": settings.epochs,
        "per_device_train_batch_size": at_once,
        "gradient_accumulation_steps": passes_of(settings.batch_size, at_once, "batch_size"),
        # Rows are encoded, labelled and of a fit length already: trl must cut nothing.
        "max_length": None,
        "packing": False,
        # Rows of like length meet in a forward pass, in an order that is drawn: little padding.
        "train_sampling_strategy": "group_by_length",
    }
