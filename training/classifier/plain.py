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
import numpy.typing as npt
import torch
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from training.classifier.items import QuadrantData
from training.packing.plan import Step
from training.packing.trainer import StepRecord, checkpoint_activations, training_arguments
from training.runs.resuming import OF_OPTIMIZER, Measured, logged, run_trainer
from training.runs.settings import HardwareSettings, OptimizerSettings

__all__ = ["evaluate_plain", "largest_batch", "train_plain"]

ROWS_AT_ONCE = 4
"""Rows of one forward pass; MediEval, appendix D: batches of 4, 8 of them accumulated."""
SHORT_OF_MEMORY = "choose --engine shared, set hardware.gradient_checkpointing = true, or lower packing.max_length"


def _parts(data: QuadrantData, index: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the token ids of an item's context and of its statement."""
    item = data.data.items[index]
    return data.data.contexts[item.context], data.data.statements[item.statements[0]]


def _padded(data: QuadrantData, items: Sequence[int]) -> dict[str, torch.Tensor]:
    """Lay each item out in a row of its own, padded on the right. *Shapes:* (n_items, longest)."""
    texts = [torch.from_numpy(np.concatenate(_parts(data, index))) for index in items]
    seen = [torch.ones_like(text) for text in texts]
    ids = pad_sequence(texts, batch_first=True, padding_value=data.data.pad_id)
    return {"input_ids": ids, "attention_mask": pad_sequence(seen, batch_first=True)}


def largest_batch(
    data: QuadrantData, plan: Sequence[Step], rows_at_once: int = ROWS_AT_ONCE
) -> dict[str, torch.Tensor]:
    """Return a batch of the longest rows of a plan. *Shapes:* (rows_at_once, longest)."""
    items = sorted({index for step in plan for row in step.rows for block in row.blocks for index in block.items})
    longest = max(items, key=lambda index: sum(map(len, _parts(data, index))))
    return _padded(data, [longest] * rows_at_once)


def _shares(plan: Sequence[Step], weights: Any, size: int) -> list[tuple[int, float]]:
    """Return items in the order of the steps, each with its share of its step's loss: its weight by the step's.

    Steps are filled up to whole batches with rows of share 0: else the Trainer would take from the next step.
    """
    rows: list[tuple[int, float]] = []
    for step in plan:
        items = [index for row in step.rows for block in row.blocks for index in block.items]
        total = float(weights[items].sum())
        rows += [(index, float(weights[index]) / total) for index in items]
        rows += [(items[0], 0.0)] * (size - len(items))
    return rows


def _loss(output: Any, labels: torch.Tensor, **_: Any) -> torch.Tensor:
    """Return a batch's share of its step's loss, however that is accumulated.

    *Shape:* ``labels`` (n, 2): the label of each row, and its share.
    """
    logits = output.logits if output.logits.dtype == torch.float64 else output.logits.float()
    losses = functional.cross_entropy(logits, labels[:, 0].long(), reduction="none")
    return (losses * labels[:, 1].to(losses.dtype)).sum()


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
    from transformers import Trainer

    if hardware.gradient_checkpointing:
        checkpoint_activations(model)
    alone = training_arguments(out, optimizer, hardware, len(plan), seed)
    batches = math.ceil(max(step.n_items for step in plan) / (rows_at_once * alone.world_size))
    arguments = training_arguments(
        out, optimizer, hardware, len(plan), seed, autocast=autocast, rows=rows_at_once, accumulated=batches
    )

    def collate(rows: list[tuple[int, float]]) -> dict[str, torch.Tensor]:
        items = [index for index, _ in rows]
        labels = [(data.labels[index], share) for index, share in rows]
        return {**_padded(data, items), "labels": torch.tensor(labels, dtype=torch.float64)}

    # The loss of `compute_loss_func` is not divided by accumulated batches, and processes make a sum of their shares.
    trainer = Trainer(
        model=model,
        args=arguments,
        train_dataset=_shares(plan, data.data.weights, batches * rows_at_once * alone.world_size),
        processing_class=tokenizer,
        data_collator=collate,
        compute_loss_func=_loss,
    )
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
    # Rows of like length meet, so that little is padded.
    lengths = [sum(map(len, _parts(data, index))) for index in range(len(data.ids))]
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
