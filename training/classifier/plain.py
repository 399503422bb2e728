"""The plain engine: transformers' Trainer, one statement a row, its context encoded for every statement.

It is for decoders that cannot share contexts (sliding windows), and the yardstick of the engine that does. It takes the
same optimizer steps, with the same tokens and weights: to rounding, both give the same model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from training.classifier.items import QuadrantData
from training.packing.plan import Step
from training.packing.trainer import StepRecord, checkpoint_activations, training_arguments
from training.runs.models import restore_weights, save_model
from training.runs.resuming import OF_OPTIMIZER, Measured, logged, run_trainer
from training.runs.settings import HardwareSettings, OptimizerSettings

__all__ = ["evaluate_plain", "largest_batch", "train_plain"]

ROWS_AT_ONCE = 4
"""Rows of one forward pass; MediEval, appendix D: batches of 4, 8 of them accumulated."""
SHORT_OF_MEMORY = "choose --engine shared, set hardware.gradient_checkpointing = true, or lower packing.max_length"


def _padded(data: QuadrantData, items: Sequence[int]) -> dict[str, torch.Tensor]:
    """Lay each item out in a row of its own, padded on the right. *Shapes:* (n_items, longest)."""
    texts = []
    for index in items:
        item = data.data.items[index]
        texts.append(np.concatenate([data.data.contexts[item.context], data.data.statements[item.statements[0]]]))
    longest = max(map(len, texts))
    ids = np.full((len(texts), longest), data.data.pad_id, dtype=np.int64)
    seen = np.zeros_like(ids)
    for at, text in enumerate(texts):
        ids[at, : len(text)], seen[at, : len(text)] = text, 1
    return {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(seen)}


def largest_batch(
    data: QuadrantData, plan: Sequence[Step], rows_at_once: int = ROWS_AT_ONCE
) -> dict[str, torch.Tensor]:
    """Return a batch of the longest rows of a plan. *Shapes:* (rows_at_once, longest)."""
    items = {index for step in plan for row in step.rows for block in row.blocks for index in block.items}

    def tokens(index: int) -> int:
        item = data.data.items[index]
        return len(data.data.contexts[item.context]) + len(data.data.statements[item.statements[0]])

    return _padded(data, [max(sorted(items), key=tokens)] * rows_at_once)


class _Rows(torch.utils.data.Dataset[tuple[int, float]]):
    """Items in the order of the steps, each with its share of its step's loss: its weight by the step's.

    Steps are filled up to whole batches with rows of share 0: else the Trainer would take from the next step.
    """

    def __init__(self, plan: Sequence[Step], weights: Any, size: int) -> None:
        self.rows: list[tuple[int, float]] = []
        for step in plan:
            items = [index for row in step.rows for block in row.blocks for index in block.items]
            total = float(weights[items].sum())
            self.rows += [(index, float(weights[index]) / total) for index in items]
            self.rows += [(items[0], 0.0)] * (size - len(items))

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> tuple[int, float]:
        return self.rows[index]


def _plain_trainer() -> Any:
    """Return the Trainer's subclass; transformers takes seconds to import and is imported late."""
    from transformers import Trainer

    class PlainTrainer(Trainer):
        """A Trainer whose loss is the weighted mean over a whole optimizer step, however it is accumulated."""

        def compute_loss(
            self, model: nn.Module, inputs: Any, return_outputs: bool = False, num_items_in_batch: Any = None
        ) -> Any:
            """Return this batch's share of its step's loss; the mean over processes makes their sum of it."""
            labels, shares = inputs.pop("labels"), inputs.pop("shares")
            output = model(**inputs)
            logits = output.logits if output.logits.dtype == torch.float64 else output.logits.float()
            losses = nn.functional.cross_entropy(logits, labels, reduction="none")
            loss = (losses * shares.to(losses.dtype)).sum() * self.accelerator.num_processes
            return (loss, output) if return_outputs else loss

        def _load_from_checkpoint(self, resume_from_checkpoint: str, model: Any = None) -> None:
            restore_weights(model or self.model, Path(resume_from_checkpoint))

        def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
            save_model(self.model, self.processing_class, Path(output_dir or self.args.output_dir))

    return PlainTrainer


def train_plain(
    model: Any,
    tokenizer: Any,
    data: QuadrantData,
    plan: Sequence[Step],
    out: Path,
    *,
    optimizer: OptimizerSettings,
    hardware: HardwareSettings,
    seed: int,
    autocast: bool = False,
    resume: bool = False,
    rows_at_once: int = ROWS_AT_ONCE,
    advance: Callable[[int], None] | None = None,
) -> tuple[list[StepRecord], Measured]:
    """Train a sequence classifier on planned steps, one statement a row; returns what each step logged, what it took.

    Raises:
        TrainingError: the loss is no number, training diverges, or memory is short.
    """
    if hardware.gradient_checkpointing:
        checkpoint_activations(model)
    alone = training_arguments(out, optimizer, hardware, len(plan), seed)
    batches = math.ceil(max(step.n_items for step in plan) / (rows_at_once * alone.world_size))
    arguments = training_arguments(
        out, optimizer, hardware, len(plan), seed, autocast=autocast, rows=rows_at_once, accumulated=batches
    )

    def collate(rows: list[tuple[int, float]]) -> dict[str, torch.Tensor]:
        items = [index for index, _ in rows]
        shares = torch.tensor([share for _, share in rows], dtype=torch.float64)
        return {**_padded(data, items), "labels": torch.from_numpy(data.labels[items]), "shares": shares}

    trainer = _plain_trainer()(
        model=model,
        args=arguments,
        train_dataset=_Rows(plan, data.data.weights, batches * rows_at_once * alone.world_size),
        processing_class=tokenizer,
        data_collator=collate,
    )
    # The loss is a share of the whole step's: the Trainer must not divide it by the number of accumulated batches.
    trainer.loss_is_scaled_for_ga = True
    measured = run_trainer(trainer, advance, resume=resume, short_of_memory=SHORT_OF_MEMORY)
    logs = logged(trainer, ("step", "loss", *OF_OPTIMIZER))
    return [StepRecord(int(log.pop("step")) - 1, log) for log in logs], measured


@torch.no_grad()
def evaluate_plain(
    model: Any,
    data: QuadrantData,
    rows_at_once: int = ROWS_AT_ONCE,
    advance: Callable[[int], None] | None = None,
) -> torch.Tensor:
    """Return logits in the order of the rows, each row encoded with its own copy of its context.

    *Shape:* (n_rows, 4), float64 on the CPU.
    """
    device = next(model.parameters()).device
    contexts, statements = data.data.contexts.lengths, data.data.statements.lengths
    # Rows of like length meet, so that little is padded.
    lengths = [contexts[item.context] + statements[item.statements[0]] for item in data.data.items]
    order = np.argsort(lengths, kind="stable")
    found = torch.empty((len(order), model.config.num_labels), dtype=torch.float64)
    was_training = model.training
    model.eval()
    try:
        for at in range(0, len(order), rows_at_once):
            items = order[at : at + rows_at_once]
            batch = {name: value.to(device) for name, value in _padded(data, items.tolist()).items()}
            found[items] = model(**batch).logits.double().cpu()
            if advance:
                advance(len(items))
    finally:
        model.train(was_training)
    return found
