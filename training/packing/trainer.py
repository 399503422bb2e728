"""Training on packed rows: transformers' Trainer, whose batch is one planned optimizer step.

Checkpoints, schedules, mixed precision and several processes are the Trainer's; ours are the rows of a step and the
scale of the loss. A step's loss is the weighted sum over its items by the sum of their weights, whatever the rows and
the processes that they were dealt to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import nn

from training.packing.collate import RunData
from training.packing.plan import RowPlan, Step
from training.runs.models import checkpoint_activations
from training.runs.resuming import Measured, Record, run_trainer, step_records, trainer_arguments
from training.runs.sharding import SplitTrainer, split_weights

__all__ = ["SHORT_OF_MEMORY", "Objective", "train_packed"]

SHORT_OF_MEMORY = (
    "lower packing.tokens_per_row, then packing.max_length; hardware.gradient_checkpointing and hardware.quantize = "
    "'nf4' save memory, too"
)


class Objective(Protocol):
    """A loss for each item from the values of its statements; ``logged`` names what it logs beside the loss."""

    logged: tuple[str, ...]

    def __call__(
        self, values: torch.Tensor, items: Sequence[int], places: torch.Tensor
    ) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """Return losses, and what is logged. *Shapes:* (n_items,) each.

        Args:
            values: what the model gives for the row's statements. *Shape:* (k,) or (k, 4).
            items: indices of the row's items.
            places: which statements of the row each item has. *Shape:* (n_items, statements of an item).
        """
        ...


class PackedTrainer(SplitTrainer):
    """A Trainer whose batch is one optimizer step of packed rows."""

    def __init__(
        self, *, data: RunData, plan: Sequence[Step], objective: Objective, shares: bool = False, **rest: Any
    ) -> None:
        super().__init__(**rest)
        self.data, self.plan, self.objective = data, plan, objective
        self.names = sorted({"loss", *objective.logged})
        self.values: Record = {}
        self.shares = shares

    @property
    def decoder(self) -> Any:
        """The model inside of `SharedPolicy` or `SharedClassifier`."""
        return self.model.model

    def training_step(self, model: nn.Module, inputs: Any, num_items_in_batch: Any = None) -> torch.Tensor:
        """Run all rows of this process, backward each; gradients are shared between processes once."""
        model.train()
        number = int(inputs["step"][0])
        step, processes = self.plan[number], self.accelerator.num_processes
        rows = step.rows[self.accelerator.process_index :: processes]
        # Processes meet in the last backward, where weights are split in every pass: where rows are fewer, one runs
        # again, at weight zero.
        passes = -(-len(step.rows) // processes) if self.split else max(len(rows), 1)
        weight = float(self.data.weights[step.items].sum())
        scales = [processes / weight] * len(rows) + [0.0] * (passes - len(rows))
        share = processes / len(step.items)
        total = torch.zeros((), dtype=torch.float64)
        sums: dict[str, float] = {}
        for at, (plan, scale) in enumerate(zip([*rows, *step.rows[:1] * passes], scales, strict=False)):
            with self.accelerator.no_sync(model) if at + 1 < passes and not self.split else nullcontext():
                loss, logged = self.row_loss(model, plan)
                self.accelerator.backward(loss * scale)
            total += loss.detach().double().cpu() * scale
            for name, value in logged.items() if scale else ():
                sums[name] = sums.get(name, 0.0) + float(value.detach().double().sum()) * share
        sums["loss"] = float(total)
        # Each process has its share of a step's values.
        shares = torch.tensor([sums.get(name, 0.0) for name in self.names], device=self.args.device)
        means = self.accelerator.reduce(shares, reduction="mean").tolist()
        self.values = dict(zip(self.names, means, strict=True))
        return total.to(self.args.device)

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """Log a step's values with its loss; checkpoints hold them as all that was logged."""
        super().log(logs | self.values if "loss" in logs else logs, start_time)

    def row_loss(self, model: nn.Module, plan: RowPlan) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """Return the weighted sum of a row's losses, and what is logged for each item."""
        inner = self.accelerator.unwrap_model(model)
        row, order, places = inner.tensors(plan, self.data)
        with self.compute_loss_context_manager():
            losses, logged = self.objective(model(row), order, places)
        weights = torch.as_tensor(self.data.weights[order], dtype=losses.dtype, device=losses.device)
        return (losses * weights).sum(), logged


def train_packed(
    module: Any,
    tokenizer: Any,
    data: RunData,
    plan: Sequence[Step],
    objective: Objective,
    out: Path,
    settings: Any,
    *,
    autocast: bool = False,
    resume: bool = False,
    advance: Callable[[int], None] = lambda _: None,
) -> tuple[list[Record], Measured]:
    """Train a model on planned steps; returns what each step logged, and what it took.

    ``module`` is a `SharedPolicy` or a `SharedClassifier`, ``data`` what the plan's items are made of. Checkpoints,
    with the tokenizer, go to ``out/checkpoints``; with ``resume`` the last one there is gone on from, and gives the
    weights of a run without a break. ``settings`` and ``autocast`` are as of `trainer_arguments`, ``advance`` and
    errors as of `run_trainer`.
    """
    from transformers import TrainingArguments

    if settings.hardware.gradient_checkpointing:
        checkpoint_activations(module.model)
    arguments = trainer_arguments(
        TrainingArguments,
        out / "checkpoints",
        settings,
        autocast=autocast,
        max_steps=len(plan),
        per_device_train_batch_size=1,
        remove_unused_columns=False,
        dataloader_pin_memory=False,
        ddp_find_unused_parameters=False,
        train_sampling_strategy="sequential",
    )
    processes, shares = arguments.world_size, settings.hardware.split_weights
    with split_weights(module, asked=shares, decoder=module.model):
        trainer = PackedTrainer(
            data=data,
            plan=plan,
            objective=objective,
            shares=shares,
            model=module,
            args=arguments,
            # Each step as often as there are processes: process r takes places r, r + W, r + 2 W, ...
            train_dataset=[{"step": number} for number in range(len(plan)) for _ in range(processes)],
            processing_class=tokenizer,
            data_collator=torch.utils.data.default_collate,
        )
        how: dict[str, Any] = {"resume": resume, "rehearsal": settings.hardware.rehearsal}
        measured = run_trainer(trainer, advance, short_of_memory=SHORT_OF_MEMORY, **how)
    return step_records(trainer, objective.logged), measured
